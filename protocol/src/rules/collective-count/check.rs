//! Ranks that bring different amounts to one collective.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "collective-count",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let differing = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::CollectiveCount { first, other } => Some((first.min(other), first.max(other), seen)),
        _ => None,
    });
    let places = by_place(case, differing, |(one, _, _)| *one);
    places.iter().map(|(_, differing)| report(case.world, differing)).collect()
}

fn report(world: &World, differing: &[(At, At, &Seen)]) -> Finding {
    let (one, other, seen) = differing[0];
    let brings = |at| describe::brought(world, at);
    let message = format!(
        "in `{}`, {} has {}, and {} has {}",
        describe::operation(world, one),
        player(world, one.0),
        brings(one),
        player(world, other.0),
        brings(other)
    );
    RULE.finding(world, one, message, format!("{} on rank {}", brings(one), one.0))
        .other_end(world, other, format!("{} on rank {}", brings(other), other.0))
        .ranks(differing.iter().flat_map(|(one, other, _)| [one.0, other.0]).collect())
        .trace(&seen.trace)
        .note("a broadcast and a reduction move the same number of elements on every rank (MPI 4.0, 6.4 and 6.9); with fewer room the job ends, with more the rest is garbage")
        .help("name the same message in the collective on every rank")
}
