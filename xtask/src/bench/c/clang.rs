//! The checker beside clang-tidy with clang's checks of MPI, over the fixtures.
//!
//! Both read the same files in turns. A wrong program counts as recognised if anything at all is
//! reported in it; a right one in which anything is reported is a false alarm.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::check;
use crate::Result;
use crate::fixtures::{Behaviour, Program, c_programs};
use crate::mpi::Mpi;

/// Clang's checks of MPI, all of them.
const CHECKS: &str = "-checks=-*,clang-analyzer-optin.mpi.MPI-Checker,mpi-*";

/// How often both run.
const TURNS: usize = 3;

/// The programs in which each tool has reported something, and how long it took at best.
struct Tool {
    name: String,
    reported: BTreeSet<PathBuf>,
    time: f64,
}

impl Tool {
    fn new(name: impl Into<String>) -> Self {
        Tool { name: name.into(), reported: BTreeSet::new(), time: f64::INFINITY }
    }

    /// Lets it run once.
    fn run(&mut self, action: impl FnOnce() -> Result<String>) -> Result {
        let start = Instant::now();
        let text = action()?;
        self.time = self.time.min(start.elapsed().as_secs_f64());
        self.reported = text.lines().filter_map(reported).collect();
        Ok(())
    }

    fn recognises(&self, program: &Program) -> bool {
        program.sources.iter().any(|source| self.reported.contains(source))
    }
}

/// Prints the table; without clang-tidy or an MPI's header, what is needed for it.
pub(super) fn compare() -> Result {
    let (_, programs) = c_programs()?;
    let sources: Vec<&PathBuf> = programs.iter().flat_map(|program| &program.sources).collect();
    let mut own = Tool::new("p2p-check");
    let clang = version().zip(Mpi::all().into_iter().next());
    let Some((version, mpi)) = clang else {
        println!(
            "\nnot compared with clang-tidy: its Debian package `clang-tidy` and an MPI are needed"
        );
        own.run(|| check(&sources, &[]))?;
        print(&programs, &[own]);
        return Ok(());
    };
    let mut other = Tool::new(format!("clang-tidy {version}"));
    let flags = mpi.include_flags();
    for _ in 0..TURNS {
        own.run(|| check(&sources, &[]))?;
        other.run(|| tidy(&sources, &flags))?;
    }
    print(&programs, &[own, other]);
    Ok(())
}

/// The number of the version that is here.
fn version() -> Option<String> {
    let output = Command::new("clang-tidy").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, rest) = text.split_once("version ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// Runs it over the files, as many processes at a time as there are cores.
fn tidy(sources: &[&PathBuf], flags: &[String]) -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut children = Vec::new();
    for part in sources.chunks(sources.len().div_ceil(cores)) {
        let mut command = Command::new("clang-tidy");
        command.args(["--quiet", CHECKS]).args(part).args(["--", "-std=gnu11"]).args(flags);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        children.push(command.spawn()?);
    }
    let mut text = String::new();
    for child in children {
        text.push_str(&String::from_utf8_lossy(&child.wait_with_output()?.stdout));
    }
    Ok(text)
}

/// The file of a line that is a report: `file:line:column: warning: ..`.
fn reported(line: &str) -> Option<PathBuf> {
    let (place, _) = line.split_once(": warning: ").or_else(|| line.split_once(": error: "))?;
    let file = place.rsplitn(3, ':').nth(2)?;
    Path::new(file).canonicalize().ok()
}

fn print(programs: &[Program], tools: &[Tool]) {
    let (right, wrong): (Vec<&Program>, Vec<&Program>) =
        programs.iter().partition(|program| program.behaviour == Behaviour::Ends);
    println!("\n| fixtures/c | wrong, recognised | right, reported | s |");
    println!("| --- | ---: | ---: | ---: |");
    for tool in tools {
        let Tool { name, time, .. } = tool;
        let recognised = wrong.iter().filter(|program| tool.recognises(program)).count();
        let alarms = right.iter().filter(|program| tool.recognises(program)).count();
        let (wrong, right) = (wrong.len(), right.len());
        println!("| {name} | {recognised} of {wrong} | {alarms} of {right} | {time:.2} |");
    }
    let mut groups = BTreeMap::<&str, (usize, Vec<usize>)>::new();
    for program in wrong {
        let (group, _) = program.name.split_once('/').unwrap_or((&program.name, ""));
        let (all, found) = groups.entry(group).or_insert_with(|| (0, vec![0; tools.len()]));
        *all += 1;
        for (found, tool) in found.iter_mut().zip(tools) {
            *found += usize::from(tool.recognises(program));
        }
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    println!("\n| wrong programs of | all | {} |", names.join(" | "));
    println!("| --- | ---: |{}", " ---: |".repeat(tools.len()));
    for (group, (all, found)) in groups {
        let found: Vec<String> = found.iter().map(usize::to_string).collect();
        println!("| {group} | {all} | {} |", found.join(" | "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_from_notes() {
        let own = file!().replace('\\', "/");
        let own = Path::new(&own).file_name().expect("a name");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/c").join(own);
        let shown = file.display();
        let expected = file.canonicalize().expect("this file");
        assert_eq!(reported(&format!("{shown}:1:2: warning: a [b]")), Some(expected.clone()));
        assert_eq!(reported(&format!("{shown}:1:2: error: a [b]")), Some(expected));
        assert_eq!(reported(&format!("{shown}:1:2: note: a")), None);
        assert_eq!(reported("2 warnings generated."), None);
    }
}
