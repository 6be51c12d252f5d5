//! What each step does to the machine (docs/semantics.md, "Steps").

use super::matching::Completes;
use super::{Machine, Met, Schedule, Status, envelope};
use crate::engine::evidence::Observation;
use crate::engine::trace::Deed;
use crate::model::{
    Action, Arm, Departure, Envelope, Event, LabelId, Mode, Peer, Position, Rank, SourceId,
};

/// Which way a message travels, seen from the rank that starts the operation.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Send(Mode),
    Receive,
}

/// The operation that a start or a plan describes.
pub(super) fn operation(action: &Action) -> Option<(Half, &Envelope)> {
    match action {
        Action::StartSend { mode, envelope, .. } | Action::PlanSend { mode, envelope, .. } => {
            Some((Half::Send(*mode), envelope))
        }
        Action::StartReceive { envelope, .. } | Action::PlanReceive { envelope, .. } => {
            Some((Half::Receive, envelope))
        }
        _ => None,
    }
}

impl Machine<'_> {
    /// Takes the step at the rank's position.
    pub(super) fn step(&mut self, rank: Rank) {
        let position = self.state(rank).position as Position;
        let Some(event) = self.event(rank) else {
            self.end(rank);
            return;
        };
        if let Some(executed) = &mut self.executed {
            executed.note((rank, position));
        }
        if self.skipped.is_some_and(|skipped| skipped.contains(&(rank, position))) {
            self.pass_over(rank, &event.action);
            return;
        }
        if self.holds_ready(rank, &event.action) {
            self.state_mut(rank).status = Status::Parked;
            return;
        }
        match &event.action {
            Action::Send { mode, envelope } => {
                self.operate(rank, &[(Half::Send(*mode), envelope)]);
            }
            Action::Receive { envelope, .. } => self.operate(rank, &[(Half::Receive, envelope)]),
            Action::Offer { envelope, arms } => self.await_decision(rank, envelope, arms),
            Action::SendReceive { send, receive } => {
                self.operate(rank, &[(Half::Send(Mode::Standard), send), (Half::Receive, receive)]);
            }
            Action::StartSend { request, .. } | Action::StartReceive { request, .. } => {
                self.request_mut(rank, *request).plan = None;
                self.start_request(rank, position, *request, None);
                self.go_to(rank, position + 1);
            }
            Action::PlanSend { request, .. } | Action::PlanReceive { request, .. } => {
                self.plan(rank, position, *request);
                self.go_to(rank, position + 1);
            }
            Action::Start { requests } => {
                for &request in requests {
                    if let Some((plan, peer)) = self.request(rank, request).plan {
                        self.start_request(rank, plan as Position, request, Some(peer));
                    }
                }
                self.go_to(rank, position + 1);
            }
            Action::Wait { requests, completion } => self.wait(rank, requests, completion),
            Action::Test { request, .. } => self.test(rank, *request),
            Action::Probe { envelope, .. } => self.probe(rank, envelope),
            Action::Collective(collective) => self.enter_collective(rank, collective),
            Action::Overwrite { request } => {
                self.overwrite_request(rank, *request);
                self.go_to(rank, position + 1);
            }
            Action::OneSided(it) => self.one_sided(rank, it),
            Action::Put { .. }
            | Action::Get { .. }
            | Action::Argument { .. }
            | Action::Create { .. }
            | Action::Release { .. }
            | Action::Initialize
            | Action::Finalize
            | Action::Compute { .. }
            | Action::Outside { .. } => self.go_to(rank, position + 1),
            Action::Choose { .. } => self.state_mut(rank).status = Status::Parked,
            Action::Jump { target } => self.jump(rank, *target),
            Action::StartCollective { collective, request } => {
                self.start_collective(rank, collective, *request);
            }
            Action::Cancel { request } => {
                self.go_to(rank, position + 1);
                self.cancel(rank, *request);
            }
            Action::Free { request } => {
                self.free_request(rank, *request);
                self.go_to(rank, position + 1);
            }
            Action::Access { requests, writes } => {
                self.access(rank, requests, *writes);
                self.go_to(rank, position + 1);
            }
            Action::Vanish { requests } => {
                self.access(rank, requests, true);
                self.go_to(rank, position + 1);
            }
            Action::Measured { told, taken } => {
                self.compare_sources(rank, *told, *taken);
                self.go_to(rank, position + 1);
            }
            Action::AttachBuffer { .. } => {
                self.state_mut(rank).attached = true;
                self.go_to(rank, position + 1);
            }
            Action::DetachBuffer => self.detach_buffer(rank),
            Action::Branch { .. } => self.state_mut(rank).status = Status::Parked,
            Action::BranchOnTag { slot, arms, otherwise } => {
                self.branch_on_tag(rank, *slot, arms, *otherwise);
            }
            Action::Leave { departure } => self.leave(rank, *departure),
            Action::Opaque => self.become_opaque(rank),
        }
    }

    /// Whether a ready send must wait with its start: which receives are posted by then depends on
    /// which of them wildcards take messages before, and that is for the exploration to choose.
    fn holds_ready(&mut self, rank: Rank, action: &Action) -> bool {
        if !matches!(self.schedule, Schedule::Delay(_)) || self.ready == Some(rank) {
            self.ready = None;
            return false;
        }
        self.ready_destinations(rank, action)
            .iter()
            .any(|&destination| !self.state(destination).wildcards.is_empty())
    }

    /// To whom a step sends in ready mode.
    fn ready_destinations(&self, rank: Rank, action: &Action) -> Vec<Rank> {
        let peer = match action {
            Action::Send { mode: Mode::Ready, envelope }
            | Action::StartSend { mode: Mode::Ready, envelope, .. } => envelope.peer,
            Action::Start { requests } => {
                let plans = requests.iter().filter_map(|&id| self.request(rank, id).plan);
                let events = &self.world.behaviours[rank as usize].events;
                let ready = plans.filter(|&(plan, _)| {
                    let action = &events[plan as usize].action;
                    matches!(action, Action::PlanSend { mode: Mode::Ready, .. })
                });
                return ready.filter_map(|(_, peer)| self.resolve(rank, peer)).collect();
            }
            _ => return Vec::new(),
        };
        self.resolve(rank, peer).into_iter().collect()
    }

    /// Goes on behind a step that has no partner; a half of it that has one still takes part.
    fn pass_over(&mut self, rank: Rank, action: &Action) {
        let position = self.state(rank).position as Position;
        if let Action::SendReceive { send, receive } = action {
            let mode = Half::Send(Mode::Standard);
            self.start(rank, position, mode, send, Completes::Nothing);
            self.start(rank, position, Half::Receive, receive, Completes::Nothing);
        }
        self.go_to(rank, position + 1);
    }

    fn end(&mut self, rank: Rank) {
        self.state_mut(rank).status = Status::Ended;
        let state = &self.ranks[rank as usize];
        let position = state.position as Position;
        for request in state.requests.iter().filter(|request| request.is_active()) {
            self.evidence.lost_request(rank, request.started as Position);
        }
        self.moved += 1;
        self.trace((rank, position), Deed::Ends);
    }

    /// The rank ends here. What it leaves behind is no fault of its own unless it means to end.
    fn leave(&mut self, rank: Rank, departure: Departure) {
        let position = self.state(rank).position as Position;
        match departure {
            Departure::Returned => return self.end(rank),
            Departure::Aborted if self.schedule != Schedule::Unordered => self.aborted = true,
            Departure::Aborted | Departure::Panicked | Departure::Exited => {}
        }
        self.state_mut(rank).status = Status::Ended;
        self.moved += 1;
        self.trace((rank, position), Deed::Ends);
    }

    /// Takes down that a message is read as one of another rank has told.
    fn compare_sources(&mut self, rank: Rank, told: SourceId, taken: SourceId) {
        let at = (rank, self.state(rank).position as Position);
        let source = |slot: SourceId| {
            self.state(rank).sources.get(usize::from(slot)).copied().flatten().map(|met| met.source)
        };
        if let (Some(told), Some(taken)) = (source(told), source(taken))
            && told != taken
        {
            self.evidence.note(Observation::Mixed { at, told, taken });
        }
    }

    /// Goes on by the tag of the message that a slot was bound to.
    fn branch_on_tag(
        &mut self,
        rank: Rank,
        slot: SourceId,
        arms: &[(i32, Position)],
        otherwise: Position,
    ) {
        let met = self.state(rank).sources[usize::from(slot)];
        match met.map(|met| met.tag) {
            Some(None) => self.become_opaque(rank),
            Some(Some(tag)) => {
                let arm = arms.iter().find(|(of, _)| *of == tag);
                self.jump(rank, arm.map_or(otherwise, |&(_, target)| target));
            }
            None => self.jump(rank, otherwise),
        }
    }

    /// Starts the halves of one blocking operation and waits for those that must be waited for.
    fn operate(&mut self, rank: Rank, halves: &[(Half, &Envelope)]) {
        let position = self.state(rank).position as Position;
        self.compare_buffers(rank, position, None);
        let event = &self.world.behaviours[rank as usize].events[position];
        let mut waits = [false; 2];
        for (waits, &(half, envelope)) in waits.iter_mut().zip(halves) {
            *waits = self.waits_in(rank, half, envelope);
        }
        let count = waits.iter().filter(|waits| **waits).count();
        if count == 0
            && let Action::Receive { binds, .. } = &event.action
        {
            // Who was received from is nobody: MPI_PROC_NULL.
            self.bind(rank, *binds, None);
        }
        if count == 0 || self.schedule == Schedule::Unordered {
            for &(half, envelope) in halves {
                let completes = self.completes_early(rank, half, envelope);
                self.start(rank, position, half, envelope, completes);
            }
            self.go_to(rank, position + 1);
            return;
        }
        let state = self.state_mut(rank);
        state.met = None;
        state.status = Status::Waiting(u32::try_from(count).expect("at most two halves"));
        for (&(half, envelope), waits) in halves.iter().zip(waits) {
            let completes = match waits {
                true => Completes::Step,
                false => self.completes_early(rank, half, envelope),
            };
            self.start(rank, position, half, envelope, completes);
        }
    }

    /// What is completed when an operation matches for which nobody waits.
    pub(super) fn completes_early(
        &mut self,
        rank: Rank,
        half: Half,
        envelope: &Envelope,
    ) -> Completes {
        match half {
            Half::Send(mode) if self.has_partner(rank, half, envelope) => {
                self.kept_in_buffer(rank, mode, &envelope.data)
            }
            _ => Completes::Nothing,
        }
    }

    /// Whether there is another end at all.
    fn has_partner(&self, rank: Rank, half: Half, envelope: &Envelope) -> bool {
        matches!((half, envelope.peer), (Half::Receive, Peer::Any { .. }))
            || self.resolve(rank, envelope.peer).is_some()
    }

    pub(super) fn start(
        &mut self,
        rank: Rank,
        position: Position,
        half: Half,
        envelope: &Envelope,
        completes: Completes,
    ) {
        let other = self.resolve(rank, envelope.peer);
        match (half, other, envelope.peer) {
            (Half::Send(mode), Some(destination), _) => {
                if mode == Mode::Buffered {
                    self.need_buffer(rank);
                }
                if mode == Mode::Ready && !self.is_posted(rank, destination, envelope) {
                    self.evidence.unposted_ready(rank, position, destination);
                }
                self.start_message(rank, position, envelope, destination, completes);
            }
            (Half::Receive, Some(source), _) => {
                let peer = Peer::Rank(i32::try_from(source).unwrap_or(i32::MAX));
                self.post_receive(rank, position, envelope, peer, completes);
            }
            (Half::Receive, None, Peer::Any { .. }) => {
                self.post_receive(rank, position, envelope, envelope.peer, completes);
            }
            _ => {}
        }
    }

    /// Whether a half has another end that must come before it is complete.
    pub(super) fn waits_in(&self, rank: Rank, half: Half, envelope: &Envelope) -> bool {
        self.has_partner(rank, half, envelope)
            && match half {
                Half::Send(mode) => self.waits(mode, &envelope.data),
                Half::Receive => true,
            }
    }

    pub(super) fn bind(&mut self, rank: Rank, slot: Option<SourceId>, met: Option<Met>) {
        if let Some(slot) = slot {
            self.state_mut(rank).sources[usize::from(slot)] = met;
        }
    }

    fn probe(&mut self, rank: Rank, envelope: &Envelope) {
        let position = self.state(rank).position as Position;
        if self.schedule == Schedule::Unordered {
            self.go_to(rank, position + 1);
        } else if matches!(envelope.peer, Peer::Any { .. }) {
            let opaque = self
                .sources(envelope.peer, envelope.communicator)
                .any(|source| self.is_opaque(source));
            if opaque {
                self.become_opaque(rank);
            } else {
                self.state_mut(rank).status = Status::Parked;
            }
        } else if self.resolve(rank, envelope.peer).is_none() {
            if let Some(Event { action: Action::Probe { binds, .. }, .. }) = self.event(rank) {
                self.bind(rank, *binds, None);
            }
            self.go_to(rank, position + 1);
        } else {
            self.state_mut(rank).status = Status::Probing;
        }
    }

    /// Whether the probe that a rank is in finds its message, or all have come that its epoch waits for.
    pub(super) fn probe_now(&self, rank: Rank) -> bool {
        if matches!(self.event(rank), Some(Event { action: Action::OneSided(_), .. })) {
            return self.silent(rank).is_empty();
        }
        let envelope = self.event(rank).and_then(|event| envelope(event, false));
        envelope.is_some_and(|envelope| {
            self.resolve(rank, envelope.peer).is_some_and(|source| {
                self.is_opaque(source) || self.available(rank, source, envelope).is_some()
            })
        })
    }

    /// What the probe that a rank is in has found.
    fn probed(&self, rank: Rank, envelope: &Envelope) -> Option<Met> {
        let source = self.resolve(rank, envelope.peer)?;
        let met = self.available(rank, source, envelope);
        Some(met.unwrap_or(Met::of(source, envelope.tag)))
    }

    fn await_decision(&mut self, rank: Rank, envelope: &Envelope, arms: &[Arm]) {
        let position = self.state(rank).position as Position;
        if !self.has_partner(rank, Half::Receive, envelope) {
            self.go_to(rank, arms.first().map_or(position + 1, |arm| arm.target));
            return;
        }
        let state = self.state_mut(rank);
        state.met = None;
        state.status = Status::Waiting(1);
        self.start(rank, position, Half::Receive, envelope, Completes::Step);
    }

    /// The step at the present position is complete: keeps what it has learnt and goes on.
    pub(super) fn leave_operation(&mut self, rank: Rank) {
        let position = self.state(rank).position as Position;
        let Some(event) = self.event(rank) else { return };
        let met = self.state_mut(rank).met.take();
        match &event.action {
            Action::Receive { binds, .. } => self.bind(rank, *binds, met.map(|(met, _)| met)),
            Action::Probe { envelope, binds } => {
                self.bind(rank, *binds, self.probed(rank, envelope));
                self.go_to(rank, position + 1);
                return;
            }
            Action::Wait { requests, completion } => {
                self.leave_wait(rank, requests, completion);
                return;
            }
            Action::Offer { arms, .. } => {
                self.decide(rank, arms, met);
                return;
            }
            Action::OneSided(_) => self.end_epoch(rank),
            _ => {}
        }
        self.moved += 1;
        self.go_to(rank, position + 1);
    }

    /// Goes on at the arm that was announced.
    fn decide(&mut self, rank: Rank, arms: &[Arm], met: Option<(Met, Option<LabelId>)>) {
        let position = self.state(rank).position as Position;
        let label = met.and_then(|(_, label)| label);
        match arms.iter().find(|arm| Some(arm.label) == label) {
            Some(arm) => self.go_to(rank, arm.target),
            None if met.is_some_and(|(met, _)| self.is_opaque(met.source)) => {
                self.become_opaque(rank);
            }
            None => {
                let source = met.map(|(met, _)| met.source);
                self.evidence.wrong_decision(rank, position, source, label);
                self.mismatch = true;
            }
        }
    }

    pub(super) fn jump(&mut self, rank: Rank, target: Position) {
        let from = self.state(rank).position as Position;
        let events = &self.world.behaviours[rank as usize].events;
        let mut at = target;
        for _ in 0..=events.len() {
            let Some(Action::Jump { target }) = events.get(at).map(|event| &event.action) else {
                self.go_to(rank, at);
                if at <= from && self.schedule == Schedule::Unordered {
                    self.state_mut(rank).status = Status::Spinning;
                }
                return;
            };
            at = *target;
        }
        self.state_mut(rank).status = Status::Spinning;
    }
}
