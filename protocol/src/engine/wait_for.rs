//! The wait-for graph of a state in which nothing moves.
//!
//! An arc leads from a rank to each rank that it waits for. A circle of ranks that wait for each
//! other is a strongly connected part of it; a rank that waits for one that has ended is the start
//! of a chain.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::machine::{Machine, Status, envelope};
use crate::model::{Action, Completion, Envelope, Peer, Position, Rank, RequestId};

/// A rank that cannot move, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Who.
    pub rank: Rank,
    /// The step that it is in.
    pub position: Position,
    /// For whom it waits.
    pub waits_for: Vec<Rank>,
    /// Whether one of them is enough.
    pub any: bool,
    /// The operations that are not complete: the step itself, or the starts of the requests that
    /// it waits for.
    pub open: Vec<Position>,
}

/// A state in which nothing moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// The ranks that cannot move, ascending.
    pub blocked: Vec<Blocked>,
}

impl Stuck {
    /// Reads the state off a machine that is stuck.
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        let ranks = 0..machine.world.size();
        let blocked = ranks
            .filter(|&rank| !matches!(machine.state(rank).status, Status::Ended | Status::Opaque));
        Stuck { blocked: blocked.map(|rank| blocked_rank(machine, rank)).collect() }
    }

    /// The ranks that wait for each other in a circle out of which nothing leads: one entry for
    /// each circle, as indices into `blocked`, ascending.
    pub fn circles(&self) -> Vec<Vec<usize>> {
        let mut graph: DiGraph<Rank, ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> =
            self.blocked.iter().map(|blocked| graph.add_node(blocked.rank)).collect();
        let node_of = |rank: Rank| {
            let index = self.blocked.binary_search_by_key(&rank, |blocked| blocked.rank);
            index.ok().map(|index| nodes[index])
        };
        for (blocked, &node) in self.blocked.iter().zip(&nodes) {
            for other in blocked.waits_for.iter().filter_map(|&rank| node_of(rank)) {
                graph.add_edge(node, other, ());
            }
        }
        let mut circles: Vec<Vec<usize>> = tarjan_scc(&graph)
            .into_iter()
            .map(|part| part.into_iter().map(NodeIndex::index).collect::<Vec<usize>>())
            .filter(|part| part.len() > 1 || self.waits_for_itself(part[0]))
            .filter(|part| self.is_closed(part))
            .collect();
        for circle in &mut circles {
            circle.sort_unstable();
        }
        circles.sort();
        circles
    }

    fn waits_for_itself(&self, index: usize) -> bool {
        let blocked = &self.blocked[index];
        blocked.waits_for.contains(&blocked.rank)
    }

    /// Whether no member could be freed by a rank outside: one that needs only one of several must
    /// have all of them inside.
    fn is_closed(&self, part: &[usize]) -> bool {
        let inside = |rank: &Rank| part.iter().any(|&index| self.blocked[index].rank == *rank);
        part.iter().all(|&index| {
            let blocked = &self.blocked[index];
            !blocked.any
                || blocked.waits_for.iter().all(inside)
                || self.outside_is_stuck(blocked, part)
        })
    }

    /// Whether those outside for whom a rank waits are stuck or gone themselves.
    fn outside_is_stuck(&self, blocked: &Blocked, part: &[usize]) -> bool {
        // Everything here is stuck; what makes the difference is whether the others hang on this
        // circle, or this circle on them. Those that have ended give nothing any more.
        let waits_on_part = |rank: &Rank| {
            let other = self.blocked.iter().find(|other| other.rank == *rank);
            other.is_none_or(|other| {
                let inside = |rank: &Rank| part.iter().any(|&at| self.blocked[at].rank == *rank);
                other.waits_for.iter().any(inside)
            })
        };
        blocked.waits_for.iter().all(waits_on_part)
    }
}

fn blocked_rank(machine: &Machine<'_>, rank: Rank) -> Blocked {
    let position = machine.state(rank).position as Position;
    let mut blocked =
        Blocked { rank, position, waits_for: Vec::new(), any: false, open: vec![position] };
    let Some(event) = machine.event(rank) else { return blocked };
    match &event.action {
        Action::Wait { requests, completion } => {
            blocked.any = *completion != Completion::All;
            blocked.open = open_requests(machine, rank, requests);
        }
        Action::Test { request, .. } => blocked.open = open_requests(machine, rank, &[*request]),
        Action::DetachBuffer => blocked.open = machine.in_buffer(rank),
        Action::OneSided(_) => blocked.waits_for = machine.silent(rank),
        _ => {}
    }
    for &open in &blocked.open {
        let event = &machine.world.behaviours[rank as usize].events[open];
        if event.action.collective().is_some() {
            blocked.waits_for.extend(machine.missing((rank, open)));
        }
        for envelope in [envelope(event, true), envelope(event, false)].into_iter().flatten() {
            let (ranks, any) = partners(machine, rank, envelope);
            blocked.any |= any;
            blocked.waits_for.extend(ranks);
        }
    }
    blocked.waits_for.sort_unstable();
    blocked.waits_for.dedup();
    blocked
}

/// The starts of the requests that are not complete.
fn open_requests(machine: &Machine<'_>, rank: Rank, requests: &[RequestId]) -> Vec<Position> {
    let state = machine.state(rank);
    let open = |&&id: &&RequestId| machine.request_is_open(rank, id);
    requests
        .iter()
        .filter(open)
        .map(|&id| state.requests[id as usize].described as Position)
        .collect()
}

/// Who could complete an operation, and whether any one of them would do.
fn partners(machine: &Machine<'_>, rank: Rank, envelope: &Envelope) -> (Vec<Rank>, bool) {
    match envelope.peer {
        Peer::Any { .. } => {
            let sources = machine.sources(envelope.peer, envelope.communicator);
            (sources.filter(|&other| other != rank).collect(), true)
        }
        peer => (machine.resolve(rank, peer).into_iter().collect(), false),
    }
}
