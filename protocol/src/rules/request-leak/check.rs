//! A persistent request that is never freed.

use super::draft::{by_place, player};
use super::persistent::Plan;
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Dialect;

pub(super) const RULE: Rule = Rule {
    name: "request-leak",
    group: Group::Request,
    level: Level::Warn,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut kept: Vec<At> = Vec::new();
    // The protocol language frees what it prepares.
    if case.world.dialect == Dialect::Protocol {
        return Vec::new();
    }
    for plan in Plan::all(case.world) {
        let behind = plan.behind(|action| plan.makes_anew(action));
        let is_made_anew = behind.does(|action| plan.makes_anew(action));
        if (behind.ends() || is_made_anew) && !behind.does(|action| plan.frees(action)) {
            kept.push(plan.at);
        }
    }
    let report = |kept: &[At]| {
        let (world, plan) = (case.world, kept[0]);
        let message = format!(
            "{} prepares `{}` and never frees its request",
            player(world, plan.0),
            describe::operation(world, plan)
        );
        RULE.finding(world, plan, message, "made here, never freed")
            .ranks(kept.iter().map(|(rank, _)| *rank).collect())
            .note("a wait leaves a persistent request as it is, to be started again: only `MPI_Request_free` ends it")
            .help("call `MPI_Request_free` once it is not started any more")
    };
    by_place(case, kept, |at| *at).iter().map(|(_, kept)| report(kept)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, planned, start, wait};
    use crate::model::Action;

    fn count(between: Vec<Action>) -> usize {
        found(&c(planned(between)), "request-leak").len()
    }

    #[test]
    fn what_is_prepared_is_freed() {
        let free = || Action::Free { request: 0 };
        assert_eq!(count(vec![start(0), wait(&[0])]), 1);
        assert_eq!(count(vec![start(0), wait(&[0]), free()]), 0);
        assert_eq!(count(vec![start(0), wait(&[0]), Action::Opaque]), 0);
        let [anew] = [planned(vec![])[0][0].clone()];
        assert_eq!(count(vec![anew, free()]), 1);
    }
}
