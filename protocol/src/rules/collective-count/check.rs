//! Ranks that bring different amounts to one collective.

use super::collective_type::differing;
use super::{Check, Rule};
use crate::engine::{Case, Observation};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "collective-count",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let note = "a broadcast and a reduction move the same number of elements on every rank (MPI 4.0, 6.4 and 6.9); with less room the job ends, with more the rest is never written";
    differing(&RULE, case, note, |observation| match observation {
        Observation::CollectiveCount { first, other } => Some((first, other)),
        _ => None,
    })
}
