//! Requests, guards, futures, collections, and asking until something is there.

use super::{does, events};

#[test]
fn what_is_started_is_waited_for() {
    let body = "let x = [1, 2]; let mut y = 0.0f32;
        mpi::request::scope(|scope| {
            let s = world.process_at_rank(0).immediate_send(scope, &x[..]);
            let r = world.any_process().immediate_receive_into_with_tag(scope, &mut y, 4);
            r.wait(); s.wait_without_status();
        });";
    does(
        body,
        1,
        0,
        &["isend 0 #0 2 i32 -> 0", "ireceive any #4 1 f32 -> 1", "wait all [1]", "wait all [0]"],
    );
}

#[test]
fn every_immediate_mode() {
    let body = "let x = 1u8; let to = world.process_at_rank(0);
        mpi::request::scope(|scope| {
            to.immediate_send_with_tag(scope, &x, 1).wait();
            to.immediate_synchronous_send(scope, &x).wait();
            to.immediate_synchronous_send_with_tag(scope, &x, 1).wait();
            to.immediate_buffered_send(scope, &x).wait();
            to.immediate_buffered_send_with_tag(scope, &x, 1).wait();
            unsafe { to.immediate_ready_send(scope, &x) }.wait();
            unsafe { to.immediate_ready_send_with_tag(scope, &x, 1).wait() };
        });";
    let events = events(body, 1);
    let started: Vec<&str> = events[0].iter().step_by(2).map(String::as_str).collect();
    assert_eq!(
        started,
        [
            "isend 0 #1 1 u8 -> 0",
            "issend 0 #0 1 u8 -> 0",
            "issend 0 #1 1 u8 -> 0",
            "ibsend 0 #0 1 u8 -> 0",
            "ibsend 0 #1 1 u8 -> 0",
            "irsend 0 #0 1 u8 -> 0",
            "irsend 0 #1 1 u8 -> 0",
        ]
    );
    assert!(events[0].iter().skip(1).step_by(2).all(|event| event == "wait all [0]"));
}

#[test]
fn guards_wait_at_the_end_of_their_block_the_last_one_first() {
    let body = "let x = 1; let mut y = 0;
        mpi::request::scope(|scope| {
            let _one = WaitGuard::from(world.this_process().immediate_send(scope, &x));
            let _two: WaitGuard<_, _> =
                world.this_process().immediate_receive_into(scope, &mut y).into();
            world.barrier();
        });
        world.barrier();";
    does(
        body,
        1,
        0,
        &[
            "isend 0 #0 1 i32 -> 0",
            "ireceive 0 1 i32 -> 1",
            "barrier",
            "wait all [1]",
            "wait all [0]",
            "barrier",
        ],
    );
}

#[test]
fn a_guard_that_is_not_kept_waits_at_once() {
    let body = "let x = 1; mpi::request::scope(|scope| {
            let _ = WaitGuard::from(world.this_process().immediate_send(scope, &x));
            world.barrier();
            WaitGuard::from(world.this_process().immediate_send(scope, &x));
            world.barrier();
        });";
    does(
        body,
        1,
        0,
        &[
            "isend 0 #0 1 i32 -> 0",
            "wait all [0]",
            "barrier",
            "isend 0 #0 1 i32 -> 0",
            "wait all [0]",
            "barrier",
        ],
    );
}

#[test]
fn a_cancel_guard_cancels_and_waits() {
    let body = "let mut y = 0; mpi::request::scope(|scope| {
            let _r = CancelGuard::from(world.any_process().immediate_receive_into(scope, &mut y));
        });";
    does(body, 1, 0, &["ireceive any 1 i32 -> 0", "cancel 0", "wait all [0]"]);
}

#[test]
fn a_request_can_be_cancelled_and_is_waited_for() {
    let body = "let x = 1; mpi::request::scope(|scope| {
            let r = world.this_process().immediate_send(scope, &x); r.cancel(); r.wait();
        });";
    does(body, 1, 0, &["isend 0 #0 1 i32 -> 0", "cancel 0", "wait all [0]"]);
}

#[test]
fn a_future_waits_when_it_is_asked() {
    let body = "let future = world.any_process().immediate_receive::<f64>();
        let tagged = world.process_at_rank(0).immediate_receive_with_tag::<u8>(1);
        let (x, status) = future.get(); let (y, _) = tagged.get();";
    does(
        body,
        1,
        0,
        &["ireceive any 1 f64 -> 0", "ireceive 0 #1 1 u8 -> 1", "wait all [0]", "wait all [1]"],
    );
}

#[test]
fn asking_until_it_is_complete_is_waiting() {
    let body = "let x = 1; mpi::request::scope(|scope| {
            let mut request = world.this_process().immediate_send(scope, &x);
            loop {
                match request.test() {
                    Ok(_) => break,
                    Err(again) => request = again,
                }
            }
        });";
    does(body, 1, 0, &["isend 0 #0 1 i32 -> 0", "wait all [0]"]);
    let body = "let mut future = world.any_process().immediate_receive::<i32>();
        let value = loop {
            match future.r#try() { Ok((value, _)) => break value, Err(again) => future = again }
        };";
    does(body, 1, 0, &["ireceive any 1 i32 -> 0", "wait all [0]"]);
}

#[test]
fn probing_until_something_is_there_is_a_probe() {
    let body = "let status = loop {
            if let Some(status) = world.any_process().immediate_probe() { break status; }
        };
        let (x, _) = world.process_at_rank(status.source_rank()).receive::<i32>();";
    does(body, 1, 0, &["probe any as 0", "receive source 0 1 i32"]);
    let body = "while world.process_at_rank(0).immediate_probe_with_tag(3).is_none() {}
        let (message, _) = loop {
            let found = world.any_process().immediate_matched_probe();
            if let Some(found) = found { break found; }
        };
        let (x, _) = message.matched_receive::<u8>();";
    does(body, 1, 0, &["probe 0 #3", "probe any as 0", "receive source 0 1 u8"]);
}

#[test]
fn asking_once_says_nothing() {
    let body = "assert!(world.any_process().immediate_probe().is_none()); world.barrier();
        let future = world.any_process().immediate_receive::<i32>();
        let mut future = future.r#try().err().unwrap();
        let (x, _) = future.get();";
    let events = events(body, 1);
    assert_eq!(events[0], ["barrier", "ireceive any 1 i32 -> 0", "wait all [0]"]);
}

#[test]
fn asking_between_other_things_leaves_nothing_known() {
    let body = "let mut done = 0;
        while done < 3 {
            if let Some(status) = world.any_process().immediate_probe() { done += 1; }
            world.process_at_rank(0).send(&rank);
        }";
    assert_eq!(events(body, 1)[0], ["opaque"]);
}

#[test]
fn a_collection_takes_one_after_the_other() {
    let body = "let x = [1, 2, 3]; let mut y = [0; 3];
        mpi::request::multiple_scope(6, |scope, requests| {
            for value in &x { requests.add(world.this_process().immediate_send(scope, value)); }
            for value in y.iter_mut() {
                requests.add(world.this_process().immediate_receive_into(scope, value));
            }
            let mut turns = 0;
            while requests.incomplete() > 0 { requests.wait_any().unwrap(); turns += 1; }
            for _ in 0..turns { world.barrier(); }
        });";
    let events = events(body, 1);
    assert_eq!(
        events[0][5..],
        [
            "ireceive 0 1 i32 -> 5",
            "wait all [0, 1, 2, 3, 4, 5]",
            "barrier",
            "barrier",
            "barrier",
            "barrier",
            "barrier",
            "barrier",
        ]
    );
}

#[test]
fn a_collection_waits_for_any_where_something_happens_between() {
    let body = "mpi::request::multiple_scope(2, |_, requests| {
            requests.add(world.immediate_barrier()); requests.add(world.immediate_barrier());
            while requests.incomplete() > 0 {
                requests.wait_any().unwrap(); world.this_process().send(&1);
            }
        });";
    let events = events(body, 1);
    assert_eq!(
        events[0][2..],
        ["wait any [0, 1]", "send 0 #0 1 i32", "wait any [0, 1]", "send 0 #0 1 i32",]
    );
}

#[test]
fn a_collection_is_asked_for_all() {
    let body = "let mut found = vec![];
        mpi::request::multiple_scope(2, |_, requests| {
            requests.add(world.immediate_barrier()); requests.add(world.immediate_barrier());
            requests.wait_all(&mut found);
        });
        for _ in 0..found.len() { world.barrier(); }
        mpi::request::multiple_scope(2, |_, requests| {
            requests.add(world.immediate_barrier());
            let mut found = vec![];
            while !requests.test_all(&mut found) {}
            assert_eq!(found.len(), 1);
        });
        mpi::request::multiple_scope(2, |_, requests| {
            requests.add(world.immediate_barrier());
            let mut found = vec![];
            while requests.incomplete() > 0 { requests.wait_some(&mut found); }
            requests.add(world.immediate_barrier());
            while requests.incomplete() > 0 { requests.test_some(&mut found); }
            requests.add(world.immediate_barrier());
            while requests.incomplete() > 0 { if requests.test_any().is_some() {} }
        });";
    does(
        body,
        1,
        0,
        &[
            "ibarrier -> 0",
            "ibarrier -> 1",
            "wait all [0, 1]",
            "barrier",
            "barrier",
            "ibarrier -> 0",
            "wait all [0]",
            "ibarrier -> 0",
            "wait all [0]",
            "ibarrier -> 0",
            "wait all [0]",
            "ibarrier -> 0",
            "wait all [0]",
        ],
    );
}

#[test]
fn a_vector_of_requests_is_emptied() {
    let body = "let x = 1.0f32;
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for to in 0..size { requests.push(world.process_at_rank(to).immediate_send(scope, &x)); }
            while let Some((index, _)) = mpi::request::wait_any(&mut requests) { println!(\"{}\", index); }
        });";
    does(body, 2, 0, &["isend 0 #0 1 f32 -> 0", "isend 1 #0 1 f32 -> 1", "wait all [0, 1]"]);
}

#[test]
fn requests_in_a_vector_are_waited_for_one_by_one() {
    let body = "let mut v = vec![0u8; 2];
        mpi::request::scope(|scope| {
            let requests: Vec<_> = v.iter_mut().zip(0..)
                .map(|(x, from)| world.process_at_rank(from as i32).immediate_receive_into(scope, x))
                .collect();
            world.barrier();
            for request in requests { request.wait(); }
        });";
    does(
        body,
        2,
        0,
        &[
            "ireceive 0 1 u8 -> 0",
            "ireceive 1 1 u8 -> 1",
            "barrier",
            "wait all [0]",
            "wait all [1]",
        ],
    );
}

#[test]
fn a_request_that_is_never_waited_for_stays_so() {
    let body = "let x = 1; mpi::request::scope(|scope| {
            let _request = world.this_process().immediate_send(scope, &x);
        });
        world.barrier();";
    does(body, 1, 0, &["isend 0 #0 1 i32 -> 0", "barrier"]);
}
