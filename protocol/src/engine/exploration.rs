//! Follows a world through everything that can happen in it.
//!
//! Steps with one outcome are made at once; where there are several, each is followed, and a state
//! already seen is not followed again. What was seen is kept with the path of choices that led to
//! it, so that it can be shown step by step.

use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::{At, Observation};
use super::explored::{Edge, Explored, Hang, Kind, Node, Path, Told, Unclean, incomplete};
use super::machine::options::{ALL, Choice, FutureSends};
use super::machine::{Executed, Machine, Schedule, Semantics, Settled, Status, Unmatched};
use super::wait_for::Stuck;
use crate::model::{Action, Mode, Peer, Rank, World};

/// How much is followed before the exploration says that it has not seen everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States with a choice.
    pub states: usize,
}

/// How to run a world.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) semantics: Semantics,
    pub(super) schedule: Schedule,
    pub(super) skipped: Option<&'a FxHashSet<At>>,
    /// Whether what each run has executed and shown is kept apart.
    pub(super) told: bool,
}

impl<'w> Plan<'w> {
    pub(super) fn start(self, world: &'w World) -> Machine<'w> {
        let machine = Machine::new(world, self.semantics, self.schedule);
        match self.skipped {
            Some(skipped) => machine.skipping(skipped),
            None => machine,
        }
    }
}

/// The most that known states, and those on the way to the present one, may be made of, in
/// numbers: 64 MiB.
const HELD: usize = 16 << 20;

/// About how many numbers a machine has for each rank and each unmatched operation.
const NUMBERS: usize = 64;

/// The most steps from state to state, each counted by the state's extent, which is what it costs.
const WORK: usize = 1 << 20;

/// States of which the machine itself is kept.
const KEPT: usize = 8;

struct Frame<'w> {
    machine: Machine<'w>,
    node: usize,
    choices: Vec<Choice>,
    next: usize,
    /// Whether other options were left out because these seemed enough.
    reduced: bool,
    met_known: bool,
}

/// The walk through the states.
struct Walk<'w, 'f> {
    explored: Explored<'w>,
    known: FxHashMap<Box<[u32]>, usize>,
    seen: FxHashSet<Observation>,
    stack: Vec<Frame<'w>>,
    /// What is not complete in states in which ranks only ask.
    spinning: FxHashMap<usize, Vec<At>>,
    /// The messages that are left at some end.
    left: FxHashSet<At>,
    future: Option<&'f FutureSends>,
    cyclic: bool,
    /// How many numbers the known states and those on the stack are made of.
    held: usize,
    /// The extent of all states so far.
    work: usize,
    limits: Limits,
}

/// Follows a world through everything that can happen in it.
pub(super) fn explore<'w>(world: &'w World, plan: Plan<'w>, limits: Limits) -> Explored<'w> {
    let future;
    let reduced = match plan.schedule {
        Schedule::Eager if has_options(world) => {
            future = FutureSends::of(world);
            Some(&future)
        }
        _ => None,
    };
    let mut walk = Walk {
        explored: Explored { complete: true, ..Explored::default() },
        known: FxHashMap::default(),
        seen: FxHashSet::default(),
        stack: Vec::new(),
        spinning: FxHashMap::default(),
        left: FxHashSet::default(),
        future: reduced,
        cyclic: world.behaviours.iter().any(|behaviour| is_cyclic(&behaviour.events)),
        held: 0,
        work: 0,
        limits,
    };
    let mut machine = plan.start(world);
    machine.matched = has_options(world).then(Vec::new);
    if reduced.is_some() {
        machine = machine.with_symmetry();
    }
    machine.executed = plan.told.then(Executed::default);
    walk.arrive(machine, Settled::Quiet, 0, None);
    while walk.go_on() {}
    let hangs = walk.explored.hangs.len();
    walk.explored.find_spinning();
    for hang in &walk.explored.hangs[hangs..] {
        let open = walk.spinning.remove(&hang.node).unwrap_or_default();
        walk.explored.ends.insert(hang.node, open);
    }
    walk.explored
}

impl<'w> Walk<'w, '_> {
    /// Follows the next option of the topmost state.
    fn go_on(&mut self) -> bool {
        let Some(frame) = self.stack.last_mut() else { return false };
        let Some(&choice) = frame.choices.get(frame.next) else {
            if std::mem::take(&mut frame.reduced) && frame.met_known && self.cyclic {
                // What was left out could be left out for ever on a circle: follow it now.
                let all = frame.machine.options(None);
                let more: Vec<Choice> =
                    all.into_iter().filter(|choice| !frame.choices.contains(choice)).collect();
                frame.choices.extend(more);
            } else {
                self.pop();
            }
            return true;
        };
        frame.next += 1;
        let last = frame.next == frame.choices.len() && !(self.cyclic && frame.reduced);
        let node = frame.node;
        let mut machine = if last {
            // Nobody needs the state after its last option.
            self.pop().expect("the frame was just looked at").machine
        } else {
            frame.machine.clone()
        };
        if matches!(choice, Choice::Some { subset: ALL, .. }) {
            self.explored.complete = false;
        }
        let before = machine.moved;
        let settled = machine.apply(choice);
        self.arrive(machine, settled, before, Some((node, choice)));
        true
    }

    fn pop(&mut self) -> Option<Frame<'w>> {
        let frame = self.stack.pop()?;
        self.held -= NUMBERS * frame.machine.extent();
        Some(frame)
    }

    /// Makes the forced steps and takes down the state that they lead to.
    fn arrive(&mut self, mut machine: Machine<'w>, applied: Settled, before: u64, path: Path) {
        self.work += machine.extent();
        let settled = match applied {
            Settled::Mismatch | Settled::Aborted => applied,
            _ => machine.settle(),
        };
        let told = self.take_down(&mut machine, path);
        self.explored
            .matched
            .extend(machine.matched.iter_mut().flat_map(|matched| matched.drain(..)));
        let over = matches!(settled, Settled::Mismatch | Settled::Aborted | Settled::TooLong);
        let known = if over || path.is_none() { None } else { self.known_as(&machine) };
        let moved = machine.moved != before;
        if let (Some(node), Some((from, _))) = (known, path) {
            self.explored.nodes[from].edges.push(Edge { to: node, moved, told });
            if let Some(frame) = self.stack.iter_mut().rfind(|frame| frame.node == from) {
                frame.met_known = true;
            }
            return;
        }
        let mut choices = if over { Vec::new() } else { machine.options(self.future) };
        self.explored.note_wildcards(&machine, &choices);
        if let Some(sweep) = self.future.and_then(|future| machine.sweep(&choices, future)) {
            self.explored.note_sweep(&sweep);
            choices.truncate(1);
        } else if self.future.is_some() && choices.len() > 1 {
            choices = machine.representatives(&choices);
        }
        let kind = self.kind(&machine, settled, &choices);
        let node = self.explored.nodes.len();
        self.explored.nodes.push(Node { path, edges: Vec::new(), kind });
        match path {
            Some((from, _)) => {
                self.explored.nodes[from].edges.push(Edge { to: node, moved, told });
            }
            None => {
                self.explored.start = told;
                // The first state of a world without options needs no name.
                if !choices.is_empty() {
                    self.known.insert(machine.encode(), node);
                }
            }
        }
        self.note_end(&machine, node, kind);
        match kind {
            Kind::Finished => self.finish(&machine, path),
            Kind::Mismatch => self.explored.mismatch = true,
            Kind::Open => {
                self.explored.complete = false;
                self.flood(&machine, path);
            }
            Kind::Stuck => self.hang(machine, node, path),
            Kind::Live | Kind::Aborted => {}
            Kind::Choice { .. } => {
                if settled == Settled::Endless {
                    let told = Told::default();
                    self.explored.nodes[node].edges.push(Edge { to: node, moved: true, told });
                }
                self.follow(machine, node, choices, path);
            }
        }
    }

    /// What has happened since the last state.
    fn take_down(&mut self, machine: &mut Machine<'w>, path: Path) -> Told {
        let mut told = Told::default();
        let observations = machine.evidence.take();
        for &observation in &observations {
            if self.seen.insert(observation) {
                self.explored.observations.push((observation, path));
            }
        }
        if let Some(executed) = &mut machine.executed {
            told = Told { executed: executed.take(), observations };
            self.held += 3 * told.executed.len();
        }
        told
    }

    /// Takes down what is not complete in a state in which a run is over.
    fn note_end(&mut self, machine: &Machine<'w>, node: usize, kind: Kind) {
        if machine.executed.is_none() {
            return;
        }
        let open = match kind {
            Kind::Finished | Kind::Stuck | Kind::Mismatch => incomplete(machine),
            Kind::Live | Kind::Aborted => Vec::new(),
            Kind::Choice { .. } | Kind::Open => return,
        };
        self.held += 2 * open.len();
        self.explored.ends.insert(node, open);
    }

    /// The node of a state that was seen before; a new one is given the next node's name.
    fn known_as(&mut self, machine: &Machine<'w>) -> Option<usize> {
        let new = self.explored.nodes.len();
        let state = machine.encode();
        self.held += state.len();
        let node = *self.known.entry(state).or_insert(new);
        (node != new).then_some(node)
    }

    fn is_enough(&self) -> bool {
        self.explored.nodes.len() > self.limits.states || self.held > HELD || self.work > WORK
    }

    fn kind(&self, machine: &Machine<'w>, settled: Settled, choices: &[Choice]) -> Kind {
        if settled == Settled::Mismatch {
            Kind::Mismatch
        } else if settled == Settled::Aborted {
            Kind::Aborted
        } else if settled == Settled::TooLong || self.is_enough() {
            Kind::Open
        } else if !choices.is_empty() {
            // Even where all have ended: a message may yet be taken by a receive left behind.
            let own = |choice: &Choice| {
                matches!(choice, Choice::Arm { .. } | Choice::Way { .. } | Choice::Delayed)
            };
            Kind::Choice { race: choices.len() > 1 && !choices.iter().all(own) }
        } else if machine.ended() {
            Kind::Finished
        } else if settled == Settled::Endless {
            Kind::Live
        } else {
            Kind::Stuck
        }
    }

    fn follow(&mut self, machine: Machine<'w>, node: usize, choices: Vec<Choice>, path: Path) {
        // Any other choice moves nothing between ranks by itself.
        let moves = |choice: &Choice| {
            matches!(choice, Choice::Match { .. } | Choice::Ready { .. } | Choice::Delayed)
        };
        if self.cyclic && !choices.iter().any(moves) {
            // Whether this is a hang shows only when all of its circle is known.
            let stuck = Stuck::of(&machine);
            if self.future.is_some() && machine.executed.is_some() {
                self.spinning.insert(node, incomplete(&machine));
            }
            let machine = (self.explored.spins.len() < KEPT).then(|| machine.clone());
            self.explored.spins.push(Hang { node, stuck, machine, path });
        }
        let reduced = self.future.is_some();
        self.held += NUMBERS * machine.extent();
        self.stack.push(Frame { machine, node, choices, next: 0, reduced, met_known: false });
    }

    fn finish(&mut self, machine: &Machine<'w>, path: Path) {
        let mut left = machine.unmatched();
        left.retain(|unmatched| !is_abandoned(machine, unmatched));
        if !left.iter().any(|unmatched| unmatched.sending) {
            self.explored.can_finish_clean = true;
            return;
        }
        let sends = left.iter().filter(|one| one.sending).map(|one| one.at);
        let new = sends.filter(|&at| self.left.insert(at)).count() > 0;
        if self.explored.uncleans.is_empty() || (new && machine.executed.is_some()) {
            self.explored.uncleans.push(Unclean { left, path });
        }
    }

    /// Of messages that pile up without end, those to ranks that have ended are never received.
    fn flood(&mut self, machine: &Machine<'w>, path: Path) {
        let ended = |peer: Peer| match peer {
            Peer::Rank(rank) => machine.state(rank.unsigned_abs()).status == Status::Ended,
            _ => false,
        };
        let mut left = machine.unmatched();
        left.retain(|unmatched| unmatched.sending && ended(unmatched.peer));
        left.retain(|unmatched| !is_abandoned(machine, unmatched));
        left.dedup_by_key(|unmatched| unmatched.at);
        if !left.is_empty() && self.explored.uncleans.is_empty() {
            self.explored.uncleans.push(Unclean { left, path });
        }
    }

    fn hang(&mut self, machine: Machine<'w>, node: usize, path: Path) {
        let stuck = Stuck::of(&machine);
        let machine = (self.explored.hangs.len() < KEPT).then_some(machine);
        self.explored.hangs.push(Hang { node, stuck, machine, path });
    }
}

/// Whether any step of a world has more than one outcome.
pub(super) fn has_options(world: &World) -> bool {
    use crate::model::Completion;
    world.behaviours.iter().flat_map(|behaviour| &behaviour.events).any(|event| {
        match &event.action {
            Action::Choose { .. } | Action::Test { .. } | Action::Branch { .. } => true,
            Action::Wait { completion, .. } => *completion != Completion::All,
            action => super::machine::receiving_peer(action)
                .is_some_and(|peer| matches!(peer, Peer::Any { .. })),
        }
    })
}

/// Whether a behaviour goes back anywhere.
pub(super) fn is_cyclic(events: &[crate::model::Event]) -> bool {
    events.iter().enumerate().any(|(position, event)| {
        event.action.targets().into_iter().any(|target| target <= position)
    })
}

/// The ranks that a ready send goes to.
pub(super) fn ready_destinations(world: &World) -> Vec<Rank> {
    let ready = world.behaviours.iter().flat_map(|behaviour| &behaviour.events).any(|event| {
        matches!(
            &event.action,
            Action::Send { mode: Mode::Ready, .. }
                | Action::StartSend { mode: Mode::Ready, .. }
                | Action::PlanSend { mode: Mode::Ready, .. }
        )
    });
    if ready { (0..world.size()).collect() } else { Vec::new() }
}

/// Whether a message is to a rank that has left before its end: that it is never received is no
/// fault of its own.
fn is_abandoned(machine: &Machine<'_>, unmatched: &Unmatched) -> bool {
    match unmatched.peer {
        Peer::Rank(rank) if unmatched.sending => machine.left(rank.unsigned_abs()).is_some(),
        _ => false,
    }
}
