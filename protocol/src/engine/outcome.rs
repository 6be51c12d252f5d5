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
    /// In some run a rank aborts the job.
    pub can_abort: bool,
    /// Everything was followed.
    pub complete: bool,
}

/// Follows a world through everything that can happen in it.
pub fn explore(world: &World, semantics: Semantics, limits: Limits) -> Outcome {
    let plan = |schedule| Plan { semantics, schedule, skipped: None, told: false };
    let explored = exploration::explore(world, plan(Schedule::Eager), limits);
    let mut outcome = Outcome {
        can_finish: explored.can_finish(),
        can_hang: !explored.hangs.is_empty(),
        can_finish_unclean: !explored.uncleans.is_empty(),
        mismatch: explored.mismatch,
        can_abort: explored.aborts(),
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
                Observation::CollectiveMismatch { .. }
                | Observation::CollectiveType { .. }
                | Observation::CollectiveCount { .. }
                | Observation::CollectiveOperation { .. }
                | Observation::NoBuffer { .. }
                | Observation::Access { .. }
                | Observation::Mixed { .. }
                | Observation::Overlap { .. }
                | Observation::Overwritten { .. }
                | Observation::WrongDecision { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::samples::{envelope, receive, world};
    use crate::model::{Action, Collective, CollectiveKind, Completion, Mode, Peer};

    #[test]
    fn a_ready_send_may_be_ahead_once_a_wildcard_is_matched() {
        let reduce = || {
            let kind = CollectiveKind::Reduce;
            Action::Collective(Collective { root: Some(1), ..Collective::of(kind, 0) })
        };
        let ready =
            |peer| Action::Send { mode: Mode::Ready, envelope: envelope(Peer::Rank(peer), 0) };
        let any = envelope(Peer::Any { first: 1, end: 4 }, 0);
        let world = world(vec![
            vec![
                Action::StartReceive { envelope: any, request: 0, binds: None },
                reduce(),
                Action::Wait { requests: Box::new([0]), completion: Completion::All },
                ready(1),
            ],
            vec![reduce(), ready(0), receive(0, 0)],
        ]);
        let outcome = explore(&world, Semantics::Buffered, Limits { states: 1_000 });
        assert!(outcome.unposted_ready, "{outcome:?}");
    }
}
