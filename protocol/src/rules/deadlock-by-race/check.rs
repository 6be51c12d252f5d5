//! A hang that depends on who comes first.

use super::{Check, Rule};
use crate::engine::{Case, Circle, Reading};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "deadlock-by-race",
    group: Group::Deadlock,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let circles =
        case.circles.iter().filter(|circle| circle.by_race && circle.reading == Reading::Any);
    circles.map(|circle| report(case, circle)).collect()
}

fn report(case: &Case<'_>, circle: &Circle) -> Finding {
    let message = "some orders of arrival end well, and in this one no rank can move".to_owned();
    RULE.circle(case, circle, message)
        .note("a wildcard takes whichever message comes first, so this comes and goes from run to run")
        .help("name the source that is meant, or give the two kinds of message different tags")
}
