//! A message and a receive that would meet if their tags agreed.

use super::draft::{Missed, by_place, missed, player};
use super::{Check, Rule};
use crate::engine::{Case, Cause, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Peer, World};

pub(super) const RULE: Rule = Rule {
    name: "tag-mismatch",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let other_end = |cause| match cause {
        Cause::Tag(other) => Some(other),
        _ => None,
    };
    let pairs = missed(case, other_end);
    let places = by_place(case, pairs, |missed| missed.send);
    places.iter().map(|(_, missed)| report(case.world, missed)).collect()
}

fn report(world: &World, all: &[Missed<'_>]) -> Finding {
    let Missed { send, receive, unpaired } = all[0];
    let (sent, received) = (describe::sent(world, send), describe::received(world, receive));
    let message = format!(
        "{} sends {sent}, but {} waits for {received}: the tags differ, so they never meet",
        player(world, send.0),
        player(world, receive.0)
    );
    RULE.finding(world, send, message, format!("sends {sent} to rank {}", receive.0))
        .other_end(world, receive, format!("waits for {received} from rank {}", send.0))
        .ranks(all.iter().flat_map(|missed| [missed.send.0, missed.receive.0]).collect())
        .between(send.0, Peer::Rank(receive.0.cast_signed()))
        .waits(world, &unpaired.waits)
        .trace(&unpaired.trace)
        .note("a receive takes only messages of its own tag; this message stays where it is")
        .help(world.dialect.words(
            "name the same message at both ends",
            "give both ends the same tag; a receive without a tag takes any",
            "give both ends the same tag",
        ))
}
