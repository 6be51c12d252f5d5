//! What a world is excused from whose ranks go ways that data decide.
//!
//! Which ways two ranks take may belong together, so a run in which something goes wrong may be one
//! that never happens. What counts is only what goes wrong in every run in which it could: where a
//! step is executed, and in one run all is well with it, it is excused. The turns of a loop may be
//! written out one after the other: steps of a rank that stand at one place are one step here.
//!
//! What decides may have come from another rank, which knows what it has sent: such a way need not
//! ever be taken, and where the ranks can all end well without it, it is excused.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::describe;
use super::evidence::{At, Observation};
use super::explored::{Explored, Told};
use crate::model::{Action, Behaviour, CollectiveKind, Place, Position, World};

/// Looks for runs in which all is well with a step.
pub(super) struct Excuses<'e, 'w> {
    world: &'w World,
    explored: &'e Explored<'w>,
    known: RefCell<FxHashMap<(At, Option<Observation>), bool>>,
    /// From where on each rank goes by what others may have told it.
    told: Vec<Option<Position>>,
}

/// So many questions are answered; beyond, every step is excused.
const QUESTIONS: usize = 512;

impl<'e, 'w> Excuses<'e, 'w> {
    pub(super) fn of(world: &'w World, explored: &'e Explored<'w>) -> Self {
        let told = world.behaviours.iter().map(goes_by_others).collect();
        Excuses { world, explored, known: RefCell::default(), told }
    }

    /// Whether some run executes a step and completes what the step starts, or need not execute it.
    pub(super) fn completes(&self, at: At) -> bool {
        self.can_be_told_not_to(at) || self.ask(at, None)
    }

    /// Whether a step stands behind a decision that others may have told, and all can end well.
    fn can_be_told_not_to(&self, (rank, position): At) -> bool {
        let told = self.told[rank as usize];
        self.explored.can_finish_clean && told.is_some_and(|told| told < position)
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

/// The first branch of a rank behind a step by which it may have learnt something from others.
fn goes_by_others(behaviour: &Behaviour) -> Option<Position> {
    let learns = |action: &Action| match action {
        Action::Receive { .. }
        | Action::SendReceive { .. }
        | Action::Probe { .. }
        | Action::Wait { .. }
        | Action::Test { .. } => true,
        Action::Collective(collective) => collective.kind != CollectiveKind::Barrier,
        _ => false,
    };
    let learnt = behaviour.events.iter().position(|event| learns(&event.action))?;
    let branches = |event: &crate::model::Event| matches!(event.action, Action::Branch { .. });
    behaviour.events[learnt..].iter().position(branches).map(|branch| learnt + branch)
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
        Observation::Mixed { at, .. } => vec![at],
        Observation::Overlap { second, .. } => vec![second],
        Observation::WrongDecision { offer, .. } => vec![offer],
    }
}
