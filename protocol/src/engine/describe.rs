//! Operations in words, the same in every report.

use super::evidence::At;
use super::machine::{accepts, bytes, envelope};
use super::words;
use crate::model::{
    Action, Data, Envelope, Event, LabelId, Peer, Place, Position, Rank, RequestId, Tag, World,
};

/// The step's event.
pub fn event(world: &World, (rank, position): At) -> &Event {
    &world.behaviours[rank as usize].events[position]
}

/// The step's place.
pub fn place(world: &World, at: At) -> Place {
    event(world, at).place
}

/// What a step does, in the program's own words: "send Block to rank 1", "recv Block from any of
/// ranks 1 to 3", "wait_all"; of a message without a name, "send of 3 f64 to rank 1 (tag 0)".
pub fn operation(world: &World, at: At) -> String {
    let event = event(world, at);
    let dialect = world.dialect;
    match &event.action {
        Action::Send { mode, envelope } => {
            sending(world, words::send(dialect, *mode, false), envelope)
        }
        Action::StartSend { mode, envelope, .. } => {
            sending(world, words::send(dialect, *mode, true), envelope)
        }
        Action::PlanSend { envelope, .. } => sending(world, words::plan(dialect, true), envelope),
        Action::Receive { envelope, .. } => {
            receiving(world, words::receive(dialect, false), envelope)
        }
        Action::StartReceive { envelope, .. } => {
            receiving(world, words::receive(dialect, true), envelope)
        }
        Action::PlanReceive { envelope, .. } => {
            receiving(world, words::plan(dialect, false), envelope)
        }
        Action::Probe { envelope, .. } => receiving(world, words::probe(dialect), envelope),
        Action::SendReceive { send, receive } => format!(
            "{}, {} from {}{}",
            sending(world, words::send_receive(dialect), send),
            data(world, &receive.data),
            peer(receive.peer),
            tag_of_unnamed(receive)
        ),
        Action::Start { requests } => match planned(world, at, requests) {
            Some(plan) => {
                format!("{} of {}", words::start(dialect), operation(world, (at.0, plan)))
            }
            None => words::start(dialect).to_owned(),
        },
        Action::Wait { requests, completion } => {
            words::wait(dialect, completion, requests.len()).to_owned()
        }
        Action::Test { .. } => words::test(dialect).to_owned(),
        Action::Collective(collective) | Action::StartCollective { collective, .. } => {
            let name = words::collective(dialect, collective.kind);
            match collective.root {
                Some(root) => format!("{name} from root {root}"),
                None => name.to_owned(),
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
    let (of, tag) = (of_unnamed(envelope), tag_of_unnamed(envelope));
    format!("{verb}{of} {} to {}{tag}", data(world, &envelope.data), peer(envelope.peer))
}

fn receiving(world: &World, verb: &str, envelope: &Envelope) -> String {
    let (of, tag) = (of_unnamed(envelope), tag_of_unnamed(envelope));
    format!("{verb}{of} {} from {}{tag}", data(world, &envelope.data), peer(envelope.peer))
}

/// A message without a name is spoken of by what it is made of, "send of 3 f64" ..
fn of_unnamed(envelope: &Envelope) -> &'static str {
    if is_named(envelope) { "" } else { " of" }
}

/// .. and told from others by its tag, " (tag 0)".
fn tag_of_unnamed(envelope: &Envelope) -> String {
    if is_named(envelope) { String::new() } else { format!(" ({})", tag(envelope.tag)) }
}

fn is_named(envelope: &Envelope) -> bool {
    envelope.data.message.is_some() || envelope.data.label.is_some()
}

/// "tag 5", "any tag".
pub fn tag(tag: Tag) -> String {
    match (tag, tag.number()) {
        (Tag::Any, _) => "any tag".to_owned(),
        (_, Some(number)) => format!("tag {number}"),
        (_, None) => "a tag that is known at run time".to_owned(),
    }
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
    format!("{} ({})", data(world, &envelope.data), tag(envelope.tag))
}

/// The message's name, or its type and number.
pub fn data(world: &World, data: &Data) -> String {
    if let Some(label) = data.label {
        return format!("the decision {}", self::label(world, Some(label)));
    }
    match data.message.and_then(|message| world.messages.get(usize::from(message))) {
        Some(name) => name.clone(),
        None => unnamed(world, data),
    }
}

/// "3 f64", "f64" where the number is not known.
fn unnamed(world: &World, data: &Data) -> String {
    let element = match (signature(world, data), data.count) {
        (Some(signature), _) => signature,
        (None, Some(1)) => "element",
        (None, Some(_)) => "elements",
        (None, None) => "data",
    };
    data.count.map_or_else(|| element.to_owned(), |count| format!("{count} {element}"))
}

fn signature<'w>(world: &'w World, data: &Data) -> Option<&'w str> {
    let datatype = world.datatypes.get(usize::from(data.datatype?))?;
    Some(&datatype.signature)
}

/// "256 x f32", "f32".
pub fn elements(world: &World, data: &Data) -> String {
    let signature = signature(world, data).unwrap_or("data");
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
    let data = event(world, at).action.collective().and_then(|collective| collective.data.as_ref());
    match data {
        Some(data) if data.message.is_some() => {
            format!("{} ({})", self::data(world, data), elements(world, data))
        }
        Some(data) => self::data(world, data),
        None => "nothing".to_owned(),
    }
}

/// In how many steps a rank calls the collective that a step calls.
pub fn calls(world: &World, rank: Rank, at: At) -> usize {
    let Some(called) = event(world, at).action.collective() else { return 0 };
    let same = |event: &&Event| {
        event.action.collective().is_some_and(|collective| {
            (collective.kind, collective.communicator) == (called.kind, called.communicator)
        })
    };
    world.behaviours[rank as usize].events.iter().filter(same).count()
}
