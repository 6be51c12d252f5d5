//! A call before MPI is initialized.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Phase};

pub(super) const RULE: Rule = Rule {
    name: "call-before-init",
    group: Group::Resource,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = before(case);
    findings.extend(again(case));
    findings
}

/// The calls that are made in a phase.
fn calls(case: &Case<'_>, meant: Phase) -> Vec<At> {
    let mut calls: Vec<At> = Vec::new();
    for (rank, behaviour) in (0..).zip(&case.world.behaviours) {
        for (position, event) in behaviour.events.iter().enumerate() {
            if matches!(event.action, Action::Outside { phase, .. } if phase == meant) {
                calls.push((rank, position));
            }
        }
    }
    calls
}

/// Calls of `MPI_Init` where MPI is there.
fn again(case: &Case<'_>) -> Vec<Finding> {
    let report = |calls: &[At]| {
        let (world, at) = (case.world, calls[0]);
        let call = describe::operation(world, at);
        let message = format!("{} calls `{call}` a second time", player(world, at.0));
        RULE.finding(world, at, message, "MPI is initialized already")
            .ranks(calls.iter().map(|(rank, _)| *rank).collect())
            .note("MPI ends the job: it is initialized once in a program, before all other calls (MPI 4.0, 11.2.1)")
            .help("call it once; a library that may be first asks `MPI_Initialized`")
    };
    by_place(case, calls(case, Phase::Again), |at| *at).iter().map(|(_, it)| report(it)).collect()
}

fn before(case: &Case<'_>) -> Vec<Finding> {
    let report = |calls: &[At]| {
        let (world, at) = (case.world, calls[0]);
        let message = format!(
            "{} calls `{}` before `MPI_Init`",
            player(world, at.0),
            describe::operation(world, at)
        );
        RULE.finding(world, at, message, "MPI is not initialized yet")
            .ranks(calls.iter().map(|(rank, _)| *rank).collect())
            .note("MPI ends the job: before `MPI_Init` only `MPI_Initialized`, `MPI_Finalized`, the version and a few others may be asked for (MPI 4.0, 11.4.1)")
            .help("call `MPI_Init` or `MPI_Init_thread` first")
    };
    let calls = calls(case, Phase::BeforeInitialize);
    by_place(case, calls, |at| *at).iter().map(|(_, calls)| report(calls)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found};
    use crate::model::{Action, Phase};

    #[test]
    fn calls_have_their_time() {
        let outside = Action::Outside { call: 0, phase: Phase::BeforeInitialize };
        let found = found(&c(vec![vec![outside], vec![]]), "call-before-init");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "rank 0 calls `MPI_Send` before `MPI_Init` (with 2 ranks)");
    }

    #[test]
    fn it_begins_once() {
        let again = Action::Outside { call: 0, phase: Phase::Again };
        let found = found(&c(vec![vec![Action::Initialize, again], vec![]]), "call-before-init");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("rank 0 calls `MPI_Send` a second time"));
    }
}
