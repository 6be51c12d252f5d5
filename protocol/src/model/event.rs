//! One step of one rank, with all that a rule may ask about it.

use super::{
    CommunicatorId, DatatypeId, LabelId, MessageId, OperationId, Place, Position, Rank, RequestId,
    SharesId, SourceId,
};

/// One step of one rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What the rank does.
    pub action: Action,
    /// Where the program says so.
    pub place: Place,
}

/// How a send may return (MPI 4.0, 3.4 "Communication Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// May wait for its receive, or copy the message and return.
    Standard,
    /// Returns only when the receive has started.
    Synchronous,
    /// Copies the message into the sender's own buffer and returns.
    Buffered,
    /// Like standard, and wrong unless the receive is already posted.
    Ready,
}

/// The other end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// This rank; it may lie outside the world, which is `peer-out-of-range`.
    Rank(i32),
    /// Whoever comes first out of `first..end`; only where messages are received or probed.
    Any {
        /// The lowest rank accepted.
        first: Rank,
        /// One past the highest rank accepted.
        end: Rank,
    },
    /// The rank that an earlier wildcard receive or probe has met.
    Source(SourceId),
    /// A rank that the communicator does not have, as it counts its own ranks: also
    /// `peer-out-of-range`. A communicator of some ranks has no name for it in the world's counting.
    Outside(i32),
    /// `MPI_PROC_NULL`: the operation completes at once and moves nothing.
    Null,
}

/// The tag of a send (always exact), or what a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// This tag alone.
    Exact(i32),
    /// `MPI_ANY_TAG`.
    Any,
}

impl Tag {
    /// A tag that nobody knows before the job runs, and that is the same wherever it comes from
    /// the same values, is one of these numbers: each stands for one such tag.
    pub const UNKNOWN: std::ops::RangeInclusive<i32> = i32::MIN..=-1_000_000_000;

    /// The number, where there is one and it is known.
    pub fn number(self) -> Option<i32> {
        match self {
            Tag::Exact(number) if !Tag::UNKNOWN.contains(&number) => Some(number),
            _ => None,
        }
    }
}

/// What travels, or what there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Data {
    /// The element type, as an index into [`World::datatypes`](super::World::datatypes); one that
    /// is not known agrees with every other.
    pub datatype: Option<DatatypeId>,
    /// How many elements, where it is known: what is sent, or the most that can be received.
    pub count: Option<u64>,
    /// The message's name in the source, where it has one.
    pub message: Option<MessageId>,
    /// The decision that this message announces, where it is one.
    pub label: Option<LabelId>,
    /// The memory it is taken from or put into, where that is known.
    pub buffer: Option<Buffer>,
}

/// A piece of one rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Which allocation of the rank: two buffers can only overlap within one.
    pub object: u32,
    /// The first byte, counted from the start of the allocation.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Buffer {
    /// Whether both have a byte in common.
    pub fn overlaps(&self, other: &Buffer) -> bool {
        self.object == other.object && self.start < other.end && other.start < self.end
    }
}

/// How a rank leaves before its last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Departure {
    /// It returns from `main` early; it has ended like any other rank.
    Returned,
    /// It panics or fails an assertion, which unwinds into `MPI_Finalize`: it does not come back.
    Panicked,
    /// The process exits.
    Exited,
    /// `MPI_Abort`: every rank is ended, and none waits any longer.
    Aborted,
}

/// All by which a message finds its receive, and what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// The other end.
    pub peer: Peer,
    /// The tag sent or accepted.
    pub tag: Tag,
    /// The communicator. Messages never cross from one to another.
    pub communicator: CommunicatorId,
    /// The data.
    pub data: Data,
}

/// A branch: under which label, and where it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arm {
    /// The decision that leads here.
    pub label: LabelId,
    /// Where the behaviour goes on.
    pub target: Position,
}

/// How many of a list of requests an operation waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// All of them.
    All,
    /// One; inactive requests are passed over. With targets, the behaviour goes on at the target
    /// of the request that completed (same order as the requests), otherwise at the next event.
    Any(Option<Box<[Position]>>),
    /// All that are complete, and at least one.
    Some,
}

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

/// What a rank does in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A blocking send.
    Send {
        /// When it may return.
        mode: Mode,
        /// What and to whom.
        envelope: Envelope,
    },
    /// A blocking receive.
    Receive {
        /// What and from whom.
        envelope: Envelope,
        /// The slot that keeps who it was, for later steps.
        binds: Option<SourceId>,
    },
    /// `MPI_Sendrecv`: both at once, returns when both are done.
    SendReceive {
        /// The send half.
        send: Box<Envelope>,
        /// The receive half.
        receive: Box<Envelope>,
    },
    /// A non-blocking send.
    StartSend {
        /// When it may complete.
        mode: Mode,
        /// What and to whom.
        envelope: Envelope,
        /// The request that it starts.
        request: RequestId,
    },
    /// A non-blocking receive.
    StartReceive {
        /// What and from whom.
        envelope: Envelope,
        /// The request that it starts.
        request: RequestId,
        /// The slot that keeps who it was, once it has completed.
        binds: Option<SourceId>,
    },
    /// `MPI_Send_init`: binds a persistent request and leaves it inactive.
    PlanSend {
        /// When it may complete, once started.
        mode: Mode,
        /// What and to whom.
        envelope: Envelope,
        /// The request that it makes.
        request: RequestId,
    },
    /// `MPI_Recv_init`: binds a persistent request and leaves it inactive.
    PlanReceive {
        /// What and from whom.
        envelope: Envelope,
        /// The request that it makes.
        request: RequestId,
    },
    /// `MPI_Start` and `MPI_Startall`, in this order.
    Start {
        /// Persistent requests made by a plan.
        requests: Box<[RequestId]>,
    },
    /// `MPI_Wait`, `Waitall`, `Waitany`, `Waitsome`. Inactive requests count as complete and are
    /// never the one that "any" returns; where all are inactive it returns at once, and a
    /// `Completion::Any` with targets goes on at the next event.
    Wait {
        /// What it waits for.
        requests: Box<[RequestId]>,
        /// How many of them.
        completion: Completion,
    },
    /// `MPI_Test`: goes on at the next event if the request is complete (and completes it), else
    /// at `pending`.
    Test {
        /// What it asks about.
        request: RequestId,
        /// Where the behaviour goes on while the request is not complete.
        pending: Position,
    },
    /// `MPI_Probe`: waits until a message could be received, and leaves it there.
    Probe {
        /// What and from whom.
        envelope: Envelope,
        /// The slot that keeps who it was, where the program asks: for the source, the tag, or how
        /// long the message is.
        binds: Option<SourceId>,
    },
    /// A collective operation.
    Collective(Collective),
    /// `MPI_Put`: local until the next fence.
    Put {
        /// To whom.
        envelope: Envelope,
    },
    /// `MPI_Get`: local until the next fence.
    Get {
        /// From whom.
        envelope: Envelope,
    },
    /// This rank decides, in a way that nobody can foresee, how it goes on. The messages that tell
    /// others follow in each arm as ordinary sends with the arm's label.
    Choose {
        /// The ways to go on.
        arms: Box<[Arm]>,
    },
    /// Receives a message that announces a decision and goes on at the arm of its label.
    Offer {
        /// From whom; its `data.label` is `None`.
        envelope: Envelope,
        /// The ways to go on.
        arms: Box<[Arm]>,
    },
    /// Goes on elsewhere. A loop's end jumps to its head.
    Jump {
        /// Where.
        target: Position,
    },
    /// A non-blocking collective: entered at once; the request completes when a blocking one would
    /// return.
    StartCollective {
        /// Which.
        collective: Collective,
        /// The request that it starts.
        request: RequestId,
    },
    /// `MPI_Cancel`: the operation may be undone; the request still wants its wait.
    Cancel {
        /// Which.
        request: RequestId,
    },
    /// `MPI_Request_free`: nobody will wait for it; the operation goes on.
    Free {
        /// Which.
        request: RequestId,
    },
    /// The program touches memory that belongs to operations which may still be active.
    Access {
        /// The requests of these operations.
        requests: Box<[RequestId]>,
        /// Whether it writes there.
        writes: bool,
    },
    /// `MPI_Buffer_attach`.
    AttachBuffer {
        /// How much, where it is known.
        bytes: Option<u64>,
    },
    /// `MPI_Buffer_detach`: returns when everything in the buffer has been delivered.
    DetachBuffer,
    /// Goes on at any of these, by data that nobody knows before the job runs. Which ways two ranks
    /// take may belong together, so only what is wrong whichever ways are taken is wrong.
    Branch {
        /// The ways to go on.
        targets: Box<[Position]>,
    },
    /// Goes on by the tag of the message that a slot was last bound to.
    BranchOnTag {
        /// The slot.
        slot: SourceId,
        /// The tags, each with where it leads.
        arms: Box<[(i32, Position)]>,
        /// Where any other tag leads.
        otherwise: Position,
    },
    /// The rank leaves here.
    Leave {
        /// How.
        departure: Departure,
    },
    /// From here on nothing is known of this rank: it may send, receive and enter anything. What
    /// others wait for may come from it, and nothing is wrong that it could put right.
    Opaque,
}

impl Action {
    /// The collective that it enters, blocking or not.
    pub fn collective(&self) -> Option<&Collective> {
        match self {
            Action::Collective(collective) | Action::StartCollective { collective, .. } => {
                Some(collective)
            }
            _ => None,
        }
    }
}
