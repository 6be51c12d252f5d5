//! A message and a receive that would meet if they were on one communicator.

use super::draft::{Missed, by_place, missed, player};
use super::{Check, Rule};
use crate::engine::{Case, Cause, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Peer, World};

pub(super) const RULE: Rule = Rule {
    name: "communicator-mismatch",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let other_end = |cause| match cause {
        Cause::Communicator(other) => Some(other),
        _ => None,
    };
    let pairs = missed(case, other_end);
    let places = by_place(case, pairs, |missed| missed.send);
    places.iter().map(|(_, missed)| report(case.world, missed)).collect()
}

fn report(world: &World, all: &[Missed<'_>]) -> Finding {
    let Missed { send, receive, unpaired } = all[0];
    let on = |at| describe::communicator(world, at);
    let message = format!(
        "{} sends {} on {}, but {} waits for {} on {}: messages never cross",
        player(world, send.0),
        describe::sent(world, send),
        on(send),
        player(world, receive.0),
        describe::received(world, receive),
        on(receive)
    );
    RULE.finding(world, send, message, format!("sends on {}", on(send)))
        .other_end(world, receive, format!("receives on {}", on(receive)))
        .ranks(all.iter().flat_map(|missed| [missed.send.0, missed.receive.0]).collect())
        .between(send.0, Peer::Rank(receive.0.cast_signed()))
        .waits(world, &unpaired.waits)
        .trace(&unpaired.trace)
        .note("a communicator is a world of its own: what is sent on one is never received on another")
        .help("send and receive on the same communicator")
}
