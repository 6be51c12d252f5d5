//! Straight-line code, conditions on ranks, buffers, drop points.

use super::does;

#[test]
fn a_message_from_one_to_the_other() {
    does(
        "if rank == 0 { world.process_at_rank(1).send(&[1.0f64, 2.0, 3.0]); }
         else { let mut buffer = [0.0f32; 4]; world.process_at_rank(0).receive_into(&mut buffer[1..3]); }",
        2,
        &["0: send 1 tag 0 3 x f64", "1: receive 0 tag any 2 x f32"],
    );
}

#[test]
fn a_ring_by_arithmetic() {
    does(
        "let next = world.process_at_rank((rank + 1) % size);
         let before = world.process_at_rank((rank + size - 1) % size);
         if rank % 2 == 0 { next.send_with_tag(&rank, 7); let (x, _) = before.receive_with_tag::<i32>(7); }
         else { let (x, _) = before.receive_with_tag::<i32>(7); next.send_with_tag(&x, 7); }",
        3,
        &[
            "0: send 1 tag 7 1 x i32; receive 2 tag 7 1 x i32",
            "1: receive 0 tag 7 1 x i32; send 2 tag 7 1 x i32",
            "2: send 0 tag 7 1 x i32; receive 1 tag 7 1 x i32",
        ],
    );
}

#[test]
fn matches_with_guards() {
    does(
        "let last = size - 1;
         match rank {
             0 => world.process_at_rank(last).send(&0u8),
             r if r == last => { let (_x, _) = world.process_at_rank(0).receive::<u8>(); }
             1 | 2 => world.barrier(),
             _ => unreachable!(),
         }",
        3,
        &["0: send 2 tag 0 1 x u8", "1: barrier", "2: receive 0 tag any 1 x u8"],
    );
}

#[test]
fn a_guard_waits_where_it_is_dropped() {
    let guarded = |keeps: &str| {
        format!(
            "let peer = world.process_at_rank(1 - rank); let data = [rank; 4]; let mut room = [0; 4];
             mpi::request::scope(|scope| {{
                 {keeps} = WaitGuard::from(peer.immediate_send(scope, &data[..]));
                 peer.receive_into(&mut room[..]);
             }});"
        )
    };
    let late = "r0 = isend 1 tag 0 4 x i32; receive 1 tag any 4 x i32; wait r0";
    let at_once = "r0 = isend 1 tag 0 4 x i32; wait r0; receive 1 tag any 4 x i32";
    let of =
        |text: &str| [format!("0: {text}"), format!("1: {}", text.replace(" 1 tag", " 0 tag"))];
    for (keeps, expected) in [("let _guard", late), ("let _", at_once)] {
        let expected = of(expected);
        does(&guarded(keeps), 2, &[&expected[0], &expected[1]]);
    }
}

#[test]
fn a_panic_under_a_known_condition_happens() {
    does(
        "if rank == 1 { panic!(\"no\"); } if rank == 2 { std::process::exit(1); } world.barrier();",
        3,
        &["0: barrier", "1: panicked", "2: exited"],
    );
}

#[test]
fn assertions_about_data_are_not_taken_to_fail() {
    does("assert_eq!([0.0f64; 2], [1.0; 2]); world.barrier();", 1, &["0: opaque"]);
    does("assert!(rank == 0); world.barrier();", 2, &["0: barrier", "1: panicked"]);
}

#[test]
fn some_element_is_any_of_those_that_are_there_now() {
    does(
        "if rank == 0 {
             let (k, _) = world.process_at_rank(1).receive::<i32>();
             let mut tags = [5, 5, 5];
             world.process_at_rank(1).send_with_tag(&1u8, tags[k as usize]);
             for index in 0..3 { tags[index] = 7; }
             world.process_at_rank(1).send_with_tag(&1u8, tags[k as usize]);
         }",
        2,
        &["0: receive 1 tag any 1 x i32; send 1 tag 5 1 x u8; send 1 tag 7 1 x u8", "1:"],
    );
}
