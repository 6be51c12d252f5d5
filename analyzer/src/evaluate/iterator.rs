//! Iterators: ranges, the elements of sequences, and what adapters make of them.
//!
//! An adapter keeps its closure and is only run when an element is asked for, so that endless ranges
//! and side effects come in the order that Rust has.

use std::rc::Rc;

use super::value::{Unknown, Value};
use crate::program::Type;

/// An iterator that has not been asked yet.
#[derive(Clone, Debug)]
pub enum Lazy {
    /// From a number up to before another one, where there is one, in steps of 1.
    Range {
        /// The next number; a scalar.
        next: Value,
        /// One past the last; `None`: endless.
        end: Option<Value>,
    },
    /// These values, one after the other; those from the second number on are left.
    Items(Rc<Vec<Value>>, usize),
    /// Nobody knows how many, each of this type.
    Unknown(Unknown, Type),
    /// An adapter: `map`, `filter`, `zip`, `enumerate`, .. over iterators, with its other arguments.
    Adapter(&'static str, Vec<Lazy>, Vec<Value>),
}
