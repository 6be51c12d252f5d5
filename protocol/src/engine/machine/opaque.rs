//! Ranks of which nothing more is known (docs/semantics.md, "Opaque").
//!
//! Such a rank may send, receive and enter anything. What it sent before is still there; for
//! whatever else others need of it, it is taken to do it. Who could take a message of it by a
//! wildcard may take that or another, so nothing more is known of them either.

use super::matching::{Completes, PendingId};
use super::{Machine, Met, Status};
use crate::engine::evidence::At;
use crate::model::{Action, Peer, Rank};

impl Machine<'_> {
    pub(super) fn is_opaque(&self, rank: Rank) -> bool {
        self.opaque > 0
            && self.ranks.get(rank as usize).is_some_and(|state| state.status == Status::Opaque)
    }

    /// From here on nothing is known of a rank, nor of those that its messages may mislead.
    pub(super) fn become_opaque(&mut self, rank: Rank) {
        let mut open = vec![rank];
        while let Some(rank) = open.pop() {
            if self.is_opaque(rank) {
                continue;
            }
            self.state_mut(rank).status = Status::Opaque;
            self.opaque += 1;
            self.moved += 1;
            open.extend(self.misled_by(rank));
            self.serve(rank);
            self.leave_collectives(rank);
        }
        // What is left of the waits for an opaque rank, and the probes.
        self.look_at_collectives();
        for rank in 0..self.world.size() {
            if self.state(rank).status == Status::Probing {
                self.queue(rank);
            }
        }
    }

    /// The ranks whose wildcards could take a message of an opaque one.
    fn misled_by(&self, opaque: Rank) -> Vec<Rank> {
        let waits = |&rank: &Rank| {
            let posted = self.state(rank).wildcards.iter().any(|&wildcard| {
                let pending = &self.pending[wildcard as usize];
                self.sources(pending.peer, pending.communicator).any(|source| source == opaque)
            });
            let probes = self.state(rank).status == Status::Parked
                && matches!(self.event(rank).map(|event| &event.action),
                    Some(Action::Probe { envelope, .. }) if self
                        .sources(envelope.peer, envelope.communicator)
                        .any(|source| source == opaque));
            posted || probes
        };
        (0..self.world.size()).filter(waits).collect()
    }

    /// An opaque rank takes what was sent to it, sends what is awaited of it, and has no receives
    /// that could still take anything else.
    fn serve(&mut self, opaque: Rank) {
        let peer = Peer::Rank(opaque.cast_signed());
        let ids = 0..PendingId::try_from(self.pending.len()).expect("fewer than 2^32 operations");
        for id in ids.clone() {
            let pending = self.pending[id as usize];
            if pending.live && !pending.sending && pending.rank == opaque {
                self.withdraw(id);
            }
        }
        for id in ids {
            let pending = self.pending[id as usize];
            if !pending.live || pending.peer != peer {
                continue;
            }
            if pending.sending {
                self.withdraw(id);
                self.meet_opaque(
                    (pending.rank, pending.position as usize),
                    pending.completes,
                    None,
                );
            } else {
                self.take_from_opaque(id, opaque);
            }
        }
    }

    /// A receive from an opaque rank that no earlier message of it serves.
    pub(super) fn take_from_opaque(&mut self, receive: PendingId, opaque: Rank) {
        let pending = self.pending[receive as usize];
        if !pending.live || self.first_accepted(receive).is_some() {
            return;
        }
        self.withdraw(receive);
        let met = Met::of(opaque, pending.tag);
        self.meet_opaque((pending.rank, pending.position as usize), pending.completes, Some(met));
    }

    /// An operation is done that an opaque rank is the other end of.
    pub(super) fn meet_opaque(&mut self, at: At, completes: Completes, met: Option<Met>) {
        if let Some(matched) = &mut self.matched {
            matched.push(at);
        }
        self.complete(at.0, completes, met, None);
    }
}
