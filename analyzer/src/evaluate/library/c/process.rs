//! The end of the process: `exit`, `abort`, an assertion that fails.

use p2p_protocol::model::Departure;

use super::argument;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::Scalar;

/// Calls one of these functions.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Outcome> {
    Some(match name {
        "exit" | "_exit" | "_Exit" | "quick_exit" => {
            Err(machine.leave(Departure::Exited, call.place))
        }
        // The process dies by a signal: whoever has started the job ends it.
        "abort" | "trap" | "unreachable" | "__assert_fail" => {
            Err(machine.leave(Departure::Aborted, call.place))
        }
        "assert" => {
            let condition = argument(call, 0);
            let holds = match &condition {
                Value::Scalar(Scalar::Bool, _) => condition,
                other => machine.cast_exactly(other, &crate::program::Type::Scalar(Scalar::Bool)),
            };
            match holds.as_bool() {
                Some(true) => Ok(Value::unit()),
                Some(false) => Err(machine.leave(Departure::Aborted, call.place)),
                None => {
                    let condition = machine.identity(&holds);
                    machine.assume(condition, true);
                    Ok(Value::unit())
                }
            }
        }
        _ => return None,
    })
}
