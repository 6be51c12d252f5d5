//! What a world is excused from whose ranks go ways that data decide.
//!
//! Which ways two ranks take may belong together, so a run in which something goes wrong may be one
//! that never happens. What counts is only what goes wrong in every run in which it could: where a
//! step is executed, and in one run all is well with it, it is excused. The turns of a loop may be
//! written out one after the other: steps of a rank that stand at one place are one step here.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::describe;
use super::evidence::{At, Observation};
use super::explored::{Explored, Told};
use crate::model::{Place, World};

/// Looks for runs in which all is well with a step.
pub(super) struct Excuses<'e, 'w> {
    world: &'w World,
    explored: &'e Explored<'w>,
    known: RefCell<FxHashMap<(At, Option<Observation>), bool>>,
}

/// So many questions are answered; beyond, every step is excused.
const QUESTIONS: usize = 512;

impl<'e, 'w> Excuses<'e, 'w> {
    pub(super) fn of(world: &'w World, explored: &'e Explored<'w>) -> Self {
        Excuses { world, explored, known: RefCell::default() }
    }

    /// Whether some run executes a step and completes what the step starts.
    pub(super) fn completes(&self, at: At) -> bool {
        self.ask(at, None)
    }

    /// Whether some run executes a step of what was seen, and it is not seen there.
    pub(super) fn avoids(&self, observation: Observation) -> bool {
        places(&observation).into_iter().any(|at| self.ask(at, Some(observation)))
    }

    fn ask(&self, at: At, avoiding: Option<Observation>) -> bool {
        let mut known = self.known.borrow_mut();
        if known.len() >= QUESTIONS {
            return true;
        }
        *known.entry((at, avoiding)).or_insert_with(|| self.finds_run(at, avoiding))
    }

    /// Whether a run executes a step, is over without it being open, and avoids an observation.
    fn finds_run(&self, at: At, avoiding: Option<Observation>) -> bool {
        let Explored { nodes, start, ends, .. } = self.explored;
        let steps = self.alike(at);
        let shows = |told: &Told| {
            avoiding
                .is_some_and(|one| told.observations.iter().any(|seen| self.is_same(&one, seen)))
        };
        let executes = |told: &Told| steps.iter().any(|&step| told.executed.has(step));
        let is_open = |end: &Vec<At>| steps.iter().any(|step| end.binary_search(step).is_ok());
        if shows(start) {
            return false;
        }
        // Every state twice: before the step, and behind it.
        let mut seen = vec![[false; 2]; nodes.len()];
        let mut open = vec![(0, executes(start))];
        while let Some((node, executed)) = open.pop() {
            if std::mem::replace(&mut seen[node][usize::from(executed)], true) {
                continue;
            }
            if executed && ends.get(&node).is_some_and(|end| !is_open(end)) {
                return true;
            }
            let edges = nodes[node].edges.iter().filter(|edge| !shows(&edge.told));
            open.extend(edges.map(|edge| (edge.to, executed || executes(&edge.told))));
        }
        false
    }

    /// A step, and all of its rank that stand at the same place.
    fn alike(&self, at: At) -> Vec<At> {
        let events = &self.world.behaviours[at.0 as usize].events;
        let place = describe::place(self.world, at);
        if place == Place::default() {
            return vec![at];
        }
        let here = events.iter().enumerate().filter(|(_, event)| event.place == place);
        here.map(|(position, _)| (at.0, position)).collect()
    }

    /// Whether the same was seen of steps at the same places.
    fn is_same(&self, one: &Observation, other: &Observation) -> bool {
        let is_same = |(one, other): (&At, &At)| {
            one == other
                || one.0 == other.0
                    && describe::place(self.world, *one) != Place::default()
                    && describe::place(self.world, *one) == describe::place(self.world, *other)
        };
        std::mem::discriminant(one) == std::mem::discriminant(other)
            && places(one).iter().zip(&places(other)).all(is_same)
    }
}

/// The steps that an observation is about.
fn places(observation: &Observation) -> Vec<At> {
    match *observation {
        Observation::TypeMismatch { send, receive } | Observation::Truncation { send, receive } => {
            vec![send, receive]
        }
        Observation::LostRequest { start } => vec![start],
        Observation::Overwritten { by, .. } => vec![by],
        Observation::UnpostedReady { send, .. } | Observation::NoBuffer { send } => vec![send],
        Observation::CollectiveMismatch { first, other }
        | Observation::CollectiveType { first, other }
        | Observation::CollectiveCount { first, other }
        | Observation::CollectiveOperation { first, other } => vec![first, other],
        Observation::Access { access, .. } => vec![access],
        Observation::Overlap { second, .. } => vec![second],
        Observation::WrongDecision { offer, .. } => vec![offer],
    }
}
