//! `cargo xtask bench`: what the project promises, measured.
//!
//! Each measurement prints a Markdown table with its target beside. None of them is a test: a
//! number on a busy machine says nothing about the code.

mod analyzer;
mod c;
mod cost;
mod instructions;
mod mpi;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ValueEnum;

use crate::Result;
use crate::workspace::{cargo, root, run as run_command};

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// How fast worlds are run on paper, and how the time grows
    Engine,
    /// How long a check of rsmpi programs takes
    Analyzer,
    /// What clang's own checks find in C programs and what the checker does, and how long it takes
    C,
    /// How long a protocol takes to expand, and the library to build
    Macro,
    /// How fast messages travel between threads
    Threads,
    /// What typed steps add to the calls that they are made of, in instructions
    Instructions,
    /// How fast messages travel over MPI, beside C and rsmpi; writes the book's page about it
    Mpi,
}

/// Measures the subjects given, or all.
pub(crate) fn run(subjects: &[Subject]) -> Result {
    let subjects = if subjects.is_empty() { Subject::value_variants() } else { subjects };
    for subject in subjects {
        match subject {
            Subject::Engine => run_command(cargo(bench("p2p-protocol", "engine")))?,
            Subject::Analyzer => analyzer::run()?,
            Subject::C => c::run()?,
            Subject::Macro => cost::run()?,
            Subject::Instructions => instructions::run()?,
            Subject::Mpi => mpi::run()?,
            Subject::Threads => run_command(cargo(bench("p2p-runtime", "threads")))?,
        }
    }
    Ok(())
}

/// The words after `cargo` that run one benchmark of one package.
fn bench<'a>(package: &'a str, name: &'a str) -> [&'a str; 6] {
    ["bench", "--quiet", "--package", package, "--bench", name]
}

/// The checker, as it was built with optimisation.
fn checker() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release").join("p2p-check")
}

/// Has cargo build something, and gives back where it has put it.
pub(crate) fn executable(mut build: Command) -> Result<PathBuf> {
    build.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let text = String::from_utf8(build.output()?.stdout)?;
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut executables = messages.filter_map(|message: serde_json::Value| {
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    });
    executables.next_back().ok_or_else(|| "the benchmark does not build".into())
}
