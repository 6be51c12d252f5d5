//! What carries messages between ranks: threads of one process, and nothing else so far.
//!
//! [`Endpoint`](threads::Endpoint) is all that the session sees of it: start a send, post a
//! receive, wait until something holds. Matching, buffering and the verdict that nothing can move
//! any more are the transport's own.

#[cfg(feature = "mpi")]
pub(crate) mod mpi;
pub(crate) mod threads;
