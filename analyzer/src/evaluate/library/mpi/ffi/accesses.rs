//! One-sided accesses of others' memory.

use std::rc::Rc;

use p2p_protocol::model::{
    AccessKind, Action, Argument, Completion, HandleKind, HandleState, Peer, RequestId,
    WindowAccess, WindowId, WindowRange, WindowStep,
};

use super::super::collective::operation_id;
use super::buffer::{self, Region, place, region};
use super::invocation::Invocation;
use super::requests;
use super::windows::{known, step, target};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Datatype, Handle, Request, Window};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Path, Value};

/// An access whose memory at this rank is not free yet.
#[derive(Clone, Debug)]
pub(in super::super) struct Access {
    window: WindowId,
    target: Option<i128>,
    request: RequestId,
    /// What is in this rank's memory once it is done.
    arrives: Option<Rc<(Path, Value)>>,
}

/// Where the arguments of an access stand.
struct At {
    origin: Option<[usize; 3]>,
    result: Option<[usize; 3]>,
    rank: usize,
    start: usize,
    /// Count and datatype at the target; without it, one of the datatype at the origin.
    target: Option<[usize; 2]>,
    operation: Option<usize>,
}

fn at(kind: AccessKind) -> At {
    let plain = At {
        origin: Some([0, 1, 2]),
        result: None,
        rank: 3,
        start: 4,
        target: Some([5, 6]),
        operation: None,
    };
    match kind {
        AccessKind::Put => plain,
        AccessKind::Get => At { origin: None, result: Some([0, 1, 2]), ..plain },
        AccessKind::Accumulate => At { operation: Some(7), ..plain },
        AccessKind::GetAccumulate => At {
            origin: Some([0, 1, 2]),
            result: Some([3, 4, 5]),
            rank: 6,
            start: 7,
            target: Some([8, 9]),
            operation: Some(10),
        },
        AccessKind::FetchAndOp => At { origin: None, target: None, operation: Some(5), ..plain },
        AccessKind::CompareAndSwap => At { origin: None, rank: 4, start: 5, target: None, ..plain },
    }
}

pub(super) fn access(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    kind: AccessKind,
) -> Outcome<()> {
    let window = known(machine, asked)?;
    let at = at(kind);
    let target = target(machine, asked, &window, at.rank)?;
    machine.understood(asked.place(), Understood::Fully);
    let (origin, result, datatype) = memories(machine, asked, kind, &at)?;
    let operation = operation(machine, asked, &at)?;
    let rank = target.and_then(|(_, rank)| rank);
    let range = range(machine, asked, &window, (&at, rank, &datatype))?;
    origin.touch(machine, false, asked.place());
    result.touch(machine, true, asked.place());
    let requested = asked.function.arguments.last().is_some_and(|it| it.what == "request");
    let peer = target.map_or(Peer::Null, |(peer, _)| peer);
    if peer == Peer::Null {
        // Nothing is accessed, or nobody knows whose memory.
        result.arrive(machine, at.result.and_then(|at| asked.argument(at[0])));
        if requested {
            // It is one that is complete, and not the null handle.
            let complete = Request { id: None, ..Request::started(0, asked.place(), None) };
            let complete = Value::Handle(Handle::Request(Box::new(complete)));
            asked.put(machine, asked.function.arguments.len() - 1, complete);
        }
        return Ok(());
    }
    let only = |region: &Region| match region.pieces.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let id = machine.new_request();
    Rc::make_mut(&mut machine.state.uses).is_no_message(id);
    let access = WindowAccess {
        kind,
        target: peer,
        range,
        operation,
        origin: only(&origin),
        result: only(&result),
        request: Some(id),
        requested,
    };
    step(machine, asked, window.id, WindowStep::Access(access))?;
    let arrives = result.memory.arriving(machine);
    let started = requests::started(asked, id, &origin);
    if requested {
        let request = Request { arrives, ..started };
        let last = asked.function.arguments.len() - 1;
        requests::keep(machine, asked, last, request, &[(&origin, false), (&result, true)], false);
        return Ok(());
    }
    origin.begin(machine, &started, false);
    result.begin(machine, &started, true);
    let kept = Access { window: window.id, target: rank, request: id, arrives };
    Rc::make_mut(&mut machine.state.mpi.accesses).push(kept);
    Ok(())
}

/// What is sent from here, what comes back to here, and how much of which datatype is accessed there.
type Memories = (Region, Region, (Option<u64>, Datatype));

fn memories(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    kind: AccessKind,
    at: &At,
) -> Outcome<Memories> {
    let mut parts = [Region::default(), Region::default()];
    for (part, place) in parts.iter_mut().zip([at.origin, at.result]) {
        if let Some(place) = place {
            *part = region(machine, asked, place, 1)?;
        }
    }
    let [mut origin, mut result] = parts;
    let Some([count, datatype]) = at.target else {
        // One element of one datatype, from here and to here.
        let (from, to, of) = match kind {
            AccessKind::FetchAndOp => (0, 1, 2),
            _ => (0, 2, 3),
        };
        let datatype = buffer::datatype(machine, asked, of)?;
        let is_used = kind != AccessKind::FetchAndOp || !fetches_only(machine, asked, at);
        if is_used {
            origin = place(machine, asked, from, &datatype, (Some(1), None))?;
        }
        result = place(machine, asked, to, &datatype, (Some(1), None))?;
        return Ok((origin, result, (Some(1), datatype)));
    };
    let datatype = buffer::datatype(machine, asked, datatype)?;
    let number = asked.number(machine, count);
    if let Some(negative) = number.filter(|number| *number < 0) {
        let negative = i64::try_from(negative).unwrap_or(i64::MIN);
        asked.fails(machine, count, Argument::Count(negative))?;
    }
    Ok((origin, result, (number.and_then(|number| u64::try_from(number).ok()), datatype)))
}

/// Whether an access reads nothing from here: `MPI_NO_OP`.
fn fetches_only(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, at: &At) -> bool {
    let operation = at.operation.and_then(|at| asked.handle(machine, at));
    matches!(operation, Some(Handle::Operation(Some(name))) if &*name == "no_op")
}

/// What an accumulate combines with. One of the program's own is not allowed.
fn operation(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    at: &At,
) -> Outcome<Option<u16>> {
    let Some(argument) = at.operation else { return Ok(None) };
    let (kind, state) = (HandleKind::Operation, HandleState::Unfit);
    match asked.handle(machine, argument) {
        Some(Handle::Operation(Some(name))) => Ok(Some(operation_id(machine, &name))),
        Some(Handle::Object(HandleKind::Operation, _)) => {
            asked.fails(machine, argument, Argument::Handle { kind, state })?;
            Ok(None)
        }
        Some(Handle::Null(_)) => {
            let state = HandleState::Null;
            asked.fails(machine, argument, Argument::Handle { kind, state })?;
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Which bytes of the target's part of the window are accessed. Says it where it has not that many.
fn range(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    window: &Window,
    (at, rank, (count, datatype)): (&At, Option<i128>, &(Option<u64>, Datatype)),
) -> Outcome<Option<WindowRange>> {
    let Some(start) = asked.number(machine, at.start) else { return Ok(None) };
    if start < 0 {
        let words = machine.text("is negative");
        asked.fails(machine, at.start, Argument::Other(words))?;
    }
    let part = rank.and_then(|rank| usize::try_from(rank).ok());
    let part = part.and_then(|rank| window.parts.get(rank)).copied().unwrap_or_default();
    let Some((unit, (layout, count))) =
        part.unit.or(window.unit).zip(datatype.layout.as_ref().zip(*count))
    else {
        return Ok(None);
    };
    let span = layout.span_of(count).unwrap_or((0, 0));
    let byte = |at: i64| u64::try_from(start * i128::from(unit) + i128::from(at)).ok();
    let (Some(first), Some(end)) = (byte(span.0), byte(span.1)) else { return Ok(None) };
    if let Some(has) = part.bytes.filter(|has| end > *has && window.memory.is_some()) {
        asked.fact(machine, at.start, Argument::Room { needs: end, has })?;
    }
    let is_whole = layout.pieces_of(count).is_some_and(|pieces| pieces.len() == 1);
    Ok(is_whole.then_some(WindowRange { start: first, end }))
}

/// Accesses of a window are done, as far as this rank's memory is concerned. `target`: those of this
/// rank's part alone.
pub(super) fn done(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    window: &Window,
    target: Option<i128>,
) -> Outcome<()> {
    let accesses = Rc::make_mut(&mut machine.state.mpi.accesses);
    let is_done = |access: &Access| {
        access.window == window.id && (target.is_none() || access.target == target)
    };
    let (finished, left): (Vec<Access>, Vec<Access>) = accesses.drain(..).partition(is_done);
    *accesses = left;
    let requests: Box<[RequestId]> = finished.iter().map(|access| access.request).collect();
    if requests.is_empty() {
        return Ok(());
    }
    machine.emit(Action::Wait { requests, completion: Completion::All }, asked.place())?;
    for Access { request, arrives, .. } in finished {
        machine.end_use(request);
        if let Some(arrived) = arrives {
            machine.put(&arrived.0, arrived.1.clone());
        }
    }
    Ok(())
}
