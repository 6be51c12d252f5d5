//! MPI's functions for messages between two ranks, and for requests.

use p2p_protocol::model::{Action, Envelope, Mode, RequestId};

use super::super::memory::Memory;
use super::super::point_to_point;
use super::super::polling::Polling;
use super::super::request::{arrive, complete, finish};
use super::super::requests::wait_for;
use super::super::{lost, status};
use super::{accepted_tag, end, known, memory, put, tag};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Handle, Request, Status};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Path, Sequence, Step, Value};
use crate::program::{Place, Scalar};

/// Calls one of these functions by its name without `MPI_`. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    operation: &str,
    call: &Call<'_>,
) -> Option<Outcome<()>> {
    let outcome = match operation {
        "Send" => send(machine, Mode::Standard, How::Blocking, call),
        "Ssend" => send(machine, Mode::Synchronous, How::Blocking, call),
        "Bsend" => send(machine, Mode::Buffered, How::Blocking, call),
        "Rsend" => send(machine, Mode::Ready, How::Blocking, call),
        "Isend" => send(machine, Mode::Standard, How::Immediate, call),
        "Issend" => send(machine, Mode::Synchronous, How::Immediate, call),
        "Ibsend" => send(machine, Mode::Buffered, How::Immediate, call),
        "Irsend" => send(machine, Mode::Ready, How::Immediate, call),
        "Send_init" => send(machine, Mode::Standard, How::Planned, call),
        "Ssend_init" => send(machine, Mode::Synchronous, How::Planned, call),
        "Bsend_init" => send(machine, Mode::Buffered, How::Planned, call),
        "Rsend_init" => send(machine, Mode::Ready, How::Planned, call),
        "Recv" => receive(machine, How::Blocking, call),
        "Irecv" => receive(machine, How::Immediate, call),
        "Recv_init" => receive(machine, How::Planned, call),
        "Sendrecv" => send_receive(machine, call),
        "Probe" => probe(machine, call, 0, false).map(|_| ()),
        "Iprobe" => probe(machine, call, 0, true).map(|_| ()),
        "Start" => start(machine, call.arguments.first(), call.place),
        "Startall" => start(machine, call.arguments.get(1), call.place),
        "Wait" => wait(machine, call.arguments.first(), call.arguments.get(1), call.place),
        "Waitall" => wait(machine, call.arguments.get(1), None, call.place),
        "Test" => test(machine, 0, 1, call),
        "Testall" => test(machine, 1, 2, call),
        "Waitany" => wait_any(machine, call),
        "Request_free" => change(machine, |request| Action::Free { request }, call),
        "Cancel" => change(machine, |request| Action::Cancel { request }, call),
        _ => return None,
    };
    Some(outcome)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Blocking,
    Immediate,
    Planned,
}

fn understood(machine: &mut Machine<'_>, memory: &Memory, place: Place) {
    let how = match memory.gap(true) {
        None => Understood::Fully,
        Some(gap) => Understood::Partly(gap.to_owned()),
    };
    machine.understood(place, how);
}

/// A place in the call's arguments that a request is written to.
fn put_request(machine: &mut Machine<'_>, target: Option<&Value>, request: Value, place: Place) {
    if let Some(target) = target {
        put(machine, target, request, place);
    }
}

/// `(buffer, count, datatype, destination, tag, communicator[, request])`
fn send(machine: &mut Machine<'_>, mode: Mode, how: How, call: &Call<'_>) -> Outcome<()> {
    let arguments = &call.arguments;
    let communicator = known(machine, arguments.get(5), call)?;
    let to = end(machine, communicator, arguments.get(3), false, call.place)?;
    let tag = tag(machine, arguments.get(4), call.place)?;
    let memory = memory(machine, arguments.first(), arguments.get(1), arguments.get(2), call.place);
    understood(machine, &memory, call.place);
    let data = memory.data(machine);
    let envelope = Envelope { peer: to.peer, tag, communicator: to.communicator.id, data };
    let request = match how {
        How::Blocking => return machine.emit(Action::Send { mode, envelope }, call.place),
        How::Immediate => {
            point_to_point::start_send(machine, mode, envelope, memory.path, call.place)?
        }
        How::Planned => {
            let request = machine.new_request();
            machine.emit(Action::PlanSend { mode, envelope, request }, call.place)?;
            Value::Handle(Handle::Request(Box::new(planned(request, &memory, call.place))))
        }
    };
    put_request(machine, arguments.get(6), request, call.place);
    Ok(())
}

fn planned(id: RequestId, memory: &Memory, place: Place) -> Request {
    Request { persistent: true, ..Request::started(id, place, memory.path.clone()) }
}

/// A request that receives where a pointer leads. Nothing keeps its buffer from being moved while the
/// pointer still leads to it: what is in there is not known from now on.
fn behind_pointer(machine: &mut Machine<'_>, request: Request) -> Value {
    arrive(machine, &request);
    Value::Handle(Handle::Request(Box::new(request)))
}

/// `(buffer, count, datatype, source, tag, communicator, status or request)`
fn receive(machine: &mut Machine<'_>, how: How, call: &Call<'_>) -> Outcome<()> {
    let arguments = &call.arguments;
    let communicator = known(machine, arguments.get(5), call)?;
    let from = end(machine, communicator, arguments.get(3), true, call.place)?;
    let tag = accepted_tag(machine, arguments.get(4), from.peer, call.place)?;
    let memory = memory(machine, arguments.first(), arguments.get(1), arguments.get(2), call.place);
    understood(machine, &memory, call.place);
    let data = memory.data(machine);
    let envelope = Envelope { peer: from.peer, tag, communicator: from.communicator.id, data };
    let status = status::of(machine, &from, tag);
    let result = match how {
        How::Blocking => {
            machine.emit(Action::Receive { envelope, binds: status.slot }, call.place)?;
            if let Some(arrived) = memory.arriving(machine) {
                machine.put(&arrived.0, arrived.1.clone());
            }
            Value::Handle(Handle::Status(status))
        }
        How::Immediate => {
            let request =
                point_to_point::start_receive(machine, envelope, &memory, status, call.place)?;
            behind_pointer(machine, request)
        }
        How::Planned => {
            let request = machine.new_request();
            machine.emit(Action::PlanReceive { envelope, request }, call.place)?;
            let arrives = memory.arriving(machine);
            behind_pointer(machine, Request { arrives, ..planned(request, &memory, call.place) })
        }
    };
    put_request(machine, arguments.get(6), result, call.place);
    Ok(())
}

/// `(buffer, count, datatype, destination, tag, buffer, count, datatype, source, tag, communicator,
/// status)`
fn send_receive(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome<()> {
    let arguments = &call.arguments;
    let communicator = known(machine, arguments.get(10), call)?;
    let to = end(machine, communicator.clone(), arguments.get(3), false, call.place)?;
    let from = end(machine, communicator, arguments.get(8), true, call.place)?;
    let send_tag = tag(machine, arguments.get(4), call.place)?;
    let receive_tag = accepted_tag(machine, arguments.get(9), from.peer, call.place)?;
    let sent = memory(machine, arguments.first(), arguments.get(1), arguments.get(2), call.place);
    let taken = memory(machine, arguments.get(5), arguments.get(6), arguments.get(7), call.place);
    understood(machine, if sent.gap(true).is_some() { &sent } else { &taken }, call.place);
    let id = to.communicator.id;
    let data = sent.data(machine);
    let send = Envelope { peer: to.peer, tag: send_tag, communicator: id, data };
    let data = taken.data(machine);
    let receive = Envelope { peer: from.peer, tag: receive_tag, communicator: id, data };
    let both = Action::SendReceive { send: Box::new(send), receive: Box::new(receive) };
    machine.emit(both, call.place)?;
    if let Some(arrived) = taken.arriving(machine) {
        machine.put(&arrived.0, arrived.1.clone());
    }
    let status = Value::Handle(Handle::Status(status::without_slot(&from, receive_tag)));
    put_request(machine, arguments.get(11), status, call.place);
    Ok(())
}

/// `(source, tag, communicator[, flag], status)`
fn probe(machine: &mut Machine<'_>, call: &Call<'_>, at: usize, asks: bool) -> Outcome<Status> {
    let arguments = &call.arguments;
    let communicator = known(machine, arguments.get(at + 2), call)?;
    let from = end(machine, communicator, arguments.get(at), true, call.place)?;
    let tag = accepted_tag(machine, arguments.get(at + 1), from.peer, call.place)?;
    if asks && machine.polling(call.place) != Polling::Waits {
        let why = "whether a message is there by then is not known";
        return Err(lost(machine, call.place, why));
    }
    machine.understood(call.place, Understood::Fully);
    let status = status::of_probe(machine, &from, tag);
    let data = Memory { count: None, ..Memory::default() }.data(machine);
    let envelope = Envelope { peer: from.peer, tag, communicator: from.communicator.id, data };
    machine.emit(Action::Probe { envelope, binds: status.slot }, call.place)?;
    if asks {
        put_request(machine, arguments.get(at + 3), flag(true), call.place);
    }
    let found = Value::Handle(Handle::Status(status.clone()));
    put_request(machine, arguments.get(at + 3 + usize::from(asks)), found, call.place);
    Ok(status)
}

fn flag(is_set: bool) -> Value {
    Value::integer(i128::from(is_set), Scalar::I32)
}

/// The requests behind a pointer, each with where it is. `None`: not known which they are.
fn requests(machine: &mut Machine<'_>, pointer: &Value) -> Option<Vec<(Path, Request)>> {
    let Value::Reference(path) = pointer else { return None };
    match machine.peek(path) {
        Value::Handle(Handle::Request(request)) => Some(vec![(path.clone(), *request)]),
        Value::Handle(Handle::Other(_)) => Some(Vec::new()),
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => {
            let mut found = Vec::new();
            for (item, number) in items.iter().zip(0_u64..) {
                match item {
                    Value::Handle(Handle::Request(request)) => {
                        found.push((path.child(Step::Element(number)), Request::clone(request)));
                    }
                    Value::Handle(Handle::Other(_)) => {}
                    _ => return None,
                }
            }
            Some(found)
        }
        _ => None,
    }
}

fn known_requests(
    machine: &mut Machine<'_>,
    pointer: Option<&Value>,
    place: Place,
) -> Outcome<Vec<(Path, Request)>> {
    match pointer.and_then(|pointer| requests(machine, pointer)) {
        Some(requests) => Ok(requests),
        None => Err(lost(machine, place, "which requests it has is not known here")),
    }
}

fn start(machine: &mut Machine<'_>, pointer: Option<&Value>, place: Place) -> Outcome<()> {
    let requests = known_requests(machine, pointer, place)?;
    machine.understood(place, Understood::Fully);
    let ids = requests.iter().filter_map(|(_, request)| request.id).collect();
    machine.emit(Action::Start { requests: ids }, place)?;
    for (_, request) in requests.iter().filter(|(_, request)| request.persistent) {
        if let (Some(id), Some(path)) = (request.id, &request.buffer) {
            machine.begin_use(id, path, request.arrives.is_some());
        }
    }
    Ok(())
}

/// A persistent request stays one when it is complete; any other is gone.
fn wait(
    machine: &mut Machine<'_>,
    pointer: Option<&Value>,
    status: Option<&Value>,
    place: Place,
) -> Outcome<()> {
    let requests = known_requests(machine, pointer, place)?;
    machine.understood(place, Understood::Fully);
    match requests.as_slice() {
        [(_, one)] => complete(machine, one, place)?,
        several => {
            let all: Vec<Request> = several.iter().map(|(_, request)| request.clone()).collect();
            wait_for(machine, &all, place)?;
        }
    }
    if let [(_, one)] = requests.as_slice() {
        let told = Value::Handle(Handle::Status(one.status.clone()));
        put_request(machine, status, told, place);
    }
    for (path, _) in requests.into_iter().filter(|(_, request)| !request.persistent) {
        machine.put(&path, Value::Handle(Handle::Other("MPI_Request")));
    }
    Ok(())
}

fn test(machine: &mut Machine<'_>, at: usize, answer: usize, call: &Call<'_>) -> Outcome<()> {
    match machine.polling(call.place) {
        Polling::Waits => {
            wait(machine, call.arguments.get(at), None, call.place)?;
            put_request(machine, call.arguments.get(answer), flag(true), call.place);
            Ok(())
        }
        Polling::Once => {
            let why = "whether the operation is complete by then is not known";
            machine.understood(call.place, Understood::Partly(why.to_owned()));
            put_request(machine, call.arguments.get(answer), flag(false), call.place);
            Ok(())
        }
        Polling::Works => {
            let why = "whether the operation is complete by then is not known";
            Err(lost(machine, call.place, why))
        }
    }
}

/// `(count, requests, index, status)`; only where the loop around it takes all of them.
fn wait_any(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome<()> {
    let requests = known_requests(machine, call.arguments.get(1), call.place)?;
    if requests.len() > 1 {
        let why = "which of the requests is complete first is not known";
        return Err(lost(machine, call.place, why));
    }
    wait(machine, call.arguments.get(1), call.arguments.get(3), call.place)?;
    put_request(machine, call.arguments.get(2), flag(false), call.place);
    Ok(())
}

fn change(
    machine: &mut Machine<'_>,
    action: impl Fn(RequestId) -> Action,
    call: &Call<'_>,
) -> Outcome<()> {
    let requests = known_requests(machine, call.arguments.first(), call.place)?;
    machine.understood(call.place, Understood::Fully);
    for (path, request) in requests {
        let Some(id) = request.id else { continue };
        let action = action(id);
        let is_freed = matches!(action, Action::Free { .. });
        machine.emit(action, call.place)?;
        if is_freed {
            finish(machine, &Request { persistent: false, ..request });
            machine.put(&path, Value::Handle(Handle::Other("MPI_Request")));
        }
    }
    Ok(())
}
