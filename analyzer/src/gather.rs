//! Decides what of all that was found is shown: levels, suppressions, and what each is worth.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use p2p_protocol::finding::{Finding, Level};

use crate::catalogue::{self, UNUSED_SUPPRESSION, did_you_mean};
use crate::config::{Configuration, Levels, Setting};
use crate::coverage::Call;
use crate::diagnostic::{Diagnostic, Failure, Label, Severity};
use crate::evaluate::Understood;
use crate::examine::Examined;
use crate::read::rust::TargetProgram;
use crate::read::{Reading, Readings};
use crate::report::Outcome;
use crate::source::discover::{Input, Unit};
use crate::source::{FileId, Language, Location};
use crate::suppress::{self, Suppressions};

/// What is being put together.
pub(crate) struct Gathering<'a> {
    outcome: Outcome,
    configuration: Configuration,
    settings: &'a [Setting],
    /// The run leaves out nothing that a suppression could be about.
    everything: bool,
}

/// A file that suppressions may stand in.
struct Suppressing {
    suppressions: Suppressions,
    /// Which of them silence something.
    used: Vec<bool>,
    levels: Levels,
    /// All of it was judged.
    whole: bool,
}

impl<'a> Gathering<'a> {
    /// Nothing yet. `everything`: the run leaves out nothing that a suppression could be about.
    pub(crate) fn new(settings: &'a [Setting], everything: bool) -> Self {
        Gathering {
            outcome: Outcome::default(),
            configuration: Configuration::default(),
            settings,
            everything,
        }
    }

    /// A target of each package that is looked at.
    pub(crate) fn add_packages(&mut self, packages: Vec<Arc<Unit>>) {
        self.outcome.packages = packages;
    }

    /// Keeps what was run as long as what came of it.
    pub(crate) fn keep(&mut self, programs: Vec<TargetProgram>) {
        self.outcome.programs = programs;
    }

    /// Whether a rule of a group is to be shown anywhere among these files that is not shown by default.
    pub(crate) fn asks_for(&mut self, group: &str, inputs: &[Input]) -> bool {
        let rules: Vec<_> =
            catalogue::all().into_iter().filter(|rule| rule.group == group).collect();
        let mut folders: Vec<PathBuf> = inputs.iter().filter_map(Input::real_folder).collect();
        folders.dedup();
        folders.into_iter().any(|folder| {
            let mut levels = Levels::clone(&self.configuration.levels(&folder));
            self.settings.iter().for_each(|&setting| levels.set(setting));
            rules.iter().any(|rule| levels.of(rule.name, rule.level) > Level::Allow)
        })
    }

    /// Adds what could not be checked and stands in no file.
    pub(crate) fn fail_all(&mut self, failures: Vec<Failure>) {
        failures.into_iter().for_each(|failure| self.fail(failure, None));
    }

    fn fail(&mut self, failure: Failure, file: Option<FileId>) {
        self.outcome.diagnostics.push(Diagnostic::of_failure(failure, file));
    }

    /// Adds all that was read and run. The files keep the numbers that they have there.
    pub(crate) fn add(&mut self, readings: Readings, examined: Examined, list_calls: bool) {
        self.fail_all(readings.failures);
        let mut files = BTreeMap::new();
        let mut protocols = Vec::new();
        for reading in readings.files {
            let Reading { source, unit, protocols: judged, failures, again, .. } = reading;
            self.outcome.summary.files += usize::from(!again);
            for protocol in &judged {
                let name = format!("`{}` in {}", protocol.name, source.name);
                self.outcome.summary.add_protocol(&name, &protocol.sizes);
            }
            let file = self.outcome.sources.add(source);
            if let Some(unit) = unit {
                self.outcome.units.insert(file, unit);
            }
            let whole = failures.is_empty();
            for failure in failures {
                self.fail(failure, Some(file));
            }
            files.insert(file, whole);
            if !judged.is_empty() {
                protocols.push((file, judged));
            }
        }
        let mut suppressing = self.suppressing(files, &protocols, &examined);
        for (file, judged) in &protocols {
            for protocol in judged {
                let location =
                    |bytes: &std::ops::Range<usize>| Location { file: *file, bytes: bytes.clone() };
                let places: Arc<[Location]> = protocol.places.iter().map(location).collect();
                for finding in &protocol.findings {
                    let allowed = protocol.allowed.iter().any(|rule| rule == finding.rule);
                    self.add_finding(finding, &places, allowed, &mut suppressing);
                }
            }
        }
        for (finding, places) in &examined.findings {
            self.add_finding(finding, places, false, &mut suppressing);
        }
        for (file, one) in &suppressing {
            self.add_unused(*file, one);
        }
        let missing = readings.missing.into_iter();
        let missing = missing.map(|(name, at)| (name, self.outcome.sources.short(&at)));
        self.outcome.summary.missing = missing.collect();
        self.add_examined(examined, list_calls);
    }

    /// The files in which something was judged, or could have been.
    fn suppressing(
        &mut self,
        files: BTreeMap<FileId, bool>,
        protocols: &[(FileId, Vec<crate::read::protocol::Judged>)],
        examined: &Examined,
    ) -> BTreeMap<FileId, Suppressing> {
        let calls = understood_by_file(&examined.calls);
        let found_in = |(_, places): &(Finding, Arc<[Location]>)| places[0].file;
        let programs: Vec<FileId> = examined.findings.iter().map(found_in).collect();
        let mut suppressing = BTreeMap::new();
        for (file, whole) in files {
            let has_protocols = protocols.iter().any(|(it, _)| *it == file);
            let in_program = calls.contains_key(&file) || programs.contains(&file);
            let judged = has_protocols || in_program || examined.without_calls.contains(&file);
            if !judged && whole {
                continue;
            }
            if judged {
                self.outcome.summary.files_judged += 1;
            }
            let understood = calls.get(&file).copied();
            let levels = self.levels(file);
            let source = self.outcome.sources.file(file);
            let language = Language::of_named(&source.path).unwrap_or_default();
            let suppressions = suppress::find(&source.text, language);
            let one = Suppressing {
                used: vec![false; suppressions.list.len()],
                suppressions,
                levels,
                whole: whole && judged && understood.unwrap_or(true),
            };
            suppressing.insert(file, one);
        }
        suppressing
    }

    /// The levels for a file; what is wrong with where they stand is reported once.
    fn levels(&mut self, file: FileId) -> Levels {
        let path = &self.outcome.sources.file(file).path;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut levels = Levels::clone(&self.configuration.levels(folder));
        self.settings.iter().for_each(|&setting| levels.set(setting));
        for (file, failures) in std::mem::take(&mut self.configuration.wrong) {
            let file = file.map(|file| self.outcome.sources.add(file));
            failures.into_iter().for_each(|failure| self.fail(failure, file));
        }
        levels
    }

    /// Adds a finding unless it is silenced where it stands.
    fn add_finding(
        &mut self,
        finding: &Finding,
        places: &Arc<[Location]>,
        allowed: bool,
        suppressing: &mut BTreeMap<FileId, Suppressing>,
    ) {
        let message = Diagnostic::of_finding(finding, Severity::Warning, places);
        let file = message.primary.as_ref().map_or(places[0].file, |primary| primary.at.file);
        let level = match suppressing.get(&file) {
            _ if allowed => Level::Allow,
            Some(one) => one.levels.of(finding.rule, finding.level),
            // A file with nothing in it but the other end of something.
            None => self.levels(file).of(finding.rule, finding.level),
        };
        let severity = Severity::of(level);
        let message = Diagnostic { severity: severity.unwrap_or(Severity::Warning), ..message };
        let silenced = match suppressing.get_mut(&file) {
            Some(one) => self.silence(&one.suppressions, &message, &mut one.used),
            None => false,
        };
        if severity.is_some() && !silenced {
            self.outcome.diagnostics.push(message);
        } else if severity.is_some() || !off_by_default(finding.rule) {
            self.outcome.summary.allowed += 1;
        }
    }

    /// Whether a comment silences a message; each that does is marked.
    fn silence(
        &self,
        suppressions: &Suppressions,
        message: &Diagnostic,
        used: &mut [bool],
    ) -> bool {
        let (Some(rule), Some(primary)) = (message.rule, &message.primary) else { return false };
        let source = self.outcome.sources.file(primary.at.file);
        let line = source.position(primary.at.bytes.start).line;
        let mut silenced = false;
        for (suppression, used) in suppressions.list.iter().zip(used) {
            if suppression.covers(rule, line) {
                *used = true;
                silenced = true;
            }
        }
        silenced
    }

    /// Adds what `unused-suppression` has to say about a file.
    fn add_unused(&mut self, file: FileId, one: &Suppressing) {
        let level = one.levels.of(UNUSED_SUPPRESSION.name, UNUSED_SUPPRESSION.level);
        let Some(severity) = Severity::of(level) else { return };
        let whole = one.whole && self.everything;
        let mut found = Vec::new();
        for (suppression, used) in one.suppressions.list.iter().zip(&one.used) {
            let (message, help) = match catalogue::find(&suppression.rule) {
                None => (unknown(&suppression.rule), "correct the name"),
                Some(rule) if rule.name == UNUSED_SUPPRESSION.name => continue,
                Some(rule) if !used && whole => {
                    (format!("`{}` finds nothing here to allow", rule.name), "take the comment out")
                }
                Some(_) => continue,
            };
            found.push((suppression.bytes.clone(), message, help));
        }
        for bytes in &one.suppressions.unclear {
            let message = "this suppression cannot be read".to_owned();
            found.push((bytes.clone(), message, "write `// p2p-check: allow(RULE) reason`"));
        }
        let mut rest = vec![false; one.suppressions.list.len()];
        for (bytes, message, help) in found {
            let diagnostic = Diagnostic {
                severity,
                rule: Some(UNUSED_SUPPRESSION.name),
                message,
                primary: Some(Label { at: Location { file, bytes }, text: String::new() }),
                secondary: Vec::new(),
                notes: Vec::new(),
                help: vec![help.to_owned()],
                evidence: None,
            };
            if !self.silence(&one.suppressions, &diagnostic, &mut rest) {
                self.outcome.diagnostics.push(diagnostic);
            }
        }
    }

    fn add_examined(&mut self, examined: Examined, list_calls: bool) {
        for (file, failure) in examined.failures {
            self.fail(failure, Some(file));
        }
        let summary = &mut self.outcome.summary;
        summary.programs = examined.programs;
        summary.calls = examined.calls.len();
        let count = |wanted: fn(&Understood) -> bool| {
            examined.calls.iter().filter(|call| wanted(&call.understood)).count()
        };
        summary.understood = count(|it| *it == Understood::Fully);
        summary.partly = count(|it| matches!(it, Understood::Partly(_)));
        summary.sizes_differ |= examined.sizes_differ
            || (!summary.sizes.is_empty()
                && !examined.sizes.is_empty()
                && summary.sizes != examined.sizes);
        summary.sizes.extend(examined.sizes);
        summary.refused = examined.refused;
        summary.incomplete.extend(examined.incomplete);
        if list_calls {
            self.outcome.calls = Some(examined.calls);
        }
    }

    /// All of it, in the order in which it is printed.
    pub(crate) fn finish(self) -> Outcome {
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

/// For each file with calls whether all of them were understood.
fn understood_by_file(calls: &[Call]) -> BTreeMap<FileId, bool> {
    let mut files = BTreeMap::new();
    for call in calls {
        let understood = !matches!(call.understood, Understood::Not(_));
        *files.entry(call.at.file).or_insert(true) &= understood;
    }
    files
}

/// Whether nobody sees a rule's findings who does not ask for them.
fn off_by_default(rule: &str) -> bool {
    catalogue::find(rule).is_some_and(|rule| rule.level == Level::Allow)
}

fn unknown(rule: &str) -> String {
    let rules = catalogue::all();
    format!("no rule is called `{rule}`{}", did_you_mean(rule, rules.iter().map(|it| it.name)))
}
