//! Judges one protocol, and says in bytes of its file where everything stands.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use p2p_protocol::finding::Finding;
use p2p_protocol::grammar::{self, CheckOptions, CheckedSize, LanguageError};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;

use super::find::Found;
use crate::diagnostic::Failure;

/// A protocol that could be read, and what is wrong with it.
#[derive(Debug)]
pub struct Judged {
    /// The module's name.
    pub name: String,
    /// Where it stands, and after it where each place of the findings does.
    pub places: Vec<Range<usize>>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// With how many ranks it was run.
    pub sizes: Vec<CheckedSize>,
    /// The rules that its attribute allows.
    pub allowed: Vec<String>,
}

/// What judging needs to know.
pub(super) struct Judge<'a> {
    pub(super) options: &'a CheckOptions,
    /// Where in the file's text the spans start.
    pub(super) start: usize,
}

impl Judge<'_> {
    /// Judges a protocol of a file with this text.
    pub(super) fn judge(&self, found: Found, text: &str) -> (Option<Judged>, Vec<Failure>) {
        let at = self.bytes(found.meta.span(), found.meta.span(), text, &(0..0));
        let name = found.module.ident.to_string();
        // Whatever goes wrong with one protocol, the others are still judged.
        let judged = catch_unwind(AssertUnwindSafe(|| self.check(&found, text, &at)));
        judged.unwrap_or_else(|_| {
            let message = format!("the protocol `{name}` could not be judged: p2p-check failed");
            let help = Some("this is a defect of p2p-check, not of the protocol: please report it");
            (None, vec![Failure::at(at.clone(), message).help(help)])
        })
    }

    fn check(
        &self,
        found: &Found,
        text: &str,
        at: &Range<usize>,
    ) -> (Option<Judged>, Vec<Failure>) {
        let failures = |errors: Vec<LanguageError>| -> Vec<Failure> {
            let failure = |error: LanguageError| {
                let bytes = self.bytes(error.span, error.end, text, at);
                Failure::at(bytes, error.message).help(error.help)
            };
            errors.into_iter().map(failure).collect()
        };
        let (protocol, errors) = grammar::parse(found.arguments(), found.module.to_token_stream());
        let Some(protocol) = protocol.filter(|_| errors.is_empty()) else {
            return (None, failures(errors));
        };
        let report = grammar::check(&protocol, self.options);
        let spans = protocol.places.iter().zip(&protocol.ends);
        let places = spans.map(|(&first, &last)| self.bytes(first, last, text, at));
        let judged = Judged {
            name: protocol.name.to_string(),
            places: std::iter::once(at.clone()).chain(places).collect(),
            findings: report.findings,
            sizes: report.sizes,
            allowed: protocol.allowed.iter().map(|(rule, _)| rule.clone()).collect(),
        };
        (Some(judged), failures(report.errors.into_iter().chain(report.unfinished).collect()))
    }

    /// From one token to another; `otherwise` for tokens that the file does not contain.
    fn bytes(&self, first: Span, last: Span, text: &str, otherwise: &Range<usize>) -> Range<usize> {
        let (first, last) = (bytes(first, self.start, text), bytes(last, self.start, text));
        if first.start == first.end {
            otherwise.clone()
        } else {
            first.start..last.end.max(first.end)
        }
    }
}

/// The bytes of a span in a text whose spans start at an offset.
pub(super) fn bytes(span: Span, start: usize, text: &str) -> Range<usize> {
    let range = span.byte_range();
    let inside = |at: usize| {
        let at = (at + start).min(text.len());
        (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    };
    inside(range.start)..inside(range.end)
}
