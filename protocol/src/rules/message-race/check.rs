//! A wildcard that several messages compete for.

use std::collections::BTreeSet;

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Rank;

pub(super) const RULE: Rule = Rule {
    name: "message-race",
    group: Group::Race,
    level: Level::Allow,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let places = by_place(case, &case.races, |(receive, _)| **receive);
    places.iter().map(|(_, races)| report(case, *races[0].0, races[0].1)).collect()
}

fn report(case: &Case<'_>, receive: At, sends: &BTreeSet<At>) -> Finding {
    let world = case.world;
    let mut senders: Vec<Rank> = sends.iter().map(|send| send.0).collect();
    senders.dedup();
    let message = format!(
        "{} takes {} from whoever is first: {} compete",
        player(world, receive.0),
        describe::received(world, receive),
        crate::finding::ranks(&senders)
    );
    let finding = RULE
        .finding(world, receive, message, "takes what comes first")
        .ranks(senders.into_iter().chain([receive.0]).collect())
        .note("nothing hangs, but a result that depends on the order differs from run to run")
        .help("where the order matters, receive from each rank in turn");
    sends.iter().fold(finding, |finding, send| finding.other_end(world, *send, "competes for it"))
}
