//! What the rules about persistent requests share: what becomes of a plan, by the steps that may come
//! behind it.

use super::flow::{Flow, Reached};
use crate::engine::{At, Unmatched, accepts, describe, envelope};
use crate::model::{Action, Position, RequestId, Tag, World};

/// The step that prepares a persistent operation.
#[derive(Clone, Copy)]
pub(super) struct Plan<'w> {
    pub(super) at: At,
    request: RequestId,
    flow: Flow<'w>,
}

/// A wait for what cannot have been started yet, and is waited for nowhere else.
#[derive(Clone, Copy)]
pub(super) struct Early {
    pub(super) plan: At,
    pub(super) wait: At,
    pub(super) start: At,
}

impl<'w> Plan<'w> {
    /// All plans of a world.
    pub(super) fn all(world: &'w World) -> impl Iterator<Item = Plan<'w>> {
        (0..).zip(&world.behaviours).flat_map(|(rank, behaviour)| {
            let events = behaviour.events.iter().enumerate();
            events.filter_map(move |(position, event)| {
                let request = planned(&event.action)?;
                Some(Plan { at: (rank, position), request, flow: Flow::of(behaviour) })
            })
        })
    }

    /// What may come behind it.
    pub(super) fn behind(&self, stops: impl Fn(&Action) -> bool) -> Reached<'w> {
        self.flow.behind([self.at.1], stops)
    }

    /// The steps of its rank at which something is done.
    pub(super) fn steps(
        &self,
        is_meant: impl Fn(&Action) -> bool + 'w,
    ) -> impl Iterator<Item = Position> + 'w {
        self.flow.steps(is_meant)
    }

    pub(super) fn starts(&self, action: &Action) -> bool {
        matches!(action, Action::Start { requests } if requests.contains(&self.request))
    }

    pub(super) fn completes(&self, action: &Action) -> bool {
        match action {
            Action::Wait { requests, .. } => requests.contains(&self.request),
            Action::Test { request, .. } => *request == self.request,
            _ => false,
        }
    }

    pub(super) fn frees(&self, action: &Action) -> bool {
        matches!(action, Action::Free { request } if *request == self.request)
    }

    /// Whether a step gives its request to another plan.
    pub(super) fn makes_anew(&self, action: &Action) -> bool {
        planned(action) == Some(self.request)
    }

    /// The waits that come before any start, where what is started behind them is never waited for.
    fn early_waits(self) -> Vec<Early> {
        let starts: Vec<Position> = self.steps(move |action| self.starts(action)).collect();
        let unstarted = self.behind(|action| self.starts(action) || self.makes_anew(action));
        let started = self.flow.behind(starts.iter().copied(), |action| self.makes_anew(action));
        if starts.is_empty()
            || started.does(|action| self.completes(action) || *action == Action::Opaque)
        {
            return Vec::new();
        }
        let waits = self.steps(move |action| self.completes(action));
        let waits = waits.filter(|wait| unstarted.has(*wait) && !started.has(*wait));
        let early = waits.filter_map(|wait| {
            let behind = self.flow.behind([wait], |action| self.makes_anew(action));
            let start = starts.iter().find(|start| behind.has(**start))?;
            let rank = self.at.0;
            Some(Early { plan: self.at, wait: (rank, wait), start: (rank, *start) })
        });
        early.collect()
    }
}

/// A plan that is waited for and never started.
#[derive(Clone, Copy)]
pub(super) struct Unstarted {
    pub(super) plan: At,
    pub(super) wait: At,
}

/// All plans of a world that are waited for and never started.
pub(super) fn unstarted(world: &World) -> impl Iterator<Item = Unstarted> {
    Plan::all(world).filter_map(|plan| {
        let behind = plan.behind(|_| false);
        // What may be started by a step that is not understood is left alone.
        if behind.does(|action| plan.starts(action) || *action == Action::Opaque) {
            return None;
        }
        let wait = plan.steps(move |action| plan.completes(action)).find(|it| behind.has(*it))?;
        Some(Unstarted { plan: plan.at, wait: (plan.at.0, wait) })
    })
}

/// Whether an operation has no partner because that one is never started: then that is the fault.
pub(super) fn waits_for_a_start(
    world: &World,
    unstarted: &[Unstarted],
    operation: &Unmatched,
) -> bool {
    unstarted.iter().any(|one| {
        let plan = envelope(describe::event(world, one.plan), !operation.sending);
        plan.is_some_and(|plan| {
            let tags =
                plan.tag == operation.tag || plan.tag == Tag::Any || operation.tag == Tag::Any;
            accepts(plan.peer, operation.at.0)
                && accepts(operation.peer, one.plan.0)
                && tags
                && plan.communicator == operation.communicator
        })
    })
}

/// The request that a step plans something for.
fn planned(action: &Action) -> Option<RequestId> {
    match action {
        Action::PlanSend { request, .. } | Action::PlanReceive { request, .. } => Some(*request),
        _ => None,
    }
}

/// All early waits of a world.
pub(super) fn early_waits(world: &World) -> Vec<Early> {
    Plan::all(world).flat_map(Plan::early_waits).collect()
}
