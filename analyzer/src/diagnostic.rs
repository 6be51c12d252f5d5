//! One thing to report: a plain value that each report turns into its own format.

use std::ops::Range;
use std::sync::Arc;

use p2p_protocol::finding::{Certainty, Finding, Level, Step, Wait};
use p2p_protocol::model::{Place, Rank};

use crate::source::{FileId, Location};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Shown.
    Warning,
    /// Shown, and the check fails.
    Error,
}

impl Severity {
    /// The severity of a level; `None` where nothing is shown.
    pub fn of(level: Level) -> Option<Severity> {
        match level {
            Level::Allow => None,
            Level::Warn => Some(Severity::Warning),
            Level::Deny => Some(Severity::Error),
        }
    }

    /// As compilers write it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place with something to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub at: Location,
    /// What, in a few words; may be empty.
    pub text: String,
}

/// What a report prints as one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The rule that was broken; `None` where something could not be checked.
    pub rule: Option<&'static str>,
    /// What happens, in one sentence.
    pub message: String,
    /// Where; `None` for what has no place, such as a missing file.
    pub primary: Option<Label>,
    /// The other places that belong to it.
    pub secondary: Vec<Label>,
    /// Why it is wrong.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Vec<String>,
    /// What the judgement rests on, where ranks were run.
    pub evidence: Option<Evidence>,
}

/// Who does what, for which sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Whether it happens in any case.
    pub certainty: Certainty,
    /// The ranks concerned, at the smallest size.
    pub ranks: Vec<Rank>,
    /// The sizes at which it happens, ascending.
    pub sizes: Vec<u32>,
    /// Every rank that waits.
    pub waits: Vec<Wait>,
    /// A run that shows it.
    pub trace: Vec<Step>,
    places: Arc<[Location]>,
}

impl Evidence {
    /// Where a place is.
    pub fn place(&self, place: Place) -> &Location {
        locate(&self.places, place)
    }
}

impl Diagnostic {
    /// A finding of the judge; `places` are what its places stand for, the first of them the
    /// protocol itself.
    pub fn of_finding(finding: &Finding, severity: Severity, places: &Arc<[Location]>) -> Self {
        let label = |label: &p2p_protocol::finding::Label| Label {
            at: locate(places, label.place).clone(),
            text: label.text.clone(),
        };
        let primary = label(&finding.primary);
        let mut secondary: Vec<Label> = finding.secondary.iter().map(label).collect();
        for request in finding.requests.iter().map(label) {
            // `immediate_send(..).wait()` is one place: its start needs no words of its own.
            let shown = |shown: &Label| shown.at.overlaps(&request.at);
            if !shown(&primary) && !secondary.iter().any(shown) {
                secondary.push(request);
            }
        }
        Diagnostic {
            severity,
            rule: Some(finding.rule),
            message: finding.message.clone(),
            primary: Some(primary),
            secondary,
            notes: finding.notes.clone(),
            help: finding.help.clone(),
            evidence: Some(Evidence {
                certainty: finding.certainty.clone(),
                ranks: finding.ranks.clone(),
                sizes: finding.sizes.clone(),
                waits: finding.waits.clone(),
                trace: finding.trace.clone(),
                places: Arc::clone(places),
            }),
        }
    }

    /// Something that could not be checked.
    pub fn of_failure(failure: Failure, file: Option<FileId>) -> Self {
        let at = file.zip(failure.bytes).map(|(file, bytes)| Location { file, bytes });
        Diagnostic {
            severity: Severity::Error,
            rule: None,
            message: failure.message,
            primary: at.map(|at| Label { at, text: String::new() }),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: failure.help.into_iter().collect(),
            evidence: None,
        }
    }
}

/// A place's location; the first one for a place that is not of this protocol, so that a slip in
/// a rule cannot end the whole check.
fn locate(places: &[Location], place: Place) -> &Location {
    places.get(place.0 as usize + 1).unwrap_or(&places[0])
}

/// Something that could not be checked: a file that cannot be read, a protocol that is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is the matter.
    pub message: String,
    /// Where, in the file that is being read.
    pub bytes: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Failure {
    /// A failure without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), bytes: None, help: None }
    }

    /// A failure at a place.
    pub fn at(bytes: Range<usize>, message: impl Into<String>) -> Self {
        Failure { message: message.into(), bytes: Some(bytes), help: None }
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: Option<impl Into<String>>) -> Self {
        self.help = help.map(Into::into);
        self
    }
}
