//! Two accesses of the same memory in one epoch.

mod pairs;
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
    let (world, Conflict { first, second, target, both }) = (case.world, all[0]);
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
    let message = format!("{who} in one epoch, and both use {bytes} of the window");
    RULE.finding(world, second, message, "uses the same bytes")
        .ranks(all.iter().flat_map(|conflict| [conflict.first.0, conflict.second.0]).collect())
        .other_end(world, first, format!("rank {} uses them here", first.0))
        .note("accesses of one epoch happen in any order, and at the same time (MPI 4.0, 12.7): which of them wins, or what is read, nobody knows")
        .help("put a fence between them, or use `MPI_Accumulate`, which may meet itself")
}

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
