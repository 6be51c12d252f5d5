//! Runs a world on paper.
//!
//! [`explore`] follows everything that can happen in one world under one reading of the standard
//! send; [`Judge`] does so for all worlds of a program and hands what was seen to the rules. What
//! a step means is fixed in `docs/semantics.md`; what is wrong is for [`crate::rules`] to say.

mod evidence;
mod exploration;
mod machine;
mod outcome;
mod wait_for;

pub use evidence::{At, Observation};
pub use exploration::Limits;
pub use machine::Semantics;
pub use outcome::{Outcome, explore};
pub use wait_for::{Blocked, Stuck};
