use super::super::samples::{c, found};
use crate::engine::samples::{receive, send};
use crate::model::{Action, Buffer, Place, Tag, World};

/// A world of these ranks, in which the row of rank 0 stands at one place.
fn world(ranks: Vec<Vec<Action>>) -> World {
    let mut world = World { shows_work: true, ..c(ranks) };
    for event in &mut world.behaviours[0].events {
        if matches!(event.action, Action::Send { .. } | Action::Receive { .. }) {
            event.place = Place(100);
        }
    }
    world
}

fn count(ranks: Vec<Vec<Action>>) -> usize {
    found(&world(ranks), "serial-fan-out").len()
}

fn compute() -> Action {
    Action::Compute { apart: [].into() }
}

#[test]
fn a_row_of_sends_to_all_is_a_broadcast_or_a_scatter() {
    let ranks = || vec![vec![send(1, 0), send(2, 0)], vec![receive(0, 0)], vec![receive(0, 0)]];
    let plain = found(&world(ranks()), "serial-fan-out");
    assert_eq!(
        plain[0].message,
        "rank 0 sends 1 MPI_CHAR to each other rank in turn (with 3 ranks)"
    );
    assert!(plain[0].help[0].starts_with("call `MPI_Bcast`"), "{plain:?}");
    let mut pieces = world(ranks());
    for (number, event) in (1..).zip(&mut pieces.behaviours[0].events) {
        for envelope in event.action.envelopes_mut() {
            envelope.data.buffer = Some(Buffer { object: 0, start: number, end: number + 1 });
        }
    }
    let pieces = found(&pieces, "serial-fan-out");
    assert!(pieces[0].help[0].starts_with("call `MPI_Scatter`"), "{pieces:?}");
}

#[test]
fn a_row_of_receives_from_all_is_a_gather() {
    let ranks = vec![vec![receive(1, 0), receive(2, 0)], vec![send(0, 0)], vec![send(0, 0)]];
    let found = found(&world(ranks), "serial-fan-out");
    assert!(found[0].help[0].starts_with("call `MPI_Gather`"), "{found:?}");
}

#[test]
fn rounds_may_follow_each_other() {
    let root = vec![send(1, 0), send(2, 0), send(1, 0), send(2, 0)];
    let other = || vec![receive(0, 0), receive(0, 0)];
    assert_eq!(count(vec![root.clone(), other(), other()]), 1);
    // In the second round the ranks also speak with each other.
    let one = vec![receive(0, 0), send(2, 1), receive(0, 0)];
    let two = vec![receive(0, 0), receive(1, 1), receive(0, 0)];
    assert_eq!(count(vec![root, one, two]), 1);
}

#[test]
fn who_is_served_needs_others_first() {
    // Rank 2 is told by rank 1, which has its message by then.
    let root = || vec![send(1, 0), send(2, 0)];
    let one = vec![receive(0, 0), send(2, 1)];
    let two = vec![receive(1, 1), receive(0, 0)];
    assert_eq!(count(vec![root(), one, two]), 0);
}

#[test]
fn not_all_are_served_alike() {
    let other = || vec![receive(0, 0)];
    assert_eq!(count(vec![vec![send(1, 0)], other(), vec![]]), 0, "one only");
    let tags = vec![vec![send(1, 0), send(2, 1)], other(), vec![receive(0, 1)]];
    assert_eq!(count(tags), 0, "two tags");
    let mut longer = send(2, 0);
    longer.envelopes_mut().for_each(|envelope| envelope.data.count = Some(2));
    assert_eq!(count(vec![vec![send(1, 0), longer], other(), other()]), 0, "two lengths");
    let between = vec![send(1, 0), compute(), send(2, 0)];
    assert_eq!(count(vec![between, other(), other()]), 0, "computed in between");
}

#[test]
fn any_tag_is_the_only_one_there_is() {
    let root = || vec![send(1, 5), send(2, 5)];
    let any = || {
        let mut receive = receive(0, 5);
        receive.envelopes_mut().for_each(|envelope| envelope.tag = Tag::Any);
        vec![receive]
    };
    assert_eq!(count(vec![root(), any(), any()]), 1);
    let more = vec![send(1, 5), send(2, 5), send(1, 6)];
    assert_eq!(count(vec![more, [any(), any()].concat(), any()]), 0, "which one is not told");
    let mut answers = vec![receive(1, 0), receive(2, 0)];
    for envelope in answers.iter_mut().flat_map(Action::envelopes_mut) {
        envelope.tag = Tag::Any;
    }
    let said = |tag| vec![answers.clone(), vec![send(0, 1)], vec![send(0, tag)]];
    assert_eq!(count(said(1)), 1);
    assert_eq!(count(said(2)), 0, "the tag tells something");
}

#[test]
fn who_waits_otherwise_cannot_call_a_collective() {
    let root = || vec![send(1, 0), send(2, 0)];
    let any = || vec![crate::engine::samples::receive_any(0, 3)];
    assert_eq!(count(vec![root(), any(), any()]), 0, "from anybody");
    let ways = || vec![Action::Branch { targets: [1, 2].into() }, receive(0, 0)];
    assert_eq!(count(vec![root(), ways(), ways()]), 0, "not on all ways");
    assert_eq!(count(vec![root(), vec![Action::Opaque], vec![Action::Opaque]]), 0);
}

#[test]
fn two_ranks_have_no_row() {
    assert_eq!(count(vec![vec![send(1, 0)], vec![receive(0, 0)]]), 0);
}
