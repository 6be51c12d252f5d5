//! Many requests at once: scopes, request collections, and waiting for any, some or all.

use std::rc::Rc;

use p2p_protocol::model::{Action, Completion, RequestId};

use super::lost;
use super::polling::Polling;
use super::request::{arrive, data, finish};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Handle, Request, Requests, Status};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Path, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// `mpi::request::scope(|scope| ..)`
pub(super) fn scope(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    let closure = call.arguments.first()?;
    let scope = Value::Handle(Handle::Scope);
    Some(machine.call(closure, vec![scope], &call.ty, call.place))
}

/// `mpi::request::multiple_scope(n, |scope, collection| ..)`
pub(super) fn multiple_scope(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    let closure = call.arguments.get(1)?;
    let requests = machine.allocate(Value::Handle(Handle::Requests(Requests::default())));
    let collection = machine.allocate(Value::Handle(Handle::Collection(requests)));
    let arguments = vec![Value::Handle(Handle::Scope), Value::Reference(collection)];
    Some(machine.call(closure, arguments, &call.ty, call.place))
}

/// Methods of `RequestCollection`. Its requests are taken out of the memory while one is run, so that
/// they are changed where they are.
pub(super) fn collection_method(
    machine: &mut Machine<'_>,
    path: &Path,
    call: &Call<'_>,
) -> Option<Outcome> {
    let method = match call.name {
        "incomplete" => incomplete,
        "add" => add,
        "wait_any" | "wait_some" | "test_any" | "test_some" => one,
        "wait_all" | "test_all" => all,
        _ => return None,
    };
    let kept = machine.state.memory.get_mut(path.object).map(std::mem::take);
    let Some(Value::Handle(Handle::Requests(mut requests))) = kept else {
        machine.put(path, kept.unwrap_or_default());
        let why = "which requests it has is not known here";
        return Some(Err(lost(machine, call.place, why)));
    };
    let outcome = method(machine, &mut requests, call);
    machine.put(path, Value::Handle(Handle::Requests(requests)));
    Some(outcome)
}

fn incomplete(_: &mut Machine<'_>, requests: &mut Requests, _: &Call<'_>) -> Outcome {
    Ok(Value::integer(requests.incomplete() as i128, Scalar::Usize))
}

fn ids(requests: &Requests) -> Box<[RequestId]> {
    requests.active().iter().filter_map(|request| request.id).collect()
}

/// All are complete.
fn finish_all(machine: &mut Machine<'_>, requests: &mut Requests) {
    requests.active().iter().for_each(|request| finish(machine, request));
    (requests.complete, requests.told) = (requests.each.len(), 0);
}

fn add(machine: &mut Machine<'_>, requests: &mut Requests, call: &Call<'_>) -> Outcome {
    let added = call.arguments.first().map(|request| machine.behind(request, call.place));
    let Some(Value::Handle(Handle::Request(request))) = added else {
        return Err(lost(machine, call.place, "the request that is added is not known here"));
    };
    let index = requests.each.len();
    Rc::make_mut(&mut requests.each).push(*request);
    Ok(Value::integer(index as i128, Scalar::Usize))
}

/// Waits for one request of a collection, whichever it is. A wait for some is one for one: that no
/// other is complete by then is possible.
fn one(machine: &mut Machine<'_>, requests: &mut Requests, call: &Call<'_>) -> Outcome {
    let lists = call.name.ends_with("some");
    if requests.incomplete() == 0 {
        machine.understood(call.place, Understood::Fully);
        return Ok(answer(machine, call, lists, Vec::new()));
    }
    if call.name.starts_with("test") {
        match machine.polling(call.place) {
            Polling::Waits => {}
            Polling::Once => return Ok(answer(machine, call, lists, Vec::new())),
            Polling::Works => {
                let why = "whether an operation is complete by then is not known";
                return Err(lost(machine, call.place, why));
            }
        }
    }
    machine.understood(call.place, Understood::Fully);
    let first = requests.active().first().and_then(|request| request.buffer.clone());
    let example = one_of_many(machine, first);
    let drains = machine.around(call.place).drains;
    let is_first = requests.told == 0;
    if is_first || !drains {
        let completion = if drains { Completion::All } else { Completion::Any(None) };
        machine.note_list(requests.active().len(), call.place);
        machine.emit(Action::Wait { requests: ids(requests), completion }, call.place)?;
    }
    if is_first {
        requests.active().iter().for_each(|request| arrive(machine, request));
    }
    requests.told += 1;
    if requests.incomplete() == 0 {
        finish_all(machine, requests);
    }
    Ok(answer(machine, call, lists, vec![example]))
}

/// What is told of a request of which it is not known which it is: its number, its status, its data.
fn one_of_many(machine: &mut Machine<'_>, like: Option<Path>) -> Value {
    let number = machine.fresh(Type::Scalar(Scalar::Usize));
    let status = Value::Handle(Handle::Status(Status::NOTHING_TOLD));
    let data = match like {
        Some(path) => {
            let old = machine.peek(&path);
            let new = super::memory::shaped(machine, &old, &mut |machine, _, ty| machine.fresh(ty));
            Value::Reference(machine.allocate(new))
        }
        None => machine.fresh(Type::Unknown),
    };
    Value::Tuple(Rc::new(vec![number, status, data]))
}

/// What a wait for one or some answers: an option, or a list in its argument.
fn answer(machine: &mut Machine<'_>, call: &Call<'_>, lists: bool, found: Vec<Value>) -> Value {
    if lists {
        write_list(machine, call, found);
        return Value::unit();
    }
    match found.into_iter().next() {
        Some(found) => Value::some(found),
        None => Value::none(),
    }
}

/// Puts a list of completed requests where the call's first argument says.
fn write_list(machine: &mut Machine<'_>, call: &Call<'_>, found: Vec<Value>) {
    if let Some(Value::Reference(path)) = call.arguments.first() {
        let element = Type::Tuple(Vec::new());
        let items = Items::Each(Rc::new(found));
        machine.put(&path.clone(), Value::Sequence(Sequence { element, items }));
    }
}

/// Waits for all requests of a collection.
fn all(machine: &mut Machine<'_>, requests: &mut Requests, call: &Call<'_>) -> Outcome {
    if call.name == "test_all" && requests.incomplete() > 0 {
        match machine.polling(call.place) {
            Polling::Waits => {}
            Polling::Once => {
                write_list(machine, call, Vec::new());
                return Ok(Value::bool(false));
            }
            Polling::Works => {
                let why = "whether the operations are complete by then is not known";
                return Err(lost(machine, call.place, why));
            }
        }
    }
    machine.understood(call.place, Understood::Fully);
    let ids = ids(requests);
    if !ids.is_empty() {
        let completion = Completion::All;
        machine.note_list(ids.len(), call.place);
        machine.emit(Action::Wait { requests: ids, completion }, call.place)?;
    }
    let told = requests.told;
    let mut found = Vec::new();
    for (number, request) in (requests.complete..).zip(requests.active()) {
        let status = Value::Handle(Handle::Status(request.status.clone()));
        let number = match told {
            0 => Value::integer(number as i128, Scalar::Usize),
            _ => machine.fresh(Type::Scalar(Scalar::Usize)),
        };
        let data = data(machine, request);
        found.push(Value::Tuple(Rc::new(vec![number, status, data])));
    }
    found.truncate(requests.incomplete());
    finish_all(machine, requests);
    write_list(machine, call, found);
    Ok(match call.name {
        "test_all" => Value::bool(true),
        _ => Value::unit(),
    })
}

/// `mpi::request::wait_any(&mut requests)`: takes the one that is complete out of the vector.
pub(super) fn wait_any_of_vec(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    let Value::Reference(path) = call.arguments.first()? else {
        return Some(Err(lost(machine, call.place, "which requests it has is not known here")));
    };
    let Some(requests) = in_vec(machine, path) else {
        return Some(Err(lost(machine, call.place, "which requests it has is not known here")));
    };
    Some(any_of_vec(machine, path, requests, call.place))
}

fn sequence(items: Rc<Vec<Value>>) -> Value {
    let element = Type::External("Request".to_owned(), Vec::new());
    Value::Sequence(Sequence { element, items: Items::Each(items) })
}

fn in_vec(machine: &mut Machine<'_>, path: &Path) -> Option<Vec<Request>> {
    let Value::Sequence(Sequence { items: Items::Each(items), .. }) = machine.peek(path) else {
        return None;
    };
    let request = |item: &Value| match item {
        Value::Handle(Handle::Request(request)) => Some(Request::clone(request)),
        _ => None,
    };
    items.iter().map(request).collect()
}

fn any_of_vec(
    machine: &mut Machine<'_>,
    path: &Path,
    mut requests: Vec<Request>,
    place: Place,
) -> Outcome {
    machine.understood(place, Understood::Fully);
    if requests.is_empty() {
        return Ok(Value::none());
    }
    let ids = pooled(&requests);
    machine.note_list(ids.len(), place);
    if machine.around(place).drains {
        if !ids.is_empty() {
            let completion = Completion::All;
            machine.emit(Action::Wait { requests: ids.clone().into(), completion }, place)?;
        }
        for request in &mut requests {
            finish(machine, request);
            *request = Request { id: None, pool: None, arrives: None, ..request.clone() };
        }
    } else {
        let completion = Completion::Any(None);
        machine.emit(Action::Wait { requests: ids.clone().into(), completion }, place)?;
        let pool: Rc<[RequestId]> = ids.into();
        for request in &mut requests {
            arrive(machine, request);
            *request = Request { pool: Some(pool.clone()), arrives: None, ..request.clone() };
        }
    }
    let number = match requests.len() {
        1 => Value::integer(0, Scalar::Usize),
        _ => machine.fresh(Type::Scalar(Scalar::Usize)),
    };
    let last = requests.pop().expect("asked above");
    if requests.is_empty() {
        finish_pool(machine, &last);
    }
    let left =
        requests.into_iter().map(|request| Value::Handle(Handle::Request(Box::new(request))));
    machine.put(path, sequence(Rc::new(left.collect())));
    let status = Value::Handle(Handle::Status(Status::NOTHING_TOLD));
    Ok(Value::some(Value::Tuple(Rc::new(vec![number, status]))))
}

/// The requests that may still be active.
fn pooled(requests: &[Request]) -> Vec<RequestId> {
    let mut ids: Vec<RequestId> = requests
        .iter()
        .flat_map(|request| match &request.pool {
            Some(pool) => pool.to_vec(),
            None => request.id.into_iter().collect(),
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The last request of a vector was taken: all of them are complete.
fn finish_pool(machine: &mut Machine<'_>, last: &Request) {
    match &last.pool {
        Some(pool) => pool.iter().for_each(|&id| machine.end_use(id)),
        None => finish(machine, last),
    }
}
