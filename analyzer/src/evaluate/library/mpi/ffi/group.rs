//! MPI's functions for groups of ranks.

use std::rc::Rc;

use p2p_protocol::model::{Argument, HandleKind};

use super::super::group::{chosen, combined, relation};
use super::super::state::rank;
use super::constants::{IDENTICAL, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL};
use super::handles::{create, release};
use super::invocation::Invocation;
use crate::evaluate::handle::{Group, Handle};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::{Scalar, Type};

/// The most ranks that a range stands for.
const MOST_RANKS: i128 = 1 << 16;

/// The group that is handed over: the world's ranks of its members, where they are known.
pub(super) fn members(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Option<Rc<[u32]>> {
    match asked.handle(machine, argument) {
        Some(Handle::Group(group)) => group.members,
        _ => None,
    }
}

/// Puts a group that a call has made where the program keeps it.
pub(super) fn keep(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    members: Option<Rc<[u32]>>,
) -> Outcome<()> {
    let is_empty = members.as_ref().is_some_and(|members| members.is_empty());
    // The empty group is there from the start.
    let made = match is_empty {
        true => None,
        false => Some(create(machine, asked, HandleKind::Group)?),
    };
    asked.put(machine, argument, Value::Handle(Handle::Group(Group { members, made })));
    Ok(())
}

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Group_size" | "Group_rank" => number(machine, asked),
        "Group_compare" => compare(machine, asked),
        "Group_translate_ranks" => translate(machine, asked),
        "Group_union" | "Group_intersection" | "Group_difference" => {
            let how = asked.name.trim_start_matches("Group_");
            let (one, two) = (members(machine, asked, 0), members(machine, asked, 1));
            let made = one.zip(two).map(|(one, two)| combined(how, &one, &two));
            keep(machine, asked, 2, made)
        }
        "Group_incl" | "Group_excl" => by_ranks(machine, asked),
        "Group_range_incl" | "Group_range_excl" => by_ranges(machine, asked),
        "Group_free" => release(machine, asked, HandleKind::Group),
        _ => return None,
    };
    Some(outcome)
}

fn number(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let answer = match (members(machine, asked, 0), asked.name) {
        (Some(members), "Group_size") => rank(members.len() as i128),
        (Some(members), _) => {
            let here = members.iter().position(|&member| member == machine.rank());
            rank(here.map_or(UNDEFINED, |here| here as i128))
        }
        (None, _) => machine.fresh(Type::Scalar(Scalar::I32)),
    };
    asked.put(machine, 1, answer);
    Ok(())
}

fn compare(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (one, two) = (members(machine, asked, 0), members(machine, asked, 1));
    let answer = match one.zip(two) {
        Some((one, two)) => rank(match relation(&one, &two) {
            "Identical" => IDENTICAL,
            "Similar" => SIMILAR,
            _ => UNEQUAL,
        }),
        None => machine.fresh(Type::Scalar(Scalar::I32)),
    };
    asked.put(machine, 2, answer);
    Ok(())
}

/// `(group, count, ranks, other group, ranks there)`
fn translate(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (one, two) = (members(machine, asked, 0), members(machine, asked, 3));
    let count = asked.number(machine, 1);
    let ranks = count.and_then(|count| asked.some_numbers(machine, 2, count));
    let (Some(one), Some(two), Some(ranks)) = (one, two, ranks) else {
        asked.forget(machine, 4);
        return Ok(());
    };
    for (number, here) in (0..).zip(ranks) {
        let there = match here {
            None => machine.fresh(Type::Scalar(Scalar::I32)),
            Some(PROC_NULL) => rank(PROC_NULL),
            Some(here) => {
                let member = usize::try_from(here).ok().and_then(|here| one.get(here));
                let Some(member) = member else {
                    return outside(machine, asked, 2, here);
                };
                let there = two.iter().position(|other| other == member);
                rank(there.map_or(UNDEFINED, |there| there as i128))
            }
        };
        asked.put_at(machine, 4, number, there);
    }
    Ok(())
}

fn outside(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    rank: i128,
) -> Outcome<()> {
    let rank = i32::try_from(rank).unwrap_or(-1);
    asked.fails(machine, argument, Argument::Rank(rank))
}

/// The members that ranks stand for. MPI ends the job where one is none.
fn choose(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    is_included: bool,
    ranks: Option<Vec<i128>>,
) -> Outcome<()> {
    let of = members(machine, asked, 0);
    let Some((of, ranks)) = of.zip(ranks) else { return keep(machine, asked, 3, None) };
    let is_outside = |rank: &&i128| !(0..of.len() as i128).contains(*rank);
    if let Some(rank) = ranks.iter().find(is_outside) {
        return outside(machine, asked, 2, *rank);
    }
    let made = chosen(is_included, &of, &ranks);
    keep(machine, asked, 3, made)
}

/// `(group, count, ranks, new group)`
fn by_ranks(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let count = asked.number(machine, 1);
    let ranks = count.and_then(|count| asked.numbers(machine, 2, count));
    choose(machine, asked, asked.name == "Group_incl", ranks)
}

/// `(group, count, [first, last, stride].., new group)`
fn by_ranges(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let count = asked.number(machine, 1);
    let ranks = count
        .and_then(|count| ranges(machine, asked, count))
        .map(|ranges| ranges.iter().flat_map(|range| in_range(*range)).collect());
    choose(machine, asked, asked.name == "Group_range_incl", ranks)
}

/// The ranges in an array of three numbers each, whichever way it lies in memory.
fn ranges(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    count: i128,
) -> Option<Vec<[i128; 3]>> {
    let rows = asked.elements(machine, 2, count)?;
    let mut ranges = Vec::new();
    for row in rows {
        let Value::Sequence(row) = row else {
            let all = asked.numbers(machine, 2, count.checked_mul(3)?)?;
            return Some(all.chunks_exact(3).map(|range| [range[0], range[1], range[2]]).collect());
        };
        let row = Value::Sequence(row);
        let numbers = super::super::memory::scalars(&row)?;
        let numbers: Vec<i128> = numbers
            .iter()
            .map(|(_, content)| super::super::state::integer(content))
            .collect::<Option<_>>()?;
        ranges.push(<[i128; 3]>::try_from(numbers).ok()?);
    }
    Some(ranges)
}

fn in_range([first, last, stride]: [i128; 3]) -> Vec<i128> {
    let mut ranks = Vec::new();
    let mut rank = first;
    let is_within = |rank: i128| if stride > 0 { rank <= last } else { rank >= last };
    while stride != 0 && is_within(rank) && (ranks.len() as i128) < MOST_RANKS {
        ranks.push(rank);
        rank += stride;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_up_and_down() {
        assert_eq!(in_range([0, 6, 2]), [0, 2, 4, 6]);
        assert_eq!(in_range([3, 1, -1]), [3, 2, 1]);
        assert_eq!(in_range([2, 1, 1]), [0; 0]);
        assert_eq!(in_range([0, 9, 0]), [0; 0]);
    }
}
