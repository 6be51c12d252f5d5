//! Worlds whose outcome is known from the MPI standard 4.0, to see that the exploration is right.

use p2p_protocol::model::{Action, CollectiveKind, Envelope, Mode, Peer, World};

use crate::build::*;
use crate::exploration::{Reading, Truth, explore};

const RENDEZVOUS: Reading = Reading::Rendezvous { eager_limit: 0 };
const EAGER: Reading = Reading::Rendezvous { eager_limit: 16 };
const BUFFERED: Reading = Reading::Buffered;

const FINISHES: Truth = Truth {
    can_finish: true,
    can_finish_unclean: false,
    can_hang: false,
    unposted_ready: false,
    missing_wait: false,
    mismatch: false,
    can_abort: false,
    type_mismatch: false,
    truncation: false,
};
const UNCLEAN: Truth = Truth { can_finish_unclean: true, ..FINISHES };
const HANGS: Truth = Truth { can_finish: false, can_hang: true, ..FINISHES };
const EITHER: Truth = Truth { can_hang: true, ..FINISHES };
const MISMATCH: Truth = Truth { can_finish: false, mismatch: true, ..FINISHES };

#[track_caller]
fn expect(world: &World, reading: Reading, truth: Truth) {
    assert_eq!(explore(world, reading, 100_000), Some(truth), "under {reading:?}");
}

/// Rendezvous, eager limit, buffered.
#[track_caller]
fn expect_each(world: &World, truths: [Truth; 3]) {
    for (reading, truth) in [RENDEZVOUS, EAGER, BUFFERED].into_iter().zip(truths) {
        expect(world, reading, truth);
    }
}

#[test]
fn a_send_meets_its_receive() {
    expect_each(&world([vec![send(1, 0)], vec![receive(0, 0)]]), [FINISHES; 3]);
}

/// 3.4: whether a standard send buffers is up to the implementation.
#[test]
fn head_to_head_sends_need_buffering() {
    let exchange = |peer| vec![send(peer, 0), receive(peer, 0)];
    expect_each(&world([exchange(1), exchange(0)]), [HANGS, FINISHES, FINISHES]);
    let synchronous = |peer| vec![send_by(Mode::Synchronous, peer, 0), receive(peer, 0)];
    expect_each(&world([synchronous(1), synchronous(0)]), [HANGS; 3]);
    let buffered = |peer| vec![send_by(Mode::Buffered, peer, 0), receive(peer, 0)];
    expect_each(&world([buffered(1), buffered(0)]), [FINISHES; 3]);
}

#[test]
fn the_eager_limit_asks_for_known_sizes() {
    for data in [LARGE, UNKNOWN] {
        let with_data = |rank| Envelope { data, ..to(rank, 0) };
        let exchange = |peer| {
            let send = Action::Send { mode: Mode::Standard, envelope: with_data(peer) };
            vec![send, Action::Receive { envelope: with_data(peer), binds: None }]
        };
        expect_each(&world([exchange(1), exchange(0)]), [HANGS, HANGS, FINISHES]);
    }
}

#[test]
fn head_to_head_receives_hang() {
    let exchange = |peer| vec![receive(peer, 0), send(peer, 0)];
    expect_each(&world([exchange(1), exchange(0)]), [HANGS; 3]);
}

#[test]
fn a_ring_of_blocking_sends_needs_buffering() {
    let ring = (0..4).map(|rank| vec![send((rank + 1) % 4, 0), receive((rank + 3) % 4, 0)]);
    expect_each(&world(ring), [HANGS, FINISHES, FINISHES]);
    let cut = (0..4).map(|rank| match rank {
        0 => vec![receive(3, 0), send(1, 0)],
        rank => vec![send((rank + 1) % 4, 0), receive(rank - 1, 0)],
    });
    expect_each(&world(cut), [FINISHES; 3]);
}

#[test]
fn a_ring_of_combined_exchanges_finishes() {
    let ring = (0..4).map(|rank| vec![exchange((rank + 1) % 4, (rank + 3) % 4)]);
    expect_each(&world(ring), [FINISHES; 3]);
    expect_each(&world([vec![exchange(0, 0)]]), [FINISHES; 3]);
}

/// 3.3.1 and 3.2.4: type signatures must match, and a message must not be longer than its receive.
#[test]
fn a_message_fits_its_receive() {
    let sent =
        |data| vec![Action::Send { mode: Mode::Standard, envelope: Envelope { data, ..to(1, 0) } }];
    let room =
        |data| vec![Action::Receive { envelope: Envelope { data, ..to(0, 0) }, binds: None }];
    let world_of = |send, receive| world([sent(send), room(receive)]);
    expect_each(&world_of(SMALL, LARGE), [FINISHES; 3]);
    expect_each(&world_of(LARGE, SMALL), [Truth { truncation: true, ..FINISHES }; 3]);
    expect_each(&world_of(LARGE, UNKNOWN), [Truth { type_mismatch: true, ..FINISHES }; 3]);
}

#[test]
fn nobody_takes_a_wrong_tag() {
    let world = world([vec![send(1, 5)], vec![receive(0, 6)]]);
    expect_each(&world, [HANGS; 3]);
}

#[test]
fn a_message_without_receive_is_left_over() {
    expect_each(&world([vec![send(1, 0)], vec![]]), [HANGS, UNCLEAN, UNCLEAN]);
}

/// The receive of the first phase takes the message of the second from the faster rank.
#[test]
fn a_wildcard_steals() {
    let root = vec![receive_any(3), receive(1, 0)];
    let world = world([root, vec![send(0, 0)], vec![send(0, 0)]]);
    expect_each(&world, [EITHER; 3]);
}

/// Rank 1's message is sent before rank 2's, by causality, and may still come second.
#[test]
fn a_message_may_come_late() {
    let world = world([
        vec![receive_any(3), receive(1, 0)],
        vec![send_by(Mode::Buffered, 0, 0), send(2, 0)],
        vec![receive(1, 0), send(0, 0)],
    ]);
    expect_each(&world, [EITHER; 3]);
}

/// A synchronous send has been received when it returns, so nothing can overtake it.
#[test]
fn a_synchronous_message_does_not_come_late() {
    let world = world([
        vec![receive_any(3), receive(2, 0)],
        vec![send_by(Mode::Synchronous, 0, 0), send(2, 0)],
        vec![receive(1, 0), send(0, 0)],
    ]);
    expect_each(&world, [FINISHES; 3]);
}

/// 3.5, "Order": messages do not overtake each other.
#[test]
fn messages_of_one_source_keep_their_order() {
    let stop_first = vec![announce(1, 0), announce(1, 1)];
    let offers = vec![offer(0, [(0, 1)]), offer(0, [(1, 2)])];
    expect_each(&world([stop_first, offers]), [FINISHES; 3]);
    let out_of_order = vec![send(1, 1), send(1, 2)];
    let takes_second_first = vec![receive(0, 2), receive(0, 1)];
    expect_each(&world([out_of_order, takes_second_first]), [HANGS, FINISHES, FINISHES]);
}

/// 3.5: the receive that was posted first takes the message, though the other is waited for.
#[test]
fn receives_keep_their_order() {
    let posts =
        vec![start_receive(0, 0, 0), start_receive(0, 0, 1), wait([1]), send(0, 0), wait([0])];
    let sends = vec![send(1, 0), receive(1, 0), send(1, 0)];
    expect_each(&world([sends, posts]), [HANGS; 3]);
    let posts =
        vec![start_receive(0, 0, 0), start_receive(0, 0, 1), wait([0]), send(0, 0), wait([1])];
    let sends = vec![send(1, 0), receive(1, 0), send(1, 0)];
    expect_each(&world([sends, posts]), [FINISHES; 3]);
}

#[test]
fn a_probe_sees_what_a_receive_would_take() {
    let probes = || vec![probe(any(3), 0), receive_from_met()];
    let world_of = |probes| world([probes, vec![send(0, 0)], vec![send(0, 0)]]);
    expect_each(&world_of(probes()), [HANGS, UNCLEAN, UNCLEAN]);
    let both = [probes(), probes()].concat();
    expect_each(&world_of(both), [FINISHES; 3]);
    // The only message goes to the receive that was posted before.
    let posted = vec![start_receive(1, 0, 0), probe(to(1, 0), 0), wait([0])];
    expect_each(&world([posted, vec![send(0, 0)]]), [HANGS; 3]);
}

/// The probe met one message and the wildcard after it takes another.
#[test]
fn a_receive_after_a_probe_may_take_another_message() {
    let root = vec![probe(any(3), 0), receive_any(3), receive_from_met()];
    expect_each(&world([root, vec![send(0, 0)], vec![send(0, 0)]]), [EITHER; 3]);
}

#[test]
fn a_request_that_nobody_waits_for_is_missed() {
    let world = world([vec![start_send(1, 0, 0)], vec![receive(0, 0)]]);
    expect_each(&world, [Truth { missing_wait: true, ..FINISHES }; 3]);
    let twice = vec![start_receive(1, 0, 0), start_receive(1, 0, 0), wait([0])];
    let world = crate::build::world([twice, vec![send(0, 0), send(0, 0)]]);
    expect_each(&world, [Truth { missing_wait: true, ..FINISHES }; 3]);
}

#[test]
fn waiting_for_any_takes_whichever_is_complete() {
    let root =
        |last| vec![start_receive(1, 0, 0), start_receive(2, 0, 1), wait_any([0, 1]), wait(last)];
    let both = world([root(vec![0, 1]), vec![send(0, 0)], vec![send(0, 0)]]);
    expect_each(&both, [FINISHES; 3]);
    let one = world([root(vec![0]), vec![send(0, 0)], vec![send(0, 0)]]);
    expect_each(&one, [Truth { missing_wait: true, ..FINISHES }; 3]);
    let only_one_comes = world([root(vec![]), vec![send(0, 0)], vec![]]);
    expect_each(&only_one_comes, [Truth { missing_wait: true, ..FINISHES }; 3]);
}

/// The second `wait_some` finds nothing active if the first took both, else it takes the rest.
#[test]
fn waiting_for_some_takes_at_least_one() {
    let root = |waits: usize| {
        let posts = vec![start_receive(1, 0, 0), start_receive(1, 1, 1)];
        [posts, vec![wait_some([0, 1]); waits]].concat()
    };
    let sends = || vec![send(0, 0), send(0, 1)];
    expect_each(&world([root(2), sends()]), [FINISHES; 3]);
    expect_each(&world([root(1), sends()]), [Truth { missing_wait: true, ..FINISHES }; 3]);
}

#[test]
fn testing_in_vain_is_a_hang_and_polling_is_not() {
    let polls = || vec![start_receive(1, 0, 0), test(0, 3), jump(4), jump(1)];
    expect_each(&world([polls(), vec![send(0, 0)]]), [FINISHES; 3]);
    expect_each(&world([polls(), vec![]]), [HANGS; 3]);
    expect_each(&world([polls(), vec![receive(0, 0), send(0, 0)]]), [HANGS; 3]);
    // The arm where the request is not complete goes on to the end instead.
    let gives_up = vec![start_receive(1, 0, 0), test(0, 2)];
    expect_each(&world([gives_up, vec![]]), [Truth { missing_wait: true, ..FINISHES }; 3]);
}

#[test]
fn going_on_for_ever_with_messages_is_no_hang() {
    let neither = Truth { can_finish: false, ..FINISHES };
    let ping = vec![send(1, 0), receive(1, 0), jump(0)];
    let pong = vec![receive(0, 0), send(0, 0), jump(0)];
    expect_each(&world([ping, pong]), [neither; 3]);
    expect_each(&world([vec![barrier(), jump(0)], vec![barrier(), jump(0)]]), [neither; 3]);
    expect_each(&world([vec![jump(0)], vec![]]), [HANGS; 3]);
}

#[test]
fn a_persistent_request_starts_again() {
    let plan = Action::PlanReceive { envelope: to(1, 0), request: 0 };
    let round = || vec![start([0]), wait([0])];
    let receives = [vec![plan], round(), round()].concat();
    expect_each(&world([receives, vec![send(0, 0), send(0, 0)]]), [FINISHES; 3]);
}

#[test]
fn nobody_at_the_other_end_moves_nothing() {
    let alone = vec![
        send(7, 0),
        receive(-1, 0),
        send_by(Mode::Synchronous, 7, 0),
        send_by(Mode::Ready, 7, 0),
        Action::Receive { envelope: with(Peer::Null), binds: None },
        receive_from_met(),
        start_receive(7, 0, 0),
        wait([0]),
    ];
    expect_each(&world([alone]), [FINISHES; 3]);
}

#[test]
fn a_blocking_send_to_self_hangs_unless_buffered_or_received() {
    expect_each(&world([vec![send(0, 0), receive(0, 0)]]), [HANGS, FINISHES, FINISHES]);
    let posted = vec![start_receive(0, 0, 0), send(0, 0), wait([0])];
    expect_each(&world([posted]), [FINISHES; 3]);
}

#[test]
fn a_ready_send_asks_for_a_posted_receive() {
    let ready = || send_by(Mode::Ready, 1, 0);
    let race = world([vec![ready()], vec![receive(0, 0)]]);
    expect_each(&race, [Truth { unposted_ready: true, ..FINISHES }; 3]);
    let told = vec![start_receive(0, 0, 0), send(0, 1), wait([0])];
    expect_each(&world([vec![receive(1, 1), ready()], told]), [FINISHES; 3]);
    let after_barrier = vec![start_receive(0, 0, 0), barrier(), wait([0])];
    expect_each(&world([vec![barrier(), ready()], after_barrier]), [FINISHES; 3]);
}

/// 6.14: whether a collective operation synchronises is up to the implementation, unless its data
/// flow asks for it.
#[test]
fn a_broadcast_may_or_may_not_synchronise() {
    let bcast = || collective(CollectiveKind::Bcast, Some(0));
    let world = world([vec![bcast(), send(1, 0)], vec![receive(0, 0), bcast()]]);
    expect_each(&world, [HANGS, HANGS, FINISHES]);
    let reduce = || collective(CollectiveKind::Reduce, Some(0));
    let world = crate::build::world([vec![receive(1, 0), reduce()], vec![reduce(), send(0, 0)]]);
    expect_each(&world, [HANGS, HANGS, FINISHES]);
    let world = crate::build::world([vec![reduce(), send(1, 0)], vec![receive(0, 0), reduce()]]);
    expect_each(&world, [HANGS; 3]);
}

#[test]
fn collective_calls_must_agree() {
    let world_of = |kinds: [(CollectiveKind, Option<i32>); 2]| {
        world(kinds.map(|(kind, root)| vec![collective(kind, root)]))
    };
    let barrier = (CollectiveKind::Barrier, None);
    expect_each(&world_of([barrier, (CollectiveKind::Fence, None)]), [MISMATCH; 3]);
    let bcast = |root| (CollectiveKind::Bcast, Some(root));
    expect_each(&world_of([bcast(0), bcast(1)]), [MISMATCH; 3]);
    expect_each(&world_of([bcast(1), bcast(1)]), [FINISHES; 3]);
    expect_each(&world([vec![crate::build::barrier()], vec![]]), [HANGS; 3]);
}

#[test]
fn a_choice_is_followed_by_its_offers() {
    let work = || send_by(Mode::Synchronous, 1, 3);
    let chooses =
        || vec![choose([(0, 1), (1, 4)]), announce(1, 0), work(), jump(0), announce(1, 1)];
    let serves = vec![offer(0, [(0, 1), (1, 3)]), receive(0, 3), jump(0)];
    expect_each(&world([chooses(), serves]), [FINISHES; 3]);
    let forgets_stop = vec![offer(0, [(0, 1)]), receive(0, 3), jump(0)];
    expect_each(&world([chooses(), forgets_stop]), [MISMATCH; 3]);
}

fn exchange(to_rank: i32, from: i32) -> Action {
    Action::SendReceive { send: Box::new(to(to_rank, 0)), receive: Box::new(to(from, 0)) }
}

/// From the rank that the probe before has met.
fn receive_from_met() -> Action {
    Action::Receive { envelope: with(Peer::Source(0)), binds: None }
}
