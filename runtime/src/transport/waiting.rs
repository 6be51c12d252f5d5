//! In what a rank waits: what it says of itself before it sleeps, for the report on a hang.

use std::collections::VecDeque;

use super::message::Origin;
use crate::operation::Operation;

/// In what a rank waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) operation: &'static Operation,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// One half of a message.
    Message(Half),
    /// Both at once.
    SendReceive { send: Half, receive: Half },
    /// Requests: the halves that are not complete.
    Requests(Vec<Half>),
    /// A collective operation.
    Collective(Collective),
}

/// One end of a message that is not complete.
#[derive(Clone, Debug)]
pub(crate) struct Half {
    pub(crate) operation: &'static Operation,
    pub(crate) direction: Direction,
}

#[derive(Clone, Debug)]
pub(crate) enum Direction {
    /// To a rank; and whether it is a standard send, which would not wait if it was buffered.
    To(usize, bool),
    From(Origin),
}

/// A collective operation as one rank calls it: the ranks' `number`-th on a communicator of a
/// session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) session: u32,
    pub(crate) communicator: u16,
    pub(crate) number: u32,
    pub(crate) root: Option<usize>,
}

/// Which collective operations a rank has come to: for each session and communicator the last
/// number. Only as many as reports are likely to need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entered(VecDeque<(u32, u16, u32)>);

impl Entered {
    const REMEMBERED: usize = 64;

    pub(crate) fn note(&mut self, call: Collective) {
        let same = |&&mut (session, communicator, _): &&mut (u32, u16, u32)| {
            (session, communicator) == (call.session, call.communicator)
        };
        if let Some((_, _, number)) = self.0.iter_mut().find(same) {
            *number = call.number;
            return;
        }
        if self.0.len() == Self::REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((call.session, call.communicator, call.number));
    }

    /// Whether the rank has come to this call.
    pub(crate) fn has(&self, call: Collective) -> bool {
        self.0.iter().any(|&(session, communicator, number)| {
            (session, communicator) == (call.session, call.communicator) && number >= call.number
        })
    }

    /// Session, communicator and number of each.
    #[cfg(feature = "mpi")]
    pub(crate) fn calls(&self) -> impl Iterator<Item = (u32, u16, u32)> {
        self.0.iter().copied()
    }
}

#[cfg(feature = "mpi")]
impl FromIterator<(u32, u16, u32)> for Entered {
    fn from_iter<I: IntoIterator<Item = (u32, u16, u32)>>(calls: I) -> Self {
        Entered(calls.into_iter().collect())
    }
}

impl Half {
    pub(crate) fn to(operation: &'static Operation, peer: usize, standard: bool) -> Self {
        Half { operation, direction: Direction::To(peer, standard) }
    }

    pub(crate) fn from(operation: &'static Operation, source: &Origin) -> Self {
        Half { operation, direction: Direction::From(source.clone()) }
    }

    /// Whether it would be complete if messages were buffered.
    fn needs_only_buffering(&self) -> bool {
        matches!(self.direction, Direction::To(_, true))
    }

    /// The other end.
    pub(crate) fn peers(&self) -> std::ops::Range<usize> {
        match &self.direction {
            Direction::To(peer, _) => *peer..peer + 1,
            Direction::From(source) => source.ranks(),
        }
    }
}

impl What {
    /// Whether the rank would go on if messages were buffered.
    pub(crate) fn needs_only_buffering(&self) -> bool {
        match self {
            What::Message(half) => half.needs_only_buffering(),
            What::Requests(halves) => halves.iter().all(Half::needs_only_buffering),
            What::SendReceive { .. } | What::Collective(_) => false,
        }
    }

    /// Whether it is a send alone.
    pub(crate) fn sends(&self) -> bool {
        let sends = |half: &Half| matches!(half.direction, Direction::To(..));
        match self {
            What::Message(half) => sends(half),
            What::Requests(halves) => halves.iter().all(sends),
            What::SendReceive { .. } | What::Collective(_) => false,
        }
    }
}
