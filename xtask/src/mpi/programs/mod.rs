//! `cargo xtask programs`: the programs of `runtime/examples` and `runtime/tests/programs`, run as
//! threads and with every MPI that is here.
//!
//! Each checks its own results, so that to end well is to be right. An example runs on four ranks.
//! A test program says in itself how it is run and what comes of it, on a line for each run:
//! `// run: -n 4 ARGUMENTS, ends` or `// run: -n 4 ARGUMENTS, fails: WHAT IT SAYS`. A run that begins
//! with `long:` is one for `--long`, and one that begins with `mpi:` is not for threads.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::{Mpi, OUT_OF_TIME, within};
use crate::Result;
use crate::workspace::{cargo, files, read, root, run as run_command};

/// What begins a line that says how a program is run.
const HEADER: &str = "// run: ";

/// How long a program may take, and a long one, in seconds.
const ENDS_WITHIN: u32 = 60;
const LONG_ENDS_WITHIN: u32 = 3600;

/// What is to come of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Ends,
    /// Not with success, and with this text on standard error.
    Fails(String),
}

/// A program, and how it is run.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    program: String,
    ranks: u32,
    arguments: Vec<String>,
    outcome: Outcome,
    long: bool,
    only_mpi: bool,
}

/// Builds and runs everything, prints the table, and fails if any run did not come out as it should.
pub(crate) fn run(long: bool) -> Result {
    let mpis = Mpi::all();
    let runs: Vec<Run> = all_runs()?.into_iter().filter(|run| long || !run.long).collect();
    let profile: &[&str] = if long { &["--release"] } else { &[] };
    let words = ["build", "--quiet", "--package", "p2p-runtime", "--examples"];
    for mpi in &mpis {
        let words = words.iter().chain(&["--features", "mpi"]).chain(profile).copied();
        run_command(mpi.cargo(words))?;
    }
    // The same file runs as threads; where there is no MPI, one that knows of none.
    let target = match mpis.first() {
        Some(mpi) => mpi.target().to_owned(),
        None => {
            run_command(cargo(words.iter().chain(profile)))?;
            own_target()?
        }
    };
    let folder = if long { "release/examples" } else { "debug/examples" };

    let names = mpis.iter().map(Mpi::version);
    let columns: String = names.map(|name| format!("  {name:16}")).collect();
    println!("\n{:32}  ranks  {:16}{columns}", "program", "threads");
    let mut wrong = Vec::new();
    for run in &runs {
        let mut row = format!("{:32}  {:5}", run.shown(), run.ranks);
        let threads = (!run.only_mpi).then(|| run.as_threads(&target.join(folder)));
        let with_mpi = mpis.iter().map(|mpi| Some(run.with(mpi, &mpi.target().join(folder))));
        for command in std::iter::once(threads).chain(with_mpi) {
            let Some(command) = command.transpose()? else {
                row += &format!("  {:16}", "-");
                continue;
            };
            let seen = observe(command, &run.outcome)?;
            row += &format!("  {:16}", seen.shown);
            wrong.extend(seen.wrong.map(|why| format!("{}: {why}", run.shown())));
        }
        println!("{}", row.trim_end());
    }
    if mpis.is_empty() {
        println!(
            "\nprograms: no MPI is here, so none was run with one: `cargo xtask setup` installs it"
        );
    }
    println!("\nprograms: {} runs, {} came out wrong", runs.len(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The folder that this program was built in.
fn own_target() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).ok_or("xtask lies in no target folder")?;
    Ok(target.to_owned())
}

/// All runs of all programs.
fn all_runs() -> Result<Vec<Run>> {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut runs = Vec::new();
    for file in files(&root().join("runtime/examples"), ".rs")? {
        runs.push(Run::read(&name(&file), "-n 4, ends").ok_or("four ranks are a run")?);
    }
    let folder = root().join("runtime/tests/programs");
    for file in files(&folder, ".rs")?.into_iter().filter(|file| file.parent() == Some(&folder)) {
        let text = read(&file)?;
        let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(HEADER)).collect();
        if lines.is_empty() {
            return Err(format!("{}: no line `{HEADER}-n RANKS, ends`", file.display()).into());
        }
        for line in lines {
            let run = Run::read(&name(&file), line);
            runs.push(run.ok_or_else(|| format!("{}: no run is `{line}`", file.display()))?);
        }
    }
    Ok(runs)
}

impl Run {
    /// `mpi: -n 4 panic, fails: rank 2 panicked`.
    fn read(program: &str, line: &str) -> Option<Run> {
        let (long, line) = line.strip_prefix("long: ").map_or((false, line), |rest| (true, rest));
        let (only_mpi, line) =
            line.strip_prefix("mpi: ").map_or((false, line), |rest| (true, rest));
        let (how, outcome) = line.split_once(", ")?;
        let mut words = how.strip_prefix("-n ")?.split_whitespace();
        let ranks = words.next()?.parse().ok()?;
        let outcome = match outcome.strip_prefix("fails: ") {
            Some(text) => Outcome::Fails(text.to_owned()),
            None if outcome == "ends" => Outcome::Ends,
            None => return None,
        };
        let arguments = words.map(str::to_owned).collect();
        Some(Run { program: program.to_owned(), ranks, arguments, outcome, long, only_mpi })
    }

    /// The program and its arguments.
    fn shown(&self) -> String {
        [std::slice::from_ref(&self.program), &self.arguments].concat().join(" ")
    }

    fn limit(&self) -> u32 {
        if self.long { LONG_ENDS_WITHIN } else { ENDS_WITHIN }
    }

    fn as_threads(&self, folder: &Path) -> Result<Command> {
        let mut command = within(self.limit());
        command.arg(folder.join(&self.program)).args(&self.arguments);
        command.env("P2P_RANKS", self.ranks.to_string());
        Ok(command)
    }

    fn with(&self, mpi: &Mpi, folder: &Path) -> Result<Command> {
        let mut command = mpi.launcher(self.ranks, self.limit());
        mpi.keep_together(&mut command)?;
        command.arg(folder.join(&self.program)).args(&self.arguments);
        Ok(command)
    }
}

/// What has come of a run.
struct Seen {
    /// For the table.
    shown: String,
    /// Why it is not what it should be.
    wrong: Option<String>,
}

fn observe(mut command: Command, expected: &Outcome) -> Result<Seen> {
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("`timeout` cannot start: {error}"))?;
    Ok(judge(&output, expected, start.elapsed()))
}

fn judge(output: &Output, expected: &Outcome, after: Duration) -> Seen {
    let errors = String::from_utf8_lossy(&output.stderr);
    let says = || errors.lines().rev().take(20).collect::<Vec<_>>();
    let seen = match output.status.code() {
        Some(0) => "ends",
        Some(OUT_OF_TIME) => "hangs",
        _ => "fails",
    };
    let right = match expected {
        Outcome::Ends => seen == "ends",
        Outcome::Fails(text) => seen == "fails" && errors.contains(text),
    };
    let shown = format!("{seen}, {:.1} s{}", after.as_secs_f64(), if right { "" } else { " !" });
    let wrong = (!right).then(|| {
        let should = match expected {
            Outcome::Ends => "end".to_owned(),
            Outcome::Fails(text) => format!("fail and say `{text}`"),
        };
        let mut lines = says();
        lines.reverse();
        format!("should {should}, and {seen}; the end of what it says:\n  {}", lines.join("\n  "))
    });
    Seen { shown, wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_or_refused() {
        let run = Run::read("fault", "long: mpi: -n 3 panic 7, fails: rank 2 panicked, twice");
        let run = run.expect("it is a run");
        assert!(run.long && run.only_mpi);
        assert_eq!((run.ranks, run.shown().as_str()), (3, "fault panic 7"));
        assert_eq!(run.outcome, Outcome::Fails("rank 2 panicked, twice".to_owned()));
        assert_eq!(Run::read("fault", "-n 3 panic"), None);
        assert_eq!(Run::read("fault", "-n x, ends"), None);
        assert_eq!(Run::read("fault", "-n 3, sleeps"), None);
    }
}
