//! `#[p2p_protocol]`: a protocol judged while it compiles, and the typed steps that follow it.
//!
//! This crate is a thin door: the language is read and judged by `p2p_protocol`, and what is
//! generated from its tree calls `p2p::session`. On the way a role becomes a [`graph`] of states,
//! each with what is in [`scope`] there as [`flow`] follows it; [`role`] knows what the graph's
//! parts are called; [`states`] makes a type of each state, with the methods of its step from
//! [`operations`], [`requests`], [`collectives`], [`loops`], [`branches`] and [`completions`]; and
//! [`runner`] makes what leads into the first state. What is wrong becomes [`errors`], and a step
//! that is not the next one finds its way to [`elsewhere`].

mod branches;
mod clashes;
mod collectives;
mod completions;
mod elsewhere;
mod errors;
mod expand;
mod expressions;
mod flow;
mod graph;
mod loops;
mod mentions;
mod messages;
mod method;
mod names;
mod operations;
mod patterns;
mod requests;
mod role;
mod runner;
mod scope;
mod states;
mod verbs;
mod windows;

use proc_macro::TokenStream;

/// Declares a protocol: a module of messages and of one function for each role, judged while it
/// compiles for every size that it allows, and turned into types that follow it step by step.
///
/// On a function, `#[p2p_protocol(role = scatter::Worker)]` changes nothing; it says for
/// `cargo p2p-check` which role the function plays.
#[proc_macro_attribute]
pub fn p2p_protocol(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}
