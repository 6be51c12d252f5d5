//! What calls are handed over besides messages: arguments that MPI does not take, objects that have to
//! be freed, calls outside of MPI's time.
//!
//! A front end says what was handed over, and only where it is not what most calls are handed over;
//! which of it is wrong is for the rules.

use super::{DatatypeId, OperationId, TextId};

/// An argument that is not what MPI asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A number of elements, of blocks or of bytes that is negative.
    Count(i64),
    /// A rank that the communicator or the group does not have, or a wildcard where none is allowed;
    /// the other ends of messages are in their envelopes.
    Rank(i32),
    /// The root of a collective that is no rank of its communicator.
    Root(i32),
    /// A handle of an object that is not there, or not ready.
    Handle {
        /// What the call asks for.
        kind: HandleKind,
        /// What is the matter with it.
        state: HandleState,
    },
    /// A null pointer where there is something to be read or written.
    NullBuffer,
    /// Memory of which the call uses more than there is.
    Room {
        /// How many bytes the call uses.
        needs: u64,
        /// How many bytes there are.
        has: u64,
    },
    /// Memory of one type, spoken of as of another.
    Elements {
        /// What the memory is made of.
        memory: DatatypeId,
        /// The datatype that was handed over, or the element type that it is made of.
        datatype: DatatypeId,
    },
    /// An operation that is not defined for the datatype.
    Operation {
        /// The operation.
        operation: OperationId,
        /// The datatype.
        datatype: DatatypeId,
    },
    /// Anything else that MPI does not take, in words that go on after "the argument `color` ": "is
    /// negative".
    Other(TextId),
}

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the MPI object of its name")]
pub enum HandleKind {
    Communicator,
    Datatype,
    Operation,
    Window,
    Group,
    Request,
    Info,
    ErrorHandler,
    Message,
    File,
}

impl HandleKind {
    /// "communicator".
    pub fn name(self) -> &'static str {
        match self {
            HandleKind::Communicator => "communicator",
            HandleKind::Datatype => "datatype",
            HandleKind::Operation => "operation",
            HandleKind::Window => "window",
            HandleKind::Group => "group",
            HandleKind::Request => "request",
            HandleKind::Info => "info object",
            HandleKind::ErrorHandler => "error handler",
            HandleKind::Message => "message",
            HandleKind::File => "file",
        }
    }
}

/// What is the matter with a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandleState {
    /// It is the null handle, such as `MPI_COMM_NULL`.
    Null,
    /// Its object was freed; of a request: it was completed, or freed, by way of another copy of the
    /// handle.
    Freed,
    /// A datatype that was not committed.
    Uncommitted,
    /// It was never given a value.
    Uninitialized,
    /// It stands for something else, or for nothing that the call can be made on: an
    /// inter-communicator, a request that is not persistent, a predefined object that is to be freed.
    Unfit,
}

/// When a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before `MPI_Init`.
    BeforeInitialize,
    /// `MPI_Init` once more, behind the first.
    Again,
    /// After `MPI_Finalize`.
    AfterFinalize,
}
