//! The whole way from paths to an outcome.

use std::path::Path;
use std::sync::Arc;

use p2p_protocol::finding::Level;
use p2p_protocol::grammar::CheckOptions;

use crate::catalogue::{self, UNUSED_SUPPRESSION, did_you_mean};
use crate::cli::Check;
use crate::config::{Configuration, Levels, Setting};
use crate::diagnostic::{Diagnostic, Failure, Label, Severity};
use crate::read::{self, Reading};
use crate::report::Outcome;
use crate::source::discover::{self, Selection};
use crate::source::{FileId, Location, SourceFile};

/// How many statements are executed for one size at most: more than in the macro, which a compiler
/// waits for.
const STATEMENTS: u64 = 2_000_000;

/// The same where the user has named the sizes.
const STATEMENTS_OF_NAMED_SIZE: u64 = 4_000_000;

/// Checks what the options name, at the levels that the command line sets.
pub fn check(options: &Check, settings: &[Setting]) -> Outcome {
    let discovered = if options.paths.is_empty() {
        let (packages, exclude) = (options.packages.clone(), options.exclude.clone());
        let cargo = options.cargo.clone();
        discover::in_workspace(&Selection {
            packages,
            workspace: options.workspace,
            exclude,
            cargo,
        })
    } else {
        discover::under_paths(&options.paths)
    };
    let judged = CheckOptions {
        sizes: options.ranks.as_ref().map(|ranks| ranks.0.clone()),
        eager_limit: options.eager_limit,
        statements: if options.ranks.is_some() { STATEMENTS_OF_NAMED_SIZE } else { STATEMENTS },
    };
    let readings = read::all(discovered.inputs, &judged);
    let mut gathering = Gathering {
        outcome: Outcome::default(),
        configuration: Configuration::default(),
        settings,
        everything: options.ranks.is_none() && options.eager_limit == 0,
    };
    gathering.outcome.packages = discovered.packages;
    for failure in discovered.failures.into_iter().chain(readings.failures) {
        gathering.fail(failure, None);
    }
    for reading in readings.files {
        gathering.add(reading);
    }
    gathering.finish()
}

/// Decides what of all that was read is shown.
struct Gathering<'a> {
    outcome: Outcome,
    configuration: Configuration,
    settings: &'a [Setting],
    /// The run leaves out nothing that a suppression could be about.
    everything: bool,
}

impl Gathering<'_> {
    fn fail(&mut self, failure: Failure, file: Option<FileId>) {
        self.outcome.diagnostics.push(Diagnostic::of_failure(failure, file));
    }

    fn add(&mut self, reading: Reading) {
        let summary = &mut self.outcome.summary;
        summary.files += 1;
        if reading.protocols.is_empty() && reading.failures.is_empty() {
            return;
        }
        summary.files_with_protocols += usize::from(!reading.protocols.is_empty());
        for protocol in &reading.protocols {
            let name = format!("`{}` in {}", protocol.name, reading.source.name);
            summary.add_protocol(&name, &protocol.sizes);
        }
        let levels = self.levels(&reading.source);
        let used = self.add_findings(&reading, &levels);
        let whole = reading.failures.is_empty() && !reading.protocols.is_empty();
        let unused = self.unused(&reading, &used, whole && self.everything, &levels);
        let file = self.outcome.sources.add(reading.source);
        self.outcome.diagnostics.extend(unused);
        for failure in reading.failures {
            self.fail(failure, Some(file));
        }
        if let Some(unit) = reading.unit {
            self.outcome.units.insert(file, unit);
        }
    }

    /// The levels for a file; what is wrong with where they stand is reported once.
    fn levels(&mut self, source: &SourceFile) -> Levels {
        let folder = source.path.parent().unwrap_or(Path::new(""));
        let mut levels = Levels::clone(&self.configuration.levels(folder));
        self.settings.iter().for_each(|&setting| levels.set(setting));
        for (file, failures) in std::mem::take(&mut self.configuration.wrong) {
            let file = file.map(|file| self.outcome.sources.add(file));
            failures.into_iter().for_each(|failure| self.fail(failure, file));
        }
        levels
    }

    /// Adds what is not silenced; says of every suppression whether it silenced anything.
    fn add_findings(&mut self, reading: &Reading, levels: &Levels) -> Vec<bool> {
        // The file gets this number once all that is said about it is known.
        let file = self.outcome.sources.len();
        let suppressions = &reading.suppressions.list;
        let mut used = vec![false; suppressions.len()];
        for protocol in &reading.protocols {
            let location = |bytes: &std::ops::Range<usize>| Location { file, bytes: bytes.clone() };
            let places: Arc<[Location]> = protocol.places.iter().map(location).collect();
            for finding in &protocol.findings {
                let level = if protocol.allowed.iter().any(|rule| rule == finding.rule) {
                    Level::Allow
                } else {
                    levels.of(finding.rule, finding.level)
                };
                let severity = Severity::of(level);
                let message =
                    Diagnostic::of_finding(finding, severity.unwrap_or(Severity::Warning), &places);
                let silenced = silence(reading, &message, &mut used);
                if severity.is_some() && !silenced {
                    self.outcome.diagnostics.push(message);
                } else if severity.is_some() || !off_by_default(finding.rule) {
                    self.outcome.summary.allowed += 1;
                }
            }
        }
        used
    }

    /// What `unused-suppression` has to say about a file; `whole` if all of it was judged.
    fn unused(
        &self,
        reading: &Reading,
        used: &[bool],
        whole: bool,
        levels: &Levels,
    ) -> Vec<Diagnostic> {
        let level = levels.of(UNUSED_SUPPRESSION.name, UNUSED_SUPPRESSION.level);
        let Some(severity) = Severity::of(level) else { return Vec::new() };
        let file = self.outcome.sources.len();
        let mut found = Vec::new();
        for (suppression, used) in reading.suppressions.list.iter().zip(used) {
            let message = match catalogue::find(&suppression.rule) {
                None => unknown(&suppression.rule),
                Some(rule) if rule.name == UNUSED_SUPPRESSION.name => continue,
                Some(rule) if !used && whole => {
                    format!("`{}` finds nothing here to allow", rule.name)
                }
                Some(_) => continue,
            };
            found.push((suppression.bytes.clone(), message, "take the comment out"));
        }
        for bytes in &reading.suppressions.unclear {
            let message = "this suppression cannot be read".to_owned();
            found.push((bytes.clone(), message, "write `// p2p-check: allow(RULE) reason`"));
        }
        let diagnostic = |(bytes, message, help): (_, _, &str)| Diagnostic {
            severity,
            rule: Some(UNUSED_SUPPRESSION.name),
            message,
            primary: Some(Label { at: Location { file, bytes }, text: String::new() }),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: vec![help.to_owned()],
            evidence: None,
        };
        let mut rest = vec![false; reading.suppressions.list.len()];
        let diagnostics = found.into_iter().map(diagnostic);
        diagnostics.filter(|diagnostic| !silence(reading, diagnostic, &mut rest)).collect()
    }

    fn finish(self) -> Outcome {
        let mut outcome = self.outcome;
        let sources = &outcome.sources;
        outcome.diagnostics.sort_by_cached_key(|it| {
            let primary = it.primary.as_ref();
            let place = primary.map(|label| {
                let name = sources.file(label.at.file).name.clone();
                (name, label.at.bytes.start, label.at.bytes.end)
            });
            (place, it.rule, it.message.clone())
        });
        for diagnostic in &outcome.diagnostics {
            outcome.summary.count(diagnostic);
        }
        outcome
    }
}

/// Whether nobody sees a rule's findings who does not ask for them.
fn off_by_default(rule: &str) -> bool {
    catalogue::find(rule).is_some_and(|rule| rule.level == Level::Allow)
}

/// Whether a comment silences a message; each that does is marked.
fn silence(reading: &Reading, message: &Diagnostic, used: &mut [bool]) -> bool {
    let (Some(rule), Some(primary)) = (message.rule, &message.primary) else { return false };
    let line = reading.source.position(primary.at.bytes.start).line;
    let mut silenced = false;
    for (suppression, used) in reading.suppressions.list.iter().zip(used) {
        if suppression.covers(rule, line) {
            *used = true;
            silenced = true;
        }
    }
    silenced
}

fn unknown(rule: &str) -> String {
    let rules = catalogue::all();
    format!("no rule is called `{rule}`{}", did_you_mean(rule, rules.iter().map(|it| it.name)))
}
