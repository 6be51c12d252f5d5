//! What a receive or a probe tells of its message.

use p2p_protocol::model::{Peer, Tag};

use super::process::End;
use super::state;
use crate::evaluate::alike::Elsewhere;
use crate::evaluate::handle::Status;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Content, Unknown, Value};
use crate::program::{Scalar, Type};

/// The status of a message from an end with a tag. What is not known of it is kept in a slot.
pub(super) fn of(machine: &mut Machine<'_>, end: &End, tag: Tag) -> Status {
    let known = without_slot(end, tag);
    let slot = match (end.peer, known.source, known.tag) {
        (_, Some(_), Some(_)) => None,
        _ => Some(machine.new_slot()),
    };
    if let Some(slot) = slot {
        machine.state.mpi.bind(slot, None);
    }
    Status { slot, ..known }
}

/// The status of a message that is still there.
pub(super) fn of_probe(machine: &mut Machine<'_>, end: &End, tag: Tag) -> Status {
    let status = of(machine, end, tag);
    if let Some(slot) = status.slot {
        machine.state.mpi.bind(slot, Some(end.peer));
    }
    status
}

/// What is known of the status without a slot.
pub(super) fn without_slot(end: &End, tag: Tag) -> Status {
    let source = match end.peer {
        Peer::Rank(_) => end.rank,
        _ => None,
    };
    Status { slot: None, communicator: Some(end.handle.clone()), source, tag: tag.number() }
}

/// Methods of `Status`.
pub(super) fn method(
    machine: &mut Machine<'_>,
    status: &Status,
    call: &Call<'_>,
) -> Option<Outcome> {
    let value = match call.name {
        "source_rank" => match status.source {
            Some(source) => state::rank(source),
            None => unknown_source(machine, status),
        },
        "tag" => match status.tag {
            Some(tag) => state::rank(i128::from(tag)),
            None => unknown_tag(machine, status),
        },
        "count" => {
            if let Some(slot) = status.slot {
                machine.graph.measure(slot);
            }
            machine.fresh(NUMBER)
        }
        _ => return None,
    };
    Some(Ok(value))
}

/// A field of `MPI_Status`. `None`: it has no such field.
pub(in crate::evaluate) fn raw_field(
    machine: &mut Machine<'_>,
    status: &Status,
    name: &str,
) -> Option<Value> {
    Some(match name {
        "MPI_SOURCE" => match status.source {
            Some(source) => state::rank(source),
            None => unknown_source(machine, status),
        },
        "MPI_TAG" => match status.tag {
            Some(tag) => state::rank(i128::from(tag)),
            None => unknown_tag(machine, status),
        },
        "MPI_ERROR" => machine.fresh(NUMBER),
        _ => return None,
    })
}

const NUMBER: Type = Type::Scalar(Scalar::I32);

/// The source that a slot keeps: the same number each time.
fn unknown_source(machine: &mut Machine<'_>, status: &Status) -> Value {
    let (Some(slot), Some(communicator)) = (status.slot, &status.communicator) else {
        return machine.fresh(NUMBER);
    };
    if let Some(identity) = machine.state.mpi.source_of(slot) {
        return received(identity);
    }
    let value = machine.fresh(NUMBER);
    if let Some(Content::Unknown(unknown)) = state::content(&value) {
        machine.state.mpi.remember_source(unknown, slot, communicator.clone());
    }
    value
}

/// The tag that a slot keeps: the same number each time.
fn unknown_tag(machine: &mut Machine<'_>, status: &Status) -> Value {
    let Some(slot) = status.slot else { return machine.fresh(NUMBER) };
    machine.graph.ask_tag(slot);
    if let Some(identity) = machine.state.mpi.tag_of(slot) {
        return received(identity);
    }
    let value = machine.fresh(NUMBER);
    if let Some(Content::Unknown(unknown)) = state::content(&value) {
        machine.state.mpi.remember_tag(unknown, slot);
    }
    value
}

/// A number that only the rank which received it has.
fn received(identity: u64) -> Value {
    Value::Scalar(
        Scalar::I32,
        Content::Unknown(Unknown { identity, uniform: false, elsewhere: Elsewhere::default() }),
    )
}
