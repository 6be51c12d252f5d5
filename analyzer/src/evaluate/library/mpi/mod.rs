//! What rsmpi means, from 0.5 to 0.8, and MPI's own functions below it: every call becomes what the
//! rank does to others.
//!
//! Nothing is judged here. What a call does is written down as an event; where something that
//! matters is not known, the call is counted as not understood, and if it could meet other ranks,
//! nothing more is known of this one.

mod carried;
mod collective;
mod communicator;
mod datatype;
mod environment;
mod exchange;
mod ffi;
mod group;
pub(in crate::evaluate) mod layout;
mod memory;
mod point_to_point;
mod polling;
mod process;
mod request;
mod requests;
pub(in crate::evaluate) mod signature;
mod state;
mod status;
mod tags;
#[cfg(test)]
mod tests;
mod topology;
mod walk;

pub(in crate::evaluate) use carried::{Carried, ask as ask_for_carried};
pub use ffi::is_communication;
pub(in crate::evaluate) use ffi::touch_windows;
pub(in crate::evaluate) use ffi::{may_free_any, never_set};
pub(in crate::evaluate) use state::State;
pub(in crate::evaluate) use status::raw_field as status_field;
pub(in crate::evaluate) use tags::{Sent as SentTags, sent as sent_tags, settle as settle_tags};

use super::super::Understood;
use super::super::handle::Handle;
use super::super::machine::{Call, Flow, Machine, Outcome};
use super::super::value::Value;
use crate::program::{Place, Type};

/// Calls a method on something of MPI. `None`: it has no such method.
pub(in crate::evaluate) fn method(
    machine: &mut Machine<'_>,
    receiver: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    let handle = match machine.behind(receiver, call.place) {
        Value::Handle(handle) => handle,
        Value::Tuple(parts) if call.name == "matched_receive_vec" => match parts.first() {
            Some(Value::Handle(handle)) => handle.clone(),
            _ => return None,
        },
        Value::Unknown(_, ty) => return process::on_unknown(machine, &ty, call),
        // `Collection::count` of a buffer: the method of that name which others have is an iterator's.
        Value::Sequence(_) | Value::Scalar(..) if call.name == "count" => {
            return memory::count(machine, receiver, call);
        }
        _ => return None,
    };
    if let Some(same) = conversion(&handle, call) {
        return Some(Ok(same));
    }
    match &handle {
        Handle::Universe => environment::universe(machine, call),
        Handle::Communicator(communicator) => communicator::method(machine, communicator, call),
        Handle::Process(process) => process::method(machine, process, call),
        Handle::Group(group) => group::method(machine, group, call),
        Handle::Status(status) => status::method(machine, status, call),
        Handle::Request(request) => request::method(machine, receiver, request, call),
        Handle::Guard { request, cancels } => {
            request::guard_method(machine, receiver, request, *cancels, call)
        }
        Handle::Collection(path) => requests::collection_method(machine, path, call),
        Handle::Future(request, ty) => request::future_method(machine, receiver, request, ty, call),
        Handle::Message(message) => point_to_point::matched(machine, receiver, message, call),
        Handle::Datatype(datatype) => datatype::method(machine, datatype, call),
        Handle::View { .. } | Handle::Partition { .. } => memory::method(machine, &handle, call),
        Handle::Operation(_)
        | Handle::Scope
        | Handle::Color(_)
        | Handle::Requests(_)
        | Handle::Window(_)
        | Handle::Object(..)
        | Handle::Null(_)
        | Handle::Other(_) => None,
    }
}

/// What only gives the same thing another type.
fn conversion(handle: &Handle, call: &Call<'_>) -> Option<Value> {
    let same = match call.name {
        "as_communicator"
        | "as_raw"
        | "as_ref"
        | "as_mut"
        | "as_raw_mut"
        | "by_ref"
        | "as_datatype"
        | "borrow"
        | "clone"
        | "to_owned"
        | "unwrap_communicator"
        | "dup" => true,
        "into" => !matches!(handle, Handle::Request(_) | Handle::Guard { .. }),
        _ => false,
    };
    same.then(|| Value::Handle(handle.clone()))
}

/// Calls a function by its path. `None`: it is none of MPI's.
pub(in crate::evaluate) fn function(
    machine: &mut Machine<'_>,
    path: &[String],
    call: &Call<'_>,
) -> Option<Outcome> {
    let name = path.last()?.as_str();
    let owner = path.len().checked_sub(2).map_or("", |owner| path[owner].as_str());
    let is_ours = path[0] == "mpi" || path[0] == "mpi_sys";
    if name.starts_with("MPI_") && (is_ours || path.len() == 1 || owner == "ffi") {
        return ffi::function(machine, name, call);
    }
    if let Some(outcome) = of_trait(machine, owner, call) {
        return Some(outcome);
    }
    match owner {
        "WaitGuard" | "CancelGuard" | "Request" => request::function(machine, owner, call),
        "SystemOperation" | "UserOperation" | "UnsafeUserOperation" => {
            Some(Ok(collective::operation(owner, name)))
        }
        "UserDatatype" | "UncommittedUserDatatype" => datatype::function(machine, call),
        "View" | "MutView" | "DynBuffer" | "DynBufferMut" | "Partition" | "PartitionMut" => {
            memory::function(machine, owner, call)
        }
        "SystemCommunicator"
        | "SimpleCommunicator"
        | "UserCommunicator"
        | "Color"
        | "SystemGroup"
        | "CartesianCommunicator"
        | "InterCommunicator" => communicator::function(machine, owner, call),
        "StaticScope" if name == "default" => Some(Ok(Value::Handle(Handle::Scope))),
        _ if name == "equivalent_datatype" => Some(Ok(datatype::equivalent(machine, owner, call))),
        _ if is_ours || path.len() == 1 => free_function(machine, name, is_ours, call),
        _ => None,
    }
}

/// Functions of modules. `known`: the path says that it is rsmpi's; otherwise only names that
/// nobody else has count.
fn free_function(
    machine: &mut Machine<'_>,
    name: &str,
    known: bool,
    call: &Call<'_>,
) -> Option<Outcome> {
    if name.starts_with("send_receive") {
        return point_to_point::send_receive(machine, call);
    }
    if name == "reduce_local_into" {
        return collective::reduce_local(machine, call);
    }
    match name {
        "multiple_scope" => requests::multiple_scope(machine, call),
        "scope" if known => requests::scope(machine, call),
        "wait_any" if known => requests::wait_any_of_vec(machine, call),
        "address_of" if known => Some(Ok(machine.fresh(Type::Unknown))),
        _ if known => environment::function(machine, name, call),
        _ => None,
    }
}

/// A trait's method, called with its receiver as the first argument.
fn of_trait(machine: &mut Machine<'_>, owner: &str, call: &Call<'_>) -> Option<Outcome> {
    const TRAITS: [&str; 14] = [
        "AnyCommunicator",
        "AsRaw",
        "Buffer",
        "BufferMut",
        "Collection",
        "Communicator",
        "CommunicatorCollectives",
        "Destination",
        "Group",
        "MatchedReceiveVec",
        "Process",
        "Root",
        "Source",
        "Universe",
    ];
    if !TRAITS.contains(&owner) || call.arguments.is_empty() {
        return None;
    }
    let receiver = call.arguments[0].clone();
    let rest = Call {
        name: call.name,
        generics: call.generics.clone(),
        arguments: call.arguments[1..].to_vec(),
        expressions: call.expressions.get(1..).unwrap_or_default(),
        ty: call.ty.clone(),
        place: call.place,
    };
    method(machine, &receiver, &rest)
}

/// The value of a constant or of a path that is used as a value. `None`: it is none of MPI's.
pub(in crate::evaluate) fn constant(machine: &mut Machine<'_>, path: &[String]) -> Option<Value> {
    let name = path.last()?.as_str();
    if name == "StaticScope" {
        return Some(Value::Handle(Handle::Scope));
    }
    if name.starts_with("RSMPI_") || name.starts_with("MPI_") {
        return ffi::constant(machine, name);
    }
    None
}

/// Ends the life of something of MPI: guards wait.
pub(in crate::evaluate) fn drop_handle(
    machine: &mut Machine<'_>,
    handle: Handle,
    place: Place,
) -> Outcome<()> {
    match handle {
        Handle::Guard { request, cancels } => request::end_guard(machine, &request, cancels, place),
        Handle::Message(_) => {
            machine.state.mpi.outstanding_messages =
                machine.state.mpi.outstanding_messages.saturating_sub(1);
            Ok(())
        }
        // An operation that nobody waits for is seen by whoever runs the events.
        _ => Ok(()),
    }
}

/// Something that matters is not known: the call counts as not understood, and of this rank nothing
/// more is known.
fn lost(machine: &mut Machine<'_>, place: Place, why: &str) -> Flow {
    machine.understood(place, Understood::Not(why.to_owned()));
    machine.lost(place, why)
}

/// A call on a communicator whose ranks are not known: it can meet nobody else's, so it is left out.
fn skipped(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let why = "which ranks its communicator has is not known";
    machine.understood(call.place, Understood::Not(why.to_owned()));
    for argument in &call.arguments {
        machine.forget(argument, call.place);
    }
    Ok(machine.fresh(call.result()))
}
