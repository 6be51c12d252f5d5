//! The protocol language's text -> model; the only parser of it, used by the macro and the
//! command line.

use proc_macro2::Span;

pub mod syntax;

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
