//! The protocol language's text -> model; the only parser of it, used by the macro and the
//! command line.
//!
//! [`parse`] makes the tree of [`syntax`] from tokens and collects every language error on the
//! way. [`evaluate`] makes the world of one size from a tree. [`check`] does that for the sizes
//! that a protocol allows, as far as a fixed budget goes, and has each world judged.

#[cfg(feature = "engine")]
mod beginning;
#[cfg(feature = "engine")]
mod check;
mod evaluate;
mod flow;
mod parse;
mod parts;
#[cfg(feature = "engine")]
mod samples;
mod scope;
mod suggest;
pub mod syntax;
mod text;
mod tokens;

use proc_macro2::Span;

#[cfg(feature = "engine")]
pub use check::{CheckOptions, CheckedSize, Coverage, Report, check};
pub use evaluate::evaluate;
pub use parse::parse;

use syntax::{Expression, ExpressionKind, Protocol, Sizes};
use tokens::Region;

use crate::model::Place;

/// Values for all parameters together that are worth a look, each by its parameter's name, without
/// those that are so large that a loop up to them is too much.
#[cfg(feature = "engine")]
pub fn values_to_try(protocol: &Protocol) -> Vec<Vec<(String, i64)>> {
    let samples = samples::of(protocol).into_iter();
    samples.filter(|sample| !sample.large).map(|sample| sample.values).collect()
}

/// Something that is not the language: what, where, and what to write instead.
#[derive(Clone, Debug)]
pub struct LanguageError {
    /// Where it stands; the first token's span, where the compiler cannot join spans.
    pub span: Span,
    /// The span of its last token.
    pub end: Span,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl LanguageError {
    fn new(region: Region, message: impl Into<String>) -> LanguageError {
        LanguageError {
            span: region.joined(),
            end: region.last,
            message: message.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> LanguageError {
        self.help = Some(help.into());
        self
    }
}

impl Expression {
    /// An expression that is written there.
    fn at(region: Region, kind: ExpressionKind) -> Expression {
        Expression { kind, span: region.joined(), end: region.last }
    }

    /// Where it is written.
    fn region(&self) -> Region {
        Region { first: self.span, last: self.end }
    }
}

impl Sizes {
    /// Where they are written.
    fn region(&self) -> Region {
        Region { first: self.span, last: self.end }
    }
}

impl Protocol {
    /// Where a place is.
    fn region(&self, Place(index): Place) -> Region {
        let at = |spans: &[Span]| spans.get(index as usize).copied();
        let first = at(&self.places).unwrap_or(self.sizes.span);
        Region { first, last: at(&self.ends).unwrap_or(first) }
    }
}
