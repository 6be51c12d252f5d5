//! What was found, in words: one file a format, all from the same plain values.

mod coverage;
mod excerpt;
pub mod github;
pub mod human;
pub mod json;
pub mod short;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use p2p_protocol::grammar::{CheckedSize, Coverage};

use crate::coverage::Call;
use crate::diagnostic::{Diagnostic, Severity};
use crate::read::rust::TargetProgram;
use crate::source::discover::Unit;
use crate::source::{FileId, Sources};

/// All that a report may say.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files that it speaks of.
    pub sources: Sources,
    /// The messages, in the order in which they are printed.
    pub diagnostics: Vec<Diagnostic>,
    /// What was looked at.
    pub summary: Summary,
    /// Every call that communicates, if they are asked for.
    pub calls: Option<Vec<Call>>,
    /// The targets that files belong to, where they are known.
    pub units: BTreeMap<FileId, Arc<Unit>>,
    /// A target of each package that was looked at, whatever was found in it.
    pub packages: Vec<Arc<Unit>>,
    /// The programs that were run. Nobody reports on them; but taking them apart takes time, which
    /// a process that ends can spare.
    pub programs: Vec<TargetProgram>,
}

/// What was looked at, and how it came out.
#[derive(Debug, Default)]
pub struct Summary {
    /// Files that were read.
    pub files: usize,
    /// Files with a protocol, or with calls that communicate.
    pub files_judged: usize,
    /// Protocols that were judged.
    pub protocols: usize,
    /// Those among them that allow none of the sizes asked for, and so were not run at all.
    pub not_run: usize,
    /// Those of which no size was looked at to its end.
    pub unfinished: usize,
    /// Programs that communicate.
    pub programs: usize,
    /// Their calls that communicate.
    pub calls: usize,
    /// Those among them that were understood.
    pub understood: usize,
    /// Those of which it is known what they do, but not all that a rule could ask.
    pub partly: usize,
    /// The sizes that a program refuses itself.
    pub refused: BTreeMap<String, BTreeSet<u32>>,
    /// The sizes that were run.
    pub sizes: BTreeSet<u32>,
    /// Not every protocol was run with every one of them.
    pub sizes_differ: bool,
    /// The protocols of which not every course was followed, and with which sizes.
    pub incomplete: BTreeMap<String, BTreeSet<u32>>,
    /// The values that each parameter had, by its name.
    pub parameters: BTreeMap<String, BTreeSet<i64>>,
    /// Local headers of C programs that were not found, and where they are included.
    pub missing: Vec<(String, String)>,
    /// Findings at deny level.
    pub errors: usize,
    /// Findings at warn level.
    pub warnings: usize,
    /// Findings that would be shown if nobody had allowed them.
    pub allowed: usize,
    /// What could not be checked.
    pub unchecked: usize,
}

impl Summary {
    /// Adds a protocol that was judged. A size of which only the beginning could be looked at does
    /// not count; it is reported by itself.
    pub fn add_protocol(&mut self, name: &str, sizes: &[CheckedSize]) {
        self.protocols += 1;
        self.not_run += usize::from(sizes.is_empty());
        let judged: Vec<&CheckedSize> =
            sizes.iter().filter(|checked| checked.coverage <= Coverage::Choices).collect();
        self.unfinished += usize::from(judged.is_empty() && !sizes.is_empty());
        let run: BTreeSet<u32> = judged.iter().map(|checked| checked.size).collect();
        self.sizes_differ |= !self.sizes.is_empty() && !run.is_empty() && self.sizes != run;
        self.sizes.extend(run);
        for checked in judged.iter().filter(|checked| !checked.is_complete()) {
            self.incomplete.entry(name.to_owned()).or_default().insert(checked.size);
        }
        for (name, values) in judged.iter().flat_map(|checked| &checked.parameters) {
            self.parameters.entry(name.clone()).or_default().extend(values);
        }
    }

    /// Counts a message.
    pub fn count(&mut self, diagnostic: &Diagnostic) {
        match (diagnostic.rule, diagnostic.severity) {
            (None, _) => self.unchecked += 1,
            (Some(_), Severity::Error) => self.errors += 1,
            (Some(_), Severity::Warning) => self.warnings += 1,
        }
    }
}
