//! Short names for the events of worlds that are written by hand.

use p2p_protocol::model::{
    Action, Arm, Behaviour, Collective, CollectiveKind, Communicator, Completion, Data, Datatype,
    Envelope, Event, Mode, Peer, Place, Position, RequestId, SourceId, Tag, World,
};

/// One element of four bytes.
pub(crate) const SMALL: Data =
    Data { datatype: Some(0), count: Some(1), message: None, label: None, buffer: None };
/// Sixteen elements of four bytes.
pub(crate) const LARGE: Data =
    Data { datatype: Some(0), count: Some(16), message: None, label: None, buffer: None };
/// Of a type of unknown size.
pub(crate) const UNKNOWN: Data =
    Data { datatype: Some(1), count: Some(1), message: None, label: None, buffer: None };

/// The communicators that worlds here have.
pub(crate) const COMMUNICATORS: u16 = 3;
/// The communicator that not all ranks belong to.
pub(crate) const SOME: u16 = COMMUNICATORS - 1;
/// Who belongs to it, where the world has them, in the order of their ranks in it.
const MEMBERS: [u32; 2] = [2, 0];

/// Whether a rank belongs to [`SOME`].
pub(crate) fn is_member(rank: u32) -> bool {
    MEMBERS.contains(&rank)
}

/// A world in which each rank does what its list says.
pub(crate) fn world(ranks: impl IntoIterator<Item = Vec<Action>>) -> World {
    let behaviours: Vec<Behaviour> = ranks.into_iter().map(behaviour).collect();
    let members = MEMBERS.into_iter().filter(|&rank| (rank as usize) < behaviours.len());
    let some = Communicator { name: "some".to_owned(), members: Some(members.collect()) };
    let datatype = |signature: &str, bytes| Datatype { signature: signature.to_owned(), bytes };
    World {
        behaviours,
        communicators: [Communicator::of_all("world"), Communicator::of_all("other"), some].into(),
        datatypes: [datatype("f32", Some(4)), datatype("Opaque", None)].into(),
        labels: ["Task", "Stop", "Pause"].map(str::to_owned).into(),
        ..World::default()
    }
}

fn behaviour(actions: Vec<Action>) -> Behaviour {
    let requests = actions.iter().flat_map(Action::requests).max().map_or(0, |highest| highest + 1);
    let sources = actions.iter().flat_map(sources_of).max().map_or(0, |highest| highest + 1);
    let event = |(place, action)| Event { action, place: Place(place) };
    Behaviour {
        events: (0..).zip(actions).map(event).collect(),
        requests,
        sources,
        role: None,
        chains: Vec::new(),
    }
}

fn sources_of(action: &Action) -> Vec<SourceId> {
    let binds = match action {
        Action::Receive { binds, .. }
        | Action::StartReceive { binds, .. }
        | Action::Probe { binds, .. } => *binds,
        _ => None,
    };
    if let Action::BranchOnTag { slot, .. } = action {
        return vec![*slot];
    }
    let read = action.peers().filter_map(|peer| match peer {
        Peer::Source(slot) => Some(slot),
        _ => None,
    });
    read.chain(binds).collect()
}

/// With tag 0 on communicator 0, carrying one small element.
pub(crate) fn with(peer: Peer) -> Envelope {
    Envelope { peer, tag: Tag::Exact(0), communicator: 0, data: SMALL }
}

pub(crate) fn to(rank: i32, tag: i32) -> Envelope {
    Envelope { tag: Tag::Exact(tag), ..with(Peer::Rank(rank)) }
}

pub(crate) fn send(rank: i32, tag: i32) -> Action {
    send_by(Mode::Standard, rank, tag)
}

pub(crate) fn send_by(mode: Mode, rank: i32, tag: i32) -> Action {
    Action::Send { mode, envelope: to(rank, tag) }
}

/// Announces a decision.
pub(crate) fn announce(rank: i32, label: u16) -> Action {
    let data = Data { label: Some(label), ..SMALL };
    Action::Send { mode: Mode::Buffered, envelope: Envelope { data, ..to(rank, 0) } }
}

pub(crate) fn receive(rank: i32, tag: i32) -> Action {
    Action::Receive { envelope: to(rank, tag), binds: None }
}

/// Any source of `0..end`, any tag.
pub(crate) fn any(end: u32) -> Envelope {
    Envelope { tag: Tag::Any, ..with(Peer::Any { first: 0, end }) }
}

pub(crate) fn receive_any(end: u32) -> Action {
    Action::Receive { envelope: any(end), binds: None }
}

pub(crate) fn start_send(rank: i32, tag: i32, request: RequestId) -> Action {
    Action::StartSend { mode: Mode::Standard, envelope: to(rank, tag), request }
}

pub(crate) fn start_receive(rank: i32, tag: i32, request: RequestId) -> Action {
    Action::StartReceive { envelope: to(rank, tag), request, binds: None }
}

pub(crate) fn wait(requests: impl Into<Box<[RequestId]>>) -> Action {
    Action::Wait { requests: requests.into(), completion: Completion::All }
}

pub(crate) fn wait_any(requests: impl Into<Box<[RequestId]>>) -> Action {
    Action::Wait { requests: requests.into(), completion: Completion::Any(None) }
}

pub(crate) fn wait_some(requests: impl Into<Box<[RequestId]>>) -> Action {
    Action::Wait { requests: requests.into(), completion: Completion::Some }
}

pub(crate) fn start(requests: impl Into<Box<[RequestId]>>) -> Action {
    Action::Start { requests: requests.into() }
}

pub(crate) fn test(request: RequestId, pending: Position) -> Action {
    Action::Test { request, pending }
}

pub(crate) fn jump(target: Position) -> Action {
    Action::Jump { target }
}

pub(crate) fn probe(envelope: Envelope, binds: SourceId) -> Action {
    Action::Probe { envelope, binds: Some(binds) }
}

pub(crate) fn arms(arms: impl IntoIterator<Item = (u16, Position)>) -> Box<[Arm]> {
    arms.into_iter().map(|(label, target)| Arm { label, target }).collect()
}

pub(crate) fn choose(targets: impl IntoIterator<Item = (u16, Position)>) -> Action {
    Action::Choose { arms: arms(targets) }
}

pub(crate) fn offer(rank: i32, targets: impl IntoIterator<Item = (u16, Position)>) -> Action {
    Action::Offer { envelope: to(rank, 0), arms: arms(targets) }
}

pub(crate) fn collective(kind: CollectiveKind, root: Option<i32>) -> Action {
    Action::Collective(Collective { root, ..Collective::of(kind, 0) })
}

pub(crate) fn barrier() -> Action {
    collective(CollectiveKind::Barrier, None)
}
