//! What is wrong, as errors of the compiler at its own place, all at once.

use p2p_protocol::finding::{Finding, Label, Level, wait_lines};
use p2p_protocol::grammar::LanguageError;
use p2p_protocol::grammar::syntax::Protocol;
use p2p_protocol::model::Place;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

/// Errors of the language.
pub(crate) fn language(errors: &[LanguageError]) -> TokenStream {
    errors
        .iter()
        .map(|error| {
            let help = error.help.iter().map(|help| format!("\nhelp: {help}"));
            let text = format!("{}{}", error.message, help.collect::<String>());
            at(error.span, error.end, &text)
        })
        .collect()
}

/// What the judgement found, as far as it is an error.
pub(crate) fn findings(protocol: &Protocol, findings: &[Finding]) -> TokenStream {
    let denied = findings.iter().filter(|finding| finding.level == Level::Deny);
    denied
        .map(|finding| {
            let Place(index) = finding.primary.place;
            let span = span(&protocol.places, index);
            let end = self::span(&protocol.ends, index);
            at(span, end, &text(protocol, finding))
        })
        .collect()
}

/// What is worth a warning, as lines for the documentation: a macro cannot warn.
pub(crate) fn warnings(findings: &[Finding]) -> Vec<String> {
    let warned = findings.iter().filter(|finding| finding.level == Level::Warn);
    warned.map(|finding| format!("**Warning**: {} ({})", finding.message, finding.rule)).collect()
}

/// What happens, who waits for whom, the other end, why, and what to write instead.
fn text(protocol: &Protocol, finding: &Finding) -> String {
    let place = |place: Place| location(span(&protocol.places, place.0));
    let mut lines = vec![format!("{} [{}]", finding.message, finding.rule)];
    lines.extend(wait_lines(&finding.waits, place).into_iter().map(|line| format!("  {line}")));
    let waits = |label: &&Label| finding.waits.iter().all(|wait| wait.place != label.place);
    for label in finding.secondary.iter().filter(waits).chain(&finding.requests) {
        lines.push(format!("{}: {}", place(label.place), label.text));
    }
    lines.extend(finding.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
    lines.join("\n")
}

fn span(spans: &[Span], index: u32) -> Span {
    let found = usize::try_from(index).ok().and_then(|index| spans.get(index));
    found.copied().unwrap_or_else(Span::call_site)
}

/// "src/main.rs:12"
fn location(span: Span) -> String {
    let (file, line, _) = coordinates(span);
    format!("{file}:{line}")
}

/// File, line and column of a span, from 1; nothing is known outside the compiler.
pub(crate) fn coordinates(span: Span) -> (String, u32, u32) {
    if !proc_macro::is_available() {
        return (String::new(), 0, 0);
    }
    let span = span.unwrap();
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (span.file(), number(span.line()), number(span.column()))
}

/// An error of the compiler that underlines from the first span to the last.
fn at(first: Span, last: Span, text: &str) -> TokenStream {
    let path = quote_spanned!(first=> ::core::compile_error);
    let rest = quote_spanned!(last=> !{ #text });
    quote!(#path #rest)
}
