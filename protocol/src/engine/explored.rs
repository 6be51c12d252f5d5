//! What an exploration has seen: the states, how they follow each other, and where runs are over.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::{At, Observation};
use super::machine::options::Choice;
use super::machine::{Executed, Machine, Status, Sweep, Unmatched};
use super::wait_for::Stuck;

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
#[derive(Default)]
pub(super) struct Explored<'w> {
    pub(super) observations: Vec<(Observation, Path)>,
    pub(super) hangs: Vec<Hang<'w>>,
    /// States in which ranks only ask; those from which nothing leads become hangs.
    pub(super) spins: Vec<Hang<'w>>,
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
    /// From which states some run ends, once all is followed and somebody has asked.
    pub(super) can_end: OnceCell<Vec<bool>>,
}

/// A state: where it came from, and where it leads.
pub(super) struct Node {
    pub(super) path: Path,
    pub(super) edges: Vec<Edge>,
    pub(super) kind: Kind,
}

/// A state that follows another.
pub(super) struct Edge {
    pub(super) to: usize,
    /// Whether anything moved between ranks on the way.
    pub(super) moved: bool,
    /// What happened on the way, if that is kept.
    pub(super) told: Told,
}

/// What a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
        let ends = self.can_end.get_or_init(|| self.nodes_that_can_end());
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
    pub(super) fn note_wildcards(&mut self, machine: &Machine<'w>, choices: &[Choice]) {
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

    /// Takes down what receives in a row take, each of them any.
    pub(super) fn note_sweep(&mut self, sweep: &Sweep) {
        for take in &sweep.takes {
            self.taken.entry(take.receive).or_default().insert(take.send);
            if take.race {
                self.races.entry(take.receive).or_default().insert(take.send);
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
    pub(super) fn find_spinning(&mut self) {
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

/// The operations that have been started and are not complete, and the steps that ranks wait in.
pub(super) fn incomplete(machine: &Machine<'_>) -> Vec<At> {
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
