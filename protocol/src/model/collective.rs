//! Collective operations.

use super::{CommunicatorId, Data, OperationId, SharesId};

/// Which collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the MPI operation of its name")]
pub enum CollectiveKind {
    Barrier,
    Bcast,
    Scatter,
    Gather,
    AllGather,
    Reduce,
    AllReduce,
    AllToAll,
    /// `MPI_Win_fence`: a collective over the window's communicator.
    Fence,
    Gatherv,
    Scatterv,
    AllGatherv,
    AllToAllv,
    AllToAllw,
    Scan,
    Exscan,
    ReduceScatter,
    ReduceScatterBlock,
    NeighborAllGather,
    NeighborAllGatherv,
    NeighborAllToAll,
    NeighborAllToAllv,
    NeighborAllToAllw,
    /// `MPI_Comm_dup`, `_split`, `_create`, `MPI_Cart_create` and kin: makes a communicator.
    MakeCommunicator,
    /// `MPI_Win_create` and kin, `MPI_Win_free`.
    MakeWindow,
    /// `MPI_Comm_spawn` and kin.
    Spawn,
}

impl CollectiveKind {
    /// Its name in the protocol language.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::Barrier => "barrier",
            CollectiveKind::Bcast => "bcast",
            CollectiveKind::Scatter => "scatter",
            CollectiveKind::Gather => "gather",
            CollectiveKind::AllGather => "all_gather",
            CollectiveKind::Reduce => "reduce",
            CollectiveKind::AllReduce => "all_reduce",
            CollectiveKind::AllToAll => "all_to_all",
            CollectiveKind::Fence => "fence",
            CollectiveKind::Gatherv => "gather_varcount",
            CollectiveKind::Scatterv => "scatter_varcount",
            CollectiveKind::AllGatherv => "all_gather_varcount",
            CollectiveKind::AllToAllv => "all_to_all_varcount",
            CollectiveKind::AllToAllw => "alltoallw",
            CollectiveKind::Scan => "scan",
            CollectiveKind::Exscan => "exclusive_scan",
            CollectiveKind::ReduceScatter => "reduce_scatter",
            CollectiveKind::ReduceScatterBlock => "reduce_scatter_block",
            CollectiveKind::NeighborAllGather => "neighbor_allgather",
            CollectiveKind::NeighborAllGatherv => "neighbor_allgatherv",
            CollectiveKind::NeighborAllToAll => "neighbor_alltoall",
            CollectiveKind::NeighborAllToAllv => "neighbor_alltoallv",
            CollectiveKind::NeighborAllToAllw => "neighbor_alltoallw",
            CollectiveKind::MakeCommunicator => "make_communicator",
            CollectiveKind::MakeWindow => "make_window",
            CollectiveKind::Spawn => "spawn",
        }
    }
}

/// A collective operation as one rank calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collective {
    /// Which operation.
    pub kind: CollectiveKind,
    /// On which communicator.
    pub communicator: CommunicatorId,
    /// The root, for the rooted ones.
    pub root: Option<i32>,
    /// What this rank contributes, or receives if it contributes nothing; of scatter and all-to-all
    /// the part for one rank.
    pub data: Option<Data>,
    /// What it has room for besides: in gathers and all-to-all, from one rank.
    pub room: Option<Data>,
    /// What the data are combined with, as an index into
    /// [`World::operations`](super::World::operations), where that is known.
    pub operation: Option<OperationId>,
    /// The counts for each rank, as an index into [`World::shares`](super::World::shares), where the
    /// operation takes them and they are known.
    pub shares: Option<SharesId>,
}

impl Collective {
    /// An operation without a root, of which nothing else is known.
    pub fn of(kind: CollectiveKind, communicator: CommunicatorId) -> Self {
        let (root, data, room, operation, shares) = (None, None, None, None, None);
        Collective { kind, communicator, root, data, room, operation, shares }
    }
}
