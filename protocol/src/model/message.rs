//! Messages: their other end, what they carry, and the memory that it lies in.

use super::{CommunicatorId, DatatypeId, LabelId, MessageId, Rank, SourceId};

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
