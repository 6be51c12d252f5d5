//! One step of one rank, with all that a rule may ask about it.

use super::{
    Argument, CallId, Collective, Envelope, HandleId, HandleKind, LabelId, Mode, OneSided, Phase,
    Place, Position, RequestId, SourceId, TextId,
};

/// One step of one rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What the rank does.
    pub action: Action,
    /// Where the program says so.
    pub place: Place,
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
    /// The program touches memory that belongs to operations which may still be active. Of a
    /// collective, a read is only said of what it writes.
    Access {
        /// The requests of these operations.
        requests: Box<[RequestId]>,
        /// Whether it writes there.
        writes: bool,
    },
    /// Memory that belongs to operations which may still be active ceases to be: a function returns
    /// whose variable it was.
    Vanish {
        /// The requests of these operations.
        requests: Box<[RequestId]>,
    },
    /// The message of the receive before, which a slot was bound to, is read as one of another slot
    /// has told: it says how long the message is. Both are meant to be of one rank.
    Measured {
        /// The message that tells the length.
        told: SourceId,
        /// The message that has it.
        taken: SourceId,
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
    /// An argument of the call that follows is not what MPI asks for. Whether the job goes on behind
    /// the call is for later steps to say.
    Argument {
        /// The call.
        call: CallId,
        /// The parameter as the standard calls it, such as `sendcount`.
        parameter: TextId,
        /// What was handed over.
        argument: Argument,
    },
    /// An object of MPI comes to be, which the program has to free.
    Create {
        /// The call that makes it.
        call: CallId,
        /// What it is.
        kind: HandleKind,
        /// Its handle in this rank.
        handle: HandleId,
    },
    /// An object of MPI is freed.
    Release {
        /// Its handle in this rank.
        handle: HandleId,
    },
    /// The program overwrites, or loses, the only handle that it has of a request. If an operation is
    /// active under it, that goes on, and nobody can wait for it any more.
    Overwrite {
        /// Which.
        request: RequestId,
    },
    /// `MPI_Init` and `MPI_Init_thread`.
    Initialize,
    /// `MPI_Finalize`.
    Finalize,
    /// A call is made that MPI does not allow before its start or after its end.
    Outside {
        /// The call.
        call: CallId,
        /// When.
        phase: Phase,
    },
    /// The rank computes between its other steps, or may do so on other ranks or with other data. Said
    /// only where the world shows work ([`World::shows_work`](super::World::shows_work)).
    Compute {
        /// Of the requests that were completed in the steps right before, those whose memory is not
        /// touched until this is done, though it takes long.
        apart: Box<[RequestId]>,
    },
    /// A step of one-sided communication. It moves nothing in a run; what of it meets other ranks
    /// (fences, making and freeing windows) is a collective beside it.
    OneSided(Box<OneSided>),
}
