//! A rank that waits for one that has ended.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{Case, Cause, Unpaired, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Peer};

pub(super) const RULE: Rule = Rule {
    name: "rank-left-waiting",
    group: Group::Deadlock,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let left = case.unpaired.iter().filter(|unpaired| {
        let offers =
            matches!(describe::event(case.world, unpaired.operation.at).action, Action::Offer { .. });
        !unpaired.operation.sending
            && (unpaired.cause == Cause::Ended
                || (offers && matches!(unpaired.cause, Cause::Nobody { .. })))
    });
    let places = by_place(case, left, |unpaired| unpaired.operation.at);
    places.iter().map(|(_, left)| report(case, left)).collect()
}

fn report(case: &Case<'_>, left: &[&Unpaired]) -> Finding {
    let (world, first) = (case.world, left[0]);
    let at = first.operation.at;
    let from = match first.operation.peer {
        Peer::Rank(rank) => player(world, rank.unsigned_abs()),
        other => describe::peer(other),
    };
    let message = format!(
        "{} waits in `{}`, but {from} ends without it",
        player(world, at.0),
        describe::operation(world, at)
    );
    let finding = RULE.finding(world, at, message, format!("waits for {from}, which has ended"));
    let finding = match first.operation.peer {
        Peer::Rank(rank) => finding.absent(world, rank.unsigned_abs(), "is this, and has ended"),
        _ => finding,
    };
    finding
        .ranks(left.iter().map(|unpaired| unpaired.operation.at.0).collect())
        .waits(world, &first.waits)
        .trace(&first.trace)
        .note("a rank that leaves does not take the others with it: they wait for ever")
        .help(world.dialect.words(
            "let the rank that decides to end tell everybody who counts on it: `choose(..)` there, `offer(..)` here",
            "let the rank that leaves send first what the others count on, or end the job on all ranks with `abort`",
            "let the rank that leaves send first what the others count on, or end the job on all ranks with `MPI_Abort`",
        ))
}
