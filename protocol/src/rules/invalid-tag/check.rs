//! A tag that MPI does not promise to take.

use std::collections::BTreeSet;

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe, envelope};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "invalid-tag",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The largest tag that every MPI takes (MPI 4.0, 3.2.3: `MPI_TAG_UB` is not less).
const LARGEST: i32 = 32_767;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let world = case.world;
    let (sends, mut receives) = (outside(world, true), outside(world, false));
    // A message and its receive name the same tag: that is one fault, at the send.
    let sent: BTreeSet<i32> = sends.iter().map(|&(_, tag)| tag).collect();
    let ends = receives.extract_if(.., |(_, tag)| sent.contains(tag)).collect::<Vec<_>>();
    let places = by_place(case, sends.into_iter().chain(receives), |(at, _)| *at);
    places.iter().map(|(_, outside)| report(world, outside, &ends)).collect()
}

/// The steps that name such a tag for what they send or receive.
fn outside(world: &World, sending: bool) -> Vec<(At, i32)> {
    let mut outside = Vec::new();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        for (position, event) in behaviour.events.iter().enumerate() {
            let tag = envelope(event, sending).and_then(|envelope| envelope.tag.number());
            let wrong = tag.filter(|tag| !(0..=LARGEST).contains(tag));
            outside.extend(wrong.map(|tag| ((rank, position), tag)));
        }
    }
    outside
}

fn report(world: &World, outside: &[(At, i32)], ends: &[(At, i32)]) -> Finding {
    let (at, tag) = outside[0];
    let (who, operation) = (player(world, at.0), describe::operation(world, at));
    let finding = if tag < 0 {
        let message = format!("{who} uses tag {tag} in `{operation}`, and tags are not negative");
        RULE.finding(world, at, message, "no tag")
            .note("MPI ends the job with MPI_ERR_TAG, or takes it for one of its own constants (MPI 4.0, 3.2.3)")
            .help(format!("use tags from 0 to {LARGEST}"))
    } else {
        let message = format!(
            "{who} uses tag {tag} in `{operation}`, and MPI guarantees tags up to {LARGEST} only"
        );
        RULE.finding(world, at, message, format!("above {LARGEST}"))
            .note("many implementations allow more, each up to its own `MPI_TAG_UB`; on another the job ends with MPI_ERR_TAG (MPI 4.0, 3.2.3)")
            .help("leave out of the tag what the receiver knows anyway, such as the sender's rank, or use a communicator for each kind of message")
    };
    let finding = finding.ranks(outside.iter().map(|(at, _)| at.0).collect());
    match ends.iter().find(|(_, other)| *other == tag) {
        Some(&(end, _)) => finding.other_end(world, end, "received here"),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi};
    use crate::engine::samples::{receive, send};

    fn with_tag(tag: i32) -> Vec<crate::finding::Finding> {
        found(&rsmpi(vec![vec![send(1, tag)], vec![receive(0, tag)]]), "invalid-tag")
    }

    #[test]
    fn tags_lie_between_zero_and_the_guaranteed_bound() {
        assert!(with_tag(0).is_empty());
        assert!(with_tag(32_767).is_empty());
        assert_eq!(with_tag(32_768).len(), 1, "both ends are one fault");
        assert_eq!(with_tag(32_768)[0].secondary.len(), 1);
        assert_eq!(
            with_tag(-1)[0].message,
            "rank 0 uses tag -1 in `send of 1 u8 to rank 1 (tag -1)`, and tags are not negative (with 2 ranks)"
        );
    }

    #[test]
    fn a_tag_that_is_not_known_is_not_judged() {
        assert!(with_tag(-1_234_567_890).is_empty());
    }
}
