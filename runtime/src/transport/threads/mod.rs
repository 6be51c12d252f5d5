//! Ranks as threads of one process.
//!
//! All matching is done by the receiving rank, on its own thread and with its own data: it looks
//! into the [`queue`]s that lead to it whenever it receives or waits. Only a queue, a [`loan`] and
//! the [`park`]ing are shared.

mod endpoint;
mod hang;
mod loan;
mod matching;
mod message;
mod park;
mod patience;
mod queue;
mod receive;
mod send;
mod shared;
mod waiting;

pub(crate) use endpoint::Endpoint;
pub(crate) use message::Envelope;
pub(crate) use receive::{Filter, Origin, ReceiveId, Target};
pub(crate) use send::{Lending, Sent};
pub(crate) use shared::{Failure, Leave, Limits, Shared};
pub(crate) use waiting::{Collective, Half, What};
