//! Ranks as processes that an MPI launcher has started.
//!
//! Small messages are MPI's own, one call each. A large message is announced by a header and then
//! moved the way that the transfer policy says.

mod code;
