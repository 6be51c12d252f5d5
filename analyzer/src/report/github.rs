//! GitHub's workflow commands: `::error file=..,line=..::text`, which it shows beside the code.

use std::fmt::Write;

use super::{Outcome, human};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Sources;

/// The whole report.
pub fn report(outcome: &Outcome) -> String {
    let mut text = String::new();
    for diagnostic in &outcome.diagnostics {
        command(&mut text, &outcome.sources, diagnostic);
    }
    text
}

/// One command. What goes on several lines is shown on several.
fn command(text: &mut String, sources: &Sources, diagnostic: &Diagnostic) {
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut properties = Vec::new();
    if let Some(primary) = &diagnostic.primary {
        let file = sources.file(primary.at.file);
        let (from, to) =
            (file.position(primary.at.bytes.start), file.position(primary.at.bytes.end));
        properties.push(format!("file={}", property(&file.name)));
        properties.push(format!("line={}", from.line));
        properties.push(format!("endLine={}", to.line));
        if from.line == to.line {
            properties.push(format!("col={}", from.column));
            properties.push(format!("endColumn={}", to.column));
        }
    }
    let title = diagnostic.rule.map_or("p2p-check", |rule| rule);
    properties.push(format!("title={}", property(title)));
    let mut message = diagnostic.message.clone();
    for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
        if !label.text.is_empty() {
            _ = write!(message, "\n{}: {}", sources.short(&label.at), label.text);
        }
    }
    for note in human::notes(sources, diagnostic, true) {
        _ = write!(message, "\n{note}");
    }
    _ = writeln!(text, "::{kind} {}::{}", properties.join(","), data(&message));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_command_is_escaped() {
        assert_eq!(data("50 %\nof a, b: c"), "50 %25%0Aof a, b: c");
        assert_eq!(property("a,b:c%"), "a%2Cb%3Ac%25");
    }
}
