//! Other threads of a rank.
//!
//! What a thread does that only computes is not followed: it may change what is shared with it at
//! any time. One that communicates is followed if nothing else does so until it is joined: then it
//! is as if it were called there. Else nothing is known of the rank.

use std::rc::Rc;

use super::subject::argument;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::state::Counted;
use crate::evaluate::value::Value;
use crate::program::{Place, Scalar, Type};

/// Whether another thread may run, and change what is shared with it.
pub(super) fn have_begun(machine: &Machine<'_>) -> bool {
    machine.note_question();
    machine.state.counters.contains_key(&Counted::Threads)
}

/// From here on another thread may run.
pub(in crate::evaluate) fn begin(machine: &mut Machine<'_>) {
    machine.note_question();
    machine.count(Counted::Threads);
}

/// `thread::spawn(closure)`, `scope.spawn(closure)`
pub(super) fn spawn(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let closure = argument(call, 0);
    machine.note_question();
    let number = machine.count(Counted::Threads);
    if !machine.communicates(&closure) {
        machine.forget(&closure, call.place);
        return Ok(machine.fresh(call.result()));
    }
    let Some(number) = number else {
        return Err(machine.lost(call.place, "another thread communicates"));
    };
    Rc::make_mut(&mut machine.state.threads).push((number, closure));
    let number = Value::integer(i128::from(number), Scalar::U64);
    Ok(Value::Variant("JoinHandle", Rc::new(vec![number])))
}

/// `handle.join()`: the thread has done all that it does.
pub(super) fn join(
    machine: &mut Machine<'_>,
    handle: &[Value],
    call: &Call<'_>,
) -> Option<Outcome> {
    if call.name != "join" {
        return None;
    }
    let number = handle.first().and_then(Value::as_integer)?;
    let threads = machine.state.threads.iter();
    let at = threads.clone().position(|(known, _)| i128::from(*known) == number)?;
    Some(end(machine, at, call.place).map(Value::ok))
}

/// `thread::scope(|scope| ..)`: all threads that are begun in it end with it.
pub(super) fn scope(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let before = machine.state.threads.len();
    let arguments = vec![Value::Variant("ThreadScope", Rc::default())];
    let value = super::subject::run(machine, &argument(call, 0), arguments, call.place)?;
    while machine.state.threads.len() > before {
        end(machine, before, call.place)?;
    }
    Ok(value)
}

/// Does what a thread does.
fn end(machine: &mut Machine<'_>, at: usize, place: Place) -> Outcome {
    let (_, closure) = Rc::make_mut(&mut machine.state.threads).remove(at);
    let takes_scope = match &closure {
        Value::Closure(closure, _) => !closure.parameters.is_empty(),
        _ => false,
    };
    let scope = Value::Variant("ThreadScope", Rc::default());
    let arguments = if takes_scope { vec![scope] } else { Vec::new() };
    machine.call(&closure, arguments, &Type::Unknown, place)
}
