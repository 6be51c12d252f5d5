//! For people: the source with both ends of a message, who waits for whom, and what to write.

use std::collections::BTreeSet;

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{Config, Styles, StylesWriter, emit_to_write_style};
use p2p_protocol::finding::{self, Certainty};

use super::{Outcome, Summary};
use crate::diagnostic::{Diagnostic, Evidence, Severity};
use crate::source::{FileId, Sources};

/// More steps of a run than these are counted, not listed: a screen has some fifty lines.
const STEPS: usize = 12;

/// The whole report, with a summary at its end.
pub fn report(outcome: &Outcome, color: bool, quiet: bool) -> String {
    let mut text = String::new();
    let mut explained = BTreeSet::new();
    for diagnostic in &outcome.diagnostics {
        let first = diagnostic.rule.is_some_and(|rule| explained.insert(rule));
        text.push_str(&render(&outcome.sources, diagnostic, first, color));
    }
    if !quiet {
        text.push_str(&summary(&outcome.summary));
    }
    text
}

/// One message; `explain` adds how to learn more about its rule.
pub fn render(sources: &Sources, diagnostic: &Diagnostic, explain: bool, color: bool) -> String {
    let message = to_codespan(sources, diagnostic, explain);
    let written = if color {
        emit(Ansi::new(Vec::new()), sources, &message).map(Ansi::into_inner)
    } else {
        emit(NoColor::new(Vec::new()), sources, &message).map(NoColor::into_inner)
    };
    let bytes = written.unwrap_or_else(|_| format!("{}\n", diagnostic.message).into_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn emit<W: WriteColor>(
    mut writer: W,
    sources: &Sources,
    message: &codespan::Diagnostic<FileId>,
) -> Result<W, codespan_reporting::files::Error> {
    let styles = Styles::default();
    let mut styled = StylesWriter::new(&mut writer, &styles);
    emit_to_write_style(&mut styled, &Config::default(), sources, message)?;
    Ok(writer)
}

fn to_codespan(
    sources: &Sources,
    diagnostic: &Diagnostic,
    explain: bool,
) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
    };
    let primary = diagnostic
        .primary
        .iter()
        .map(|it| codespan::Label::primary(it.at.file, it.at.bytes.clone()).with_message(&it.text));
    let secondary = diagnostic.secondary.iter().map(|it| {
        codespan::Label::secondary(it.at.file, it.at.bytes.clone()).with_message(&it.text)
    });
    let mut message = codespan::Diagnostic::new(severity)
        .with_message(&diagnostic.message)
        .with_labels_iter(primary.chain(secondary))
        .with_notes(notes(sources, diagnostic, explain));
    if let Some(rule) = diagnostic.rule {
        message = message.with_code(rule);
    }
    message
}

/// All that stands below the source, in the order in which one wants to know it.
pub fn notes(sources: &Sources, diagnostic: &Diagnostic, explain: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(evidence) = &diagnostic.evidence {
        notes.extend(evidence_notes(sources, evidence));
    }
    notes.extend(diagnostic.notes.iter().cloned());
    notes.extend(diagnostic.help.iter().map(|help| format!("help: {help}")));
    if let Some(rule) = diagnostic.rule.filter(|_| explain) {
        notes.push(format!("rule: `cargo p2p-check explain {rule}`"));
    }
    notes
}

fn evidence_notes(sources: &Sources, evidence: &Evidence) -> Vec<String> {
    let mut notes = Vec::new();
    if let Certainty::Possible { assuming } = &evidence.certainty {
        notes.push(format!("this happens if {assuming}"));
    }
    let waits = finding::wait_lines(&evidence.waits, |place| sources.short(evidence.place(place)));
    notes.extend(listed("who waits for whom:", &waits));
    let steps = evidence.trace.iter().enumerate().map(|(number, step)| {
        let place = sources.short(evidence.place(step.place));
        format!("{}. rank {} {} ({place})", number + 1, step.rank, step.text)
    });
    notes.extend(listed("a run that shows it:", &shortened(steps.collect())));
    notes.extend(smallest(&evidence.sizes));
    notes
}

/// A note with a line for each of these.
fn listed(title: &str, lines: &[String]) -> Option<String> {
    (!lines.is_empty()).then(|| format!("{title}\n  {}", lines.join("\n  ")))
}

/// The first steps of a long run, and its last, which says how it ends.
fn shortened(mut steps: Vec<String>) -> Vec<String> {
    if steps.len() > STEPS {
        let left_out = steps.len() - STEPS;
        let line = format!("... {left_out} more (all of them with --message-format json)");
        steps.splice(STEPS - 1..steps.len() - 1, [line]);
    }
    steps
}

/// The smallest size, and the others.
fn smallest(sizes: &[u32]) -> Option<String> {
    match sizes {
        [] => None,
        [only] => Some(format!("size: {}", finding::sizes(&[*only]))),
        [smallest, others @ ..] => Some(format!(
            "smallest size: {}; also with {}",
            finding::sizes(&[*smallest]),
            finding::sizes(others)
        )),
    }
}

/// What was checked, with how many ranks, and what was found.
fn summary(summary: &Summary) -> String {
    let words = |sizes: &BTreeSet<u32>| finding::sizes(&sizes.iter().copied().collect::<Vec<_>>());
    let mut text = match summary.protocols - summary.not_run {
        0 => format!("no protocol was checked in {}", counted(summary.files, "file")),
        protocols => format!(
            "checked {} in {} with {}",
            counted(protocols, "protocol"),
            counted(summary.files_with_protocols, "file"),
            words(&summary.sizes),
        ),
    };
    let counts = [
        (summary.errors, "error", ""),
        (summary.warnings, "warning", ""),
        (summary.unchecked, "thing", " could not be checked"),
    ];
    let found = counts.iter().filter(|(number, ..)| *number > 0);
    let found: Vec<String> =
        found.map(|&(number, thing, rest)| counted(number, thing) + rest).collect();
    if !found.is_empty() {
        text.push_str(&format!(": {}", found.join(", ")));
    } else if !summary.sizes.is_empty() {
        text.push_str(": nothing wrong was found");
    }
    if summary.not_run > 0 {
        let protocols = counted(summary.not_run, "protocol");
        text.push_str(&format!("\nnot checked: {protocols} with no size among those asked for"));
    }
    if !summary.incomplete.is_empty() {
        let sizes = words(&summary.incomplete);
        text.push_str(&format!("\nwith {sizes} the choices are too many to follow all of them"));
    }
    text.push('\n');
    text
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
