//! Operations that were started: what is left of them to wait for.

use std::sync::Arc;

#[cfg(feature = "mpi")]
use super::mpi::{Persistent, QuickReceive, QuickSend};
use super::threads::Loan;

/// A send that was started.
pub(crate) struct Sent {
    pub(crate) peer: usize,
    /// Whether buffering its message would be all that it needs.
    pub(crate) standard: bool,
    pub(super) receipt: Receipt,
}

/// Where a send hears that it is complete.
pub(super) enum Receipt {
    /// It is.
    Complete,
    /// In what it shares with the receiver's thread.
    Lent(Arc<Loan>),
    /// In a request that is its own.
    #[cfg(feature = "mpi")]
    Quick(QuickSend),
    /// In one that its rank looks after.
    #[cfg(feature = "mpi")]
    Request(usize),
}

/// A receive that was posted.
pub(crate) enum Posted {
    /// Its rank looks after it.
    Numbered(ReceiveId),
    /// It has a request of its own.
    #[cfg(feature = "mpi")]
    Quick(QuickReceive),
}

impl Posted {
    /// The number of one that its rank looks after, as all do where ranks are threads.
    pub(super) fn id(&self) -> ReceiveId {
        match self {
            Posted::Numbered(id) => *id,
            #[cfg(feature = "mpi")]
            Posted::Quick(_) => unreachable!("only MPI has requests"),
        }
    }
}

/// What a transport keeps of a plan from start to start; threads keep nothing.
#[derive(Default)]
pub(crate) struct Planned {
    #[cfg(feature = "mpi")]
    pub(super) persistent: Persistent,
}

/// A posted receive's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveId(pub(super) usize);

/// One or the other.
pub(crate) enum Pending {
    Send(Sent),
    Receive(Posted),
}

/// How many of some operations have to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enough {
    One,
    All,
}

impl Enough {
    /// Whether `complete` of `all` are enough.
    #[inline]
    pub(super) fn is_reached(self, complete: usize, all: usize) -> bool {
        match self {
            Enough::One => complete > 0,
            Enough::All => complete == all,
        }
    }
}

/// Where what was started is kept. A transport hands it over as the last thing that it does, so
/// that it is written once, to where it stays: a window of small messages is as fast as what is
/// written for each.
pub(crate) trait Keep<T> {
    /// What becomes of it.
    type Kept;
    /// Keeps it.
    fn keep(self, started: T) -> Self::Kept;
}

/// Hands it on as it is.
pub(crate) struct AsItIs;

impl<T> Keep<T> for AsItIs {
    type Kept = T;
    #[inline(always)]
    fn keep(self, started: T) -> T {
        started
    }
}
