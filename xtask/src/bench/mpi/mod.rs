//! What messages cost over MPI: C, raw rsmpi and this library, with every MPI that is here.
//!
//! The programs are `runtime/benches/mpi/`: `contender.c`, and one in Rust in which rsmpi and this
//! library take turns. Both get the same plan, and run in turns as well. What they print becomes
//! tables and a plot in the book.

mod plan;
mod plot;
mod samples;
mod tables;

use std::path::{Path, PathBuf};

use self::samples::Samples;
use crate::Result;
use crate::mpi::Mpi;
use crate::workspace::{root, write};

/// How often the programs take turns: what a pair of processes takes for a short message depends on
/// where it has been put.
const RUNS: usize = 3;

/// How long one run may take, in seconds.
const ENDS_WITHIN: u32 = 300;

/// Where tables and plot go.
const PAGE: &str = "docs/use/mpi-measured.md";
const PLOT: &str = "docs/use/mpi-measured.svg";

/// What was measured with one MPI.
struct Measured {
    mpi: String,
    /// For each number of ranks.
    samples: Vec<(u32, Samples)>,
}

pub(super) fn run() -> Result {
    let mut all = Vec::new();
    for mpi in Mpi::all() {
        let programs = [compile_c(&mpi)?, build_rust(&mpi)?];
        let mut samples = Vec::new();
        for ranks in [2, 4] {
            samples.push((ranks, measure(&mpi, ranks, &programs)?));
        }
        all.push(Measured { mpi: mpi.version().to_owned(), samples });
    }
    if all.is_empty() {
        return Err("no MPI is here; `cargo xtask setup` installs two".into());
    }
    let page = tables::page(&all);
    println!("{page}");
    write(&root().join(PAGE), &page)?;
    write(&root().join(PLOT), &plot::draw(&all)?)?;
    eprintln!("written: {PAGE}, {PLOT}");
    Ok(())
}

fn compile_c(mpi: &Mpi) -> Result<PathBuf> {
    let program = mpi.target().join("contender");
    mpi.compile(&root().join("runtime/benches/mpi/contender.c"), &program)?;
    Ok(program)
}

/// Builds the benchmark; cargo says where it has put it.
fn build_rust(mpi: &Mpi) -> Result<PathBuf> {
    eprintln!("building the benchmark with {} ..", mpi.version());
    let words = "bench --quiet --package p2p-runtime --features mpi --bench mpi --no-run";
    super::executable(mpi.cargo(words.split(' ')))
}

/// All programs in turns.
fn measure(mpi: &Mpi, ranks: u32, programs: &[PathBuf]) -> Result<Samples> {
    let mut samples = Samples::default();
    for run in 0..RUNS {
        for program in programs {
            eprintln!("{}, {ranks} ranks, run {} of {RUNS} ..", mpi.version(), run + 1);
            samples.add(run, &output(mpi, ranks, program)?);
        }
    }
    Ok(samples)
}

fn output(mpi: &Mpi, ranks: u32, program: &Path) -> Result<String> {
    let mut command = mpi.launcher(ranks, ENDS_WITHIN);
    command.arg(program).args(plan::arguments(ranks));
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    Err(format!("{} does not come to its end with {}", program.display(), mpi.version()).into())
}
