//! `cargo xtask test`: every check and every test.
//!
//! The cheap ones come first, so that a slip in the layout does not cost a build. The tests come
//! last, so that the last line on the screen is the test runner's own.

use std::process::Command;

use crate::mpi::{Mpi, programs};
use crate::workspace::{cargo, files, has_subcommand, root, run};
use crate::{Result, fixtures, generate};

/// How long the grammar is fuzzed where a fuzzer is installed.
const FUZZ_SECONDS: u32 = 30;

/// The lints, on everything that is compiled; every package's, even after one has failed.
const CLIPPY: &str = "clippy --workspace --all-targets --keep-going --quiet -- -D warnings";

/// The same of what only an installed MPI can compile.
const CLIPPY_WITH_MPI: &str =
    "clippy --package p2p-runtime --features mpi --all-targets --keep-going --quiet -- -D warnings";

/// Runs everything; `long` with optimisation and with many more random cases.
pub(crate) fn run_all(long: bool) -> Result {
    layout()?;
    run(cargo(CLIPPY.split(' ')))?;
    if let Some(mpi) = Mpi::all().first() {
        run(mpi.cargo(CLIPPY_WITH_MPI.split(' ')))?;
    }
    generate::run(true)?;
    fuzz()?;
    fixtures::run_rsmpi()?;
    fixtures::run_c()?;
    programs::run(long, &[])?;
    tests(long)
}

/// Everything is laid out as rustfmt does it: the packages, and the files that are no package's.
fn layout() -> Result {
    run(cargo(["fmt", "--all", "--check"]))?;
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--check"]).current_dir(root());
    rustfmt.args(files(&root().join("fixtures"), ".rs")?);
    let cases = files(&root().join("protocol/src/rules"), ".rs")?;
    rustfmt.args(cases.iter().filter(|path| path.iter().any(|part| part == "cases")));
    run(rustfmt)
}

/// Throws random tokens at the grammar, guided by what they reach.
fn fuzz() -> Result {
    if !root().join("fuzz").exists() || !has_subcommand("fuzz") {
        return Ok(());
    }
    // What is found goes into the first folder; the fixtures are only where it starts from.
    std::fs::create_dir_all(root().join("fuzz/corpus/grammar"))?;
    let limit = format!("-max_total_time={FUZZ_SECONDS}");
    let corpus = ["fuzz/corpus/grammar", "fixtures"];
    let how = ["--", "-dict=fuzz/grammar.dict", &limit];
    run(cargo(["fuzz", "run", "-s", "none", "grammar"].iter().chain(&corpus).chain(&how)))
}

/// All tests of the workspace, with nextest where it is installed.
fn tests(long: bool) -> Result {
    let profile: &[&str] = if long { &["--release"] } else { &[] };
    let with_profile = |words: &[&str]| {
        let mut command = cargo(words.iter().chain(profile));
        if long {
            command.env("P2P_LONG", "1");
        }
        command
    };
    if has_subcommand("nextest") {
        run(with_profile(&["test", "--workspace", "--doc"]))?;
        run(with_profile(&["nextest", "run", "--workspace", "--no-fail-fast"]))
    } else {
        run(with_profile(&["test", "--workspace", "--no-fail-fast"]))
    }
}
