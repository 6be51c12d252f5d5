//! What `docs/semantics.md` says to follow from its rules, seen on random worlds: the engine relies
//! on it.

use crate::build::world;
use crate::edit::has_choice;
use crate::exploration::{Reading, Truth, explore};
use crate::sample::Sample;
use crate::show::Shown;

/// Worlds in a normal and in a long run.
const WORLDS: usize = 400;
const WORLDS_LONG: usize = 10_000;
const STATES: usize = 10_000;

fn ends(truth: Truth) -> usize {
    [truth.can_finish, truth.can_hang, truth.mismatch].into_iter().filter(|&can| can).count()
}

#[test]
fn without_a_choice_there_is_one_end_and_buffering_helps() {
    let mut seen = 0;
    let worlds = Sample::new(WORLDS, WORLDS_LONG).worlds();
    for ranks in worlds.filter(|ranks| !has_choice(ranks.iter().flatten())) {
        let world = world(ranks);
        let unbuffered = explore(&world, Reading::Rendezvous { eager_limit: 0 }, STATES);
        let buffered = explore(&world, Reading::Buffered, STATES);
        let (Some(unbuffered), Some(buffered)) = (unbuffered, buffered) else { continue };
        seen += 1;
        let shown = Shown(&world);
        for truth in [unbuffered, buffered] {
            assert!(ends(truth) <= 1, "{truth} for\n{shown}");
        }
        let helps = !unbuffered.can_finish || buffered.can_finish;
        assert!(helps, "unbuffered: {unbuffered}; buffered: {buffered} for\n{shown}");
    }
    assert!(seen > WORLDS / 10, "only {seen} worlds have no choice");
}
