//! `cargo xtask rsmpi`: the programs in `fixtures/rsmpi`, checked on paper and run with MPI.
//!
//! Each program says in itself what MPI makes of it and what the checker is to find in it. Here both
//! are tried, and put side by side in a table: a wrong program must go wrong, a right one must end,
//! and the checker must know which is which. Where there is no Open MPI, only the checker is tried.

mod launch;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Parser;
use p2p_analyzer::cli::CommandLine;

use self::program::{Behaviour, Program};
use crate::Result;
use crate::mpi::{Kind, Mpi};
use crate::workspace::root;

/// How many programs run at a time: those that hang do little else than wait.
const AT_A_TIME: usize = 4;

/// The names of the rules that found something.
type Rules = BTreeSet<String>;

/// Checks and runs all programs, prints the table, and fails if any row of it disagrees.
pub(crate) fn run() -> Result {
    let folder = root().join("fixtures/rsmpi");
    let programs = program::all(&folder)?;
    let mut found = findings(&folder);
    let start = Instant::now();
    let mpi = Mpi::find(Kind::OpenMpi);
    let seen = match &mpi {
        Some(mpi) => {
            launch::build(mpi, &folder)?;
            run_all(mpi, &programs)?
        }
        None => BTreeMap::new(),
    };
    let rows: Vec<Row<'_>> = programs
        .iter()
        .map(|program| {
            let found = found.remove(&program.file).unwrap_or_default();
            Row { program, seen: seen.get(&program.name).copied(), found }
        })
        .collect();
    print(&rows);
    for (file, rules) in &found {
        println!("{}: {}", file.display(), list(rules));
    }
    let disagreeing = rows.iter().filter(|row| !row.agrees()).count() + found.len();
    let how = match &mpi {
        Some(mpi) => format!("run with {} in {} s", mpi.version(), start.elapsed().as_secs()),
        None => "not run: no Open MPI is here (`cargo xtask setup` installs it)".to_owned(),
    };
    println!("\nrsmpi: {} programs, {how}; {disagreeing} disagree", rows.len());
    if disagreeing == 0 { Ok(()) } else { Err("MPI, checker and fixtures disagree".into()) }
}

/// One program with what was expected of it and what came.
struct Row<'a> {
    program: &'a Program,
    /// What MPI has made of it, if it was run.
    seen: Option<Behaviour>,
    found: Rules,
}

impl Row<'_> {
    fn agrees(&self) -> bool {
        self.found == self.program.expected
            && self.seen.is_none_or(|seen| self.program.behaviour.is_seen_as(seen))
    }

    /// What differs from what the program says of itself.
    fn verdict(&self) -> String {
        let Program { behaviour, expected, .. } = self.program;
        let mut differences = Vec::new();
        if self.seen.is_some_and(|seen| !behaviour.is_seen_as(seen)) {
            differences.push(format!("MPI: should be `{}`", behaviour.name()));
        }
        if self.found != *expected {
            differences.push(format!("checker: should be {}", list(expected)));
        }
        if differences.is_empty() { "agree".to_owned() } else { differences.join("; ") }
    }
}

/// What the checker finds in each file at its default levels.
fn findings(folder: &Path) -> BTreeMap<PathBuf, Rules> {
    let line = CommandLine::parse_from(["p2p-check".as_ref(), folder.as_os_str()]);
    let outcome = p2p_analyzer::check(&line.check, &[]);
    let mut found = BTreeMap::<PathBuf, Rules>::new();
    for diagnostic in &outcome.diagnostics {
        let place = diagnostic.primary.as_ref();
        let file = place.map(|label| outcome.sources.file(label.at.file).path.clone());
        let rule = diagnostic.rule.map_or_else(|| diagnostic.message.clone(), str::to_owned);
        found.entry(file.unwrap_or_default()).or_default().insert(rule);
    }
    found
}

/// Runs every program, several at a time, those that are to hang among the others.
fn run_all(mpi: &Mpi, programs: &[Program]) -> Result<BTreeMap<String, Behaviour>> {
    let next = AtomicUsize::new(0);
    let seen = Mutex::new(BTreeMap::new());
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match launch::launch(mpi, program) {
                Ok(behaviour) => {
                    seen.lock().expect("no thread panics").insert(program.name.clone(), behaviour);
                }
                Err(error) => {
                    let failure = format!("{}: {error}", program.name);
                    failures.lock().expect("no thread panics").push(failure);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    if !failures.is_empty() {
        return Err(failures.join("\n").into());
    }
    let mut seen = seen.into_inner().expect("no thread panics");
    run_alone(mpi, programs, &mut seen)?;
    Ok(seen)
}

/// Runs once more, one at a time, what did not come out as it says of itself: several launchers at once
/// can run out of what the machine has for them.
fn run_alone(mpi: &Mpi, programs: &[Program], seen: &mut BTreeMap<String, Behaviour>) -> Result {
    for program in programs {
        let first = seen.get(&program.name).copied();
        if let Some(first) = first.filter(|seen| !program.behaviour.is_seen_as(*seen)) {
            let again = launch::launch(mpi, program)?;
            eprintln!("{}: {} at first, {} alone", program.name, first.name(), again.name());
            seen.insert(program.name.clone(), again);
        }
    }
    Ok(())
}

/// The table, one row a program.
fn print(rows: &[Row<'_>]) {
    let width = rows.iter().map(|row| row.program.name.len()).max().unwrap_or(0);
    println!("\n{:width$}  ranks  {:10}  {:24}", "program", "MPI", "checker");
    for row in rows {
        let Program { name, ranks, behaviour, .. } = row.program;
        // What works here all the same is called so: it is no right program.
        let mpi = match row.seen {
            Some(seen) if behaviour.is_seen_as(seen) => behaviour.name(),
            Some(seen) => seen.name(),
            None => "not run",
        };
        let (checker, verdict) = (list(&row.found), row.verdict());
        println!("{name:width$}  {ranks:5}  {mpi:10}  {checker:24}  {verdict}");
    }
}

fn list(rules: &Rules) -> String {
    if rules.is_empty() {
        return "nothing".to_owned();
    }
    rules.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
