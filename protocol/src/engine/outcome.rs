//! What can become of one world, in a few words: the engine's answer as tests compare it.

use super::evidence::Observation;
use super::exploration::{self, Limits, Plan, ready_destinations};
use super::machine::{Schedule, Semantics};
use crate::model::World;

/// What can become of a world under one reading of the standard send (docs/semantics.md,
/// "Outcomes").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Some run ends on all ranks.
    pub can_finish: bool,
    /// Some run reaches a state in which nothing can ever move again.
    pub can_hang: bool,
    /// Some run ends on all ranks and leaves a message that nobody received.
    pub can_finish_unclean: bool,
    /// In some run a ready send starts before its receive is posted.
    pub unposted_ready: bool,
    /// In some run a request is never completed.
    pub missing_wait: bool,
    /// In some run a message meets a receive of another datatype.
    pub type_mismatch: bool,
    /// In some run a message is longer than its receive.
    pub truncation: bool,
    /// Some run is over because collectives differ or a decision has no arm.
    pub mismatch: bool,
    /// Everything was followed.
    pub complete: bool,
}

/// Follows a world through everything that can happen in it.
pub fn explore(world: &World, semantics: Semantics, limits: Limits) -> Outcome {
    let plan = |schedule| Plan { semantics, schedule, skipped: None };
    let explored = exploration::explore(world, plan(Schedule::Eager), limits);
    let mut outcome = Outcome {
        can_finish: explored.can_finish(),
        can_hang: !explored.hangs.is_empty(),
        can_finish_unclean: explored.unclean.is_some(),
        mismatch: explored.mismatch,
        complete: explored.complete,
        ..Outcome::default()
    };
    outcome.note(explored.observations.iter().map(|(observation, _)| observation));
    for rank in ready_destinations(world) {
        let delayed = exploration::explore(world, plan(Schedule::Delay(rank)), limits);
        outcome.note(delayed.observations.iter().map(|(observation, _)| observation));
        outcome.complete &= delayed.complete;
    }
    outcome
}

impl Outcome {
    fn note<'o>(&mut self, observations: impl Iterator<Item = &'o Observation>) {
        for observation in observations {
            match observation {
                Observation::TypeMismatch { .. } => self.type_mismatch = true,
                Observation::Truncation { .. } => self.truncation = true,
                Observation::LostRequest { .. } => self.missing_wait = true,
                Observation::UnpostedReady { .. } => self.unposted_ready = true,
                Observation::CollectiveMismatch { .. } | Observation::WrongDecision { .. } => {}
            }
        }
    }
}
