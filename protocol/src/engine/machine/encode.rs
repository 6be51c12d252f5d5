//! A state as numbers, so that states already seen are recognised.
//!
//! Two states get the same numbers exactly when the same can happen from them: identities that
//! only say when something was started are left out, the order of one rank's operations is kept.

use super::matching::Completes;
use super::{Machine, Met, RequestStatus, Status};
use crate::model::{Peer, Rank};

const ABSENT: u32 = u32::MAX;
const OPAQUE: u32 = u32::MAX - 3;

impl Machine<'_> {
    /// The state as numbers.
    pub(in crate::engine) fn encode(&self) -> Box<[u32]> {
        let mut code = Vec::with_capacity(self.ranks.len() * 16);
        for rank in 0..self.world.size() {
            self.encode_rank(rank, &mut code);
        }
        self.encode_pending(&mut code);
        code.into()
    }

    fn encode_rank(&self, rank: Rank, code: &mut Vec<u32>) {
        let state = self.state(rank);
        if state.status == Status::Opaque {
            code.push(OPAQUE);
            return;
        }
        let status = match state.status {
            // A ready send that is to start now is not one that is yet to be held.
            Status::Ready if self.ready == Some(rank) => ABSENT,
            Status::Ready => 0,
            Status::Probing => 1,
            Status::Parked => 2,
            Status::Spinning => 3,
            Status::Ended => 4,
            Status::Opaque => OPAQUE,
            Status::Waiting(more) => 5 + more,
        };
        code.extend([state.position, status]);
        if let Some((met, label)) = state.met {
            code.extend([ABSENT, met.source, self.tag(met), label.map_or(ABSENT, u32::from)]);
        }
        if self.attaches {
            code.push(u32::from(state.attached));
        }
        for request in &state.requests {
            let status = match request.status {
                RequestStatus::Inactive => [0, ABSENT],
                RequestStatus::Active => [1, request.described],
                RequestStatus::Complete(met) => {
                    code.extend(met.filter(|_| self.liveness.tags).map(|met| self.tag(met)));
                    [2 + met.map_or(0, |met| met.source + 1), request.described]
                }
            };
            code.extend(status);
            let (plan, peer) =
                request.plan.map_or((ABSENT, ABSENT), |(plan, peer)| (plan, number(peer)));
            code.extend([plan, peer]);
        }
        for (slot, met) in state.sources.iter().enumerate() {
            // Which ones matter is told by the position.
            if !self.liveness.matters(rank, state.position, slot) {
                continue;
            }
            code.push(met.map_or(ABSENT, |met| met.source));
            if self.liveness.tags {
                code.push(met.map_or(ABSENT, |met| self.tag(met)));
            }
        }
        code.extend(self.collective_progress(rank));
        code.extend(state.exposure.numbers());
    }

    /// The tag of a message that was met, where any step asks for it.
    fn tag(&self, met: Met) -> u32 {
        met.tag.filter(|_| self.liveness.tags).map_or(ABSENT, i32::cast_unsigned)
    }

    /// What is unmatched, in each rank's order.
    fn encode_pending(&self, code: &mut Vec<u32>) {
        let mut live: Vec<_> = self.pending.iter().filter(|pending| pending.live).collect();
        live.sort_unstable_by_key(|pending| (pending.rank, pending.sequence));
        for pending in live {
            let peer = number(pending.peer);
            let completes = match pending.completes {
                Completes::Nothing => ABSENT,
                Completes::Step => ABSENT - 1,
                Completes::Buffered => ABSENT - 2,
                Completes::Request(id, generation) => {
                    let request = &self.state(pending.rank).requests[id as usize];
                    if request.generation == generation { id } else { ABSENT }
                }
            };
            let sending = u32::from(pending.sending);
            code.extend([pending.rank, pending.position, peer, completes, sending]);
        }
    }
}

/// A resolved peer; a step has only one wildcard, which its position names.
fn number(peer: Peer) -> u32 {
    match peer {
        Peer::Rank(peer) => peer.unsigned_abs(),
        Peer::Any { .. } => ABSENT - 1,
        Peer::Source(_) | Peer::Outside(_) | Peer::Null => ABSENT,
    }
}
