//! Operations in words, the same in every report.

use super::evidence::At;
use super::machine::{accepts, bytes, envelope};
use crate::model::{
    Action, Completion, Data, Envelope, Event, LabelId, Mode, Peer, Place, Position, Rank,
    RequestId, Tag, World,
};

/// The step's event.
pub fn event(world: &World, (rank, position): At) -> &Event {
    &world.behaviours[rank as usize].events[position]
}

/// The step's place.
pub fn place(world: &World, at: At) -> Place {
    event(world, at).place
}

/// "send Block to rank 1", "recv Block from any of ranks 1 to 3", "barrier", "wait_all".
pub fn operation(world: &World, at: At) -> String {
    let event = event(world, at);
    match &event.action {
        Action::Send { mode, envelope } => sending(world, send_verb(*mode, ""), envelope),
        Action::StartSend { mode, envelope, .. } => sending(world, send_verb(*mode, "i"), envelope),
        Action::PlanSend { envelope, .. } => sending(world, "send_init", envelope),
        Action::Receive { envelope, .. } => receiving(world, "recv", envelope),
        Action::StartReceive { envelope, .. } => receiving(world, "irecv", envelope),
        Action::PlanReceive { envelope, .. } => receiving(world, "recv_init", envelope),
        Action::Probe { envelope, .. } => receiving(world, "probe", envelope),
        Action::SendReceive { send, receive } => format!(
            "sendrecv {} to {}, {} from {}",
            data(world, &send.data),
            peer(send.peer),
            data(world, &receive.data),
            peer(receive.peer)
        ),
        Action::Start { requests } => match planned(world, at, requests) {
            Some(plan) => format!("start of {}", operation(world, (at.0, plan))),
            None => "start".to_owned(),
        },
        Action::Wait { requests, completion } => match completion {
            Completion::All if requests.len() == 1 => "wait".to_owned(),
            Completion::All => "wait_all".to_owned(),
            Completion::Any(_) => "wait_any".to_owned(),
            Completion::Some => "wait_some".to_owned(),
        },
        Action::Test { .. } => "test".to_owned(),
        Action::Collective(collective) | Action::StartCollective { collective, .. } => {
            match collective.root {
                Some(root) => format!("{} from root {root}", collective.kind.name()),
                None => collective.kind.name().to_owned(),
            }
        }
        Action::Put { envelope } => sending(world, "put", envelope),
        Action::Get { envelope } => receiving(world, "get", envelope),
        Action::Choose { .. } => "choose".to_owned(),
        Action::Offer { envelope, .. } => format!("offer of a decision by {}", peer(envelope.peer)),
        Action::Jump { .. } => "jump".to_owned(),
        Action::Cancel { .. } => "cancel".to_owned(),
        Action::Free { .. } => "free of a request".to_owned(),
        Action::Access { .. } => "access".to_owned(),
        Action::AttachBuffer { .. } => "attach of a buffer".to_owned(),
        Action::DetachBuffer => "detach of the buffer".to_owned(),
        Action::Branch { .. } | Action::BranchOnTag { .. } => "branch".to_owned(),
        Action::Leave { .. } => "end".to_owned(),
        Action::Opaque => "step that is not understood".to_owned(),
    }
}

/// The plan of the one request that a step starts.
fn planned(world: &World, (rank, _): At, requests: &[RequestId]) -> Option<Position> {
    let [one] = requests else { return None };
    world.behaviours[rank as usize].events.iter().position(|event| {
        matches!(&event.action,
            Action::PlanSend { request, .. } | Action::PlanReceive { request, .. } if request == one)
    })
}

fn sending(world: &World, verb: &str, envelope: &Envelope) -> String {
    format!("{verb} {} to {}", data(world, &envelope.data), peer(envelope.peer))
}

fn receiving(world: &World, verb: &str, envelope: &Envelope) -> String {
    format!("{verb} {} from {}", data(world, &envelope.data), peer(envelope.peer))
}

/// What a step sends.
pub fn sent(world: &World, at: At) -> String {
    envelope(event(world, at), true).map_or_else(String::new, |envelope| with_tag(world, envelope))
}

/// What a step receives.
pub fn received(world: &World, at: At) -> String {
    envelope(event(world, at), false).map_or_else(String::new, |envelope| with_tag(world, envelope))
}

/// "Block (tag 5)".
fn with_tag(world: &World, envelope: &Envelope) -> String {
    if let Some(label) = envelope.data.label {
        return format!("the decision {}", self::label(world, Some(label)));
    }
    match envelope.tag {
        Tag::Exact(tag) => format!("{} (tag {tag})", data(world, &envelope.data)),
        Tag::Any => format!("{} (any tag)", data(world, &envelope.data)),
    }
}

/// The message's name, or its type and number.
pub fn data(world: &World, data: &Data) -> String {
    if let Some(label) = data.label {
        return format!("the decision {}", self::label(world, Some(label)));
    }
    match data.message.and_then(|message| world.messages.get(usize::from(message))) {
        Some(name) => name.clone(),
        None => elements(world, data),
    }
}

/// "256 x f32", "f32".
pub fn elements(world: &World, data: &Data) -> String {
    let datatype = data.datatype.and_then(|datatype| world.datatypes.get(usize::from(datatype)));
    let signature = datatype.map_or("data", |datatype| datatype.signature.as_str());
    match data.count {
        Some(1) | None => signature.to_owned(),
        Some(count) => format!("{count} x {signature}"),
    }
}

/// A decision's name.
pub fn label(world: &World, label: Option<LabelId>) -> String {
    label
        .and_then(|label| world.labels.get(usize::from(label)))
        .map_or_else(|| "without a name".to_owned(), |name| format!("`{name}`"))
}

/// "rank 1", "any of ranks 1 to 3", "the rank it has met".
pub fn peer(peer: Peer) -> String {
    match peer {
        Peer::Rank(rank) => format!("rank {rank}"),
        Peer::Any { first, end } => {
            let all: Vec<Rank> = (first..end).collect();
            format!("any of {}", crate::finding::ranks(&all))
        }
        Peer::Source(_) => "the rank it has met".to_owned(),
        Peer::Null => "nobody".to_owned(),
    }
}

fn send_verb(mode: Mode, immediate: &str) -> &'static str {
    match (mode, immediate.is_empty()) {
        (Mode::Standard, true) => "send",
        (Mode::Synchronous, true) => "ssend",
        (Mode::Buffered, true) => "bsend",
        (Mode::Ready, true) => "rsend",
        (Mode::Standard, false) => "isend",
        (Mode::Synchronous, false) => "issend",
        (Mode::Buffered, false) => "ibsend",
        (Mode::Ready, false) => "irsend",
    }
}

/// The name of the message that a step moves, as the source writes it.
pub fn message(world: &World, at: At, sending: bool) -> String {
    envelope(event(world, at), sending)
        .map_or_else(String::new, |envelope| data(world, &envelope.data))
}

/// What a step sends: "256 x f32".
pub fn type_sent(world: &World, at: At) -> String {
    envelope(event(world, at), true)
        .map_or_else(String::new, |envelope| elements(world, &envelope.data))
}

/// What a step has room for: "256 x f32".
pub fn type_received(world: &World, at: At) -> String {
    envelope(event(world, at), false)
        .map_or_else(String::new, |envelope| elements(world, &envelope.data))
}

/// The bytes that a step sends: `None` if it sends nothing, `Some(None)` if they are unknown.
pub fn bytes_sent(world: &World, at: At) -> Option<Option<u64>> {
    envelope(event(world, at), true).map(|envelope| bytes(world, &envelope.data))
}

/// The name of the communicator that a step uses.
pub fn communicator(world: &World, at: At) -> String {
    let event = event(world, at);
    let envelope = envelope(event, true).or(envelope(event, false));
    envelope
        .and_then(|envelope| world.communicators.get(usize::from(envelope.communicator)))
        .map_or_else(
            || "its communicator".to_owned(),
            |communicator| format!("`{}`", communicator.name),
        )
}

/// The first step of `destination` that could receive what a step sends.
pub fn receive_for(world: &World, send: At, destination: Rank) -> Option<At> {
    let sent = envelope(event(world, send), true)?;
    let events = &world.behaviours.get(destination as usize)?.events;
    let receives = |event: &Event| {
        let receive =
            envelope(event, false).filter(|_| !matches!(event.action, Action::Probe { .. }));
        receive.is_some_and(|receive| {
            accepts(receive.peer, send.0)
                && (receive.tag == Tag::Any || receive.tag == sent.tag)
                && receive.communicator == sent.communicator
        })
    };
    events.iter().position(receives).map(|position| (destination, position))
}

/// What a rank brings to the collective that it calls: "256 x f32".
pub fn brought(world: &World, at: At) -> String {
    match &event(world, at).action {
        Action::Collective(collective) => match &collective.data {
            Some(data) => format!("{} ({})", self::data(world, data), elements(world, data)),
            None => "nothing".to_owned(),
        },
        _ => "nothing".to_owned(),
    }
}

/// In how many steps a rank calls the collective that a step calls.
pub fn calls(world: &World, rank: Rank, at: At) -> usize {
    let Action::Collective(called) = &event(world, at).action else { return 0 };
    let same = |event: &&Event| {
        matches!(&event.action, Action::Collective(collective)
            if (collective.kind, collective.communicator) == (called.kind, called.communicator))
    };
    world.behaviours[rank as usize].events.iter().filter(same).count()
}
