//! A rank that waits for one that has ended.

use super::draft::{by_place, player};
use super::peer_out_of_range::stops;
use super::{Check, Rule};
use crate::engine::{At, Case, Cause, MissingRank, Unpaired, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Departure, Dialect, Peer, World};

pub(super) const RULE: Rule = Rule {
    name: "rank-left-waiting",
    group: Group::Deadlock,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let left = case.unpaired.iter().filter(|unpaired| {
        let offers = matches!(
            describe::event(case.world, unpaired.operation.at).action,
            Action::Offer { .. }
        );
        let ended = unpaired.cause == Cause::Ended
            || (offers && matches!(unpaired.cause, Cause::Nobody { .. }));
        // A rank that panics for want of a peer has been reported for that.
        matches!(unpaired.cause, Cause::Left(leave) if !stops(case.world, leave))
            || (ended && !unpaired.operation.sending)
    });
    let places = by_place(case, left, |unpaired| unpaired.operation.at);
    let missing = case.missing.iter().filter(|missing| {
        !missing.left.is_empty() && !missing.left.iter().all(|&leave| stops(case.world, leave))
    });
    let mut findings: Vec<Finding> = places.iter().map(|(_, left)| report(case, left)).collect();
    findings.extend(missing.map(|missing| collective(case, missing)));
    findings
}

fn report(case: &Case<'_>, left: &[&Unpaired]) -> Finding {
    let (world, first) = (case.world, left[0]);
    let at = first.operation.at;
    let from = match first.operation.peer {
        Peer::Rank(rank) => player(world, rank.unsigned_abs()),
        other => describe::peer(world, other),
    };
    let (who, operation) = (player(world, at.0), describe::operation(world, at));
    let message = match first.cause {
        Cause::Left(_) => format!("{who} waits in `{operation}` for {from}, which has left"),
        _ => format!("{who} waits in `{operation}`, but {from} ends without it"),
    };
    let finding = RULE.finding(world, at, message, format!("waits for {from}, which has ended"));
    let finding = match (first.cause, first.operation.peer) {
        (Cause::Left(leave), _) => finding.departure(world, leave),
        (_, Peer::Rank(rank)) => {
            finding.absent(world, rank.unsigned_abs(), "is this, and has ended")
        }
        _ => finding,
    };
    finding
        .ranks(left.iter().map(|unpaired| unpaired.operation.at.0).collect())
        .between(at.0, first.operation.peer)
        .waits(world, &first.waits)
        .waited_for(world, &first.waits, at)
        .trace(&first.trace)
        .advice(world)
}

/// A collective that ranks have come to which wait for some that have left.
fn collective(case: &Case<'_>, missing: &MissingRank) -> Finding {
    let world = case.world;
    let at: At = missing.arrivals.iter().copied().min().expect("somebody has come");
    let gone: Vec<u32> = missing.left.iter().map(|leave| leave.0).collect();
    let gone = crate::finding::ranks(&gone);
    let (who, operation) = (player(world, at.0), describe::operation(world, at));
    let has = if missing.left.len() == 1 { "has" } else { "have" };
    let message = format!("{who} waits in `{operation}` for {gone}, which {has} left");
    let finding = RULE.finding(world, at, message, format!("waits for {gone}"));
    let finding =
        missing.left.iter().fold(finding, |finding, &leave| finding.departure(world, leave));
    finding
        .ranks(missing.arrivals.iter().map(|arrival| arrival.0).collect())
        .between(at.0, Peer::Rank(missing.missing[0].cast_signed()))
        .waits(world, &missing.waits)
        .trace(&missing.trace)
        .advice(world)
}

impl Finding {
    /// Where a rank leaves, and what becomes of it.
    fn departure(self, world: &World, leave: At) -> Self {
        let finding = self.other_end(world, leave, format!("rank {} leaves here", leave.0));
        let note = match describe::event(world, leave).action {
            Action::Leave { departure: Departure::Panicked } if world.dialect == Dialect::Rsmpi => {
                let here = finding.primary.place == describe::event(world, leave).place;
                if here { WRONG_HALF } else { PANIC }
            }
            Action::Leave { departure: Departure::Exited } => EXIT,
            _ => return finding,
        };
        if finding.notes.iter().any(|known| known == note) { finding } else { finding.note(note) }
    }

    fn advice(self, world: &World) -> Self {
        if self.notes.iter().any(|note| note == WRONG_HALF) {
            return self.help("call the half named `.._root` on the root only, and the other half on the others: `if world.rank() == root {`");
        }
        let exits = self.notes.iter().any(|note| note == EXIT);
        let alone = "a rank that leaves does not take the others with it: they wait for ever";
        let finding = if exits { self } else { self.note(alone) };
        finding.help(
            world.dialect.words(
                "let the rank that decides to end tell everybody who counts on it: `choose(..)` there, `offer(..)` here",
                "let the rank that leaves send first what the others count on, or end the job on all ranks with `abort`",
                "let the rank that leaves send first what the others count on, or end the job on all ranks with `MPI_Abort`",
            ),
        )
    }
}

/// What a panic does to a job on rsmpi.
const PANIC: &str = "a panic drops the `Universe`, which waits in MPI_Finalize for the other ranks: the job hangs instead of failing";

/// Why a rank panics in the call in which others wait for it.
const WRONG_HALF: &str = "that rank panics in the same call: rsmpi asserts that the half named `.._root` is called on the root, and the other half on all other ranks; the panic waits in MPI_Finalize, and the job hangs";

/// What an exit does to a job.
const EXIT: &str = "a rank that exits without MPI_Finalize may end the whole job, as it does under `mpirun` of Open MPI, or leave the others waiting for ever";

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi};
    use crate::engine::samples::{receive, send};
    use crate::model::{Action, Collective, CollectiveKind, Departure};

    #[test]
    fn a_panic_leaves_the_others_waiting() {
        let gone = |departure| Action::Leave { departure };
        let world = |departure| rsmpi(vec![vec![receive(1, 0)], vec![gone(departure), send(0, 0)]]);
        let wrong = found(&world(Departure::Panicked), "rank-left-waiting");
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            wrong[0].message,
            "rank 0 waits in `receive of 1 u8 from rank 1 (tag 0)` for rank 1, which has left (with 2 ranks)"
        );
        assert_eq!(wrong[0].secondary.len(), 1);
        assert!(wrong[0].notes.iter().any(|note| note == super::PANIC));
        assert!(found(&world(Departure::Aborted), "rank-left-waiting").is_empty());
    }

    #[test]
    fn a_panic_keeps_a_collective_waiting() {
        let kind = CollectiveKind::Barrier;
        let barrier = || Action::Collective(Collective::of(kind, 0));
        let gone = Action::Leave { departure: Departure::Panicked };
        let world = rsmpi(vec![vec![barrier()], vec![gone, barrier()]]);
        assert_eq!(found(&world, "rank-left-waiting").len(), 1);
        assert!(found(&world, "collective-missing-rank").is_empty());
    }
}
