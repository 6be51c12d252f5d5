//! Cartesian grids of ranks.

use std::rc::Rc;

use super::collective;
use super::communicator::Made;
use super::memory::scalars;
use super::state::{self, integer, rank};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, Grid, KnownCommunicator};
use crate::evaluate::machine::{Call, Machine, Outcome, Told};
use crate::evaluate::value::{Constant, Content, Items, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// The whole numbers in an array, if all are known.
fn numbers(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Vec<i128>> {
    let content = machine.behind(value, place);
    scalars(&content)?.iter().map(|(_, content)| integer(content)).collect()
}

/// The truth values in an array, if all are known.
fn flags(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Vec<bool>> {
    let content = machine.behind(value, place);
    let flag = |(_, content): &(Scalar, Content)| match content {
        Content::Known(Constant::Bool(flag)) => Some(*flag),
        _ => None,
    };
    scalars(&content)?.iter().map(flag).collect()
}

fn sequence(element: Scalar, items: Vec<Value>) -> Value {
    let element = Type::Scalar(element);
    Value::Sequence(Sequence { element, items: Items::Each(Rc::new(items)) })
}

fn ranks(numbers: impl IntoIterator<Item = u32>) -> Value {
    sequence(Scalar::I32, numbers.into_iter().map(|number| rank(i128::from(number))).collect())
}

/// The grid that two arguments describe.
fn grid(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Grid> {
    let dimensions = numbers(machine, call.arguments.first()?, call.place)?;
    let periodic = flags(machine, call.arguments.get(1)?, call.place)?;
    let dimensions: Option<Vec<u32>> = dimensions
        .into_iter()
        .map(|length| u32::try_from(length).ok().filter(|&length| length > 0))
        .collect();
    dimensions
        .filter(|dimensions| dimensions.len() == periodic.len())
        .map(|dimensions| Grid { dimensions, periodic })
}

/// `create_cartesian_communicator`: the first ranks, in their order; MPI may put them in another
/// order if it is allowed to, and does not where this was tried.
pub(super) fn create(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    call: &Call<'_>,
) -> Outcome {
    let grid = grid(machine, call);
    let (number, _) = collective::make(machine, known, Told::Nothing, call.place)?;
    let Some(grid) = grid.filter(|grid| grid.size() <= u64::from(known.size())) else {
        let why = "the dimensions of its grid are not known";
        machine.understood(call.place, Understood::Partly(why.to_owned()));
        let made = Communicator::unknown(format!("grid of {}", of.name));
        return Ok(Value::some(state::communicator(made)));
    };
    let size = usize::try_from(grid.size()).expect("no more than the ranks there are");
    let members: Rc<[u32]> = known.members.each()[..size].into();
    if !members.contains(&machine.rank()) {
        return Ok(Value::none());
    }
    let made = Made { number, what: format!("grid {:?}", grid.dimensions), members };
    Ok(Value::some(state::communicator(made.communicator(machine, of, known, Some(Rc::new(grid))))))
}

/// `CartesianCommunicator::subgroup`: ranks that differ only in the dimensions that are kept.
pub(super) fn subgroup(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    call: &Call<'_>,
) -> Outcome {
    let retain = match call.arguments.first() {
        Some(retain) => flags(machine, retain, call.place),
        None => None,
    };
    let (number, _) = collective::make(machine, known, Told::Nothing, call.place)?;
    let Some((grid, retain)) = known.grid.as_deref().zip(retain) else {
        let why = "the dimensions that are kept are not known";
        machine.understood(call.place, Understood::Partly(why.to_owned()));
        return Ok(state::communicator(Communicator::unknown(format!("part of {}", of.name))));
    };
    let (members, kept) = part_of_grid(known, grid, &retain);
    let dropped = grid.coordinates(known.rank()).into_iter().zip(&retain);
    let dropped: Vec<u32> =
        dropped.filter(|(_, kept)| !**kept).map(|(coordinate, _)| coordinate).collect();
    let made = Made { number, what: format!("part {dropped:?}"), members };
    Ok(state::communicator(made.communicator(machine, of, known, Some(Rc::new(kept)))))
}

pub(super) fn part_of_grid(
    known: &KnownCommunicator,
    grid: &Grid,
    retain: &[bool],
) -> (Rc<[u32]>, Grid) {
    let here = grid.coordinates(known.rank());
    let is_with_us = |there: &[u32]| {
        there.iter().zip(&here).zip(retain).all(|((there, here), kept)| *kept || there == here)
    };
    let members = (0..known.size())
        .zip(known.members.each().iter())
        .filter(|(rank, _)| is_with_us(&grid.coordinates(*rank)))
        .map(|(_, &member)| member)
        .collect();
    let kept = |dimension: &usize| retain.get(*dimension).copied().unwrap_or(false);
    let dimensions: Vec<usize> = (0..grid.dimensions.len()).filter(kept).collect();
    let kept = Grid {
        dimensions: dimensions.iter().map(|&dimension| grid.dimensions[dimension]).collect(),
        periodic: dimensions.iter().map(|&dimension| grid.periodic[dimension]).collect(),
    };
    (members, kept)
}

/// Methods that concern a communicator's topology.
pub(super) fn method(
    machine: &mut Machine<'_>,
    communicator: &Rc<Communicator>,
    call: &Call<'_>,
) -> Option<Outcome> {
    let known = communicator.known.as_ref();
    let grid = known.and_then(|known| known.grid.clone());
    let value = match call.name {
        "topology" => Value::Variant(kind(grid.as_deref()), Rc::new(Vec::new())),
        "into_topology" => {
            let same = state::communicator(communicator.clone());
            Value::Variant(kind(grid.as_deref()), Rc::new(vec![same]))
        }
        "cartesian_map" => return Some(Ok(map(machine, known, call))),
        "num_dimensions"
        | "get_layout"
        | "get_layout_into"
        | "shift"
        | "shift_unchecked"
        | "coordinates_to_rank"
        | "coordinates_to_rank_unchecked"
        | "rank_to_coordinates"
        | "rank_to_coordinates_into" => match known.zip(grid) {
            Some((known, grid)) => on_grid(machine, known, &grid, call)?,
            None => machine.fresh(call.result()),
        },
        _ => return None,
    };
    Some(Ok(value))
}

fn kind(grid: Option<&Grid>) -> &'static str {
    match grid {
        Some(_) => "Cartesian",
        None => "Undefined",
    }
}

fn on_grid(
    machine: &mut Machine<'_>,
    known: &KnownCommunicator,
    grid: &Grid,
    call: &Call<'_>,
) -> Option<Value> {
    Some(match call.name {
        "num_dimensions" => rank(grid.dimensions.len() as i128),
        "shift" | "shift_unchecked" => shift(machine, known, grid, call)?,
        "coordinates_to_rank" | "coordinates_to_rank_unchecked" => {
            let asked = numbers(machine, call.arguments.first()?, call.place);
            let asked: Option<Vec<i64>> = asked.and_then(|asked| {
                asked.into_iter().map(|number| i64::try_from(number).ok()).collect()
            });
            match asked.and_then(|asked| grid.rank(&asked)) {
                Some(found) => rank(i128::from(found)),
                None => machine.fresh(Type::Scalar(Scalar::I32)),
            }
        }
        "rank_to_coordinates" => match asked_rank(machine, known, call) {
            Some(asked) => ranks(grid.coordinates(asked)),
            None => machine.fresh(call.result()),
        },
        "rank_to_coordinates_into" => {
            let coordinates = match asked_rank(machine, known, call) {
                Some(asked) => ranks(grid.coordinates(asked)),
                None => machine.fresh(Type::Unknown),
            };
            put(machine, call.arguments.get(1)?, coordinates, call.place);
            Value::unit()
        }
        "get_layout_into" => {
            let [dimensions, periods, coordinates] = layout(known, grid);
            put(machine, call.arguments.first()?, dimensions, call.place);
            put(machine, call.arguments.get(1)?, periods, call.place);
            put(machine, call.arguments.get(2)?, coordinates, call.place);
            Value::unit()
        }
        _ => Value::Variant("CartesianLayout", Rc::new(layout(known, grid).to_vec())),
    })
}

fn put(machine: &mut Machine<'_>, target: &Value, value: Value, place: Place) {
    if let Value::Reference(path) = target {
        machine.write(path, value, place);
    }
}

/// Dimensions, periods and this rank's coordinates.
fn layout(known: &KnownCommunicator, grid: &Grid) -> [Value; 3] {
    let periods = grid.periodic.iter().map(|&periodic| Value::bool(periodic)).collect();
    [
        ranks(grid.dimensions.iter().copied()),
        sequence(Scalar::Bool, periods),
        ranks(grid.coordinates(known.rank())),
    ]
}

fn asked_rank(
    machine: &mut Machine<'_>,
    known: &KnownCommunicator,
    call: &Call<'_>,
) -> Option<u32> {
    let asked = machine.behind(call.arguments.first()?, call.place).as_integer()?;
    u32::try_from(asked).ok().filter(|&asked| asked < known.size())
}

fn shift(
    machine: &mut Machine<'_>,
    known: &KnownCommunicator,
    grid: &Grid,
    call: &Call<'_>,
) -> Option<Value> {
    let mut number = |argument: usize| {
        let value = machine.behind(call.arguments.get(argument)?, call.place);
        value.as_integer()
    };
    let asked = number(0).zip(number(1)).and_then(|(dimension, by)| {
        let dimension = usize::try_from(dimension).ok()?;
        (dimension < grid.dimensions.len()).then_some((dimension, i64::try_from(by).ok()?))
    });
    let Some((dimension, by)) = asked else { return Some(machine.fresh(call.result())) };
    let (from, to) = grid.shift(known.rank(), dimension, by);
    let option = |found: Option<u32>| match found {
        Some(found) => Value::some(rank(i128::from(found))),
        None => Value::none(),
    };
    Some(Value::Tuple(Rc::new(vec![option(from), option(to)])))
}

/// `cartesian_map`: which rank this one would have in a grid.
fn map(machine: &mut Machine<'_>, known: Option<&KnownCommunicator>, call: &Call<'_>) -> Value {
    match grid(machine, call).zip(known) {
        Some((grid, known)) if u64::from(known.rank()) < grid.size() => {
            Value::some(rank(known.rank))
        }
        Some(_) => Value::none(),
        None => machine.fresh(call.result()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_grid_has_the_dimensions_that_are_kept() {
        let grid = Grid { dimensions: vec![2, 3], periodic: vec![false, true] };
        let known = KnownCommunicator {
            id: 1,
            members: Rc::from_iter(10..16).into(),
            rank: 4.into(),
            grid: None,
            neighbors: None,
            remote: None,
        };
        let (row, kept) = part_of_grid(&known, &grid, &[false, true]);
        assert_eq!(*row, [13, 14, 15]);
        assert_eq!(kept, Grid { dimensions: vec![3], periodic: vec![true] });
        let (column, kept) = part_of_grid(&known, &grid, &[true, false]);
        assert_eq!(*column, [11, 14]);
        assert_eq!(kept, Grid { dimensions: vec![2], periodic: vec![false] });
    }
}
