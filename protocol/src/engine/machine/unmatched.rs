//! Operations that found no partner, as those see them who look for why.

use super::matching::{Pending, PendingId};
use super::{Machine, envelope};
use crate::engine::evidence::At;
use crate::model::{Action, CommunicatorId, Peer, Position, Tag};

/// An operation that found no partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The step that holds its envelope.
    pub at: At,
    /// Whether it is a send.
    pub sending: bool,
    /// The other end, resolved: a rank, or a wildcard.
    pub peer: Peer,
    /// The tag sent or accepted.
    pub tag: Tag,
    /// The communicator.
    pub communicator: CommunicatorId,
    /// Whether it announces or awaits a decision: that meets nothing else.
    pub decision: bool,
}

impl Machine<'_> {
    fn is_decision(&self, pending: &Pending) -> bool {
        let event = &self.world.behaviours[pending.rank as usize].events[pending.position as usize];
        matches!(event.action, Action::Offer { .. })
            || envelope(event, true)
                .is_some_and(|sent| pending.sending && sent.data.label.is_some())
    }

    pub(super) fn unmatched_of(&self, id: PendingId) -> Unmatched {
        let pending = &self.pending[id as usize];
        Unmatched {
            at: (pending.rank, pending.position as Position),
            sending: pending.sending,
            peer: pending.peer,
            tag: pending.tag,
            communicator: pending.communicator,
            decision: self.is_decision(pending),
        }
    }

    /// Every operation that found no partner, by rank and in the order of its start.
    pub(in crate::engine) fn unmatched(&self) -> Vec<Unmatched> {
        let mut rest: Vec<PendingId> = (0..)
            .zip(&self.pending)
            .filter(|(_, one)| one.live && !one.freed)
            .map(|(id, _)| id)
            .collect();
        rest.sort_unstable_by_key(|&id| {
            let pending = &self.pending[id as usize];
            (pending.rank, pending.sequence)
        });
        rest.into_iter().map(|id| self.unmatched_of(id)).collect()
    }
}
