//! The things of MPI that a program holds in variables.
//!
//! What they do is in [`super::library::mpi`]; here is only what they know.

use std::rc::Rc;

use p2p_protocol::model::{Buffer, HandleId, HandleKind, Peer, RequestId, SourceId, Tag, WindowId};

use super::alike::{Number, name_peer};
pub(super) use super::grid::Grid;
pub(super) use super::library::mpi::layout::Layout;
pub(super) use super::library::mpi::signature::Signature;
use super::value::{Content, Path, Value};
use crate::program::{Place, Type};

/// Something of MPI.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    /// `Universe`.
    Universe,
    /// A communicator.
    Communicator(Rc<Communicator>),
    /// A process of a communicator, or any process of it.
    Process(Process),
    /// A group.
    Group(Group),
    /// `Status`.
    Status(Status),
    /// A request.
    Request(Box<Request>),
    /// `WaitGuard`, `CancelGuard`: completes the request when it is dropped.
    Guard {
        /// The request.
        request: Box<Request>,
        /// Whether it cancels first.
        cancels: bool,
    },
    /// `LocalScope`, `StaticScope`.
    Scope,
    /// `RequestCollection`: where its requests are kept.
    Collection(Path),
    /// The requests that a collection keeps.
    Requests(Requests),
    /// `ReceiveFuture`, with the type of what it receives.
    Future(Box<Request>, Type),
    /// A message that a matched probe has found.
    Message(Box<Message>),
    /// A datatype: `f64::equivalent_datatype()`, `UserDatatype::contiguous(..)`.
    Datatype(Datatype),
    /// `View`, `MutView`, `DynBuffer`, `DynBufferMut`: memory, with a datatype of its own and how
    /// many of it where it has one.
    View {
        /// The memory.
        of: Box<Value>,
        /// How many elements, where that is known, of which datatype.
        layout: Option<Box<(Option<u64>, Datatype)>>,
    },
    /// `Partition`, `PartitionMut`: memory, and how many elements of it belong to each rank.
    Partition {
        /// The memory.
        of: Box<Value>,
        /// How many for each rank, where that is known.
        counts: Option<Rc<[Option<u64>]>>,
    },
    /// `SystemOperation::sum()`, `UserOperation`: the name, where there is one.
    Operation(Option<Rc<str>>),
    /// `Color`: `None` is undefined.
    Color(Option<Content>),
    /// A window.
    Window(Rc<Window>),
    /// What is only made and freed: info objects, error handlers, operations of the program's own.
    Object(HandleKind, Option<HandleId>),
    /// The null handle of a kind: `MPI_COMM_NULL`.
    Null(HandleKind),
    /// A value of MPI that stands for no object, such as `MPI_IN_PLACE`, or a raw handle of which
    /// nothing is known: what it is called.
    Other(&'static str),
}

/// A communicator as one rank holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Communicator {
    /// Which one; `None` where it is not known which ranks it has: what happens there is not
    /// understood, and touches nothing else.
    pub known: Option<KnownCommunicator>,
    /// Its name in reports: `world`.
    pub name: Rc<str>,
    /// Which of the rank's objects it is, where the program has to free it.
    pub made: Option<HandleId>,
}

/// A communicator whose ranks are known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KnownCommunicator {
    /// Its index in the world's communicators.
    pub id: u16,
    /// The world's ranks of its members, in order.
    pub members: Members,
    /// This rank's rank in it.
    pub rank: Number,
    /// Its grid, where it has one.
    pub grid: Option<Rc<Grid>>,
    /// The rank's neighbours, where it has a graph: by their ranks in it.
    pub neighbors: Option<Rc<Neighbors>>,
    /// The world's ranks of the other group, of an inter-communicator.
    pub remote: Option<Rc<[u32]>>,
}

/// Whom a rank has edges with in a graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Neighbors {
    /// Those that it receives from.
    pub sources: Vec<u32>,
    /// Those that it sends to.
    pub destinations: Vec<u32>,
    /// Whether one list stands for both, and nothing is weighted (`MPI_Graph_create`).
    pub is_graph: bool,
}

/// Memory of its ranks that the others of them can access.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Window {
    /// Its index in the world's windows.
    pub id: WindowId,
    /// Which of the rank's objects it is.
    pub made: HandleId,
    /// The communicator that it was made on.
    pub communicator: Rc<Communicator>,
    /// This rank's memory in it, where that is known.
    pub memory: Option<Path>,
    /// How many bytes one unit of a displacement has here, where that is known.
    pub unit: Option<u64>,
    /// What its ranks have told of their parts.
    pub parts: Rc<[WindowPart]>,
}

/// One rank's part of a window, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct WindowPart {
    /// How many bytes it has.
    pub bytes: Option<u64>,
    /// How many bytes one unit of a displacement has.
    pub unit: Option<u64>,
}

/// The world's ranks of a communicator's members, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Members {
    each: Rc<[u32]>,
    size: Number,
    /// They are all ranks of the world, of which there may be another number elsewhere.
    are_all: bool,
}

impl Members {
    /// All ranks of a world.
    pub(super) fn of_world(size: Number) -> Members {
        let each = (0..u32::try_from(size.here()).unwrap_or(u32::MAX)).collect();
        Members { each, size, are_all: true }
    }

    /// Each of them, which the run goes on by.
    pub(super) fn each(&self) -> &Rc<[u32]> {
        _ = self.size.get();
        &self.each
    }

    /// How many there are.
    pub(super) fn size(&self) -> Number {
        self.size
    }

    /// The one at a place, if there is one.
    fn get(&self, place: Number) -> Option<Number> {
        if self.are_all {
            return place.with(self.size, |rank, size| (0..size).contains(&rank).then_some(rank));
        }
        let member = |place| self.each.get(usize::try_from(place).ok()?);
        place.map(|place| member(place).map(|member| i128::from(*member)))
    }
}

impl From<Rc<[u32]>> for Members {
    fn from(each: Rc<[u32]>) -> Self {
        Members { size: (each.len() as i128).into(), each, are_all: false }
    }
}

/// A process of a communicator, or any process of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Process {
    /// The communicator.
    pub communicator: Rc<Communicator>,
    /// Its rank there; `None` for any process.
    pub rank: Option<Content>,
    /// The slot that keeps the rank, where it is that of a message's source.
    pub source: Option<SourceId>,
}

/// A group: the world's ranks in order, where they are known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// Its members.
    pub members: Option<Rc<[u32]>>,
    /// Which of the rank's objects it is, where the program has to free it.
    pub made: Option<HandleId>,
}

/// What a receive or a probe has told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Status {
    /// The slot that keeps source and tag, where not both are known.
    pub slot: Option<SourceId>,
    /// The communicator; ranks are those of it.
    pub communicator: Option<Rc<Communicator>>,
    /// The rank it comes from, where it is known.
    pub source: Option<Number>,
    /// The tag, where it is known.
    pub tag: Option<i32>,
}

/// A message that a matched probe has found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// The communicator.
    pub communicator: Rc<Communicator>,
    /// Who sent it.
    pub peer: Peer,
    /// The tag that was asked for.
    pub tag: Tag,
    /// What the probe has told.
    pub status: Status,
    /// Where it was probed.
    pub place: Place,
}

/// A request that was started.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Its slot in the rank's behaviour; `None` if what it started was not understood, or if it is
    /// complete already.
    pub id: Option<RequestId>,
    /// The requests of which some are complete, this one or another: those that a wait for any of
    /// them was given.
    pub pool: Option<Rc<[RequestId]>>,
    /// Where it was started.
    pub place: Place,
    /// The memory that it uses.
    pub buffer: Option<Path>,
    /// The bytes that it uses, in C.
    pub pieces: Rc<[Buffer]>,
    /// What is where, once it is complete.
    pub arrives: Option<Rc<(Path, Value)>>,
    /// What its completion tells.
    pub status: Status,
    /// It was planned (`MPI_Send_init`, `MPI_Recv_init`; MPI 4.0, 3.9): a wait ends what was started
    /// last, and the request stays.
    pub persistent: bool,
}

/// The requests of a `RequestCollection`, of which there may be many: a copy shares them until it is
/// changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    /// All that were added, in order.
    pub each: Rc<Vec<Request>>,
    /// So many of them, from the first one on, are complete.
    pub complete: usize,
    /// So many of the others are complete as well, and nobody knows which.
    pub told: usize,
}

/// A datatype.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Datatype {
    /// What one element is made of, where it is known.
    pub signature: Option<Signature>,
    /// How one element lies in memory, where it is known.
    pub layout: Option<Rc<Layout>>,
    /// Which of the rank's objects it is, where the program has to free it.
    pub made: Option<HandleId>,
}

impl Datatype {
    /// One of which only the signature is known.
    pub(super) fn of(signature: Option<Signature>) -> Datatype {
        Datatype { signature, layout: None, made: None }
    }
}

impl Handle {
    /// Whether both are the same thing in the same state, so that they need not be told apart
    /// where two ways of evaluation meet.
    pub(super) fn is_same(&self, other: &Handle) -> bool {
        match (self, other) {
            (Handle::Universe, Handle::Universe) | (Handle::Scope, Handle::Scope) => true,
            (Handle::Communicator(one), Handle::Communicator(two)) => one == two,
            (Handle::Process(one), Handle::Process(two)) => one == two,
            (Handle::Group(one), Handle::Group(two)) => one == two,
            (Handle::Status(one), Handle::Status(two)) => one == two,
            (Handle::Request(one), Handle::Request(two)) => one.is_same(two),
            (Handle::Future(one, _), Handle::Future(two, _)) => one.is_same(two),
            (
                Handle::Guard { request: one, cancels: first },
                Handle::Guard { request: two, cancels: second },
            ) => one.is_same(two) && first == second,
            (Handle::Collection(one), Handle::Collection(two)) => one == two,
            (Handle::Requests(one), Handle::Requests(two)) => one.is_same(two),
            (Handle::Message(one), Handle::Message(two)) => one == two,
            (Handle::Datatype(one), Handle::Datatype(two)) => one == two,
            (Handle::Operation(one), Handle::Operation(two)) => one == two,
            (Handle::Color(one), Handle::Color(two)) => one == two,
            (Handle::Window(one), Handle::Window(two)) => one == two,
            (Handle::Object(one, first), Handle::Object(two, second)) => {
                one == two && first == second
            }
            (Handle::Null(one), Handle::Null(two)) => one == two,
            (Handle::Other(one), Handle::Other(two)) => one == two,
            _ => false,
        }
    }

    /// Whether both are known to be different things.
    pub(super) fn differs(&self, other: &Handle) -> bool {
        match (self, other) {
            (Handle::Null(_), Handle::Null(_)) => false,
            (Handle::Null(_), other) | (other, Handle::Null(_)) => match other {
                Handle::Communicator(communicator) => communicator.known.is_some(),
                Handle::Request(_)
                | Handle::Datatype(_)
                | Handle::Group(_)
                | Handle::Message(_)
                | Handle::Operation(_)
                | Handle::Window(_)
                | Handle::Object(..) => true,
                _ => false,
            },
            (Handle::Communicator(one), Handle::Communicator(two)) => {
                let id = |it: &Communicator| it.known.as_ref().map(|known| known.id);
                id(one).zip(id(two)).is_some_and(|(one, two)| one != two)
            }
            _ => false,
        }
    }
}

impl Request {
    /// One of an operation that was started, not yet known what it receives and where.
    pub(super) fn started(id: RequestId, place: Place, buffer: Option<Path>) -> Request {
        Request {
            id: Some(id),
            pool: None,
            place,
            buffer,
            pieces: Rc::new([]),
            arrives: None,
            status: Status::NOTHING_TOLD,
            persistent: false,
        }
    }

    fn is_same(&self, other: &Request) -> bool {
        self.id == other.id && self.pool == other.pool && self.place == other.place
    }
}

impl Requests {
    /// Those that may still be going on, in order.
    pub(super) fn active(&self) -> &[Request] {
        &self.each[self.complete..]
    }

    /// How many are going on.
    pub(super) fn incomplete(&self) -> usize {
        self.active().len().saturating_sub(self.told)
    }

    /// Whether both are the same requests in the same state.
    pub(super) fn is_same(&self, other: &Requests) -> bool {
        let same = (self.complete, self.told) == (other.complete, other.told);
        let all_same = || self.each.iter().zip(&*other.each).all(|(one, two)| one.is_same(two));
        same && (Rc::ptr_eq(&self.each, &other.each)
            || self.each.len() == other.each.len() && all_same())
    }
}

impl Status {
    /// The status of nothing in particular.
    pub(super) const NOTHING_TOLD: Status =
        Status { slot: None, communicator: None, source: None, tag: None };
}

impl Communicator {
    /// One of which nothing is known but what it is called.
    pub(super) fn unknown(name: impl Into<Rc<str>>) -> Rc<Communicator> {
        Rc::new(Communicator { known: None, name: name.into(), made: None })
    }
}

impl KnownCommunicator {
    /// How many ranks it has, which the run goes on by.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.members.size().get()).expect("a world has fewer than 2^32 ranks")
    }

    /// The rank of the world that has this rank here.
    pub(super) fn member(&self, rank: Number) -> Option<Number> {
        self.members.get(rank)
    }

    /// The rank of the world that a message to or from this rank goes to or comes from: in an
    /// inter-communicator one of the other group.
    fn end(&self, rank: Number) -> Option<Number> {
        match &self.remote {
            Some(remote) => Members::from(remote.clone()).get(rank),
            None => self.member(rank),
        }
    }

    /// Who has this rank here, as the other end of a message.
    pub(super) fn peer(&self, rank: Number) -> Peer {
        match self.end(rank).and_then(name_peer) {
            Some(peer) => Peer::Rank(peer),
            None => Peer::Outside(i32::try_from(rank.get()).unwrap_or(i32::MAX)),
        }
    }

    /// This rank's rank in it, which the run goes on by.
    pub(super) fn rank(&self) -> u32 {
        u32::try_from(self.rank.get()).expect("a communicator has fewer than 2^32 ranks")
    }
}
