//! `cargo xtask programs`: the programs of `runtime/examples` and `runtime/tests/programs`, run as
//! threads and with every MPI that is here.
//!
//! Each checks its own results, so that to end well is to be right. The outcome of every run is in
//! one table. A job that leaves a process or shared memory behind is wrong however it has ended.

mod leftovers;
mod plan;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use self::leftovers::Before;
use self::plan::{Outcome, Run};
use super::{Mpi, OUT_OF_TIME};
use crate::Result;
use crate::workspace::{cargo, own_target, run as run_command};

/// Builds and runs everything, prints the table, and fails if any run did not come out as it should.
pub(crate) fn run(long: bool, only: &[String]) -> Result {
    let mpis = Mpi::all();
    let mut runs = plan::all()?;
    runs.retain(|run| long || !run.is_long);
    runs.retain(|run| only.is_empty() || only.iter().any(|name| name == run.program()));
    let ways = build(&mpis, long)?;

    let columns: String = ways.iter().map(|way| format!("  {:16}", way.name())).collect();
    println!("\n{:32}  ranks{columns}", "program");
    let mut wrong = Vec::new();
    for run in &runs {
        let mut row = format!("{:32}  {:5}", run.shown(), run.ranks);
        for way in &ways {
            if run.is_only_mpi && way.mpi.is_none() {
                row += &format!("  {:16}", "-");
                continue;
            }
            let seen = way.observe(run)?;
            row += &format!("  {:16}", seen.shown);
            wrong.extend(seen.wrong.map(|why| format!("{} ({}): {why}", run.shown(), way.name())));
        }
        println!("{}", row.trim_end());
    }
    if mpis.is_empty() {
        println!("\nprograms: only as threads: no MPI is here (`cargo xtask setup` installs two)");
    }
    println!("\nprograms: {} runs, {} came out wrong", runs.len(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// A way to run programs: as threads, or with an MPI.
struct Way<'a> {
    mpi: Option<&'a Mpi>,
    /// Where the programs are.
    folder: PathBuf,
}

/// Builds the programs for all ways; for long runs optimised, but with all assertions. The same files
/// run with an MPI and as threads; where there is no MPI they know of none.
fn build(mpis: &[Mpi], long: bool) -> Result<Vec<Way<'_>>> {
    let words = ["build", "--quiet", "--package", "p2p-runtime", "--examples"];
    let run = |mut build: Command| {
        if long {
            build.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2");
        }
        run_command(build)
    };
    for mpi in mpis {
        run(mpi.cargo(words.into_iter().chain(["--features", "mpi"])))?;
    }
    let target = match mpis.first() {
        Some(mpi) => mpi.target().to_owned(),
        None => {
            run(cargo(words))?;
            own_target()?
        }
    };
    let way = |mpi, target: &Path| Way { mpi, folder: target.join("debug/examples") };
    let with_mpi = mpis.iter().map(|mpi| way(Some(mpi), mpi.target()));
    Ok(std::iter::once(way(None, &target)).chain(with_mpi).collect())
}

/// What has come of a run.
struct Seen {
    /// For the table.
    shown: String,
    /// Why it is not what it should be.
    wrong: Option<String>,
}

impl Way<'_> {
    fn name(&self) -> &str {
        self.mpi.map_or("threads", Mpi::version)
    }

    fn observe(&self, run: &Run) -> Result<Seen> {
        let mut command = run.starter(self.mpi);
        let shared = self.mpi.map(|mpi| mpi.keep_together(&mut command)).transpose()?;
        run.add_program(&mut command, &self.folder);
        let (before, start) = (Before::now(), Instant::now());
        let output = command.output().map_err(|error| format!("`timeout`: {error}"))?;
        let after = start.elapsed();
        let program = self.folder.join(run.program());
        let left = before.left(&program, shared.as_deref().unwrap_or(Path::new("")));
        Ok(judge(&output, &run.outcome, after, &left))
    }
}

fn judge(output: &Output, expected: &Outcome, after: Duration, left: &[String]) -> Seen {
    // MPICH's launcher says on standard output how a rank has ended.
    let both = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&both);
    let seen = match output.status.code() {
        Some(0) => "ends",
        Some(OUT_OF_TIME) => "hangs",
        _ => "fails",
    };
    let (right, should) = match expected {
        Outcome::Ends => (seen == "ends", "end".to_owned()),
        Outcome::Fails(text) => {
            (seen == "fails" && said.contains(text), format!("fail and say `{text}`"))
        }
    };
    let wrong = if !right {
        let last = said.lines().count().saturating_sub(20);
        let lines = said.lines().skip(last).map(|line| format!("\n  {line}"));
        let says: String = lines.collect();
        Some(format!("should {should}, and {seen}; the end of what it says:{says}"))
    } else if !left.is_empty() {
        Some(format!("leaves behind {}", left.join(", ")))
    } else {
        None
    };
    let mark = if wrong.is_some() { " !" } else { "" };
    Seen { shown: format!("{seen}, {:.1} s{mark}", after.as_secs_f64()), wrong }
}
