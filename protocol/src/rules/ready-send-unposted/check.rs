//! A ready send that may be ahead of its receive.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Rank;

pub(super) const RULE: Rule = Rule {
    name: "ready-send-unposted",
    group: Group::Race,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let unposted = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::UnpostedReady { send, destination } => Some((send, destination, seen)),
        _ => None,
    });
    let places = by_place(case, unposted, |(send, _, _)| *send);
    places.iter().map(|(_, unposted)| report(case, unposted)).collect()
}

fn report(case: &Case<'_>, unposted: &[(At, Rank, &Seen)]) -> Finding {
    let (world, (send, destination, seen)) = (case.world, unposted[0]);
    let to = player(world, destination);
    let message = format!(
        "{} sends {} in ready mode, and {to} may not have posted its receive by then",
        player(world, send.0),
        describe::sent(world, send)
    );
    let finding = RULE.finding(world, send, message, "may be ahead of the receive");
    let finding = match describe::receive_for(world, send, destination) {
        Some(receive) => finding.other_end(world, receive, "the receive that must be posted first"),
        None => finding,
    };
    finding
        .ranks(unposted.iter().flat_map(|(send, destination, _)| [send.0, *destination]).collect())
        .trace(&seen.trace)
        .note("a ready send without a posted receive is erroneous: the message may be lost, or the job ends")
        .help(world.dialect.words(
            format!("let {to} post `irecv` first and say so by a message or a barrier, or use `send`"),
            format!("let {to} call `immediate_receive_into` first and say so by a message or a barrier, or use `send`"),
            format!("let {to} call `MPI_Irecv` first and say so by a message or a barrier, or use `MPI_Send`"),
        ))
}
