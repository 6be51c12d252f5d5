//! Sends, receives, probes, and who is at the other end.

use super::{all_do, does, evaluated, events, gaps, program};

#[test]
fn every_mode_sends() {
    let body = "let x = 1.5; let to = world.process_at_rank(0);
        to.send(&x); to.synchronous_send(&x); to.buffered_send(&x); unsafe { to.ready_send(&x) };
        to.send_with_tag(&x, 3); to.synchronous_send_with_tag(&x, 3);
        to.buffered_send_with_tag(&x, 3); unsafe { to.ready_send_with_tag(&x, 3) };";
    does(
        body,
        1,
        0,
        &[
            "send 0 #0 1 f64",
            "ssend 0 #0 1 f64",
            "bsend 0 #0 1 f64",
            "rsend 0 #0 1 f64",
            "send 0 #3 1 f64",
            "ssend 0 #3 1 f64",
            "bsend 0 #3 1 f64",
            "rsend 0 #3 1 f64",
        ],
    );
}

#[test]
fn a_receive_without_a_tag_takes_any() {
    let body = "let from = world.process_at_rank(0); let mut b = [0u8; 4];
        let (x, _) = from.receive::<i64>(); let (y, _) = from.receive_with_tag::<i64>(2);
        from.receive_into(&mut b); from.receive_into_with_tag(&mut b[1..3], 2);
        let (v, _) = from.receive_vec::<f32>(); let (w, _) = from.receive_vec_with_tag::<f32>(2);";
    does(
        body,
        1,
        0,
        &[
            "receive 0 1 i64 as 0",
            "receive 0 #2 1 i64",
            "receive 0 4 u8 as 1",
            "receive 0 #2 2 u8",
            "receive 0 n f32 as 2",
            "receive 0 #2 n f32",
        ]
        .map(without_slots),
    );
}

/// Slots that nobody asks are left out.
fn without_slots(line: &str) -> &str {
    line.split(" as ").next().expect("there is a first part")
}

#[test]
fn the_type_of_a_receive_is_told_by_its_binding() {
    does("let (x, _): (f32, _) = world.any_process().receive();", 1, 0, &["receive any 1 f32"]);
    does(
        "let (x, s): (Vec<u16>, mpi::point_to_point::Status) = world.any_process().receive_vec();",
        1,
        0,
        &["receive any n u16"],
    );
}

#[test]
fn probes_leave_the_message() {
    let body = "let status = world.any_process().probe(); let from = status.source_rank();
        let (x, _) = world.process_at_rank(from).receive_with_tag::<i32>(status.tag());";
    does(body, 1, 0, &["probe any as 0", "receive source 0 1 i32"]);
    let body = "let status = world.process_at_rank(0).probe();
        let (x, _) = world.process_at_rank(0).receive_with_tag::<i32>(status.tag());";
    does(body, 1, 0, &["probe 0", "receive 0 1 i32"]);
}

#[test]
fn a_tag_that_was_received_leaves_nothing_known() {
    let body = "let (x, status) = world.process_at_rank(0).receive::<i32>();
        world.process_at_rank(0).receive_with_tag::<i32>(status.tag());";
    assert_eq!(events(body, 1)[0], ["receive 0 1 i32", "opaque"]);
}

#[test]
fn a_source_is_the_peer_of_what_follows() {
    let body = "let (x, status) = world.any_process().receive::<i32>();
        world.process_at_rank(status.source_rank()).send(&x);";
    does(body, 2, 0, &["receive any 1 i32 as 0", "send source 0 #0 1 i32"]);
}

#[test]
fn a_matched_message_is_received_once() {
    let body = "let (message, status) = world.any_process().matched_probe();
        let (x, _) = message.matched_receive::<i32>();
        let (message, _) = world.process_at_rank(0).matched_probe_with_tag(4);
        let mut b = [0.0; 3]; message.matched_receive_into(&mut b);
        let (v, _) = world.any_process().matched_probe().matched_receive_vec::<u8>();";
    does(
        body,
        1,
        0,
        &[
            "probe any as 0",
            "receive source 0 1 i32",
            "probe 0 #4",
            "receive 0 #4 3 f64",
            "probe any as 1",
            "receive source 1 n u8",
        ],
    );
}

#[test]
fn both_at_once() {
    let body = "let next = world.process_at_rank((rank + 1) % size);
        let previous = world.process_at_rank((rank + size - 1) % size);
        let (x, _): (i32, _) = p2p::send_receive(&rank, &next, &previous);
        let (y, _): (i32, _) = p2p::send_receive_with_tags(&rank, &next, 1, &previous, 2);
        let mut b = [0.0; 2];
        p2p::send_receive_into(&[1.0, 2.0], &next, &mut b, &previous);
        p2p::send_receive_into_with_tags(&b[..], &next, 1, &mut [0.0; 2], &previous, 1);
        p2p::send_receive_replace_into(&mut b, &next, &previous);
        p2p::send_receive_replace_into_with_tags(&mut b, &next, 5, &previous, 6);";
    does(
        body,
        3,
        1,
        &[
            "send 2 #0 1 i32 and receive 0 1 i32",
            "send 2 #1 1 i32 and receive 0 #2 1 i32",
            "send 2 #0 2 f64 and receive 0 2 f64",
            "send 2 #1 2 f64 and receive 0 #1 2 f64",
            "send 2 #0 2 f64 and receive 0 2 f64",
            "send 2 #5 2 f64 and receive 0 #6 2 f64",
        ],
    );
}

#[test]
fn a_rank_that_is_not_there_is_named_and_ends_in_a_panic() {
    let body = "world.process_at_rank(rank + 1).send(&rank);";
    all_do(body, &[&["send 1 #0 1 i32"], &["probe 2", "leave Panicked"]]);
    all_do("world.process_at_rank(-1).send(&rank);", &[&["probe -1", "leave Panicked"]]);
}

#[test]
fn what_is_sent_is_what_is_in_the_buffer() {
    let body = "let to = world.process_at_rank(0); let v = vec![0u64; 7];
        to.send(&v); to.send(&v[..]); to.send(&v[2..5]); to.send(&v[rank as usize]);
        let empty: Vec<i32> = Vec::with_capacity(9); to.send(&empty);
        let grid = [[1.0f32; 4]; 2]; to.send(&grid[1]); to.send(&grid[..]);
        let text = String::from(\"abc\"); to.send(text.as_bytes());";
    does(
        body,
        1,
        0,
        &[
            "send 0 #0 7 u64",
            "send 0 #0 7 u64",
            "send 0 #0 3 u64",
            "send 0 #0 1 u64",
            "send 0 #0 0 i32",
            "send 0 #0 4 f32",
            "send 0 #0 8 f32",
            "send 0 #0 3 u8",
        ],
    );
}

#[test]
fn a_peer_that_was_received_leaves_nothing_known() {
    let body = "let (to, _) = world.any_process().receive::<i32>();
        world.process_at_rank(to).send(&rank);";
    let evaluated = evaluated(&program(body), 2);
    assert_eq!(super::ranks(&evaluated)[0], ["receive any 1 i32", "opaque"]);
    assert_eq!(
        gaps(&evaluated),
        ["the rank that it sends to comes from data that this rank has when it runs"]
    );
}

#[test]
fn a_tag_that_every_rank_has_is_one_tag() {
    let body = "let tag: i32 = std::env::args().nth(1).unwrap().parse().unwrap();
        if rank == 0 { world.process_at_rank(1).send_with_tag(&rank, tag); }
        else { world.process_at_rank(0).receive_with_tag::<i32>(tag); }";
    all_do(body, &[&["send 1 #some 1 i32"], &["receive 0 #some 1 i32"]]);
}

#[test]
fn processes_of_a_process() {
    let body = "let here = world.this_process(); if here.is_self() { here.send(&here.rank()); }
        if world.process_at_rank(1).is_self() { world.process_at_rank(0).barrier(); }";
    all_do(body, &[&["send 0 #0 1 i32"], &["send 1 #0 1 i32", "barrier"]]);
}

#[test]
fn a_buffer_is_attached_and_detached() {
    let body = "universe.set_buffer_size(1000); assert_eq!(universe.buffer_size(), 1000);
        universe.set_buffer_size(50); universe.detach_buffer(); universe.detach_buffer();";
    does(body, 1, 0, &["attach 1000", "detach", "attach 50", "detach"]);
}

#[test]
fn an_abort_leaves() {
    all_do("if rank == 1 { world.abort(3); }", &[&[], &["leave Aborted"]]);
}

/// It may be that of other messages, where it has no counterpart but in other tags.
#[test]
fn a_tag_that_every_rank_has_may_be_any_other_one() {
    let read = "let tag: i32 = std::env::args().nth(1).unwrap().parse().unwrap();";
    let talk = |sent: &str, taken: &str| {
        format!(
            "{read} if rank == 0 {{ world.process_at_rank(1).send_with_tag(&rank, {sent}); }}
             else {{ world.process_at_rank(0).receive{taken}; }}"
        )
    };
    let opaque: &[&[&str]] = &[&["opaque"], &["receive 0 #17 1 i32"]];
    all_do(&talk("tag", "_with_tag::<i32>(17)"), opaque);
    let opaque: &[&[&str]] = &[&["send 1 #17 1 i32"], &["opaque"]];
    all_do(&talk("17", "_with_tag::<i32>(tag)"), opaque);
    let any: &[&[&str]] = &[&["send 1 #some 1 i32"], &["receive 0 1 i32"]];
    all_do(&talk("tag", "::<i32>()"), any);
}
