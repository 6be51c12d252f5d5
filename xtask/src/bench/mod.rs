//! `cargo xtask bench`: what the project promises, measured.
//!
//! Each measurement prints a Markdown table with its target beside. None of them is a test: a
//! number on a busy machine says nothing about the code.

mod analyzer;
mod cost;

use clap::ValueEnum;

use crate::Result;
use crate::workspace::{cargo, run as run_command};

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// How fast worlds are run on paper, and how the time grows
    Engine,
    /// How long a check of rsmpi programs takes
    Analyzer,
    /// How long a protocol takes to expand, and the library to build
    Macro,
    /// How fast messages travel between threads
    Threads,
}

/// Measures the subjects given, or all.
pub(crate) fn run(subjects: &[Subject]) -> Result {
    let subjects = if subjects.is_empty() { Subject::value_variants() } else { subjects };
    for subject in subjects {
        match subject {
            Subject::Engine => run_command(cargo(bench("p2p-protocol", "engine")))?,
            Subject::Analyzer => analyzer::run()?,
            Subject::Macro => cost::run()?,
            Subject::Threads => run_command(cargo(bench("p2p-runtime", "threads")))?,
        }
    }
    Ok(())
}

/// The words after `cargo` that run one benchmark of one package.
fn bench<'a>(package: &'a str, name: &'a str) -> [&'a str; 6] {
    ["bench", "--quiet", "--package", package, "--bench", name]
}
