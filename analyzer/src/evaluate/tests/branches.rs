//! Conditions that nobody knows.

use super::{does, evaluated, show};

#[test]
fn ways_that_send_nothing_are_joined() {
    does(
        "let (x, _) = world.process_at_rank(0).receive::<i32>();
         let y = if x > 3 { 1 } else { 2 };
         let peer = if x > 3 { 0 } else { 0 };
         world.process_at_rank(peer).send(&y);",
        1,
        &["0: receive 0 tag any 1 x i32; send 0 tag 0 1 x i32"],
    );
}

#[test]
fn ways_that_communicate_are_branches() {
    does(
        "let (x, _) = world.process_at_rank(0).receive::<i32>();
         if x > 3 { world.process_at_rank(0).send(&1u8); } else { world.barrier(); }
         world.barrier();",
        1,
        &[
            "0: receive 0 tag any 1 x i32; branch [2, 4]; send 0 tag 0 1 x u8; jump 5; barrier; barrier",
        ],
    );
}

#[test]
fn tags_decide() {
    does(
        "if rank == 0 {
             let (x, status) = world.any_process().receive::<i32>();
             match status.tag() {
                 1 => world.process_at_rank(status.source_rank()).send(&1u8),
                 2 => world.barrier(),
                 _ => {}
             }
         }",
        2,
        &[
            "0: receive any tag any 1 x i32 -> s0; branch s0 1 => 2 else 4; send s0 tag 0 1 x u8; jump 6; branch s0 2 => 5 else 6; barrier",
            "1:",
        ],
    );
}

#[test]
fn errors_in_the_data_are_not_looked_for() {
    does(
        "let (x, _) = world.process_at_rank(0).receive::<i32>();
         if x < 0 { panic!(\"negative\"); }
         if x == 7 { std::process::exit(3); }
         assert!(x < 100);
         let y: i32 = std::fs::read_to_string(\"x\").unwrap().trim().parse().expect(\"a number\");
         world.barrier();",
        1,
        &["0: receive 0 tag any 1 x i32; barrier"],
    );
}

#[test]
fn a_uniform_condition_is_decided_alike() {
    let text = "let flag = std::env::args().any(|it| it == \"-v\");
        if flag { world.barrier(); } else if rank == 0 { world.process_at_rank(1).send(&1u8); }";
    let evaluated = evaluated(text, 2);
    let worlds: Vec<_> = evaluated.worlds.iter().map(|(world, _)| show::world(world)).collect();
    assert_eq!(worlds, ["0: barrier\n1: barrier", "0: send 1 tag 0 1 x u8\n1:"]);
    assert!(evaluated.worlds[1].1[0].1.contains("flag"), "{:?}", evaluated.worlds[1].1);
}

#[test]
fn what_was_learned_stays() {
    does(
        "let (x, _) = world.process_at_rank(0).receive::<i32>();
         if x > 3 { if x > 2 { world.barrier(); } else { world.process_at_rank(9).send(&1u8); } }",
        1,
        &["0: receive 0 tag any 1 x i32; branch [2, 3]; barrier"],
    );
}

#[test]
fn a_size_that_is_refused() {
    let text = "if size != 2 { eprintln!(\"two\"); return; } world.barrier();";
    assert!(evaluated(text, 3).refused);
    assert!(!evaluated(text, 2).refused);
}

#[test]
fn each_arm_of_a_uniform_match_is_taken_in_some_world() {
    let text = "let mode = std::env::args().nth(1).unwrap();
        match mode.as_str() {
            \"one\" => if rank == 0 { world.process_at_rank(1).send(&1u8); },
            \"two\" => if rank == 0 { world.process_at_rank(1).send(&[2u8; 2]); },
            \"three\" => if rank == 0 { world.process_at_rank(1).send(&[3u8; 3]); },
            _ => panic!(\"one, two or three\"),
        }";
    let evaluated = evaluated(text, 2);
    let shown: Vec<String> = evaluated.worlds.iter().map(|(world, _)| show::world(world)).collect();
    let sends = |count: u32| format!("0: send 1 tag 0 {count} x u8\n1:");
    assert_eq!(shown, [sends(1), sends(2), sends(3)]);
    let said: Vec<&str> =
        evaluated.worlds.iter().map(|(_, answers)| answers[0].1.as_str()).collect();
    let is = |word: &str| format!("`mode.as_str()` is `{word:?}`");
    assert_eq!(said, [is("one"), is("two"), is("three")]);
}

#[test]
fn what_is_made_of_a_tag_is_asked_of_the_tag() {
    let text = "let kind = |tag: i32| match tag {
            1 => Ok(Kind::Task),
            2 => Ok(Kind::Stop),
            other => Err(format!(\"tag {other}\")),
        };
        if rank == 0 {
            let (_, status) = world.any_process().receive::<u8>();
            match kind(status.tag()).unwrap() {
                Kind::Task => world.barrier(),
                Kind::Stop => {}
            }
        }";
    let text = format!("enum Kind {{ Task, Stop }} {text}");
    let shown = show::world(&evaluated(&text, 2).worlds[0].0);
    assert!(shown.contains("; branch s0 1 =>"), "{shown}");
}
