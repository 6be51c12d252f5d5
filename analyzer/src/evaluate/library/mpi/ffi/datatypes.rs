//! MPI's functions for datatypes: what they are made of, and how they lie in memory.

use std::rc::Rc;

use p2p_protocol::model::{Argument, HandleKind};

use super::super::signature::Signature;
use super::constants::{
    DEFAULT_ARGUMENT, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_NONE, ORDER_C,
};
use super::handles::{create, release};
use super::invocation::Invocation;
use crate::evaluate::handle::{Datatype, Handle, Layout};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::{Scalar, Type};

/// The most blocks of which a datatype is made up one by one.
const MOST_BLOCKS: i128 = 4096;

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Type_contiguous" => made(machine, asked, &[0], contiguous),
        "Type_vector" => {
            made(machine, asked, &[0, 1], |machine, asked| strided(machine, asked, true))
        }
        "Type_create_hvector" | "Type_hvector" => {
            made(machine, asked, &[0, 1], |machine, asked| strided(machine, asked, false))
        }
        "Type_indexed" => {
            made(machine, asked, &[0], |machine, asked| indexed(machine, asked, true))
        }
        "Type_create_hindexed" | "Type_hindexed" => {
            made(machine, asked, &[0], |machine, asked| indexed(machine, asked, false))
        }
        "Type_create_indexed_block" => {
            made(machine, asked, &[0, 1], |machine, asked| blocks(machine, asked, true))
        }
        "Type_create_hindexed_block" => {
            made(machine, asked, &[0, 1], |machine, asked| blocks(machine, asked, false))
        }
        "Type_create_struct" | "Type_struct" => made(machine, asked, &[0], structured),
        "Type_create_resized" => made(machine, asked, &[], resized),
        "Type_create_subarray" => made(machine, asked, &[], subarray),
        "Type_create_darray" => made(machine, asked, &[], spread),
        "Type_dup" => duplicate(machine, asked),
        "Type_create_f90_integer"
        | "Type_create_f90_real"
        | "Type_create_f90_complex"
        | "Type_match_size" => {
            let at = asked.function.arguments.len() - 1;
            asked.put(machine, at, Value::Handle(Handle::Datatype(Datatype::of(None))));
            Ok(())
        }
        "Type_commit" => commit(machine, asked),
        "Type_free" => release(machine, asked, HandleKind::Datatype),
        "Type_size" | "Type_size_x" => ask(machine, asked, |layout| vec![i128::from(layout.size)]),
        "Type_extent" => ask(machine, asked, |layout| vec![layout.extent.into()]),
        "Type_lb" => ask(machine, asked, |layout| vec![layout.lower.into()]),
        "Type_ub" => {
            ask(machine, asked, |layout| vec![i128::from(layout.lower) + i128::from(layout.extent)])
        }
        "Type_get_extent" | "Type_get_extent_x" => {
            ask(machine, asked, |layout| vec![layout.lower.into(), layout.extent.into()])
        }
        "Type_get_true_extent" | "Type_get_true_extent_x" => ask(machine, asked, |layout| {
            let (lower, extent) = layout.true_extent();
            vec![lower.into(), extent.into()]
        }),
        _ => return super::packing::function(machine, asked),
    };
    Some(outcome)
}

/// What a datatype is made of: its signature, and how it lies in memory, each where it is known.
type Made = (Option<Signature>, Option<Layout>);

/// Makes a datatype, which is the last argument. `counts`: the arguments that must not be negative.
fn made(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    counts: &[usize],
    make: fn(&mut Machine<'_>, &Invocation<'_, '_>) -> Made,
) -> Outcome<()> {
    for &argument in counts {
        let negative = asked.number(machine, argument).filter(|count| *count < 0);
        if let Some(negative) = negative {
            let negative = i64::try_from(negative).unwrap_or(i64::MIN);
            asked.fails(machine, argument, Argument::Count(negative))?;
        }
    }
    let (signature, layout) = make(machine, asked);
    keep(machine, asked, signature, layout.map(Rc::new), false)
}

/// Puts a datatype that a call has made where the program keeps it.
fn keep(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    signature: Option<Signature>,
    layout: Option<Rc<Layout>>,
    is_committed: bool,
) -> Outcome<()> {
    let handle = create(machine, asked, HandleKind::Datatype)?;
    if is_committed {
        machine.state.mpi.handles.commit(handle);
    }
    let made = Datatype { signature, layout, made: Some(handle) };
    let at = asked.function.arguments.len() - 1;
    asked.put(machine, at, Value::Handle(Handle::Datatype(made)));
    Ok(())
}

pub(super) fn handed(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Datatype {
    match asked.handle(machine, argument) {
        Some(Handle::Datatype(datatype)) => datatype,
        _ => Datatype::of(None),
    }
}

/// A duplicate is committed where its original is.
fn duplicate(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let of = handed(machine, asked, 0);
    let is_committed = of.made.is_none_or(|made| !machine.state.mpi.handles.is_uncommitted(made));
    keep(machine, asked, of.signature, of.layout, is_committed)
}

fn commit(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    if let Some(Handle::Datatype(Datatype { made: Some(made), .. })) = asked.handle(machine, 0) {
        machine.state.mpi.handles.commit(made);
    }
    Ok(())
}

fn repeated(of: &Datatype, times: Option<i128>) -> Option<Signature> {
    let times = times.and_then(|times| u64::try_from(times).ok())?;
    Some(of.signature.as_ref()?.repeated(times))
}

/// `(count, old, new)`
fn contiguous(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Made {
    let (count, of) = (asked.number(machine, 0), handed(machine, asked, 1));
    let layout = of.layout.as_ref().zip(count.and_then(|count| u64::try_from(count).ok()));
    let layout = layout.and_then(|(of, count)| Layout::of_blocks(&[(0, count, of)]));
    (repeated(&of, count), layout)
}

/// `(count, length of a block, stride, old, new)`
fn strided(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, in_elements: bool) -> Made {
    let [count, length, stride] = [0, 1, 2].map(|argument| asked.number(machine, argument));
    let of = handed(machine, asked, 3);
    let times = count.zip(length).and_then(|(count, length)| count.checked_mul(length));
    let starts = count.zip(stride).filter(|(count, _)| (0..=MOST_BLOCKS).contains(count));
    let starts = starts.map(|(count, stride)| (0..count).map(|it| it * stride).collect());
    (repeated(&of, times), laid_out(&of, starts, |_| length, in_elements))
}

/// Blocks that begin at these places, in elements or in bytes, each of so many elements.
fn laid_out(
    of: &Datatype,
    starts: Option<Vec<i128>>,
    length: impl Fn(usize) -> Option<i128>,
    in_elements: bool,
) -> Option<Layout> {
    let layout = of.layout.as_ref()?;
    let scale = if in_elements { i128::from(layout.extent) } else { 1 };
    let mut blocks = Vec::new();
    for (number, start) in starts?.into_iter().enumerate() {
        let start = i64::try_from(start.checked_mul(scale)?).ok()?;
        blocks.push((start, u64::try_from(length(number)?).ok()?, &**layout));
    }
    Layout::of_blocks(&blocks)
}

/// `(count, lengths, displacements, old, new)`
fn indexed(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, in_elements: bool) -> Made {
    let count = asked.number(machine, 0);
    let lengths = count.and_then(|count| asked.numbers(machine, 1, count));
    let starts = count.and_then(|count| asked.numbers(machine, 2, count));
    let of = handed(machine, asked, 3);
    let times = lengths.as_ref().map(|lengths| lengths.iter().sum());
    let length = |number: usize| lengths.as_ref()?.get(number).copied();
    (repeated(&of, times), laid_out(&of, starts, length, in_elements))
}

/// `(count, length of each, displacements, old, new)`
fn blocks(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, in_elements: bool) -> Made {
    let (count, length) = (asked.number(machine, 0), asked.number(machine, 1));
    let starts = count.and_then(|count| asked.numbers(machine, 2, count));
    let of = handed(machine, asked, 3);
    let times = count.zip(length).and_then(|(count, length)| count.checked_mul(length));
    (repeated(&of, times), laid_out(&of, starts, |_| length, in_elements))
}

/// `(count, lengths, displacements, datatypes, new)`
fn structured(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Made {
    let count = asked.number(machine, 0);
    let lengths = count.and_then(|count| asked.numbers(machine, 1, count));
    let starts = count.and_then(|count| asked.numbers(machine, 2, count));
    let parts = count.and_then(|count| asked.elements(machine, 3, count));
    let parts: Option<Vec<Datatype>> = parts.and_then(|parts| {
        let datatype = |part: &Value| match part {
            Value::Handle(Handle::Datatype(datatype)) => Some(datatype.clone()),
            _ => None,
        };
        parts.iter().map(datatype).collect()
    });
    let (Some(lengths), Some(parts)) = (lengths, parts) else { return (None, None) };
    let mut signature = Some(Signature::empty());
    for (part, length) in parts.iter().zip(&lengths) {
        let next = repeated(part, Some(*length));
        signature = signature.zip(next).and_then(|(all, next)| all.followed_by(&next));
    }
    (signature, layout_of_struct(&parts, &lengths, starts))
}

fn layout_of_struct(
    parts: &[Datatype],
    lengths: &[i128],
    starts: Option<Vec<i128>>,
) -> Option<Layout> {
    let starts = starts?;
    let mut blocks = Vec::new();
    for ((part, length), start) in parts.iter().zip(lengths).zip(starts) {
        let (start, length) = (i64::try_from(start).ok()?, u64::try_from(*length).ok()?);
        blocks.push((start, length, &**part.layout.as_ref()?));
    }
    Some(Layout::of_blocks(&blocks)?.padded())
}

/// `(old, lower bound, extent, new)`
fn resized(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Made {
    let of = handed(machine, asked, 0);
    let [lower, extent] = [1, 2].map(|argument| {
        asked.number(machine, argument).and_then(|number| i64::try_from(number).ok())
    });
    let bounds = lower.zip(extent);
    let layout = of.layout.as_ref().zip(bounds);
    (of.signature.clone(), layout.map(|(of, (lower, extent))| of.resized(lower, extent)))
}

fn product(numbers: &[i128]) -> Option<i128> {
    numbers.iter().try_fold(1_i128, |product, number| product.checked_mul(*number))
}

/// `(dimensions, lengths, lengths of the part, its start, order, old, new)`
fn subarray(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Made {
    let count = asked.number(machine, 0);
    let mut list = |argument| count.and_then(|count| asked.numbers(machine, argument, count));
    let (whole, part, first) = (list(1), list(2), list(3));
    let order = asked.number(machine, 4);
    let of = handed(machine, asked, 5);
    let times = part.as_deref().and_then(product);
    let layout = layout_of_part(&of, [whole, part, first], order);
    (repeated(&of, times), layout)
}

fn layout_of_part(
    of: &Datatype,
    [whole, part, first]: [Option<Vec<i128>>; 3],
    order: Option<i128>,
) -> Option<Layout> {
    let (mut whole, mut part, mut first, order) = (whole?, part?, first?, order?);
    if order != ORDER_C {
        whole.reverse();
        part.reverse();
        first.reverse();
    }
    let layout = of.layout.as_ref()?;
    let all = product(&whole)?;
    let rows = product(part.split_last()?.1)?;
    if !(0..=MOST_BLOCKS).contains(&rows) || part.iter().any(|length| *length < 0) {
        return None;
    }
    let mut starts = vec![0_i128];
    for (dimension, length) in whole.iter().enumerate() {
        let is_last = dimension + 1 == whole.len();
        let steps = if is_last { 0..1 } else { 0..part[dimension] };
        let next = |start: &i128| {
            let start = start * length + first[dimension];
            steps.clone().map(move |step| start + step).collect::<Vec<_>>()
        };
        starts = starts.iter().flat_map(next).collect();
    }
    let length = *part.last()?;
    let extent = i64::try_from(all.checked_mul(layout.extent.into())?).ok()?;
    Some(laid_out(of, Some(starts), |_| Some(length), true)?.resized(0, extent))
}

/// `(ranks, rank, dimensions, lengths, distributions, arguments, grid, order, old, new)`: how many
/// elements this rank has. How they lie is not followed but for blocks.
fn spread(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Made {
    let here = asked.number(machine, 1);
    let count = asked.number(machine, 2);
    let mut list = |argument| count.and_then(|count| asked.numbers(machine, argument, count));
    let (lengths, kinds, arguments, grid) = (list(3), list(4), list(5), list(6));
    let order = asked.number(machine, 7);
    let of = handed(machine, asked, 8);
    let (Some(here), Some(lengths), Some(kinds), Some(arguments), Some(grid)) =
        (here, lengths, kinds, arguments, grid)
    else {
        return (None, None);
    };
    let mut rest = here;
    let mut places: Vec<i128> = grid
        .iter()
        .rev()
        .map(|ranks| {
            let place = rest.checked_rem(*ranks).unwrap_or(0);
            rest = rest.checked_div(*ranks).unwrap_or(0);
            place
        })
        .collect();
    places.reverse();
    let mut parts = Vec::new();
    let mut first = Vec::new();
    let mut are_blocks = true;
    for dimension in 0..lengths.len() {
        let (length, ranks) = (lengths[dimension], grid[dimension].max(1));
        let given = arguments[dimension];
        let at = places[dimension];
        let (start, part) = match kinds[dimension] {
            DISTRIBUTE_NONE => (0, length),
            DISTRIBUTE_BLOCK => {
                let block =
                    if given == DEFAULT_ARGUMENT { (length + ranks - 1) / ranks } else { given };
                (at * block, (length - at * block).clamp(0, block.max(0)))
            }
            DISTRIBUTE_CYCLIC => {
                are_blocks = false;
                let block = if given == DEFAULT_ARGUMENT { 1 } else { given.max(1) };
                let cycle = block * ranks;
                let left = (length % cycle - at * block).clamp(0, block);
                (0, length / cycle * block + left)
            }
            _ => return (None, None),
        };
        parts.push(part);
        first.push(start);
    }
    let times = product(&parts);
    let layout = match are_blocks {
        true => layout_of_part(&of, [Some(lengths), Some(parts), Some(first)], order),
        false => None,
    };
    (repeated(&of, times), layout)
}

/// A question about how a datatype lies in memory.
fn ask(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    answer: impl Fn(&Layout) -> Vec<i128>,
) -> Outcome<()> {
    let of = handed(machine, asked, 0);
    let scalar = if matches!(asked.name, "Type_size") { Scalar::I32 } else { Scalar::I64 };
    match &of.layout {
        Some(layout) => {
            for (argument, number) in (1..).zip(answer(layout)) {
                asked.put(machine, argument, Value::integer(number, scalar));
            }
        }
        None => {
            for argument in 1..asked.function.arguments.len() {
                let number = machine_number(machine, scalar);
                asked.put(machine, argument, number);
            }
        }
    }
    Ok(())
}

pub(super) fn machine_number(machine: &mut Machine<'_>, scalar: Scalar) -> Value {
    machine.fresh(Type::Scalar(scalar))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: u64) -> Datatype {
        let layout = Some(Rc::new(Layout::of_bytes(bytes)));
        Datatype { signature: Signature::of_scalar(Scalar::I32), layout, made: None }
    }

    #[test]
    fn a_part_of_an_array_lies_row_by_row() {
        let part = [Some(vec![4, 5]), Some(vec![2, 3]), Some(vec![1, 1])];
        let layout = layout_of_part(&of(4), part, Some(ORDER_C)).expect("small");
        assert_eq!((layout.size, layout.extent), (24, 80));
        assert_eq!(layout.pieces_of(1), Some(vec![(24, 36), (44, 56)]));
    }

    #[test]
    fn fortran_turns_it_around() {
        let part = [Some(vec![4, 5]), Some(vec![2, 3]), Some(vec![1, 1])];
        let layout = layout_of_part(&of(4), part, Some(ORDER_C + 1)).expect("small");
        assert_eq!(layout.pieces_of(1), Some(vec![(20, 28), (36, 44), (52, 60)]));
    }
}
