//! Follows a world through everything that can happen in it.
//!
//! Steps with one outcome are made at once; where there are several, each is followed, and a state
//! already seen is not followed again. What was seen is kept with the path of choices that led to
//! it, so that it can be shown step by step.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::{At, Observation};
use super::machine::options::{ALL, Choice, FutureSends};
use super::machine::{Executed, Machine, Schedule, Semantics, Settled, Status, Unmatched, targets};
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

/// The choices that led to something: the last state with a choice, and the choice made there.
pub(super) type Path = Option<(usize, Choice)>;

/// A state that nothing moves in.
pub(super) struct Hang<'w> {
    pub(super) node: usize,
    pub(super) stuck: Stuck,
    /// The state itself, for the first few.
    pub(super) machine: Option<Machine<'w>>,
    pub(super) path: Path,
}

/// What wildcards could take: the receive, and the sends.
pub(super) type Takes = BTreeMap<At, BTreeSet<At>>;

/// An end of all ranks with messages that nobody received.
pub(super) struct Unclean {
    /// Whatever found no partner, sends and receives.
    pub(super) left: Vec<Unmatched>,
    pub(super) path: Path,
}

/// What happened from one state to the next.
#[derive(Clone, Default)]
pub(super) struct Told {
    /// The steps that were begun.
    pub(super) executed: Executed,
    pub(super) observations: Vec<Observation>,
}

/// Everything that was seen.
pub(super) struct Explored<'w> {
    pub(super) observations: Vec<(Observation, Path)>,
    pub(super) hangs: Vec<Hang<'w>>,
    /// States in which ranks only ask; those from which nothing leads become hangs.
    spins: Vec<Hang<'w>>,
    /// Ends of all ranks that leave messages: the first, and where what each run has shown is kept
    /// apart, one for each message.
    pub(super) uncleans: Vec<Unclean>,
    /// Of wildcards that could take messages of several sources at once, all of these.
    pub(super) races: Takes,
    /// Of every wildcard, all that it takes in some run.
    pub(super) taken: Takes,
    pub(super) can_finish_clean: bool,
    /// The operations that are matched in some run, of a world with options.
    pub(super) matched: FxHashSet<At>,
    pub(super) mismatch: bool,
    /// What happened before the first choice.
    pub(super) start: Told,
    /// The states in which runs are over, and the operations that are not complete there.
    pub(super) ends: FxHashMap<usize, Vec<At>>,
    /// Whether everything was followed.
    pub(super) complete: bool,
    pub(super) nodes: Vec<Node>,
}

/// A state: where it came from, and where it leads.
pub(super) struct Node {
    path: Path,
    pub(super) edges: Vec<Edge>,
    kind: Kind,
}

/// A state that follows another.
pub(super) struct Edge {
    pub(super) to: usize,
    /// Whether anything moved between ranks on the way.
    moved: bool,
    /// What happened on the way, if that is kept.
    pub(super) told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Has options; `race` if they are not a rank's own decision.
    Choice {
        race: bool,
    },
    Finished,
    Stuck,
    /// Goes on for ever with messages moving.
    Live,
    Mismatch,
    /// Over, because a rank has aborted the job.
    Aborted,
    /// Not followed.
    Open,
}

/// The most that known states, and those on the way to the present one, may be made of, in
/// numbers: 64 MiB.
const HELD: usize = 16 << 20;

/// About how many numbers a machine has for each rank and each unmatched operation.
const NUMBERS: usize = 64;

/// The most steps from state to state, each counted by the state's extent, which is what it costs.
const WORK: usize = 4 << 20;

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
        explored: Explored {
            observations: Vec::new(),
            hangs: Vec::new(),
            spins: Vec::new(),
            races: Takes::new(),
            taken: Takes::new(),
            can_finish_clean: false,
            matched: FxHashSet::default(),
            mismatch: false,
            start: Told::default(),
            ends: FxHashMap::default(),
            uncleans: Vec::new(),
            complete: true,
            nodes: Vec::new(),
        },
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
        let choices = if over { Vec::new() } else { machine.options(self.future) };
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
        self.explored.note_wildcards(&machine, &choices);
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

impl<'w> Explored<'w> {
    /// How many states were seen.
    pub(super) fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Whether some run ends on all ranks.
    pub(super) fn can_finish(&self) -> bool {
        self.nodes.iter().any(|node| node.kind == Kind::Finished)
    }

    /// Whether a rank aborts the job in some run.
    pub(super) fn aborts(&self) -> bool {
        self.nodes.iter().any(|node| node.kind == Kind::Aborted)
    }

    /// The choices from the start to a state, in order.
    pub(super) fn choices(&self, path: Path) -> Vec<Choice> {
        let mut choices = Vec::new();
        let mut at = path;
        while let Some((node, choice)) = at {
            choices.push(choice);
            at = self.nodes[node].path;
        }
        choices.reverse();
        choices
    }

    /// Whether a hang comes from who was first: on its way a race could have gone another way, and
    /// ended.
    pub(super) fn is_by_race(&self, hang: &Hang<'w>) -> bool {
        let ends = self.nodes_that_can_end();
        let mut at = hang.path;
        while let Some((node, _)) = at {
            let race = self.nodes[node].kind == Kind::Choice { race: true };
            if race && self.nodes[node].edges.iter().any(|edge| ends[edge.to]) {
                return true;
            }
            at = self.nodes[node].path;
        }
        false
    }

    /// Takes down what the wildcards of a state could take.
    fn note_wildcards(&mut self, machine: &Machine<'w>, choices: &[Choice]) {
        let matches = choices.iter().filter_map(|choice| match *choice {
            Choice::Match { message, wildcard } => Some((wildcard, message)),
            _ => None,
        });
        let matches: Vec<_> = matches.collect();
        for competing in matches.chunk_by(|one, other| one.0 == other.0) {
            let wildcard = machine.posted_at(competing[0].0);
            let sends = || competing.iter().map(|&(_, message)| machine.posted_at(message));
            self.taken.entry(wildcard).or_default().extend(sends());
            if competing.len() > 1 {
                self.races.entry(wildcard).or_default().extend(sends());
            }
        }
    }

    fn nodes_that_can_end(&self) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (from, node) in self.nodes.iter().enumerate() {
            for edge in &node.edges {
                before[edge.to].push(from);
            }
        }
        let mut ends = vec![false; self.nodes.len()];
        let finished = (0..self.nodes.len())
            .filter(|&at| matches!(self.nodes[at].kind, Kind::Finished | Kind::Aborted));
        let mut open: Vec<usize> = finished.collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut ends[at], true) {
                open.extend(before[at].iter().filter(|&&from| !ends[from]));
            }
        }
        ends
    }

    /// Circles of states in which ranks only ask in vain are hangs too.
    fn find_spinning(&mut self) {
        if self.spins.is_empty() {
            return;
        }
        let mut graph: DiGraph<(), bool> = DiGraph::new();
        let nodes: Vec<NodeIndex> = self.nodes.iter().map(|_| graph.add_node(())).collect();
        for (from, node) in self.nodes.iter().enumerate() {
            for edge in &node.edges {
                graph.add_edge(nodes[from], nodes[edge.to], edge.moved);
            }
        }
        for part in tarjan_scc(&graph) {
            let inside = |to: usize| part.contains(&NodeIndex::new(to));
            let vain = part.iter().all(|node| {
                let node = &self.nodes[node.index()];
                matches!(node.kind, Kind::Choice { .. })
                    && node.edges.iter().all(|edge| !edge.moved && inside(edge.to))
            });
            let spin = self.spins.iter().position(|spin| inside(spin.node));
            if let (true, Some(spin)) = (vain, spin) {
                let spin = self.spins.swap_remove(spin);
                self.hangs.push(spin);
            }
        }
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
        targets(&event.action).into_iter().any(|target| target <= position)
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

/// The operations that have been started and are not complete, and the steps that ranks wait in.
fn incomplete(machine: &Machine<'_>) -> Vec<At> {
    let mut open: Vec<At> = machine.unmatched().iter().map(|unmatched| unmatched.at).collect();
    for blocked in Stuck::of(machine).blocked {
        let state = machine.state(blocked.rank);
        if state.status != Status::Ready {
            open.push((blocked.rank, blocked.position));
            open.extend(blocked.open.iter().map(|&position| (blocked.rank, position)));
        }
        let active = state.requests.iter().filter(|request| request.is_active());
        open.extend(active.map(|request| (blocked.rank, request.started as usize)));
    }
    let gathering = machine.open_collectives().into_iter();
    open.extend(gathering.flat_map(|(arrivals, _)| arrivals));
    open.sort_unstable();
    open.dedup();
    open
}
