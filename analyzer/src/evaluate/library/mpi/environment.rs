//! `Universe`, and what MPI tells of itself and of the machine.

use std::rc::Rc;

use p2p_protocol::model::Action;

use super::{communicator, state};
use crate::evaluate::Understood;
use crate::evaluate::handle::Handle;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Constant, Content, Value};
use crate::program::{Scalar, Type};

/// Functions of `mpi` and `mpi::environment`.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Outcome> {
    let value = match name {
        "initialize" => once(machine, Value::Handle(Handle::Universe)),
        "initialize_with_threading" => {
            let provided = machine.fresh(Type::External("Threading".to_owned(), Vec::new()));
            let both = vec![Value::Handle(Handle::Universe), provided];
            once(machine, Value::Tuple(Rc::new(both)))
        }
        "is_initialized" => Value::bool(machine.state.mpi.is_initialized),
        "is_finalized" => Value::bool(false),
        "time" | "time_resolution" => machine.fresh(Type::Scalar(Scalar::F64)),
        "processor_name" => Value::ok(machine.fresh(Type::Text)),
        "library_version" => Value::ok(machine.uniform("MPI's version", Type::Text)),
        "version" => machine.uniform("MPI's version", call.result()),
        "threading_support" => machine.fresh(call.result()),
        _ => return None,
    };
    Some(Ok(value))
}

/// The first time MPI is initialized; every other time there is nothing.
fn once(machine: &mut Machine<'_>, universe: Value) -> Value {
    if machine.state.mpi.is_initialized {
        return Value::none();
    }
    machine.state.mpi.is_initialized = true;
    Value::some(universe)
}

/// Methods of `Universe`.
pub(super) fn universe(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    match call.name {
        "world" => Some(Ok(state::communicator(communicator::world(machine)))),
        "size" | "appnum" => Some(Ok(machine.fresh(call.result()))),
        "buffer_size" => {
            let none = Value::integer(0, Scalar::Usize);
            Some(Ok(machine.state.mpi.attached.clone().unwrap_or(none)))
        }
        "set_buffer_size" => Some(attach(machine, call)),
        "detach_buffer" => Some(detach(machine, call).map(|()| Value::unit())),
        "disconnect_parent" => Some(Ok(Value::unit())),
        "threading_support" => Some(Ok(machine.fresh(call.result()))),
        _ => None,
    }
}

/// `set_buffer_size`, which gives back the buffer that there was.
fn attach(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    detach(machine, call)?;
    machine.understood(call.place, Understood::Fully);
    let size = call.arguments.first().map(|size| machine.behind(size, call.place));
    let bytes = match size.as_ref().and_then(state::content) {
        Some(Content::Known(Constant::Integer(number))) => u64::try_from(number.get()).ok(),
        _ => None,
    };
    if bytes == Some(0) {
        return Ok(Value::unit());
    }
    machine.state.mpi.attached = size;
    machine.emit(Action::AttachBuffer { bytes }, call.place)?;
    Ok(Value::unit())
}

fn detach(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome<()> {
    match machine.state.mpi.attached.take() {
        Some(_) => machine.emit(Action::DetachBuffer, call.place),
        None => Ok(()),
    }
}
