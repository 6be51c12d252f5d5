//! A persistent operation that is waited for before it is started, and not behind.

use super::draft::{by_place, player};
use super::persistent::{Early, early_waits};
use super::{Check, Rule};
use crate::engine::{Case, describe};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "wait-before-start",
    group: Group::Request,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let places = by_place(case, early_waits(case.world), |early| early.wait);
    places.iter().map(|(_, early)| report(case, early)).collect()
}

fn report(case: &Case<'_>, all: &[Early]) -> Finding {
    let (world, Early { plan, wait, start }) = (case.world, all[0]);
    let message = format!(
        "{} waits for `{}` before it starts it, and no more behind",
        player(world, wait.0),
        describe::operation(world, plan)
    );
    RULE.finding(world, wait, message, "not started yet: this returns at once")
        .ranks(all.iter().map(|early| early.wait.0).collect())
        .other_end(world, start, "started here, waited for nowhere")
        .other_end(world, plan, "prepared here")
        .note("until a wait says so, the message may still travel: its buffer must not be touched, and the data may never arrive")
        .help("call `MPI_Start` before the wait")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, planned, start, wait};
    use crate::model::Action;

    fn count(between: Vec<Action>) -> [usize; 2] {
        let world = c(planned(between));
        ["wait-before-start", "missing-wait"].map(|rule| found(&world, rule).len())
    }

    #[test]
    fn a_start_comes_before_its_wait() {
        assert_eq!(count(vec![wait(&[0]), start(0)]), [1, 0]);
        assert_eq!(count(vec![start(0), wait(&[0])]), [0, 0]);
        assert_eq!(count(vec![start(0)]), [0, 1]);
    }

    #[test]
    fn a_wait_ahead_of_the_first_turn_is_right() {
        let turn = || [wait(&[0]), start(0)];
        let turns = turn().into_iter().chain(turn()).chain([wait(&[0])]);
        assert_eq!(count(turns.collect()), [0, 0]);
    }
}
