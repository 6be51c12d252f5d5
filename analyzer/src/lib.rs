//! Reads sources, judges the protocols in them, and reports.
//!
//! Data flows one way: [`cli`] says what is wanted, [`source`] finds the files, [`read`] finds and
//! judges the protocols in them and makes a [`program`] of each target, [`evaluate`] says what the
//! ranks of a program do, [`examine`] has that judged, [`config`] and [`suppress`] decide what of it
//! all is shown, and [`report`] writes it. What is wrong is decided in `p2p_protocol` alone.

pub mod cargo;
pub mod catalogue;
pub mod cli;
pub mod config;
pub mod coverage;
pub mod diagnostic;
pub mod evaluate;
pub mod examine;
pub mod explain;
pub mod program;
pub mod read;
pub mod report;
pub mod source;
pub mod suppress;

mod check;
mod gather;
mod start;

pub use check::check;
pub use start::{Invocation, start};
