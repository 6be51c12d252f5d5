//! What the generated code calls: every operation of the protocol language, on one rank.
//!
//! Nothing here checks that a rank follows its protocol; the types of the generated code do that,
//! by holding the only `&mut Session` inside of states that offer the next steps alone. All the
//! same nothing here can be called in a way that is unsound: peers are checked against the world,
//! a message's type against the receiver's, and a request against the session that made it.
//!
//! **Requests and `'env`.** A non-blocking step takes a buffer by value and gives it to the session,
//! which keeps it as a bare pointer in its table of requests. What the step returns is a name, not
//! the owner: dropping or forgetting it (or the state that holds it) changes nothing. The buffer
//! goes back to the program in [`Session::wait`] and nowhere else, after the transport has let go
//! of it. What is left when the closure of [`run`] is over, whether it returns or unwinds, is
//! cancelled before `run` returns: receives are forgotten by this rank, which alone would have
//! written to them, and a loan that another rank is just copying from is waited for. A buffer is
//! owned or borrowed for `'env`, which is a parameter of `run` and so outlives the call; the
//! session is a local of `run`, reached only through a `&mut` and invariant in `'env`, so it can be
//! neither forgotten nor exchanged for one with another `'env`.

mod blocking;
mod collective;
mod decision;
mod join;
mod pieces;
mod reduce;
mod requests;
mod support;
mod table;
mod window;

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

pub use p2p_protocol::model::Mode;

pub use crate::buffer::{Fresh, Landing, One, Outgoing, Receive, RecvBuffer, SendBuffer, Single};
pub use crate::error::{Error, Result, Step};
pub use crate::operation::{Operation, Source, Status};
pub use crate::plain::Plain;
pub use join::{Joined, Protocol, join, run, unfulfilled};
pub use pieces::Fallible;
pub use reduce::{Max, Min, Product, Reduce, Sum};
pub use requests::{ReceivePlan, Request, RequestId, SendPlan};
pub use support::{Grid, Steps};

use crate::transport::{Endpoint, Envelope, Filter, Origin};
use table::Requests;

/// A rank's side of one run of a protocol. See the module.
pub struct Session<'env> {
    endpoint: Rc<RefCell<Endpoint>>,
    rank: usize,
    size: usize,
    /// What this run is called in messages.
    number: u32,
    requests: Requests,
    /// How many collective operations were called on each communicator.
    collectives: Vec<u32>,
    windows: window::Windows,
    /// Invariant, so that no other session can stand in for this one.
    environment: PhantomData<&'env mut &'env ()>,
}

/// What a communicator is used for besides the program's own messages; the highest two bits of
/// the number, which leaves 16384 communicators.
#[derive(Clone, Copy)]
enum Channel {
    Messages = 0,
    Collective = 0x4000,
    Window = 0x8000,
    Join = 0xc000,
}

impl<'env> Session<'env> {
    fn new(endpoint: Rc<RefCell<Endpoint>>, number: u32) -> Self {
        let (rank, size) = {
            let endpoint = endpoint.borrow();
            (endpoint.rank(), endpoint.size())
        };
        Session {
            endpoint,
            rank,
            size,
            number,
            requests: Requests::new(),
            collectives: Vec::new(),
            windows: window::Windows::default(),
            environment: PhantomData,
        }
    }

    /// This rank: `0..size`.
    #[inline]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// From now on messages of this rank travel by `policy`: so a benchmark can have them take turns.
    #[cfg(feature = "mpi")]
    pub fn set_policy(&mut self, policy: crate::Policy) {
        self.endpoint.borrow_mut().set_policy(policy);
    }

    #[inline]
    fn envelope(&self, operation: &Operation, channel: Channel, tag: i32) -> Envelope {
        let communicator = operation.communicator | channel as u16;
        Envelope { tag, session: self.number, communicator }
    }

    /// The messages that `operation` receives from `source`.
    #[inline]
    fn filter(&self, operation: &'static Operation, source: &Source) -> Result<Filter> {
        let source = match source {
            Source::Rank(rank) => Origin::Rank(self.peer(operation, *rank)?),
            Source::Any(ranks) => Origin::Any(self.peers(operation, ranks)?),
        };
        let envelope = self.envelope(operation, Channel::Messages, operation.tag);
        Ok(Filter { source, envelope })
    }

    /// The rank that `peer` is.
    #[inline]
    fn peer(&self, operation: &'static Operation, peer: i64) -> Result<usize> {
        match usize::try_from(peer) {
            Ok(rank) if rank < self.size => Ok(rank),
            _ => Err(self.out_of_range(operation, peer)),
        }
    }

    #[cold]
    fn peers(&self, operation: &'static Operation, peers: &Range<i64>) -> Result<Range<usize>> {
        if peers.is_empty() {
            return Ok(0..0);
        }
        let first = self.peer(operation, peers.start)?;
        let last = self.peer(operation, peers.end - 1)?;
        Ok(first..last + 1)
    }

    #[cold]
    fn out_of_range(&self, operation: &'static Operation, peer: i64) -> Error {
        let at = Step(Some(operation));
        Error::PeerOutOfRange { rank: self.rank, peer, size: self.size, at }
    }

    fn wrong_length(&self, operation: &'static Operation, found: usize, expected: String) -> Error {
        Error::Length { found, expected, rank: self.rank, at: Step(Some(operation)) }
    }
}
