//! Loops: turn by turn, by what nobody knows, and long ones.

use super::{does, evaluated, run};

#[test]
fn loops_over_ranks() {
    does(
        "if rank == 0 { for peer in 1..size { world.process_at_rank(peer).send(&peer); } }
         else { let (x, _) = world.process_at_rank(0).receive::<i32>(); }",
        3,
        &[
            "0: send 1 tag 0 1 x i32; send 2 tag 0 1 x i32",
            "1: receive 0 tag any 1 x i32",
            "2: receive 0 tag any 1 x i32",
        ],
    );
}

#[test]
fn labels_breaks_and_continues() {
    does(
        "let mut n = 0;
         'outer: loop {
             n += 1;
             for k in 0..5 {
                 if k == 1 { continue; }
                 if k == 3 { continue 'outer; }
                 if n == 3 { break 'outer; }
                 if rank == 0 { world.process_at_rank(1).send_with_tag(&k, n * 10 + k); }
             }
         }",
        2,
        &[
            "0: send 1 tag 10 1 x i32; send 1 tag 12 1 x i32; send 1 tag 20 1 x i32; send 1 tag 22 1 x i32",
            "1:",
        ],
    );
}

#[test]
fn a_loop_by_received_data_is_a_branch() {
    does(
        "if rank == 0 {
             loop {
                 let (go_on, _) = world.process_at_rank(1).receive::<bool>();
                 if !go_on { break; }
                 world.process_at_rank(1).send(&1u8);
             }
             world.barrier();
         }",
        2,
        &[
            "0: receive 1 tag any 1 x bool; branch [5, 2]; send 1 tag 0 1 x u8; receive 1 tag any 1 x bool; branch [5, 7]; barrier; jump 9; send 1 tag 0 1 x u8; jump 3",
            "1:",
        ],
    );
}

#[test]
fn a_uniform_bound_is_two_turns_or_none() {
    let text = "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
        for step in 0..n { world.barrier(); }
        if rank == 0 && n > 0 { world.process_at_rank(1).send(&1u8); }";
    let evaluated = evaluated(text, 2);
    let worlds: Vec<String> =
        evaluated.worlds.iter().map(|(world, _)| super::show::world(world)).collect();
    assert_eq!(worlds[0], "0: barrier; barrier; send 1 tag 0 1 x u8\n1: barrier; barrier");
    assert!(worlds[1..].contains(&"0:\n1:".to_owned()), "{worlds:?}");
}

#[test]
fn what_is_handed_out_while_a_loop_lasts_comes_to_an_end() {
    let text = "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
        let mut jobs = vec![1u8; n].into_iter();
        let mut running = size - 1;
        while rank == 0 && running > 0 {
            match jobs.next() {
                Some(_) => world.process_at_rank(1).send(&1u8),
                None => running -= 1,
            }
        }";
    let sends = "send 1 tag 0 1 x u8; send 1 tag 0 1 x u8";
    does(text, 3, &[&format!("0: {sends}"), "1:", "2:"]);
}

#[test]
fn what_only_computes_is_not_run_for_long() {
    does(
        "let mut sum = 0u64;
         for i in 0..100_000_000u64 { sum += i; if sum > 3 { sum = 0; } }
         let mut n = 0;
         while n < 10_000_000 { n += 1; }
         if rank == 0 { world.process_at_rank(1).send(&sum); }",
        2,
        &["0: send 1 tag 0 1 x u64", "1:"],
    );
}

#[test]
fn a_thousand_turns_on_sixty_four_ranks_are_quick() {
    let text = "let next = world.process_at_rank((rank + 1) % size);
        let before = world.process_at_rank((rank + size - 1) % size);
        let mut field = vec![0.0f64; 100];
        for step in 0..1000 {
            if step % 2 == 0 { field[0] = step as f64; }
            p2p::send_receive_into(&field[..50], &next, &mut field[50..], &before);
        }";
    let start = std::time::Instant::now();
    let shown = run(text, 64);
    assert!(shown.len() > 64 * 1000);
    eprintln!("{:?}", start.elapsed());
}

#[test]
fn long_loops_that_stay_the_same_are_cut_short() {
    let text = "for step in 0..100_000 {
            if rank == 0 { world.process_at_rank(1).send(&step); }
            else { let (x, _) = world.process_at_rank(0).receive::<i32>(); }
        }
        world.barrier();";
    let sends = "send 1 tag 0 1 x i32; ".repeat(3);
    let receives = "receive 0 tag any 1 x i32; ".repeat(3);
    does(text, 2, &[&format!("0: {sends}barrier"), &format!("1: {receives}barrier")]);
}

#[test]
fn long_loops_that_only_compute_may_differ() {
    let text = "let mut sum = 0;
        if rank == 1 { for i in 0..96_800 { for k in 0..440 { sum += i * k; } } }
        if rank == 0 { world.process_at_rank(1).send(&sum); }
        for step in 0..3000 { world.barrier(); }";
    let barriers = "barrier; barrier; barrier";
    does(text, 2, &[&format!("0: send 1 tag 0 1 x i32; {barriers}"), &format!("1: {barriers}")]);
}

#[test]
fn loops_that_are_cut_differently_are_not_understood() {
    let text = "for step in 0..(3000 + rank) { world.process_at_rank(0).send(&step); }";
    does(text, 2, &["0: opaque", "1: opaque"]);
}

#[test]
fn a_long_loop_by_a_condition_is_run_to_its_end() {
    let text = "let mut step = 0;
        while step < 3000 {
            world.barrier();
            step += 1;
        }
        if step == 3000 && rank == 0 { world.process_at_rank(1).send(&1u8); }";
    let shown = run(text, 2);
    assert!(shown.contains("barrier; send 1 tag 0 1 x u8"), "{}", &shown[shown.len() - 200..]);
    assert!(shown.matches("barrier").count() < 5000);
}

#[test]
fn a_server_that_never_leaves_goes_on_as_a_loop() {
    let shown = run(
        "if rank == 1 {
             loop {
                 let (question, status) = world.process_at_rank(0).receive::<i32>();
                 if status.tag() == 1 { world.process_at_rank(0).send(&question); }
             }
         }",
        2,
    );
    let server = shown.lines().last().expect("two ranks do something");
    assert!(server.contains("branch s") && !server.contains("opaque"), "{server}");
}
