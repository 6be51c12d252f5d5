//! Runs a world and traces what went wrong back to what it comes from.
//!
//! Runs show symptoms: ranks that wait, messages that are left. What comes out is a [`Case`], without
//! a word on whether it is wrong: operations that find no partner in any order, circles of ranks
//! that wait for each other, ranks that wait for one that has ended.

use std::cell::Cell;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::Options;
use super::branching;
use super::case::{Case, Circle, MissingRank, Reading, Seen, Unpaired};
use super::describe;
use super::evidence::{At, Observation};
use super::example::{self, Goal};
use super::exploration::{self, Limits, Plan, has_options, ready_destinations};
use super::explored::{Explored, Hang, Path, Unclean};
use super::machine::{Schedule, Semantics, Status, Unmatched, accepts, envelope};
use super::pairing::{self, Cause, Faults, Partners};
use super::trace::tell;
use super::wait_for::Blocked;
use crate::finding::Step;
use crate::model::{Peer, Rank, World};

/// One exploration and how it was made.
pub(super) struct Run<'w> {
    world: &'w World,
    plan: Plan<'w>,
    pub(super) explored: Explored<'w>,
    /// How many runs have been told of it.
    told: Cell<usize>,
}

/// So many runs are told as short as they can be had; the others as they were met.
const TOLD_SHORT: usize = 8;

impl<'w> Run<'w> {
    pub(super) fn of(world: &'w World, plan: Plan<'w>, options: &Options) -> Self {
        let limits = Limits { states: options.states };
        let explored = exploration::explore(world, plan, limits);
        Run { world, plan, explored, told: Cell::new(0) }
    }

    /// The run that shows something, step by step, where it depends on choices.
    pub(super) fn tell(&self, path: Path, goal: Option<Goal>) -> Arc<[Step]> {
        if path.is_none() {
            return Arc::default();
        }
        let known = self.explored.choices(path);
        let choices = match goal {
            Some(goal) if self.plan.schedule == Schedule::Eager && self.told.get() < TOLD_SHORT => {
                self.told.set(self.told.get() + 1);
                example::shortest(self.world, self.plan, &goal, known)
            }
            _ => known,
        };
        tell(self.world, &example::replay(self.world, self.plan, &choices)).into()
    }

    /// A hang with its state.
    pub(super) fn with_state(&self, hang: &Hang<'w>) -> Hang<'w> {
        let state = || example::state(self.world, self.plan, &self.explored.choices(hang.path));
        let machine = hang.machine.clone().unwrap_or_else(state);
        let stuck = hang.stuck.clone();
        Hang { node: hang.node, stuck, machine: Some(machine), path: hang.path }
    }

    fn tell_hang(&self, hang: &Hang<'w>) -> Arc<[Step]> {
        let goal = hang.machine.as_ref().map(|machine| Goal::State(machine.encode()));
        self.tell(hang.path, goal)
    }

    fn first_hang(&self) -> Option<&Hang<'w>> {
        self.explored.hangs.first()
    }
}

/// Runs a world and puts in order what is seen.
///
/// With `told`, the case knows what was executed.
pub(super) fn investigate<'w>(world: &'w World, options: &Options, told: bool) -> Case<'w> {
    if branching::is_open(world) {
        return branching::investigate(world, options);
    }
    let mut case = Case::new(world);
    let eager = |semantics| Plan { semantics, schedule: Schedule::Eager, skipped: None, told };
    let unbuffered = Run::of(world, eager(options.unbuffered()), options);
    case.take(&unbuffered);
    // Without options, a world that ends unbuffered ends buffered too, and in the same way.
    if has_options(world) || unbuffered.first_hang().is_some() {
        let buffered = Run::of(world, eager(Semantics::Buffered), options);
        case.take(&buffered);
        if has_options(world) || is_cyclic(world) {
            case.look_at_choices(&unbuffered, &buffered);
        } else {
            case.look_at_single(&unbuffered, &buffered, options);
        }
    } else {
        case.take_leftovers(&unbuffered);
    }
    case.forget_shifted();
    case.look_at_ready_sends(options);
    case
}

impl<'w> Case<'w> {
    /// What was seen on the way.
    fn take(&mut self, run: &Run<'w>) {
        self.complete &= run.explored.complete;
        self.states += run.explored.states();
        self.take_executed(run);
        for &(observation, path) in &run.explored.observations {
            self.note(observation, || run.tell(path, Some(Goal::Observation(observation))));
        }
        for (receive, sends) in &run.explored.races {
            self.races.entry(*receive).or_default().extend(sends);
        }
        for (receive, sends) in &run.explored.taken {
            self.taken.entry(*receive).or_default().extend(sends);
        }
    }

    /// The places that a run executes, where that is kept.
    pub(super) fn take_executed(&mut self, run: &Run<'w>) {
        let edges = run.explored.nodes.iter().flat_map(|node| &node.edges);
        let told = edges.map(|edge| &edge.told).chain([&run.explored.start]);
        let steps = told.flat_map(|told| told.executed.iter());
        self.executed.extend(steps.map(|at| describe::place(self.world, at)));
    }

    pub(super) fn note(&mut self, observation: Observation, trace: impl FnOnce() -> Arc<[Step]>) {
        // Worlds without options see thousands of the same kind; those are all different.
        let known =
            self.seen.len() < 1_000 && self.seen.iter().any(|seen| seen.observation == observation);
        if !known {
            self.seen.push(Seen { observation, trace: trace() });
        }
    }

    pub(super) fn is_unpaired(&self, operation: &Unmatched) -> bool {
        let at = (operation.at, operation.sending);
        self.unpaired.iter().any(|known| (known.operation.at, known.operation.sending) == at)
    }

    /// What does not fit only because another message was not received, or not sent, is no fault.
    fn forget_shifted(&mut self) {
        let mut alone: Vec<Unmatched> = self.unpaired.iter().map(|one| one.operation).collect();
        let world = self.world;
        self.seen.retain(|seen| !pairing::is_shifted(world, &seen.observation, &mut alone));
    }

    /// Messages left at the end of a run in which all ranks end.
    fn take_leftovers(&mut self, run: &Run<'w>) {
        if let Some(unclean) = run.explored.uncleans.first() {
            self.take_left(run, unclean);
        }
    }

    pub(super) fn take_left(&mut self, run: &Run<'w>, unclean: &Unclean) {
        let partners = Partners::of(self.world, &unclean.left);
        for &operation in unclean.left.iter().filter(|unmatched| unmatched.sending) {
            if self.is_unpaired(&operation) {
                continue;
            }
            let goal = match operation.peer {
                Peer::Rank(to) => {
                    Some(Goal::Left { send: operation.at, destination: to.unsigned_abs() })
                }
                _ => None,
            };
            let (cause, trace) = (partners.cause(&operation), run.tell(unclean.path, goal));
            self.unpaired.push(Unpaired { operation, cause, waits: Arc::default(), trace });
        }
    }

    /// A world in which every order leads to the same end, and that one is a hang.
    fn look_at_single(&mut self, unbuffered: &Run<'w>, buffered: &Run<'w>, options: &Options) {
        let Some(hang) = unbuffered.first_hang() else { return };
        let Some(machine) = hang.machine.clone() else { return };
        let faults = pairing::faults(machine);
        for &observation in &faults.observations {
            self.note(observation, Arc::default);
        }
        let shown: Arc<[Blocked]> = hang.stuck.blocked.as_slice().into();
        let mut skipped: FxHashSet<At> = faults.unmatched.iter().map(|one| one.at).collect();
        skipped.extend(faults.missing.iter().flat_map(|(arrivals, _)| arrivals));
        let partners = Partners::of(self.world, &faults.unmatched);
        for &operation in &faults.unmatched {
            let cause = faults.cause(&partners, &operation, self.world);
            if matches!(cause, Cause::Left(_))
                && operation.sending
                && !is_open(&hang.stuck.blocked, &operation)
            {
                continue;
            }
            let waits = shown.clone();
            self.unpaired.push(Unpaired { operation, cause, waits, trace: Arc::default() });
        }
        for (arrivals, missing) in &faults.missing {
            let (waits, trace) = (shown.clone(), Arc::default());
            let left = faults.left_of(missing);
            let (arrivals, missing) = (arrivals.clone(), missing.clone());
            self.missing.push(MissingRank { arrivals, missing, left, waits, trace });
        }
        if skipped.is_empty() {
            self.take_circles(buffered, Reading::Any);
            self.take_circles(unbuffered, Reading::Unbuffered);
        } else {
            let circles = circles_behind(self.world, &skipped, options);
            self.circles.extend(circles);
        }
        if self.circles.is_empty() && skipped.is_empty() {
            // Whatever it comes from, a hang is never passed over.
            self.add_circle(unbuffered, hang, shown.to_vec(), Reading::Any, false);
        }
    }

    /// The circles of a run's first hang that are not known yet.
    fn take_circles(&mut self, run: &Run<'w>, reading: Reading) {
        let Some(hang) = run.first_hang() else { return };
        for members in circles(hang) {
            self.add_circle(run, hang, members, reading, false);
        }
    }

    /// Whether some of these ranks are known to wait in a circle, in these steps.
    pub(super) fn knows_circle(&self, members: &[Blocked]) -> bool {
        let same = |one: &Blocked, other: &Blocked| {
            (one.rank, one.position) == (other.rank, other.position)
        };
        self.circles.iter().any(|known| {
            members.iter().any(|one| known.members.iter().any(|other| same(one, other)))
        })
    }

    fn add_circle(
        &mut self,
        run: &Run<'w>,
        hang: &Hang<'w>,
        members: Vec<Blocked>,
        reading: Reading,
        by_race: bool,
    ) {
        if !self.knows_circle(&members) {
            let (waits, trace) = (hang.stuck.blocked.as_slice().into(), run.tell_hang(hang));
            self.circles.push(Circle { members, waits, reading, by_race, trace });
        }
    }

    /// A world in which it matters who comes first, or what a rank decides.
    fn look_at_choices(&mut self, unbuffered: &Run<'w>, buffered: &Run<'w>) {
        self.take_leftovers(unbuffered);
        self.take_leftovers(buffered);
        for (run, reading) in [(buffered, Reading::Any), (unbuffered, Reading::Unbuffered)] {
            for hang in &run.explored.hangs {
                if run.explored.is_by_race(hang) && !has_lone_operation(run, hang) {
                    let members = circles(hang).into_iter().next();
                    let members = members.unwrap_or_else(|| hang.stuck.blocked.clone());
                    self.add_circle(run, hang, members, reading, true);
                } else {
                    self.trace_back(run, hang, reading);
                }
            }
        }
    }

    /// What a hang that no race brought about comes from.
    pub(super) fn trace_back(&mut self, run: &Run<'w>, hang: &Hang<'w>, reading: Reading) {
        let Some(machine) = &hang.machine else {
            // One of many hangs; without its state it can only be told if it is the first.
            if self.circles.is_empty() && self.unpaired.is_empty() && self.missing.is_empty() {
                self.add_circle(run, hang, hang.stuck.blocked.clone(), reading, false);
            }
            return;
        };
        let ended = |rank: Rank| machine.state(rank).status == Status::Ended;
        let faults = pairing::faults(machine.clone());
        let lone: Vec<Unmatched> = (faults.unmatched.iter().copied())
            .filter(|one| faults.all_ended || !self.may_be_served(one, |rank| !ended(rank)))
            .collect();
        let partners = Partners::of(self.world, &lone);
        let mut found = false;
        for operation in lone.into_iter().filter(|one| is_open(&hang.stuck.blocked, one)) {
            let Some(cause) = self.cause(&operation, &faults, &partners, ended) else { continue };
            found = true;
            if !self.is_unpaired(&operation) {
                let (waits, trace) = (hang.stuck.blocked.as_slice().into(), run.tell_hang(hang));
                self.unpaired.push(Unpaired { operation, cause, waits, trace });
            }
        }
        // A rank that is stuck in one collective only seems to come to the ones after it.
        let is_stuck = |&(rank, position): &At| {
            let mut stuck = hang.stuck.blocked.iter();
            stuck.any(|one| one.rank == rank && one.open.contains(&position))
        };
        for (arrivals, missing) in &faults.missing {
            if !arrivals.iter().any(is_stuck) {
                continue;
            }
            found = true;
            if !self.missing.iter().any(|known| known.arrivals[0] == arrivals[0]) {
                let (waits, trace) = (hang.stuck.blocked.as_slice().into(), run.tell_hang(hang));
                let left = faults.left_of(missing);
                let (arrivals, missing) = (arrivals.clone(), missing.clone());
                self.missing.push(MissingRank { arrivals, missing, left, waits, trace });
            }
        }
        for members in circles(hang) {
            let unpaired = |blocked: &Blocked| {
                let mut open = blocked.open.iter();
                open.any(|&position| {
                    self.unpaired.iter().any(|known| known.operation.at == (blocked.rank, position))
                })
            };
            if !members.iter().any(unpaired) {
                found = true;
                self.add_circle(run, hang, members, reading, false);
            }
        }
        if !found {
            // Whatever it comes from, a hang is never passed over.
            self.add_circle(run, hang, hang.stuck.blocked.clone(), reading, false);
        }
    }

    /// Whether some step of a rank, on whatever path, could be the other end of an operation.
    fn may_be_served(&self, operation: &Unmatched, counts: impl Fn(Rank) -> bool) -> bool {
        (0..self.world.size())
            .filter(|&other| accepts(operation.peer, other) && counts(other))
            .any(|other| pairing::could_serve(self.world, operation, other))
    }

    /// Why an operation that is stuck has no partner; `None` if it has one that is stuck itself.
    fn cause(
        &self,
        operation: &Unmatched,
        faults: &Faults,
        partners: &Partners,
        ended: impl Fn(Rank) -> bool,
    ) -> Option<Cause> {
        let cause = faults.cause(partners, operation, self.world);
        if !matches!(cause, Cause::Nobody { .. }) || !self.may_be_served(operation, |_| true) {
            return Some(cause);
        }
        if !self.may_be_served(operation, |rank| !ended(rank)) {
            let decides = self.world.behaviours.iter().any(pairing::decides);
            return Some(if decides { Cause::Ended } else { cause });
        }
        (faults.all_ended && !matches!(operation.peer, Peer::Any { .. })).then_some(cause)
    }

    /// Ready sends are looked at with every other rank as slow as it can be.
    fn look_at_ready_sends(&mut self, options: &Options) {
        for rank in ready_destinations(self.world) {
            let schedule = Schedule::Delay(rank);
            let plan =
                Plan { semantics: Semantics::Buffered, schedule, skipped: None, told: false };
            let run = Run::of(self.world, plan, options);
            self.complete &= run.explored.complete;
            self.states += run.explored.states();
            for &(observation, path) in &run.explored.observations {
                if matches!(observation, Observation::UnpostedReady { .. }) {
                    self.note(observation, || run.tell(path, Some(Goal::Observation(observation))));
                }
            }
        }
    }
}

/// The members of each circle of a hang.
fn circles(hang: &Hang<'_>) -> Vec<Vec<Blocked>> {
    let members = |circle: Vec<usize>| {
        circle.into_iter().map(|index| hang.stuck.blocked[index].clone()).collect()
    };
    hang.stuck.circles().into_iter().map(members).collect()
}

/// Whether a rank is stuck in an operation that no run ever matches, whoever comes first.
fn has_lone_operation(run: &Run<'_>, hang: &Hang<'_>) -> bool {
    let communicates = |at: At| {
        let event = describe::event(run.world, at);
        envelope(event, true).or(envelope(event, false)).is_some()
    };
    run.explored.complete
        && hang.stuck.blocked.iter().any(|blocked| {
            let mut open = blocked.open.iter().map(|&position| (blocked.rank, position));
            open.any(|at| communicates(at) && !is_matched(run, at))
        })
}

/// Whether some run matches an operation, or the same one of a rank that does the same: of ranks
/// that may change places only one is followed.
fn is_matched(run: &Run<'_>, (rank, position): At) -> bool {
    let event = describe::event(run.world, (rank, position));
    let mut ranks = (0..).zip(&run.world.behaviours);
    ranks.any(|(other, behaviour)| {
        behaviour.events.get(position) == Some(event)
            && run.explored.matched.contains(&(other, position))
    })
}

/// Whether some rank goes back in its behaviour: then one step may be taken many times.
fn is_cyclic(world: &World) -> bool {
    world.behaviours.iter().any(|behaviour| exploration::is_cyclic(&behaviour.events))
}

/// Whether a stuck rank waits in an operation.
fn is_open(blocked: &[Blocked], operation: &Unmatched) -> bool {
    let (rank, position) = operation.at;
    blocked.iter().any(|one| one.rank == rank && one.open.contains(&position))
}

/// The circles that would be left if the operations without a partner were not there.
fn circles_behind(world: &World, skipped: &FxHashSet<At>, options: &Options) -> Vec<Circle> {
    let plan = |semantics| Plan {
        semantics,
        schedule: Schedule::Eager,
        skipped: Some(skipped),
        told: false,
    };
    let mut behind = Case::new(world);
    let unbuffered = Run::of(world, plan(options.unbuffered()), options);
    if unbuffered.first_hang().is_some() {
        let buffered = Run::of(world, plan(Semantics::Buffered), options);
        behind.take_circles(&buffered, Reading::Any);
        behind.take_circles(&unbuffered, Reading::Unbuffered);
    }
    behind.circles
}
