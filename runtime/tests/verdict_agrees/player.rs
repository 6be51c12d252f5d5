//! One rank's behaviour, played on a session.
//!
//! The session says less than the model: what names nobody is left out here, an "any" range is
//! cut at the world's size, and "some" completes one. [`is_playable`] says what cannot be played.

use std::sync::LazyLock;

use p2p::session::{
    Error, Fresh, Joined, Max, Mode, Operation, Request, RequestId as Name, Session, Source,
};
use p2p_protocol::model::{
    Action, Collective, CollectiveKind, Communicator, Completion, Envelope, LabelId, Peer,
    Position, RequestId, SourceId, Tag, World,
};

use crate::build::COMMUNICATORS;

/// The tags that worlds here use.
const TAGS: u16 = 3;
/// The longest message.
const ELEMENTS: usize = 16;
/// Actions of one rank after which it is taken to run for ever.
const ACTIONS: usize = 400;
/// The text of the error with which such a rank leaves.
pub(crate) const ENDLESS: &str = "goes on for ever";

/// An operation for each tag and communicator.
static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let all =
        (0..COMMUNICATORS).flat_map(|communicator| (0..TAGS).map(move |tag| (communicator, tag)));
    let operation = |(communicator, tag): (u16, u16)| Operation {
        text: "step",
        verb: "step",
        message: "Word",
        tag: i32::from(tag),
        communicator,
        file: file!(),
        line: line!(),
        column: 1,
    };
    all.map(operation).collect()
});

fn operation(communicator: u16, tag: Tag) -> &'static Operation {
    let Tag::Exact(tag) = tag else { panic!("the session has no any-tag") };
    let tag = usize::try_from(tag).expect("a tag of ours");
    &OPERATIONS[usize::from(communicator) * usize::from(TAGS) + tag]
}

/// The same world with nothing in it that only programs outside of protocols can do: such a step
/// becomes a wait for nothing, and every communicator has all ranks.
pub(crate) fn as_a_protocol_could(mut world: World) -> World {
    for event in world.behaviours.iter_mut().flat_map(|behaviour| &mut behaviour.events) {
        let is_foreign = match &event.action {
            Action::StartCollective { .. }
            | Action::Cancel { .. }
            | Action::Free { .. }
            | Action::Access { .. }
            | Action::AttachBuffer { .. }
            | Action::DetachBuffer
            | Action::Branch { .. }
            | Action::BranchOnTag { .. }
            | Action::Leave { .. }
            | Action::Opaque => true,
            Action::Collective(call) => !PLAYED.contains(&call.kind),
            _ => false,
        };
        if is_foreign {
            event.action = Action::Wait { requests: [].into(), completion: Completion::All };
        }
    }
    let all = world.communicators.iter().map(|it| Communicator::of_all(it.name.clone()));
    world.communicators = all.collect();
    world
}

/// The collectives that a session has.
const PLAYED: [CollectiveKind; 9] = [
    CollectiveKind::Barrier,
    CollectiveKind::Fence,
    CollectiveKind::Bcast,
    CollectiveKind::Scatter,
    CollectiveKind::Gather,
    CollectiveKind::AllGather,
    CollectiveKind::Reduce,
    CollectiveKind::AllReduce,
    CollectiveKind::AllToAll,
];

/// Can every action be played?
pub(crate) fn is_playable(world: &World) -> bool {
    let size = world.size();
    let actions = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    actions.map(|event| event.action.clone()).all(|mut action| {
        let has_tags =
            crate::edit::envelopes_of(&mut action).iter().all(|envelope| envelope.tag != Tag::Any);
        has_tags
            && match &action {
                Action::Collective(call) => {
                    call.root.is_none_or(|root| u32::try_from(root).is_ok_and(|root| root < size))
                }
                Action::PlanSend { mode, .. } => *mode == Mode::Standard,
                _ => true,
            }
    })
}

/// Does some rank come back to where it was, other than to ask a test again?
pub(crate) fn has_circle(world: &World) -> bool {
    world.behaviours.iter().any(|behaviour| {
        behaviour.events.iter().enumerate().any(|(position, event)| match &event.action {
            Action::Jump { target } => *target <= position,
            Action::Test { pending, .. } => *pending < position,
            Action::Choose { arms } | Action::Offer { arms, .. } => {
                arms.iter().any(|arm| arm.target <= position)
            }
            Action::Wait { completion: Completion::Any(Some(targets)), .. } => {
                targets.iter().any(|target| *target <= position)
            }
            _ => false,
        })
    })
}

/// A request whose operation was started.
struct Live {
    /// `None`: there is nobody at the other end, so it is complete.
    request: Option<Request<Vec<u32>>>,
    binds: Option<SourceId>,
}

#[derive(Clone)]
enum Plan {
    Send { to: Option<i64>, envelope: Envelope },
    Receive { from: Option<Source>, envelope: Envelope },
}

struct Player<'session, 'env> {
    session: &'session mut Session<'env>,
    requests: Vec<Option<Live>>,
    plans: Vec<Option<Plan>>,
    sources: Vec<Option<i64>>,
    random: Random,
}

/// Numbers without rhyme, the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }
}

/// Plays this rank's part of `world`.
pub(crate) fn play(world: &World, joined: Joined<'_>, random: Random) -> p2p::Result<()> {
    let behaviour = &world.behaviours[joined.rank()];
    p2p::session::run(joined, |session| {
        for operation in OPERATIONS.iter() {
            session.open_window::<u32>(operation);
            session.window::<u32>(operation).resize(ELEMENTS, 0);
        }
        let mut player = Player {
            session,
            requests: (0..behaviour.requests).map(|_| None).collect(),
            plans: vec![None; behaviour.requests as usize],
            sources: vec![None; usize::from(behaviour.sources)],
            random,
        };
        let mut position = 0;
        let mut actions = 0;
        while let Some(event) = behaviour.events.get(position) {
            for _ in 0..player.random.below(4) {
                std::thread::yield_now();
            }
            // A test that asks again waits for others: how often says nothing.
            actions += usize::from(
                !matches!(event.action, Action::Test { pending, .. } if pending == position),
            );
            if actions > ACTIONS {
                return Err(Error::other(ENDLESS));
            }
            position = player.step(&event.action, position)?;
        }
        Ok(())
    })
}

impl Player<'_, '_> {
    /// Does one action; returns where to go on.
    fn step(&mut self, action: &Action, position: Position) -> p2p::Result<Position> {
        match action {
            Action::Send { mode, envelope } => self.send(*mode, envelope)?,
            Action::Receive { envelope, binds } => {
                let met = self.receive(envelope)?.map(|(source, _)| source);
                self.bind(*binds, met);
            }
            Action::SendReceive { send, receive } => self.send_receive(send, receive)?,
            Action::StartSend { mode, envelope, request } => {
                let to = self.peer(envelope.peer);
                self.start_send(*mode, to, envelope, *request)?;
                self.plans[*request as usize] = None;
            }
            Action::StartReceive { envelope, request, binds } => {
                let from = self.source(envelope.peer);
                self.start_receive(from, envelope, *request, *binds)?;
                self.plans[*request as usize] = None;
            }
            Action::PlanSend { envelope, request, .. } => {
                let to = self.peer(envelope.peer);
                self.plans[*request as usize] = Some(Plan::Send { to, envelope: *envelope });
            }
            Action::PlanReceive { envelope, request } => {
                let from = self.source(envelope.peer);
                self.plans[*request as usize] = Some(Plan::Receive { from, envelope: *envelope });
            }
            Action::Start { requests } => {
                for &request in requests {
                    self.start(request)?;
                }
            }
            Action::Wait { requests, completion } => {
                return self.wait(requests, completion, position);
            }
            Action::Test { request, pending } => {
                if !self.test(*request)? {
                    return Ok(*pending);
                }
            }
            Action::Probe { envelope, binds } => {
                let met = match self.source(envelope.peer) {
                    None => None,
                    Some(source) => {
                        let operation = operation(envelope.communicator, envelope.tag);
                        Some(self.session.probe::<u32>(operation, source)?.source as i64)
                    }
                };
                self.bind(*binds, met);
            }
            Action::Collective(call) => self.collective(call)?,
            Action::Put { envelope } => {
                if let Some(peer) = self.peer(envelope.peer) {
                    let operation = operation(envelope.communicator, envelope.tag);
                    self.session.put(operation, peer, 0, words(envelope))?;
                }
            }
            Action::Get { envelope } => {
                if let Some(peer) = self.peer(envelope.peer) {
                    let operation = operation(envelope.communicator, envelope.tag);
                    self.session.get::<u32>(operation, peer, 0, words(envelope).len())?;
                }
            }
            Action::Choose { arms } => return Ok(arms[self.random.below(arms.len())].target),
            Action::Offer { envelope, arms } => {
                let Some((_, label)) = self.receive(envelope)? else { return Ok(arms[0].target) };
                let arm = arms.iter().find(|arm| Some(arm.label) == label);
                return arm.map(|arm| arm.target).ok_or_else(|| Error::other("no arm"));
            }
            Action::Jump { target } => return Ok(*target),
            other => unreachable!("no sample has {other:?}"),
        }
        Ok(position + 1)
    }

    /// The other end of a send, unless it is nobody.
    fn peer(&self, peer: Peer) -> Option<i64> {
        let rank = match peer {
            Peer::Rank(rank) => i64::from(rank),
            Peer::Source(slot) => self.sources[usize::from(slot)]?,
            Peer::Outside(_) | Peer::Null => return None,
            Peer::Any { .. } => panic!("a wildcard is only for receives and probes"),
        };
        (0..self.session.size() as i64).contains(&rank).then_some(rank)
    }

    fn source(&self, peer: Peer) -> Option<Source> {
        let size = self.session.size() as i64;
        match peer {
            Peer::Any { first, end } => {
                Some(Source::Any(i64::from(first).min(size)..i64::from(end).min(size)))
            }
            peer => self.peer(peer).map(Source::Rank),
        }
    }

    fn bind(&mut self, slot: Option<SourceId>, source: Option<i64>) {
        if let Some(slot) = slot {
            self.sources[usize::from(slot)] = source;
        }
    }

    fn send(&mut self, mode: Mode, envelope: &Envelope) -> p2p::Result<()> {
        let Some(peer) = self.peer(envelope.peer) else { return Ok(()) };
        let operation = operation(envelope.communicator, envelope.tag);
        self.session.send(operation, mode, peer, &words(envelope)[..])
    }

    /// Who sent what was received, and its label; `None` where nobody is at the other end.
    fn receive(&mut self, envelope: &Envelope) -> p2p::Result<Option<(i64, Option<LabelId>)>> {
        let Some(source) = self.source(envelope.peer) else { return Ok(None) };
        let operation = operation(envelope.communicator, envelope.tag);
        let (words, status) = self.session.recv(operation, source, Fresh::<u32>::new())?;
        Ok(Some((status.source as i64, label(&words))))
    }

    fn send_receive(&mut self, send: &Envelope, receive: &Envelope) -> p2p::Result<()> {
        match (self.peer(send.peer), self.source(receive.peer)) {
            (Some(peer), Some(source)) => {
                let to = (operation(send.communicator, send.tag), peer);
                let from = (operation(receive.communicator, receive.tag), source);
                self.session.sendrecv(to, &words(send)[..], from, Fresh::<u32>::new()).map(drop)
            }
            (Some(_), None) => self.send(Mode::Standard, send),
            (None, _) => self.receive(receive).map(drop),
        }
    }

    fn start_send(
        &mut self,
        mode: Mode,
        to: Option<i64>,
        envelope: &Envelope,
        request: RequestId,
    ) -> p2p::Result<()> {
        let operation = operation(envelope.communicator, envelope.tag);
        let started = to.map(|peer| self.session.isend(operation, mode, peer, words(envelope)));
        self.requests[request as usize] = Some(Live { request: started.transpose()?, binds: None });
        Ok(())
    }

    fn start_receive(
        &mut self,
        from: Option<Source>,
        envelope: &Envelope,
        request: RequestId,
        binds: Option<SourceId>,
    ) -> p2p::Result<()> {
        let operation = operation(envelope.communicator, envelope.tag);
        let started = from.map(|source| self.session.irecv(operation, source, vec![0; ELEMENTS]));
        self.requests[request as usize] = Some(Live { request: started.transpose()?, binds });
        Ok(())
    }

    /// Starts what was planned, by way of the session's own plans.
    fn start(&mut self, request: RequestId) -> p2p::Result<()> {
        let started = match self.plans[request as usize].clone() {
            None => return Ok(()),
            Some(Plan::Send { to, envelope }) => {
                let operation = operation(envelope.communicator, envelope.tag);
                let start = |peer| {
                    let plan = self.session.plan_send(operation, peer)?;
                    self.session.start_send(operation, &plan, words(&envelope))
                };
                to.map(start).transpose()?
            }
            Some(Plan::Receive { from, envelope }) => {
                let operation = operation(envelope.communicator, envelope.tag);
                let start = |source| {
                    let plan = self.session.plan_recv(operation, source)?;
                    self.session.start_recv(operation, &plan, vec![0; ELEMENTS])
                };
                from.map(start).transpose()?
            }
        };
        self.requests[request as usize] = Some(Live { request: started, binds: None });
        Ok(())
    }

    /// The names of the active ones that have somebody at the other end.
    fn names(&self, requests: &[RequestId]) -> Vec<(RequestId, Name)> {
        let name = |&request: &RequestId| {
            let live = self.requests[request as usize].as_ref()?;
            live.request.as_ref().map(|started| (request, started.id()))
        };
        requests.iter().filter_map(name).collect()
    }

    fn wait(
        &mut self,
        requests: &[RequestId],
        completion: &Completion,
        position: Position,
    ) -> p2p::Result<Position> {
        let names = self.names(requests);
        let ids: Vec<Name> = names.iter().map(|&(_, name)| name).collect();
        let operation = &OPERATIONS[0];
        if *completion == Completion::All {
            self.session.wait_all(operation, &ids)?;
            for &request in requests {
                self.complete(request)?;
            }
            return Ok(position + 1);
        }
        let is_complete = |request: &&RequestId| {
            self.requests[**request as usize].as_ref().is_some_and(|live| live.request.is_none())
        };
        let completed = match requests.iter().find(is_complete) {
            Some(&request) => Some(request),
            None => self.session.wait_any(operation, &ids)?.map(|index| names[index].0),
        };
        let Some(completed) = completed else { return Ok(position + 1) };
        self.complete(completed)?;
        match completion {
            Completion::Any(Some(targets)) => {
                let index = requests.iter().position(|&request| request == completed);
                Ok(targets[index.expect("it is one of them")])
            }
            _ => Ok(position + 1),
        }
    }

    fn test(&mut self, request: RequestId) -> p2p::Result<bool> {
        if let Some(&(_, name)) = self.names(&[request]).first()
            && !self.session.test(&OPERATIONS[0], name)?
        {
            return Ok(false);
        }
        self.complete(request).map(|()| true)
    }

    /// Takes back what a complete request had, if it is active.
    fn complete(&mut self, request: RequestId) -> p2p::Result<()> {
        let Some(live) = self.requests[request as usize].take() else { return Ok(()) };
        let met = match live.request {
            None => None,
            Some(started) => {
                let (_, status) = self.session.wait(&OPERATIONS[0], started)?;
                Some(status.source as i64)
            }
        };
        self.bind(live.binds, met);
        Ok(())
    }

    fn collective(&mut self, call: &Collective) -> p2p::Result<()> {
        let operation = operation(call.communicator, Tag::Exact(0));
        let root = i64::from(call.root.unwrap_or(0));
        let each = vec![1_u32; self.session.size()];
        match call.kind {
            CollectiveKind::Barrier => self.session.barrier(operation),
            CollectiveKind::Fence => self.session.fence(operation),
            CollectiveKind::Bcast => self.session.bcast(operation, root, &mut [1_u32]).map(drop),
            CollectiveKind::Scatter => {
                self.session.scatter(operation, root, &each, Fresh::<u32>::new()).map(drop)
            }
            CollectiveKind::Gather => self.session.gather(operation, root, &[1_u32]).map(drop),
            CollectiveKind::AllGather => self.session.all_gather(operation, &[1_u32]).map(drop),
            CollectiveKind::Reduce => self.session.reduce(operation, root, &mut [1_u32], Max),
            CollectiveKind::AllReduce => self.session.all_reduce(operation, &mut [1_u32], Max),
            CollectiveKind::AllToAll => self.session.all_to_all(operation, &each).map(drop),
            other => unreachable!("no sample has {other:?}"),
        }
    }
}

/// A message: its label, or 0, and then as many more words as it has.
fn words(envelope: &Envelope) -> Vec<u32> {
    let mut words = vec![7; envelope.data.count.map_or(1, |count| count as usize)];
    words[0] = envelope.data.label.map_or(0, |label| u32::from(label) + 1);
    words
}

fn label(words: &[u32]) -> Option<LabelId> {
    words[0].checked_sub(1).map(|label| label as LabelId)
}
