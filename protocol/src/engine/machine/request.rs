//! Requests: how they are started, waited for, tested, cancelled and freed (MPI 4.0, 3.7 and 3.9).

use super::matching::{Completes, Pending};
use super::steps::operation;
use super::{Machine, Schedule, Status};
use crate::engine::evidence::Observation;
use crate::engine::pairing::could_serve;
use crate::model::{Action, Completion, Envelope, Peer, Position, Rank, RequestId, Tag};

/// A request's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Request {
    pub(in crate::engine) status: RequestStatus,
    /// The step that holds its envelope: that started it, or planned it.
    pub(in crate::engine) described: u32,
    /// The step that started it.
    pub(in crate::engine) started: u32,
    /// The step that planned it, and with whom, for persistent ones.
    pub(super) plan: Option<(u32, Peer)>,
    /// Counts the operations started here, so that a lost one completes nothing.
    pub(super) generation: u32,
    /// Whether the rank's present step waits for it.
    pub(super) awaited: bool,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum RequestStatus {
    Inactive,
    Active,
    /// Complete, and not yet waited for; a receive knows whom it has met.
    Complete(Option<Met>),
}

/// What the status of a receive or a probe says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Met {
    /// Who sent it.
    pub(in crate::engine) source: Rank,
    /// Its tag; `None` where nobody knows.
    pub(super) tag: Option<i32>,
}

impl Met {
    pub(super) fn of(source: Rank, tag: Tag) -> Self {
        let tag = match tag {
            Tag::Exact(tag) => Some(tag),
            Tag::Any => None,
        };
        Met { source, tag }
    }
}

impl Request {
    pub(super) const NEW: Request = Request {
        status: RequestStatus::Inactive,
        described: 0,
        started: 0,
        plan: None,
        generation: 0,
        awaited: false,
    };

    pub(in crate::engine) fn is_active(&self) -> bool {
        self.status != RequestStatus::Inactive
    }
}

impl Machine<'_> {
    pub(super) fn request(&self, rank: Rank, request: RequestId) -> &Request {
        &self.state(rank).requests[request as usize]
    }

    pub(super) fn request_mut(&mut self, rank: Rank, request: RequestId) -> &mut Request {
        &mut self.state_mut(rank).requests[request as usize]
    }

    /// Starts the operation that the event at `position` describes, under a request; with the peer
    /// that was found when it was planned.
    pub(super) fn start_request(
        &mut self,
        rank: Rank,
        position: Position,
        id: RequestId,
        planned: Option<Peer>,
    ) {
        let event = &self.world.behaviours[rank as usize].events[position];
        let (half, envelope) =
            operation(&event.action).expect("a start or a plan starts something");
        let envelope = Envelope { peer: planned.unwrap_or(envelope.peer), ..*envelope };
        self.compare_buffers(rank, position, Some(id));
        let waits = self.waits_in(rank, half, &envelope);
        let status = if waits { RequestStatus::Active } else { RequestStatus::Complete(None) };
        let completes = match self.begin_request(rank, id, position, status) {
            completes if waits => completes,
            _ => self.completes_early(rank, half, &envelope),
        };
        self.start(rank, position, half, &envelope, completes);
    }

    /// A request becomes active; the operation is described by the event at `position`.
    pub(super) fn begin_request(
        &mut self,
        rank: Rank,
        id: RequestId,
        position: Position,
        status: RequestStatus,
    ) -> Completes {
        self.lose(rank, id);
        let here = self.state(rank).position;
        let request = self.request_mut(rank, id);
        request.generation += 1;
        request.described = u32::try_from(position).expect("fewer than 2^32 events");
        request.started = here;
        request.status = status;
        Completes::Request(id, request.generation)
    }

    /// The operation may be undone; its request is complete and still wants its wait. Whether the
    /// other end, where there may be one, has taken part by then nobody knows.
    pub(super) fn cancel(&mut self, rank: Rank, id: RequestId) {
        if !self.request_is_open(rank, id) {
            return;
        }
        let generation = self.request(rank, id).generation;
        let completes = Completes::Request(id, generation);
        let Some(pending) = self.pending_of(rank, completes) else { return };
        let operation = self.unmatched_of(pending);
        let Pending { peer, communicator, sending, .. } = self.withdraw(pending);
        self.complete(rank, completes, None, None);
        let others: Vec<Rank> = match peer {
            Peer::Rank(peer) => vec![peer.unsigned_abs()],
            peer => self.sources(peer, communicator).collect(),
        };
        if !others.iter().any(|&other| could_serve(self.world, &operation, other)) {
            return;
        }
        for unsure in if sending { others } else { vec![rank] } {
            self.become_opaque(unsure);
        }
    }

    /// Nobody waits for the operation any more, and it goes on.
    pub(super) fn free_request(&mut self, rank: Rank, id: RequestId) {
        let completes = Completes::Request(id, self.request(rank, id).generation);
        // What was waited for in vain is missed, although its request is freed behind the wait.
        let is_active = self.request(rank, id).is_active();
        if let Some(pending) = self.pending_of(rank, completes).filter(|_| is_active) {
            let pending = &mut self.pending[pending as usize];
            // A message is to be received all the same.
            pending.freed = !pending.sending;
        }
        let request = self.request_mut(rank, id);
        request.status = RequestStatus::Inactive;
        request.plan = None;
        request.generation += 1;
    }

    /// Nobody can wait for what is active under a request any more.
    pub(super) fn overwrite_request(&mut self, rank: Rank, id: RequestId) {
        let lost = *self.request(rank, id);
        if lost.is_active() {
            let by = (rank, self.state(rank).position as Position);
            let start = (rank, lost.started as Position);
            self.evidence.note(Observation::Overwritten { start, by });
        }
        self.free_request(rank, id);
    }

    /// A request that is still active and is used anew was never completed.
    pub(super) fn lose(&mut self, rank: Rank, id: RequestId) {
        let lost = *self.request(rank, id);
        if lost.is_active() {
            self.evidence.lost_request(rank, lost.started as Position);
        }
    }

    pub(super) fn plan(&mut self, rank: Rank, position: Position, id: RequestId) {
        let event = &self.world.behaviours[rank as usize].events[position];
        let (_, envelope) = operation(&event.action).expect("a plan plans something");
        let peer = match (envelope.peer, self.resolve(rank, envelope.peer)) {
            (any @ Peer::Any { .. }, _) => any,
            (_, Some(peer)) => Peer::Rank(i32::try_from(peer).unwrap_or(i32::MAX)),
            (_, None) => Peer::Null,
        };
        self.lose(rank, id);
        let plan = Some((u32::try_from(position).expect("fewer than 2^32 events"), peer));
        let request = self.request_mut(rank, id);
        request.plan = plan;
        request.status = RequestStatus::Inactive;
        request.generation += 1;
    }

    pub(super) fn wait(&mut self, rank: Rank, requests: &[RequestId], completion: &Completion) {
        let position = self.state(rank).position as Position;
        let active: Vec<RequestId> =
            requests.iter().copied().filter(|&id| self.request(rank, id).is_active()).collect();
        if active.is_empty() {
            self.go_to(rank, position + 1);
            return;
        }
        if self.schedule == Schedule::Unordered {
            self.leave_wait(rank, requests, completion);
            return;
        }
        if *completion != Completion::All && active.len() > 1 {
            self.state_mut(rank).status = Status::Parked;
            return;
        }
        let mut more = 0;
        for id in active {
            let request = self.request_mut(rank, id);
            // A request named twice is waited for once.
            if request.status == RequestStatus::Active && !request.awaited {
                request.awaited = true;
                more += 1;
            }
        }
        if more == 0 {
            self.leave_wait(rank, requests, completion);
        } else {
            self.state_mut(rank).status = Status::Waiting(more);
        }
    }

    /// Completes the active requests of a wait and goes on behind it.
    pub(super) fn leave_wait(
        &mut self,
        rank: Rank,
        requests: &[RequestId],
        completion: &Completion,
    ) {
        let position = self.state(rank).position as Position;
        let mut target = position + 1;
        for (index, &id) in requests.iter().enumerate() {
            if self.request(rank, id).is_active() {
                self.complete_request(rank, id);
                if let Completion::Any(Some(targets)) = completion {
                    target = targets[index];
                }
            }
        }
        self.go_to(rank, target);
    }

    /// The request becomes inactive, and its source, where it has one, is kept.
    pub(super) fn complete_request(&mut self, rank: Rank, id: RequestId) {
        let request = self.request_mut(rank, id);
        let (status, described) = (request.status, request.described as Position);
        request.status = RequestStatus::Inactive;
        request.awaited = false;
        let event = &self.world.behaviours[rank as usize].events[described];
        if let Action::StartReceive { binds, .. } = &event.action
            && let RequestStatus::Complete(met) = status
        {
            self.bind(rank, *binds, met);
        }
    }

    pub(super) fn test(&mut self, rank: Rank, id: RequestId) {
        let position = self.state(rank).position as Position;
        if !self.request(rank, id).is_active() {
            self.go_to(rank, position + 1);
        } else if self.schedule == Schedule::Unordered {
            self.complete_request(rank, id);
            self.go_to(rank, position + 1);
        } else {
            self.state_mut(rank).status = Status::Parked;
        }
    }
}
