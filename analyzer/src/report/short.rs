//! One line a message: `file:line:column: error: text [rule]`.

use std::fmt::Write;

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// The whole report.
pub fn report(outcome: &Outcome) -> String {
    let mut text = String::new();
    for diagnostic in &outcome.diagnostics {
        line(&mut text, &outcome.sources, diagnostic);
    }
    text
}

fn line(text: &mut String, sources: &Sources, diagnostic: &Diagnostic) {
    if let Some(primary) = &diagnostic.primary {
        let file = sources.file(primary.at.file);
        let position = file.position(primary.at.bytes.start);
        _ = write!(text, "{}:{}:{}: ", file.name, position.line, position.column);
    }
    let message = diagnostic.message.replace('\n', " ");
    _ = write!(text, "{}: {message}", diagnostic.severity.name());
    match diagnostic.rule {
        Some(rule) => _ = writeln!(text, " [{rule}]"),
        None => text.push('\n'),
    }
}
