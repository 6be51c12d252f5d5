//! Worlds on which the engine and the exploration have once differed, made small.

use p2p_protocol::model::{Action, CollectiveKind, Mode, Peer};

use crate::agreement::{Answer, answers};
use crate::build::*;
use crate::edit::Ranks;

#[track_caller]
fn agree(ranks: Ranks) {
    for answer in answers(&ranks) {
        assert!(matches!(answer, Answer::Alike(_)), "{answer:?}");
    }
}

fn start_receive_any(request: u32) -> Action {
    Action::StartReceive { envelope: any(2), request, binds: None }
}

fn plan_receive(rank: i32, request: u32) -> Action {
    Action::PlanReceive { envelope: to(rank, 0), request }
}

#[test]
fn an_offer_from_nobody_goes_on_at_its_first_arm() {
    agree(vec![vec![offer(3, [(0, 3), (1, 3)]), start_send(1, 0, 1)]]);
    agree(vec![vec![offer(3, [(0, 0), (1, 1)])]]);
}

/// The engine ran for ever.
#[test]
fn an_arm_can_close_a_circle() {
    agree(vec![vec![
        exchange_with_self(),
        choose([(0, 2), (1, 4)]),
        announce(0, 0),
        jump(5),
        announce(0, 1),
        offer(0, [(0, 4), (1, 4)]),
    ]]);
}

/// The engine ran for ever.
#[test]
fn a_target_of_a_wait_can_close_a_circle() {
    let first = Action::Wait {
        requests: [0].into(),
        completion: p2p_protocol::model::Completion::Any(Some([0].into())),
    };
    agree(vec![vec![start_send(7, 0, 0), first]]);
}

#[test]
fn a_circle_in_which_nothing_moves_is_a_hang() {
    agree(vec![vec![wait([0]), jump(0)]]);
    agree(vec![vec![receive(7, 0), jump(0)]]);
    agree(vec![vec![Action::Put { envelope: to(1, 0) }, jump(0)], vec![]]);
    agree(vec![vec![plan_receive(1, 0), jump(0)], vec![]]);
    agree(vec![vec![test(0, 0), jump(0)]]);
    agree(vec![vec![start([0]), jump(0)], vec![]]);
}

#[test]
fn probing_in_a_circle_is_a_hang() {
    let probes = vec![
        Action::Probe { envelope: with(Peer::Any { first: 1, end: 2 }), binds: None },
        jump(0),
    ];
    agree(vec![probes, vec![send_by(Mode::Buffered, 0, 0)]]);
    let probes = vec![Action::Probe { envelope: any(2), binds: None }, offer(3, [(0, 0), (1, 4)])];
    agree(vec![vec![send(1, 0)], probes]);
}

#[test]
fn requests_with_nobody_in_a_circle_are_a_hang() {
    agree(vec![vec![start_receive(7, 0, 0), wait([0]), choose([(0, 0), (1, 2)])]]);
    agree(vec![vec![plan_receive(7, 0), start([0]), jump(0)]]);
    agree(vec![vec![start_send(7, 0, 0), test(0, 1), jump(0)]]);
}

/// Memory grew with the square of the states.
#[test]
fn messages_do_not_pile_up_without_end() {
    let piles_up = vec![start_send(1, 0, 0), choose([(0, 0), (1, 2)])];
    let answers = answers(&vec![piles_up, vec![]]);
    assert!(
        answers.iter().all(|answer| !matches!(answer, Answer::Different { .. })),
        "{answers:?}"
    );
}

#[test]
fn a_message_that_a_lost_receive_takes_is_not_left_over() {
    agree(vec![vec![send(1, 0)], vec![start_receive_any(0)]]);
}

#[test]
fn nobody_waits_for_a_root_outside_the_world() {
    for kind in [CollectiveKind::Bcast, CollectiveKind::Scatter, CollectiveKind::Gather] {
        agree(vec![vec![collective(kind, Some(-1))], vec![collective(kind, Some(-1))]]);
    }
}

#[test]
fn a_request_used_otherwise_forgets_its_plan() {
    let forgets = vec![plan_receive(1, 0), start_receive(7, 0, 0), start([0])];
    agree(vec![forgets, vec![send(0, 0)]]);
}

/// The first message has taken the receive that the second counts on.
#[test]
fn a_posted_receive_may_be_taken_before_the_ready_send() {
    let sends = vec![receive_any(2), send(1, 0), send_by(Mode::Ready, 1, 0)];
    let receives = vec![start_receive_any(0), send(0, 0), receive(0, 0)];
    agree(vec![sends, receives]);
}

fn exchange_with_self() -> Action {
    Action::SendReceive { send: Box::new(to(0, 0)), receive: Box::new(to(0, 0)) }
}
