//! MPI's functions for requests: starting those that are planned, waiting for one, any, some or all,
//! asking, cancelling and freeing.

use std::rc::Rc;

use p2p_protocol::model::{Action, Argument, Completion, HandleKind, HandleState, RequestId};

use super::super::request::{arrive, finish};
use super::buffer::Region;
use super::constants::UNDEFINED;
use super::handles::was_never_set;
use super::invocation::Invocation;
use super::messages::{truth, waits};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Handle, Request, Status};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Items, ObjectId, Path, Sequence, Value};
use crate::program::{Scalar, Type};

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Start" => start(machine, asked, None, 0),
        "Startall" => start(machine, asked, Some(0), 1),
        "Wait" => one(machine, asked, None),
        "Test" => one(machine, asked, Some(1)),
        "Waitall" => all(machine, asked, None),
        "Testall" => all(machine, asked, Some(2)),
        "Waitany" => any(machine, asked, None),
        "Testany" => any(machine, asked, Some(3)),
        "Waitsome" | "Testsome" => some(machine, asked),
        "Request_get_status" => look(machine, asked),
        "Request_free" => free(machine, asked),
        "Cancel" => cancel(machine, asked),
        _ => return None,
    };
    Some(outcome)
}

/// A request that a call starts or plans.
pub(super) fn started(asked: &Invocation<'_, '_>, id: RequestId, region: &Region) -> Request {
    let started = Request::started(id, asked.place(), region.memory.path.clone());
    Request { pieces: region.pieces.as_slice().into(), ..started }
}

/// Puts a new request where the program keeps it; its memory is in use from now on, if it was started.
/// `regions`: each with whether it is written.
pub(super) fn keep(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    request: Request,
    regions: &[(&Region, bool)],
    is_planned: bool,
) {
    if !is_planned {
        for (region, writes) in regions {
            region.begin(machine, &request, *writes);
        }
    }
    let request = Request { persistent: is_planned, ..request };
    asked.put(machine, argument, Value::Handle(Handle::Request(Box::new(request))));
}

/// A new request is to be kept where another one is: nobody can wait for that any more, if it is the
/// only handle of it.
pub(super) fn overwrite(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Outcome<()> {
    if !machine.is_c() {
        return Ok(());
    }
    let Some(path) = asked.target(machine, argument) else { return Ok(()) };
    let Value::Handle(Handle::Request(request)) = machine.peek(&path) else { return Ok(()) };
    let (Some(id), None) = (request.id, &request.pool) else { return Ok(()) };
    if !machine.state.uses.has(id) || copies(machine, id) != 1 {
        return Ok(());
    }
    machine.emit(Action::Overwrite { request: id }, asked.place())
}

/// How often a request's handle is kept.
fn copies(machine: &Machine<'_>, id: RequestId) -> usize {
    let memory = &machine.state.memory;
    let objects = (0..memory.len()).filter_map(|index| memory.get(ObjectId(index as u32)));
    objects.map(|value| count(value, id)).sum()
}

fn count(value: &Value, id: RequestId) -> usize {
    match value {
        Value::Handle(Handle::Request(request)) => usize::from(request.id == Some(id)),
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().map(|part| count(part, id)).sum()
        }
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => match items.first() {
            None | Some(Value::Scalar(..)) => 0,
            Some(_) => items.iter().map(|item| count(item, id)).sum(),
        },
        Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => count(item, id),
        _ => 0,
    }
}

/// A request that a call is handed, with its number there.
struct Given {
    number: u64,
    path: Path,
    request: Request,
}

/// The requests that a call is handed, without null handles. `count`: the argument that says how many
/// there are; without it it is one.
fn given(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    count: Option<usize>,
    argument: usize,
) -> Outcome<Vec<Given>> {
    const NOT_KNOWN: &str = "which requests it has is not known here";
    let number = match count {
        None => Some(1),
        Some(count) => asked.number(machine, count),
    };
    let Some(number) = number else { return Err(asked.lost(machine, NOT_KNOWN)) };
    if number < 0 {
        let number = i64::try_from(number).unwrap_or(i64::MIN);
        asked.fails(machine, count.unwrap_or_default(), Argument::Count(number))?;
    }
    let Some(elements) = asked.elements(machine, argument, number) else {
        return Err(asked.lost(machine, NOT_KNOWN));
    };
    let mut found = Vec::new();
    for (number, element) in (0..).zip(elements) {
        match element {
            Value::Handle(Handle::Request(request)) => {
                let is_gone = request.id.is_some_and(|id| !machine.state.uses.has(id));
                if is_gone && request.pool.is_none() {
                    let (kind, state) = (HandleKind::Request, HandleState::Freed);
                    asked.fails(machine, argument, Argument::Handle { kind, state })?;
                }
                let path = asked.element(machine, argument, number).expect("it was read there");
                found.push(Given { number, path, request: *request });
            }
            Value::Handle(Handle::Null(_)) => {}
            Value::Handle(unset) if was_never_set(&unset) => {
                let (kind, state) = (HandleKind::Request, HandleState::Uninitialized);
                asked.fails(machine, argument, Argument::Handle { kind, state })?;
            }
            _ => return Err(asked.lost(machine, NOT_KNOWN)),
        }
    }
    if count.is_some() {
        machine.note_list(found.len(), asked.place());
    }
    Ok(found)
}

/// `MPI_Start`, `MPI_Startall`.
fn start(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    count: Option<usize>,
    argument: usize,
) -> Outcome<()> {
    let given = given(machine, asked, count, argument)?;
    machine.understood(asked.place(), Understood::Fully);
    let (kind, state) = (HandleKind::Request, HandleState::Unfit);
    if given.iter().any(|it| !it.request.persistent) {
        return asked.fails(machine, argument, Argument::Handle { kind, state });
    }
    let is_short = given.is_empty() && count.is_none();
    if is_short {
        return asked.fails(machine, argument, Argument::Handle { kind, state: HandleState::Null });
    }
    let ids: Box<[RequestId]> = given.iter().filter_map(|it| it.request.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    machine.emit(Action::Start { requests: ids }, asked.place())?;
    for Given { request, .. } in &given {
        let Some(id) = request.id else { continue };
        let writes = request.arrives.is_some();
        for piece in request.pieces.iter() {
            machine.begin_use_of(id, *piece, writes);
        }
        if let (false, Some(path)) = (machine.is_c(), &request.buffer) {
            machine.begin_use(id, path, writes);
        }
    }
    Ok(())
}

/// `(request[, flag], status)`
fn one(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, flag: Option<usize>) -> Outcome<()> {
    let given = given(machine, asked, None, 0)?;
    if let Some(flag) = flag.filter(|_| given.iter().any(|it| is_idle(machine, &it.request))) {
        machine.understood(asked.place(), Understood::Fully);
        asked.put(machine, flag, truth(true));
        asked.put(machine, 2, Value::Handle(Handle::Status(Status::NOTHING_TOLD)));
        return Ok(());
    }
    if let (Some(flag), false) = (flag, given.is_empty())
        && !waits(machine, asked, flag)?
    {
        return Ok(());
    }
    machine.understood(asked.place(), Understood::Fully);
    let told = given.first().map_or(Status::NOTHING_TOLD, |it| it.request.status.clone());
    complete(machine, asked, given)?;
    if let Some(flag) = flag {
        asked.put(machine, flag, truth(true));
    }
    let status = 1 + usize::from(flag.is_some());
    asked.put(machine, status, Value::Handle(Handle::Status(told)));
    Ok(())
}

/// Whether a request is one that was planned, and surely not started: what uses memory would show.
fn is_idle(machine: &Machine<'_>, request: &Request) -> bool {
    request.persistent
        && !request.pieces.is_empty()
        && request.id.is_some_and(|id| machine.state.uses.is_idle(id))
}

/// `(count, requests[, flag], statuses)`
fn all(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, flag: Option<usize>) -> Outcome<()> {
    let given = given(machine, asked, Some(0), 1)?;
    if let (Some(flag), false) = (flag, given.is_empty())
        && !waits(machine, asked, flag)?
    {
        return Ok(());
    }
    machine.understood(asked.place(), Understood::Fully);
    let told: Vec<_> = given.iter().map(|it| (it.number, it.request.status.clone())).collect();
    complete(machine, asked, given)?;
    if let Some(flag) = flag {
        asked.put(machine, flag, truth(true));
    }
    put_statuses(machine, asked, 2 + usize::from(flag.is_some()), told);
    Ok(())
}

fn put_statuses(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    told: Vec<(u64, Status)>,
) {
    let is_ignored = match asked.argument(argument) {
        Some(value) => matches!(value, Value::Handle(Handle::Other(_))),
        None => true,
    };
    if !is_ignored {
        for (number, status) in told {
            asked.put_at(machine, argument, number, Value::Handle(Handle::Status(status)));
        }
    }
}

/// Waits for all of these. One that is planned stays one; any other is gone.
fn complete(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    given: Vec<Given>,
) -> Outcome<()> {
    let pools = given.iter().any(|it| it.request.pool.is_some());
    if pools && given.len() == 1 {
        let why = "whether it was already completed by a wait for any request is not known";
        return Err(asked.lost(machine, why));
    }
    let ids = ids(&given);
    if !ids.is_empty() {
        let completion = Completion::All;
        machine.emit(Action::Wait { requests: ids.clone().into(), completion }, asked.place())?;
    }
    done(machine, given);
    if pools {
        ids.iter().for_each(|id| machine.end_use(*id));
    }
    Ok(())
}

/// These are complete.
fn done(machine: &mut Machine<'_>, given: Vec<Given>) {
    for Given { path, request, .. } in given {
        finish(machine, &request);
        if !request.persistent {
            machine.put(&path, Value::Handle(Handle::Null(HandleKind::Request)));
        }
    }
}

/// The requests that may still be active.
fn ids(given: &[Given]) -> Vec<RequestId> {
    let mut ids: Vec<RequestId> = given
        .iter()
        .flat_map(|it| match &it.request.pool {
            Some(pool) => pool.to_vec(),
            None => it.request.id.into_iter().collect(),
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// `(count, requests, index[, flag], status)`
fn any(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, flag: Option<usize>) -> Outcome<()> {
    let given = given(machine, asked, Some(0), 1)?;
    let status = 3 + usize::from(flag.is_some());
    if left(machine, &given) == 0 {
        machine.understood(asked.place(), Understood::Fully);
        done_with_pool(machine, given);
        if let Some(flag) = flag {
            asked.put(machine, flag, truth(true));
        }
        asked.put(machine, 2, Value::integer(UNDEFINED, Scalar::I32));
        asked.put(machine, status, Value::Handle(Handle::Status(Status::NOTHING_TOLD)));
        return Ok(());
    }
    if let Some(flag) = flag {
        if !waits(machine, asked, flag)? {
            asked.put(machine, 2, Value::integer(UNDEFINED, Scalar::I32));
            return Ok(());
        }
        asked.put(machine, flag, truth(true));
    }
    machine.understood(asked.place(), Understood::Fully);
    if given.len() == 1 && given[0].request.pool.is_none() {
        let (number, told) = (given[0].number, given[0].request.status.clone());
        complete(machine, asked, given)?;
        asked.put(machine, 2, Value::integer(i128::from(number), Scalar::I32));
        asked.put(machine, status, Value::Handle(Handle::Status(told)));
        return Ok(());
    }
    if machine.around(asked.place()).drains {
        return drain_one(machine, asked, given, status);
    }
    let number = one_of_many(machine, asked, given)?;
    asked.put(machine, 2, number);
    asked.put(machine, status, Value::Handle(Handle::Status(Status::NOTHING_TOLD)));
    Ok(())
}

/// How many of these may still be going on.
fn left(machine: &Machine<'_>, given: &[Given]) -> usize {
    let told = |given: &Given| match given.request.pool.as_deref() {
        Some([first, ..]) => machine.state.mpi.told.get(first).copied().unwrap_or(0) as usize,
        _ => 0,
    };
    given.len().saturating_sub(given.iter().map(told).max().unwrap_or(0))
}

/// The loop around takes one after the other, and does nothing else that others could see: all are
/// waited for at once, and are handed out in their order.
fn drain_one(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    given: Vec<Given>,
    status: usize,
) -> Outcome<()> {
    let active: Vec<RequestId> = ids(&given);
    if !active.is_empty() {
        let completion = Completion::All;
        machine.emit(Action::Wait { requests: active.into(), completion }, asked.place())?;
    }
    let mut given = given.into_iter();
    let Some(first) = given.next() else { return Ok(()) };
    // The others are complete as well: only their handles are still there.
    for Given { path, request, .. } in given {
        finish(machine, &request);
        if !request.persistent {
            let complete = Request { id: None, pool: None, arrives: None, ..request };
            machine.put(&path, Value::Handle(Handle::Request(Box::new(complete))));
        }
    }
    let (number, told) = (first.number, first.request.status.clone());
    done(machine, vec![first]);
    asked.put(machine, 2, Value::integer(i128::from(number), Scalar::I32));
    asked.put(machine, status, Value::Handle(Handle::Status(told)));
    Ok(())
}

/// Waits for one of many, of which nobody knows which it is. Gives its number.
fn one_of_many(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    given: Vec<Given>,
) -> Outcome {
    let ids = ids(&given);
    if given.iter().any(|it| it.request.persistent) {
        let why = "which of the persistent requests is complete first is not known";
        return Err(asked.lost(machine, why));
    }
    let completion = Completion::Any(None);
    machine.emit(Action::Wait { requests: ids.clone().into(), completion }, asked.place())?;
    let pool: Rc<[RequestId]> = ids.into();
    let Some(first) = pool.first().copied() else {
        return Ok(Value::integer(UNDEFINED, Scalar::I32));
    };
    let told = Rc::make_mut(&mut machine.state.mpi.told);
    *told.entry(first).or_insert(0) += 1;
    for Given { path, request, .. } in given {
        arrive(machine, &request);
        let pooled = Request { pool: Some(pool.clone()), arrives: None, ..request };
        machine.put(&path, Value::Handle(Handle::Request(Box::new(pooled))));
    }
    Ok(machine.fresh(Type::Scalar(Scalar::I32)))
}

/// All of a pool are complete.
fn done_with_pool(machine: &mut Machine<'_>, given: Vec<Given>) {
    for Given { path, request, .. } in given {
        for id in request.pool.iter().flat_map(|pool| pool.iter()) {
            machine.end_use(*id);
            Rc::make_mut(&mut machine.state.mpi.told).remove(id);
        }
        if !request.persistent {
            machine.put(&path, Value::Handle(Handle::Null(HandleKind::Request)));
        }
    }
}

/// `(count, requests, count of those that are complete, indices, statuses)`
fn some(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let given = given(machine, asked, Some(0), 1)?;
    machine.understood(asked.place(), Understood::Fully);
    if left(machine, &given) == 0 {
        done_with_pool(machine, given);
        asked.put(machine, 2, Value::integer(UNDEFINED, Scalar::I32));
        return Ok(());
    }
    if asked.name == "Testsome" && !waits(machine, asked, 2)? {
        return Ok(());
    }
    let pooled = given.iter().any(|it| it.request.pool.is_some());
    if given.len() == 1 && !pooled || machine.around(asked.place()).drains {
        // That all are complete by then is one of the ways it may be.
        let told: Vec<_> = given.iter().map(|it| it.request.status.clone()).collect();
        let numbers: Vec<u64> = given.iter().map(|it| it.number).collect();
        complete(machine, asked, given)?;
        asked.put(machine, 2, Value::integer(numbers.len() as i128, Scalar::I32));
        for (place, number) in (0..).zip(&numbers) {
            asked.put_at(machine, 3, place, Value::integer(i128::from(*number), Scalar::I32));
        }
        put_statuses(machine, asked, 4, (0..).zip(told).collect());
        return Ok(());
    }
    // A wait for some is one for one: that no other is complete by then is possible.
    let number = one_of_many(machine, asked, given)?;
    asked.put(machine, 2, Value::integer(1, Scalar::I32));
    asked.put(machine, 3, number);
    put_statuses(machine, asked, 4, vec![(0, Status::NOTHING_TOLD)]);
    Ok(())
}

/// `MPI_Request_get_status`: the request stays.
fn look(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let Some(Handle::Request(request)) = asked.handle(machine, 0) else {
        asked.forget(machine, 1);
        asked.forget(machine, 2);
        return Ok(());
    };
    if !waits(machine, asked, 1)? {
        return Ok(());
    }
    if let (Some(id), None) = (request.id, &request.pool) {
        let (requests, completion) = ([id].into(), Completion::All);
        machine.emit(Action::Wait { requests, completion }, asked.place())?;
        arrive(machine, &request);
    }
    asked.put(machine, 1, truth(true));
    asked.put(machine, 2, Value::Handle(Handle::Status(request.status.clone())));
    Ok(())
}

/// A request that is to be changed, which must not be the null handle.
fn changed(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Outcome<Option<(RequestId, Given)>> {
    let given = given(machine, asked, None, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let Some(only) = given.into_iter().next() else {
        let (kind, state) = (HandleKind::Request, HandleState::Null);
        asked.fails(machine, 0, Argument::Handle { kind, state })?;
        return Ok(None);
    };
    Ok(only.request.id.map(|id| (id, only)))
}

fn free(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    if let Some((id, Given { path, request, .. })) = changed(machine, asked)? {
        machine.emit(Action::Free { request: id }, asked.place())?;
        finish(machine, &Request { persistent: false, ..request });
        machine.put(&path, Value::Handle(Handle::Null(HandleKind::Request)));
    }
    Ok(())
}

fn cancel(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    super::super::carried::loses_count(machine);
    match changed(machine, asked)? {
        Some((id, _)) => machine.emit(Action::Cancel { request: id }, asked.place()),
        None => Ok(()),
    }
}
