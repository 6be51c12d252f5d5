//! A message longer than the room for it.

use super::draft::{by_place, player};
use super::wildcard_steals_message::is_stolen;
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "truncation",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let matched = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::Truncation { send, receive } if !is_stolen(case, send, receive) => {
            Some((send, receive, seen))
        }
        _ => None,
    });
    let places = by_place(case, matched, |(_, receive, _)| *receive);
    places.iter().map(|(_, matched)| report(case.world, matched)).collect()
}

fn report(world: &World, matched: &[(At, At, &Seen)]) -> Finding {
    let (send, receive, seen) = matched[0];
    let (sent, room) = (describe::type_sent(world, send), describe::type_received(world, receive));
    let message = format!(
        "{} sends {sent}, and {} has room for {room}",
        player(world, send.0),
        player(world, receive.0)
    );
    RULE.finding(world, receive, message, format!("room for {room}"))
        .other_end(world, send, format!("sends {sent}"))
        .ranks(matched.iter().flat_map(|(send, receive, _)| [send.0, receive.0]).collect())
        .trace(&seen.trace)
        .note("a message may be shorter than its buffer, never longer: MPI ends the job with MPI_ERR_TRUNCATE")
        .help("make room for the longest message that can come, or send less")
}
