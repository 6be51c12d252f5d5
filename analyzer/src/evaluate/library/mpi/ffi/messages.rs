//! MPI's functions for messages between two ranks.

use std::rc::Rc;

use p2p_protocol::model::{
    Action, Argument, Data, Departure, Envelope, HandleKind, HandleState, Mode, Peer, Tag,
};

use super::super::carried;
use super::super::point_to_point;
use super::super::polling::Polling;
use super::super::process::{End, unknown_rank};
use super::super::request::arrive;
use super::super::{state, status};
use super::buffer::{self, Region, region};
use super::constants::{ANY_SOURCE, ANY_TAG, NO_PROCESS, PROC_NULL};
use super::invocation::Invocation;
use super::{communicator, lengths, requests};
use crate::evaluate::Understood;
use crate::evaluate::alike::Number;
use crate::evaluate::handle::{Handle, KnownCommunicator, Message, Request, Status};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::state::Counted;
use crate::evaluate::value::Value;
use crate::program::Scalar;

/// How a call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Blocking,
    Immediate,
    Planned,
}

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    use How::{Blocking, Immediate, Planned};
    use Mode::{Buffered, Ready, Standard, Synchronous};
    let outcome = match asked.name {
        "Send" => send(machine, asked, Standard, Blocking),
        "Ssend" => send(machine, asked, Synchronous, Blocking),
        "Bsend" => send(machine, asked, Buffered, Blocking),
        "Rsend" => send(machine, asked, Ready, Blocking),
        "Isend" => send(machine, asked, Standard, Immediate),
        "Issend" => send(machine, asked, Synchronous, Immediate),
        "Ibsend" => send(machine, asked, Buffered, Immediate),
        "Irsend" => send(machine, asked, Ready, Immediate),
        "Send_init" => send(machine, asked, Standard, Planned),
        "Ssend_init" => send(machine, asked, Synchronous, Planned),
        "Bsend_init" => send(machine, asked, Buffered, Planned),
        "Rsend_init" => send(machine, asked, Ready, Planned),
        "Recv" => receive(machine, asked, Blocking),
        "Irecv" => receive(machine, asked, Immediate),
        "Recv_init" => receive(machine, asked, Planned),
        "Sendrecv" => send_receive(machine, asked),
        "Sendrecv_replace" => replace(machine, asked),
        "Probe" => probe(machine, asked, false, false),
        "Iprobe" => probe(machine, asked, true, false),
        "Mprobe" => probe(machine, asked, false, true),
        "Improbe" => probe(machine, asked, true, true),
        "Mrecv" => receive_matched(machine, asked, Blocking),
        "Imrecv" => receive_matched(machine, asked, Immediate),
        _ => return None,
    };
    Some(outcome)
}

/// `(buffer, count, datatype, destination, tag, communicator[, request])`
fn send(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    mode: Mode,
    how: How,
) -> Outcome<()> {
    let communicator = communicator::known(machine, asked, 5)?;
    let to = end(machine, asked, communicator, 3, false)?;
    let tag = sent_tag(machine, asked, 4)?;
    let region = region(machine, asked, [0, 1, 2], 1)?;
    region.touch_pieces(machine, false, asked.place());
    buffer::understood(machine, &[&region], asked.place());
    let data = region.data(machine);
    let envelope = Envelope { peer: to.peer, tag, communicator: to.communicator.id, data };
    match how {
        How::Planned => carried::loses_count(machine),
        _ => carried::sends(machine, &envelope, Some(&region.memory)),
    }
    if how == How::Blocking {
        machine.emit(Action::Send { mode, envelope }, asked.place())?;
        return ends_at(machine, asked, &[to.peer]);
    }
    requests::overwrite(machine, asked, 6)?;
    let id = machine.new_request();
    let action = match how {
        How::Planned => Action::PlanSend { mode, envelope, request: id },
        _ => Action::StartSend { mode, envelope, request: id },
    };
    machine.emit(action, asked.place())?;
    ends_at(machine, asked, &[to.peer])?;
    let request = requests::started(asked, id, &region);
    requests::keep(machine, asked, 6, request, &[(&region, false)], how == How::Planned);
    Ok(())
}

/// `(buffer, count, datatype, source, tag, communicator, status or request)`
fn receive(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, how: How) -> Outcome<()> {
    let communicator = communicator::known(machine, asked, 5)?;
    let from = end(machine, asked, communicator, 3, true)?;
    let tag = accepted_tag(machine, asked, 4, from.peer)?;
    let region = region(machine, asked, [0, 1, 2], 1)?;
    region.touch_pieces(machine, true, asked.place());
    buffer::understood(machine, &[&region], asked.place());
    let data = region.data(machine);
    let envelope = Envelope { peer: from.peer, tag, communicator: from.communicator.id, data };
    let told = told(machine, &from, tag);
    if how == How::Blocking {
        machine.emit(Action::Receive { envelope, binds: told.slot }, asked.place())?;
        ends_at(machine, asked, &[from.peer])?;
        lengths::measured(machine, asked, from.peer, &told)?;
        let numbers = carried::receives(machine, &envelope);
        if from.peer != Peer::Null {
            region.arrive(machine, asked.argument(0));
        }
        carried::arrive(machine, &region.memory, numbers);
        lengths::note_brought(machine, &region, from.peer, &told);
        asked.put(machine, 6, Value::Handle(Handle::Status(told)));
        return Ok(());
    }
    start_receive(machine, asked, envelope, (&region, told), how)
}

/// Starts or plans a receive, whose request is the last argument.
fn start_receive(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    envelope: Envelope,
    (region, told): (&Region, Status),
    how: How,
) -> Outcome<()> {
    let at = asked.function.arguments.len() - 1;
    requests::overwrite(machine, asked, at)?;
    let id = machine.new_request();
    let action = match how {
        How::Planned => Action::PlanReceive { envelope, request: id },
        _ => Action::StartReceive { envelope, request: id, binds: told.slot },
    };
    machine.emit(action, asked.place())?;
    ends_at(machine, asked, &[envelope.peer])?;
    let arrives = match envelope.peer {
        Peer::Null => None,
        _ => region.memory.arriving(machine),
    };
    if arrives.is_none() && envelope.peer != Peer::Null {
        region.arrive(machine, asked.argument(0));
    }
    let numbers = match how {
        How::Planned => {
            carried::loses_count(machine);
            None
        }
        _ => carried::receives(machine, &envelope),
    };
    let arrives = match (&arrives, numbers) {
        (Some(unknown), Some(numbers)) => {
            carried::arriving(machine, unknown, &numbers).map(Rc::new).or(arrives)
        }
        _ => arrives,
    };
    let status = if how == How::Planned { Status::NOTHING_TOLD } else { told };
    let request = Request { arrives, status, ..requests::started(asked, id, region) };
    // What owns the buffer may be moved, and what is in there is not known from now on.
    arrive(machine, &request);
    requests::keep(machine, asked, at, request, &[(region, true)], how == How::Planned);
    Ok(())
}

/// `(buffer, count, datatype, destination, tag, buffer, count, datatype, source, tag, communicator,
/// status)`
fn send_receive(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = communicator::known(machine, asked, 10)?;
    let to = end(machine, asked, communicator.clone(), 3, false)?;
    let from = end(machine, asked, communicator, 8, true)?;
    let tags = (sent_tag(machine, asked, 4)?, accepted_tag(machine, asked, 9, from.peer)?);
    let sent = region(machine, asked, [0, 1, 2], 1)?;
    let taken = region(machine, asked, [5, 6, 7], 1)?;
    let data = (sent.data(machine), taken.data(machine));
    sent.touch_pieces(machine, false, asked.place());
    taken.touch_pieces(machine, true, asked.place());
    buffer::understood(machine, &[&sent, &taken], asked.place());
    let numbers = both(machine, asked, (&to, &from), tags, data, &sent)?;
    if from.peer != Peer::Null {
        taken.arrive(machine, asked.argument(5));
    }
    carried::arrive(machine, &taken.memory, numbers);
    let told = known_status(&from, tags.1);
    asked.put(machine, 11, Value::Handle(Handle::Status(told)));
    Ok(())
}

/// `(buffer, count, datatype, destination, tag, source, tag, communicator, status)`
fn replace(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = communicator::known(machine, asked, 7)?;
    let to = end(machine, asked, communicator.clone(), 3, false)?;
    let from = end(machine, asked, communicator, 5, true)?;
    let tags = (sent_tag(machine, asked, 4)?, accepted_tag(machine, asked, 6, from.peer)?);
    let region = region(machine, asked, [0, 1, 2], 1)?;
    region.touch(machine, true, asked.place());
    buffer::understood(machine, &[&region], asked.place());
    // One buffer is meant for both.
    let data = Data { buffer: None, ..region.data(machine) };
    let numbers = both(machine, asked, (&to, &from), tags, (data, data), &region)?;
    if from.peer != Peer::Null {
        region.arrive(machine, asked.argument(0));
    }
    carried::arrive(machine, &region.memory, numbers);
    let told = known_status(&from, tags.1);
    asked.put(machine, 8, Value::Handle(Handle::Status(told)));
    Ok(())
}

/// A send and a receive at once; what arrives, where it is known.
fn both(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (to, from): (&End, &End),
    (sent, taken): (Tag, Tag),
    (sends, takes): (Data, Data),
    region: &Region,
) -> Outcome<Option<Vec<i128>>> {
    let communicator = to.communicator.id;
    let send = Envelope { peer: to.peer, tag: sent, communicator, data: sends };
    let receive = Envelope { peer: from.peer, tag: taken, communicator, data: takes };
    carried::sends(machine, &send, Some(&region.memory));
    let numbers = carried::receives(machine, &receive);
    let both = Action::SendReceive { send: Box::new(send), receive: Box::new(receive) };
    machine.emit(both, asked.place())?;
    ends_at(machine, asked, &[to.peer, from.peer])?;
    Ok(numbers)
}

/// MPI ends the job where a message goes to or comes from a rank that does not exist, unless the program
/// has asked it to go on.
fn ends_at(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, peers: &[Peer]) -> Outcome<()> {
    let is_outside = peers.iter().any(|peer| matches!(peer, Peer::Outside(_)));
    match is_outside && machine.is_c() && !machine.state.mpi.returns_errors {
        true => Err(machine.leave(Departure::Aborted, asked.place())),
        false => Ok(()),
    }
}

/// `(source, tag, communicator[, flag][, message], status)`
fn probe(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    asks: bool,
    takes: bool,
) -> Outcome<()> {
    let communicator = communicator::known(machine, asked, 2)?;
    let from = end(machine, asked, communicator, 0, true)?;
    let tag = accepted_tag(machine, asked, 1, from.peer)?;
    let flag = asks.then_some(3);
    let at = 3 + usize::from(asks);
    let told = if from.peer == Peer::Null {
        known_status(&from, tag)
    } else {
        if asks && !waits(machine, asked, 3)? {
            return Ok(());
        }
        status::of_probe(machine, &from, tag)
    };
    machine.understood(asked.place(), Understood::Fully);
    let data = super::super::memory::Memory::default().data(machine);
    let envelope = Envelope { peer: from.peer, tag, communicator: from.communicator.id, data };
    machine.emit(Action::Probe { envelope, binds: told.slot }, asked.place())?;
    ends_at(machine, asked, &[from.peer])?;
    if let Some(flag) = flag {
        asked.put(machine, flag, truth(true));
    }
    if takes {
        let message = match from.peer {
            Peer::Null => Value::Handle(Handle::Other(NO_PROCESS)),
            _ => point_to_point::message(machine, &from, tag, told.clone(), asked.place())?,
        };
        asked.put(machine, at, message);
    }
    asked.put(machine, at + usize::from(takes), Value::Handle(Handle::Status(told)));
    Ok(())
}

/// So often a call may ask that is in no loop itself.
const PATIENCE: u64 = 500;

/// Whether a call that only asks is waited for by the loop around it. If it is asked once, it is taken
/// not to be so yet.
pub(super) fn waits(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    flag: usize,
) -> Outcome<bool> {
    let why = match asked.name {
        "Iprobe" | "Improbe" => "whether a message is there by then is not known",
        _ => "whether the operation is complete by then is not known",
    };
    match machine.polling(asked.place()) {
        Polling::Waits => Ok(true),
        // Whoever asks so often asks until the answer is yes, by calls that are not seen through.
        Polling::Once
            if machine
                .count(Counted::Questions(asked.place()))
                .is_some_and(|it| it >= PATIENCE) =>
        {
            Err(asked.lost(machine, why))
        }
        Polling::Once => {
            machine.understood(asked.place(), Understood::Partly(why.to_owned()));
            asked.put(machine, flag, truth(false));
            Ok(false)
        }
        Polling::Works => Err(asked.lost(machine, why)),
    }
}

/// `(buffer, count, datatype, message, status or request)`
fn receive_matched(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, how: How) -> Outcome<()> {
    let message = match asked.handle(machine, 3) {
        Some(Handle::Message(message)) => *message,
        Some(Handle::Null(_)) => {
            let (kind, state) = (HandleKind::Message, HandleState::Null);
            return asked.fails(machine, 3, Argument::Handle { kind, state });
        }
        Some(Handle::Other(NO_PROCESS)) => return nothing_matched(machine, asked, how),
        _ => return Err(asked.lost(machine, "the message that it receives is not known here")),
    };
    asked.put(machine, 3, Value::Handle(Handle::Null(HandleKind::Message)));
    let outstanding = machine.state.mpi.outstanding_messages;
    machine.state.mpi.outstanding_messages = outstanding.saturating_sub(1);
    let Message { communicator, peer, tag, status, .. } = message;
    let Some(known) = communicator.known.as_ref() else {
        return Err(asked.lost(machine, "its communicator is not known here"));
    };
    let region = region(machine, asked, [0, 1, 2], 1)?;
    region.touch_pieces(machine, true, asked.place());
    buffer::understood(machine, &[&region], asked.place());
    let data = region.data(machine);
    let envelope = Envelope { peer, tag, communicator: known.id, data };
    if how == How::Immediate {
        return start_receive(machine, asked, envelope, (&region, status), how);
    }
    carried::loses_count(machine);
    // The probe has bound the slot already; what is received is the same message.
    machine.emit(Action::Receive { envelope, binds: None }, asked.place())?;
    region.arrive(machine, asked.argument(0));
    asked.put(machine, 4, Value::Handle(Handle::Status(status)));
    Ok(())
}

/// A receive of the message that `MPI_PROC_NULL` sends.
fn nothing_matched(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, how: How) -> Outcome<()> {
    machine.understood(asked.place(), Understood::Fully);
    asked.put(machine, 3, Value::Handle(Handle::Null(HandleKind::Message)));
    let result = match how {
        How::Immediate => Handle::Null(HandleKind::Request),
        _ => Handle::Status(Status { source: Some(PROC_NULL.into()), ..Status::NOTHING_TOLD }),
    };
    asked.put(machine, 4, Value::Handle(result));
    Ok(())
}

/// A truth value as C has it.
pub(super) fn truth(is_set: bool) -> Value {
    Value::integer(i128::from(is_set), Scalar::I32)
}

/// What a receive tells; of one from nobody all is known.
fn told(machine: &mut Machine<'_>, from: &End, tag: Tag) -> Status {
    match from.peer {
        Peer::Null => known_status(from, tag),
        _ => status::of(machine, from, tag),
    }
}

fn known_status(from: &End, tag: Tag) -> Status {
    match from.peer {
        Peer::Null => Status { source: Some(PROC_NULL.into()), ..Status::NOTHING_TOLD },
        _ => status::without_slot(from, tag),
    }
}

/// The rank at the other end.
fn end(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (handle, known): communicator::Known,
    argument: usize,
    receives: bool,
) -> Outcome<End> {
    let value = asked.argument(argument).map(|value| machine.behind(value, asked.place()));
    let Some(content) = value.as_ref().and_then(state::content) else {
        return Err(asked.lost(machine, "the rank at the other end is not known here"));
    };
    let number = state::number(&content);
    let special = number.filter(|number| number.here() <= ANY_SOURCE).map(Number::get);
    let (peer, rank) = match (special, number) {
        (Some(PROC_NULL), _) => (Peer::Null, None),
        (Some(ANY_SOURCE), _) if receives => (any(machine, &known), None),
        (Some(_), _) if asked.fails_on_purpose(machine) => (Peer::Null, None),
        (Some(_), _) => {
            asked.fails(machine, argument, Argument::Rank(-1))?;
            (Peer::Null, None)
        }
        (None, Some(rank)) => match known.peer(rank) {
            Peer::Outside(_) if asked.fails_on_purpose(machine) => (Peer::Null, None),
            peer => (peer, Some(rank)),
        },
        (None, None) => match machine.state.mpi.source_on(&content, &handle) {
            Some(slot) => (Peer::Source(slot), None),
            None => {
                carried::ask(machine, &content);
                let what = if receives { "receives from" } else { "sends to" };
                return Err(asked.lost(machine, &unknown_rank(what, &content)));
            }
        },
    };
    Ok(End { handle, communicator: known, peer, rank })
}

/// Any rank that may send on a communicator.
fn any(machine: &Machine<'_>, _: &KnownCommunicator) -> Peer {
    Peer::Any { first: 0, end: machine.size() }
}

/// A tag that a message may have brought.
fn ask_for_tag(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, value: &Value) {
    if let Some(content) = state::content(&machine.behind(value, asked.place())) {
        carried::ask(machine, &content);
    }
}

/// The tag of a message that is sent.
fn sent_tag(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Outcome<Tag> {
    match asked.argument(argument) {
        Some(_) if asked.number(machine, argument) == Some(ANY_TAG) => Ok(Tag::Exact(-1)),
        Some(value) => {
            ask_for_tag(machine, asked, value);
            point_to_point::tag_of(machine, value, asked.place())
        }
        None => Err(asked.lost(machine, "its tag is not known here")),
    }
}

/// The tag that is accepted from an end.
fn accepted_tag(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    from: Peer,
) -> Outcome<Tag> {
    match asked.argument(argument) {
        Some(_) if asked.number(machine, argument) == Some(ANY_TAG) => Ok(Tag::Any),
        Some(value) => {
            ask_for_tag(machine, asked, value);
            point_to_point::accepted_exact_tag(machine, value, from, asked.place())
        }
        None => Err(asked.lost(machine, "its tag is not known here")),
    }
}
