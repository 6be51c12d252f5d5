//! Ranks that bring different types to one collective.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Overflow, Seen, alike, describe, overflow};
use crate::finding::{Finding, Group, Level};
use crate::model::{CollectiveKind, Rank, World};

pub(super) const RULE: Rule = Rule {
    name: "collective-type",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let note = |_| "the bytes of one type are taken for another, or the job ends: MPI asks for the same type signature on all ranks (MPI 4.0, 6.1)";
    differing(&RULE, case, (note, help), |observation| match observation {
        Observation::CollectiveType { first, other } => Some((first, other)),
        _ => None,
    })
}

fn help(world: &World, _: CollectiveKind, is_one_call: bool) -> &'static str {
    if is_one_call {
        return "give both buffers of the call the same element type, said where it would be inferred (`0_u64`)";
    }
    alike_everywhere(world)
}

/// What to write instead where two ranks bring what differs.
pub(super) fn alike_everywhere(world: &World) -> &'static str {
    world.dialect.words(
        "name the same message in the collective on every rank",
        "give the collective buffers of the same element type and length on every rank; of a root's buffer each rank has its part",
        "give the collective the same datatype and count on every rank",
    )
}

/// What to write instead, of one call or of two ranks' calls.
pub(super) type Help = fn(&World, CollectiveKind, bool) -> &'static str;

/// A finding for each collective whose data differ between two ranks, as `ends` sees it; with why it is
/// wrong, and what to write instead of one call and of two.
pub(super) fn differing(
    rule: &Rule,
    case: &Case<'_>,
    (note, help): (impl Fn(CollectiveKind) -> &'static str, Help),
    ends: impl Fn(Observation) -> Option<(At, At)>,
) -> Vec<Finding> {
    let differing = case.seen.iter().filter_map(|seen| {
        let (first, other) = ends(seen.observation)?;
        Some((first.min(other), first.max(other), seen))
    });
    let places = by_place(case, differing, |(one, _, _)| *one);
    let report = |differing: &[(At, At, &Seen)]| {
        let (one, other, _) = differing[0];
        let kind = describe::event(case.world, one).action.collective()?.kind;
        let help = help(case.world, kind, one == other);
        Some(report(rule, case.world, differing).note(note(kind)).help(help))
    };
    places.iter().filter_map(|(_, differing)| report(differing)).collect()
}

fn report(rule: &Rule, world: &World, differing: &[(At, At, &Seen)]) -> Finding {
    let (one, other, seen) = differing[0];
    let [has, other_has] = unlike(world, one, other);
    let operation = describe::operation(world, one);
    let who = player(world, one.0);
    let message = if one == other {
        format!("in `{operation}`, {who} has {has} and {other_has}")
    } else {
        format!("in `{operation}`, {who} has {has}, and {} has {other_has}", player(world, other.0))
    };
    let label = if one == other { format!("{has}, {other_has}") } else { has };
    rule.finding(world, one, message, format!("{label} on rank {}", one.0))
        .other_end(world, other, format!("{other_has} on rank {}", other.0))
        .ranks(differing.iter().flat_map(|(one, other, _)| [one.0, other.0]).collect())
        .trace(&seen.trace)
}

/// What two ranks bring, or have room for, that should be alike and is not.
fn unlike(world: &World, one: At, other: At) -> [String; 2] {
    let called = |at| describe::event(world, at).action.collective();
    let Some((call, other_call)) = called(one).zip(called(other)) else {
        return Default::default();
    };
    let (first, second) = (describe::parts(world, one), describe::parts(world, other));
    let pairs = first.iter().flat_map(|one| second.iter().map(move |other| [one, other]));
    let mut unlike = pairs.filter(|[one, other]| !alike(world, call.kind, &one.0, &other.0));
    match unlike.next() {
        Some(pair) => pair.map(|(_, text)| text.clone()),
        None => overflow(world, (one, call), (other, other_call))
            .map_or_else(Default::default, |found| too_long(world, one.0, &found)),
    }
}

/// What is brought for a rank that has less room for it, with what `one` has first.
fn too_long(world: &World, one: Rank, found: &Overflow) -> [String; 2] {
    let Overflow { from, to, brought, room } = found;
    let (at, of) = match from == to {
        true => ("itself".to_owned(), "itself".to_owned()),
        false => (format!("rank {to}"), format!("rank {from}")),
    };
    let brought = format!("{} for {at}", describe::data(world, brought));
    let room = format!("room for {} from {of}", describe::data(world, room));
    if *from == one { [brought, room] } else { [room, brought] }
}
