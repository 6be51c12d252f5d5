//! A persistent operation that is waited for and never started.

use super::draft::{by_place, player};
use super::persistent::{Unstarted, unstarted};
use super::{Check, Rule};
use crate::engine::{Case, describe};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "missing-start",
    group: Group::Request,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let places = by_place(case, unstarted(case.world), |one| one.plan);
    places.iter().map(|(_, unstarted)| report(case, unstarted)).collect()
}

fn report(case: &Case<'_>, unstarted: &[Unstarted]) -> Finding {
    let (world, Unstarted { plan, wait }) = (case.world, unstarted[0]);
    let message = format!(
        "{} prepares `{}` and waits for it, and never starts it",
        player(world, plan.0),
        describe::operation(world, plan)
    );
    RULE.finding(world, plan, message, "prepared here, never started")
        .ranks(unstarted.iter().map(|one| one.plan.0).collect())
        .other_end(world, wait, "waited for here")
        .note("a wait for a request that was not started returns at once: nothing is sent or received")
        .help("call `MPI_Start` before each wait")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{all, c, found, planned, start, wait};
    use crate::engine::samples::receive;
    use crate::model::Action;

    fn count(between: Vec<Action>) -> usize {
        found(&c(planned(between)), "missing-start").len()
    }

    #[test]
    fn who_waits_for_it_is_not_told_again() {
        let mut ranks = planned(vec![wait(&[0])]);
        ranks[1] = vec![receive(0, 0)];
        let rules: Vec<_> = all(&c(ranks)).iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["missing-start", "request-leak"]);
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
