//! A message and a receive that would meet if they were on one communicator.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Cause, Unpaired, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "communicator-mismatch",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut pairs: Vec<(At, At, &Unpaired)> = Vec::new();
    for unpaired in &case.unpaired {
        if let Cause::Communicator(other) = unpaired.cause {
            let at = unpaired.operation.at;
            let (send, receive) = if unpaired.operation.sending { (at, other) } else { (other, at) };
            if !pairs.iter().any(|(known, _, _)| *known == send) {
                pairs.push((send, receive, unpaired));
            }
        }
    }
    let places = by_place(case, pairs, |(send, _, _)| *send);
    places.iter().map(|(_, pairs)| report(case.world, pairs)).collect()
}

fn report(world: &World, pairs: &[(At, At, &Unpaired)]) -> Finding {
    let (send, receive, unpaired) = pairs[0];
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
        .ranks(pairs.iter().flat_map(|(send, receive, _)| [send.0, receive.0]).collect())
        .waits(world, &unpaired.waits)
        .trace(&unpaired.trace)
        .note("a communicator is a world of its own: what is sent on one is never received on another")
        .help("send and receive on the same communicator")
}
