//! One-sided communication (MPI 4.0, chapter 12): epochs of a window, and what is accessed in them.

use super::{Buffer, OperationId, Peer, RequestId, WindowId};

/// One step on a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OneSided {
    /// The window.
    pub window: WindowId,
    /// What is done.
    pub step: WindowStep,
}

/// What a rank does with a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WindowStep {
    /// The window was made. A collective of kind `MakeWindow` stands before it.
    Made {
        /// The rank's own memory in it, where it is known.
        memory: Option<Buffer>,
    },
    /// The window is freed. A collective of kind `MakeWindow` stands behind it.
    Freed,
    /// `MPI_Win_fence`: ends what went before and begins what comes. Behind it stands a
    /// collective of kind `Fence`, which meets the other ranks.
    Fence {
        /// `MPI_MODE_NOPRECEDE`: there is nothing before it.
        no_precede: bool,
        /// `MPI_MODE_NOSUCCEED`: nothing comes behind it.
        no_succeed: bool,
        /// `MPI_MODE_NOSTORE`, `MPI_MODE_NOPUT` or another promise that is not looked at.
        others: bool,
    },
    /// `MPI_Win_lock`.
    Lock {
        /// Whose part of the window.
        target: Peer,
        /// `MPI_LOCK_EXCLUSIVE`.
        exclusive: bool,
    },
    /// `MPI_Win_lock_all`.
    LockAll,
    /// `MPI_Win_unlock`.
    Unlock {
        /// Whose part of the window.
        target: Peer,
    },
    /// `MPI_Win_unlock_all`.
    UnlockAll,
    /// `MPI_Win_flush`, `_all`, `_local`, `_local_all`.
    Flush {
        /// Whose part of the window; `None`: everybody's.
        target: Option<Peer>,
        /// Whether only the memory at this rank is done with.
        local: bool,
    },
    /// `MPI_Win_sync`.
    Sync,
    /// `MPI_Win_start`: an access epoch to these ranks; `None`: nobody knows which.
    Start {
        /// The ranks of the world, each as [`Peer::Rank`].
        group: Option<Box<[Peer]>>,
    },
    /// `MPI_Win_complete`.
    Complete,
    /// `MPI_Win_post`: an exposure epoch for these ranks; `None`: nobody knows which.
    Post {
        /// The ranks of the world, each as [`Peer::Rank`].
        group: Option<Box<[Peer]>>,
    },
    /// `MPI_Win_wait`, and a successful `MPI_Win_test`.
    Wait,
    /// `MPI_Put`, `MPI_Get`, `MPI_Accumulate` and kin.
    Access(WindowAccess),
    /// The program itself reads or writes its own memory in the window.
    Local {
        /// Whether it writes.
        writes: bool,
        /// Which bytes of its part of the window, where they are known.
        range: Option<WindowRange>,
    },
    /// Something was done with the window that is not understood: nothing is known of its epochs any
    /// more.
    Unknown,
}

/// Bytes of one rank's part of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowRange {
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl WindowRange {
    /// Whether both have a byte in common.
    pub fn overlaps(&self, other: &WindowRange) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Which one-sided operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the MPI operation of its name")]
pub enum AccessKind {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
}

impl AccessKind {
    /// Its name in C.
    pub fn name(self, requested: bool) -> &'static str {
        match (self, requested) {
            (AccessKind::Put, false) => "MPI_Put",
            (AccessKind::Get, false) => "MPI_Get",
            (AccessKind::Accumulate, false) => "MPI_Accumulate",
            (AccessKind::GetAccumulate, false) => "MPI_Get_accumulate",
            (AccessKind::Put, true) => "MPI_Rput",
            (AccessKind::Get, true) => "MPI_Rget",
            (AccessKind::Accumulate, true) => "MPI_Raccumulate",
            (AccessKind::GetAccumulate, true) => "MPI_Rget_accumulate",
            (AccessKind::FetchAndOp, _) => "MPI_Fetch_and_op",
            (AccessKind::CompareAndSwap, _) => "MPI_Compare_and_swap",
        }
    }

    /// Whether it changes the target's memory.
    pub fn writes(self) -> bool {
        self != AccessKind::Get
    }

    /// Whether something comes back into the rank's own memory.
    pub fn returns(self) -> bool {
        !matches!(self, AccessKind::Put | AccessKind::Accumulate)
    }

    /// Whether it is one step to the target's memory, element by element, as accumulates are.
    pub fn is_atomic(self) -> bool {
        !matches!(self, AccessKind::Put | AccessKind::Get)
    }
}

/// An access of another rank's part of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowAccess {
    /// Which operation.
    pub kind: AccessKind,
    /// Whose part.
    pub target: Peer,
    /// Which bytes of it, where they are known.
    pub range: Option<WindowRange>,
    /// What accumulates combine with, where it is known; `MPI_REPLACE` and `MPI_NO_OP` included.
    pub operation: Option<OperationId>,
    /// The memory of this rank that it is taken from, where it is known.
    pub origin: Option<Buffer>,
    /// The memory of this rank that it comes back to, where it is known.
    pub result: Option<Buffer>,
    /// A request that is active as long as the memory of this rank belongs to the access.
    pub request: Option<RequestId>,
    /// Whether it is the program's own request, as of `MPI_Rput`. Of the others the front end makes one
    /// up, so that `Access` can name it, and completes it by a `Wait` where the access is done.
    pub requested: bool,
}
