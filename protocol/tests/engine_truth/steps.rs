//! What each step does, sentence by sentence of `docs/semantics.md`.

use p2p_protocol::model::{
    Action, Completion, Data, Departure, Envelope, LabelId, Mode, Peer, Position, Rank, RequestId,
    SourceId,
};

use crate::exploration::{Explorer, Next, Reading};
use crate::state::{Active, Match, Met, Owner, Plan, Posted, Progress, RankState, State};

impl Explorer<'_> {
    /// Every step that one rank may take.
    pub(crate) fn rank_steps(&mut self, state: &State, rank: Rank, next: &mut Vec<Next>) {
        let world = self.world;
        let position = state.ranks[rank as usize].position;
        match state.ranks[rank as usize].progress {
            Progress::Matching { .. } | Progress::Left => return,
            Progress::Collective(membership) => return self.leave(state, rank, membership, next),
            Progress::Before => {}
        }
        match &world.behaviours[rank as usize].events[position].action {
            Action::Wait { requests, completion } => {
                self.wait(state, rank, requests, completion, next);
            }
            Action::Test { request, pending } => self.test(state, rank, *request, *pending, next),
            Action::Probe { envelope, binds } => self.probe(state, rank, envelope, *binds, next),
            Action::Choose { arms } => {
                for arm in arms {
                    let mut after = state.clone();
                    self.go_to(&mut after, rank, arm.target);
                    next.push(Next::State(after));
                }
            }
            Action::Collective(call) => next.push(self.come(state.clone(), rank, call)),
            Action::StartCollective { collective, request } => {
                next.push(self.start_collective(state.clone(), rank, collective, *request));
            }
            Action::Branch { targets } => {
                for &target in targets {
                    let mut after = state.clone();
                    self.go_to(&mut after, rank, target);
                    next.push(Next::State(after));
                }
            }
            Action::DetachBuffer => self.detach(state, rank, next),
            Action::Leave { departure: Departure::Aborted } => {
                self.truth.can_abort = true;
                next.push(Next::Over);
            }
            action => {
                let mut after = state.clone();
                self.only_step(&mut after, rank, action);
                next.push(Next::State(after));
            }
        }
    }

    /// An action that begins in one way alone.
    fn only_step(&mut self, state: &mut State, rank: Rank, action: &Action) {
        match action {
            Action::Send { mode, envelope } => {
                let send = !self.send(state, rank, *mode, envelope, Owner::Event);
                self.begun(state, rank, send, false);
            }
            Action::Receive { envelope, binds } => {
                let receive = !self.receive(state, rank, envelope, Owner::Event);
                if !receive {
                    bind(state, rank, *binds, None);
                }
                self.begun(state, rank, false, receive);
            }
            Action::SendReceive { send, receive } => {
                let send = !self.send(state, rank, Mode::Standard, send, Owner::Event);
                let receive = !self.receive(state, rank, receive, Owner::Event);
                self.begun(state, rank, send, receive);
            }
            Action::Offer { envelope, arms } => {
                if self.receive(state, rank, envelope, Owner::Event) {
                    let next = state.rank(rank).position + 1;
                    self.go_to(state, rank, arms.first().map_or(next, |arm| arm.target));
                } else {
                    self.begun(state, rank, false, true);
                }
            }
            Action::Jump { target } => self.go_to(state, rank, *target),
            Action::BranchOnTag { slot, arms, otherwise } => {
                let tag = state.ranks[rank as usize].sources[usize::from(*slot)].map(|met| met.1);
                let arm = arms.iter().find(|(of, _)| Some(*of) == tag);
                self.go_to(state, rank, arm.map_or(*otherwise, |&(_, target)| target));
            }
            Action::Leave { departure } => {
                let at = state.rank(rank);
                at.progress = Progress::Left;
                let is_active = at.requests.iter().any(|request| request.active.is_some());
                if *departure == Departure::Returned && is_active {
                    self.truth.missing_wait = true;
                }
            }
            request => {
                self.request_step(state, rank, request);
                self.go_on(state, rank);
            }
        }
    }

    /// An action that starts or plans something and leaves it to itself.
    fn request_step(&mut self, state: &mut State, rank: Rank, action: &Action) {
        match action {
            Action::StartSend { mode, envelope, request } => {
                self.set_plan(state, rank, *request, None);
                self.start_send(state, rank, *mode, envelope, *request);
            }
            Action::StartReceive { envelope, request, binds } => {
                self.set_plan(state, rank, *request, None);
                self.start_receive(state, rank, envelope, *request, *binds);
            }
            Action::PlanSend { mode, envelope, request } => {
                let plan = Plan::Send { mode: *mode, envelope: looked_up(state, rank, envelope) };
                self.set_plan(state, rank, *request, Some(plan));
            }
            Action::PlanReceive { envelope, request } => {
                let plan = Plan::Receive { envelope: looked_up(state, rank, envelope) };
                self.set_plan(state, rank, *request, Some(plan));
            }
            Action::Start { requests } => {
                for &request in requests {
                    self.start_planned(state, rank, request);
                }
            }
            Action::Free { request } | Action::Overwrite { request } => {
                let slot = &mut state.rank(rank).requests[*request as usize];
                slot.active = None;
                slot.plan = None;
                state.disown(rank, *request);
            }
            Action::OneSided(it) => {
                if let Some(request) = it.access().and_then(|access| access.request) {
                    self.set_plan(state, rank, request, None);
                    let active =
                        Active { complete: true, binds: None, source: None, gathering: None };
                    state.rank(rank).requests[request as usize].active = Some(active);
                }
            }
            // Nothing happens before the next fence, nor does a buffer do anything by itself.
            Action::Put { .. } | Action::Get { .. } | Action::AttachBuffer { .. } => {}
            action if action.moves_nothing() => {}
            other => panic!("{other:?} is not for here"),
        }
    }

    /// The rank goes on at `target`.
    fn go_to(&mut self, state: &mut State, rank: Rank, target: Position) {
        let at = state.rank(rank);
        at.position = target;
        at.progress = Progress::Before;
        let is_active = at.requests.iter().any(|request| request.active.is_some());
        if is_active && self.has_ended(state, rank) {
            self.truth.missing_wait = true;
        }
    }

    /// The rank goes on at its next event.
    pub(crate) fn go_on(&mut self, state: &mut State, rank: Rank) {
        let position = state.ranks[rank as usize].position;
        self.go_to(state, rank, position + 1);
    }

    /// The rank has begun its event and waits for what is `true`; it goes on if nothing is.
    fn begun(&mut self, state: &mut State, rank: Rank, send: bool, receive: bool) {
        if send || receive {
            state.rank(rank).progress = Progress::Matching { send, receive };
        } else {
            self.go_on(state, rank);
        }
    }

    /// Starts a message; is the send complete?
    fn send(
        &mut self,
        state: &mut State,
        rank: Rank,
        mode: Mode,
        envelope: &Envelope,
        owner: Owner,
    ) -> bool {
        let Some(destination) = state.destination(rank, envelope.peer) else { return true };
        if mode == Mode::Ready && !state.is_posted(rank, destination, envelope) {
            self.truth.unposted_ready = true;
        }
        let complete = self.completes_at_once(mode, &envelope.data);
        let buffered =
            mode == Mode::Buffered && !self.completes_at_once(Mode::Standard, &envelope.data);
        let owner = match complete {
            true if buffered => Owner::Buffer,
            true => Owner::Nobody,
            false => owner,
        };
        state.start(rank, destination, envelope, owner);
        complete
    }

    fn completes_at_once(&self, mode: Mode, data: &Data) -> bool {
        match (mode, self.reading) {
            (Mode::Synchronous, _) => false,
            (Mode::Buffered, _) => true,
            (Mode::Standard | Mode::Ready, Reading::Buffered) => true,
            (Mode::Standard | Mode::Ready, Reading::Rendezvous { eager_limit }) => {
                let element =
                    data.datatype.and_then(|id| self.world.datatypes[usize::from(id)].bytes);
                let bytes = element.zip(data.count).map(|(element, count)| element * count);
                eager_limit > 0 && bytes.is_some_and(|bytes| bytes <= eager_limit)
            }
        }
    }

    /// Posts a receive; is it complete?
    fn receive(
        &mut self,
        state: &mut State,
        rank: Rank,
        envelope: &Envelope,
        owner: Owner,
    ) -> bool {
        let Some(filter) = state.filter(self.world, rank, envelope) else { return true };
        state.receives[rank as usize].push(Posted { filter, room: envelope.data, owner });
        false
    }

    /// The request's slot gets a new plan or none. An operation that was active is lost.
    pub(crate) fn set_plan(
        &mut self,
        state: &mut State,
        rank: Rank,
        request: RequestId,
        plan: Option<Plan>,
    ) {
        self.lose(state, rank, request);
        state.rank(rank).requests[request as usize].plan = plan;
    }

    fn lose(&mut self, state: &mut State, rank: Rank, request: RequestId) {
        if state.rank(rank).requests[request as usize].active.take().is_some() {
            self.truth.missing_wait = true;
            state.disown(rank, request);
        }
    }

    fn start_planned(&mut self, state: &mut State, rank: Rank, request: RequestId) {
        match state.rank(rank).requests[request as usize].plan.clone() {
            None => {}
            Some(Plan::Send { mode, envelope }) => {
                self.lose(state, rank, request);
                self.start_send(state, rank, mode, &envelope, request);
            }
            Some(Plan::Receive { envelope }) => {
                self.lose(state, rank, request);
                self.start_receive(state, rank, &envelope, request, None);
            }
        }
    }

    fn start_send(
        &mut self,
        state: &mut State,
        rank: Rank,
        mode: Mode,
        envelope: &Envelope,
        request: RequestId,
    ) {
        let complete = self.send(state, rank, mode, envelope, Owner::Request(request));
        let active = Active { complete, binds: None, source: None, gathering: None };
        state.rank(rank).requests[request as usize].active = Some(active);
    }

    fn start_receive(
        &mut self,
        state: &mut State,
        rank: Rank,
        envelope: &Envelope,
        request: RequestId,
        binds: Option<SourceId>,
    ) {
        let complete = self.receive(state, rank, envelope, Owner::Request(request));
        let active = Active { complete, binds, source: None, gathering: None };
        state.rank(rank).requests[request as usize].active = Some(active);
    }

    /// A message and a receive find each other, and who waited for just that goes on.
    pub(crate) fn match_up(&mut self, state: &State, found: Match) -> Next {
        let mut after = state.clone();
        let (message, receive) = after.take(found);
        self.compare(&message.data, &receive.room);
        let (sender, receiver) = (found.channel.source, found.channel.destination);
        let met = (sender, message.tag);
        match message.owner {
            Owner::Nobody | Owner::Buffer => {}
            Owner::Request(request) => complete(&mut after, sender, request, None),
            Owner::Event => {
                let Progress::Matching { receive, .. } = after.rank(sender).progress else {
                    panic!("a rank whose event owns a message waits for it")
                };
                self.begun(&mut after, sender, false, receive);
            }
        }
        match receive.owner {
            Owner::Nobody | Owner::Buffer => {}
            Owner::Request(request) => complete(&mut after, receiver, request, Some(met)),
            Owner::Event if !self.received(&mut after, receiver, met, message.data.label) => {
                self.truth.mismatch = true;
                return Next::Over;
            }
            Owner::Event => {}
        }
        Next::State(after)
    }

    /// Notes a message that does not fit its receive; the run goes on all the same.
    fn compare(&mut self, sent: &Data, room: &Data) {
        let signature = |data: &Data| {
            &self.world.datatypes[usize::from(data.datatype.expect("known"))].signature
        };
        if signature(sent) != signature(room) {
            self.truth.type_mismatch = true;
        } else if sent.count.zip(room.count).is_some_and(|(sent, room)| sent > room) {
            self.truth.truncation = true;
        }
    }

    /// The receive of a rank's current event has its message; `false` if that has no arm.
    fn received(
        &mut self,
        state: &mut State,
        rank: Rank,
        source: Met,
        label: Option<LabelId>,
    ) -> bool {
        let world = self.world;
        let RankState { position, progress, .. } = state.ranks[rank as usize];
        match &world.behaviours[rank as usize].events[position].action {
            Action::Offer { arms, .. } => {
                let arm = arms.iter().find(|arm| Some(arm.label) == label);
                if let Some(arm) = arm {
                    self.go_to(state, rank, arm.target);
                }
                return arm.is_some();
            }
            Action::Receive { binds, .. } => {
                bind(state, rank, *binds, Some(source));
                self.go_on(state, rank);
            }
            _ => {
                let Progress::Matching { send, .. } = progress else {
                    panic!("a rank whose event owns a receive waits for it")
                };
                self.begun(state, rank, send, false);
            }
        }
        true
    }

    fn wait(
        &mut self,
        state: &State,
        rank: Rank,
        requests: &[RequestId],
        completion: &Completion,
        next: &mut Vec<Next>,
    ) {
        let slots = &state.ranks[rank as usize].requests;
        let is_active = |&request: &RequestId| slots[request as usize].active.is_some();
        let is_complete = |&request: &RequestId| {
            slots[request as usize].active.as_ref().is_some_and(|active| active.complete)
        };
        let active: Vec<RequestId> = requests.iter().copied().filter(is_active).collect();
        let complete: Vec<RequestId> = requests.iter().copied().filter(is_complete).collect();
        let position = state.ranks[rank as usize].position;
        let mut finish = |requests: &[RequestId], target: Position| {
            let mut after = state.clone();
            for &request in requests {
                deactivate(&mut after, rank, request);
            }
            self.go_to(&mut after, rank, target);
            next.push(Next::State(after));
        };
        if active.is_empty() {
            return finish(&[], position + 1);
        }
        match completion {
            Completion::All if active == complete => finish(&complete, position + 1),
            Completion::All => {}
            Completion::Any(targets) => {
                for (index, request) in requests.iter().enumerate() {
                    if complete.contains(request) {
                        let target =
                            targets.as_ref().map_or(position + 1, |targets| targets[index]);
                        finish(&[*request], target);
                    }
                }
            }
            Completion::Some => {
                for subset in 1..1_u32 << complete.len() {
                    let chosen =
                        complete.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
                    let chosen: Vec<RequestId> = chosen.map(|(_, &request)| request).collect();
                    finish(&chosen, position + 1);
                }
            }
        }
    }

    fn test(
        &mut self,
        state: &State,
        rank: Rank,
        request: RequestId,
        pending: Position,
        next: &mut Vec<Next>,
    ) {
        let active = &state.ranks[rank as usize].requests[request as usize].active;
        if active.as_ref().is_none_or(|active| active.complete) {
            let mut after = state.clone();
            deactivate(&mut after, rank, request);
            self.go_on(&mut after, rank);
            next.push(Next::State(after));
        }
        if active.is_some() {
            let mut after = state.clone();
            self.go_to(&mut after, rank, pending);
            next.push(Next::State(after));
        }
    }

    fn probe(
        &mut self,
        state: &State,
        rank: Rank,
        envelope: &Envelope,
        binds: Option<SourceId>,
        next: &mut Vec<Next>,
    ) {
        let met = match state.filter(self.world, rank, envelope) {
            None => vec![None],
            Some(filter) => state.probed(rank, &filter).into_iter().map(Some).collect(),
        };
        for source in met {
            let mut after = state.clone();
            bind(&mut after, rank, binds, source);
            self.go_on(&mut after, rank);
            next.push(Next::State(after));
        }
    }

    /// The rank has its buffer back once nothing is in it.
    fn detach(&mut self, state: &State, rank: Rank, next: &mut Vec<Next>) {
        let mut sent = state.messages.iter().filter(|(channel, _)| channel.source == rank);
        if !sent.any(|(_, messages)| messages.iter().any(|one| one.owner == Owner::Buffer)) {
            let mut after = state.clone();
            self.go_on(&mut after, rank);
            next.push(Next::State(after));
        }
    }
}

/// Fixes a plan's peer: the arguments of a persistent request are read when it is made.
fn looked_up(state: &State, rank: Rank, envelope: &Envelope) -> Envelope {
    let peer = match envelope.peer {
        Peer::Source(_) => match state.destination(rank, envelope.peer) {
            Some(source) => Peer::Rank(source.cast_signed()),
            None => Peer::Null,
        },
        peer => peer,
    };
    Envelope { peer, ..*envelope }
}

fn bind(state: &mut State, rank: Rank, slot: Option<SourceId>, source: Option<Met>) {
    if let Some(slot) = slot {
        state.rank(rank).sources[usize::from(slot)] = source;
    }
}

fn complete(state: &mut State, rank: Rank, request: RequestId, source: Option<Met>) {
    let active = state.rank(rank).requests[request as usize].active.as_mut();
    let active = active.expect("an operation that has an owner is active");
    active.complete = true;
    active.source = source;
}

/// A wait or a test is done with the request.
fn deactivate(state: &mut State, rank: Rank, request: RequestId) {
    if let Some(active) = state.rank(rank).requests[request as usize].active.take() {
        bind(state, rank, active.binds, active.source);
    }
}
