//! MPI's functions for one-sided communication: windows, their epochs, and accesses of others' memory.

use std::rc::Rc;

use p2p_protocol::model::{
    AccessKind, Action, Argument, Buffer, Collective, CollectiveKind, HandleKind, OneSided, Peer,
    Window as ModelWindow, WindowId, WindowRange, WindowStep,
};

use super::super::state;
use super::accesses::{access, done};
use super::communicator::known_intra;
use super::constants::{LOCK_EXCLUSIVE, NO_PRECEDE, NO_PUT, NO_STORE, NO_SUCCEED, PROC_NULL};
use super::environment::allocate;
use super::group;
use super::handles::{create, release};
use super::invocation::Invocation;
use super::messages::{truth, waits};
use super::topology::forget_results;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Handle, Window, WindowPart};
use crate::evaluate::machine::{Machine, Outcome, Told};
use crate::evaluate::state::Counted;
use crate::evaluate::value::{Path, Value};
use crate::program::{Place, Scalar, Type};

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    use AccessKind::{Accumulate, CompareAndSwap, FetchAndOp, Get, GetAccumulate, Put};
    let outcome = match asked.name {
        "Win_create" => make(machine, asked, Made::OfMemory),
        "Win_allocate" => make(machine, asked, Made::Allocated),
        "Win_allocate_shared" => make(machine, asked, Made::Shared),
        "Win_create_dynamic" => make(machine, asked, Made::Dynamic),
        "Win_free" => free(machine, asked),
        "Win_attach" | "Win_detach" => Ok(()),
        "Win_fence" => fence(machine, asked),
        "Win_lock"
        | "Win_lock_all"
        | "Win_unlock"
        | "Win_unlock_all"
        | "Win_flush"
        | "Win_flush_all"
        | "Win_flush_local"
        | "Win_flush_local_all"
        | "Win_sync" => passive(machine, asked),
        "Win_start" | "Win_post" | "Win_complete" | "Win_wait" | "Win_test" => {
            active(machine, asked)
        }
        "Win_get_group" => {
            let members = handed(machine, asked, 0).and_then(|window| {
                window.communicator.known.as_ref().map(|known| known.members.each().clone())
            });
            group::keep(machine, asked, 1, members)
        }
        "Win_shared_query" => query(machine, asked),
        "Put" | "Rput" => access(machine, asked, Put),
        "Get" | "Rget" => access(machine, asked, Get),
        "Accumulate" | "Raccumulate" => access(machine, asked, Accumulate),
        "Get_accumulate" | "Rget_accumulate" => access(machine, asked, GetAccumulate),
        "Fetch_and_op" => access(machine, asked, FetchAndOp),
        "Compare_and_swap" => access(machine, asked, CompareAndSwap),
        _ => return None,
    };
    Some(outcome)
}

/// How a window comes to its memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// `(base, size, unit, info, communicator, window)`
    OfMemory,
    /// `(size, unit, info, communicator, base, window)`
    Allocated,
    Shared,
    /// `(info, communicator, window)`
    Dynamic,
}

fn make(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, how: Made) -> Outcome<()> {
    let (size, unit, at, out) = match how {
        Made::OfMemory => (Some(1), Some(2), 4, 5),
        Made::Allocated | Made::Shared => (Some(0), Some(1), 3, 5),
        Made::Dynamic => (None, None, 1, 2),
    };
    let (communicator, known) = known_intra(machine, asked, at)?;
    machine.understood(asked.place(), Understood::Fully);
    let size_value = size.and_then(|size| asked.argument(size));
    let unit_at = unit;
    let [bytes, unit] = [size, unit].map(|it| it.and_then(|it| asked.number(machine, it)));
    if let (Some(negative), Some(size)) = (bytes.filter(|bytes| *bytes < 0), size) {
        let negative = i64::try_from(negative).unwrap_or(i64::MIN);
        asked.fails(machine, size, Argument::Count(negative))?;
    }
    if let (true, Some(at)) = (unit.is_some_and(|unit| unit <= 0), unit_at) {
        let words = machine.text("is not above 0");
        asked.fails(machine, at, Argument::Other(words))?;
    }
    let memory = match (how, size_value) {
        (Made::OfMemory, _) => of_memory(machine, asked, bytes)?,
        (Made::Allocated, Some(size)) => Some(allocate(machine, asked, size, 4)),
        // Behind its own part lies that of the next rank, which it may use as well.
        (Made::Shared, Some(_)) => {
            let size = machine.fresh(Type::Scalar(Scalar::I64));
            Some(allocate(machine, asked, &size, 4))
        }
        _ => None,
    };
    let collective = Collective::of(CollectiveKind::MakeWindow, known.id);
    machine.emit(Action::Collective(collective), asked.place())?;
    let number = machine.count(Counted::Collectives(known.id));
    let told = machine.exchange_numbers(&known, Told::Numbers(vec![bytes, unit]));
    let parts = told.into_iter().flatten().map(part).collect();
    let Some(number) = number else {
        return Err(asked.lost(machine, "which window it makes is not known"));
    };
    let name = format!("window {number} of {}", communicator.name);
    let is_shared = how == Made::Shared;
    let model = ModelWindow { name, communicator: known.id, is_shared };
    let id = machine.window(&format!("window {number} of communicator {}", known.id), model);
    let own = memory.as_ref().zip(bytes.and_then(|bytes| u64::try_from(bytes).ok()));
    let own = own.and_then(|(path, bytes)| machine.buffer_of(path, 0, bytes));
    step(machine, asked, id, WindowStep::Made { memory: own })?;
    if let Some(own) = own.filter(|_| machine.is_c()) {
        Rc::make_mut(&mut machine.state.mpi.windows).push((id, own));
    }
    let made = create(machine, asked, HandleKind::Window)?;
    let unit = unit.and_then(|unit| u64::try_from(unit).ok());
    let window = Window { id, made, communicator, memory, unit, parts };
    asked.put(machine, out, Value::Handle(Handle::Window(Rc::new(window))));
    Ok(())
}

/// Steps back that are looked at for one that an access goes on with.
const STEPS_BACK: usize = 8;

/// The program itself touches memory that lies in a window. Accesses of bytes in a row are one.
pub(in crate::evaluate) fn touch(machine: &mut Machine<'_>, path: &Path, writes: bool, at: Place) {
    let Some((start, end)) = machine.span(path) else { return };
    touch_bytes(machine, Buffer { object: path.object.0, start, end }, writes, at);
}

/// The same of bytes, which a call of MPI may touch as well.
pub(super) fn touch_bytes(machine: &mut Machine<'_>, bytes: Buffer, writes: bool, at: Place) {
    if !machine.state.mpi.has_windows() {
        return;
    }
    let windows = machine.state.mpi.windows.clone();
    for (window, own) in windows.iter().filter(|(_, own)| own.object == bytes.object) {
        let (start, end) = (bytes.start.max(own.start), bytes.end.min(own.end));
        if start >= end || machine.graph.total() >= machine.limits.events {
            continue;
        }
        let range = WindowRange { start: start - own.start, end: end - own.start };
        let goes_on = |action: &mut Action| goes_on(action, *window, (range, writes));
        if !machine.graph.any_of_last(STEPS_BACK, goes_on) {
            let step = WindowStep::Local { writes, range: Some(range) };
            let local = OneSided { window: *window, step };
            machine.graph.push(Action::OneSided(Box::new(local)), at);
        }
    }
}

/// Whether an access of these bytes goes on with a step: it is the same, or touches it, and the step
/// is made so long. `None`: there is something between them.
fn goes_on(
    action: &mut Action,
    window: WindowId,
    (range, writes): (WindowRange, bool),
) -> Option<bool> {
    let Action::OneSided(one_sided) = action else { return None };
    let WindowStep::Local { writes: as_well, range: Some(known) } = &mut one_sided.step else {
        return None;
    };
    let touches = known.start <= range.end && range.start <= known.end;
    if one_sided.window != window || *as_well != writes || !touches {
        return Some(false);
    }
    *known = WindowRange { start: known.start.min(range.start), end: known.end.max(range.end) };
    Some(true)
}

/// What a rank tells of its part of a window.
fn part(told: Told) -> WindowPart {
    let Told::Numbers(numbers) = told else { return WindowPart::default() };
    let number = |at: usize| u64::try_from((*numbers.get(at)?)?).ok();
    WindowPart { bytes: number(0), unit: number(1) }
}

/// The memory that a window is made of.
fn of_memory(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    bytes: Option<i128>,
) -> Outcome<Option<Path>> {
    let Some(pointer) = asked.argument(0) else { return Ok(None) };
    if bytes.is_some_and(|bytes| bytes > 0) && machine.is_null(pointer) == Some(true) {
        asked.fails(machine, 0, Argument::NullBuffer)?;
    }
    let Some(path) = machine.pointer(pointer) else { return Ok(None) };
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    if let (Some(needs), Some(has), true) = (bytes, machine.room(&path).bytes, machine.is_c())
        && needs > has
    {
        asked.fact(machine, 0, Argument::Room { needs, has })?;
    }
    Ok(Some(path))
}

fn handed(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Option<Rc<Window>> {
    match asked.handle(machine, argument) {
        Some(Handle::Window(window)) => Some(window),
        _ => None,
    }
}

/// The window that is handed over, which must be known.
pub(super) fn known(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<Rc<Window>> {
    let at = asked.position("win").unwrap_or_default();
    match handed(machine, asked, at) {
        Some(window) => Ok(window),
        None => Err(asked.lost(machine, "its window is not known here")),
    }
}

pub(super) fn step(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    window: WindowId,
    step: WindowStep,
) -> Outcome<()> {
    machine.emit(Action::OneSided(Box::new(OneSided { window, step })), asked.place())
}

fn free(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let window = known(machine, asked)?;
    machine.understood(asked.place(), Understood::Fully);
    step(machine, asked, window.id, WindowStep::Freed)?;
    if machine.state.mpi.has_windows() {
        Rc::make_mut(&mut machine.state.mpi.windows).retain(|(id, _)| *id != window.id);
    }
    meet(machine, asked, &window, CollectiveKind::MakeWindow)?;
    done(machine, asked, &window, None)?;
    release(machine, asked, HandleKind::Window)
}

/// All ranks of a window come together.
fn meet(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    window: &Window,
    kind: CollectiveKind,
) -> Outcome<()> {
    let Some(known) = window.communicator.known.as_ref() else { return Ok(()) };
    machine.emit(Action::Collective(Collective::of(kind, known.id)), asked.place())?;
    machine.count(Counted::Collectives(known.id));
    machine.tell(known.id, Told::Nothing);
    Ok(())
}

/// `(assertion, window)`
fn fence(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let window = known(machine, asked)?;
    machine.understood(asked.place(), Understood::Fully);
    let assertion = asked.number(machine, 0);
    let has = |bit: i128| assertion.is_some_and(|assertion| assertion >= 0 && assertion & bit != 0);
    let (no_precede, no_succeed) = (has(NO_PRECEDE), has(NO_SUCCEED));
    let others = assertion.is_none() || has(NO_PUT) || has(NO_STORE);
    let fence = WindowStep::Fence { no_precede, no_succeed, others };
    step(machine, asked, window.id, fence)?;
    meet(machine, asked, &window, CollectiveKind::Fence)?;
    done(machine, asked, &window, None)
}

/// The rank of a window that an argument names, if it is known. MPI ends the job where it has no such
/// rank.
pub(super) fn target(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    window: &Window,
    argument: usize,
) -> Outcome<Option<(Peer, Option<i128>)>> {
    let Some(known) = window.communicator.known.as_ref() else {
        return Err(asked.lost(machine, "its window is not known here"));
    };
    let value = asked.argument(argument).map(|rank| machine.behind(rank, asked.place()));
    let content = value.as_ref().and_then(state::content);
    match content.as_ref().and_then(state::number) {
        Some(rank) if rank.here() == PROC_NULL => Ok(Some((Peer::Null, Some(rank.get())))),
        Some(rank) => match known.peer(rank) {
            Peer::Outside(_) => {
                let rank = i32::try_from(rank.get()).unwrap_or(-1);
                asked.fails(machine, argument, Argument::Rank(rank))?;
                Ok(None)
            }
            peer => Ok(Some((peer, Some(rank.get())))),
        },
        None => {
            let why = "the rank whose memory it accesses is not known here";
            machine.understood(asked.place(), Understood::Partly(why.to_owned()));
            Ok(None)
        }
    }
}

fn passive(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let window = known(machine, asked)?;
    machine.understood(asked.place(), Understood::Fully);
    let named = match asked.position("rank") {
        Some(at) => match target(machine, asked, &window, at)? {
            Some(named) => Some(named),
            None => return step(machine, asked, window.id, WindowStep::Unknown),
        },
        None => None,
    };
    let peer = named.map(|(peer, _)| peer);
    let made = match (asked.name, peer) {
        ("Win_lock", Some(target)) => {
            let exclusive = asked.number(machine, 0) == Some(LOCK_EXCLUSIVE);
            WindowStep::Lock { target, exclusive }
        }
        ("Win_unlock", Some(target)) => WindowStep::Unlock { target },
        ("Win_lock_all", _) => WindowStep::LockAll,
        ("Win_unlock_all", _) => WindowStep::UnlockAll,
        ("Win_sync", _) => WindowStep::Sync,
        (name, target) => WindowStep::Flush { target, local: name.contains("local") },
    };
    step(machine, asked, window.id, made)?;
    match asked.name {
        "Win_lock" | "Win_lock_all" | "Win_sync" => Ok(()),
        _ => done(machine, asked, &window, named.and_then(|(_, rank)| rank)),
    }
}

fn active(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let window = known(machine, asked)?;
    machine.understood(asked.place(), Understood::Fully);
    let mut ranks = || {
        let members = group::members(machine, asked, 0)?;
        members.iter().map(|rank| Some(Peer::Rank(i32::try_from(*rank).ok()?))).collect()
    };
    let made = match asked.name {
        "Win_start" => WindowStep::Start { group: ranks() },
        "Win_post" => WindowStep::Post { group: ranks() },
        "Win_complete" => WindowStep::Complete,
        "Win_test" if !waits(machine, asked, 1)? => return Ok(()),
        _ => WindowStep::Wait,
    };
    step(machine, asked, window.id, made)?;
    match asked.name {
        "Win_complete" => done(machine, asked, &window, None),
        "Win_test" => {
            asked.put(machine, 1, truth(true));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `(window, rank, size, unit, base)`: where this rank's own part is.
fn query(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let window = handed(machine, asked, 0);
    forget_results(machine, asked);
    let Some(window) = window else { return Ok(()) };
    let here = window.communicator.known.as_ref().map(|known| known.rank);
    let asked_for = asked.number(machine, 1);
    if let (Some(here), Some(rank), Some(memory)) = (here, asked_for, &window.memory)
        && here == rank.into()
    {
        asked.put(machine, 4, Value::Reference(memory.clone()));
    }
    Ok(())
}
