//! A collective that some ranks never call.

use super::communicator_mismatch::crossed;
use super::{Check, Rule};
use crate::engine::{At, Case, MissingRank, describe};
use crate::finding::{Finding, Group, Level, ranks};
use crate::model::Peer;

pub(super) const RULE: Rule = Rule {
    name: "collective-missing-rank",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    // Those who wait for ranks that have left are `rank-left-waiting`.
    let crossed = crossed(case);
    let is_crossed =
        |one: &MissingRank| crossed.iter().flatten().any(|other| std::ptr::eq(*other, one));
    let missing = case.missing.iter().filter(|missing| missing.left.is_empty());
    missing.filter(|missing| !is_crossed(missing)).map(|missing| report(case, missing)).collect()
}

fn report(case: &Case<'_>, missing: &MissingRank) -> Finding {
    let world = case.world;
    let at: At = missing.arrivals.iter().copied().min().expect("somebody has come");
    let mut present: Vec<u32> = missing.arrivals.iter().map(|arrival| arrival.0).collect();
    present.sort_unstable();
    let absent = ranks(&missing.missing);
    let called = describe::operation(world, at);
    let call = if present.len() == 1 { "calls" } else { "call" };
    let again = describe::calls(world, missing.missing[0], at) > 0;
    let do_not = match (missing.trace.is_empty() || !again, missing.missing.len()) {
        (true, 1) => "never does",
        (true, _) => "never do",
        (false, 1) => "does not in the run shown",
        (false, _) => "do not in the run shown",
    };
    let message = match again && missing.trace.is_empty() {
        true => format!("{} {call} `{called}` more often than {absent}", ranks(&present)),
        false => format!("{} {call} `{called}`, and {absent} {do_not}", ranks(&present)),
    };
    let does_not = if again { "does not call it again" } else { "does not call it" };
    RULE.finding(world, at, message, format!("waits for {absent}"))
        .absent(world, missing.missing[0], &format!("is this, and {does_not}"))
        .ranks(present.into_iter().chain(missing.missing.iter().copied()).collect())
        .between(at.0, Peer::Rank(missing.missing[0].cast_signed()))
        .waits(world, &missing.waits)
        .trace(&missing.trace)
        .note("a collective is for all ranks of its communicator: those who come wait for those who do not")
        .help(format!(
            "let every {} call it, or none; a collective under an `if` on `rank` is nearly always wrong",
            world.dialect.words("role", "rank", "rank")
        ))
}
