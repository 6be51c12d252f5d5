//! What a pointer, a count and a datatype stand for: which bytes are used, what travels, and whether
//! there is room for it.

use std::rc::Rc;

use p2p_protocol::model::{Action, Argument, Buffer, Data, HandleKind, HandleState};

use super::super::memory::Memory;
use super::super::signature::{self, Signature};
use super::super::{carried, state};
use super::constants::{BOTTOM, IN_PLACE};
use super::handles::was_never_set;
use super::invocation::Invocation;
use super::windows;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Datatype, Handle, Layout, Request};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{ObjectId, Path, Value};
use crate::program::{Place, Scalar, Type};

/// The most pieces of memory of one message that are looked at one by one.
const MOST_PIECES: usize = 256;

/// Where a buffer, its count and its datatype stand among the arguments.
pub(super) type At = [usize; 3];

/// Memory that a call uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    /// What travels, and where it is.
    pub(super) memory: Memory,
    /// The bytes that are used, as far as they are known.
    pub(super) pieces: Vec<Buffer>,
    /// `MPI_IN_PLACE` was handed over.
    pub(super) is_in_place: bool,
    /// The pointer leads where nobody knows.
    pub(super) is_elsewhere: bool,
}

impl Region {
    /// What of it travels.
    pub(super) fn data(&self, machine: &mut Machine<'_>) -> Data {
        match self.pieces.as_slice() {
            [only] => {
                Data { buffer: Some(*only), ..self.memory.amount(machine, self.memory.count) }
            }
            _ if machine.is_c() => self.memory.amount(machine, self.memory.count),
            _ => self.memory.data(machine),
        }
    }

    /// Notes that the call reads or writes it, where operations are pending on it.
    pub(super) fn touch(&self, machine: &mut Machine<'_>, writes: bool, place: Place) {
        for piece in &self.pieces {
            note_access(machine, *piece, writes, place, false);
        }
    }

    /// The same of a message, whose event speaks of memory that is in one piece: of two such messages,
    /// whoever runs the events sees that they overlap.
    pub(super) fn touch_pieces(&self, machine: &mut Machine<'_>, writes: bool, place: Place) {
        for piece in &self.pieces {
            note_access(machine, *piece, writes, place, self.pieces.len() == 1);
        }
    }

    /// Something arrives in it.
    pub(super) fn arrive(&self, machine: &mut Machine<'_>, pointer: Option<&Value>) {
        if let Some(arrived) = self.memory.arriving(machine) {
            machine.put(&arrived.0, arrived.1.clone());
        } else if self.is_elsewhere
            && let Some(pointer) = pointer
        {
            machine.forget_behind(pointer);
        }
    }

    /// A request uses it from now on.
    pub(super) fn begin(&self, machine: &mut Machine<'_>, request: &Request, writes: bool) {
        let Some(id) = request.id else { return };
        if machine.is_c() {
            for piece in &self.pieces {
                machine.begin_use_of(id, *piece, writes);
            }
            // All of an array of which nobody knows how long it is.
            if let (Some(all), true, false) =
                (&self.memory.path, self.pieces.is_empty(), self.memory.is_view)
            {
                machine.begin_use(id, all, writes);
            }
        } else if let Some(path) = &self.memory.path {
            machine.begin_use(id, path, writes);
        }
    }
}

/// Notes that bytes are touched, where operations are pending on them, or where others may access them.
/// `is_told`: only those whose own event does not speak of what they use.
fn note_access(
    machine: &mut Machine<'_>,
    bytes: Buffer,
    writes: bool,
    place: Place,
    is_told: bool,
) {
    windows::touch_bytes(machine, bytes, writes, place);
    let object = ObjectId(bytes.object);
    let range = Some((bytes.start, bytes.end));
    let mut requests = machine.state.uses.touching_bytes((object, u64::MAX), range, writes);
    if is_told {
        requests.retain(|request| !machine.state.uses.is_spoken_of(*request, object));
    }
    if !requests.is_empty() {
        machine.graph.push(Action::Access { requests: requests.into(), writes }, place);
    }
}

/// Says how much of a call with this memory was understood.
pub(super) fn understood(machine: &mut Machine<'_>, regions: &[&Region], place: Place) {
    let used = regions.iter().filter(|region| !region.is_in_place);
    let gap = used.into_iter().find_map(|region| region.memory.gap(true));
    let how = gap.map_or(Understood::Fully, |gap| Understood::Partly(gap.to_owned()));
    machine.understood(place, how);
}

/// The datatype that is handed over. MPI ends the job where it is none.
pub(super) fn datatype(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    at: usize,
) -> Outcome<Datatype> {
    let kind = HandleKind::Datatype;
    match asked.handle(machine, at) {
        Some(Handle::Datatype(datatype)) => {
            let mpi = &machine.state.mpi;
            let state = match datatype.made {
                Some(made) if !mpi.handles.is_live(made) => Some(HandleState::Freed),
                Some(made) if mpi.handles.is_uncommitted(made) => Some(HandleState::Uncommitted),
                _ => None,
            };
            if let Some(state) = state {
                asked.fails(machine, at, Argument::Handle { kind, state })?;
            }
            Ok(datatype)
        }
        Some(Handle::Null(null)) => {
            let state = if null == kind { HandleState::Null } else { HandleState::Unfit };
            asked.fails(machine, at, Argument::Handle { kind, state })?;
            Ok(Datatype::of(None))
        }
        Some(unset) if was_never_set(&unset) => {
            let state = HandleState::Uninitialized;
            asked.fails(machine, at, Argument::Handle { kind, state })?;
            Ok(Datatype::of(None))
        }
        _ => Ok(Datatype::of(None)),
    }
}

/// The memory that a pointer, a count and a datatype stand for, `times` as often as the count says.
pub(super) fn region(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    at: At,
    times: u64,
) -> Outcome<Region> {
    let [pointer, count, _] = at;
    if is_in_place(machine, asked, pointer) {
        return Ok(Region { is_in_place: true, ..Region::default() });
    }
    let datatype = datatype(machine, asked, at[2])?;
    let elements = asked.argument(count).map(|count| machine.behind(count, asked.place()));
    let known = elements.as_ref().and_then(Value::as_integer);
    if let Some(negative) = known.filter(|count| *count < 0) {
        let negative = i64::try_from(negative).unwrap_or(i64::MIN);
        asked.fails(machine, count, Argument::Count(negative))?;
    }
    if let Some(content) = elements.as_ref().and_then(state::content) {
        carried::ask(machine, &content);
    }
    let count = known.and_then(|count| u64::try_from(count).ok());
    let count = count.and_then(|count| count.checked_mul(times));
    let unknown_count = elements.filter(|_| known.is_none() && times == 1);
    place(machine, asked, pointer, &datatype, (count, unknown_count))
}

/// Whether `MPI_IN_PLACE` was handed over.
pub(super) fn is_in_place(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    pointer: usize,
) -> bool {
    matches!(asked.handle(machine, pointer), Some(Handle::Other(IN_PLACE)))
}

/// So many elements of a datatype from where a pointer leads to.
pub(super) fn place(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    pointer: usize,
    datatype: &Datatype,
    (count, unknown_count): (Option<u64>, Option<Value>),
) -> Outcome<Region> {
    let signature = datatype.signature.clone();
    let known = Memory { signature, count, ..Memory::default() };
    let Some(value) = asked.argument(pointer) else {
        return Ok(Region { memory: known, ..Region::default() });
    };
    let is_used = count.is_some_and(|count| count > 0)
        && datatype.layout.as_ref().is_some_and(|layout| layout.size > 0);
    if machine.is_null(value) == Some(true) {
        if is_used {
            asked.fails(machine, pointer, Argument::NullBuffer)?;
        }
        return Ok(Region { memory: known, ..Region::default() });
    }
    if matches!(value, Value::Handle(Handle::Other(BOTTOM))) {
        return Ok(Region { memory: known, ..Region::default() });
    }
    if !machine.is_c() {
        let inside = Memory::of(machine, value, asked.place());
        let is_whole = inside.signature == known.signature && inside.count == known.count;
        let memory = Memory { path: inside.path, is_view: !is_whole, ..known };
        return Ok(Region { memory, ..Region::default() });
    }
    let Some(path) = machine.pointer(value) else {
        return Ok(Region { memory: known, is_elsewhere: true, ..Region::default() });
    };
    let fits = match is_used || count.is_none() {
        true => elements_fit(machine, asked, pointer, &path, datatype)?,
        false => true,
    };
    if count == Some(0) {
        return Ok(Region { memory: known, ..Region::default() });
    }
    let Some(layout) = &datatype.layout else {
        let memory = Memory { path: Some(path), is_view: true, ..known };
        return Ok(Region { memory, ..Region::default() });
    };
    // That there is too little room follows from the wrong type.
    if let Some(count) = count.filter(|_| fits) {
        has_room(machine, asked, pointer, &path, (layout, count))?;
    }
    Ok(located(machine, &path, layout, (count, unknown_count), known))
}

/// The exact bytes of so many elements.
fn located(
    machine: &mut Machine<'_>,
    path: &Path,
    layout: &Layout,
    (count, unknown_count): (Option<u64>, Option<Value>),
    known: Memory,
) -> Region {
    let Some(count) = count else {
        let extent = u64::try_from(layout.extent).unwrap_or(0);
        let all = unknown_count.and_then(|count| machine.region_of(path, &count, extent));
        let is_view = all.is_none() || !layout.is_dense();
        let memory = Memory { path: Some(all.unwrap_or_else(|| path.clone())), is_view, ..known };
        return Region { memory, ..Region::default() };
    };
    let pieces = layout.pieces_of(count).filter(|pieces| pieces.len() <= MOST_PIECES);
    let buffers = pieces.unwrap_or_default().into_iter().filter_map(|(from, to)| {
        machine.buffer_of(path, u64::try_from(from).ok()?, u64::try_from(to).ok()?)
    });
    let buffers: Vec<Buffer> = buffers.collect();
    let span = layout.span_of(count).unwrap_or((0, 0));
    let (first, end) = (u64::try_from(span.0).unwrap_or(0), u64::try_from(span.1).unwrap_or(0));
    let exact = match layout.is_dense() {
        true => machine.region(path, first, end),
        false => None,
    };
    let is_view = exact.is_none();
    let path = exact.unwrap_or_else(|| machine.region_around(path, first, end));
    let memory = Memory { path: Some(path), is_view, ..known };
    Region { memory, pieces: buffers, ..Region::default() }
}

/// More bytes than any process has: a datatype that reaches so far leads from one variable to another,
/// by their addresses.
pub(super) const MEMORY: u64 = 1 << 40;

/// Says it where a call uses more memory than there is.
fn has_room(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    pointer: usize,
    path: &Path,
    (layout, count): (&Layout, u64),
) -> Outcome<()> {
    let needs = layout.span_of(count).and_then(|(_, end)| u64::try_from(end).ok());
    match (needs, machine.room(path).bytes) {
        (Some(needs), Some(has)) if needs > has && needs < MEMORY => {
            asked.fact(machine, pointer, Argument::Room { needs, has })
        }
        _ => Ok(()),
    }
}

/// Says it where memory of one type is spoken of as of another. Whether it fits.
pub(super) fn elements_fit(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    pointer: usize,
    path: &Path,
    datatype: &Datatype,
) -> Outcome<bool> {
    let Some(signature) = &datatype.signature else { return Ok(true) };
    let Some(element) = machine.room(path).element else { return Ok(true) };
    let Some((memory, bytes)) = not_fitting(machine, &element, signature, asked.place()) else {
        return Ok(true);
    };
    let Some(spoken_of) = signature.name(machine.is_c()) else { return Ok(true) };
    let memory = machine.datatype(&memory, bytes);
    let datatype = machine.datatype(&spoken_of, Some(signature.bytes()));
    asked.fact(machine, pointer, Argument::Elements { memory, datatype })?;
    Ok(false)
}

/// What memory is made of, and how many bytes that takes, where it does not fit a signature.
fn not_fitting(
    machine: &mut Machine<'_>,
    element: &Type,
    signature: &Signature,
    place: Place,
) -> Option<(String, Option<u64>)> {
    let only = signature.only_scalar();
    match element {
        Type::Scalar(memory) => {
            let memory = *memory;
            let wrong = match only {
                Some(sent) => !fits(memory, sent),
                // A struct's members, in memory of one type.
                None => signature.unit().iter().all(|sent| !fits(memory, *sent)),
            };
            let one = Signature::of_scalar(memory)?;
            wrong.then(|| (one.name(machine.is_c()).unwrap_or_default(), Some(memory.bytes())))
        }
        Type::Reference(_) => {
            let sent = only?;
            let may_be = sent.bytes() == 8 && sent.is_integer() || is_character(sent);
            (!may_be).then(|| ("pointer".to_owned(), Some(8)))
        }
        Type::Defined(..) => {
            let inside = signature::of_c_type(machine, element, place)?;
            let sent = signature.unit();
            let none_fits =
                inside.unit().iter().all(|memory| sent.iter().all(|it| !fits(*memory, *it)));
            none_fits
                .then(|| (inside.name(machine.is_c()).unwrap_or_default(), Some(inside.bytes())))
        }
        _ => None,
    }
}

/// Whether memory of one scalar may be spoken of as of another: characters are bytes, and the sign is
/// not looked at.
fn fits(memory: Scalar, sent: Scalar) -> bool {
    is_character(memory)
        || is_character(sent)
        || memory.bytes() == sent.bytes() && memory.is_float() == sent.is_float()
}

fn is_character(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I8 | Scalar::U8 | Scalar::Bool)
}

/// A datatype that is no more than its layout, for memory that is only spoken of in bytes.
pub(super) fn bytes(count: Option<u64>) -> (Datatype, Option<u64>) {
    let layout = Some(Rc::new(Layout::of_bytes(1)));
    (Datatype { signature: None, layout, made: None }, count)
}
