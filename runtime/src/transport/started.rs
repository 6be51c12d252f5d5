//! Operations that were started: what is left of them to wait for.

use std::ops::Range;
use std::sync::Arc;

#[cfg(feature = "mpi")]
use super::mpi::{Persistent, QuickReceive, QuickSend, Several};
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

/// Requests that are with MPI alone, by their place in a session's table; threads have none.
#[derive(Default)]
pub(crate) struct Alone {
    #[cfg(feature = "mpi")]
    pub(super) requests: Several,
}

/// What was started alone.
#[derive(Clone, Copy)]
pub(crate) enum Lone {
    /// A send to this rank, and as for `Sent`.
    Send {
        peer: usize,
        #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "there are none"))]
        standard: bool,
    },
    Receive,
}

#[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "there are none"))]
impl Alone {
    /// Makes so many places.
    pub(crate) fn grow(&mut self, places: usize) {
        #[cfg(feature = "mpi")]
        self.requests.grow(places);
    }

    /// Whether what was started at this place is complete, as far as was seen when it was last
    /// waited for.
    #[inline]
    pub(crate) fn is_complete(&self, place: usize) -> bool {
        #[cfg(feature = "mpi")]
        return self.requests.is_complete(place);
        #[cfg(not(feature = "mpi"))]
        unreachable!("{NONE}")
    }

    /// Whether nothing that was started at these places is complete.
    #[inline]
    pub(crate) fn are_waiting(&self, places: Range<usize>) -> bool {
        #[cfg(feature = "mpi")]
        return self.requests.are_waiting(places);
        #[cfg(not(feature = "mpi"))]
        false
    }

    /// Whence what was received at this place has come, and how many bytes it has.
    #[inline]
    pub(crate) fn arrival(&self, place: usize) -> (usize, usize) {
        #[cfg(feature = "mpi")]
        return self.requests.arrival(place);
        #[cfg(not(feature = "mpi"))]
        unreachable!("{NONE}")
    }

    /// Takes out what was started at this place, to be waited for together with others.
    #[cold]
    pub(crate) fn take(&mut self, lone: Lone, place: usize) -> Pending {
        #[cfg(feature = "mpi")]
        return self.requests.take(lone, place);
        #[cfg(not(feature = "mpi"))]
        unreachable!("{NONE}")
    }
}

#[cfg(not(feature = "mpi"))]
const NONE: &str = "only MPI has requests";
