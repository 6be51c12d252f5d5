//! Ranks that do the same as one that was run, and sizes at which all do. That they do exactly what they
//! do when they are run is asserted wherever tests evaluate anything.

use super::super::Evaluator;
use super::*;
use crate::evaluate::Communicating;

/// The sizes among 4, 5 and 7 of which it is known by size 3 what comes out.
fn known_as_well(text: &str) -> Vec<u32> {
    let program = program(text);
    let main = program.entries.iter().find(|entry| entry.name == "main").expect("there is a main");
    let evaluator = Evaluator::new(&program, Communicating::of(&program).into());
    let (own, others) = evaluator.evaluate_as_well(main, 3, &[4, 5, 7], Limits::default());
    assert_eq!(own, evaluator.evaluate(main, 3, Limits::default()));
    others.into_keys().collect()
}

#[test]
fn a_ring_is_the_same_at_all_sizes() {
    let text = "
        let (next, before) = ((rank + 1) % size, (rank - 1 + size) % size);
        let mut received = 0;
        mpi::request::scope(|scope| {
            let sent = world.process_at_rank(next).immediate_send(scope, &rank);
            world.process_at_rank(before).receive_into(&mut received);
            sent.wait();
        });
        if received == rank { println!(\"mine\"); }";
    assert_eq!(known_as_well(text), [4, 5, 7]);
}

#[test]
fn many_requests_are_the_same_at_all_sizes() {
    let text = "
        let (next, before) = ((rank + 1) % size, (rank - 1 + size) % size);
        let mut result: Vec<i32> = vec![0; 40];
        mpi::request::multiple_scope(80, |scope, coll| {
            for _ in 0..result.len() {
                coll.add(world.process_at_rank(next).immediate_send(scope, &rank));
            }
            for val in result.iter_mut() {
                coll.add(world.process_at_rank(before).immediate_receive_into(scope, val));
            }
            let (mut out, mut sent, mut received) = (vec![], 0, 0);
            coll.wait_all(&mut out);
            for (_, _, result) in out {
                if *result == rank { sent += 1; } else { received += 1; }
            }
            assert_eq!(sent, received);
        });";
    assert_eq!(known_as_well(text), [4, 5, 7]);
}

#[test]
fn what_is_told_to_nobody_who_asks_is_the_same() {
    assert_eq!(known_as_well("world.barrier(); world.barrier();"), [4, 5, 7]);
}

#[test]
fn where_ranks_go_different_ways_nothing_is_known_of_other_sizes() {
    for text in [
        "if rank == 0 { world.barrier(); } else { world.barrier(); }",
        "for _ in 0..rank { world.barrier(); }",
        "let counts = [1, 2, 3, 4, 5, 6, 7, 8];
         let data = vec![0u8; counts[rank as usize]];
         world.process_at_rank((rank + 1) % size).send(&data[..]);",
        "world.process_at_rank(1).send_with_tag(&1u8, rank);",
        "let first = world.process_at_rank(0).receive::<i32>().0;
         if first == 0 { world.process_at_rank(0).send(&1u8); }
         if first == rank { world.process_at_rank(0).send(&1u8); }",
    ] {
        assert_eq!(known_as_well(text), [0_u32; 0], "{text}");
    }
}

#[test]
fn where_the_size_matters_nothing_is_known_of_other_sizes() {
    for text in [
        "for _ in 0..size { world.barrier(); }",
        "world.any_process().receive::<i32>();",
        "let mut all = vec![0; size as usize]; world.all_gather_into(&rank, &mut all[..]);",
        "if size > 4 { world.barrier(); }",
    ] {
        assert!(!known_as_well(text).contains(&7), "{text}");
    }
}

#[test]
fn only_ranks_that_do_the_same_are_not_run() {
    // Asserted as well: that those which are not run do what they would do.
    does(
        "let next = if rank + 1 < size { rank + 1 } else { 0 };
         if rank % 2 == 0 { world.process_at_rank(next).send(&1u8); }
         if rank == 0 { world.barrier(); }",
        5,
        &[
            "0: send 1 tag 0 1 x u8; barrier",
            "1:",
            "2: send 3 tag 0 1 x u8",
            "3:",
            "4: send 0 tag 0 1 x u8",
        ],
    );
}
