//! A collective that some ranks never call.

use super::{Check, Rule};
use crate::engine::{At, Case, MissingRank, describe};
use crate::finding::{Finding, Group, Level, ranks};

pub(super) const RULE: Rule = Rule {
    name: "collective-missing-rank",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    case.missing.iter().map(|missing| report(case, missing)).collect()
}

fn report(case: &Case<'_>, missing: &MissingRank) -> Finding {
    let world = case.world;
    let at: At = missing.arrivals.iter().copied().min().expect("somebody has come");
    let mut present: Vec<u32> = missing.arrivals.iter().map(|arrival| arrival.0).collect();
    present.sort_unstable();
    let absent = ranks(&missing.missing);
    let message = format!(
        "{} {} `{}`, and {absent} {}",
        ranks(&present),
        if present.len() == 1 { "calls" } else { "call" },
        describe::operation(world, at),
        match (missing.trace.is_empty(), missing.missing.len()) {
            (true, 1) => "never does",
            (true, _) => "never do",
            (false, 1) => "does not in the run shown",
            (false, _) => "do not in the run shown",
        }
    );
    RULE.finding(world, at, message, format!("waits for {absent}"))
        .absent(world, missing.missing[0], "is this, and does not call it")
        .ranks(present.into_iter().chain(missing.missing.iter().copied()).collect())
        .waits(world, &missing.waits)
        .trace(&missing.trace)
        .note("a collective is for all ranks of its communicator: those who come wait for those who do not")
        .help("let every role call it, or none; a collective under an `if` on `rank` is nearly always wrong")
}
