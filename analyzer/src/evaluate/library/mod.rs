//! What the functions and methods of libraries mean: Rust's own, and rsmpi.
//!
//! Each answers `None` for what it does not have; what neither has, nor a trait of the program, is
//! [`not_known`].

mod c;
pub(super) mod mpi;
mod rust;

pub(in crate::evaluate) use rust::{begin_threads, formatted, not_known, sequence_of};

use super::machine::{Call, Machine, Outcome};
use super::value::Value;
use crate::program::Type;

/// Calls a method on a value that is not the program's own. `None`: no library has it.
///
/// The receiver is as it stands in the text: a [`Value::Reference`] to the place that the receiver
/// expression names, where it names one, so that methods can change it.
pub(super) fn method(
    machine: &mut Machine<'_>,
    receiver: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    if let Value::Handle(_) = machine.behind(receiver, call.place) {
        machine.note_question();
        return mpi::method(machine, receiver, call)
            .or_else(|| rust::method(machine, receiver, call));
    }
    rust::method(machine, receiver, call).or_else(|| {
        let outcome = mpi::method(machine, receiver, call);
        if outcome.is_some() {
            machine.note_question();
        }
        outcome
    })
}

/// Calls a function by its path. `None`: no library has it.
pub(super) fn function(
    machine: &mut Machine<'_>,
    path: &[String],
    call: &Call<'_>,
) -> Option<Outcome> {
    let outcome = mpi::function(machine, path, call);
    if outcome.is_some() {
        machine.note_question();
    }
    outcome.or_else(|| rust::function(machine, path, call))
}

/// The value of a library's constant, or of a path that is used as a value. `None`: not known.
pub(super) fn constant(machine: &mut Machine<'_>, path: &[String]) -> Option<Value> {
    let constant = mpi::constant(machine, path);
    if constant.is_some() {
        machine.note_question();
    }
    constant.or_else(|| rust::constant(machine, path))
}

/// Whether a function of C's library only computes a value of its arguments.
pub(super) fn computes_only(path: &[String]) -> bool {
    c::computes_only(path)
}

/// Whether a function of C's library only prints its arguments.
pub(super) fn prints_only(path: &[String]) -> bool {
    c::prints_only(path)
}

/// Calls a function by its name in a program in C. `None`: neither MPI nor C's library has it.
pub(super) fn function_of_c(
    machine: &mut Machine<'_>,
    path: &[String],
    call: &Call<'_>,
) -> Option<Outcome> {
    if call.name.starts_with("MPI_") {
        machine.note_question();
        return mpi::function(machine, path, call);
    }
    let outcome = c::function(machine, path, call);
    if outcome.is_none() {
        machine.state.mpi.note_unknown_call();
    }
    outcome
}

/// The value of a constant in a program in C. `None`: not known.
pub(super) fn constant_of_c(
    machine: &mut Machine<'_>,
    path: &[String],
    ty: &Type,
) -> Option<Value> {
    let name = path.last()?;
    if name.starts_with("MPI_") {
        machine.note_question();
        return mpi::constant(machine, path);
    }
    c::constant(machine, name, ty)
}

/// Ends the life of something of MPI.
pub(super) fn drop_handle(
    machine: &mut Machine<'_>,
    handle: super::handle::Handle,
    place: crate::program::Place,
) -> Outcome<()> {
    mpi::drop_handle(machine, handle, place)
}
