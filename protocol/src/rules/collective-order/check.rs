//! Ranks that meet in different collectives.

use super::draft::player;
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Collective, World};

pub(super) const RULE: Rule = Rule {
    name: "collective-order",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The two ends of a mismatch, the lower rank first, with the collectives that they call.
pub(super) fn mismatch<'w>(world: &'w World, seen: &Seen) -> Option<[(At, &'w Collective); 2]> {
    let Observation::CollectiveMismatch { first, other } = seen.observation else { return None };
    let called = |at: At| Some((at, describe::event(world, at).action.collective()?));
    let (one, two) = if first.0 < other.0 { (first, other) } else { (other, first) };
    Some([called(one)?, called(two)?])
}

fn check(case: &Case<'_>) -> Vec<Finding> {
    case.seen.iter().filter_map(|seen| report(case, seen)).take(1).collect()
}

fn report(case: &Case<'_>, seen: &Seen) -> Option<Finding> {
    let world = case.world;
    let [(at, one), (other, two)] = mismatch(world, seen)?;
    if one.kind == two.kind {
        return None;
    }
    let message = format!(
        "{} calls `{}` where {} calls `{}`",
        player(world, at.0),
        describe::operation(world, at),
        player(world, other.0),
        describe::operation(world, other)
    );
    let finding = RULE
        .finding(world, at, message, format!("rank {} is here", at.0))
        .other_end(world, other, format!("rank {} is here", other.0))
        .ranks(vec![at.0, other.0])
        .trace(&seen.trace)
        .note("all ranks of a communicator call its collectives in the same order (MPI 4.0, 6.14)")
        .help(world.dialect.words(
            "call the same collectives in the same order in every role",
            if one.root.or(two.root).is_some() {
                "call the same collectives in the same order on every rank; the root calls the form that ends in `_root`"
            } else {
                "call the same collectives in the same order on every rank"
            },
            "call the same collectives in the same order on every rank",
        ));
    Some(finding)
}
