//! Message passing between ranks that cannot go wrong in the ways MPI lets it.
//!
//! A protocol is declared once with [`macro@p2p_protocol`], judged while it compiles, and followed step
//! by step: what is not the next step does not compile, so peers, tags and types cannot be wrong.
//! [`launch`] runs one closure per rank: over MPI where its launcher has started the program, and
//! otherwise each rank on a thread of its own.
//!
//! ```
//! # fn main() -> p2p::Result<()> {
//! let ranks = p2p::threads(3, |world| Ok(world.rank()))?;
//! assert_eq!(ranks, [0, 1, 2]);
//! # Ok(())
//! # }
//! ```
//!
//! A rank that fails takes the others with it, with an error that names it, and ranks that wait
//! for each other end in [`Error::Deadlock`] with the report that the checker prints: nothing
//! hangs.

mod buffer;
mod error;
mod launch;
mod launcher;
mod operation;
mod plain;
#[cfg(feature = "mpi")]
mod policy;
#[doc(hidden)]
pub mod session;
mod transport;
mod world;

pub use buffer::{Fresh, One, Outgoing, Receive, RecvBuffer, SendBuffer, Single};
pub use error::{Error, Report, Result, Step};
pub use launch::{Buffering, Launch, launch, threads};
pub use operation::{Operation, Source, Status};
pub use p2p_macros::p2p_protocol;
pub use plain::Plain;
#[cfg(feature = "mpi")]
pub use policy::{Policy, PolicyError, Strategy};
pub use session::{Max, Min, Product, Reduce, Sum};
pub use world::World;

/// The program in the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
