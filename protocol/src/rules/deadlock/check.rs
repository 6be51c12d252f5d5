//! Ranks that wait for each other whatever is buffered.

use super::draft::player;
use super::send_to_self::is_send_to_self;
use super::{Check, Rule};
use crate::engine::{Case, Circle, Reading};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "deadlock",
    group: Group::Deadlock,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let circles = case.circles.iter().filter(|circle| {
        circle.reading == Reading::Any && !circle.by_race && !is_send_to_self(case, circle)
    });
    circles.map(|circle| report(case, circle)).collect()
}

fn report(case: &Case<'_>, circle: &Circle) -> Finding {
    if !circle.is_closed() {
        return stuck(case, circle);
    }
    let message = match circle.members.len() {
        1 => "a rank waits for itself".to_owned(),
        count => format!("{count} ranks wait for each other, and none can move"),
    };
    RULE.circle(case, circle, message)
        .note("this happens however much MPI buffers")
        .cures(case, circle)
}

/// Ranks that can never move again, though they do not wait for each other in a circle.
fn stuck(case: &Case<'_>, circle: &Circle) -> Finding {
    let (verb, ranks) = match circle.members.as_slice() {
        [one] => ("waits", player(case.world, one.rank)),
        many => ("wait", format!("{} ranks", many.len())),
    };
    let message = format!("{ranks} {verb} for what never comes, and nobody can move");
    RULE.circle(case, circle, message)
        .note("this happens however much MPI buffers")
        .help("let somebody send what is waited for, or leave the wait out on this path")
}
