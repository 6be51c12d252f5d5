//! What collective operations do, sentence by sentence of `docs/semantics.md`.

use p2p_protocol::model::{Collective, CollectiveKind, CommunicatorId, Rank, RequestId};

use crate::exploration::{Explorer, Next, Reading};
use crate::state::{Active, Call, Gathering, Membership, Progress, State, members};

impl Explorer<'_> {
    /// The rank comes to a collective operation.
    pub(crate) fn come(&mut self, mut state: State, rank: Rank, collective: &Collective) -> Next {
        if !members(self.world, collective.communicator).contains(&rank) {
            self.go_on(&mut state, rank);
            return Next::State(state);
        }
        match self.join(&mut state, rank, collective, true) {
            Some(membership) => state.rank(rank).progress = Progress::Collective(membership),
            None => return Next::Over,
        }
        Next::State(state)
    }

    /// The rank starts its part of a collective operation.
    pub(crate) fn start_collective(
        &mut self,
        mut state: State,
        rank: Rank,
        collective: &Collective,
        request: RequestId,
    ) -> Next {
        self.set_plan(&mut state, rank, request, None);
        let mut gathering = None;
        if members(self.world, collective.communicator).contains(&rank) {
            gathering = self.join(&mut state, rank, collective, false);
            if gathering.is_none() {
                return Next::Over;
            }
        }
        let active = Active { complete: gathering.is_none(), binds: None, source: None, gathering };
        state.rank(rank).requests[request as usize].active = Some(active);
        self.go_on(&mut state, rank);
        Next::State(state)
    }

    /// `None` if the calls differ.
    fn join(
        &mut self,
        state: &mut State,
        rank: Rank,
        collective: &Collective,
        blocking: bool,
    ) -> Option<Membership> {
        let call = Call { kind: collective.kind, root: collective.root, blocking };
        let (communicator, index) = state.come(rank, collective.communicator, call);
        let gathering = &state.gatherings[usize::from(communicator)][index];
        if gathering.iter().flatten().any(|&other| other != call) {
            self.truth.mismatch = true;
            return None;
        }
        Some((communicator, index))
    }

    /// The rank leaves its collective operation, if it may.
    pub(crate) fn leave(
        &mut self,
        state: &State,
        rank: Rank,
        (of, index): Membership,
        next: &mut Vec<Next>,
    ) {
        if self.may_leave(rank, of, &state.gatherings[usize::from(of)][index]) {
            let mut after = state.clone();
            self.go_on(&mut after, rank);
            after.close_gatherings(self.world, of);
            next.push(Next::State(after));
        }
    }

    /// What becomes of a rank's requests whatever the rank does.
    pub(crate) fn request_steps(&mut self, state: &State, rank: Rank, next: &mut Vec<Next>) {
        for (request, slot) in state.ranks[rank as usize].requests.iter().enumerate() {
            let Some((of, index)) = slot.active.as_ref().and_then(|active| active.gathering) else {
                continue;
            };
            if self.may_leave(rank, of, &state.gatherings[usize::from(of)][index]) {
                let mut after = state.clone();
                if let Some(active) = &mut after.rank(rank).requests[request].active {
                    active.complete = true;
                    active.gathering = None;
                }
                after.close_gatherings(self.world, of);
                next.push(Next::State(after));
            }
        }
    }

    fn may_leave(&self, rank: Rank, communicator: CommunicatorId, gathering: &Gathering) -> bool {
        use CollectiveKind::*;
        let members = members(self.world, communicator);
        let call = gathering[rank as usize].expect("the rank has come");
        let here = |rank: &Rank| gathering[*rank as usize].is_some();
        let all = members.iter().all(here);
        let root = call.root.and_then(|root| Rank::try_from(root).ok());
        let root = root.filter(|root| members.contains(root));
        let is_root = root == Some(rank);
        match (self.reading, call.kind) {
            (Reading::Buffered, Bcast | Scatter | Scatterv) => root.is_none_or(|root| here(&root)),
            (Reading::Buffered, Gather | Gatherv | Reduce) => !is_root || all,
            (Reading::Buffered, Scan) => members.iter().take_while(|&&one| one != rank).all(here),
            (Reading::Buffered, NeighborAllToAll) => true,
            _ => all,
        }
    }
}
