//! What reductions combine with.

use std::rc::Rc;

use p2p_protocol::model::{Argument, HandleKind, HandleState};

use super::super::collective;
use super::buffer::region;
use super::handles::was_never_set;
use super::invocation::Invocation;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Datatype, Handle};
use crate::evaluate::machine::{Machine, Outcome};
use crate::program::Scalar;

/// The operation's name, if it is a predefined one. MPI ends the job where it is not defined for the
/// datatype.
pub(super) fn operation(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    datatype: Option<&Datatype>,
) -> Outcome<Option<Rc<str>>> {
    let Some(at) = asked.position("op") else { return Ok(None) };
    match asked.handle(machine, at) {
        // They are for `MPI_Accumulate` and kin alone (MPI 4.0, 12.3.4).
        Some(Handle::Operation(Some(name))) if matches!(&*name, "replace" | "no_op") => {
            let (kind, state) = (HandleKind::Operation, HandleState::Unfit);
            asked.fails(machine, at, Argument::Handle { kind, state })?;
            Ok(None)
        }
        Some(Handle::Operation(Some(name))) => {
            if let Some(datatype) = datatype {
                is_defined(machine, asked, at, (&name, datatype))?;
            }
            Ok(Some(name))
        }
        Some(Handle::Null(null)) => {
            let is_null = null == HandleKind::Operation;
            let state = if is_null { HandleState::Null } else { HandleState::Unfit };
            let kind = HandleKind::Operation;
            asked.fails(machine, at, Argument::Handle { kind, state })?;
            Ok(None)
        }
        Some(unset) if was_never_set(&unset) => {
            let (kind, state) = (HandleKind::Operation, HandleState::Uninitialized);
            asked.fails(machine, at, Argument::Handle { kind, state })?;
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Says it where an operation is not defined for a datatype (MPI 4.0, 6.9.2 and 6.9.4).
fn is_defined(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    (operation, datatype): (&str, &Datatype),
) -> Outcome<()> {
    let Some(signature) = &datatype.signature else { return Ok(()) };
    let Some(name) = signature.name(machine.is_c()) else { return Ok(()) };
    let is_float = signature.only_scalar().is_some_and(Scalar::is_float);
    let is_one = signature.only_scalar().is_some() && signature.times() == 1;
    let is_derived = datatype.made.is_some() && !is_one;
    let is_pair = datatype.made.is_none() && signature.only_scalar().is_none();
    let wrong = match operation {
        "max_loc" | "min_loc" => is_one || is_derived && signature.unit().len() != 2,
        "bitwise_and" | "bitwise_or" | "bitwise_xor" | "logical_and" | "logical_or"
        | "logical_xor" => is_float || is_derived || is_pair,
        _ => is_derived || is_pair,
    };
    if !wrong {
        return Ok(());
    }
    let operation = collective::operation_id(machine, operation);
    let datatype = machine.datatype(&name, Some(signature.bytes()));
    asked.fails(machine, argument, Argument::Operation { operation, datatype })
}

/// `MPI_Reduce_local(in, in and out, count, datatype, operation)`: between two buffers of one rank.
pub(super) fn reduce_local(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let sent = region(machine, asked, [0, 2, 3], 1)?;
    let taken = region(machine, asked, [1, 2, 3], 1)?;
    sent.touch(machine, false, asked.place());
    taken.touch(machine, true, asked.place());
    taken.arrive(machine, asked.argument(1));
    machine.understood(asked.place(), Understood::Fully);
    Ok(())
}
