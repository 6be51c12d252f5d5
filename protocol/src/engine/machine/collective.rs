//! Collectives: who has come, who may go on (MPI 4.0, 6.14 "Correctness").

use std::collections::VecDeque;

use super::matching::Completes;
use super::{Machine, RequestStatus, Schedule, Semantics, Status};
use crate::engine::evidence::At;
use crate::model::{Collective, CollectiveKind, CommunicatorId, Position, Rank, RequestId, World};

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
    blocking: bool,
    /// Who has come, and where.
    arrivals: Vec<At>,
    waiting: Vec<Waiting>,
    /// Whether some of those that wait may go on before all have come.
    early: bool,
}

/// A rank that has come and whose part is not complete.
#[derive(Clone, Copy)]
struct Waiting {
    at: At,
    waits_for: WaitsFor,
    completes: Completes,
}

/// For whom a rank in a collective waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    Nobody,
    Root(Rank),
    /// Those before it in the communicator.
    Lower,
    All,
}

impl<'w> Machine<'w> {
    /// A rank comes to a blocking collective.
    pub(super) fn enter_collective(&mut self, rank: Rank, collective: &Collective) {
        let position = self.state(rank).position as Position;
        if !self.world.belongs(collective.communicator, rank) {
            self.go_to(rank, position + 1);
            return;
        }
        self.compare_collective((rank, position), collective);
        self.state_mut(rank).status = Status::Waiting(1);
        self.come(rank, collective, Completes::Step);
        if self.schedule == Schedule::Unordered && !self.mismatch {
            self.forget(rank, collective.communicator);
            self.complete(rank, Completes::Step, None, None);
        }
    }

    /// A rank starts its part of a collective, which completes a request.
    pub(super) fn start_collective(&mut self, rank: Rank, collective: &Collective, id: RequestId) {
        let position = self.state(rank).position as Position;
        let completes = self.begin_request(rank, id, position, RequestStatus::Active);
        self.request_mut(rank, id).plan = None;
        self.go_to(rank, position + 1);
        if self.world.belongs(collective.communicator, rank) {
            self.compare_collective((rank, position), collective);
            self.come_from((rank, position), collective, completes);
        } else {
            self.complete(rank, completes, None, None);
        }
    }

    fn come(&mut self, rank: Rank, collective: &Collective, completes: Completes) {
        let position = self.state(rank).position as Position;
        self.come_from((rank, position), collective, completes);
    }

    fn come_from(&mut self, at: At, collective: &Collective, completes: Completes) {
        let rank = at.0;
        let communicator = usize::from(collective.communicator);
        let number = self.state(rank).collectives[communicator];
        self.state_mut(rank).collectives[communicator] += 1;
        self.moved += 1;
        let blocking = completes == Completes::Step;
        let waits_for = self.waits_for(rank, collective);
        let state = &mut self.communicators[communicator];
        let index = (number - state.base) as usize;
        if index == state.open.len() {
            state.open.push_back(Instance {
                kind: collective.kind,
                root: collective.root,
                blocking,
                arrivals: Vec::new(),
                waiting: Vec::new(),
                early: false,
            });
        }
        let instance = &mut state.open[index];
        if (instance.kind, instance.root, instance.blocking)
            != (collective.kind, collective.root, blocking)
        {
            self.evidence.collective_mismatch(instance.arrivals[0], at);
            if self.schedule != Schedule::Unordered {
                self.mismatch = true;
                return;
            }
        }
        let world = self.world;
        let earlier = instance.arrivals.iter().filter_map(|&at| Some((at, call_at(world, at)?)));
        self.evidence.met_in_collective(world, earlier, (at, collective));
        instance.arrivals.push(at);
        instance.waiting.push(Waiting { at, waits_for, completes });
        instance.early |= waits_for != WaitsFor::All;
        self.look_at(communicator, index);
    }

    /// Lets those go on whose part of an open collective is complete.
    fn look_at(&mut self, communicator: usize, index: usize) {
        let present = self.present(communicator, index);
        let all = present.all();
        let instance = &self.communicators[communicator].open[index];
        if !all && !instance.early {
            return;
        }
        let complete = |waiting: &Waiting| match waiting.waits_for {
            WaitsFor::Nobody => true,
            WaitsFor::Root(root) => present.has(root),
            WaitsFor::Lower => present.all_before(waiting.at.0),
            WaitsFor::All => all,
        };
        let (done, left) = instance.waiting.iter().partition(|&waiting| complete(waiting));
        let done: Vec<Waiting> = done;
        self.communicators[communicator].open[index].waiting = left;
        self.close_collectives(communicator);
        for waiting in done {
            self.complete(waiting.at.0, waiting.completes, None, None);
        }
    }

    /// Who is taken to have come to an open collective.
    fn present(&self, communicator: usize, index: usize) -> Present<'_, 'w> {
        let state = &self.communicators[communicator];
        let number = state.base + u32::try_from(index).expect("fewer than 2^32 collectives");
        let arrivals = state.open[index].arrivals.len();
        Present { machine: self, communicator, number, arrivals }
    }

    /// Every rank enters in order, so that an earlier one is complete whenever a later one is.
    fn close_collectives(&mut self, communicator: usize) {
        while !self.communicators[communicator].open.is_empty()
            && self.present(communicator, 0).all()
        {
            let state = &mut self.communicators[communicator];
            if !state.open[0].waiting.is_empty() {
                return;
            }
            state.open.pop_front();
            state.base += 1;
        }
    }

    /// Some rank has become opaque: others may go on for it.
    pub(super) fn look_at_collectives(&mut self) {
        for communicator in 0..self.communicators.len() {
            let mut index = 0;
            while index < self.communicators[communicator].open.len() {
                let before = self.communicators[communicator].base;
                self.look_at(communicator, index);
                let closed = self.communicators[communicator].base - before;
                index = (index + 1).saturating_sub(closed as usize);
            }
        }
    }

    /// A rank waits for no collective any more.
    pub(super) fn leave_collectives(&mut self, rank: Rank) {
        let open = self.communicators.iter_mut().flat_map(|state| &mut state.open);
        open.for_each(|instance| instance.waiting.retain(|waiting| waiting.at.0 != rank));
    }

    fn forget(&mut self, rank: Rank, communicator: CommunicatorId) {
        for instance in &mut self.communicators[usize::from(communicator)].open {
            instance
                .waiting
                .retain(|waiting| waiting.at.0 != rank || waiting.completes != Completes::Step);
        }
    }

    /// Nobody waits in a collective any more.
    pub(super) fn forget_waiting(&mut self) {
        let open = self.communicators.iter_mut().flat_map(|state| &mut state.open);
        open.for_each(|instance| instance.waiting.clear());
        for communicator in 0..self.communicators.len() {
            self.close_collectives(communicator);
        }
    }

    /// The ranks that have not yet come to the collective that a step waits for, as far as they
    /// are needed.
    pub(in crate::engine) fn missing(&self, at: At) -> Vec<Rank> {
        for (communicator, state) in self.communicators.iter().enumerate() {
            for (index, instance) in state.open.iter().enumerate() {
                let Some(waiting) = instance.waiting.iter().find(|waiting| waiting.at == at) else {
                    continue;
                };
                let present = self.present(communicator, index);
                let mut needed: Vec<Rank> = match waiting.waits_for {
                    WaitsFor::Nobody => Vec::new(),
                    WaitsFor::Root(root) => vec![root],
                    WaitsFor::Lower => present.members().take_while(|&rank| rank != at.0).collect(),
                    WaitsFor::All => present.members().collect(),
                };
                needed.retain(|&rank| !present.has(rank));
                needed.sort_unstable();
                return needed;
            }
        }
        Vec::new()
    }

    /// The collectives that some ranks have entered and others have not: who has come, and who of
    /// the communicator has not.
    pub(in crate::engine) fn open_collectives(&self) -> Vec<(Vec<At>, Vec<Rank>)> {
        let mut all = Vec::new();
        for (communicator, state) in self.communicators.iter().enumerate() {
            for (index, instance) in state.open.iter().enumerate() {
                let present = self.present(communicator, index);
                let absent = present.members().filter(|&rank| !present.has(rank)).collect();
                all.push((instance.arrivals.clone(), absent));
            }
        }
        all
    }

    /// How many collectives of a communicator each rank has entered, less what all have left
    /// behind.
    pub(super) fn collective_progress(&self, rank: Rank) -> impl Iterator<Item = u32> + '_ {
        let entered = self.state(rank).collectives.iter();
        entered.zip(&self.communicators).map(|(number, state)| number.saturating_sub(state.base))
    }

    /// For whom a rank waits: all, where data flows from or to all of them or the operation says
    /// so; where the reading buffers, only those without whom it cannot be done.
    fn waits_for(&self, rank: Rank, collective: &Collective) -> WaitsFor {
        use CollectiveKind as Kind;
        let root = collective.root.and_then(|root| Rank::try_from(root).ok());
        let is_root = root == Some(rank);
        let root = root.filter(|&root| self.world.belongs(collective.communicator, root));
        if self.semantics != Semantics::Buffered {
            return WaitsFor::All;
        }
        match collective.kind {
            Kind::Bcast | Kind::Scatter | Kind::Scatterv => match root {
                Some(root) if !is_root => WaitsFor::Root(root),
                _ => WaitsFor::Nobody,
            },
            Kind::Gather | Kind::Gatherv | Kind::Reduce if !is_root => WaitsFor::Nobody,
            Kind::Scan | Kind::Exscan => WaitsFor::Lower,
            // Only the neighbours are needed, and who they are is not known here.
            Kind::NeighborAllGather
            | Kind::NeighborAllGatherv
            | Kind::NeighborAllToAll
            | Kind::NeighborAllToAllv
            | Kind::NeighborAllToAllw => WaitsFor::Nobody,
            _ => WaitsFor::All,
        }
    }
}

/// Who is taken to have come to one collective: those who have, and those of whom nothing is known.
struct Present<'m, 'w> {
    machine: &'m Machine<'w>,
    communicator: usize,
    number: u32,
    arrivals: usize,
}

impl Present<'_, '_> {
    fn members(&self) -> impl Iterator<Item = Rank> + '_ {
        self.machine.world.members(CommunicatorId::try_from(self.communicator).unwrap_or_default())
    }

    fn has(&self, rank: Rank) -> bool {
        self.machine.state(rank).collectives[self.communicator] > self.number
            || self.machine.is_opaque(rank)
    }

    fn all(&self) -> bool {
        let communicator = CommunicatorId::try_from(self.communicator).unwrap_or_default();
        self.arrivals == self.machine.world.member_count(communicator)
            || (self.machine.opaque > 0 && self.members().all(|rank| self.has(rank)))
    }

    fn all_before(&self, rank: Rank) -> bool {
        self.members().take_while(|&other| other != rank).all(|rank| self.has(rank))
    }
}

fn call_at(world: &World, (rank, position): At) -> Option<&Collective> {
    world.behaviours[rank as usize].events[position].action.collective()
}
