//! Memory that operations use: buffers that overlap, accesses while an operation is active
//! (MPI 4.0, 3.7.2), and the buffer that is attached for buffered sends (3.6).

use super::matching::Completes;
use super::{Machine, Schedule, Status, envelope};
use crate::engine::evidence::{At, Observation};
use crate::model::{Action, Buffer, Data, Envelope, Event, Mode, Position, Rank, RequestId};

/// Of a rank with more requests than this, overlaps are not looked for.
const COMPARED: usize = 1_024;

impl<'w> Machine<'w> {
    /// Takes down what a step touches that an active operation uses: nothing may write there, and
    /// nothing may read there while a receive is active.
    pub(super) fn access(&mut self, rank: Rank, requests: &[RequestId], writes: bool) {
        let access: At = (rank, self.state(rank).position as Position);
        for &id in requests {
            let request = self.request(rank, id);
            if !request.is_active() {
                continue;
            }
            let start = (rank, request.started as Position);
            let event = self.described(rank, id);
            if writes || envelope(event, false).is_some() {
                self.evidence.note(Observation::Access { access, start, writes });
            }
        }
    }

    /// Takes down the active operations whose memory overlaps that of one that starts now.
    pub(super) fn compare_buffers(
        &mut self,
        rank: Rank,
        position: Position,
        id: Option<RequestId>,
    ) {
        let world = self.world;
        let event = &world.behaviours[rank as usize].events[position];
        let second: At = (rank, self.state(rank).position as Position);
        let starts = buffers(event);
        if let [Some((sent, _)), Some((received, _))] = starts
            && sent.overlaps(&received)
        {
            self.evidence.note(Observation::Overlap { first: second, second });
        }
        let requests = &self.state(rank).requests;
        if starts == [None, None] || requests.len() > COMPARED {
            return;
        }
        let mut overlapping = Vec::new();
        for (other, request) in (0..).zip(requests) {
            if !request.is_active() || id == Some(other) {
                continue;
            }
            let active = buffers(self.described(rank, other));
            if starts
                .iter()
                .flatten()
                .any(|start| active.iter().flatten().any(|one| clash(start, one)))
            {
                overlapping.push((rank, request.started as Position));
            }
        }
        for first in overlapping {
            self.evidence.note(Observation::Overlap { first, second });
        }
    }

    /// The event that describes what a request does.
    fn described(&self, rank: Rank, id: RequestId) -> &'w Event {
        let described = self.request(rank, id).described as Position;
        &self.world.behaviours[rank as usize].events[described]
    }

    pub(super) fn detach_buffer(&mut self, rank: Rank) {
        let state = self.state_mut(rank);
        state.attached = false;
        let left = state.buffered;
        let position = state.position as Position;
        if left == 0 || self.schedule == Schedule::Unordered {
            self.go_to(rank, position + 1);
        } else {
            self.state_mut(rank).status = Status::Waiting(left);
        }
    }

    pub(super) fn is_detaching(&self, rank: Rank) -> bool {
        matches!(self.state(rank).status, Status::Waiting(_))
            && self.event(rank).is_some_and(|event| event.action == Action::DetachBuffer)
    }

    /// What is completed when a message matches whose send is complete at once: under a reading
    /// that buffers nothing by itself, it stays in the attached buffer until then.
    pub(super) fn kept_in_buffer(&mut self, rank: Rank, mode: Mode, data: &Data) -> Completes {
        if mode != Mode::Buffered || !self.waits(Mode::Standard, data) {
            return Completes::Nothing;
        }
        self.state_mut(rank).buffered += 1;
        Completes::Buffered
    }

    /// A buffered send needs a buffer that is attached.
    pub(super) fn need_buffer(&mut self, rank: Rank) {
        if self.attaches && !self.state(rank).attached {
            let send = (rank, self.state(rank).position as Position);
            self.evidence.note(Observation::NoBuffer { send });
        }
    }

    /// The steps whose messages are in a rank's attached buffer.
    pub(in crate::engine) fn in_buffer(&self, rank: Rank) -> Vec<Position> {
        let pending = self.pending.iter().filter(|pending| {
            pending.live && pending.rank == rank && pending.completes == Completes::Buffered
        });
        pending.map(|pending| pending.position as Position).collect()
    }
}

/// The memory that an operation sends from and that it receives into, with whether it is written.
fn buffers(event: &Event) -> [Option<(Buffer, bool)>; 2] {
    let buffer = |envelope: &Envelope| envelope.data.buffer;
    [
        envelope(event, true).and_then(buffer).map(|buffer| (buffer, false)),
        envelope(event, false).and_then(buffer).map(|buffer| (buffer, true)),
    ]
}

fn clash(one: &(Buffer, bool), other: &(Buffer, bool)) -> bool {
    (one.1 || other.1) && one.0.overlaps(&other.0)
}
