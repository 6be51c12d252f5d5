//! Each rank's steps on windows, with the epochs that are open there.

use std::collections::{BTreeMap, BTreeSet};

use super::open::{Epochs, Fault};
use crate::engine::At;
use crate::model::{Action, Behaviour, Departure, Position, Rank, WindowId, WindowStep, World};

/// A step on a window, and what is open before it.
pub(crate) struct Visit<'w> {
    pub(crate) at: At,
    pub(crate) window: WindowId,
    pub(crate) step: &'w WindowStep,
    pub(crate) epochs: Epochs,
}

/// The epochs of all windows.
type State = BTreeMap<WindowId, Epochs>;

/// A rank's steps in stretches, each from where ways meet to where the next ones do.
struct Walk<'w> {
    rank: Rank,
    behaviour: &'w Behaviour,
    /// Where ways meet, and the state there once it was come to.
    meetings: BTreeMap<Position, Option<State>>,
}

/// What is wrong with a step on a window: where, what, and the window.
pub(crate) type Found = (At, Fault, WindowId);

/// All faults of a world.
pub(crate) fn faults(world: &World) -> Vec<Found> {
    let mut found = Vec::new();
    for walk in walks(world) {
        let rank = walk.rank;
        walk.show(|visit| {
            let faults = visit.epochs.clone().take(visit.step, visit.at.1);
            found.extend(faults.into_iter().map(|fault| (visit.at, fault, visit.window)));
        });
        let end = walk.behaviour.events.len();
        for (window, epochs) in walk.at_the_end() {
            found.extend(epochs.left_open().map(|fault| ((rank, end), fault, window)));
        }
    }
    found
}

/// All steps on windows of a world of which it is known what is open.
pub(crate) fn visits(world: &World) -> Vec<Visit<'_>> {
    let mut all = Vec::new();
    for walk in walks(world) {
        walk.show(|visit| all.push(visit));
    }
    all.retain(|visit| visit.epochs.are_known());
    all
}

fn walks(world: &World) -> impl Iterator<Item = Walk<'_>> {
    let ranks = (0..).zip(&world.behaviours).filter(|_| !world.windows.is_empty());
    ranks.map(|(rank, behaviour)| Walk::of(rank, behaviour))
}

impl<'w> Walk<'w> {
    fn of(rank: Rank, behaviour: &'w Behaviour) -> Self {
        let targets = behaviour.events.iter().flat_map(|event| event.action.targets());
        let mut meetings: BTreeMap<Position, Option<State>> =
            targets.map(|at| (at, None)).collect();
        meetings.insert(behaviour.events.len(), None);
        meetings.insert(0, Some(State::new()));
        let mut walk = Walk { rank, behaviour, meetings };
        let mut open = BTreeSet::from([0]);
        while let Some(from) = open.pop_first() {
            for (to, state) in walk.stretch(from, &mut |_| {}) {
                if walk.meet(to, state) {
                    open.insert(to);
                }
            }
        }
        walk
    }

    /// Brings a state to a meeting. Whether there is anything new by that.
    fn meet(&mut self, at: Position, state: State) -> bool {
        let Some(known) = self.meetings.get_mut(&at) else { return false };
        let Some(known) = known else {
            *known = Some(state);
            return true;
        };
        let before = known.clone();
        let mut state = state;
        for window in before.keys() {
            state.entry(*window).or_default();
        }
        for (window, epochs) in state {
            known.entry(window).or_default().meet(&epochs);
        }
        *known != before
    }

    /// Follows the steps from a meeting to the next ones: the states that it brings there.
    fn stretch(&self, from: Position, show: &mut dyn FnMut(Visit<'w>)) -> Vec<(Position, State)> {
        let Some(Some(state)) = self.meetings.get(&from) else { return Vec::new() };
        let (mut state, mut position) = (state.clone(), from);
        loop {
            let Some(event) = self.behaviour.events.get(position) else { return Vec::new() };
            if let Action::OneSided(it) = &event.action {
                let epochs = state.entry(it.window).or_default();
                let (at, window) = ((self.rank, position), it.window);
                show(Visit { at, window, step: &it.step, epochs: epochs.clone() });
                epochs.take(&it.step, position);
            }
            let mut next = event.action.targets();
            if matches!(event.action, Action::Leave { departure: Departure::Returned }) {
                next.push(self.behaviour.events.len());
            }
            if event.action.falls_through() {
                next.push(position + 1);
            }
            match next[..] {
                [only] if only == position + 1 && !self.meetings.contains_key(&only) => {
                    position = only;
                }
                _ => return next.into_iter().map(|to| (to, state.clone())).collect(),
            }
        }
    }

    fn show(&self, mut show: impl FnMut(Visit<'w>)) {
        for from in self.meetings.keys() {
            self.stretch(*from, &mut show);
        }
    }

    fn at_the_end(&self) -> State {
        let end = self.meetings.get(&self.behaviour.events.len());
        end.cloned().flatten().unwrap_or_default()
    }
}
