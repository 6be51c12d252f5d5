//! Processes: who is at the other end, and which trait each of their methods belongs to.

use std::rc::Rc;

use p2p_protocol::model::Peer;

use super::state::{self, number, rank, scalar};
use super::{collective, communicator, lost, point_to_point};
use crate::evaluate::Understood;
use crate::evaluate::alike::Number;
use crate::evaluate::handle::{Communicator, Handle, KnownCommunicator, Process};
use crate::evaluate::machine::{Call, Flow, Machine, Outcome};
use crate::evaluate::value::{Content, Value};
use crate::program::{Scalar, Type};

/// The other end of a message, where everything about it is known that must be.
pub(super) struct End {
    /// The communicator as the program holds it.
    pub(super) handle: Rc<Communicator>,
    /// What is known of it.
    pub(super) communicator: KnownCommunicator,
    /// Who.
    pub(super) peer: Peer,
    /// Its rank in the communicator, where that is one number.
    pub(super) rank: Option<Number>,
}

/// Methods of `Process` and `AnyProcess`.
pub(super) fn method(
    machine: &mut Machine<'_>,
    process: &Process,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "rank" | "root_rank" | "source_rank" | "destination_rank" => {
            let rank = process.rank?;
            Some(Ok(scalar(rank, Scalar::I32)))
        }
        "is_self" => Some(Ok(is_self(machine, process, call))),
        name if point_to_point::is_send(name) => Some(point_to_point::send(machine, process, call)),
        name if point_to_point::is_receive(name) => {
            Some(point_to_point::receive(machine, process, call))
        }
        name if point_to_point::is_probe(name) => {
            Some(point_to_point::probe(machine, process, call))
        }
        name if collective::is_rooted(name) => Some(collective::rooted(machine, process, call)),
        _ => communicator::method(machine, &process.communicator, call),
    }
}

fn is_self(machine: &mut Machine<'_>, process: &Process, call: &Call<'_>) -> Value {
    let known = process.communicator.known.as_ref();
    match (known, process.rank.as_ref().and_then(number)) {
        (Some(known), Some(rank)) => Value::bool(known.rank == rank),
        _ => machine.fresh(call.result()),
    }
}

/// Who is at the other end. `None`: on a communicator of which nothing is known, where nothing can
/// be met. `what`: what the call does, such as "sends to".
pub(super) fn end(
    machine: &mut Machine<'_>,
    process: &Process,
    what: &str,
    call: &Call<'_>,
) -> Outcome<Option<End>> {
    let Some(communicator) = process.communicator.known.clone() else { return Ok(None) };
    let (peer, rank) = match &process.rank {
        None => (Peer::Any { first: 0, end: machine.size() }, None),
        Some(content) => match (number(content), process.source) {
            (Some(rank), _) => (communicator.peer(rank), Some(rank)),
            (None, Some(slot)) => (Peer::Source(slot), None),
            (None, None) => return Err(lost(machine, call.place, &unknown_rank(what, content))),
        },
    };
    Ok(Some(End { handle: process.communicator.clone(), communicator, peer, rank }))
}

/// Why a rank is not known, in words.
pub(super) fn unknown_rank(what: &str, content: &Content) -> String {
    match content {
        Content::Unknown(unknown) if unknown.uniform => {
            format!("the rank that it {what} is only given when the program runs")
        }
        _ => format!("the rank that it {what} comes from data that this rank has when it runs"),
    }
}

/// `process_at_rank(number)`: one that is not there ends in a panic.
pub(super) fn at_rank(
    machine: &mut Machine<'_>,
    communicator: &Rc<Communicator>,
    call: &Call<'_>,
) -> Outcome {
    let argument = call.arguments.first().map(|argument| machine.behind(argument, call.place));
    let content = match argument.as_ref().and_then(state::content) {
        Some(content) => content,
        None => {
            let unknown = machine.fresh(Type::Scalar(Scalar::I32));
            state::content(&unknown).expect("a number of which nothing is known is one")
        }
    };
    if let (Some(known), Some(number)) = (&communicator.known, number(&content))
        && known.member(number).is_none()
    {
        return Err(outside(machine, known, number.get(), call));
    }
    let source = machine.state.mpi.source_on(&content, communicator);
    let communicator = communicator.clone();
    Ok(Value::Handle(Handle::Process(Process { communicator, rank: Some(content), source })))
}

/// The rank asked for is none of the communicator's, which `process_at_rank` asserts.
fn outside(
    machine: &mut Machine<'_>,
    known: &KnownCommunicator,
    number: i128,
    call: &Call<'_>,
) -> Flow {
    machine.understood(call.place, Understood::Fully);
    if let Ok(number) = i32::try_from(number) {
        let named = point_to_point::naming(known, number);
        if let Err(flow) = machine.emit(named, call.place) {
            return flow;
        }
    }
    machine.leave(p2p_protocol::model::Departure::Panicked, call.place)
}

/// `this_process()`
pub(super) fn this(communicator: &Rc<Communicator>) -> Option<Value> {
    let known = communicator.known.as_ref()?;
    let content = state::content(&rank(known.rank));
    let communicator = communicator.clone();
    Some(Value::Handle(Handle::Process(Process { communicator, rank: content, source: None })))
}

/// `any_process()`
pub(super) fn any(communicator: &Rc<Communicator>) -> Value {
    let communicator = communicator.clone();
    Value::Handle(Handle::Process(Process { communicator, rank: None, source: None }))
}

/// A method on a value of which at most the type is known.
pub(super) fn on_unknown(machine: &mut Machine<'_>, ty: &Type, call: &Call<'_>) -> Option<Outcome> {
    let ty_name = match ty.behind_references() {
        Type::External(name, _) => name.as_str(),
        Type::Trait(names) => names.iter().map(String::as_str).find(|name| is_ours(name))?,
        Type::Unknown | Type::Parameter(_) if is_unmistakable(call.name) => "",
        _ => return None,
    };
    match (ty_name, call.name) {
        ("Universe", "world") => Some(Ok(state::communicator(communicator::world(machine)))),
        ("Status", _) | (_, "rank" | "size" | "target_size" | "is_self") if is_ours(ty_name) => {
            Some(Ok(machine.fresh(call.result())))
        }
        _ if is_unmistakable(call.name) || (is_ours(ty_name) && communicates(call.name)) => {
            let why = "the communicator or request that it is called on is not known here";
            Some(Err(lost(machine, call.place, why)))
        }
        _ => None,
    }
}

/// Types of rsmpi whose methods communicate.
fn is_ours(name: &str) -> bool {
    matches!(
        name,
        "Universe"
            | "Status"
            | "Process"
            | "AnyProcess"
            | "SimpleCommunicator"
            | "SystemCommunicator"
            | "UserCommunicator"
            | "CartesianCommunicator"
            | "InterCommunicator"
            | "Communicator"
            | "CommunicatorCollectives"
            | "AnyCommunicator"
            | "Root"
            | "Source"
            | "Destination"
            | "Request"
            | "WaitGuard"
            | "CancelGuard"
            | "RequestCollection"
            | "ReceiveFuture"
            | "Message"
    )
}

/// Whether a method of this name communicates, on a value of rsmpi.
pub(super) fn communicates(name: &str) -> bool {
    matches!(name, "wait" | "test" | "get" | "try" | "wait_all" | "wait_any" | "wait_some")
        || point_to_point::is_send(name)
        || point_to_point::is_receive(name)
        || point_to_point::is_probe(name)
        || collective::is_rooted(name)
        || collective::is_symmetric(name)
        || communicator::makes_communicator(name)
}

/// Whether nothing but rsmpi has a method of this name that communicates.
fn is_unmistakable(name: &str) -> bool {
    let telling = name.ends_with("_with_tag") || name.starts_with("immediate_");
    let generic = matches!(name, "send" | "receive" | "probe" | "barrier" | "duplicate" | "spawn");
    communicates(name)
        && !generic
        && (telling
            || collective::is_rooted(name)
            || collective::is_symmetric(name)
            || matches!(
                name,
                "receive_into"
                    | "receive_vec"
                    | "synchronous_send"
                    | "buffered_send"
                    | "ready_send"
                    | "matched_probe"
                    | "wait_without_status"
                    | "wait_for_data"
                    | "split_by_color"
                    | "split_by_color_with_key"
                    | "create_cartesian_communicator"
            ))
}
