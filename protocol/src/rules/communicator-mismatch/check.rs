//! A message and a receive, or a collective of several ranks, that would meet if they were on one
//! communicator.

use super::draft::{Missed, by_place, missed, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Cause, MissingRank, describe};
use crate::finding::{Finding, Group, Level, ranks};
use crate::model::{Peer, Rank, World};

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
    let messages = places.iter().map(|(_, missed)| report(case.world, missed));
    let collectives = crossed(case);
    let places = by_place(case, collectives, |[first, _]| entered(first));
    let collectives = places.iter().map(|(_, pairs)| report_collective(case.world, pairs[0]));
    messages.chain(collectives).collect()
}

/// Where the first of those who have come to a collective stands.
fn entered(missing: &MissingRank) -> At {
    missing.arrivals.iter().copied().min().expect("somebody has come")
}

/// A collective that ranks enter on one communicator, and those who are missing there on another one,
/// where the first are missing. Also for `collective-missing-rank`, which has nothing to say of them.
pub(super) fn crossed<'c>(case: &'c Case<'_>) -> Vec<[&'c MissingRank; 2]> {
    let missing = || case.missing.iter().filter(|missing| missing.left.is_empty());
    let mut pairs = Vec::new();
    for first in missing().take(COMPARED) {
        let mut others = missing().take(COMPARED);
        let other = others.find(|second| {
            entered(first) < entered(second) && are_crossed(case.world, first, second)
        });
        pairs.extend(other.map(|second| [first, second]));
    }
    pairs
}

/// So many collectives with missing ranks are compared with each other.
const COMPARED: usize = 100;

fn are_crossed(world: &World, first: &MissingRank, second: &MissingRank) -> bool {
    let collective = |it: &MissingRank| describe::event(world, entered(it)).action.collective();
    let (Some(one), Some(other)) = (collective(first), collective(second)) else { return false };
    let come = |it: &MissingRank, rank: Rank| it.arrivals.iter().any(|(come, _)| *come == rank);
    one.kind == other.kind
        && one.communicator != other.communicator
        && first.missing.iter().all(|rank| come(second, *rank))
        && second.missing.iter().all(|rank| come(first, *rank))
}

fn report_collective(world: &World, [first, second]: [&MissingRank; 2]) -> Finding {
    let ends = [first, second].map(entered);
    let [on, other] = ends.map(|at| describe::communicator(world, at));
    let [present, others] = [first, second].map(|it| {
        let mut come: Vec<Rank> = it.arrivals.iter().map(|(rank, _)| *rank).collect();
        come.sort_unstable();
        come
    });
    let verb = |ranks: &[Rank]| if ranks.len() == 1 { "calls" } else { "call" };
    let message = format!(
        "{} {} `{}` on {on}, and {} {} it on {other}: they never meet",
        ranks(&present),
        verb(&present),
        describe::operation(world, ends[0]),
        ranks(&others),
        verb(&others),
    );
    RULE.finding(world, ends[0], message, format!("on {on}"))
        .other_end(world, ends[1], format!("on {other}"))
        .ranks(present.iter().chain(&others).copied().collect())
        .between(ends[0].0, Peer::Rank(ends[1].0.cast_signed()))
        .waits(world, &first.waits)
        .trace(&first.trace)
        .note("a communicator is a world of its own: who enters a collective on one waits for all its ranks, whatever these do on another")
        .help("let all of them call it on the same communicator")
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
