//! What message passing between ranks is, and what can be wrong with it.
//!
//! Data flows one way. [`grammar`] reads the protocol language; [`model`] holds what every rank
//! does, as plain values; [`engine`] runs a whole world of ranks on paper; [`rules`] look at what
//! the run showed and say what is wrong, as [`finding`]s. Every front end, the macro, the command
//! line and whatever comes later, goes through this crate, so that they cannot disagree.
//!
//! Nothing here reads files, asks the clock or throws dice, and places in the source are opaque
//! numbers that only the front end can turn into a line.

pub mod finding;
pub mod model;

#[cfg(feature = "grammar")]
pub mod grammar;

#[cfg(feature = "engine")]
pub mod engine;
#[cfg(feature = "engine")]
pub mod rules;
