//! MPI's own functions, as C has them and `mpi::ffi`, by their meaning (MPI 3.1 and 4.0): those that
//! the table beside this file says are modelled. What is not understood is counted; what may meet
//! other ranks and is not modelled leaves nothing known.

mod accesses;
mod across;
mod between;
mod buffer;
mod collectives;
mod communicator;
mod constants;
mod datatypes;
mod environment;
mod group;
mod handles;
mod invocation;
mod lengths;
mod messages;
mod operations;
mod packing;
mod parts;
mod requests;
mod span;
mod table;
mod topology;
mod windows;

pub(super) use accesses::Access;
pub(super) use constants::constant;
pub(super) use handles::Handles;
pub(in crate::evaluate) use handles::{may_free_any, never_set};
pub use table::is_communication;
#[cfg(test)]
pub(super) use table::{Effect as TableEffect, all as all_functions};
pub(in crate::evaluate) use windows::touch as touch_windows;

use invocation::Invocation;
use table::Effect;

use p2p_protocol::model::HandleKind;

use super::lost;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, Handle, Request};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;

/// Calls a function of MPI by its C name. `None`: it is none.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Outcome> {
    let Some(asked) = Invocation::of(name, call) else {
        table::effect(name)?;
        let why = format!("`{name}` is not a function of MPI that is known here");
        return Some(Err(lost(machine, call.place, &why)));
    };
    let done = perform(machine, &asked);
    Some(done.map(|()| environment::returned(machine, &asked)))
}

fn perform(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    machine.state.mpi.called += 1;
    environment::check_time(machine, asked)?;
    handles::check(machine, asked)?;
    if asked.function.effect == Effect::Meets && communicator::is_elsewhere(machine, asked) {
        return skip(machine, asked);
    }
    let done = environment::function(machine, asked)
        .or_else(|| messages::function(machine, asked))
        .or_else(|| requests::function(machine, asked))
        .or_else(|| communicator::function(machine, asked))
        .or_else(|| group::function(machine, asked))
        .or_else(|| datatypes::function(machine, asked))
        .or_else(|| collectives::function(machine, asked))
        .or_else(|| windows::function(machine, asked));
    if let Some(done) = done {
        return done;
    }
    match asked.function.effect {
        Effect::Local => {
            if asked.name == "Reduce_local" {
                return operations::reduce_local(machine, asked);
            }
            environment::write_unknown(machine, asked);
            Ok(())
        }
        Effect::File => {
            let why = "files are not followed";
            machine.understood(asked.place(), Understood::Partly(why.to_owned()));
            environment::write_unknown(machine, asked);
            Ok(())
        }
        Effect::Meets | Effect::Unknown => {
            let why = format!("`{}` is not modelled", asked.full_name);
            Err(asked.lost(machine, &why))
        }
    }
}

/// A call on a communicator or a window whose ranks are not known, of which it is known that it is none
/// of the others: it can meet nobody else's, so it is left out.
fn skip(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let why = "which ranks its communicator has is not known";
    machine.understood(asked.place(), Understood::Not(why.to_owned()));
    for (number, argument) in asked.function.arguments.iter().enumerate() {
        if !argument.is_written {
            continue;
        }
        let made = match argument.what {
            "comm" if !argument.is_read => {
                Handle::Communicator(Communicator::unknown("made of one that is not known"))
            }
            "win" if !argument.is_read => Handle::Object(HandleKind::Window, None),
            "request" => {
                let nothing = Request::started(0, asked.place(), None);
                Handle::Request(Box::new(Request { id: None, ..nothing }))
            }
            "comm" => Handle::Null(HandleKind::Communicator),
            "win" => Handle::Null(HandleKind::Window),
            _ => {
                asked.forget(machine, number);
                continue;
            }
        };
        asked.put(machine, number, Value::Handle(made));
    }
    Ok(())
}
