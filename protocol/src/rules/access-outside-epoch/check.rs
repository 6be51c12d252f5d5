//! An access of a window while no epoch of it is open.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::epochs::{Fault, faults};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, WindowStep, World};

pub(super) const RULE: Rule = Rule {
    name: "access-outside-epoch",
    group: Group::Rma,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let outside = faults(case.world).into_iter().filter(|(_, fault, _)| *fault == Fault::Outside);
    let places = by_place(case, outside.map(|(at, ..)| at), |at| *at);
    places.iter().map(|(_, steps)| report(case.world, steps)).collect()
}

fn report(world: &World, steps: &[At]) -> Finding {
    let at = steps[0];
    let (who, operation) = (player(world, at.0), describe::operation(world, at));
    let accesses = match &describe::event(world, at).action {
        Action::OneSided(it) => matches!(it.step, WindowStep::Access(_)),
        _ => false,
    };
    let (message, label) = if accesses {
        (
            format!("{who} calls `{operation}` outside of any epoch of the window"),
            "no epoch is open here",
        )
    } else {
        (
            format!("{who} calls `{operation}`, and no epoch is open that it belongs to"),
            "nothing was opened for this",
        )
    };
    RULE.finding(world, at, message, label)
        .ranks(steps.iter().map(|(rank, _)| *rank).collect())
        .note("an access belongs between two fences, under a lock of the target's part of the window, or between `MPI_Win_start` and `MPI_Win_complete` (MPI 4.0, 12.5); MPI ends the job with MPI_ERR_RMA_SYNC, or nobody knows when the data arrive")
        .help("call `MPI_Win_fence` before it and behind it, on all ranks, or `MPI_Win_lock` and `MPI_Win_unlock` around it")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, on_window, put};
    use crate::model::{Action, Peer, WindowStep};

    fn count(steps: Vec<Action>) -> usize {
        found(&c(vec![steps, vec![]]), "access-outside-epoch").len()
    }

    fn fence() -> Action {
        on_window(WindowStep::Fence { no_precede: false, no_succeed: false, others: false })
    }

    fn lock() -> Action {
        on_window(WindowStep::Lock { target: Peer::Rank(1), exclusive: true })
    }

    fn unlock() -> Action {
        on_window(WindowStep::Unlock { target: Peer::Rank(1) })
    }

    #[test]
    fn an_access_needs_an_epoch() {
        assert_eq!(count(vec![put(1, 0..4)]), 1);
        assert_eq!(count(vec![fence(), put(1, 0..4), fence()]), 0);
        assert_eq!(count(vec![lock(), put(1, 0..4), unlock()]), 0);
        assert_eq!(count(vec![lock(), put(0, 0..4), unlock()]), 1, "the lock is of another rank");
        assert_eq!(count(vec![on_window(WindowStep::LockAll), put(1, 0..4)]), 0);
    }

    #[test]
    fn one_missing_epoch_is_one_fault() {
        assert_eq!(count(vec![put(1, 0..4), put(1, 4..8), unlock()]), 1);
        assert_eq!(count(vec![unlock()]), 1);
    }

    #[test]
    fn a_fence_that_nothing_succeeds_opens_none() {
        let last = WindowStep::Fence { no_precede: false, no_succeed: true, others: false };
        assert_eq!(count(vec![fence(), on_window(last), put(1, 0..4)]), 1);
    }

    #[test]
    fn where_ways_differ_nothing_is_known() {
        let ways = Action::Branch { targets: [1, 2].into() };
        assert_eq!(count(vec![ways.clone(), lock(), put(1, 0..4), unlock()]), 0);
        assert_eq!(count(vec![lock(), ways, put(1, 0..4), unlock()]), 0);
        assert_eq!(count(vec![on_window(WindowStep::Unknown), put(1, 0..4)]), 0);
    }
}
