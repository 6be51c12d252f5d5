//! What is a violation and what is not, on behaviours made by hand.

use std::sync::Arc;

use super::super::samples::{rsmpi, started, wait};
use super::check;
use crate::engine::samples::{receive, receive_any, send, world};
use crate::finding::Finding;
use crate::model::{
    Action, Arm, Collective, CollectiveKind, Datatype, Departure, Mode, Place, Role, Tag, World,
};
use crate::rules::Conformance;

/// Rank 1 of three plays the role.
fn expected(steps: Vec<Action>) -> World {
    let mut world = world(vec![vec![], steps, vec![]]);
    world.behaviours[1].role = Some(0);
    let role = Role { name: "worker".to_owned(), place: Place(50) };
    World { roles: Arc::new([role]), ..world }
}

fn actual(steps: Vec<Action>) -> World {
    let mut world = rsmpi(vec![vec![], steps, vec![]]);
    for event in &mut world.behaviours[1].events {
        event.place = Place(event.place.0 + 100);
    }
    world
}

fn violations(role: Vec<Action>, function: Vec<Action>) -> Vec<Finding> {
    compared(&expected(role), &actual(function))
}

fn compared(expected: &World, actual: &World) -> Vec<Finding> {
    check(&Conformance { expected, actual, role: 0, declared: Place(99) })
}

fn collective(kind: CollectiveKind) -> Action {
    Action::Collective(Collective::of(kind, 0))
}

fn barrier() -> Action {
    collective(CollectiveKind::Barrier)
}

#[track_caller]
fn one(findings: &[Finding], message: &str) {
    let [finding] = findings else { panic!("{findings:?}") };
    assert_eq!(finding.message, format!("{message} (with 3 ranks)"));
}

#[test]
fn the_same_steps_conform() {
    let steps = || vec![receive(0, 0), barrier(), send(2, 1)];
    assert!(violations(steps(), steps()).is_empty());
}

#[test]
fn an_untagged_receive_from_anybody_conforms() {
    let mut any = receive_any(0, 3);
    if let Action::Receive { envelope, .. } = &mut any {
        envelope.tag = Tag::Any;
    }
    assert!(violations(vec![receive(0, 7)], vec![any]).is_empty());
}

#[test]
fn how_it_is_waited_for_does_not_matter() {
    let both = |request| [started(receive(0, 0), request), started(send(0, 0), 1 - request)];
    let role = [both(0).to_vec(), vec![wait(&[0, 1])]].concat();
    let guards = [both(0).to_vec(), vec![wait(&[1]), wait(&[0])]].concat();
    assert!(violations(role.clone(), guards).is_empty());
    let swapped = vec![started(send(0, 0), 0), started(receive(0, 0), 1), wait(&[0, 1])];
    assert!(violations(role.clone(), swapped).is_empty());
    let blocking = vec![started(receive(0, 0), 0), wait(&[0])];
    assert!(violations(vec![receive(0, 0)], blocking).is_empty());
    one(
        &violations(role, vec![receive(0, 0), send(0, 0)]),
        "rank 1 calls `send of 1 u8 to rank 0 (tag 0)` where its role `worker` has `isend Block to rank 0`: what has been waited for by then is not the same",
    );
}

#[test]
fn what_the_role_waits_for_is_waited_for() {
    let start = || started(send(0, 0), 0);
    one(
        &violations(vec![start(), wait(&[0])], vec![start()]),
        "rank 1 and its role `worker` come to their ends: what has been waited for by then is not the same",
    );
}

#[test]
fn another_rank_tag_type_and_mode_do_not_conform() {
    one(
        &violations(vec![send(0, 0)], vec![send(2, 0)]),
        "rank 1 calls `send of 1 u8 to rank 2 (tag 0)` where its role `worker` has `send Block to rank 0`",
    );
    let tag = "rank 1 calls `send of 1 u8 to rank 0 (tag 5)` where its role `worker` has `send Block to rank 0`: tag 5 instead of tag 0";
    one(&violations(vec![send(0, 0)], vec![send(0, 5)]), tag);
    let mut other = actual(vec![send(0, 0)]);
    other.datatypes = Arc::new([Datatype { signature: "f64".to_owned(), bytes: Some(8) }]);
    let found = compared(&expected(vec![send(0, 0)]), &other);
    assert!(found[0].message.contains(": f64 instead of u8"), "{found:?}");
    let synchronous = match send(0, 0) {
        Action::Send { envelope, .. } => Action::Send { mode: Mode::Synchronous, envelope },
        other => other,
    };
    let found = violations(vec![send(0, 0)], vec![synchronous]);
    assert!(found[0].message.ends_with(": the modes differ (with 3 ranks)"), "{found:?}");
}

#[test]
fn a_step_too_few_and_a_step_too_many() {
    let found = violations(vec![receive(0, 0), send(0, 0)], vec![receive(0, 0)]);
    one(&found, "rank 1 is at its end where its role `worker` has `send Block to rank 0`");
    assert_eq!(found[0].secondary.len(), 1);
    one(
        &violations(vec![], vec![barrier()]),
        "rank 1 calls `barrier` where its role `worker` is at its end",
    );
    let found = violations(vec![receive(0, 0)], vec![]);
    assert_eq!(found[0].primary.place, Place(99));
}

#[test]
fn steps_in_another_order_do_not_conform() {
    let found = violations(vec![send(0, 0), receive(0, 0)], vec![receive(0, 0), send(0, 0)]);
    assert_eq!(found.len(), 1, "{found:?}");
    let found = violations(vec![barrier(), send(0, 0)], vec![send(0, 0), barrier()]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn any_way_that_the_role_may_go_conforms() {
    let arm = |label, target| Arm { label, target };
    let role = || {
        let choose = Action::Choose { arms: Box::new([arm(0, 1), arm(1, 3)]) };
        vec![choose, send(0, 0), Action::Jump { target: 0 }, send(2, 0)]
    };
    assert!(violations(role(), vec![send(0, 0), send(0, 0), send(2, 0)]).is_empty());
    assert!(violations(role(), vec![send(2, 0)]).is_empty());
    assert_eq!(violations(role(), vec![send(0, 0)]).len(), 1);
    assert_eq!(violations(role(), vec![send(2, 0), send(0, 0)]).len(), 1);
}

#[test]
fn what_is_not_known_is_not_judged() {
    let branch = Action::Branch { targets: Box::new([1, 2]) };
    let unknown = vec![branch, send(2, 0), barrier()];
    assert!(violations(vec![send(0, 0)], unknown).is_empty());
    assert!(violations(vec![send(0, 0)], vec![Action::Opaque]).is_empty());
    let gone = Action::Leave { departure: Departure::Panicked };
    assert!(violations(vec![send(0, 0)], vec![gone]).is_empty());
    // What comes before is.
    assert_eq!(violations(vec![send(0, 0)], vec![barrier(), Action::Opaque]).len(), 1);
}

#[test]
fn a_loop_without_end_is_compared_once_round() {
    let forever = |step| vec![step, Action::Jump { target: 0 }];
    assert!(violations(forever(send(0, 0)), forever(send(0, 0))).is_empty());
    assert_eq!(violations(forever(send(0, 0)), forever(send(2, 0))).len(), 1);
    assert!(violations(forever(Action::Jump { target: 0 }), forever(send(0, 0))).is_empty());
}
