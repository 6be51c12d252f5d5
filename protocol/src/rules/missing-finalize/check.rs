//! MPI is initialized and never finalized.

use super::draft::{by_place, player};
use super::flow::Flow;
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Action;

pub(super) const RULE: Rule = Rule {
    name: "missing-finalize",
    group: Group::Resource,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut starts: Vec<At> = Vec::new();
    for (rank, behaviour) in (0..).zip(&case.world.behaviours) {
        let flow = Flow::of(behaviour);
        let unfinished = flow.steps(|action| *action == Action::Initialize).filter(|position| {
            let behind = flow.behind([*position], |_| false);
            behind.ends() && !behind.does(|action| *action == Action::Finalize)
        });
        starts.extend(unfinished.map(|position| (rank, position)));
    }
    let report = |starts: &[At]| {
        let (world, at) = (case.world, starts[0]);
        let who = player(world, at.0);
        let message =
            format!("{who} calls `{}` and never `MPI_Finalize`", describe::operation(world, at));
        RULE.finding(world, at, message, "never finalized")
            .ranks(starts.iter().map(|(rank, _)| *rank).collect())
            .note("a rank that ends without is taken for one that has crashed: the launcher ends the others, and what they still have to do is lost")
            .help("call `MPI_Finalize` on every way out of the program, or `MPI_Abort` where it fails")
    };
    by_place(case, starts, |at| *at).iter().map(|(_, starts)| report(starts)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found};
    use crate::model::{Action, Departure};

    fn count(actions: Vec<Action>) -> usize {
        found(&c(vec![actions, vec![]]), "missing-finalize").len()
    }

    #[test]
    fn what_begins_comes_to_an_end() {
        assert_eq!(count(vec![Action::Initialize]), 1);
        assert_eq!(count(vec![Action::Initialize, Action::Finalize]), 0);
    }

    #[test]
    fn who_aborts_need_not_finalize() {
        let abort = Action::Leave { departure: Departure::Aborted };
        assert_eq!(count(vec![Action::Initialize, abort]), 0);
        let ways = Action::Branch { targets: [2, 3].into() };
        assert_eq!(count(vec![Action::Initialize, ways, Action::Finalize]), 0);
    }

    #[test]
    fn nobody_knows_what_is_not_understood() {
        assert_eq!(count(vec![Action::Initialize, Action::Opaque]), 0);
    }
}
