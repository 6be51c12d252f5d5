//! One request: waits, tests, guards, futures.

use std::rc::Rc;

use p2p_protocol::model::{Action, Completion};

use super::lost;
use super::memory::shaped;
use super::polling::Polling;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Handle, Request};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::{Place, Type};

/// Methods of `Request`.
pub(super) fn method(
    machine: &mut Machine<'_>,
    receiver: &Value,
    request: &Request,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "wait" | "wait_without_status" | "wait_for_data" => {
            take(machine, receiver);
            Some(wait(machine, request, call))
        }
        "test" | "test_with_data" => Some(test(machine, receiver, request, call)),
        "cancel" => Some(cancel(machine, request, call.place).map(|()| Value::unit())),
        "shrink_scope_to" => {
            take(machine, receiver);
            Some(Ok(Value::Handle(Handle::Request(Box::new(request.clone())))))
        }
        "into_raw" => {
            take(machine, receiver);
            let data = data(machine, request);
            let scope = Value::Handle(Handle::Scope);
            let raw = Value::Handle(Handle::Request(Box::new(request.clone())));
            Some(Ok(Value::Tuple(Rc::new(vec![raw, data, scope]))))
        }
        "into" => {
            take(machine, receiver);
            Some(Ok(Value::Handle(guard(Box::new(request.clone()), &call.ty))))
        }
        _ => None,
    }
}

/// Methods of guards.
pub(super) fn guard_method(
    machine: &mut Machine<'_>,
    receiver: &Value,
    request: &Request,
    cancels: bool,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "into" => {
            take(machine, receiver);
            let handle = match &*call.ty {
                Type::External(name, _) if name.ends_with("Guard") => {
                    guard(Box::new(request.clone()), &call.ty)
                }
                Type::External(name, _) if name == "Request" => {
                    Handle::Request(Box::new(request.clone()))
                }
                _ => Handle::Guard { request: Box::new(request.clone()), cancels },
            };
            Some(Ok(Value::Handle(handle)))
        }
        _ => None,
    }
}

/// A guard of the type that a conversion makes.
fn guard(request: Box<Request>, ty: &Type) -> Handle {
    let cancels = matches!(ty, Type::External(name, _) if name == "CancelGuard");
    Handle::Guard { request, cancels }
}

/// `WaitGuard::from`, `CancelGuard::from`, `Request::from`, `Request::from_raw`.
pub(super) fn function(machine: &mut Machine<'_>, owner: &str, call: &Call<'_>) -> Option<Outcome> {
    if !matches!(call.name, "from" | "from_raw") {
        return None;
    }
    let argument = machine.behind(call.arguments.first()?, call.place);
    let request = match argument {
        Value::Handle(Handle::Request(request) | Handle::Guard { request, .. }) => request,
        _ => {
            let why = "the request that it is made of is not known here";
            return Some(Err(lost(machine, call.place, why)));
        }
    };
    machine.understood(call.place, Understood::Fully);
    let handle = match owner {
        "Request" => Handle::Request(request),
        _ => Handle::Guard { request, cancels: owner == "CancelGuard" },
    };
    Some(Ok(Value::Handle(handle)))
}

/// Methods of `ReceiveFuture`.
pub(super) fn future_method(
    machine: &mut Machine<'_>,
    receiver: &Value,
    request: &Request,
    ty: &Type,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "get" => {
            take(machine, receiver);
            Some(arrival(machine, request, ty, call.place))
        }
        "try" | "r#try" => Some(match machine.polling(call.place) {
            Polling::Waits => {
                take(machine, receiver);
                arrival(machine, request, ty, call.place).map(Value::ok)
            }
            Polling::Once => {
                take(machine, receiver);
                let future = Handle::Future(Box::new(request.clone()), ty.clone());
                Ok(not_yet(machine, future, call.place))
            }
            Polling::Works => Err(undecided(machine, call.place)),
        }),
        _ => None,
    }
}

/// The answer that an operation is not complete, which it need not be when it is asked only once.
fn not_yet(machine: &mut Machine<'_>, handle: Handle, place: Place) -> Value {
    machine.understood(place, Understood::Partly(UNDECIDED.to_owned()));
    Value::Variant("Err", Rc::new(vec![Value::Handle(handle)]))
}

const UNDECIDED: &str = "whether the operation is complete by then is not known";

fn undecided(machine: &mut Machine<'_>, place: Place) -> crate::evaluate::machine::Flow {
    lost(machine, place, UNDECIDED)
}

fn arrival(machine: &mut Machine<'_>, request: &Request, ty: &Type, place: Place) -> Outcome {
    machine.understood(place, Understood::Fully);
    complete(machine, request, place)?;
    let message = machine.fresh(ty.clone());
    let status = Value::Handle(Handle::Status(request.status.clone()));
    Ok(Value::Tuple(Rc::new(vec![message, status])))
}

/// A method has taken what it was called on.
pub(super) fn take(machine: &mut Machine<'_>, receiver: &Value) {
    if let Value::Reference(path) = receiver {
        machine.put(path, Value::Moved);
    }
}

fn wait(machine: &mut Machine<'_>, request: &Request, call: &Call<'_>) -> Outcome {
    machine.understood(call.place, Understood::Fully);
    complete(machine, request, call.place)?;
    Ok(match call.name {
        "wait" => Value::Handle(Handle::Status(request.status.clone())),
        "wait_for_data" => data(machine, request),
        _ => Value::unit(),
    })
}

fn test(
    machine: &mut Machine<'_>,
    receiver: &Value,
    request: &Request,
    call: &Call<'_>,
) -> Outcome {
    match machine.polling(call.place) {
        Polling::Waits => {}
        Polling::Once => {
            take(machine, receiver);
            return Ok(not_yet(machine, Handle::Request(Box::new(request.clone())), call.place));
        }
        Polling::Works => return Err(undecided(machine, call.place)),
    }
    take(machine, receiver);
    machine.understood(call.place, Understood::Fully);
    complete(machine, request, call.place)?;
    let status = Value::Handle(Handle::Status(request.status.clone()));
    Ok(Value::ok(match call.name {
        "test_with_data" => Value::Tuple(Rc::new(vec![status, data(machine, request)])),
        _ => status,
    }))
}

fn cancel(machine: &mut Machine<'_>, request: &Request, place: Place) -> Outcome<()> {
    machine.understood(place, Understood::Fully);
    match request.id {
        Some(request) => machine.emit(Action::Cancel { request }, place),
        None => Ok(()),
    }
}

/// What a request's buffer holds, as a reference.
pub(super) fn data(machine: &mut Machine<'_>, request: &Request) -> Value {
    match &request.buffer {
        Some(path) => Value::Reference(path.clone()),
        None => machine.fresh(Type::Unknown),
    }
}

/// Waits for a request.
pub(super) fn complete(machine: &mut Machine<'_>, request: &Request, place: Place) -> Outcome<()> {
    if request.pool.is_some() {
        let why = "whether it was already completed by a wait for any request is not known";
        return Err(lost(machine, place, why));
    }
    if let Some(id) = request.id {
        let completion = Completion::All;
        machine.emit(Action::Wait { requests: [id].into(), completion }, place)?;
    }
    finish(machine, request);
    Ok(())
}

/// A request is complete: its memory is free again, and what was received is there. The slot is free
/// for another one, unless the request can be started once more.
pub(super) fn finish(machine: &mut Machine<'_>, request: &Request) {
    if let Some(id) = request.id {
        machine.end_use(id);
        if request.persistent {
            Rc::make_mut(&mut machine.state.uses).begin_again(id);
        }
        arrive(machine, request);
    }
}

/// What was received is in its memory, at the latest from now on.
pub(super) fn arrive(machine: &mut Machine<'_>, request: &Request) {
    let Some(arrived) = &request.arrives else { return };
    let value = match request.persistent {
        // Each time something else.
        true => shaped(machine, &arrived.1, &mut |machine, _, ty| machine.fresh(ty)),
        false => arrived.1.clone(),
    };
    machine.put(&arrived.0, value);
}

/// A guard is dropped.
pub(super) fn end_guard(
    machine: &mut Machine<'_>,
    request: &Request,
    cancels: bool,
    place: Place,
) -> Outcome<()> {
    if cancels && let Some(request) = request.id {
        machine.emit(Action::Cancel { request }, place)?;
    }
    complete(machine, request, place)
}
