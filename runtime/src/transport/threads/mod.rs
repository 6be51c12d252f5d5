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
mod requests;
mod send;
mod shared;

pub(crate) use endpoint::Endpoint;
pub(crate) use loan::Loan;
pub(crate) use shared::{Leave, Limits, Shared};
