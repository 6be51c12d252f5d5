//! The things of MPI that a program holds in variables.

use std::rc::Rc;

use p2p_protocol::model::{Data, Departure, RequestId, SourceId};

use super::value::{Content, Path, Value};
use crate::program::{Place, Type};

/// Something of MPI.
#[derive(Clone, Debug)]
pub enum Handle {
    /// `Universe`.
    Universe,
    /// A communicator.
    Communicator(Rc<Communicator>),
    /// A process of a communicator, or any process of it.
    Process {
        /// The communicator.
        communicator: Rc<Communicator>,
        /// Its rank there; `None` for any process. May be a known number outside of it.
        rank: Option<Content>,
        /// The slot that keeps the rank, where it is that of a message's source.
        source: Option<SourceId>,
    },
    /// A group.
    Group(Rc<Group>),
    /// `Status`, with the slot that keeps source and tag.
    Status {
        /// The slot.
        slot: Option<SourceId>,
        /// The rank it comes from, where it is known.
        source: Option<i32>,
        /// The tag, where it is known.
        tag: Option<i32>,
        /// How many elements, where it is known.
        count: Option<u64>,
    },
    /// A request.
    Request(Request),
    /// `WaitGuard`, `CancelGuard`: completes the request when it is dropped.
    Guard {
        /// The request.
        request: Request,
        /// Whether it cancels first.
        cancels: bool,
    },
    /// `LocalScope`, `StaticScope`.
    Scope,
    /// `RequestCollection`: its requests are kept in a sequence of their own.
    Collection(Path),
    /// `ReceiveFuture`.
    Future(Request, Type),
    /// A message that a matched probe has taken out of the queue, with the slot of its source.
    Message {
        /// All by which it was found.
        envelope: Box<p2p_protocol::model::Envelope>,
        /// The slot that keeps source and tag.
        slot: SourceId,
        /// Where it was probed.
        place: Place,
    },
    /// A datatype: `f64::equivalent_datatype()`, `UserDatatype::contiguous(..)`.
    Datatype(Rc<Datatype>),
    /// `View`, `MutView`, `Partition`, `PartitionMut`, `DynBuffer`: memory with a datatype of its own.
    View {
        /// The memory.
        of: Box<Value>,
        /// How many elements of the datatype, where it is known.
        count: Option<u64>,
        /// The datatype, where it is known.
        datatype: Option<Rc<Datatype>>,
    },
    /// `SystemOperation::sum()`, `UserOperation`: the name, where there is one.
    Operation(Option<Rc<str>>),
    /// `Color`: `None` is undefined.
    Color(Option<Content>),
    /// A raw handle, or anything else of MPI that nothing is known of.
    Other(&'static str),
}

/// A communicator as one rank holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Communicator {
    /// Its index in the world's communicators; `None` where it is not known which ranks it has: what
    /// happens there is not understood, and touches nothing else.
    pub known: Option<KnownCommunicator>,
    /// Its name in the source.
    pub name: Rc<str>,
}

/// A communicator whose ranks are known.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownCommunicator {
    /// Its index in the world's communicators.
    pub id: u16,
    /// The world's ranks of its members, in order.
    pub members: Rc<[u32]>,
    /// This rank's rank in it.
    pub rank: u32,
    /// Its grid, where it has one.
    pub grid: Option<Rc<Grid>>,
}

/// A Cartesian grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// How many ranks in each dimension.
    pub dimensions: Vec<u32>,
    /// Whether each dimension closes to a ring.
    pub periodic: Vec<bool>,
}

/// A group: the world's ranks in order, where they are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its members.
    pub members: Option<Rc<[u32]>>,
}

/// A request that was started.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its slot in the rank's behaviour; `None` if what it started was not understood.
    pub id: Option<RequestId>,
    /// Where it was started.
    pub place: Place,
    /// Whether it receives.
    pub receives: bool,
    /// What it sends from or receives into.
    pub data: Option<Data>,
    /// The memory that it uses.
    pub buffer: Option<Path>,
    /// The slot that is bound when it completes.
    pub slot: Option<SourceId>,
}

/// A datatype that is built at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Datatype {
    /// The scalars that one element is made of, in order, where they are known.
    pub signature: Option<Rc<[crate::program::Scalar]>>,
}

/// How a run of one rank can end before its last statement, for the evaluation.
pub type Ending = Departure;
