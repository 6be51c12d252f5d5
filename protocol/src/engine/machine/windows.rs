//! Epochs between named ranks (MPI 4.0, 12.5.2): `MPI_Win_complete` waits until all whom the rank
//! has started with have posted, `MPI_Win_wait` until all for whom it has posted have completed.
//!
//! All else of one-sided communication moves nothing here: what stands beside it meets other ranks in
//! collectives.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{Machine, RequestStatus, Schedule, Status};
use crate::model::{Action, OneSided, Position, Rank, WindowId, WindowStep, World};

/// What tells a rank that another one has come to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Signal {
    /// `MPI_Win_post`, for one who starts.
    Posted,
    /// `MPI_Win_complete`, for one who has posted.
    Completed,
}

/// What a rank has to do with epochs between named ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct Exposure {
    /// Signals that have come and were not waited for, by window and sender.
    signals: BTreeMap<(WindowId, Rank, Signal), u32>,
    /// The step that has opened the epoch that is ended by waiting for a signal.
    opened: BTreeMap<(WindowId, Signal), Position>,
}

impl Exposure {
    /// As numbers, by which states are told apart.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let number = |signal: Signal| if signal == Signal::Posted { 0 } else { 1 };
        let signals = self.signals.iter().flat_map(move |(&(window, from, signal), &count)| {
            [u32::from(window), from, number(signal), count]
        });
        let opened = self.opened.iter().flat_map(move |(&(window, signal), &position)| {
            [u32::from(window), number(signal), u32::try_from(position).unwrap_or(u32::MAX)]
        });
        signals.chain(opened)
    }
}

/// The windows of which it is not known with whom all epochs are.
pub(super) fn unforeseen(world: &World) -> FxHashSet<WindowId> {
    let events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    let windows = events.filter_map(|event| match &event.action {
        Action::OneSided(it) => Some(&**it),
        _ => None,
    });
    let unknown = windows.filter(|it| {
        matches!(
            it.step,
            WindowStep::Start { group: None }
                | WindowStep::Post { group: None }
                | WindowStep::Unknown
        )
    });
    unknown.map(|it| it.window).collect()
}

impl Machine<'_> {
    /// Takes a step on a window.
    pub(super) fn one_sided(&mut self, rank: Rank, it: &OneSided) {
        let position = self.state(rank).position as Position;
        match &it.step {
            WindowStep::Access(access) => {
                if let Some(id) = access.request {
                    self.request_mut(rank, id).plan = None;
                    self.begin_request(rank, id, position, RequestStatus::Complete(None));
                }
            }
            WindowStep::Start { .. } => self.open(rank, (it.window, Signal::Posted), position),
            WindowStep::Post { .. } => {
                self.open(rank, (it.window, Signal::Completed), position);
                self.signal(rank, it.window, Signal::Posted, position);
            }
            WindowStep::Complete => {
                if let Some(start) = self.opened(rank, (it.window, Signal::Posted)) {
                    self.signal(rank, it.window, Signal::Completed, start);
                }
                return self.await_signals(rank);
            }
            WindowStep::Wait => return self.await_signals(rank),
            _ => {}
        }
        self.go_to(rank, position + 1);
    }

    /// The ranks whose signal the step that a rank is at waits for, and that has not come.
    pub(in crate::engine) fn silent(&self, rank: Rank) -> Vec<Rank> {
        let Some((window, signal)) = self.awaited(rank) else { return Vec::new() };
        let has_come = |other: Rank| {
            let signals = &self.state(rank).exposure.signals;
            signals.get(&(window, other, signal)).is_some_and(|count| *count > 0)
        };
        let mut all = self.partners(rank, (window, signal));
        all.retain(|&other| !has_come(other) && !self.is_opaque(other));
        all
    }

    /// The epoch that the step that a rank is at ends is over: its signals are used up.
    pub(super) fn end_epoch(&mut self, rank: Rank) {
        let Some((window, signal)) = self.awaited(rank) else { return };
        let partners = self.partners(rank, (window, signal));
        let exposure = &mut self.state_mut(rank).exposure;
        for other in partners {
            if let Some(count) = exposure.signals.get_mut(&(window, other, signal)) {
                *count = count.saturating_sub(1);
            }
        }
        exposure.signals.retain(|_, count| *count > 0);
        exposure.opened.remove(&(window, signal));
    }

    fn open(&mut self, rank: Rank, epoch: (WindowId, Signal), position: Position) {
        self.state_mut(rank).exposure.opened.insert(epoch, position);
    }

    fn opened(&self, rank: Rank, epoch: (WindowId, Signal)) -> Option<Position> {
        self.state(rank).exposure.opened.get(&epoch).copied()
    }

    /// The signal that the step waits for that a rank is at.
    fn awaited(&self, rank: Rank) -> Option<(WindowId, Signal)> {
        let Action::OneSided(it) = &self.event(rank)?.action else { return None };
        let signal = match it.step {
            WindowStep::Complete => Signal::Posted,
            WindowStep::Wait => Signal::Completed,
            _ => return None,
        };
        Some((it.window, signal))
    }

    /// With whom an epoch is that a rank has open.
    fn partners(&self, rank: Rank, epoch: (WindowId, Signal)) -> Vec<Rank> {
        let opened = self.opened(rank, epoch).filter(|_| !self.unforeseen.contains(&epoch.0));
        opened.map_or_else(Vec::new, |position| self.group(rank, position))
    }

    /// The ranks that the step names that opens an epoch.
    fn group(&self, rank: Rank, position: Position) -> Vec<Rank> {
        let event = &self.world.behaviours[rank as usize].events[position];
        event.action.peers().filter_map(|peer| self.resolve(rank, peer)).collect()
    }

    /// Tells those that the step at a position names that the rank has come here.
    fn signal(&mut self, rank: Rank, window: WindowId, signal: Signal, position: Position) {
        for other in self.group(rank, position) {
            *self.state_mut(other).exposure.signals.entry((window, rank, signal)).or_default() += 1;
            self.moved += 1;
            if self.state(other).status == Status::Probing {
                self.queue(other);
            }
        }
    }

    fn await_signals(&mut self, rank: Rank) {
        if self.schedule == Schedule::Unordered || self.silent(rank).is_empty() {
            let position = self.state(rank).position as Position;
            self.end_epoch(rank);
            self.go_to(rank, position + 1);
        } else {
            self.state_mut(rank).status = Status::Probing;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::exploration::Limits;
    use crate::engine::machine::Semantics;
    use crate::engine::outcome::explore;
    use crate::engine::samples::world;
    use crate::model::{Action, OneSided, Peer, WindowStep};

    fn on(step: WindowStep) -> Action {
        Action::OneSided(Box::new(OneSided { window: 0, step }))
    }

    fn group(ranks: &[i32]) -> Option<Box<[Peer]>> {
        Some(ranks.iter().map(|rank| Peer::Rank(*rank)).collect())
    }

    fn post(ranks: &[i32]) -> Action {
        on(WindowStep::Post { group: group(ranks) })
    }

    fn start(ranks: &[i32]) -> Action {
        on(WindowStep::Start { group: group(ranks) })
    }

    fn hangs(ranks: Vec<Vec<Action>>) -> bool {
        let outcome = explore(&world(ranks), Semantics::Buffered, Limits { states: 100 });
        assert!(outcome.can_hang != outcome.can_finish && outcome.complete, "{outcome:?}");
        outcome.can_hang
    }

    #[test]
    fn who_starts_waits_for_who_posts() {
        let complete = || on(WindowStep::Complete);
        let wait = || on(WindowStep::Wait);
        let origin = || vec![start(&[1]), complete()];
        assert!(!hangs(vec![origin(), vec![post(&[0]), wait()]]));
        assert!(hangs(vec![origin(), vec![]]));
        assert!(hangs(vec![vec![], vec![post(&[0]), wait()]]));
        assert!(!hangs(vec![origin(), vec![Action::Opaque]]));
        // Each waits for the other before it posts.
        let both = |other| vec![start(&[other]), complete(), post(&[other]), wait()];
        assert!(hangs(vec![both(1), both(0)]));
        let both = |other| vec![post(&[other]), start(&[other]), complete(), wait()];
        assert!(!hangs(vec![both(1), both(0)]));
        // Twice needs two of each.
        let twice = |one: Vec<Action>| one.iter().cloned().chain(one.iter().cloned()).collect();
        assert!(!hangs(vec![twice(origin()), twice(vec![post(&[0]), wait()])]));
        assert!(hangs(vec![twice(origin()), vec![post(&[0]), wait()]]));
    }

    #[test]
    fn a_group_that_nobody_knows_keeps_nobody_waiting() {
        let complete = on(WindowStep::Complete);
        let unknown = on(WindowStep::Start { group: None });
        assert!(!hangs(vec![vec![unknown, complete], vec![post(&[0]), on(WindowStep::Wait)]]));
    }
}
