//! MPI's functions that say where data are in memory, how many there are in a message, and that pack
//! them.

use p2p_protocol::model::Argument;

use super::super::state::rank;
use super::buffer::{self, bytes, place};
use super::constants::PROC_NULL;
use super::datatypes::{handed, machine_number};
use super::invocation::Invocation;
use crate::evaluate::handle::Handle;
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::Scalar;

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Get_address" | "Address" => address(machine, asked),
        "Get_count" | "Get_elements" | "Get_elements_x" => count(machine, asked),
        "Pack" | "Pack_external" => pack(machine, asked),
        "Unpack" | "Unpack_external" => unpack(machine, asked),
        "Pack_size" | "Pack_external_size" => pack_size(machine, asked),
        _ => return None,
    };
    Some(outcome)
}

/// `MPI_Get_address`: where in its object something is; objects lie far from each other.
fn address(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let path = asked.argument(0).and_then(|pointer| machine.pointer(pointer));
    let known = path.and_then(|path| machine.span(&path).map(|(start, _)| (path.object, start)));
    let address = match known {
        Some((object, start)) => {
            Value::integer((i128::from(object.0) + 1) * (1 << 44) + i128::from(start), Scalar::I64)
        }
        None => machine_number(machine, Scalar::I64),
    };
    asked.put(machine, 1, address);
    Ok(())
}

/// `MPI_Get_count(status, datatype, count)`
fn count(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let value = match asked.handle(machine, 0) {
        Some(Handle::Status(status)) => {
            if let Some(slot) = status.slot {
                machine.graph.measure(slot);
            }
            match status.source.map(|source| source.here()) {
                Some(PROC_NULL) => rank(0),
                _ => machine_number(machine, Scalar::I32),
            }
        }
        _ => machine_number(machine, Scalar::I32),
    };
    asked.put(machine, 2, value);
    Ok(())
}

/// `([representation,] buffer, count, datatype, packed, size, position[, communicator])`
fn pack(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let first = usize::from(asked.name == "Pack_external");
    let region = buffer::region(machine, asked, [first, first + 1, first + 2], 1)?;
    region.touch(machine, false, asked.place());
    let size = region.memory.count.zip(region.memory.signature.as_ref());
    let size = size.and_then(|(count, signature)| {
        count.checked_mul(signature.times())?.checked_mul(signature.bytes())
    });
    advance(machine, asked, (first + 4, first + 5), size)?;
    let room = asked.number(machine, first + 4).and_then(|room| u64::try_from(room).ok());
    let (datatype, count) = bytes(room);
    let packed = place(machine, asked, first + 3, &datatype, (count, None))?;
    packed.touch(machine, true, asked.place());
    packed.arrive(machine, asked.argument(first + 3));
    Ok(())
}

/// Moves the position in a packed buffer. MPI ends the job where that is too small.
fn advance(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (size, position): (usize, usize),
    bytes: Option<u64>,
) -> Outcome<()> {
    let at = asked.target(machine, position).map(|path| machine.peek(&path));
    let at = at.as_ref().and_then(Value::as_integer);
    let end = at.zip(bytes).map(|(at, bytes)| at + i128::from(bytes));
    let value = match end {
        Some(end) => rank(end),
        None => machine_number(machine, Scalar::I32),
    };
    if let (Some(end), Some(size_of_all)) = (end, asked.number(machine, size))
        && end > size_of_all
    {
        let (needs, has) =
            (u64::try_from(end).unwrap_or(0), u64::try_from(size_of_all).unwrap_or(0));
        asked.fact(machine, size, Argument::Room { needs, has })?;
    }
    asked.put(machine, position, value);
    Ok(())
}

/// `([representation,] packed, size, position, buffer, count, datatype[, communicator])`
fn unpack(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let first = usize::from(asked.name == "Unpack_external");
    let room = asked.number(machine, first + 1).and_then(|room| u64::try_from(room).ok());
    let (datatype, count) = bytes(room);
    let packed = place(machine, asked, first, &datatype, (count, None))?;
    packed.touch(machine, false, asked.place());
    let region = buffer::region(machine, asked, [first + 3, first + 4, first + 5], 1)?;
    region.touch(machine, true, asked.place());
    region.arrive(machine, asked.argument(first + 3));
    let size = region.memory.count.zip(region.memory.signature.as_ref());
    let size = size.and_then(|(count, signature)| {
        count.checked_mul(signature.times())?.checked_mul(signature.bytes())
    });
    advance(machine, asked, (first + 1, first + 2), size)
}

/// `([representation,] count, datatype[, communicator], size)`: at least the bytes that there are.
fn pack_size(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let first = usize::from(asked.name == "Pack_external_size");
    let count = asked.number(machine, first).and_then(|count| u64::try_from(count).ok());
    let of = handed(machine, asked, first + 1);
    let size = of.layout.as_ref().zip(count).and_then(|(of, count)| of.size.checked_mul(count));
    let value = match size {
        Some(size) => rank(i128::from(size)),
        None => machine_number(machine, Scalar::I32),
    };
    asked.put(machine, asked.function.arguments.len() - 1, value);
    Ok(())
}
