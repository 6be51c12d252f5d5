//! Ranks that bring different types to one collective.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "collective-type",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let note = "the bytes of one type are taken for another, or the job ends: MPI asks for the same type signature on all ranks (MPI 4.0, 6.1)";
    differing(&RULE, case, note, |observation| match observation {
        Observation::CollectiveType { first, other } => Some((first, other)),
        _ => None,
    })
}

/// A finding for each collective whose data differ between two ranks, as `ends` sees it.
pub(super) fn differing(
    rule: &Rule,
    case: &Case<'_>,
    note: &str,
    ends: impl Fn(Observation) -> Option<(At, At)>,
) -> Vec<Finding> {
    let differing = case.seen.iter().filter_map(|seen| {
        let (first, other) = ends(seen.observation)?;
        Some((first.min(other), first.max(other), seen))
    });
    let places = by_place(case, differing, |(one, _, _)| *one);
    places.iter().map(|(_, differing)| report(rule, case.world, differing).note(note)).collect()
}

fn report(rule: &Rule, world: &World, differing: &[(At, At, &Seen)]) -> Finding {
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
    rule.finding(world, one, message, format!("{} on rank {}", brings(one), one.0))
        .other_end(world, other, format!("{} on rank {}", brings(other), other.0))
        .ranks(differing.iter().flat_map(|(one, other, _)| [one.0, other.0]).collect())
        .trace(&seen.trace)
        .help(world.dialect.words(
            "name the same message in the collective on every rank",
            "give the collective buffers of the same element type and length on every rank",
            "give the collective the same datatype and count on every rank",
        ))
}
