//! A function that does not do what its role does.
//!
//! Both are walked through side by side, in rounds ([`rounds`]). Where the role decides, or is told,
//! every way that it may go is kept until the function's steps rule it out. Where it is not known
//! what the function does, the comparison is over, and nothing is said.

#[path = "agreement.rs"]
mod agreement;
#[path = "rounds.rs"]
mod rounds;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;

use std::collections::BTreeSet;

use rounds::{End, Move, Round, Walker};

use super::{Check, Conformance, Rule};
use crate::engine::describe;
use crate::finding::{Finding, Group, Level};
use crate::model::{Position, Rank};

pub(super) const RULE: Rule = Rule {
    name: "protocol-violation",
    group: Group::Protocol,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::Conformance(check),
};

/// The most ways of a role that are kept at once, and the most rounds of a rank that are compared.
const WAYS: usize = 64;
const ROUNDS: usize = 100_000;

fn check(conformance: &Conformance<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (rank, behaviour) in (0..).zip(&conformance.expected.behaviours) {
        if behaviour.role != Some(conformance.role) {
            continue;
        }
        let Some(difference) = compare(conformance, rank) else { continue };
        let finding = report(conformance, rank, &difference);
        match findings.iter_mut().find(|known| known.primary.place == finding.primary.place) {
            Some(known) => known.ranks.push(rank),
            None => findings.push(finding),
        }
    }
    findings
}

/// Where a function and its role part.
#[derive(Clone, Debug, Default)]
struct Difference {
    /// What the function does; `None`: it is at its end.
    does: Option<Position>,
    /// What the role does; `None`: it is at its end.
    should: Option<Position>,
    /// In what the two differ, where they are the same operation.
    why: Option<String>,
}

/// One way of the role that fits all that the function has done so far.
#[derive(Clone, Debug, Default)]
struct Way {
    role: Walker,
    /// For each thing that the role has started, which of the function's it is.
    pairs: Vec<usize>,
}

/// The first difference, if there is one and it is sure.
fn compare(conformance: &Conformance<'_>, rank: Rank) -> Option<Difference> {
    let role = &conformance.expected.behaviours[rank as usize];
    let function = conformance.actual.behaviours.get(rank as usize)?;
    let (mut walker, mut ways) = (Walker::default(), vec![Way::default()]);
    let mut seen: BTreeSet<(Position, Vec<Position>)> = BTreeSet::new();
    let mut started = 0;
    for _ in 0..ROUNDS {
        let positions = ways.iter().map(|way| way.role.position).collect();
        if !seen.insert((walker.position, positions)) {
            return None;
        }
        let [(does, next)] = <[_; 1]>::try_from(walker.next(function)?).ok()?;
        let (mut fitting, mut differences) = (Vec::new(), Vec::new());
        for way in &ways {
            for (should, role) in way.role.next(role)? {
                let mut pairs = way.pairs.clone();
                match agree(conformance, started, &does, &should, &mut pairs) {
                    None => fitting.push(Way { role, pairs }),
                    Some(difference) => differences.push(difference),
                }
            }
        }
        if fitting.is_empty() {
            // Of several ways, the one that comes closest says most.
            return differences.into_iter().max_by_key(|difference| difference.why.is_some());
        }
        if matches!(does.end, End::Last) || fitting.len() > WAYS {
            return None;
        }
        started += does.moves.len();
        (walker, ways) = (next, fitting);
    }
    None
}

/// Compares one round. `pairs` grows by what the role has started in it.
fn agree(
    both: &Conformance<'_>,
    started: usize,
    does: &Round,
    should: &Round,
    pairs: &mut Vec<usize>,
) -> Option<Difference> {
    let part = |does, should, why| Some(Difference { does, should, why });
    let mut free: Vec<(usize, &Move)> = does.moves.iter().enumerate().collect();
    for expected in &should.moves {
        let Some(at) = free.iter().position(|(_, one)| agreement::same_ends(one, expected)) else {
            let does = free.first().map(|(_, one)| one.position).or(does.end.position());
            return part(does, Some(expected.position), None);
        };
        let (number, one) = free.remove(at);
        if let Some(why) = agreement::messages_differ(both, one, expected) {
            return part(Some(one.position), Some(expected.position), Some(why));
        }
        pairs.push(started + number);
    }
    if let Some((_, one)) = free.first() {
        return part(Some(one.position), should.end.position(), None);
    }
    let waited: Option<BTreeSet<usize>> =
        should.completes.iter().map(|&number| pairs.get(number).copied()).collect();
    if waited.as_ref() != Some(&does.completes) {
        return part(does.end.position(), should.end.position(), Some(OTHER_WAITS.to_owned()));
    }
    match (does.end, should.end) {
        (End::Collective(does, one), End::Collective(should, other)) => {
            let why = agreement::collectives_differ(both, &one, &other)?;
            part(Some(does), Some(should), Some(why))
        }
        (End::Open(_), End::Open(_)) | (End::Last, End::Last) => None,
        (does, should) => part(does.position(), should.position(), None),
    }
}

/// What differs where the same operation comes after other waits.
const OTHER_WAITS: &str = "what has been waited for by then is not the same";

fn report(both: &Conformance<'_>, rank: Rank, difference: &Difference) -> Finding {
    let (actual, expected) = (both.actual, both.expected);
    let Difference { does, should, why } = difference;
    let same = does.zip(*should).is_some_and(|(does, should)| {
        agreement::same_step(
            &actual.behaviours[rank as usize],
            does,
            &expected.behaviours[rank as usize],
            should,
        )
    });
    let why = why.as_deref().or(same.then_some(OTHER_WAITS));
    let named = |world, position: &Option<Position>| {
        position.map(|position| describe::operation(world, (rank, position)))
    };
    let role = expected.roles.get(usize::from(both.role));
    let role =
        role.map_or_else(|| "its role".to_owned(), |role| format!("its role `{}`", role.name));
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let message = match (named(actual, does), named(expected, should)) {
        (Some(does), Some(should)) => {
            format!("rank {rank} calls `{does}` where {role} has `{should}`{why}")
        }
        (Some(does), None) => format!("rank {rank} calls `{does}` where {role} is at its end"),
        (None, Some(should)) => format!("rank {rank} is at its end where {role} has `{should}`"),
        (None, None) => format!("rank {rank} and {role} come to their ends{why}"),
    };
    let events = &actual.behaviours[rank as usize].events;
    let at = does.or(events.len().checked_sub(1));
    let place = at.map_or(both.declared, |position| events[position].place);
    let finding = RULE
        .finding_at(expected, place, message, "not what the role does")
        .ranks(vec![rank])
        .note("the other ranks count on this role: the protocol is right only if everybody keeps to it")
        .help("do what the role does, in its order, or change the role, so that the whole protocol is checked again");
    match should {
        Some(position) => finding.other_end(expected, (rank, *position), "what the role does here"),
        None => finding,
    }
}
