//! Memory of which each rank has a part: of collectives that take a count for each.

use p2p_protocol::model::{Argument, Buffer};

use super::super::memory::Memory;
use super::buffer::{self, MEMORY, Region, elements_fit};
use super::invocation::Invocation;
use crate::evaluate::handle::{Datatype, Handle};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Path, Value};

/// The most parts that are looked at one by one.
const MOST_PARTS: usize = 256;

/// Where the memory, its counts, its displacements and its datatypes stand among the arguments.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) pointer: usize,
    pub(super) counts: usize,
    pub(super) starts: usize,
    pub(super) datatypes: usize,
    /// Each part has a datatype of its own, and begins at a number of bytes.
    pub(super) each_has_one: bool,
}

/// The memory with a part for each of so many ranks; `None`: for each neighbour, of whom it is not
/// said how many there are.
pub(super) fn region(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    parts: Parts,
    ranks: Option<u32>,
) -> Outcome<Region> {
    let counts = ranks.and_then(|ranks| asked.some_numbers(machine, parts.counts, ranks.into()));
    let negative = counts.iter().flatten().flatten().find(|count| **count < 0);
    if let Some(negative) = negative {
        let negative = i64::try_from(*negative).unwrap_or(i64::MIN);
        asked.fails(machine, parts.counts, Argument::Count(negative))?;
    }
    let datatype = match parts.each_has_one {
        true => only(machine, asked, parts, ranks),
        false => buffer::datatype(machine, asked, parts.datatypes)?,
    };
    let pointer = asked.argument(parts.pointer);
    let path = pointer.and_then(|pointer| machine.pointer(pointer));
    let number = |count: &Option<i128>| count.and_then(|count| u64::try_from(count).ok());
    let shares = counts.as_ref().map(|counts| counts.iter().map(number).collect());
    let memory = Memory {
        signature: datatype.signature.clone(),
        count: None,
        path: path.clone(),
        is_view: true,
        partition: Some(shares.filter(|_| !parts.each_has_one)),
    };
    let is_null = pointer.is_some_and(|pointer| machine.is_null(pointer) == Some(true));
    let is_used = counts.iter().flatten().flatten().any(|count| *count > 0);
    if is_null && is_used {
        asked.fails(machine, parts.pointer, Argument::NullBuffer)?;
    }
    let mut pieces = Vec::new();
    if let (Some(path), Some(ranks), false) = (&path, ranks, parts.each_has_one)
        && machine.is_c()
    {
        let fits = match is_used {
            true => elements_fit(machine, asked, parts.pointer, path, &datatype)?,
            false => true,
        };
        let starts = asked.some_numbers(machine, parts.starts, ranks.into());
        let bounds = bounds(&datatype, &counts.unwrap_or_default(), &starts.unwrap_or_default());
        if fits {
            has_room(machine, asked, (parts.pointer, path), &bounds)?;
        }
        pieces = in_memory(machine, path, &bounds);
    }
    Ok(Region { memory, pieces, ..Region::default() })
}

/// The datatype that all parts have, of which one has something.
fn only(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    parts: Parts,
    ranks: Option<u32>,
) -> Datatype {
    let each = ranks.and_then(|ranks| asked.elements(machine, parts.datatypes, ranks.into()));
    let mut each = each.into_iter().flatten().map(|value| match value {
        Value::Handle(Handle::Datatype(datatype)) => Some(datatype),
        _ => None,
    });
    let first = each.next().flatten();
    match first {
        Some(first) if each.all(|other| other.as_ref() == Some(&first)) => first,
        _ => Datatype::of(None),
    }
}

/// The bytes of each part that is known: from, to.
fn bounds(
    datatype: &Datatype,
    counts: &[Option<i128>],
    starts: &[Option<i128>],
) -> Vec<(u64, u64)> {
    let Some(layout) = &datatype.layout else { return Vec::new() };
    let bound = |(count, start): (&Option<i128>, &Option<i128>)| {
        let count = u64::try_from((*count)?).ok().filter(|count| *count > 0)?;
        let start = (*start)?.checked_mul(i128::from(layout.extent))?;
        let (from, to) = layout.span_of(count)?;
        let at = |byte: i64| u64::try_from(start + i128::from(byte)).ok();
        Some((at(from)?, at(to)?))
    };
    counts.iter().zip(starts).filter_map(bound).collect()
}

fn has_room(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (pointer, path): (usize, &Path),
    bounds: &[(u64, u64)],
) -> Outcome<()> {
    let needs = bounds.iter().map(|(_, to)| *to).max();
    match (needs, machine.room(path).bytes) {
        (Some(needs), Some(has)) if needs > has && needs < MEMORY => {
            asked.fact(machine, pointer, Argument::Room { needs, has })
        }
        _ => Ok(()),
    }
}

fn in_memory(machine: &Machine<'_>, path: &Path, bounds: &[(u64, u64)]) -> Vec<Buffer> {
    if bounds.len() > MOST_PARTS {
        return Vec::new();
    }
    bounds.iter().filter_map(|(from, to)| machine.buffer_of(path, *from, *to)).collect()
}
