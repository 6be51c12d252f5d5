//! Ranks, events, behaviours, worlds: plain values that say what every rank does.
//!
//! No judgement lives here, no I/O and no syntax. A front end builds a [`World`]; the engine runs
//! it. A [`Behaviour`] is a flat list of [`Event`]s with jumps between them, because a protocol
//! may loop for ever: the number of events is finite even where the number of steps is not.

mod argument;
mod collective;
mod event;
mod message;
mod visit;
mod window;
mod world;

pub use argument::{Argument, HandleKind, HandleState, Phase};
pub use collective::{Collective, CollectiveKind};
pub use event::{Action, Arm, Completion, Departure, Event};
pub use message::{Buffer, Data, Envelope, Mode, Peer, Tag};
pub use window::{AccessKind, OneSided, WindowAccess, WindowRange, WindowStep};
pub use world::{
    Behaviour, CallId, Communicator, CommunicatorId, Datatype, DatatypeId, Dialect, MessageId,
    OperationId, Place, Role, RoleId, Shares, SharesId, TextId, Window, WindowId, World,
};

/// The number of a process in its world: `0..size`.
pub type Rank = u32;

/// A request's slot in its rank: `0..Behaviour::requests`.
pub type RequestId = u32;

/// An object of MPI that a rank has made: each making has a number of its own in its rank.
pub type HandleId = u32;

/// A slot that keeps the rank a wildcard receive or probe has met: `0..Behaviour::sources`.
pub type SourceId = u16;

/// A branch of a decision, by its name's position in [`World::labels`].
pub type LabelId = u16;

/// Where an event stands in its behaviour: an index into [`Behaviour::events`].
pub type Position = usize;
