//! Two accesses of the same memory in one epoch.

mod order;
mod pairs;
mod passive;
#[cfg(test)]
mod tests;

use self::pairs::{Conflict, conflicts};
use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, WindowStep, World};

pub(super) const RULE: Rule = Rule {
    name: "conflicting-access",
    group: Group::Rma,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let places = by_place(case, conflicts(case.world), |conflict| conflict.second);
    places.iter().map(|(_, conflicts)| report(case, conflicts)).collect()
}

fn report(case: &Case<'_>, all: &[Conflict]) -> Finding {
    let (world, Conflict { first, second, target, both, is_unordered }) = (case.world, all[0]);
    let deeds = [first, second].map(|at| deed(world, at));
    let who = match first.0 == second.0 {
        true => format!("{} {} and {}", player(world, first.0), deeds[0], deeds[1]),
        false => format!(
            "{} {} and {} {}",
            player(world, first.0),
            deeds[0],
            player(world, second.0),
            deeds[1]
        ),
    };
    let bytes = format!("bytes {} to {} of rank {target}'s part", both.start, both.end - 1);
    let how = if is_unordered { ", with nothing to put them in order" } else { " in one epoch" };
    let (note, help) = if is_unordered { (UNORDERED, ORDER_THEM) } else { (ONE_EPOCH, PART_THEM) };
    let message = format!("{who}{how}, and both use {bytes} of the window");
    RULE.finding(world, second, message, "uses the same bytes")
        .ranks(all.iter().flat_map(|conflict| [conflict.first.0, conflict.second.0]).collect())
        .other_end(world, first, format!("rank {} uses them here", first.0))
        .note(note)
        .help(help)
}

/// What is wrong between two fences.
const ONE_EPOCH: &str = "accesses of one epoch happen in any order, and at the same time (MPI 4.0, 12.7): which of them wins, or what is read, nobody knows";

/// What to do about it.
const PART_THEM: &str =
    "put a fence between them, or use `MPI_Accumulate`, which may meet itself";

/// What is wrong under locks.
const UNORDERED: &str = "a shared lock keeps nobody away, and no message, collective or exclusive lock puts the two in order: they may happen at the same time (MPI 4.0, 12.7), and which of them wins, or what is read, nobody knows";

/// What to do about it.
const ORDER_THEM: &str = "take an exclusive lock for both, the target one of its own part, or let an `MPI_Barrier` stand between the end of the first and the second";

/// What a rank does at a step: the program's own loads and stores are no calls.
fn deed(world: &World, at: At) -> String {
    if let Action::OneSided(it) = &describe::event(world, at).action
        && let WindowStep::Local { writes, .. } = it.step
    {
        let what = if writes { "stores to" } else { "loads from" };
        return format!("{what} the window's memory");
    }
    format!("calls `{}`", describe::operation(world, at))
}
