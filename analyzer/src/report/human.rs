//! For people: the source with both ends of a message, who waits for whom, and what to write.

use std::collections::{BTreeMap, BTreeSet};

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{Config, Styles, StylesWriter, emit_to_write_style};
use p2p_protocol::finding::{self, Certainty};

use super::coverage;
use super::excerpt::Excerpt;
use super::{Outcome, Summary};
use crate::diagnostic::{Diagnostic, Evidence, Severity};
use crate::source::{FileId, Sources};

/// More steps of a run than these are counted, not listed: a screen has some fifty lines.
const STEPS: usize = 12;

/// More sizes and ranges of sizes than these are not listed.
const SIZES: usize = 8;

/// The whole report, with a summary at its end.
pub fn report(outcome: &Outcome, color: bool, quiet: bool) -> String {
    let mut text = String::new();
    let mut explained = BTreeSet::new();
    for diagnostic in &outcome.diagnostics {
        let first = diagnostic.rule.is_some_and(|rule| explained.insert(rule));
        text.push_str(&render(&outcome.sources, diagnostic, first, color));
    }
    text.push_str(&closing(outcome, quiet));
    text
}

/// What comes after the messages: how far each call was understood, where that is asked for, and the
/// summary.
pub fn closing(outcome: &Outcome, quiet: bool) -> String {
    let calls = outcome.calls.iter().map(|calls| coverage::lines(&outcome.sources, calls));
    let summary = (!quiet).then(|| summary(&outcome.summary));
    calls.chain(summary).collect()
}

/// One message; `explain` adds how to learn more about its rule.
pub fn render(sources: &Sources, diagnostic: &Diagnostic, explain: bool, color: bool) -> String {
    let excerpt = Excerpt::of(sources, diagnostic.primary.iter().chain(&diagnostic.secondary));
    let message = to_codespan(&excerpt, diagnostic, notes(sources, diagnostic, explain));
    let written = if color {
        emit(Ansi::new(Vec::new()), &excerpt, &message).map(Ansi::into_inner)
    } else {
        emit(NoColor::new(Vec::new()), &excerpt, &message).map(NoColor::into_inner)
    };
    let bytes = written.unwrap_or_else(|_| format!("{}\n", diagnostic.message).into_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn emit<W: WriteColor>(
    mut writer: W,
    excerpt: &Excerpt<'_>,
    message: &codespan::Diagnostic<FileId>,
) -> Result<W, codespan_reporting::files::Error> {
    let styles = Styles::default();
    let mut styled = StylesWriter::new(&mut writer, &styles);
    emit_to_write_style(&mut styled, &Config::default(), excerpt, message)?;
    Ok(writer)
}

fn to_codespan(
    excerpt: &Excerpt<'_>,
    diagnostic: &Diagnostic,
    mut notes: Vec<String>,
) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
    };
    let primary = diagnostic.primary.iter().map(|label| (codespan::LabelStyle::Primary, label));
    let secondary =
        diagnostic.secondary.iter().map(|label| (codespan::LabelStyle::Secondary, label));
    let mut labels = Vec::new();
    for (style, label) in primary.chain(secondary) {
        match excerpt.visible(label) {
            Some(bytes) => labels
                .push(codespan::Label::new(style, label.at.file, bytes).with_message(&label.text)),
            None => notes.push(format!("{}: {}", excerpt.place(label), label.text)),
        }
    }
    if excerpt.is_partial() {
        notes.push("long lines are shown in part".to_owned());
    }
    let mut message = codespan::Diagnostic::new(severity)
        .with_message(&diagnostic.message)
        .with_labels(labels)
        .with_notes(notes);
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
        [only] => Some(format!("size: {}", in_words([*only]))),
        [smallest, others @ ..] => {
            let others = in_words(others.iter().copied());
            Some(format!("smallest size: {}; also with {others}", in_words([*smallest])))
        }
    }
}

/// Sizes, ascending, in words: "2 ranks", "2, 4 to 8 and 16 ranks".
fn in_words(sizes: impl IntoIterator<Item = u32>) -> String {
    match listed_in_words(sizes.into_iter().map(i64::from)) {
        sizes if sizes.is_empty() => "no ranks".to_owned(),
        sizes if sizes == "1" => "1 rank".to_owned(),
        sizes => format!("{sizes} ranks"),
    }
}

/// Numbers, ascending, in words: "2", "2, 4 to 8 and 16".
fn listed_in_words(numbers: impl IntoIterator<Item = i64>) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let mut words: Vec<String> = Vec::new();
    for &(first, last) in &runs {
        match last - first {
            0 => words.push(first.to_string()),
            1 => words.extend([first.to_string(), last.to_string()]),
            _ => words.push(format!("{first} to {last}")),
        }
    }
    if let Some(&(_, largest)) = runs.last().filter(|_| words.len() > SIZES) {
        words.truncate(SIZES - 1);
        words.push(format!("more up to {largest}"));
    }
    match words.split_last() {
        Some((one, [])) => one.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// So many parameters, or protocols, are named one by one.
const NAMED: usize = 4;

/// The values that parameters had: " and steps = 0 to 5".
fn parameters(values: &BTreeMap<String, BTreeSet<i64>>) -> String {
    if values.len() > NAMED {
        let all: BTreeSet<i64> = values.values().flatten().copied().collect();
        let among = listed_in_words(all);
        return format!(" and {} among {among}", counted(values.len(), "parameter"));
    }
    let one = |(name, values): (&String, &BTreeSet<i64>)| {
        format!(" and {name} = {}", listed_in_words(values.iter().copied()))
    };
    values.iter().map(one).collect()
}

/// What was checked, with how many ranks, and what was found.
fn summary(summary: &Summary) -> String {
    let protocols = summary.protocols - summary.not_run - summary.unfinished;
    let judged = [(protocols, "protocol"), (summary.programs, "program")];
    let judged = judged.iter().filter(|(number, _)| *number > 0);
    let judged: Vec<String> = judged.map(|&(number, thing)| counted(number, thing)).collect();
    let mut text = match judged.as_slice() {
        [] => format!("nothing was checked in {}", counted(summary.files, "file")),
        judged => format!(
            "checked {} in {} with {}{}{}",
            judged.join(" and "),
            counted(summary.files_judged, "file"),
            in_words(summary.sizes.iter().copied()),
            parameters(&summary.parameters),
            if summary.sizes_differ { " (not each of them with every size)" } else { "" },
        ),
    };
    let counts = [
        (summary.errors, "error", ""),
        (summary.warnings, "warning", ""),
        (summary.unchecked, "thing", " could not be checked"),
        (summary.allowed, "finding", " allowed"),
    ];
    let found = counts.iter().filter(|(number, ..)| *number > 0);
    let found: Vec<String> =
        found.map(|&(number, thing, rest)| counted(number, thing) + rest).collect();
    if !found.is_empty() {
        text.push_str(&format!(": {}", found.join(", ")));
    } else if !summary.sizes.is_empty() {
        let is_blind = protocols == 0 && summary.calls > 0;
        let wrong = match summary.understood + summary.partly {
            0 if is_blind => "nothing could be judged",
            _ => "nothing wrong was found",
        };
        text.push_str(&format!(": {wrong}"));
    }
    if summary.not_run > 0 {
        let protocols = counted(summary.not_run, "protocol");
        text.push_str(&format!("\nnot checked: {protocols} with no size among those asked for"));
    }
    text.push_str(&understood(summary));
    for (name, place) in summary.missing.iter().take(NAMED) {
        text.push_str(&format!(
            "\n`{name}` was not found ({place}): name its folder with `-I DIR`"
        ));
    }
    if let Some(more @ 1..) = summary.missing.len().checked_sub(NAMED) {
        text.push_str(&format!("\nand {} more", counted(more, "header")));
    }
    for (program, sizes) in summary.refused.iter().take(NAMED) {
        let sizes = in_words(sizes.iter().copied());
        text.push_str(&format!("\nnot run with {sizes}: {program} refuses them"));
    }
    if let Some(more @ 1..) = summary.refused.len().checked_sub(NAMED) {
        let programs = counted(more, "other program");
        text.push_str(&format!("\nand {programs} that refuse some sizes"));
    }
    for (protocol, sizes) in summary.incomplete.iter().take(NAMED) {
        let sizes = in_words(sizes.iter().copied());
        text.push_str(&format!(
            "\nwith {sizes} the choices of {protocol} are too many to follow all of them"
        ));
    }
    if let Some(more @ 1..) = summary.incomplete.len().checked_sub(NAMED) {
        text.push_str(&format!("\nand so are those of {}", counted(more, "other")));
    }
    text.push('\n');
    text
}

/// How many of the calls that communicate were understood.
fn understood(summary: &Summary) -> String {
    if summary.calls == 0 {
        return String::new();
    }
    let part = match summary.partly {
        0 => String::new(),
        partly => format!(" and {partly} more in part"),
    };
    let calls = counted(summary.calls, "call");
    let hint = if summary.understood == summary.calls { "" } else { " (--coverage lists them)" };
    format!("\nunderstood {} of {calls}{part}{hint}", summary.understood)
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_like_words() {
        assert_eq!(in_words([]), "no ranks");
        assert_eq!(in_words([1]), "1 rank");
        assert_eq!(in_words([2]), "2 ranks");
        assert_eq!(in_words([2, 3]), "2 and 3 ranks");
        assert_eq!(in_words([2, 4, 5, 6, 16]), "2, 4 to 6 and 16 ranks");
        let odd = (0..40).map(|half| 2 * half + 1);
        assert_eq!(in_words(odd), "1, 3, 5, 7, 9, 11, 13 and more up to 79 ranks");
    }

    #[test]
    fn values_of_parameters_are_named() {
        let values = BTreeMap::from([
            ("root".to_owned(), BTreeSet::from([0, 1])),
            ("steps".to_owned(), BTreeSet::from([0, 1, 2, 3, 999, 1000, 1001])),
        ]);
        let words = " and root = 0 and 1 and steps = 0 to 3 and 999 to 1001";
        assert_eq!(parameters(&values), words);
    }

    #[test]
    fn many_parameters_are_counted() {
        let values = ('a'..='f').map(|name| (name.to_string(), BTreeSet::from([0, 1, 2])));
        assert_eq!(parameters(&values.collect()), " and 6 parameters among 0 to 2");
    }
}
