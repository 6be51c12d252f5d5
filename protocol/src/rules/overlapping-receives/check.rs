//! Two messages that arrive in the same memory.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe, envelope};
use crate::finding::{Finding, Group, Level};
use crate::model::{Buffer, World};

pub(super) const RULE: Rule = Rule {
    name: "overlapping-receives",
    group: Group::Buffer,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let both_receive =
        overlaps(case).filter(|&(first, second, _)| both_receive(case.world, first, second));
    let places = by_place(case, both_receive, |(_, second, _)| *second);
    places.iter().map(|(_, overlaps)| report(case.world, overlaps)).collect()
}

/// Operations whose memory overlaps: the active one, and the one that started.
pub(super) fn overlaps<'c>(case: &'c Case<'_>) -> impl Iterator<Item = (At, At, &'c Seen)> {
    case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::Overlap { first, second } => Some((first, second, seen)),
        _ => None,
    })
}

/// Whether what two operations receive into overlaps. Otherwise it is what one of them sends.
pub(super) fn both_receive(world: &World, first: At, second: At) -> bool {
    let into = |at: At| -> Option<Buffer> {
        envelope(describe::event(world, at), false).and_then(|envelope| envelope.data.buffer)
    };
    first != second
        && into(first).zip(into(second)).is_some_and(|(first, second)| first.overlaps(&second))
}

fn report(world: &World, overlaps: &[(At, At, &Seen)]) -> Finding {
    let (first, second, seen) = overlaps[0];
    let message = format!(
        "{} receives into the same memory in `{}` and in `{}`, both active at once",
        player(world, second.0),
        describe::operation(world, first),
        describe::operation(world, second)
    );
    RULE.finding(world, second, message, "may overwrite what the other receives")
        .other_end(world, first, "not waited for yet")
        .ranks(overlaps.iter().map(|(_, second, _)| second.0).collect())
        .trace(&seen.trace)
        .note("which message arrives last differs from run to run, and with it what the memory holds in the end (MPI 4.0, 3.7.2)")
        .help("give each receive a buffer of its own, or wait for the first before the second starts")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{buffered, found, two_started};
    use crate::engine::samples::{receive, send};

    #[test]
    fn two_receives_share_no_memory() {
        let world = |second: std::ops::Range<u64>| {
            let receives = [buffered(receive(1, 0), 0..8), buffered(receive(1, 1), second)];
            two_started(receives, vec![send(0, 0), send(0, 1)])
        };
        let wrong = found(&world(4..12), "overlapping-receives");
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            wrong[0].message,
            "rank 0 receives into the same memory in `immediate_receive of 1 u8 from rank 1 (tag 0)` and in `immediate_receive of 1 u8 from rank 1 (tag 1)`, both active at once (with 2 ranks)"
        );
        assert!(found(&world(4..12), "overlapping-buffers").is_empty());
        assert!(found(&world(8..16), "overlapping-receives").is_empty());
    }
}
