//! MPI's own functions (`mpi::ffi::MPI_*`), by their C meaning (MPI 4.0): those that the model has a
//! word for. Any other is not understood; one that may meet other ranks leaves nothing known.

mod collectives;
mod messages;

use std::rc::Rc;

use p2p_protocol::model::{Action, Departure, Peer, Tag};

use super::memory::Memory;
use super::process::{End, unknown_rank};
use super::signature::Signature;
use super::state::{self, rank};
use super::{communicator, lost, point_to_point};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, Datatype, Handle, KnownCommunicator};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::{Place, Scalar, Type};

/// Numbers that Open MPI has for what is no rank and no tag.
const ANY: i128 = -1;
const PROC_NULL: i128 = -2;
const UNDEFINED: i128 = -32766;

/// Calls a function of MPI by its C name.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Outcome> {
    let operation = name.strip_prefix("MPI_")?;
    let done = local(machine, operation, call)
        .or_else(|| messages::function(machine, operation, call))
        .or_else(|| collectives::function(machine, operation, call));
    let outcome = match done {
        Some(outcome) => outcome,
        None if meets_nobody(operation) => {
            for argument in &call.arguments {
                machine.forget(argument, call.place);
            }
            Ok(())
        }
        None => {
            let why = format!("`{name}` is not modelled");
            Err(lost(machine, call.place, &why))
        }
    };
    Some(outcome.map(|()| rank(0)))
}

/// Functions that only ask or change something of this rank.
fn meets_nobody(operation: &str) -> bool {
    const LOCAL: [&str; 14] = [
        "Type_",
        "Get_",
        "Op_",
        "Group_",
        "Error_",
        "Errhandler_",
        "Info_",
        "Attr_",
        "Pack",
        "Unpack",
        "Keyval_",
        "Query_",
        "T_",
        "Aint_",
    ];
    const ENDINGS: [&str; 12] = [
        "_get_attr",
        "_set_attr",
        "_get_name",
        "_set_name",
        "_set_errhandler",
        "_group",
        "_test",
        "_get",
        "_coords",
        "_rank",
        "_shift",
        "_get_parent",
    ];
    LOCAL.iter().any(|start| operation.starts_with(start))
        || ENDINGS.iter().any(|end| operation.ends_with(end))
        || matches!(
            operation,
            "Wtime"
                | "Wtick"
                | "Initialized"
                | "Finalized"
                | "Dims_create"
                | "Comm_free"
                | "Comm_compare"
                | "Reduce_local"
                | "Address"
                | "Is_thread_main"
        )
}

/// What involves this rank alone.
fn local(machine: &mut Machine<'_>, operation: &str, call: &Call<'_>) -> Option<Outcome<()>> {
    let argument = |number: usize| call.arguments.get(number);
    match operation {
        "Init" | "Init_thread" => {
            machine.state.mpi.is_initialized = true;
            if let Some(provided) = argument(3) {
                machine.forget(provided, call.place);
            }
        }
        "Finalize" => {}
        "Abort" => return Some(Err(machine.leave(Departure::Aborted, call.place))),
        "Comm_rank" | "Comm_size" => {
            let known = communicator_of(machine, argument(0)?, call.place).known.clone();
            let answer = match (known, operation) {
                (Some(known), "Comm_rank") => rank(known.rank),
                (Some(known), _) => rank(known.members.size()),
                (None, _) => machine.fresh(Type::Scalar(Scalar::I32)),
            };
            put(machine, argument(1)?, answer, call.place);
        }
        "Buffer_attach" => {
            let bytes = number(machine, argument(1)?, call.place);
            let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
            machine.understood(call.place, Understood::Fully);
            if let Err(flow) = machine.emit(Action::AttachBuffer { bytes }, call.place) {
                return Some(Err(flow));
            }
        }
        "Buffer_detach" => {
            machine.understood(call.place, Understood::Fully);
            return Some(machine.emit(Action::DetachBuffer, call.place));
        }
        _ => return None,
    }
    Some(Ok(()))
}

/// Writes a result where an argument points to.
fn put(machine: &mut Machine<'_>, target: &Value, value: Value, place: Place) {
    if let Value::Reference(path) = target {
        machine.write(path, value, place);
    }
}

/// A whole number, if it is known.
fn number(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<i128> {
    machine.behind(value, place).as_integer()
}

/// The communicator behind a raw one.
fn communicator_of(machine: &mut Machine<'_>, value: &Value, place: Place) -> Rc<Communicator> {
    match machine.behind(value, place) {
        Value::Handle(Handle::Communicator(communicator)) => communicator,
        Value::Handle(Handle::Process(process)) => process.communicator,
        _ => Communicator::unknown("a raw communicator"),
    }
}

/// The ranks of a raw communicator, which must be known.
fn known(
    machine: &mut Machine<'_>,
    value: Option<&Value>,
    call: &Call<'_>,
) -> Outcome<(Rc<Communicator>, KnownCommunicator)> {
    let communicator = match value {
        Some(value) => communicator_of(machine, value, call.place),
        None => Communicator::unknown("a raw communicator"),
    };
    match communicator.known.clone() {
        Some(known) => Ok((communicator, known)),
        None => Err(lost(machine, call.place, "its communicator is not known here")),
    }
}

/// The memory that a pointer, a count and a datatype stand for.
fn memory(
    machine: &mut Machine<'_>,
    pointer: Option<&Value>,
    count: Option<&Value>,
    datatype: Option<&Value>,
    place: Place,
) -> Memory {
    let inside = match pointer {
        Some(pointer) => Memory::of(machine, pointer, place),
        None => Memory::default(),
    };
    let signature = match datatype.map(|datatype| machine.behind(datatype, place)) {
        Some(Value::Handle(Handle::Datatype(datatype))) => datatype.signature,
        _ => None,
    };
    let count = count
        .and_then(|count| number(machine, count, place))
        .and_then(|count| u64::try_from(count).ok());
    let is_whole = inside.signature == signature && inside.count == count;
    Memory { signature, count, is_view: !is_whole, ..inside }
}

/// The rank at the other end. `receives`: any source is allowed.
fn end(
    machine: &mut Machine<'_>,
    communicator: (Rc<Communicator>, KnownCommunicator),
    value: Option<&Value>,
    receives: bool,
    place: Place,
) -> Outcome<End> {
    let content = value.map(|value| machine.behind(value, place));
    let content = content.as_ref().and_then(state::content);
    let (handle, known) = communicator;
    let (peer, rank) = match content.as_ref().map(|content| (state::number(content), content)) {
        Some((Some(rank), _)) if rank == PROC_NULL.into() => (Peer::Null, None),
        Some((Some(rank), _)) if receives && rank == ANY.into() => {
            (Peer::Any { first: 0, end: machine.size() }, None)
        }
        Some((Some(rank), _)) => (known.peer(rank), Some(rank)),
        Some((None, content)) => match machine.state.mpi.source_on(content, &handle) {
            Some(slot) => (Peer::Source(slot), None),
            None => {
                let what = if receives { "receives from" } else { "sends to" };
                return Err(lost(machine, place, &unknown_rank(what, content)));
            }
        },
        None => return Err(lost(machine, place, "the rank at the other end is not known here")),
    };
    Ok(End { handle, communicator: known, peer, rank })
}

/// The tag of a message that is sent.
fn tag(machine: &mut Machine<'_>, value: Option<&Value>, place: Place) -> Outcome<Tag> {
    match value {
        Some(value) => point_to_point::tag_of(machine, value, place),
        None => Err(lost(machine, place, "its tag is not known here")),
    }
}

/// The tag that is accepted from an end.
fn accepted_tag(
    machine: &mut Machine<'_>,
    value: Option<&Value>,
    from: Peer,
    place: Place,
) -> Outcome<Tag> {
    match value {
        Some(value) => point_to_point::accepted_tag(machine, value, from, place),
        None => Err(lost(machine, place, "its tag is not known here")),
    }
}

/// The value of a constant of MPI.
pub(super) fn constant(machine: &mut Machine<'_>, name: &str) -> Option<Value> {
    let short = name.strip_prefix("RSMPI_").or_else(|| name.strip_prefix("MPI_"))?;
    Some(match short {
        "COMM_WORLD" => state::communicator(communicator::world(machine)),
        "COMM_SELF" => state::communicator(communicator::self_comm(machine)),
        "ANY_SOURCE" | "ANY_TAG" => rank(ANY),
        "PROC_NULL" => rank(PROC_NULL),
        "UNDEFINED" => rank(UNDEFINED),
        "SUCCESS" => rank(0),
        "REQUEST_NULL" => Value::Handle(Handle::Other("MPI_Request")),
        "STATUS_IGNORE" | "STATUSES_IGNORE" => Value::Handle(Handle::Other("MPI_Status")),
        "SUM" | "MAX" | "MIN" | "PROD" | "LAND" | "LOR" | "LXOR" | "BAND" | "BOR" | "BXOR" => {
            Value::Handle(Handle::Operation(Some(operation(short).into())))
        }
        _ => {
            let signature = Signature::of_scalar(datatype(short)?);
            Value::Handle(Handle::Datatype(Datatype { signature }))
        }
    })
}

/// An operation's name as rsmpi has it.
fn operation(short: &str) -> &'static str {
    match short {
        "SUM" => "sum",
        "MAX" => "max",
        "MIN" => "min",
        "PROD" => "product",
        "LAND" => "logical_and",
        "LOR" => "logical_or",
        "LXOR" => "logical_xor",
        "BAND" => "bitwise_and",
        "BOR" => "bitwise_or",
        _ => "bitwise_xor",
    }
}

/// The scalar that a predefined datatype stands for.
fn datatype(short: &str) -> Option<Scalar> {
    Some(match short {
        "INT8_T" | "CHAR" | "SIGNED_CHAR" => Scalar::I8,
        "UINT8_T" | "UNSIGNED_CHAR" | "BYTE" => Scalar::U8,
        "INT16_T" | "SHORT" => Scalar::I16,
        "UINT16_T" | "UNSIGNED_SHORT" => Scalar::U16,
        "INT32_T" | "INT" => Scalar::I32,
        "UINT32_T" | "UNSIGNED" => Scalar::U32,
        "INT64_T" | "LONG" | "LONG_LONG" => Scalar::I64,
        "UINT64_T" | "UNSIGNED_LONG" => Scalar::U64,
        "FLOAT" => Scalar::F32,
        "DOUBLE" => Scalar::F64,
        "C_BOOL" => Scalar::Bool,
        _ => return None,
    })
}
