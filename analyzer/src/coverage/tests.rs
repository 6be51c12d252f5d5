//! Which calls count as understood, and why others do not.

use super::{Calls, Shown};
use crate::evaluate::{Limits, Understood, evaluate};
use crate::program::Entry;
use crate::read::rust::from_text;

/// Each call of a program with how it was understood, run with two ranks. Places are lines.
fn covered(text: &str) -> Vec<String> {
    let text = format!("use mpi::traits::*; use mpi::topology::*;{text}");
    let program = from_text(&text).unwrap();
    let run = |entry: &Entry| {
        let evaluated = evaluate(&program, entry, 2, Limits::default());
        Shown { calls: evaluated.calls, lost: evaluated.lost, spared: evaluated.spared }
    };
    let shown: Vec<(&Entry, Shown)> =
        program.entries.iter().map(|entry| (entry, run(entry))).collect();
    let shown: Vec<(&Entry, &Shown)> = shown.iter().map(|(entry, shown)| (*entry, shown)).collect();
    let mut calls = Calls::default();
    calls.add(&program, &shown);
    let line = |byte: usize| text[..byte].lines().count();
    let calls = calls.list(|at| format!("line {}", line(at.bytes.start + 1)));
    let told = |how: &Understood| match how {
        Understood::Fully => "understood".to_owned(),
        Understood::Partly(why) | Understood::Not(why) => why.clone(),
    };
    calls.iter().map(|call| format!("{}: {}", call.name, told(&call.understood))).collect()
}

#[test]
fn the_place_where_the_rank_was_lost_is_named() {
    let text = "
        fn finish(world: &SimpleCommunicator) { world.barrier(); }
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            world.barrier();
            somewhere::else_entirely(&world);
            if world.rank() == 0 { world.process_at_rank(1).send(&1); }
            finish(&world);
        }";
    let lost = "not reached: from line 7 on the rank is not followed: \
                `else_entirely` is not known, and may communicate";
    assert_eq!(
        covered(text),
        [format!("barrier: {lost}"), "barrier: understood".to_owned(), format!("send: {lost}")]
    );
}

#[test]
fn what_nothing_calls_is_said_to_be_so() {
    let text = "
        fn unused(world: &SimpleCommunicator) { world.barrier(); }
        fn main() { let universe = mpi::initialize().unwrap(); universe.world().barrier(); }";
    assert_eq!(
        covered(text),
        ["barrier: nothing that was run calls `unused`", "barrier: understood"]
    );
}

/// Nothing is wrong where a program gives up: it is taken not to happen.
#[test]
fn where_a_program_gives_up_there_is_nothing_to_be_looked_at() {
    let text = "
        fn die(world: &SimpleCommunicator) -> ! { world.abort(3) }
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            let n: i32 = std::env::args().nth(1).unwrap().parse().unwrap_or_else(|_| world.abort(1));
            if n < 0 { eprintln!(\"no\"); world.abort(1); }
            let Some(m) = std::env::args().nth(2) else { die(&world) };
            match m.as_str() { \"a\" => {} _ => world.abort(2) }
            if world.size() > 100 { die(&world); }
            world.barrier();
        }";
    let covered = covered(text);
    assert_eq!(covered.len(), 5, "{covered:#?}");
    assert!(covered.iter().all(|call| call.ends_with(": understood")), "{covered:#?}");
}

#[test]
fn a_guard_is_told_with_its_type() {
    let text = "
        use mpi::request::WaitGuard;
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            mpi::request::scope(|scope| {
                let _sent = WaitGuard::from(world.this_process().immediate_send(scope, &1));
                world.this_process().receive::<i32>();
            });
        }";
    assert_eq!(
        covered(text),
        ["WaitGuard::from: understood", "immediate_send: understood", "receive: understood"]
    );
}
