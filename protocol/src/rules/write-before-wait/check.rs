//! A buffer that is written to while its message travels.

use std::collections::BTreeSet;

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe, envelope};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, RequestId, World};

pub(super) const RULE: Rule = Rule {
    name: "write-before-wait",
    group: Group::Buffer,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    touched(&RULE, case, true)
}

/// A finding for each place that writes to, or reads, the memory of an active operation.
pub(super) fn touched(rule: &Rule, case: &Case<'_>, writing: bool) -> Vec<Finding> {
    // What is never waited for is `missing-wait`: with its wait, the access may be in its place.
    let lost: BTreeSet<At> = (case.seen.iter())
        .filter_map(|seen| match seen.observation {
            Observation::LostRequest { start } => Some(start),
            _ => None,
        })
        .collect();
    let accesses = |writing: bool| {
        case.seen.iter().filter_map(move |seen| match seen.observation {
            Observation::Access { access, start, writes } if writes == writing => {
                Some((access, start, seen))
            }
            _ => None,
        })
    };
    // What is read to be written anew is one fault.
    let place = |at: At| describe::place(case.world, at);
    let written: BTreeSet<_> =
        accesses(true).map(|(access, start, _)| (place(access), start)).collect();
    let touched = accesses(writing).filter(|(access, start, _)| {
        !lost.contains(start) && (writing || !written.contains(&(place(*access), *start)))
    });
    let places = by_place(case, touched, |(access, _, _)| *access);
    places.iter().map(|(_, touched)| report(rule, case.world, touched, writing)).collect()
}

fn report(rule: &Rule, world: &World, touched: &[(At, At, &Seen)], writing: bool) -> Finding {
    let (access, start, seen) = touched[0];
    let event = describe::event(world, access);
    let vanishes = matches!(event.action, Action::Vanish { .. });
    let (writes, verb) = match (vanishes, writing) {
        (true, _) => ("returns from the function that owns", "is gone"),
        (_, true) => ("writes to", "writes"),
        (_, false) => ("reads", "reads"),
    };
    let prepared = prepared(world, start, event.action.requests());
    let message = format!(
        "{} {writes} the buffer of `{}` before it has waited for it",
        player(world, access.0),
        describe::operation(world, prepared)
    );
    // What is only read may be read by others as well.
    let receives = !writing || envelope(describe::event(world, prepared), false).is_some();
    let (label, note) = if receives {
        ("the message may still be on its way into the buffer", ARRIVES)
    } else {
        ("the message may still be on its way out of the buffer", LEAVES)
    };
    rule.finding(world, access, message, format!("{verb} while the operation is active"))
        .other_end(world, start, label)
        .ranks(touched.iter().map(|(access, _, _)| access.0).collect())
        .trace(&seen.trace)
        .note(if vanishes { VANISHES } else { note })
        .help(if vanishes { STAYS } else { world.dialect.words(
            "wait first, or use another buffer until then",
            "wait first, or use another buffer until then; the borrow checker refuses this in safe code, so a pointer or `unsafe` has taken the buffer from its sight",
            "call `MPI_Wait` first, or use another buffer until then",
        )})
}

/// What has prepared the operation that a step starts, if that was done before: the buffer is named there.
fn prepared(world: &World, start: At, used: &[RequestId]) -> At {
    let Action::Start { requests } = &describe::event(world, start).action else { return start };
    let request = requests.iter().find(|request| used.contains(request));
    request.and_then(|request| describe::plan(world, start, *request)).unwrap_or(start)
}

/// What becomes of memory whose function has returned.
const VANISHES: &str = "the buffer is a variable of the function that returns here: its memory is used for others from here on, and MPI still reads it or writes to it";

/// What to do about it.
const STAYS: &str = "wait before the function returns, or let the buffer be memory that stays: of the caller, `static`, or of `malloc`";

/// What happens to a receive.
const ARRIVES: &str = "until the wait, MPI may write to the buffer at any time: what is read there is old, new or half of each, and what is written there is lost (MPI 4.0, 3.7.2)";

/// What happens to a send.
const LEAVES: &str = "until the wait, MPI may read the buffer at any time: what is sent is old, new or half of each (MPI 4.0, 3.7.2)";

#[cfg(test)]
mod tests {
    use super::super::samples::{buffered, found, one_way};
    use crate::engine::samples::{receive, send};
    use crate::model::Action;

    #[test]
    fn what_travels_is_not_written_to() {
        let access = |writes| Action::Access { requests: Box::new([0]), writes };
        let send_then = |access| one_way(buffered(send(1, 0), 0..8), Some(access), receive(0, 0));
        let wrong = found(&send_then(access(true)), "write-before-wait");
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            wrong[0].message,
            "rank 0 writes to the buffer of `immediate_send of 1 u8 to rank 1 (tag 0)` before it has waited for it (with 2 ranks)"
        );
        assert_eq!(wrong[0].secondary.len(), 1, "{wrong:?}");
        // To read what is sent is allowed since MPI 3.0.
        assert!(found(&send_then(access(false)), "read-before-wait").is_empty());
        assert!(found(&send_then(access(false)), "write-before-wait").is_empty());
    }

    #[test]
    fn what_arrives_is_not_written_to() {
        let access = Action::Access { requests: Box::new([0]), writes: true };
        let world = one_way(buffered(receive(1, 0), 0..8), Some(access), send(0, 0));
        assert_eq!(found(&world, "write-before-wait").len(), 1);
    }

    #[test]
    fn what_is_never_waited_for_is_one_fault() {
        let access = Action::Access { requests: Box::new([0]), writes: true };
        let mut world = one_way(buffered(send(1, 0), 0..8), Some(access), receive(0, 0));
        world.behaviours[0].events.pop();
        assert!(found(&world, "write-before-wait").is_empty());
        assert_eq!(found(&world, "missing-wait").len(), 1);
    }

    #[test]
    fn after_the_wait_the_buffer_is_free() {
        let mut world = one_way(buffered(send(1, 0), 0..8), None, receive(0, 0));
        let access = Action::Access { requests: Box::new([0]), writes: true };
        world.behaviours[0]
            .events
            .push(crate::model::Event { action: access, place: crate::model::Place(99) });
        assert!(found(&world, "write-before-wait").is_empty());
    }
}
