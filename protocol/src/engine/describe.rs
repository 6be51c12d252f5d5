//! Operations in words, the same in every report.

use super::evidence::At;
use super::machine::{accepts, bytes, envelope};
use super::words;
use crate::model::{
    AccessKind, Action, CallId, Collective, CollectiveKind, Data, Dialect, Envelope, Event,
    LabelId, OneSided, Peer, Place, Position, Rank, RequestId, Tag, TextId, WindowStep, World,
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
        Action::PlanSend { mode, envelope, .. } => {
            sending(world, words::plan_of_send(dialect, *mode), envelope)
        }
        Action::Receive { envelope, .. } => {
            receiving(world, words::receive(dialect, false), envelope)
        }
        Action::StartReceive { envelope, .. } => {
            receiving(world, words::receive(dialect, true), envelope)
        }
        Action::PlanReceive { envelope, .. } => {
            receiving(world, words::plan_of_receive(dialect), envelope)
        }
        Action::Probe { envelope: Envelope { peer: Peer::Rank(rank), .. }, .. }
            if dialect == Dialect::Rsmpi && !world.has(*rank) =>
        {
            // rsmpi looks at the rank before anything is asked of it.
            format!("process_at_rank({rank})")
        }
        Action::Probe { envelope, .. } => receiving(world, words::probe(dialect), envelope),
        Action::SendReceive { send, receive } => format!(
            "{}, {} from {}{}",
            sending(world, words::send_receive(dialect), send),
            data(world, &receive.data),
            peer(world, receive.peer),
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
        Action::Collective(collective) if let Some(call) = maker(world, at, collective.kind) => {
            call.to_owned()
        }
        Action::Collective(collective) => {
            with_root(dialect, words::collective(dialect, collective.kind).to_owned(), collective)
        }
        Action::StartCollective { collective, .. } => {
            with_root(dialect, words::started_collective(dialect, collective.kind), collective)
        }
        Action::Put { envelope } => sending(world, "put", envelope),
        Action::Get { envelope } => receiving(world, "get", envelope),
        Action::Choose { .. } => "choose".to_owned(),
        Action::Offer { envelope, .. } => {
            format!("offer of a decision by {}", peer(world, envelope.peer))
        }
        Action::Jump { .. } => "jump".to_owned(),
        Action::Cancel { .. } => words::cancel(dialect).to_owned(),
        Action::Free { .. } => words::free(dialect).to_owned(),
        Action::Access { .. } => "access".to_owned(),
        Action::Vanish { .. } => "end of a variable".to_owned(),
        Action::Measured { .. } => "use of a length".to_owned(),
        Action::AttachBuffer { .. } => words::buffer(dialect, true).to_owned(),
        Action::DetachBuffer => words::buffer(dialect, false).to_owned(),
        Action::Branch { .. } | Action::BranchOnTag { .. } => "branch".to_owned(),
        Action::Leave { .. } => "end".to_owned(),
        Action::Argument { call, .. } | Action::Outside { call, .. } => {
            self::call(world, *call).to_owned()
        }
        Action::Create { call, .. } => self::call(world, *call).to_owned(),
        Action::Release { .. } => "release of a handle".to_owned(),
        Action::Overwrite { .. } => "overwriting of a request".to_owned(),
        Action::Initialize => "MPI_Init".to_owned(),
        Action::Finalize => "MPI_Finalize".to_owned(),
        Action::Compute { .. } => "computation".to_owned(),
        Action::OneSided(it) => one_sided(world, it),
        Action::Opaque => "step that is not understood".to_owned(),
    }
}

/// How far from a collective the step stands that says what it makes or frees.
const BESIDE: usize = 3;

/// The function by which a collective makes something or frees it, as the steps of the same call beside it
/// say.
fn maker(world: &World, (rank, position): At, kind: CollectiveKind) -> Option<&str> {
    if !matches!(kind, CollectiveKind::MakeCommunicator | CollectiveKind::MakeWindow) {
        return None;
    }
    let events = &world.behaviours[rank as usize].events;
    let here = |event: &&Event| event.place == events[position].place;
    let behind = events[position + 1..].iter().take(BESIDE).take_while(here);
    let made = behind.filter_map(|event| match event.action {
        Action::Create { call, .. } => Some(self::call(world, call)),
        _ => None,
    });
    let before = events[..position].iter().rev().take(BESIDE).take_while(here);
    let freed = before.filter_map(|event| match &event.action {
        Action::OneSided(it) if it.step == WindowStep::Freed => Some("MPI_Win_free"),
        _ => None,
    });
    freed.chain(made).next()
}

/// A collective's name with its root: "bcast from root 0", "MPI_Bcast with root 0".
fn with_root(dialect: Dialect, name: String, collective: &Collective) -> String {
    let with = dialect.words("from", "from", "with");
    collective.root.map_or_else(|| name.clone(), |root| format!("{name} {with} root {root}"))
}

/// The name of a function that is called.
pub fn call(world: &World, call: CallId) -> &str {
    world.calls.get(usize::from(call)).map_or("a call", String::as_str)
}

/// A few words about an argument.
pub fn text(world: &World, text: TextId) -> &str {
    world.texts.get(usize::from(text)).map_or("an argument", String::as_str)
}

/// "MPI_Put to rank 1", "MPI_Win_lock".
fn one_sided(world: &World, it: &OneSided) -> String {
    let name = match &it.step {
        WindowStep::Made { .. } => "making of a window",
        WindowStep::Freed => "MPI_Win_free",
        WindowStep::Fence { .. } => "MPI_Win_fence",
        WindowStep::Lock { target, .. } => {
            return format!("MPI_Win_lock of {}", peer(world, *target));
        }
        WindowStep::LockAll => "MPI_Win_lock_all",
        WindowStep::Unlock { target } => {
            return format!("MPI_Win_unlock of {}", peer(world, *target));
        }
        WindowStep::UnlockAll => "MPI_Win_unlock_all",
        WindowStep::Flush { .. } => "MPI_Win_flush",
        WindowStep::Sync => "MPI_Win_sync",
        WindowStep::Start { .. } => "MPI_Win_start",
        WindowStep::Complete => "MPI_Win_complete",
        WindowStep::Post { .. } => "MPI_Win_post",
        WindowStep::Wait => "MPI_Win_wait",
        WindowStep::Access(access) => {
            let preposition = if access.kind == AccessKind::Get { "from" } else { "to" };
            let name = access.kind.name(access.requested);
            return format!("{name} {preposition} {}", peer(world, access.target));
        }
        WindowStep::Local { writes: true, .. } => "store to the window's memory",
        WindowStep::Local { writes: false, .. } => "load from the window's memory",
        WindowStep::Unknown => "step on a window",
    };
    name.to_owned()
}

/// The plan of the one request that a step starts.
fn planned(world: &World, at: At, requests: &[RequestId]) -> Option<Position> {
    let [one] = requests else { return None };
    plan(world, at, *one).map(|(_, position)| position)
}

/// The step that has prepared what a step starts under a request.
pub fn plan(world: &World, (rank, position): At, one: RequestId) -> Option<At> {
    let events = &world.behaviours[rank as usize].events;
    let plans = |event: &Event| {
        matches!(event.action,
            Action::PlanSend { request, .. } | Action::PlanReceive { request, .. } if request == one)
    };
    let before = events.iter().take(position).rposition(plans);
    before.or_else(|| events.iter().position(plans)).map(|plan| (rank, plan))
}

fn sending(world: &World, verb: &str, envelope: &Envelope) -> String {
    let (of, tag) = (of_unnamed(envelope), tag_of_unnamed(envelope));
    format!("{verb}{of} {} to {}{tag}", data(world, &envelope.data), peer(world, envelope.peer))
}

fn receiving(world: &World, verb: &str, envelope: &Envelope) -> String {
    let (of, tag) = (of_unnamed(envelope), tag_of_unnamed(envelope));
    format!("{verb}{of} {} from {}{tag}", data(world, &envelope.data), peer(world, envelope.peer))
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
        (None, None) => "a message",
    };
    data.count.map_or_else(|| element.to_owned(), |count| format!("{count} {element}"))
}

fn signature<'w>(world: &'w World, data: &Data) -> Option<&'w str> {
    let datatype = world.datatypes.get(usize::from(data.datatype?))?;
    Some(&datatype.signature)
}

/// "256 f32", "f32".
pub fn elements(world: &World, data: &Data) -> String {
    let signature = signature(world, data).unwrap_or("data");
    match data.count {
        Some(1) | None => signature.to_owned(),
        Some(count) => format!("{count} {signature}"),
    }
}

/// A decision's name.
pub fn label(world: &World, label: Option<LabelId>) -> String {
    label
        .and_then(|label| world.labels.get(usize::from(label)))
        .map_or_else(|| "without a name".to_owned(), |name| format!("`{name}`"))
}

/// "rank 1", "any of ranks 1 to 3", "any process", "the rank it has met".
pub fn peer(world: &World, peer: Peer) -> String {
    match peer {
        Peer::Rank(rank) => format!("rank {rank}"),
        Peer::Any { first: 0, end } if end == world.size() => {
            let all: Vec<Rank> = (0..end).collect();
            let all = format!("any of {}", crate::finding::ranks(&all));
            world.dialect.words(all, "any process".to_owned(), "any source".to_owned())
        }
        Peer::Any { first, end } => {
            let all: Vec<Rank> = (first..end).collect();
            format!("any of {}", crate::finding::ranks(&all))
        }
        Peer::Source(_) => "the rank it has met".to_owned(),
        Peer::Outside(rank) => format!("rank {rank}"),
        Peer::Null => "nobody".to_owned(),
    }
}

/// The name of the message that a step moves, as the source writes it.
pub fn message(world: &World, at: At, sending: bool) -> String {
    envelope(event(world, at), sending)
        .map_or_else(String::new, |envelope| data(world, &envelope.data))
}

/// What a step sends: "256 f32".
pub fn type_sent(world: &World, at: At) -> String {
    envelope(event(world, at), true)
        .map_or_else(String::new, |envelope| elements(world, &envelope.data))
}

/// What a step has room for: "256 f32".
pub fn type_received(world: &World, at: At) -> String {
    envelope(event(world, at), false)
        .map_or_else(String::new, |envelope| elements(world, &envelope.data))
}

/// The bytes that a step sends: `None` if it sends nothing, `Some(None)` if they are unknown.
pub fn bytes_sent(world: &World, at: At) -> Option<Option<u64>> {
    envelope(event(world, at), true).map(|envelope| bytes(world, &envelope.data))
}

/// The size in bytes of the largest buffer that a rank attaches for its buffered sends, where it attaches
/// any and all are known.
pub fn largest_buffer(world: &World, rank: Rank) -> Option<u64> {
    let attached = world.behaviours[rank as usize].events.iter().filter_map(|event| {
        let Action::AttachBuffer { bytes } = event.action else { return None };
        Some(bytes)
    });
    attached.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// The name of the communicator that a step uses.
pub fn communicator(world: &World, at: At) -> String {
    let event = event(world, at);
    let envelope = envelope(event, true).or(envelope(event, false));
    let collective = event.action.collective().map(|collective| collective.communicator);
    envelope
        .map(|envelope| envelope.communicator)
        .or(collective)
        .and_then(|communicator| world.communicators.get(usize::from(communicator)))
        .map_or_else(
            || "its communicator".to_owned(),
            |communicator| words::communicator(world.dialect, &communicator.name),
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

/// What a rank brings to the collective that it calls, and what it has room for: "256 f32", "room for
/// 1 f64 from each rank".
pub fn parts(world: &World, at: At) -> Vec<(Data, String)> {
    let Some(call) = event(world, at).action.collective() else { return Vec::new() };
    let brings = call.data.map(|brought| {
        let text = data(world, &brought);
        let of = brought.message.map(|_| format!(" ({})", elements(world, &brought)));
        (brought, text + &of.unwrap_or_default())
    });
    let each = match call.kind {
        CollectiveKind::Gather | CollectiveKind::AllGather | CollectiveKind::AllToAll => {
            " from each rank"
        }
        _ => "",
    };
    let takes = call.room.map(|room| (room, format!("room for {}{each}", data(world, &room))));
    brings.into_iter().chain(takes).collect()
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
