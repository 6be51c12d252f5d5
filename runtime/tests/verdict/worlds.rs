//! Small random worlds.

use std::fmt;
use std::sync::Arc;

use p2p_protocol::model::{
    Action, Behaviour, Collective, CollectiveKind, Completion, Data, Datatype, Envelope, Event,
    Mode, Peer, Place, RequestId, Tag, World,
};
use proptest::prelude::*;
use proptest::sample::Index;

const RANKS: u32 = 4;

/// A run that goes well, and what is then changed in it.
#[derive(Clone)]
pub(crate) struct Script {
    size: u32,
    talks: Vec<Talk>,
    changes: Vec<Change>,
}

/// How an end of a message is written.
#[derive(Clone, Copy, Debug)]
enum Style {
    Blocking,
    /// Started now, waited for in the end.
    Started,
    /// Started and tested until it is complete.
    Tested,
    /// Of a receive: after a probe.
    Probed,
}

#[derive(Clone, Debug)]
enum Talk {
    Message {
        from: u32,
        to: u32,
        tag: i32,
        count: u64,
        mode: Mode,
        sent: Style,
        received: Style,
        any: bool,
    },
    /// Every rank sends to the one so many further, and receives.
    Shift {
        by: u32,
        count: u64,
    },
    Together {
        kind: CollectiveKind,
        root: u32,
    },
}

/// Something that is different in one rank.
#[derive(Clone, Debug)]
struct Change {
    rank: Index,
    position: Index,
    kind: ChangeKind,
}

#[derive(Clone, Copy, Debug)]
enum ChangeKind {
    Drop,
    SwapWithNext,
    Peer(u32),
    Tag(i32),
    Wildcard,
    Synchronous,
}

pub(crate) fn worlds() -> impl Strategy<Value = Script> {
    let changes = prop_oneof![3 => 0..1_usize, 3 => 1..2_usize, 2 => 2..5_usize]
        .prop_flat_map(|count| prop::collection::vec(change(), count));
    (2..=RANKS, prop::collection::vec(talk(), 1..8), changes)
        .prop_map(|(size, talks, changes)| Script { size, talks, changes })
}

fn talk() -> impl Strategy<Value = Talk> {
    let style = || {
        prop_oneof![
            5 => Just(Style::Blocking),
            4 => Just(Style::Started),
            1 => Just(Style::Probed),
        ]
    };
    // A test in vain takes some milliseconds until it counts as a wait.
    let received = prop_oneof![30 => style(), 1 => Just(Style::Tested)];
    let mode = prop_oneof![
        4 => Just(Mode::Standard),
        2 => Just(Mode::Synchronous),
        1 => Just(Mode::Buffered),
    ];
    // Within a slot of the queue, buffered, and longer than what is buffered.
    let count = || prop_oneof![Just(1_u64), Just(40), Just(1000)];
    let ends = (0..RANKS, 0..RANKS, style(), received);
    let carried = (0..2_i32, count(), mode, prop::bool::weighted(0.3));
    let message =
        (ends, carried).prop_map(|((from, to, sent, received), (tag, count, mode, any))| {
            Talk::Message { from, to, tag, count, mode, sent, received, any }
        });
    use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Bcast, Gather, Reduce, Scatter};
    let kinds = vec![Barrier, Bcast, Scatter, Gather, AllGather, Reduce, AllReduce, AllToAll];
    prop_oneof![
        8 => message,
        1 => (1..RANKS, count()).prop_map(|(by, count)| Talk::Shift { by, count }),
        1 => (prop::sample::select(kinds), 0..RANKS)
            .prop_map(|(kind, root)| Talk::Together { kind, root }),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let kind = prop_oneof![
        2 => Just(ChangeKind::Drop),
        5 => Just(ChangeKind::SwapWithNext),
        1 => (0..RANKS).prop_map(ChangeKind::Peer),
        1 => (0..2_i32).prop_map(ChangeKind::Tag),
        2 => Just(ChangeKind::Wildcard),
        1 => Just(ChangeKind::Synchronous),
    ];
    (any::<Index>(), any::<Index>(), kind).prop_map(|(rank, position, kind)| Change {
        rank,
        position,
        kind,
    })
}

impl Script {
    /// The world that it describes. Every rank ends with a wait for all that it has started.
    pub(crate) fn world(&self) -> World {
        let mut ranks: Vec<Vec<Action>> = vec![Vec::new(); self.size as usize];
        let mut requests: Vec<RequestId> = vec![0; self.size as usize];
        for talk in &self.talks {
            talk.play(&mut ranks, &mut requests);
        }
        for change in &self.changes {
            change.apply(self.size, &mut ranks);
        }
        let behaviours = ranks.into_iter().zip(requests).map(|(mut actions, requests)| {
            let completion = Completion::All;
            actions.push(Action::Wait { requests: (0..requests).collect(), completion });
            retarget_tests(&mut actions);
            let events = actions.into_iter().map(|action| Event { action, place: Place(0) });
            Behaviour { events: events.collect(), requests, sources: 0, role: None }
        });
        World {
            behaviours: behaviours.collect(),
            communicators: Arc::new(["world".to_owned()]),
            datatypes: Arc::new([Datatype { signature: "u64".to_owned(), bytes: Some(8) }]),
            ..World::default()
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (rank, behaviour) in self.world().behaviours.iter().enumerate() {
            writeln!(f, "rank {rank}:")?;
            for event in &behaviour.events {
                writeln!(f, "    {:?}", event.action)?;
            }
        }
        Ok(())
    }
}

/// A test that fails is tried again.
fn retarget_tests(actions: &mut [Action]) {
    for (position, action) in actions.iter_mut().enumerate() {
        if let Action::Test { pending, .. } = action {
            *pending = position;
        }
    }
}

fn envelope(peer: Peer, tag: i32, count: u64) -> Envelope {
    let data = Data { datatype: 0, count: Some(count), message: None, label: None };
    Envelope { peer, tag: Tag::Exact(tag), communicator: 0, data }
}

fn rank(rank: u32) -> Peer {
    Peer::Rank(rank.cast_signed())
}

impl Talk {
    fn play(&self, ranks: &mut [Vec<Action>], requests: &mut [RequestId]) {
        let size = ranks.len() as u32;
        match *self {
            Talk::Message { from, to, tag, count, mode, sent, received, any } => {
                let (from, to) = (from % size, to % size);
                let out = envelope(rank(to), tag, count);
                let source = if any { Peer::Any { first: 0, end: size } } else { rank(from) };
                let into = envelope(source, tag, 1000);
                let send = Action::Send { mode, envelope: out };
                let start = |request| Action::StartSend { mode, envelope: out, request };
                add(&mut ranks[from as usize], &mut requests[from as usize], sent, send, start);
                let receive = Action::Receive { envelope: into, binds: None };
                let start = |request| Action::StartReceive { envelope: into, request, binds: None };
                if matches!(received, Style::Probed) {
                    ranks[to as usize].push(Action::Probe { envelope: into, binds: None });
                }
                add(&mut ranks[to as usize], &mut requests[to as usize], received, receive, start);
            }
            Talk::Shift { by, count } => {
                for (number, actions) in ranks.iter_mut().enumerate() {
                    let after = (number as u32 + by) % size;
                    let before = (number as u32 + size - by % size) % size;
                    actions.push(Action::SendReceive {
                        send: Box::new(envelope(rank(after), 0, count)),
                        receive: Box::new(envelope(rank(before), 0, 1000)),
                    });
                }
            }
            Talk::Together { kind, root } => {
                use CollectiveKind::{Bcast, Gather, Reduce, Scatter};
                let rooted = matches!(kind, Bcast | Gather | Reduce | Scatter);
                let root = rooted.then_some((root % size).cast_signed());
                for actions in ranks {
                    let data = None;
                    let call = Collective { kind, communicator: 0, root, data };
                    actions.push(Action::Collective(call));
                }
            }
        }
    }
}

fn add(
    actions: &mut Vec<Action>,
    requests: &mut RequestId,
    style: Style,
    blocking: Action,
    start: impl FnOnce(RequestId) -> Action,
) {
    if matches!(style, Style::Blocking | Style::Probed) {
        actions.push(blocking);
        return;
    }
    let request = *requests;
    *requests += 1;
    actions.push(start(request));
    if matches!(style, Style::Tested) {
        actions.push(Action::Test { request, pending: 0 });
    }
}

impl Change {
    fn apply(&self, size: u32, ranks: &mut [Vec<Action>]) {
        let actions = self.rank.get_mut(ranks);
        if actions.is_empty() {
            return;
        }
        let position = self.position.index(actions.len());
        match self.kind {
            ChangeKind::Drop => {
                actions.remove(position);
                return;
            }
            ChangeKind::SwapWithNext => {
                let next = (position + 1) % actions.len();
                actions.swap(position, next);
                return;
            }
            _ => {}
        }
        let (envelope, receives) = match &mut actions[position] {
            Action::Send { mode, envelope } | Action::StartSend { mode, envelope, .. } => {
                if matches!(self.kind, ChangeKind::Synchronous) {
                    *mode = Mode::Synchronous;
                }
                (envelope, false)
            }
            Action::Receive { envelope, .. }
            | Action::StartReceive { envelope, .. }
            | Action::Probe { envelope, .. } => (envelope, true),
            Action::SendReceive { receive, .. } => (&mut **receive, true),
            _ => return,
        };
        match self.kind {
            ChangeKind::Peer(peer) => envelope.peer = rank(peer % size),
            ChangeKind::Tag(tag) => envelope.tag = Tag::Exact(tag),
            ChangeKind::Wildcard if receives => envelope.peer = Peer::Any { first: 0, end: size },
            _ => {}
        }
    }
}
