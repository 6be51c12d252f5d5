//! A wildcard that several messages compete for.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "message-race",
    group: Group::Race,
    level: Level::Allow,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let places = by_place(case, &case.races, |(receive, _)| *receive);
    places.iter().map(|(_, races)| report(case, races[0])).collect()
}

fn report(case: &Case<'_>, (receive, sends): &(At, Vec<At>)) -> Finding {
    let world = case.world;
    let senders: Vec<u32> = sends.iter().map(|send| send.0).collect();
    let mut distinct = senders.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let message = format!(
        "{} takes {} from whoever is first: {} compete",
        player(world, receive.0),
        describe::received(world, *receive),
        crate::finding::ranks(&distinct)
    );
    let finding = RULE
        .finding(world, *receive, message, "takes what comes first")
        .ranks(distinct.into_iter().chain([receive.0]).collect())
        .note("nothing hangs, but a result that depends on the order differs from run to run")
        .help("where the order matters, receive from each rank in turn");
    sends.iter().fold(finding, |finding, send| finding.other_end(world, *send, "competes for it"))
}
