//! The run that shows something, as short as it can be had.
//!
//! The exploration goes deep first, so the run in which it meets something may be long-winded. Here
//! the same states are walked through breadth first until one of them shows it, which gives a run
//! with the fewest choices.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::evidence::{At, Observation};
use super::exploration::Plan;
use super::machine::options::{Choice, FutureSends};
use super::machine::{Machine, Status};
use super::trace::Deed;
use crate::model::{Rank, World};

/// What a run is to show.
pub(super) enum Goal {
    /// A state, as numbers.
    State(Box<[u32]>),
    /// Something that is seen on the way.
    Observation(Observation),
    /// A message that is left to a rank that has ended.
    Left {
        /// Its start.
        send: At,
        /// The rank.
        destination: Rank,
    },
}

/// A run of so few choices is told as it was met.
const SHORT: usize = 4;

/// States, counted by their extent, after which the run that is known is short enough.
const EXTENT: usize = 100_000;

/// The choices of a run that shows the goal: those known, or fewer.
pub(super) fn shortest<'w>(
    world: &'w World,
    plan: Plan<'w>,
    goal: &Goal,
    known: Vec<Choice>,
) -> Vec<Choice> {
    if known.len() <= SHORT {
        return known;
    }
    let future = FutureSends::of(world);
    let mut machine = plan.start(world);
    machine.settle();
    let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
    let mut open = VecDeque::from([(machine, Vec::new())]);
    while let Some((machine, path)) = open.pop_front() {
        if path.len() + 1 >= known.len() || seen.len() * machine.extent() > EXTENT {
            return known;
        }
        let mut machine = machine;
        let mut choices = machine.options(Some(&future));
        if machine.sweep(&choices, &future).is_some() {
            choices.truncate(1);
        }
        for choice in choices {
            let mut next = machine.clone();
            next.evidence.take();
            next.apply(choice);
            next.settle();
            let path: Vec<Choice> = path.iter().copied().chain([choice]).collect();
            let state = next.encode();
            let shows = match goal {
                Goal::State(goal) => *goal == state,
                Goal::Observation(goal) => next.evidence.take().contains(goal),
                Goal::Left { send, destination } => {
                    next.state(*destination).status == Status::Ended
                        && next.unmatched().iter().any(|left| left.sending && left.at == *send)
                }
            };
            if shows {
                return path;
            }
            if seen.insert(state) {
                open.push_back((next, path));
            }
        }
    }
    known
}

/// The state that some choices lead to.
pub(super) fn state<'w>(world: &'w World, plan: Plan<'w>, choices: &[Choice]) -> Machine<'w> {
    let mut machine = plan.start(world);
    machine.settle();
    for &choice in choices {
        machine.apply(choice);
        machine.settle();
    }
    machine
}

/// The run of some choices, with what happened in it written down.
pub(super) fn replay<'w>(world: &'w World, plan: Plan<'w>, choices: &[Choice]) -> Vec<(At, Deed)> {
    let mut machine = plan.start(world);
    machine.recording = Some(Vec::new());
    machine.settle();
    for &choice in choices {
        machine.apply(choice);
        machine.settle();
    }
    machine.recording.take().unwrap_or_default()
}
