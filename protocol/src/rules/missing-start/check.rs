//! A persistent operation that is waited for and never started.

use super::draft::{by_place, player};
use super::persistent::Plan;
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Action;

pub(super) const RULE: Rule = Rule {
    name: "missing-start",
    group: Group::Request,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// A plan, and the step that waits for it.
type Unstarted = (At, At);

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut unstarted: Vec<Unstarted> = Vec::new();
    for plan in Plan::all(case.world) {
        // What may be started by a step that is not understood is left alone.
        let behind = plan.behind(|_| false);
        if behind.does(|action| plan.starts(action) || *action == Action::Opaque) {
            continue;
        }
        let wait = plan.steps(|action| plan.completes(action)).find(|wait| behind.has(*wait));
        unstarted.extend(wait.map(|wait| (plan.at, (plan.at.0, wait))));
    }
    let places = by_place(case, unstarted, |(plan, _)| *plan);
    places.iter().map(|(_, unstarted)| report(case, unstarted)).collect()
}

fn report(case: &Case<'_>, unstarted: &[Unstarted]) -> Finding {
    let (world, (plan, wait)) = (case.world, unstarted[0]);
    let message = format!(
        "{} prepares `{}` and waits for it, and never starts it",
        player(world, plan.0),
        describe::operation(world, plan)
    );
    RULE.finding(world, plan, message, "prepared here, never started")
        .ranks(unstarted.iter().map(|((rank, _), _)| *rank).collect())
        .other_end(world, wait, "waited for here")
        .note("a wait for a request that was not started returns at once: nothing is sent or received")
        .help("call `MPI_Start` before each wait")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, planned, start, wait};
    use crate::model::Action;

    fn count(between: Vec<Action>) -> usize {
        found(&c(planned(between)), "missing-start").len()
    }

    #[test]
    fn what_is_waited_for_was_started() {
        assert_eq!(count(vec![wait(&[0])]), 1);
        assert_eq!(count(vec![start(0), wait(&[0])]), 0);
        // Nothing of it was needed.
        assert_eq!(count(vec![]), 0);
        // In the next turn it is started.
        assert_eq!(count(vec![wait(&[0]), start(0), Action::Jump { target: 1 }]), 0);
        assert_eq!(count(vec![wait(&[0]), Action::Opaque]), 0);
    }
}
