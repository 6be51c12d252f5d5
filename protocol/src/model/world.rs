//! All ranks of one size together.

use std::sync::Arc;

use super::{Event, Rank};

/// A place in the source, opaque here; the front end that made it knows the file and the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub u32);

/// A communicator: an index into [`World::communicators`].
pub type CommunicatorId = u16;
/// A datatype: an index into [`World::datatypes`].
pub type DatatypeId = u16;
/// An operation of reductions: an index into [`World::operations`].
pub type OperationId = u16;
/// Counts of a collective: an index into [`World::shares`].
pub type SharesId = u32;
/// A function that a program calls: an index into [`World::calls`].
pub type CallId = u16;
/// A few words about an argument: an index into [`World::texts`].
pub type TextId = u16;
/// A window: an index into [`World::windows`].
pub type WindowId = u16;
/// A message's name: an index into [`World::messages`].
pub type MessageId = u16;
/// A role: an index into the protocol's list of roles.
pub type RoleId = u16;

/// A type signature (MPI 4.0, 5.1): two of them match when their `signature`s are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Datatype {
    /// The element type as the source writes it, such as `f32`.
    pub signature: String,
    /// Bytes of one element, where they are known.
    pub bytes: Option<u64>,
}

/// What one rank does from start to end; position 0 is the start, and running past the last event
/// is the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// The steps.
    pub events: Vec<Event>,
    /// How many request slots the events use.
    pub requests: u32,
    /// How many source slots the events use.
    pub sources: u16,
    /// The role that this rank plays, where there are roles.
    pub role: Option<RoleId>,
    /// By which calls of functions steps that send and receive were come to, as a number for each
    /// chain of calls; ascending. What is not listed is not known, or goes by the message's tag.
    pub chains: Vec<(super::Position, u32)>,
}

/// A part that ranks play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name in the source.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
}

/// Some of the ranks, who can send to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// Its name in the source.
    pub name: String,
    /// The ranks (of the world) that belong to it, in the order of their ranks in it; `None`: all,
    /// with the ranks that they have in the world.
    pub members: Option<Arc<[Rank]>>,
}

impl Communicator {
    /// A communicator of all ranks.
    pub fn of_all(name: impl Into<String>) -> Self {
        Communicator { name: name.into(), members: None }
    }

    /// Whether a rank of the world belongs to it.
    pub fn has(&self, rank: Rank) -> bool {
        self.members.as_ref().is_none_or(|members| members.contains(&rank))
    }
}

/// Memory of some ranks that the others of them can access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its name in the source.
    pub name: String,
    /// The communicator that it was made on.
    pub communicator: CommunicatorId,
    /// Whether it lies in memory that all of its ranks load from and store to themselves.
    pub is_shared: bool,
}

/// How many elements go to each rank of a communicator and come from it, in the order of its ranks:
/// what one rank gives the collectives that take a count for each (MPI 4.0, 6.5 to 6.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shares {
    /// How many it has for each, where it is known.
    pub brings: Vec<Option<u64>>,
    /// How many it has room for from each, where it is known.
    pub takes: Vec<Option<u64>>,
}

/// The words that a program is written in, so that what is said of it sounds like it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The protocol language.
    #[default]
    Protocol,
    /// Rust on rsmpi.
    Rsmpi,
    /// C on MPI.
    C,
}

impl Dialect {
    /// Of three ways to say something, the one that belongs to it.
    pub fn words<T>(self, protocol: T, rsmpi: T, c: T) -> T {
        match self {
            Dialect::Protocol => protocol,
            Dialect::Rsmpi => rsmpi,
            Dialect::C => c,
        }
    }
}

/// Every rank of one world size, ready to be run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// What each rank does; the world's size is their number.
    pub behaviours: Vec<Behaviour>,
    /// The values that the program's parameters have in this world, by name.
    pub parameters: Vec<(String, i64)>,
    /// The communicators.
    pub communicators: Arc<[Communicator]>,
    /// The datatypes.
    pub datatypes: Arc<[Datatype]>,
    /// The messages' names.
    pub messages: Arc<[String]>,
    /// The decisions' names.
    pub labels: Arc<[String]>,
    /// The roles.
    pub roles: Arc<[Role]>,
    /// What reductions combine with: `sum`, `max`.
    pub operations: Arc<[String]>,
    /// The counts of collectives that take one for each rank.
    pub shares: Arc<[Shares]>,
    /// The names of the functions that calls are made of, such as `MPI_Send`.
    pub calls: Arc<[String]>,
    /// What there is to say of arguments: parameters' names, and what is the matter with them.
    pub texts: Arc<[String]>,
    /// The windows.
    pub windows: Arc<[Window]>,
    /// The words that the program is written in.
    pub dialect: Dialect,
    /// Whether it is told where ranks compute between their steps ([`Action::Compute`](super::Action)).
    pub shows_work: bool,
}

impl World {
    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        u32::try_from(self.behaviours.len()).expect("a world has fewer than 2^32 ranks")
    }

    /// Whether there is a rank of this number.
    pub fn has(&self, rank: i32) -> bool {
        Rank::try_from(rank).is_ok_and(|rank| rank < self.size())
    }

    /// Whether a rank belongs to a communicator; one that is not in the table is of all ranks.
    pub fn belongs(&self, communicator: CommunicatorId, rank: Rank) -> bool {
        let communicator = self.communicators.get(usize::from(communicator));
        rank < self.size() && communicator.is_none_or(|communicator| communicator.has(rank))
    }

    /// The ranks of a communicator, in the order of their ranks in it.
    pub fn members(&self, communicator: CommunicatorId) -> impl Iterator<Item = Rank> + '_ {
        let communicator = self.communicators.get(usize::from(communicator));
        let members = communicator.and_then(|communicator| communicator.members.as_deref());
        let all = if members.is_none() { 0..self.size() } else { 0..0 };
        members.unwrap_or_default().iter().copied().chain(all)
    }

    /// How many ranks a communicator has.
    pub fn member_count(&self, communicator: CommunicatorId) -> usize {
        let communicator = self.communicators.get(usize::from(communicator));
        let members = communicator.and_then(|communicator| communicator.members.as_deref());
        members.map_or(self.behaviours.len(), <[Rank]>::len)
    }

    /// How many events all ranks have together.
    pub fn event_count(&self) -> usize {
        self.behaviours.iter().map(|behaviour| behaviour.events.len()).sum()
    }
}
