//! Loops whose turns are a guess, and numbers that conditions make known.

use super::{does, evaluated, run, show};

const WORKERS: &str = "let workers: i32 = std::env::args().nth(1).unwrap().parse().unwrap();\n";

const SERVE: &str = "if rank == 0 {
        for w in 1..=workers { world.process_at_rank(w).send(&1); }
    } else { let (_v, _) = world.process_at_rank(0).receive::<i32>(); }";

/// All worlds, as text.
fn worlds(text: &str, size: u32) -> Vec<String> {
    let evaluated = evaluated(text, size);
    evaluated.worlds.iter().map(|(world, _)| show::world(world)).collect()
}

#[test]
fn what_a_guessed_loop_counts_is_no_rank() {
    for turns in [
        SERVE.to_owned(),
        "if rank == 0 {
             let mut w = 0;
             while w < workers { w += 1; if w > 1 { world.process_at_rank(w).send(&1); } }
         }"
        .to_owned(),
        "if rank == 0 {
             let rows = vec![0; workers as usize];
             for (i, row) in rows.iter().enumerate() { world.process_at_rank(i as i32).send(row); }
         }"
        .to_owned(),
    ] {
        let shown = run(&format!("{WORKERS}{turns}"), 4);
        assert!(shown.starts_with("0: opaque\n"), "{turns}\n{shown}");
    }
}

#[test]
fn an_assertion_makes_a_number_known() {
    for known in [
        "assert_eq!(workers, size - 1);",
        "assert!(workers == size - 1, \"as many as there are\");",
        "assert!(workers > 0 && workers + 1 == size);",
        "if workers != size - 1 { panic!(\"no\"); }",
        "if workers != size - 1 { eprintln!(\"no\"); return; }",
        "if rank == 2 { assert_eq!(workers, size - 1); }",
    ] {
        does(
            &format!("{WORKERS}{known}{SERVE}"),
            3,
            &[
                "0: send 1 tag 0 1 x i32; send 2 tag 0 1 x i32",
                "1: receive 0 tag any 1 x i32",
                "2: receive 0 tag any 1 x i32",
            ],
        );
    }
}

#[test]
fn an_arm_makes_a_number_known() {
    let text = format!(
        "{WORKERS}match workers {{
             1 => if rank == 0 {{ world.process_at_rank(workers).send(&1); }},
             _ => world.barrier(),
         }}"
    );
    let worlds = worlds(&text, 2);
    assert_eq!(worlds[0], "0: send 1 tag 0 1 x i32\n1:");
    assert!(worlds.contains(&"0: barrier\n1: barrier".to_owned()), "{worlds:?}");
}

#[test]
fn guesses_are_told_apart() {
    let turns = "for step in 0..workers {
            if step > 0 { world.barrier(); }
            if step % 2 == 1 { world.process_at_rank(0).send(&1u8); }
            if step == 7 { world.any_process().receive::<u8>(); }
        }";
    does(&format!("{WORKERS}{turns}"), 1, &["0: barrier; send 0 tag 0 1 x u8"]);
}

#[test]
fn equal_guesses_are_equal_tags() {
    let turns = "for step in 1..workers {
            world.process_at_rank(0).send_with_tag(&1u8, step);
            world.process_at_rank(0).receive_with_tag::<u8>(step);
        }";
    let shown = run(&format!("{WORKERS}{turns}"), 1);
    let tags: Vec<&str> = shown.split(" tag ").skip(1).collect();
    let tags: Vec<&str> = tags.iter().filter_map(|rest| rest.split(' ').next()).collect();
    assert!(tags.len() == 4 && tags[0] == tags[1] && tags[0] != tags[2], "{shown}");
    assert!(tags.iter().all(|tag| tag.starts_with('-')), "{shown}");
}

#[test]
fn loops_turn_as_often_as_there_are_others_in_some_world() {
    let text = format!(
        "{WORKERS}if rank == 0 {{ for _ in 0..workers {{ world.any_process().receive::<i32>(); }} }}
         else {{ world.process_at_rank(0).send(&1); }}"
    );
    let worlds = worlds(&text, 4);
    let receives = |world: &String| world.matches("receive").count();
    let turns: Vec<usize> = worlds.iter().map(receives).collect();
    assert!(turns.contains(&3) && turns.contains(&0) && turns.contains(&2), "{turns:?}");
}

#[test]
fn conditions_on_one_number_go_together() {
    for conditions in [
        ["n > 5", "n < 3"],
        ["n % 2 == 0", "n % 2 == 1"],
        ["n < m", "m < n"],
        ["n < m", "n == m"],
        ["n / 3 > 0", "n < 3"],
    ] {
        let [one, other] = conditions;
        let text = format!(
            "let n: i32 = std::env::args().nth(1).unwrap().parse().unwrap();
             let m: i32 = std::env::args().nth(2).unwrap().parse().unwrap();
             if {one} {{ world.barrier(); }} else {{ world.process_at_rank(0).send(&1u8); }}
             if {other} {{ world.barrier(); }}"
        );
        for world in worlds(&text, 1) {
            assert_ne!(world, "0: barrier; barrier", "{conditions:?}");
        }
        assert!(worlds(&text, 1).len() > 1, "{conditions:?}");
    }
}

#[test]
fn one_text_is_not_two() {
    let text = "let mode = std::env::args().nth(1).unwrap();
        if mode == \"ring\" { world.barrier(); }
        if mode == \"pairs\" { world.barrier(); }";
    let worlds = worlds(text, 1);
    assert_eq!(worlds[0], "0: barrier");
    assert!(!worlds.contains(&"0: barrier; barrier".to_owned()), "{worlds:?}");
}

#[test]
fn what_turns_equally_often_does_so_in_every_world() {
    for [one, other] in [
        ["for _ in 0..n B", "for _ in 1..=n B"],
        ["for _ in 0..n B", "let mut i = n; while i > 0 { B i -= 1; }"],
        ["for _ in 0..n B", "let mut i = 0; loop { if i == n { break } B i += 1; }"],
        ["for _ in 0..n B", "for _ in (0..n).rev() B"],
        ["for _ in v.chunks(4) B", "for _ in 0..n.div_ceil(4) B"],
        ["for _ in v.chunks(4) B", "for _ in 0..(n + 3) / 4 B"],
        ["for _ in v.windows(2) B", "for _ in 1..n B"],
        ["for _ in 1..n B", "for _ in 0..n - 1 B"],
        ["for _ in 0..2 * n B", "for _ in 0..n { B B }"],
        ["for _ in 0..n { for _ in 0..n B }", "for _ in 0..n * n B"],
        ["for _ in 0..n / 2 B", "for _ in (0..n / 2 * 2).step_by(2) B"],
        ["if n > 0 B", "if n != 0 B"],
        ["if n % 2 == 0 B", "if n & 1 == 0 B"],
        ["match n { 0 => {} 1 => B, _ => { B B } }", "for _ in 0..n.min(2) B"],
        ["for _ in 0..n / 2 B for _ in n / 2..n B", "for _ in 0..n B"],
    ] {
        let text = format!(
            "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
             let v = vec![0.0; n];
             if rank == 0 {{ {one} }} else {{ {other} }}"
        );
        let text = text.replace('B', "{ world.barrier(); }");
        for world in worlds(&text, 2) {
            let barriers = |line: &str| line.matches("barrier").count();
            let [zero, one] = world.lines().map(barriers).collect::<Vec<_>>()[..] else {
                panic!("{world}");
            };
            assert!(zero == one || world.contains("opaque"), "{text}\n{world}");
        }
    }
}

#[test]
fn what_is_not_followed_is_not_decided_twice() {
    let text = "let n: i32 = std::env::args().nth(1).unwrap().parse().unwrap();
        if n > 0 { world.barrier(); }
        if n.count_zeros() > 0 { world.process_at_rank(0).send(&1u8); }
        world.barrier();";
    assert_eq!(run(text, 1), "0: barrier; opaque");
}

#[test]
fn a_guess_is_one_number_with_what_is_known_elsewhere() {
    let text = format!(
        "{WORKERS}let mut step = 0;
         loop {{
             step += 1;
             if rank == 0 && step > 10 {{ world.barrier(); }}
             if step % workers == 0 {{ world.barrier(); }}
             if step >= workers {{ break; }}
         }}"
    );
    for world in worlds(&text, 2) {
        let lines: Vec<&str> = world.lines().map(|line| &line[2..]).collect();
        assert!(lines[0] == lines[1] || world.contains("opaque"), "{world}");
    }
}

/// What is made of what all ranks have need not be the same on all of them.
#[test]
fn what_differs_from_rank_to_rank_is_not_decided_for_all() {
    for mine in [
        "std::env::args().nth(1).unwrap().split(',').collect::<Vec<_>>()[rank as usize] == \"send\"",
        "std::env::args().nth(1 + rank as usize).unwrap() == \"send\"",
        "std::env::var(\"NODES\").unwrap().starts_with(&format!(\"n{rank}\"))",
        "clap::Command::new(\"x\").get_matches().get_flag(if rank == 0 { \"a\" } else { \"b\" })",
        "{ let mut all = vec![0.0f64; 2]; world.all_gather_into(&rand::random::<f64>(), &mut all[..]);
           all[rank as usize] > all[1 - rank as usize] }",
    ] {
        let text = format!(
            "let mine = {mine};
             if mine {{ world.process_at_rank(1 - rank).send(&1u8); }}
             else {{ world.process_at_rank(1 - rank).receive::<u8>(); }}"
        );
        let shown = run(&text, 2);
        assert_eq!(shown.matches("branch").count(), 2, "{text}\n{shown}");
    }
}
