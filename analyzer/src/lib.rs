//! Reads sources, judges the protocols in them, and reports.
//!
//! Data flows one way: [`cli`] says what is wanted, [`source`] finds the files, [`read`] finds and
//! judges the protocols in them, [`config`] and [`suppress`] decide what of it is shown, and
//! [`report`] writes it. What is wrong is decided in `p2p_protocol` alone.

pub mod cargo;
pub mod catalogue;
pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod evaluate;
pub mod explain;
pub mod program;
pub mod read;
pub mod report;
pub mod source;
pub mod suppress;

mod check;
mod start;

pub use check::check;
pub use start::{Invocation, start};
