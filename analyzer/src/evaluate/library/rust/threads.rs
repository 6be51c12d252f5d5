//! Other threads of a rank. What they do is not followed: they may do it at any time.

use super::subject::argument;
use crate::evaluate::machine::{Call, Machine, Outcome};

/// How threads are counted.
const THREADS: &str = "threads";

/// Whether another thread may run, and change what is shared with it.
pub(super) fn have_begun(machine: &Machine<'_>) -> bool {
    machine.state.counters.contains_key(THREADS)
}

/// From here on another thread may run.
pub(in crate::evaluate) fn begin(machine: &mut Machine<'_>) {
    machine.count(THREADS);
}

/// `thread::spawn`
pub(super) fn spawn(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let closure = argument(call, 0);
    if machine.communicates(&closure) {
        return Err(machine.lost(call.place, "another thread communicates"));
    }
    begin(machine);
    machine.forget(&closure, call.place);
    Ok(machine.fresh(call.ty.clone()))
}
