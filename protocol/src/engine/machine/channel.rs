//! The queues of one channel: what one source has sent to one destination on one communicator, and
//! the receives for it, oldest first. Which of them meet is not known here.

use rustc_hash::FxHashMap;

use super::matching::{Pending, PendingId};
use crate::model::{CommunicatorId, Rank};

pub(super) const NONE: PendingId = PendingId::MAX;

/// The channels that end at one rank, by source and communicator: what a rank works with lies
/// together, which is what makes a million events fast.
pub(super) type Channels = FxHashMap<(Rank, CommunicatorId), Channel>;

/// Unmatched messages and unmatched receives of one channel, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    pub(super) messages: Fifo,
    pub(super) receives: Fifo,
}

impl Channel {
    pub(super) const EMPTY: Channel = Channel { messages: Fifo::EMPTY, receives: Fifo::EMPTY };

    pub(super) fn is_empty(&self) -> bool {
        self.messages.first == NONE && self.receives.first == NONE
    }
}

/// A queue threaded through [`Pending::next`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Fifo {
    first: PendingId,
    last: PendingId,
}

impl Fifo {
    const EMPTY: Fifo = Fifo { first: NONE, last: NONE };

    pub(super) fn push(&mut self, pending: &mut [Pending], id: PendingId) {
        match self.last {
            NONE => self.first = id,
            last => pending[last as usize].next = id,
        }
        self.last = id;
    }

    pub(super) fn remove(&mut self, pending: &mut [Pending], id: PendingId) {
        let next = pending[id as usize].next;
        if self.first == id {
            self.first = next;
            if next == NONE {
                self.last = NONE;
            }
            return;
        }
        let mut before = self.first;
        while pending[before as usize].next != id {
            before = pending[before as usize].next;
        }
        pending[before as usize].next = next;
        if self.last == id {
            self.last = before;
        }
    }

    pub(super) fn iter(self, pending: &[Pending]) -> impl Iterator<Item = PendingId> + '_ {
        let step = |&id: &PendingId| Some(pending[id as usize].next).filter(|&next| next != NONE);
        std::iter::successors(Some(self.first).filter(|&id| id != NONE), step)
    }
}
