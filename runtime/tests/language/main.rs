//! Protocols that use each part of the language, run on threads; what arrives is looked at.

#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::all)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]
#![allow(clippy::forget_non_drop, reason = "that nothing rests on a destructor is what is tested")]
#![allow(unreachable_pub, reason = "protocols are public, and these tests are not")]

mod collectives;
mod control;
mod decisions;
mod endings;
mod messages;
mod modes;
mod names;
mod one_sided;
mod persistent;
mod ranks;
mod requests;
