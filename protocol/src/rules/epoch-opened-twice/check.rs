//! An epoch that is opened while it is open.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::epochs::{Fault, faults};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "epoch-opened-twice",
    group: Group::Rma,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The step that opens, and the one that had opened before.
type Twice = (At, At);

fn check(case: &Case<'_>) -> Vec<Finding> {
    let twice = faults(case.world).into_iter().filter_map(|(at, fault, _)| match fault {
        Fault::Twice(first) => Some((at, (at.0, first))),
        _ => None,
    });
    let places = by_place(case, twice, |(at, _)| *at);
    places.iter().map(|(_, steps)| report(case.world, steps)).collect()
}

fn report(world: &World, steps: &[Twice]) -> Finding {
    let (at, first) = steps[0];
    let message = format!(
        "{} calls `{}` while its epoch of `{}` is open",
        player(world, at.0),
        describe::operation(world, at),
        describe::operation(world, first)
    );
    RULE.finding(world, at, message, "opened a second time")
        .ranks(steps.iter().map(|(at, _)| at.0).collect())
        .other_end(world, first, "open since here")
        .note("a rank has one access epoch of a window at a time, but for locks of different ranks' parts (MPI 4.0, 12.5); MPI ends the job with MPI_ERR_RMA_SYNC, or the rank waits for itself")
        .help("close the first epoch before: `MPI_Win_unlock`, `MPI_Win_unlock_all`, `MPI_Win_complete` or `MPI_Win_wait`")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, on_window, put};
    use crate::model::{Action, Peer, WindowStep};

    fn count(steps: Vec<Action>) -> usize {
        found(&c(vec![steps, vec![]]), "epoch-opened-twice").len()
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
    fn an_epoch_is_open_once() {
        assert_eq!(count(vec![lock(), put(1, 0..4), lock(), put(1, 4..8), unlock()]), 1);
        assert_eq!(count(vec![lock(), unlock(), lock(), unlock()]), 0);
        assert_eq!(count(vec![fence(), fence()]), 0);
        let other = WindowStep::Lock { target: Peer::Rank(0), exclusive: false };
        assert_eq!(count(vec![lock(), on_window(other)]), 0);
        assert_eq!(count(vec![lock(), on_window(WindowStep::LockAll)]), 1);
        let post = || on_window(WindowStep::Post { group: None });
        let start = || on_window(WindowStep::Start { group: None });
        assert_eq!(count(vec![post(), start()]), 0, "one is for others, the other is its own");
        assert_eq!(count(vec![post(), post()]), 1);
        assert_eq!(count(vec![start(), start()]), 1);
    }
}
