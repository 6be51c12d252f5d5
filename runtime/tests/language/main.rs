//! Protocols that use each part of the language, run on threads; what arrives is looked at.

#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::all)]
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
