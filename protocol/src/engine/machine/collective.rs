//! Collectives: who has come, who may go on (MPI 4.0, 6.14 "Correctness").

use std::collections::VecDeque;

use super::{Machine, Schedule, Semantics, Status};
use crate::engine::evidence::At;
use crate::model::{Action, Collective, CollectiveKind, Data, Position, Rank, World};

/// The collectives of one communicator that not every rank has entered yet.
#[derive(Clone, Default)]
pub(super) struct CommunicatorState {
    /// The number of the first of `open`.
    base: u32,
    open: VecDeque<Instance>,
}

/// One collective: the n-th of every rank on its communicator.
#[derive(Clone)]
struct Instance {
    kind: CollectiveKind,
    root: Option<i32>,
    /// Who has come, and where.
    arrivals: Vec<At>,
    root_arrived: bool,
    waiting: Vec<Rank>,
}

/// For whom a rank in a collective waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    Nobody,
    Root,
    All,
}

impl Machine<'_> {
    pub(super) fn enter_collective(&mut self, rank: Rank, collective: &Collective) {
        let position = self.state(rank).position as Position;
        let communicator = usize::from(collective.communicator);
        let number = self.state(rank).collectives[communicator];
        self.state_mut(rank).collectives[communicator] += 1;
        self.moved += 1;

        let is_root = collective.root == i32::try_from(rank).ok();
        let waits_for = self.waits_for(collective, is_root);
        let releases = self.waits_for(collective, false) == WaitsFor::Root;
        let state = &mut self.communicators[communicator];
        let index = (number - state.base) as usize;
        if index == state.open.len() {
            state.open.push_back(Instance {
                kind: collective.kind,
                root: collective.root,
                arrivals: Vec::new(),
                root_arrived: false,
                waiting: Vec::new(),
            });
        }
        let instance = &mut state.open[index];
        if (instance.kind, instance.root) != (collective.kind, collective.root) {
            self.evidence.collective_mismatch(instance.arrivals[0], (rank, position));
            if self.schedule != Schedule::Unordered {
                self.mismatch = true;
                return;
            }
        }
        if let (Some(&first), Some(data)) = (instance.arrivals.first(), &collective.data)
            && let Some(brought) = data_at(self.world, first)
        {
            let ends = (first, (rank, position));
            self.evidence.met_in_collective(self.world, ends, collective.kind, (brought, data));
        }
        instance.arrivals.push((rank, position));
        instance.root_arrived |= is_root;
        let all_here = instance.arrivals.len() == self.ranks.len();
        let goes_on = match waits_for {
            WaitsFor::Nobody => true,
            WaitsFor::Root => instance.root_arrived,
            WaitsFor::All => all_here,
        } || self.schedule == Schedule::Unordered;
        let released = if all_here || (instance.root_arrived && releases) {
            std::mem::take(&mut instance.waiting)
        } else {
            Vec::new()
        };
        if !goes_on {
            instance.waiting.push(rank);
        }
        // Every rank enters in order, so that an earlier one is complete whenever a later one is.
        while state.open.front().is_some_and(|instance| instance.arrivals.len() == self.ranks.len())
        {
            state.open.pop_front();
            state.base += 1;
        }
        if goes_on {
            self.go_to(rank, position + 1);
        } else {
            self.state_mut(rank).status = Status::Waiting(1);
        }
        for rank in released {
            self.release(rank);
        }
    }

    /// Nobody waits in a collective any more.
    pub(super) fn forget_waiting(&mut self) {
        let open = self.communicators.iter_mut().flat_map(|state| &mut state.open);
        open.for_each(|instance| instance.waiting.clear());
    }

    /// The ranks that have not yet come to the collective that `rank` is in, or its root alone
    /// where that is enough.
    pub(in crate::engine) fn missing(&self, rank: Rank, collective: &Collective) -> Vec<Rank> {
        let communicator = usize::from(collective.communicator);
        let number = self.state(rank).collectives[communicator] - 1;
        let is_root = collective.root == i32::try_from(rank).ok();
        let only_root = self.waits_for(collective, is_root) == WaitsFor::Root;
        let root = collective.root.and_then(|root| Rank::try_from(root).ok());
        (0..self.world.size())
            .filter(|&other| self.state(other).collectives[communicator] <= number)
            .filter(|&other| !only_root || Some(other) == root)
            .collect()
    }

    /// The collectives that some ranks have entered and others have not: who has come.
    pub(in crate::engine) fn open_collectives(&self) -> Vec<Vec<At>> {
        let open = self.communicators.iter().flat_map(|state| &state.open);
        open.map(|instance| instance.arrivals.clone()).collect()
    }

    /// How many collectives of a communicator each rank has entered, less what all have left
    /// behind.
    pub(super) fn collective_progress(&self, rank: Rank) -> impl Iterator<Item = u32> + '_ {
        let entered = self.state(rank).collectives.iter();
        entered.zip(&self.communicators).map(|(number, state)| number - state.base)
    }

    fn waits_for(&self, collective: &Collective, is_root: bool) -> WaitsFor {
        use CollectiveKind::{Bcast, Gather, Reduce, Scatter};
        let root = collective.root.and_then(|root| Rank::try_from(root).ok());
        let exists = root.is_some_and(|root| root < self.world.size());
        match (self.semantics, collective.kind, is_root) {
            (Semantics::Buffered, Bcast | Scatter, false) if exists => WaitsFor::Root,
            (Semantics::Buffered, Bcast | Scatter, _)
            | (Semantics::Buffered, Gather | Reduce, false) => WaitsFor::Nobody,
            _ => WaitsFor::All,
        }
    }
}

/// What a rank brings to the collective that it calls in a step.
fn data_at(world: &World, (rank, position): At) -> Option<&Data> {
    match &world.behaviours[rank as usize].events[position].action {
        Action::Collective(collective) => collective.data.as_ref(),
        _ => None,
    }
}
