//! What ranks do with each other: pieces of a run that goes well, each projected onto the ranks
//! that take part in it.

use p2p_protocol::model::{
    Action, Collective, CollectiveKind, Completion, Data, Envelope, Mode, Peer, RequestId,
    SourceId, Tag,
};
use proptest::prelude::*;

use crate::actions::{self, EVENTS, RANKS};
use crate::build::{
    SOME, announce, arms, choose, is_member, jump, send, test, to, wait, wait_any, wait_some, with,
};
use crate::edit::{Ranks, retarget};

/// How an end of a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Blocking,
    Started,
    Persistent,
    /// Tested until it is complete; or, of a receive, probed for.
    Asked,
}

/// When a request is waited for.
#[derive(Clone, Copy, Debug)]
enum Waits {
    Now,
    Later,
}

/// How a rank in the end waits for the requests that it has left.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Settling {
    All,
    Any,
    AnyThenAll,
    Some,
    SomeThenAll,
    Not,
}

/// A message from one rank to another.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    from: u32,
    to: u32,
    tag: i32,
    communicator: u16,
    data: Data,
    mode: Mode,
    sent: (Style, Waits),
    received: (Style, Waits),
    /// What the receive names instead of the source.
    wildcard: Option<Peer>,
    any_tag: bool,
    binds: Option<SourceId>,
}

/// One piece of a run.
#[derive(Clone, Debug)]
pub(crate) enum Talk {
    Message(Message),
    /// Every rank sends to the one so many further, and receives.
    Shift {
        by: u32,
        tag: i32,
        communicator: u16,
    },
    Together {
        kind: CollectiveKind,
        communicator: u16,
        root: u32,
        /// Is it started and waited for?
        starts: bool,
    },
    /// One rank takes a message from each other, whoever comes first.
    Collect {
        by: u32,
        tag: i32,
    },
    Put {
        from: u32,
        to: u32,
    },
    /// One decides, another follows; in one of the arms a message comes after.
    Decision {
        by: u32,
        followed_by: u32,
        message: bool,
    },
    /// One serves another until that one stops.
    Service {
        by: u32,
        of: u32,
        mode: Mode,
    },
}

fn style() -> impl Strategy<Value = (Style, Waits)> {
    let style = prop_oneof![
        4 => Just(Style::Blocking),
        3 => Just(Style::Started),
        1 => Just(Style::Persistent),
        1 => Just(Style::Asked),
    ];
    (style, prop_oneof![1 => Just(Waits::Now), 3 => Just(Waits::Later)])
}

fn message() -> BoxedStrategy<Talk> {
    let ends = (0..RANKS, 0..RANKS, style(), style());
    let carried = (actions::tag(), actions::communicator(), actions::data(), actions::mode());
    let accepted = (
        prop_oneof![3 => Just(None), 2 => actions::wildcard().prop_map(Some)],
        prop::bool::weighted(0.2),
        actions::binds(),
    );
    (ends, carried, accepted)
        .prop_map(|(ends, carried, (wildcard, any_tag, binds))| {
            let (from, to, sent, received) = ends;
            let (tag, communicator, data, mode) = carried;
            Talk::Message(Message {
                from,
                to,
                tag,
                communicator,
                data,
                mode,
                sent,
                received,
                wildcard,
                any_tag,
                binds,
            })
        })
        .boxed()
}

pub(crate) fn talk() -> BoxedStrategy<Talk> {
    let shift = (1..RANKS, actions::tag(), actions::communicator())
        .prop_map(|(by, tag, communicator)| Talk::Shift { by, tag, communicator });
    let starts = prop::bool::weighted(0.3);
    let together = (actions::collective_kind(), actions::communicator(), 0..RANKS, starts)
        .prop_map(|(kind, communicator, root, starts)| Talk::Together {
            kind,
            communicator,
            root,
            starts,
        });
    let collect = (0..RANKS, actions::tag()).prop_map(|(by, tag)| Talk::Collect { by, tag });
    let decision = (0..RANKS, 0..RANKS, any::<bool>())
        .prop_map(|(by, followed_by, message)| Talk::Decision { by, followed_by, message });
    let mode = prop_oneof![6 => Just(Mode::Synchronous), 1 => Just(Mode::Standard)];
    let service =
        (0..RANKS, 0..RANKS, mode).prop_map(|(by, of, mode)| Talk::Service { by, of, mode });
    prop_oneof![
        14 => message(),
        2 => shift,
        2 => collect,
        3 => together,
        1 => (0..RANKS, 0..RANKS).prop_map(|(from, to)| Talk::Put { from, to }),
        2 => decision,
        1 => service,
    ]
    .boxed()
}

pub(crate) fn settling() -> impl Strategy<Value = Settling> {
    prop_oneof![
        5 => Just(Settling::All),
        1 => Just(Settling::Any),
        2 => Just(Settling::AnyThenAll),
        1 => Just(Settling::Some),
        2 => Just(Settling::SomeThenAll),
        1 => Just(Settling::Not),
    ]
}

/// The ranks so far.
pub(crate) struct Stage {
    ranks: Ranks,
    requests: Vec<RequestId>,
    pending: Vec<Vec<RequestId>>,
}

/// What one rank does in a talk, its jumps counted from the first of its actions.
struct Part {
    rank: u32,
    actions: Vec<Action>,
    pending: Option<RequestId>,
}

impl Part {
    fn new(rank: u32, actions: Vec<Action>) -> Part {
        Part { rank, actions, pending: None }
    }
}

impl Stage {
    pub(crate) fn new(size: u32) -> Stage {
        let size = size as usize;
        Stage {
            ranks: vec![Vec::new(); size],
            requests: vec![0; size],
            pending: vec![Vec::new(); size],
        }
    }

    fn size(&self) -> u32 {
        u32::try_from(self.ranks.len()).expect("few ranks")
    }

    /// Adds a talk if all that take part in it have room for it.
    pub(crate) fn play(&mut self, talk: &Talk) {
        let parts = self.parts(talk);
        let has_room = |part: &Part| {
            let rank = part.rank as usize;
            let waits = !self.pending[rank].is_empty() || part.pending.is_some();
            self.ranks[rank].len() + part.actions.len() + usize::from(waits) <= EVENTS
        };
        if !parts.iter().all(has_room) {
            return;
        }
        for mut part in parts {
            let rank = part.rank as usize;
            let start = self.ranks[rank].len();
            retarget(&mut part.actions, |target| target + start);
            self.ranks[rank].append(&mut part.actions);
            self.pending[rank].extend(part.pending);
        }
    }

    /// Ends every rank with a wait for what it has left.
    pub(crate) fn settle(mut self, settlings: &[Settling]) -> Ranks {
        for ((actions, pending), settling) in self.ranks.iter_mut().zip(self.pending).zip(settlings)
        {
            if pending.is_empty() {
                continue;
            }
            let all = || wait(pending.clone());
            let waits = match settling {
                Settling::All => vec![all()],
                Settling::Any => vec![wait_any(pending)],
                Settling::AnyThenAll => vec![wait_any(pending.clone()), all()],
                Settling::Some => vec![wait_some(pending)],
                Settling::SomeThenAll => vec![wait_some(pending.clone()), all()],
                Settling::Not => Vec::new(),
            };
            actions.extend(waits);
            actions.truncate(EVENTS);
        }
        self.ranks
    }

    fn parts(&mut self, talk: &Talk) -> Vec<Part> {
        let size = self.size();
        let pair = |from: u32, to: u32| {
            let from = from % size;
            let further = if size == 1 { 0 } else { 1 + to % (size - 1) };
            (from, (from + further) % size)
        };
        match *talk {
            Talk::Message(ref message) => {
                let (from, to) = pair(message.from, message.to);
                if from == to {
                    return vec![Part::new(from, vec![exchange(from, from, message.tag, 0)])];
                }
                vec![self.sender(message, from, to), self.receiver(message, from, to)]
            }
            Talk::Shift { by, tag, communicator } => {
                let part = |rank| {
                    let (to, from) = ((rank + by) % size, (rank + size * by - by) % size);
                    Part::new(rank, vec![exchange(to, from, tag, communicator)])
                };
                (0..size).map(part).collect()
            }
            Talk::Together { kind, communicator, root, starts } => {
                let root = actions::is_rooted(kind).then_some((root % size).cast_signed());
                let call = Collective { root, ..Collective::of(kind, communicator) };
                let members = (0..size).filter(|&rank| communicator != SOME || is_member(rank));
                let part = |rank| match starts {
                    false => Part::new(rank, vec![Action::Collective(call)]),
                    true => {
                        let request = self.next_request(rank);
                        let start = Action::StartCollective { collective: call, request };
                        Part::new(rank, vec![start, wait([request])])
                    }
                };
                members.map(part).collect()
            }
            Talk::Collect { by, tag } => {
                let by = by % size;
                let others = (0..size).filter(|&rank| rank != by);
                let sender = |rank| Part::new(rank, vec![send(by.cast_signed(), tag)]);
                let all = Peer::Any { first: 0, end: size };
                let envelope = Envelope { tag: Tag::Exact(tag), ..with(all) };
                let receive = || Action::Receive { envelope, binds: None };
                let takes = others.clone().map(|_| Part::new(by, vec![receive()]));
                others.clone().map(sender).chain(takes).collect()
            }
            Talk::Put { from, to: peer } => {
                let (from, peer) = pair(from, peer);
                vec![Part::new(from, vec![Action::Put { envelope: to(peer.cast_signed(), 0) }])]
            }
            Talk::Decision { by, followed_by, message } => {
                let (by, followed_by) = pair(by, followed_by);
                decision(by, followed_by, message)
            }
            Talk::Service { by, of, mode } => {
                let (by, of) = pair(by, of);
                service(by, of, mode)
            }
        }
    }

    fn next_request(&mut self, rank: u32) -> RequestId {
        let next = &mut self.requests[rank as usize];
        *next += 1;
        *next - 1
    }

    fn sender(&mut self, message: &Message, from: u32, to: u32) -> Part {
        let Message { mode, communicator, data, .. } = *message;
        let tag = Tag::Exact(message.tag);
        let envelope = Envelope { peer: Peer::Rank(to.cast_signed()), tag, communicator, data };
        let (style, waits) = message.sent;
        if style == Style::Blocking {
            return Part::new(from, vec![Action::Send { mode, envelope }]);
        }
        let request = self.next_request(from);
        let starts = match style {
            Style::Persistent => {
                let requests = [request].into();
                vec![Action::PlanSend { mode, envelope, request }, Action::Start { requests }]
            }
            _ => vec![Action::StartSend { mode, envelope, request }],
        };
        waited_for(Part::new(from, starts), request, style, waits)
    }

    fn receiver(&mut self, message: &Message, from: u32, to: u32) -> Part {
        let Message { communicator, data, binds, .. } = *message;
        let peer = message.wildcard.unwrap_or(Peer::Rank(from.cast_signed()));
        let tag = if message.any_tag { Tag::Any } else { Tag::Exact(message.tag) };
        let envelope = Envelope { peer, tag, communicator, data };
        let (style, waits) = message.received;
        if style == Style::Blocking {
            return Part::new(to, vec![Action::Receive { envelope, binds }]);
        }
        if style == Style::Asked && message.wildcard.is_some() {
            let slot = binds.unwrap_or(0);
            let met = Envelope { peer: Peer::Source(slot), ..envelope };
            let probe = Action::Probe { envelope, binds: Some(slot) };
            return Part::new(to, vec![probe, Action::Receive { envelope: met, binds: None }]);
        }
        let request = self.next_request(to);
        let starts = match style {
            Style::Persistent => {
                let requests = [request].into();
                vec![Action::PlanReceive { envelope, request }, Action::Start { requests }]
            }
            _ => vec![Action::StartReceive { envelope, request, binds }],
        };
        waited_for(Part::new(to, starts), request, style, waits)
    }
}

fn waited_for(mut part: Part, request: RequestId, style: Style, waits: Waits) -> Part {
    let here = part.actions.len();
    match (style, waits) {
        (Style::Asked, _) => part.actions.push(test(request, here)),
        (_, Waits::Now) => part
            .actions
            .push(Action::Wait { requests: [request].into(), completion: Completion::All }),
        (_, Waits::Later) => part.pending = Some(request),
    }
    part
}

fn exchange(to_rank: u32, from: u32, tag: i32, communicator: u16) -> Action {
    let half = |peer: u32| Box::new(Envelope { communicator, ..to(peer.cast_signed(), tag) });
    Action::SendReceive { send: half(to_rank), receive: half(from) }
}

fn synchronous(rank: i32, mode: Mode) -> Action {
    Action::Send { mode, envelope: to(rank, 1) }
}

fn decision(by: u32, followed_by: u32, message: bool) -> Vec<Part> {
    let (leader, follower) = (by.cast_signed(), followed_by.cast_signed());
    let mut leads =
        vec![choose([(0, 1), (1, 3)]), announce(follower, 0), jump(4), announce(follower, 1)];
    let mut follows = vec![Action::Offer { envelope: to(leader, 0), arms: arms([(0, 1), (1, 1)]) }];
    if message {
        leads.push(synchronous(follower, Mode::Standard));
        follows[0] = Action::Offer { envelope: to(leader, 0), arms: arms([(0, 2), (1, 1)]) };
        leads[2] = jump(5);
        follows.push(Action::Receive { envelope: to(leader, 1), binds: None });
    }
    vec![Part::new(by, leads), Part::new(followed_by, follows)]
}

fn service(by: u32, of: u32, mode: Mode) -> Vec<Part> {
    let (server, client) = (by.cast_signed(), of.cast_signed());
    let asks = vec![
        choose([(0, 1), (1, 4)]),
        announce(server, 0),
        synchronous(server, mode),
        jump(0),
        announce(server, 1),
    ];
    let serves = vec![
        Action::Offer { envelope: to(client, 0), arms: arms([(0, 1), (1, 3)]) },
        Action::Receive { envelope: to(client, 1), binds: None },
        jump(0),
    ];
    vec![Part::new(of, asks), Part::new(by, serves)]
}
