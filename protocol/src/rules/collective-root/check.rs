//! Ranks that name different roots in one collective.

use super::collective_order::mismatch;
use super::draft::player;
use super::{Check, Rule};
use crate::engine::{Case, Seen, words};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "collective-root",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    case.seen.iter().filter_map(|seen| report(case, seen)).take(1).collect()
}

fn report(case: &Case<'_>, seen: &Seen) -> Option<Finding> {
    let world = case.world;
    let [(at, one), (other, two)] = mismatch(world, seen)?;
    let (true, Some(root), Some(other_root)) = (one.kind == two.kind, one.root, two.root) else {
        return None;
    };
    if root == other_root {
        return None;
    }
    let message = format!(
        "in `{}`, {} takes rank {root} for the root, and {} takes rank {other_root}",
        words::collective(world.dialect, one.kind),
        player(world, at.0),
        player(world, other.0)
    );
    let finding = RULE
        .finding(world, at, message, format!("root {root} on rank {}", at.0))
        .other_end(world, other, format!("root {other_root} on rank {}", other.0))
        .ranks(vec![at.0, other.0])
        .trace(&seen.trace)
        .note("all ranks name the same root; with different ones the data goes astray or the job hangs")
        .help("give every rank the same root");
    Some(finding)
}
