//! Every run of a world, one state after the other, by the rules of `docs/semantics.md`.
//!
//! This is what the engine is held against, so it takes no short cut: each state's every possible
//! next step is taken, whoever makes it, and the states already seen are kept whole. The engine
//! must find the same answers with a small part of the states.

use rustc_hash::FxHashSet as HashSet;
use std::fmt::{self, Display, Formatter};

use p2p_protocol::model::{
    Action, Arm, Collective, CollectiveKind, Completion, Data, Envelope, Mode, Peer, Position,
    Rank, RequestId, SourceId, World,
};

use crate::state::{
    Active, Call, Gathering, Match, Owner, Plan, Posted, Progress, RankState, Request, State,
};

/// How a standard send completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// When it is matched, unless it has at most so many bytes.
    Rendezvous { eager_limit: u64 },
    /// At once.
    Buffered,
}

/// What can happen in some run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) can_finish: bool,
    /// Every rank ends and a message is left over.
    pub(crate) can_finish_unclean: bool,
    pub(crate) can_hang: bool,
    /// A ready send starts before its receive is posted.
    pub(crate) unposted_ready: bool,
    /// A rank ends, or starts a request again, while the request is active.
    pub(crate) missing_wait: bool,
    /// An offer takes a message for which it has no arm, or collective calls differ.
    pub(crate) mismatch: bool,
}

impl Truth {
    /// Without what is left open where a run can be over at once.
    pub(crate) fn that_is_settled(self) -> Truth {
        Truth {
            unposted_ready: self.unposted_ready && !self.mismatch,
            missing_wait: self.missing_wait && !self.mismatch,
            ..self
        }
    }
}

impl Display for Truth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = [
            (self.can_finish, "can finish"),
            (self.can_finish_unclean, "can finish unclean"),
            (self.can_hang, "can hang"),
            (self.unposted_ready, "unposted ready"),
            (self.missing_wait, "missing wait"),
            (self.mismatch, "mismatch"),
        ];
        let words: Vec<&str> = all.iter().filter(|(is, _)| *is).map(|(_, words)| *words).collect();
        if words.is_empty() { f.write_str("nothing") } else { f.write_str(&words.join(", ")) }
    }
}

/// What a step leads to.
enum Next {
    State(State),
    /// A mismatch: the run is over.
    Over,
}

/// Unmatched operations in one state; more than that pile up without end.
const UNMATCHED: usize = 24;

/// All runs of `world`; `None` if there are more than `limit` states, or no end of them.
pub(crate) fn explore(world: &World, reading: Reading, limit: usize) -> Option<Truth> {
    let mut explorer = Explorer { world, reading, truth: Truth::default() };
    let start = explorer.start();
    let mut seen = HashSet::from_iter([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        if seen.len() > limit || state.unmatched() > UNMATCHED {
            return None;
        }
        let next = explorer.next(&state);
        explorer.judge(&state, &next);
        for next in next {
            if let Next::State(next) = next
                && !seen.contains(&next)
            {
                seen.insert(next.clone());
                open.push(next);
            }
        }
    }
    Some(explorer.truth)
}

struct Explorer<'world> {
    world: &'world World,
    reading: Reading,
    truth: Truth,
}

impl Explorer<'_> {
    fn start(&self) -> State {
        let ranks = self.world.behaviours.iter().map(|behaviour| RankState {
            position: 0,
            progress: Progress::Before,
            requests: vec![Request::default(); behaviour.requests as usize],
            sources: vec![None; usize::from(behaviour.sources)],
        });
        State {
            ranks: ranks.collect(),
            messages: Default::default(),
            receives: vec![Vec::new(); self.world.behaviours.len()],
            gatherings: vec![Vec::new(); self.world.communicators.len()],
        }
    }

    fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        0..self.world.size()
    }

    fn has_ended(&self, state: &State, rank: Rank) -> bool {
        let rank = rank as usize;
        state.ranks[rank].position >= self.world.behaviours[rank].events.len()
    }

    /// Notes the outcome of a run that has come to `state` and may stop there.
    fn judge(&mut self, state: &State, next: &[Next]) {
        if self.all_have_ended(state) {
            self.truth.can_finish = true;
            if next.is_empty() && !state.messages.is_empty() {
                self.truth.can_finish_unclean = true;
            }
        } else if !next.iter().any(|next| moves(state, next)) && self.hangs(state) {
            self.truth.can_hang = true;
        }
    }

    fn all_have_ended(&self, state: &State) -> bool {
        self.ranks().all(|rank| self.has_ended(state, rank))
    }

    /// Can nothing ever move again? Every state that may follow is looked at.
    fn hangs(&mut self, state: &State) -> bool {
        let mut seen = HashSet::from_iter([state.clone()]);
        let mut open = vec![state.clone()];
        while let Some(state) = open.pop() {
            let next = self.next(&state);
            if self.all_have_ended(&state) || next.iter().any(|next| moves(&state, next)) {
                return false;
            }
            for next in next {
                if let Next::State(next) = next
                    && seen.insert(next.clone())
                {
                    open.push(next);
                }
            }
        }
        true
    }

    /// Every step that may come next.
    fn next(&mut self, state: &State) -> Vec<Next> {
        let mut next = Vec::new();
        for rank in self.ranks() {
            if !self.has_ended(state, rank) {
                self.rank_steps(state, rank, &mut next);
            }
        }
        for found in state.matches() {
            next.push(self.match_up(state, found));
        }
        next
    }

    /// Every step that one rank may take.
    fn rank_steps(&mut self, state: &State, rank: Rank, next: &mut Vec<Next>) {
        let world = self.world;
        let position = state.ranks[rank as usize].position;
        let action = &world.behaviours[rank as usize].events[position].action;
        match state.ranks[rank as usize].progress {
            Progress::Matching { .. } => return,
            Progress::Collective => return self.leave(state, rank, next),
            Progress::Before => {}
        }
        let mut after = state.clone();
        match action {
            Action::Wait { requests, completion } => {
                return self.wait(state, rank, requests, completion, next);
            }
            Action::Test { request, pending } => {
                return self.test(state, rank, *request, *pending, next);
            }
            Action::Probe { envelope, binds } => {
                return self.probe(state, rank, envelope, *binds, next);
            }
            Action::Choose { arms } => {
                for arm in arms {
                    let mut after = state.clone();
                    self.go_to(&mut after, rank, arm.target);
                    next.push(Next::State(after));
                }
                return;
            }
            Action::Collective(call) => return next.push(self.come(after, rank, call)),
            Action::Send { mode, envelope } => {
                let send = !self.send(&mut after, rank, *mode, envelope, Owner::Event);
                self.begun(&mut after, rank, send, false);
            }
            Action::Receive { envelope, binds } => {
                let receive = !self.receive(&mut after, rank, envelope, Owner::Event);
                if !receive {
                    bind(&mut after, rank, *binds, None);
                }
                self.begun(&mut after, rank, false, receive);
            }
            Action::SendReceive { send, receive } => {
                let send = !self.send(&mut after, rank, Mode::Standard, send, Owner::Event);
                let receive = !self.receive(&mut after, rank, receive, Owner::Event);
                self.begun(&mut after, rank, send, receive);
            }
            Action::Offer { envelope, arms } => {
                if self.receive(&mut after, rank, envelope, Owner::Event) {
                    let first = arms.first().map_or(position + 1, |arm| arm.target);
                    self.go_to(&mut after, rank, first);
                } else {
                    self.begun(&mut after, rank, false, true);
                }
            }
            Action::StartSend { mode, envelope, request } => {
                self.set_plan(&mut after, rank, *request, None);
                self.start_send(&mut after, rank, *mode, envelope, *request);
                self.go_on(&mut after, rank);
            }
            Action::StartReceive { envelope, request, binds } => {
                self.set_plan(&mut after, rank, *request, None);
                self.start_receive(&mut after, rank, envelope, *request, *binds);
                self.go_on(&mut after, rank);
            }
            Action::PlanSend { mode, envelope, request } => {
                let envelope = looked_up(state, rank, envelope);
                let plan = Plan::Send { mode: *mode, envelope };
                self.set_plan(&mut after, rank, *request, Some(plan));
                self.go_on(&mut after, rank);
            }
            Action::PlanReceive { envelope, request } => {
                let envelope = looked_up(state, rank, envelope);
                self.set_plan(&mut after, rank, *request, Some(Plan::Receive { envelope }));
                self.go_on(&mut after, rank);
            }
            Action::Start { requests } => {
                for &request in requests {
                    self.start_planned(&mut after, rank, request);
                }
                self.go_on(&mut after, rank);
            }
            Action::Put { .. } | Action::Get { .. } => self.go_on(&mut after, rank),
            Action::Jump { target } => self.go_to(&mut after, rank, *target),
        }
        next.push(Next::State(after));
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
    fn go_on(&mut self, state: &mut State, rank: Rank) {
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
        let owner = if complete { Owner::Nobody } else { owner };
        state.start(rank, destination, envelope, owner);
        complete
    }

    fn completes_at_once(&self, mode: Mode, data: &Data) -> bool {
        match (mode, self.reading) {
            (Mode::Synchronous, _) => false,
            (Mode::Buffered, _) => true,
            (Mode::Standard | Mode::Ready, Reading::Buffered) => true,
            (Mode::Standard | Mode::Ready, Reading::Rendezvous { eager_limit }) => {
                let element = self.world.datatypes[usize::from(data.datatype)].bytes;
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
        let Some(filter) = state.filter(rank, envelope) else { return true };
        state.receives[rank as usize].push(Posted { filter, owner });
        false
    }

    /// The request's slot gets a new plan or none. An operation that was active is lost.
    fn set_plan(&mut self, state: &mut State, rank: Rank, request: RequestId, plan: Option<Plan>) {
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
        let active = Active { complete, binds: None, source: None };
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
        let active = Active { complete, binds, source: None };
        state.rank(rank).requests[request as usize].active = Some(active);
    }

    /// A message and a receive find each other, and who waited for just that goes on.
    fn match_up(&mut self, state: &State, found: Match) -> Next {
        let mut after = state.clone();
        let (message, receive) = after.take(found);
        let (sender, receiver) = (found.channel.source, found.channel.destination);
        match message.owner {
            Owner::Nobody => {}
            Owner::Request(request) => complete(&mut after, sender, request, None),
            Owner::Event => {
                let Progress::Matching { receive, .. } = after.rank(sender).progress else {
                    panic!("a rank whose event owns a message waits for it")
                };
                self.begun(&mut after, sender, false, receive);
            }
        }
        match receive.owner {
            Owner::Nobody => {}
            Owner::Request(request) => complete(&mut after, receiver, request, Some(sender)),
            Owner::Event => {
                let position = after.rank(receiver).position;
                let world = self.world;
                match &world.behaviours[receiver as usize].events[position].action {
                    Action::Offer { arms, .. } => {
                        let arm = arms.iter().find(|arm: &&Arm| Some(arm.label) == message.label);
                        let Some(arm) = arm else {
                            self.truth.mismatch = true;
                            return Next::Over;
                        };
                        self.go_to(&mut after, receiver, arm.target);
                    }
                    Action::Receive { binds, .. } => {
                        bind(&mut after, receiver, *binds, Some(sender));
                        self.go_on(&mut after, receiver);
                    }
                    _ => {
                        let Progress::Matching { send, .. } = after.rank(receiver).progress else {
                            panic!("a rank whose event owns a receive waits for it")
                        };
                        self.begun(&mut after, receiver, send, false);
                    }
                }
            }
        }
        Next::State(after)
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
        let met = match state.filter(rank, envelope) {
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

    /// The rank comes to a collective operation.
    fn come(&mut self, mut state: State, rank: Rank, collective: &Collective) -> Next {
        let call = Call { kind: collective.kind, root: collective.root };
        state.come(rank, collective.communicator, call);
        let index = state.latest_gathering(rank, collective.communicator);
        let gathering = &state.gatherings[usize::from(collective.communicator)][index];
        if gathering.iter().flatten().any(|&other| other != call) {
            self.truth.mismatch = true;
            return Next::Over;
        }
        Next::State(state)
    }

    /// The rank leaves its collective operation, if it may.
    fn leave(&mut self, state: &State, rank: Rank, next: &mut Vec<Next>) {
        let Some(communicator) = self.gathers_on(state, rank) else { panic!("it came") };
        let index = state.latest_gathering(rank, communicator);
        if !self.may_leave(rank, &state.gatherings[usize::from(communicator)][index]) {
            return;
        }
        let mut after = state.clone();
        self.go_on(&mut after, rank);
        let is_in = |state: &State, rank| self.gathers_on(state, rank) == Some(communicator);
        after.close_gatherings(communicator, is_in);
        next.push(Next::State(after));
    }

    /// The communicator of the collective operation that a rank is in.
    fn gathers_on(&self, state: &State, rank: Rank) -> Option<u16> {
        let RankState { position, progress, .. } = state.ranks[rank as usize];
        let events = &self.world.behaviours[rank as usize].events;
        match events.get(position).map(|event| &event.action) {
            Some(Action::Collective(call)) if progress == Progress::Collective => {
                Some(call.communicator)
            }
            _ => None,
        }
    }

    fn may_leave(&self, rank: Rank, gathering: &Gathering) -> bool {
        let call = gathering[rank as usize].expect("the rank has come");
        let all = gathering.iter().all(Option::is_some);
        let root = call
            .root
            .and_then(|root| usize::try_from(root).ok())
            .filter(|&root| root < gathering.len());
        let is_root = root == Some(rank as usize);
        match (self.reading, call.kind) {
            (Reading::Buffered, CollectiveKind::Bcast | CollectiveKind::Scatter) => {
                root.is_none_or(|root| gathering[root].is_some())
            }
            (Reading::Buffered, CollectiveKind::Gather | CollectiveKind::Reduce) => !is_root || all,
            _ => all,
        }
    }
}

/// Does a step change anything but positions and source slots?
fn moves(before: &State, next: &Next) -> bool {
    match next {
        Next::Over => true,
        Next::State(after) => after.moved_from(before),
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

fn bind(state: &mut State, rank: Rank, slot: Option<SourceId>, source: Option<Rank>) {
    if let Some(slot) = slot {
        state.rank(rank).sources[usize::from(slot)] = source;
    }
}

fn complete(state: &mut State, rank: Rank, request: RequestId, source: Option<Rank>) {
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
