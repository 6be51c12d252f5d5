//! Runs worlds on paper.
//!
//! The [`Judge`] takes the worlds of a program one by one. Of each it follows everything that can
//! happen ([`explore`] gives that in a few words), traces what went wrong back to what it comes
//! from (a [`Case`]), and hands that to the rules. What a step means is fixed in
//! `docs/semantics.md`; what is wrong is for [`crate::rules`] to say.

mod advice;
mod branching;
mod case;
mod components;
pub mod describe;
pub(crate) mod epochs;
mod evidence;
mod example;
mod excuses;
mod exploration;
mod explored;
mod investigation;
mod judge;
mod machine;
mod outcome;
mod pairing;
#[cfg(test)]
pub(crate) mod samples;
mod shares;
mod size;
mod trace;
mod wait_for;
pub mod words;

pub use case::{Case, Circle, MissingRank, Reading, Seen, Unpaired};
pub(crate) use evidence::alike;
pub use evidence::{At, Observation, fits};
pub use exploration::Limits;
pub use judge::{Casting, Checked, Judge, Options, Verdict};
pub use machine::{Semantics, Unmatched};
pub(crate) use machine::{accepts, envelope};
pub use outcome::{Outcome, explore};
pub use pairing::{Cause, could_serve};
pub use shares::{Overflow, overflow};
pub use wait_for::{Blocked, Stuck};
