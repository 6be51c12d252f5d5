//! Messages between two ranks: sends in four modes, receives, probes, and both at once; blocking and
//! immediate.

use std::rc::Rc;

use p2p_protocol::model::{Action, Data, Envelope, Mode, Peer, Tag};

use super::memory::Memory;
use super::polling::Polling;
use super::process::{self, End};
use super::state::{content, integer};
use super::{lost, skipped, status, tags};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Handle, KnownCommunicator, Message, Process, Request, Status};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Content, Path, Value};
use crate::program::{Place, Type};

/// A name without what says that it is immediate, and without what says that it has a tag.
fn bare(name: &str) -> &str {
    let name = name.strip_prefix("immediate_").unwrap_or(name);
    name.strip_suffix("_with_tag").unwrap_or(name)
}

fn is_immediate(name: &str) -> bool {
    name.starts_with("immediate_")
}

fn mode(name: &str) -> Option<Mode> {
    Some(match bare(name) {
        "send" => Mode::Standard,
        "synchronous_send" => Mode::Synchronous,
        "buffered_send" => Mode::Buffered,
        "ready_send" => Mode::Ready,
        _ => return None,
    })
}

/// Whether a method of this name sends.
pub(super) fn is_send(name: &str) -> bool {
    mode(name).is_some()
}

/// Whether a method of this name receives.
pub(super) fn is_receive(name: &str) -> bool {
    matches!(bare(name), "receive" | "receive_into" | "receive_vec")
}

/// Whether a method of this name looks for a message.
pub(super) fn is_probe(name: &str) -> bool {
    matches!(bare(name), "probe" | "matched_probe")
}

/// The tag that a call names, if it names one.
fn named_tag<'c>(call: &'c Call<'_>) -> Option<&'c Value> {
    call.arguments.last().filter(|_| call.name.ends_with("_with_tag"))
}

/// The tag that a receive or a probe accepts.
fn asked_tag(machine: &mut Machine<'_>, call: &Call<'_>, from: Peer) -> Outcome<Tag> {
    named_tag(call).map_or(Ok(Tag::Any), |tag| accepted_tag(machine, tag, from, call.place))
}

/// The tag that a receive accepts: -1 is `MPI_ANY_TAG` to Open MPI and to MPICH.
fn accepted_tag(machine: &mut Machine<'_>, value: &Value, from: Peer, at: Place) -> Outcome<Tag> {
    match accepted_exact_tag(machine, value, from, at)? {
        Tag::Exact(-1) => Ok(Tag::Any),
        tag => Ok(tag),
    }
}

/// The tag that a receive accepts, where no number stands for all.
pub(super) fn accepted_exact_tag(
    machine: &mut Machine<'_>,
    value: &Value,
    from: Peer,
    place: Place,
) -> Outcome<Tag> {
    let content = content(&machine.behind(value, place));
    if content.is_some_and(|content| machine.state.mpi.take_probed(&content, from)) {
        return Ok(Tag::Any);
    }
    tag_of(machine, value, place)
}

/// The tag that a value is. One that every rank has, though nobody knows it, is a number of its own.
pub(super) fn tag_of(machine: &mut Machine<'_>, value: &Value, place: Place) -> Outcome<Tag> {
    match content(&machine.behind(value, place)) {
        Some(Content::Unknown(unknown)) if unknown.uniform => {
            let span = (*Tag::UNKNOWN.end()).abs_diff(*Tag::UNKNOWN.start());
            let offset = u32::try_from(unknown.identity % u64::from(span)).expect("below a u32");
            Ok(Tag::Exact(Tag::UNKNOWN.start().wrapping_add_unsigned(offset)))
        }
        Some(known) if integer(&known).is_some() => {
            let number = integer(&known).expect("asked in the guard");
            Ok(Tag::Exact(i32::try_from(number).unwrap_or(i32::MAX)))
        }
        _ => Err(lost(machine, place, "its tag comes from data that this rank has when it runs")),
    }
}

/// Says how much of a call was understood.
fn understood(machine: &mut Machine<'_>, place: Place, gap: Option<&'static str>) {
    let how = match gap {
        None => Understood::Fully,
        Some(gap) => Understood::Partly(gap.to_owned()),
    };
    machine.understood(place, how);
}

/// Any `send`.
pub(super) fn send(machine: &mut Machine<'_>, process: &Process, call: &Call<'_>) -> Outcome {
    let mode = mode(call.name).expect("only called for sends");
    let Some(end) = process::end(machine, process, "sends to", call)? else {
        return skipped(machine, call);
    };
    let Some(tag) = named_tag(call) else {
        return send_tagged(machine, mode, &end, Tag::Exact(0), call);
    };
    if let Some(Content::Unknown(unknown)) = content(&machine.behind(tag, call.place))
        && let Some(slot) = machine.state.mpi.tag_slot(unknown.identity)
    {
        let communicator = end.communicator.id;
        let send = |machine: &mut Machine<'_>, tag| send_tagged(machine, mode, &end, tag, call);
        return tags::with_the_one_that_came(
            machine,
            (slot, unknown),
            communicator,
            call.place,
            send,
        );
    }
    let tag = tag_of(machine, tag, call.place)?;
    send_tagged(machine, mode, &end, tag, call)
}

fn send_tagged(
    machine: &mut Machine<'_>,
    mode: Mode,
    end: &End,
    tag: Tag,
    call: &Call<'_>,
) -> Outcome {
    let buffer = call.arguments.get(usize::from(is_immediate(call.name)));
    let memory = match buffer {
        Some(buffer) => Memory::of(machine, buffer, call.place),
        None => Memory::default(),
    };
    understood(machine, call.place, memory.gap(true));
    let data = memory.data(machine);
    let envelope = Envelope { peer: end.peer, tag, communicator: end.communicator.id, data };
    if is_immediate(call.name) {
        return start_send(machine, mode, envelope, memory.path, call.place);
    }
    machine.emit(Action::Send { mode, envelope }, call.place)?;
    Ok(Value::unit())
}

/// Starts a send and gives its request.
pub(super) fn start_send(
    machine: &mut Machine<'_>,
    mode: Mode,
    envelope: Envelope,
    buffer: Option<Path>,
    place: Place,
) -> Outcome {
    let id = machine.new_request();
    machine.emit(Action::StartSend { mode, envelope, request: id }, place)?;
    if let Some(path) = &buffer {
        machine.begin_use(id, path, false);
    }
    let request = Request::started(id, place, buffer);
    Ok(Value::Handle(Handle::Request(Box::new(request))))
}

/// Any `receive`.
pub(super) fn receive(machine: &mut Machine<'_>, process: &Process, call: &Call<'_>) -> Outcome {
    let Some(end) = process::end(machine, process, "receives from", call)? else {
        return skipped(machine, call);
    };
    let tag = asked_tag(machine, call, end.peer)?;
    let ty = received_type(call);
    let memory = received_memory(machine, call, &ty);
    understood(machine, call.place, memory.gap(bare(call.name) != "receive_vec"));
    let data = memory.data(machine);
    let envelope = Envelope { peer: end.peer, tag, communicator: end.communicator.id, data };
    let status = status::of(machine, &end, tag);
    if is_immediate(call.name) {
        let request = start_receive(machine, envelope, &memory, status, call.place)?;
        return Ok(Value::Handle(match bare(call.name) {
            "receive" => Handle::Future(Box::new(request), ty),
            _ => Handle::Request(Box::new(request)),
        }));
    }
    machine.emit(Action::Receive { envelope, binds: status.slot }, call.place)?;
    Ok(received(machine, &memory, status, bare(call.name), ty))
}

/// The type of the elements that `receive` and `receive_vec` make.
fn received_type(call: &Call<'_>) -> Type {
    if let Some(written) = call.generics.first().filter(|ty| **ty != Type::Unknown) {
        return written.clone();
    }
    match &*call.ty {
        Type::Tuple(parts) => match (parts.first(), bare(call.name).ends_with("_vec")) {
            (Some(Type::External(name, element)), true) if name == "Vec" => {
                element.first().cloned().unwrap_or_default()
            }
            (Some(one), false) => one.clone(),
            _ => Type::Unknown,
        },
        Type::External(name, element) if name == "ReceiveFuture" => {
            element.first().cloned().unwrap_or_default()
        }
        _ => Type::Unknown,
    }
}

/// The memory that a receive puts its message in.
fn received_memory(machine: &mut Machine<'_>, call: &Call<'_>, ty: &Type) -> Memory {
    match (bare(call.name), is_immediate(call.name)) {
        ("receive_into", is_immediate) => match call.arguments.get(usize::from(is_immediate)) {
            Some(buffer) => Memory::of(machine, buffer, call.place),
            None => Memory::default(),
        },
        ("receive_vec" | "matched_receive_vec", _) => Memory::any_number(machine, ty, call.place),
        ("matched_receive_into", is_immediate) => {
            match call.arguments.get(usize::from(is_immediate)) {
                Some(buffer) => Memory::of(machine, buffer, call.place),
                None => Memory::default(),
            }
        }
        _ => Memory::one(machine, ty, call.place),
    }
}

/// What a blocking receive gives, and what is in its buffer afterwards.
fn received(
    machine: &mut Machine<'_>,
    memory: &Memory,
    status: Status,
    name: &str,
    ty: Type,
) -> Value {
    if let Some(arrived) = memory.arriving(machine) {
        machine.put(&arrived.0, arrived.1.clone());
    }
    let status = Value::Handle(Handle::Status(status));
    let message = match name {
        "receive_into" | "matched_receive_into" => return status,
        "receive_vec" | "matched_receive_vec" => {
            machine.fresh(Type::External("Vec".to_owned(), vec![ty]))
        }
        _ => machine.fresh(ty),
    };
    Value::Tuple(Rc::new(vec![message, status]))
}

/// Starts a receive and gives its request.
pub(super) fn start_receive(
    machine: &mut Machine<'_>,
    envelope: Envelope,
    memory: &Memory,
    status: Status,
    place: Place,
) -> Outcome<Request> {
    let id = machine.new_request();
    let binds = status.slot;
    machine.emit(Action::StartReceive { envelope, request: id, binds }, place)?;
    if let Some(path) = &memory.path {
        machine.begin_use(id, path, true);
    }
    let arrives = memory.arriving(machine);
    Ok(Request { arrives, status, ..Request::started(id, place, memory.path.clone()) })
}

/// Any `probe`. One that only asks is a wait where the loop around it does nothing else.
pub(super) fn probe(machine: &mut Machine<'_>, process: &Process, call: &Call<'_>) -> Outcome {
    let Some(end) = process::end(machine, process, "looks for messages of", call)? else {
        return skipped(machine, call);
    };
    let tag = asked_tag(machine, call, end.peer)?;
    let asks = is_immediate(call.name);
    if asks {
        match machine.polling(call.place) {
            Polling::Waits => {}
            Polling::Once => {
                let why = "whether a message is there by then is not known";
                machine.understood(call.place, Understood::Partly(why.to_owned()));
                return Ok(machine.fresh(call.result()));
            }
            Polling::Works => {
                let why = "whether a message is there by then is not known";
                return Err(lost(machine, call.place, why));
            }
        }
    }
    machine.understood(call.place, Understood::Fully);
    let status = status::of_probe(machine, &end, tag);
    let envelope =
        Envelope { peer: end.peer, tag, communicator: end.communicator.id, data: NOTHING };
    machine.emit(Action::Probe { envelope, binds: status.slot }, call.place)?;
    let found = Value::Handle(Handle::Status(status.clone()));
    let answer = match bare(call.name) {
        "probe" => found,
        _ => Value::Tuple(Rc::new(vec![message(machine, &end, tag, status, call.place)?, found])),
    };
    Ok(if asks { Value::some(answer) } else { answer })
}

/// No data of its own.
const NOTHING: Data =
    Data { datatype: None, count: None, message: None, label: None, buffer: None };

/// The message that a matched probe takes out of the queue: the first one that its source has sent
/// and that the probe accepts, as long as it is received before the next one is probed.
pub(super) fn message(
    machine: &mut Machine<'_>,
    end: &End,
    tag: Tag,
    status: Status,
    place: Place,
) -> Outcome {
    if machine.state.mpi.outstanding_messages > 0 {
        let why = "another message that was probed has not been received yet";
        return Err(lost(machine, place, why));
    }
    machine.state.mpi.outstanding_messages += 1;
    let peer = status.slot.filter(|_| matches!(end.peer, Peer::Any { .. }));
    Ok(Value::Handle(Handle::Message(Box::new(Message {
        communicator: end.handle.clone(),
        peer: peer.map_or(end.peer, Peer::Source),
        tag,
        status,
        place,
    }))))
}

/// Methods of `Message` and of what a matched probe gives.
pub(super) fn matched(
    machine: &mut Machine<'_>,
    receiver: &Value,
    message: &Message,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "is_no_proc" => return Some(Ok(Value::bool(false))),
        "matched_receive"
        | "matched_receive_into"
        | "matched_receive_vec"
        | "immediate_matched_receive_into" => {}
        _ => return None,
    }
    if let Value::Reference(path) = receiver {
        machine.put(path, Value::Moved);
    }
    machine.state.mpi.outstanding_messages =
        machine.state.mpi.outstanding_messages.saturating_sub(1);
    Some(receive_matched(machine, message, call))
}

fn receive_matched(machine: &mut Machine<'_>, message: &Message, call: &Call<'_>) -> Outcome {
    let Some(known) = &message.communicator.known else { return skipped(machine, call) };
    let ty = received_type(call);
    let memory = received_memory(machine, call, &ty);
    understood(machine, call.place, memory.gap(call.name != "matched_receive_vec"));
    let data = memory.data(machine);
    let envelope = Envelope { peer: message.peer, tag: message.tag, communicator: known.id, data };
    let status = message.status.clone();
    if is_immediate(call.name) {
        let request = start_receive(machine, envelope, &memory, status, call.place)?;
        return Ok(Value::Handle(Handle::Request(Box::new(request))));
    }
    // The probe has bound the slot already; what is received is the same message.
    machine.emit(Action::Receive { envelope, binds: None }, call.place)?;
    Ok(received(machine, &memory, status, call.name, ty))
}

/// The parts of a call of the `send_receive` family.
struct Exchange<'c> {
    destination: &'c Value,
    source: &'c Value,
    send_tag: Option<&'c Value>,
    receive_tag: Option<&'c Value>,
    receives_into: Option<&'c Value>,
}

fn exchange<'c>(call: &'c Call<'_>) -> Option<Exchange<'c>> {
    let into = |destination, send_tag, receives_into, source, receive_tag| Exchange {
        destination,
        source,
        send_tag,
        receive_tag,
        receives_into,
    };
    let plain = call.name.strip_suffix("_with_tags");
    Some(match (plain.unwrap_or(call.name), plain.is_some(), call.arguments.as_slice()) {
        ("send_receive" | "send_receive_replace_into", false, [_, to, from]) => {
            into(to, None, None, from, None)
        }
        ("send_receive" | "send_receive_replace_into", true, [_, to, sent, from, taken]) => {
            into(to, Some(sent), None, from, Some(taken))
        }
        ("send_receive_into", false, [_, to, buffer, from]) => {
            into(to, None, Some(buffer), from, None)
        }
        ("send_receive_into", true, [_, to, sent, buffer, from, taken]) => {
            into(to, Some(sent), Some(buffer), from, Some(taken))
        }
        _ => return None,
    })
}

/// `mpi::point_to_point::send_receive` and kin.
pub(super) fn send_receive(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    let parts = exchange(call)?;
    let to = machine.behind(parts.destination, call.place);
    let from = machine.behind(parts.source, call.place);
    let (Value::Handle(Handle::Process(to)), Value::Handle(Handle::Process(from))) = (to, from)
    else {
        let why = "the ranks that it sends to and receives from are not known here";
        return Some(Err(lost(machine, call.place, why)));
    };
    Some(both(machine, &parts, &to, &from, call))
}

fn both(
    machine: &mut Machine<'_>,
    parts: &Exchange<'_>,
    to: &Process,
    from: &Process,
    call: &Call<'_>,
) -> Outcome {
    let Some(to) = process::end(machine, to, "sends to", call)? else {
        return skipped(machine, call);
    };
    let Some(from) = process::end(machine, from, "receives from", call)? else {
        return skipped(machine, call);
    };
    let send_tag = match parts.send_tag {
        Some(tag) => tag_of(machine, tag, call.place)?,
        None => Tag::Exact(0),
    };
    let receive_tag = match parts.receive_tag {
        Some(tag) => accepted_tag(machine, tag, from.peer, call.place)?,
        None => Tag::Any,
    };
    let sent = Memory::of(machine, &call.arguments[0], call.place);
    let replaces = call.name.starts_with("send_receive_replace");
    let ty = received_type(call);
    let taken = match parts.receives_into {
        Some(buffer) => Memory::of(machine, buffer, call.place),
        None if replaces => sent.clone(),
        None => Memory::one(machine, &ty, call.place),
    };
    understood(machine, call.place, sent.gap(true).or(taken.gap(true)));
    let send = Envelope {
        peer: to.peer,
        tag: send_tag,
        communicator: to.communicator.id,
        data: data_without_buffer(sent.data(machine), replaces),
    };
    let receive = Envelope {
        peer: from.peer,
        tag: receive_tag,
        communicator: from.communicator.id,
        data: data_without_buffer(taken.data(machine), replaces),
    };
    let (send, receive) = (Box::new(send), Box::new(receive));
    machine.emit(Action::SendReceive { send, receive }, call.place)?;
    let status = status::without_slot(&from, receive_tag);
    let name = match parts.receives_into.is_some() || replaces {
        true => "receive_into",
        false => "receive",
    };
    Ok(received(machine, &taken, status, name, ty))
}

/// `MPI_Sendrecv_replace` may use one buffer for both.
fn data_without_buffer(data: Data, replaces: bool) -> Data {
    match replaces {
        true => Data { buffer: None, ..data },
        false => data,
    }
}

/// A step that does no more than name a rank that does not exist.
pub(super) fn naming(known: &KnownCommunicator, rank: i32) -> Action {
    let envelope = Envelope {
        peer: Peer::Outside(rank),
        tag: Tag::Any,
        communicator: known.id,
        data: NOTHING,
    };
    Action::Probe { envelope, binds: None }
}
