//! Ranks as processes that an MPI launcher has started.
//!
//! Small messages are MPI's own, one call each ([`calls`], [`quick`]); what MPI cannot match is
//! matched here ([`matching`]). A large message is announced by a
//! header and then moved the way that the transfer policy says ([`bulk`]). As long as MPI alone can
//! complete what a rank waits for, the wait is one call of MPI; otherwise the rank looks again and
//! again ([`wait`]), and tells the [`watch`] if there is one.
//!
//! What the other processes send is believed: `join` has compared their protocols, and a message's
//! bytes do not say of which type they are.

mod bulk;
mod calls;
mod code;
mod communicators;
mod copies;
mod crowd;
mod endpoint;
mod landing;
mod matching;
mod persistent;
mod pieces;
mod quick;
mod receive;
mod send;
mod several;
mod start;
mod wait;
mod watch;

pub(crate) use bulk::prepare;
pub(crate) use endpoint::Endpoint;
pub(crate) use persistent::Persistent;
pub(crate) use quick::{QuickReceive, QuickSend};
pub(crate) use several::Several;
pub(crate) use start::{Settings, is_open_mpi, run};
pub(crate) use watch::limit_from_environment;
