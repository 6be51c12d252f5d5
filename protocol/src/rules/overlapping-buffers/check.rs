//! Memory that is sent and received into at once.

use super::draft::{by_place, player};
use super::overlapping_receives::{both_receive, overlaps};
use super::{Check, Rule};
use crate::engine::{At, Case, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "overlapping-buffers",
    group: Group::Buffer,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mixed =
        overlaps(case).filter(|&(first, second, _)| !both_receive(case.world, first, second));
    let places = by_place(case, mixed, |(_, second, _)| *second);
    places.iter().map(|(_, overlaps)| report(case.world, overlaps)).collect()
}

fn report(world: &World, overlaps: &[(At, At, &Seen)]) -> Finding {
    let (first, second, seen) = overlaps[0];
    let message = if first == second {
        format!(
            "{} sends from and receives into the same memory in `{}`",
            player(world, second.0),
            describe::operation(world, second)
        )
    } else {
        format!(
            "{} uses the same memory in `{}` and in `{}`, both active at once, and receives into it",
            player(world, second.0),
            describe::operation(world, first),
            describe::operation(world, second)
        )
    };
    RULE.finding(world, second, message, "may overwrite what is being sent")
        .other_end(world, first, "not waited for yet")
        .ranks(overlaps.iter().map(|(_, second, _)| second.0).collect())
        .trace(&seen.trace)
        .note("MPI may write what it receives before it has read what it sends: the message may be made of either (MPI 4.0, 3.7.2 and 3.10)")
        .help(if is_collective(world, second) {
            "bring the data from a buffer of its own, or hand over `MPI_IN_PLACE` for it"
        } else {
            world.dialect.words(
            "send and receive in buffers of their own",
            "send and receive in buffers of their own, or use `mpi::point_to_point::send_receive_replace_into`",
            "send and receive in buffers of their own, or use `MPI_Sendrecv_replace`",
        )
        })
}

/// Whether what overlaps are the two buffers of one collective.
fn is_collective(world: &World, at: At) -> bool {
    describe::event(world, at).action.collective().is_some()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{buffered, c, exchange, found, two_started};
    use crate::engine::samples::{receive, send};
    use crate::model::{Action, Buffer, Collective, CollectiveKind, Data};

    #[test]
    fn what_is_sent_is_not_received_into() {
        let world = |second: std::ops::Range<u64>| {
            let both = [buffered(send(1, 0), 0..8), buffered(receive(1, 1), second)];
            two_started(both, vec![receive(0, 0), send(0, 1)])
        };
        assert_eq!(found(&world(0..8), "overlapping-buffers").len(), 1);
        assert!(found(&world(0..8), "overlapping-receives").is_empty());
        assert!(found(&world(8..16), "overlapping-buffers").is_empty());
    }

    #[test]
    fn the_halves_of_an_exchange_share_no_memory() {
        let wrong = found(&exchange(0..8, 4..12), "overlapping-buffers");
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].message.starts_with(
            "rank 0 sends from and receives into the same memory in `send_receive of "
        ));
        assert!(found(&exchange(0..8, 8..16), "overlapping-buffers").is_empty());
    }

    #[test]
    fn the_same_may_be_sent_twice() {
        let both = [buffered(send(1, 0), 0..8), buffered(send(1, 1), 0..8)];
        let world = two_started(both, vec![receive(0, 0), receive(0, 1)]);
        assert!(found(&world, "overlapping-buffers").is_empty());
    }

    #[test]
    fn a_collective_writes_not_where_it_reads() {
        let part = |start| {
            let buffer = Some(Buffer { object: 0, start, end: start + 8 });
            Some(Data { datatype: Some(2), count: Some(1), message: None, label: None, buffer })
        };
        let count = |taken| {
            let kind = CollectiveKind::AllReduce;
            let (data, room) = (part(0), part(taken));
            let action = Action::Collective(Collective { data, room, ..Collective::of(kind, 0) });
            found(&c(vec![vec![action.clone()], vec![action]]), "overlapping-buffers").len()
        };
        assert_eq!(count(0), 2, "one on each line");
        assert_eq!(count(8), 0);
    }
}
