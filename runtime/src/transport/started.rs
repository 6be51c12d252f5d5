//! Operations that were started: what is left of them to wait for.

use std::sync::Arc;

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
    /// In one of this rank's requests.
    #[cfg(feature = "mpi")]
    Request(usize),
}

/// A posted receive's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveId(pub(super) usize);

/// One or the other.
pub(crate) enum Pending {
    Send(Sent),
    Receive(ReceiveId),
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
