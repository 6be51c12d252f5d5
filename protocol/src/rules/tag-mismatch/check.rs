//! A message and a receive that would meet if their tags agreed.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Cause, Unpaired, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "tag-mismatch",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut pairs: Vec<(At, At, &Unpaired)> = Vec::new();
    for unpaired in &case.unpaired {
        if let Cause::Tag(other) = unpaired.cause {
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
    let (sent, received) = (describe::sent(world, send), describe::received(world, receive));
    let message = format!(
        "{} sends {sent}, but {} waits for {received}: the tags differ, so they never meet",
        player(world, send.0),
        player(world, receive.0)
    );
    RULE.finding(world, send, message, format!("sends {sent} to rank {}", receive.0))
        .other_end(world, receive, format!("waits for {received} from rank {}", send.0))
        .ranks(pairs.iter().flat_map(|(send, receive, _)| [send.0, receive.0]).collect())
        .waits(world, &unpaired.waits)
        .trace(&unpaired.trace)
        .note("a receive takes only messages of its own tag; this message stays where it is")
        .help("name the same message at both ends")
}
