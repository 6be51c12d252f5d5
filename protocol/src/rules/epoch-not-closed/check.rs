//! An epoch that is still open where it has to be closed.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::epochs::{Fault, faults};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, WindowStep, World};

pub(super) const RULE: Rule = Rule {
    name: "epoch-not-closed",
    group: Group::Rma,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The step that opens, and the one at which it is still open.
type NotClosed = (At, At);

fn check(case: &Case<'_>) -> Vec<Finding> {
    let open = faults(case.world).into_iter().filter_map(|(at, fault, _)| match fault {
        Fault::NotClosed(opening) => Some(((at.0, opening), at)),
        _ => None,
    });
    let places = by_place(case, open, |(opening, _)| *opening);
    places.iter().map(|(_, steps)| report(case.world, steps)).collect()
}

fn report(world: &World, steps: &[NotClosed]) -> Finding {
    let (opening, until) = steps[0];
    let closing = closing(world, opening);
    let message = format!(
        "{} opens an epoch with `{}`, and no `{closing}` closes it",
        player(world, opening.0),
        describe::operation(world, opening)
    );
    let is_end = until.1 >= world.behaviours[until.0 as usize].events.len();
    let finding = RULE
        .finding(world, opening, message, "opened here, never closed")
        .ranks(steps.iter().map(|((rank, _), _)| *rank).collect())
        .note("only the end of an epoch says that its accesses are done: before, nothing that was put is known to be there, and nothing that was got may be read")
        .help(format!("call `{closing}` behind the last access"));
    if is_end { finding } else { finding.other_end(world, until, "still open here") }
}

/// What closes the epoch that a step opens.
fn closing(world: &World, opening: At) -> &'static str {
    let Action::OneSided(it) = &describe::event(world, opening).action else { return "end" };
    match it.step {
        WindowStep::Fence { .. } => "MPI_Win_fence",
        WindowStep::Lock { .. } => "MPI_Win_unlock",
        WindowStep::LockAll => "MPI_Win_unlock_all",
        WindowStep::Start { .. } => "MPI_Win_complete",
        WindowStep::Post { .. } => "MPI_Win_wait",
        _ => "end",
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, on_window, put};
    use crate::model::{Action, Peer, WindowStep};

    fn count(steps: Vec<Action>) -> usize {
        found(&c(vec![steps, vec![]]), "epoch-not-closed").len()
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
    fn what_is_opened_is_closed() {
        assert_eq!(count(vec![lock(), put(1, 0..4)]), 1);
        assert_eq!(count(vec![lock(), put(1, 0..4), unlock()]), 0);
        assert_eq!(count(vec![lock(), on_window(WindowStep::Freed)]), 1);
        assert_eq!(count(vec![lock(), fence()]), 1);
    }

    #[test]
    fn a_fence_opens_an_epoch_only_for_what_follows() {
        assert_eq!(count(vec![fence(), on_window(WindowStep::Freed)]), 0);
        assert_eq!(count(vec![fence(), put(1, 0..4), on_window(WindowStep::Freed)]), 1);
        assert_eq!(count(vec![fence(), put(1, 0..4), fence(), on_window(WindowStep::Freed)]), 0);
    }

    #[test]
    fn who_aborts_closes_nothing() {
        let departure = crate::model::Departure::Aborted;
        assert_eq!(count(vec![lock(), Action::Leave { departure }]), 0);
    }
}
