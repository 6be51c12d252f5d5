//! MPI's functions for Cartesian grids and graphs of ranks.

use std::rc::Rc;

use p2p_protocol::model::{Argument, HandleKind, HandleState};

use super::super::collective;
use super::super::communicator::Made;
use super::super::state::rank;
use super::super::topology::part_of_grid;
use super::communicator::{Known, handed, keep, known_intra, unclear};
use super::constants::{CART, DIST_GRAPH, GRAPH, PROC_NULL, UNDEFINED};
use super::invocation::Invocation;
use super::messages::truth;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, Grid, KnownCommunicator, Neighbors};
use crate::evaluate::machine::{Machine, Outcome, Told};
use crate::evaluate::value::Value;
use crate::program::{Scalar, Type};

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Dims_create" => dimensions(machine, asked),
        "Cart_create" => create(machine, asked),
        "Cart_sub" => part(machine, asked),
        "Cart_rank" | "Cart_coords" | "Cart_shift" | "Cart_get" | "Cartdim_get" => {
            on_grid(machine, asked)
        }
        "Topo_test" => kind(machine, asked),
        "Graph_create" => graph(machine, asked),
        "Dist_graph_create_adjacent" => adjacent(machine, asked),
        "Dist_graph_create" => edges(machine, asked),
        "Dist_graph_neighbors_count"
        | "Dist_graph_neighbors"
        | "Graph_neighbors_count"
        | "Graph_neighbors" => neighbors(machine, asked),
        _ => return None,
    };
    Some(outcome)
}

/// `MPI_Dims_create(ranks, dimensions, lengths)`: as balanced as it can be, the longest first.
fn dimensions(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (ranks, count) = (asked.number(machine, 0), asked.number(machine, 1));
    let given = count.and_then(|count| asked.numbers(machine, 2, count));
    let balanced = ranks.zip(given.as_ref()).map(|(ranks, given)| balanced(ranks, given));
    match balanced {
        Some(Some(lengths)) => {
            for (number, length) in (0..).zip(lengths) {
                asked.put_at(machine, 2, number, rank(length));
            }
            Ok(())
        }
        Some(None) => {
            let words = machine.text("does not divide the number of ranks");
            asked.fails(machine, 2, Argument::Other(words))
        }
        None => {
            // All ranks that ask for the same are told the same.
            let zero = given.is_none_or(|given| given.iter().all(|length| *length == 0));
            for number in 0..count.and_then(|it| u64::try_from(it).ok()).unwrap_or(0).min(8) {
                let name = format!("length {number} of a grid of all ranks");
                let length = match zero {
                    true => machine.uniform(&name, Type::Scalar(Scalar::I32)),
                    false => machine.fresh(Type::Scalar(Scalar::I32)),
                };
                asked.put_at(machine, 2, number, length);
            }
            Ok(())
        }
    }
}

/// Lengths whose product is the number of ranks, as close to each other as they can be. Those that are
/// given stay. `None`: there are none.
fn balanced(ranks: i128, given: &[i128]) -> Option<Vec<i128>> {
    let mut fixed = given.iter().filter(|length| **length > 0);
    let fixed = fixed.try_fold(1_i128, |product, length| product.checked_mul(*length))?;
    if ranks <= 0 || given.iter().any(|length| *length < 0) || ranks % fixed != 0 {
        return None;
    }
    let free = given.iter().filter(|length| **length == 0).count();
    let mut rest = ranks / fixed;
    if free == 0 {
        return (rest == 1).then(|| given.to_vec());
    }
    let mut lengths = Vec::new();
    for left in (1..=free).rev() {
        let length = match left {
            1 => rest,
            _ => {
                // The shortest one that is not below the root: what is left is as even as it can be.
                let root = (1..=rest)
                    .find(|it| it.checked_pow(left as u32).is_none_or(|power| power >= rest));
                let root = root.unwrap_or(rest);
                (root..=rest).find(|it| rest % it == 0).unwrap_or(rest)
            }
        };
        rest /= length;
        lengths.push(length);
    }
    lengths.sort_unstable_by(|one, two| two.cmp(one));
    let mut lengths = lengths.into_iter();
    let each = given.iter().map(|length| match length {
        0 => lengths.next().unwrap_or(1),
        given => *given,
    });
    Some(each.collect())
}

/// `(communicator, dimensions, lengths, periods, reorder, new communicator)`: the first ranks, in
/// their order.
fn create(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known_intra(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let lengths = asked.number(machine, 1).and_then(|count| asked.some_numbers(machine, 2, count));
    if lengths.iter().flatten().flatten().any(|length| *length <= 0) {
        let words = machine.text("has a length that is not positive");
        asked.fails(machine, 2, Argument::Other(words))?;
    }
    let grid = grid(machine, asked);
    let too_large = |grid: &Grid| grid.size() > u64::from(known.size());
    if grid.as_ref().is_some_and(too_large) {
        let words = machine.text("make more places than there are ranks");
        asked.fails(machine, 2, Argument::Other(words))?;
    }
    let (number, _) = collective::make(machine, &known, Told::Nothing, asked.place())?;
    let Some(grid) = grid else {
        unclear(machine, asked, "the dimensions of its grid are not known");
        let made = Communicator::unknown(format!("grid of {}", of.name));
        return keep(machine, asked, 5, Some(made));
    };
    let size = usize::try_from(grid.size()).unwrap_or(0);
    let members: Rc<[u32]> = known.members.each().get(..size).unwrap_or_default().into();
    if !members.contains(&machine.rank()) {
        return keep(machine, asked, 5, None);
    }
    let made = Made { number, what: format!("grid {:?}", grid.dimensions), members };
    let made = made.communicator(machine, &of, &known, Some(Rc::new(grid)));
    keep(machine, asked, 5, Some(made))
}

fn grid(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Option<Grid> {
    let count = asked.number(machine, 1)?;
    let lengths = asked.numbers(machine, 2, count)?;
    let periods = asked.numbers(machine, 3, count)?;
    let lengths = lengths.into_iter().map(|it| u32::try_from(it).ok().filter(|it| *it > 0));
    let periodic = periods.into_iter().map(|period| period != 0).collect();
    Some(Grid { dimensions: lengths.collect::<Option<_>>()?, periodic })
}

/// `(communicator, which dimensions are kept, new communicator)`
fn part(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known_intra(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let Some(grid) = known.grid.clone() else { return no_grid(machine, asked) };
    let kept = asked.numbers(machine, 1, grid.dimensions.len() as i128);
    let (number, _) = collective::make(machine, &known, Told::Nothing, asked.place())?;
    let Some(kept) = kept else {
        unclear(machine, asked, "the dimensions that are kept are not known");
        let made = Communicator::unknown(format!("part of {}", of.name));
        return keep(machine, asked, 2, Some(made));
    };
    let kept: Vec<bool> = kept.into_iter().map(|kept| kept != 0).collect();
    let (members, part) = part_of_grid(&known, &grid, &kept);
    let here = grid.coordinates(known.rank());
    let dropped: Vec<u32> =
        here.into_iter().zip(&kept).filter(|(_, kept)| !**kept).map(|(at, _)| at).collect();
    let made = Made { number, what: format!("part {dropped:?}"), members };
    let made = made.communicator(machine, &of, &known, Some(Rc::new(part)));
    keep(machine, asked, 2, Some(made))
}

/// A communicator is asked for its grid, and has none.
fn no_grid(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (kind, state) = (HandleKind::Communicator, HandleState::Unfit);
    asked.fails(machine, 0, Argument::Handle { kind, state })
}

fn on_grid(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = handed(machine, asked, 0);
    let Some(known) = communicator.known.clone() else {
        forget_results(machine, asked);
        return Ok(());
    };
    let Some(grid) = known.grid.clone() else { return no_grid(machine, asked) };
    match asked.name {
        "Cartdim_get" => asked.put(machine, 1, rank(grid.dimensions.len() as i128)),
        "Cart_get" => {
            let here = grid.coordinates(known.rank());
            for (number, length) in (0..).zip(&grid.dimensions) {
                asked.put_at(machine, 2, number, rank(i128::from(*length)));
                let periodic = grid.periodic[number as usize];
                asked.put_at(machine, 3, number, truth(periodic));
                asked.put_at(machine, 4, number, rank(i128::from(here[number as usize])));
            }
        }
        "Cart_shift" => return shift(machine, asked, &known, &grid),
        "Cart_rank" => {
            let there = asked.numbers(machine, 1, grid.dimensions.len() as i128);
            let there = there.and_then(|there| {
                there.into_iter().map(|it| i64::try_from(it).ok()).collect::<Option<Vec<_>>>()
            });
            match there.map(|there| grid.rank(&there)) {
                Some(Some(there)) => asked.put(machine, 2, rank(i128::from(there))),
                Some(None) => {
                    let words = machine.text("lie outside of the grid");
                    return asked.fails(machine, 1, Argument::Other(words));
                }
                None => forget_results(machine, asked),
            }
        }
        _ => return coordinates(machine, asked, &known, &grid),
    }
    Ok(())
}

fn machine_number(machine: &mut Machine<'_>) -> Value {
    machine.fresh(Type::Scalar(Scalar::I32))
}

/// `(communicator, rank, dimensions, coordinates)`
fn coordinates(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    known: &KnownCommunicator,
    grid: &Grid,
) -> Outcome<()> {
    let Some(of) = asked.number(machine, 1) else {
        asked.forget(machine, 3);
        return Ok(());
    };
    let inside = u32::try_from(of).ok().filter(|of| *of < known.size());
    let Some(of) = inside else {
        let of = i32::try_from(of).unwrap_or(-1);
        return asked.fails(machine, 1, Argument::Rank(of));
    };
    for (number, at) in (0..).zip(grid.coordinates(of)) {
        asked.put_at(machine, 3, number, rank(i128::from(at)));
    }
    Ok(())
}

/// `(communicator, dimension, by, source, destination)`
fn shift(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    known: &KnownCommunicator,
    grid: &Grid,
) -> Outcome<()> {
    let (dimension, by) = (asked.number(machine, 1), asked.number(machine, 2));
    let Some((dimension, by)) = dimension.zip(by.and_then(|by| i64::try_from(by).ok())) else {
        forget_results(machine, asked);
        return Ok(());
    };
    let inside = usize::try_from(dimension).ok().filter(|it| *it < grid.dimensions.len());
    let Some(dimension) = inside else {
        let words = machine.text("is no dimension of the grid");
        return asked.fails(machine, 1, Argument::Other(words));
    };
    let (from, to) = grid.shift(known.rank(), dimension, by);
    let end = |end: Option<u32>| rank(end.map_or(PROC_NULL, i128::from));
    asked.put(machine, 3, end(from));
    asked.put(machine, 4, end(to));
    Ok(())
}

/// Nothing is known of what a call writes.
pub(super) fn forget_results(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) {
    for (number, argument) in asked.function.arguments.iter().enumerate() {
        if argument.is_written {
            asked.forget(machine, number);
        }
    }
}

fn kind(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = handed(machine, asked, 0);
    let answer = match &communicator.known {
        None => machine_number(machine),
        Some(known) => rank(match (&known.grid, &known.neighbors) {
            (Some(_), _) => CART,
            (None, Some(neighbors)) if neighbors.is_graph => GRAPH,
            (None, Some(_)) => DIST_GRAPH,
            (None, None) => UNDEFINED,
        }),
    };
    asked.put(machine, 1, answer);
    Ok(())
}

/// `(communicator, nodes, where each one's edges end, edges, reorder, new communicator)`
fn graph(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known_intra(machine, asked, 0)?;
    let nodes = asked.number(machine, 1);
    let ends = nodes.and_then(|nodes| asked.numbers(machine, 2, nodes));
    let edges = ends.as_ref().and_then(|ends| ends.last().copied());
    let edges = edges.and_then(|count| asked.numbers(machine, 3, count));
    let (number, _) = collective::make(machine, &known, Told::Nothing, asked.place())?;
    machine.understood(asked.place(), Understood::Fully);
    let here = known.rank() as usize;
    let (Some(nodes), Some(ends), Some(edges)) = (nodes, ends, edges) else {
        unclear(machine, asked, "the edges of its graph are not known");
        let made = Communicator::unknown(format!("graph of {}", of.name));
        return keep(machine, asked, 5, Some(made));
    };
    if here as i128 >= nodes {
        return keep(machine, asked, 5, None);
    }
    let end = |node: usize| usize::try_from(ends[node]).unwrap_or(0).min(edges.len());
    let first = here.checked_sub(1).map_or(0, end);
    let mine = edges.get(first..end(here)).unwrap_or_default();
    let mine: Vec<u32> = mine.iter().filter_map(|edge| u32::try_from(*edge).ok()).collect();
    let neighbors = Neighbors { sources: mine.clone(), destinations: mine, is_graph: true };
    let size = usize::try_from(nodes).unwrap_or(0);
    let members = known.members.each().get(..size).unwrap_or_default().into();
    let made = Made { number, what: "graph".to_owned(), members };
    with_graph(machine, asked, (&(of, known), made), Some(neighbors), 5)
}

/// Keeps a communicator with a graph.
fn with_graph(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (of, made): (&Known, Made),
    neighbors: Option<Neighbors>,
    at: usize,
) -> Outcome<()> {
    let made = made.communicator(machine, &of.0, &of.1, None);
    let known = made.known.clone();
    let known = known.map(|known| KnownCommunicator { neighbors: neighbors.map(Rc::new), ..known });
    let made = Communicator { known, ..(*made).clone() };
    keep(machine, asked, at, Some(Rc::new(made)))
}

/// `(communicator, count, sources, weights, count, destinations, weights, info, reorder, new
/// communicator)`
fn adjacent(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let of = known_intra(machine, asked, 0)?;
    let mut list = |count: usize, ranks: usize| -> Option<Vec<u32>> {
        let count = asked.number(machine, count)?;
        let ranks = asked.numbers(machine, ranks, count)?;
        ranks.into_iter().map(|rank| u32::try_from(rank).ok()).collect()
    };
    let lists = list(1, 2).zip(list(4, 5));
    let (number, _) = collective::make(machine, &of.1, Told::Nothing, asked.place())?;
    machine.understood(asked.place(), Understood::Fully);
    let neighbors =
        lists.map(|(sources, destinations)| Neighbors { sources, destinations, is_graph: false });
    let members = of.1.members.each().clone();
    let made = Made { number, what: "graph".to_owned(), members };
    with_graph(machine, asked, (&of, made), neighbors, 9)
}

/// `(communicator, count, sources, degrees, destinations, weights, info, reorder, new communicator)`:
/// each rank may tell of edges between any others.
fn edges(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let of = known_intra(machine, asked, 0)?;
    let mine = told_edges(machine, asked);
    let told = match &mine {
        Some(edges) => Told::Numbers(edges.iter().map(|number| Some(*number)).collect()),
        None => Told::Nothing,
    };
    let (number, all) = collective::make(machine, &of.1, told, asked.place())?;
    let Some(all) = all else { return Err(machine.untold(asked.place())) };
    machine.understood(asked.place(), Understood::Fully);
    let neighbors = neighbors_of(i128::from(of.1.rank()), &all);
    let members = of.1.members.each().clone();
    let made = Made { number, what: "graph".to_owned(), members };
    with_graph(machine, asked, (&of, made), neighbors, 8)
}

/// The edges that this rank tells of: source, destination, source, ..
fn told_edges(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Option<Vec<i128>> {
    let count = asked.number(machine, 1)?;
    let sources = asked.numbers(machine, 2, count)?;
    let degrees = asked.numbers(machine, 3, count)?;
    let ends = asked.numbers(machine, 4, degrees.iter().sum())?;
    let mut ends = ends.into_iter();
    let mut edges = Vec::new();
    for (source, degree) in sources.into_iter().zip(degrees) {
        for end in ends.by_ref().take(usize::try_from(degree).unwrap_or(0)) {
            edges.extend([source, end]);
        }
    }
    Some(edges)
}

/// A rank's neighbours, of all edges that ranks tell of.
fn neighbors_of(rank: i128, all: &[Told]) -> Option<Neighbors> {
    let mut neighbors =
        Neighbors { sources: Vec::new(), destinations: Vec::new(), is_graph: false };
    for told in all {
        let Told::Numbers(edges) = told else { return None };
        for edge in edges.chunks(2) {
            let [Some(from), Some(to)] = edge else { return None };
            if *from == rank {
                neighbors.destinations.push(u32::try_from(*to).ok()?);
            }
            if *to == rank {
                neighbors.sources.push(u32::try_from(*from).ok()?);
            }
        }
    }
    Some(neighbors)
}

fn neighbors(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = handed(machine, asked, 0);
    let known = communicator.known.as_ref();
    let asks_for_others = asked.name.starts_with("Graph_")
        && asked.number(machine, 1) != known.map(|known| i128::from(known.rank()));
    let Some(neighbors) = known.and_then(|known| known.neighbors.clone()) else {
        forget_results(machine, asked);
        return Ok(());
    };
    if asks_for_others {
        forget_results(machine, asked);
        return Ok(());
    }
    let put = |machine: &mut Machine<'_>, argument: usize, ranks: &[u32]| {
        for (number, one) in (0..).zip(ranks) {
            asked.put_at(machine, argument, number, rank(i128::from(*one)));
        }
    };
    match asked.name {
        "Dist_graph_neighbors_count" => {
            asked.put(machine, 1, rank(neighbors.sources.len() as i128));
            asked.put(machine, 2, rank(neighbors.destinations.len() as i128));
            asked.forget(machine, 3);
        }
        "Dist_graph_neighbors" => {
            put(machine, 2, &neighbors.sources);
            put(machine, 5, &neighbors.destinations);
        }
        "Graph_neighbors_count" => {
            asked.put(machine, 2, rank(neighbors.destinations.len() as i128));
        }
        _ => put(machine, 3, &neighbors.destinations),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_even_as_they_can_be() {
        assert_eq!(balanced(6, &[0, 0]), Some(vec![3, 2]));
        assert_eq!(balanced(4, &[0, 0]), Some(vec![2, 2]));
        assert_eq!(balanced(7, &[0, 0]), Some(vec![7, 1]));
        assert_eq!(balanced(6, &[0, 3]), Some(vec![2, 3]));
        assert_eq!(balanced(8, &[0, 0, 0]), Some(vec![2, 2, 2]));
        assert_eq!(balanced(12, &[0, 0]), Some(vec![4, 3]));
        assert_eq!(balanced(5, &[2, 0]), None);
        assert_eq!(balanced(6, &[3, 2]), Some(vec![3, 2]));
    }

    #[test]
    fn edges_that_any_rank_tells_of_count() {
        let told = |edges: &[i128]| Told::Numbers(edges.iter().map(|it| Some(*it)).collect());
        let all = [told(&[0, 1, 0, 2]), told(&[1, 0]), told(&[])];
        let mine = neighbors_of(0, &all).expect("all are known");
        assert_eq!((mine.sources, mine.destinations), (vec![1], vec![1, 2]));
        assert_eq!(neighbors_of(0, &[Told::Nothing]), None);
    }
}
