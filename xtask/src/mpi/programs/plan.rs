//! Which programs are run, and how: what they say of themselves.
//!
//! An example runs on four ranks and ends. A test program has a line for each of its runs:
//!
//! ```text
//! // run: -n 4 ARGUMENTS, ends
//! // run: NAME=VALUE -n 4 ARGUMENTS, fails: WHAT IT SAYS
//! // run: long: -n 4 ARGUMENTS, ends          only with --long
//! // run: mpi: -n 4 ARGUMENTS, ends           not as threads
//! ```

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::mpi::{Mpi, within};
use crate::workspace::{files, read, root};

/// What begins a line that says how a program is run.
const HEADER: &str = "// run: ";

/// How long a program may take, a long one, and one that goes wrong, in seconds: nobody is to wait
/// for a rank that has failed, and the launcher needs a while to start and to end.
const ENDS_WITHIN: u32 = 120;
const LONG_ENDS_WITHIN: u32 = 3600;
const FAILS_WITHIN: u32 = 8;

/// What is to come of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ends,
    /// Not with success, and with this text on one of its outputs.
    Fails(String),
}

/// A program, and how it is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    program: String,
    variables: Vec<(String, String)>,
    pub(super) ranks: u32,
    arguments: Vec<String>,
    pub(super) outcome: Outcome,
    pub(super) is_long: bool,
    pub(super) is_only_mpi: bool,
}

/// All runs of all programs.
pub(super) fn all() -> Result<Vec<Run>> {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut runs = Vec::new();
    for file in files(&root().join("runtime/examples"), ".rs")? {
        runs.push(Run::read(&name(&file), "-n 4, ends").ok_or("four ranks are a run")?);
    }
    let folder = root().join("runtime/tests/programs");
    for file in files(&folder, ".rs")?.into_iter().filter(|file| file.parent() == Some(&folder)) {
        let text = read(&file)?;
        let before = runs.len();
        for line in text.lines().filter_map(|line| line.strip_prefix(HEADER)) {
            let run = Run::read(&name(&file), line);
            runs.push(run.ok_or_else(|| format!("{}: no run is `{line}`", file.display()))?);
        }
        if runs.len() == before {
            return Err(format!("{}: no line `{HEADER}-n RANKS, ends`", file.display()).into());
        }
    }
    Ok(runs)
}

impl Run {
    fn read(program: &str, line: &str) -> Option<Run> {
        let marked = |line: &str, mark| line.strip_prefix(mark).map(str::to_owned);
        let (is_long, line) =
            marked(line, "long: ").map_or((false, line.to_owned()), |it| (true, it));
        let (is_only_mpi, line) = marked(&line, "mpi: ").map_or((false, line), |it| (true, it));
        let (how, outcome) = line.split_once(", ")?;
        let mut words = how.split_whitespace();
        let mut variables = Vec::new();
        loop {
            match words.next()? {
                "-n" => break,
                word => variables.push(word.split_once('=')?),
            }
        }
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let variables = variables.into_iter().map(own).collect();
        let ranks = words.next()?.parse().ok()?;
        let outcome = match outcome.strip_prefix("fails: ") {
            Some(text) => Outcome::Fails(text.to_owned()),
            None if outcome == "ends" => Outcome::Ends,
            None => return None,
        };
        let (program, arguments) = (program.to_owned(), words.map(str::to_owned).collect());
        Some(Run { program, variables, ranks, arguments, outcome, is_long, is_only_mpi })
    }

    /// The program and its arguments.
    pub(super) fn shown(&self) -> String {
        [std::slice::from_ref(&self.program), &self.arguments].concat().join(" ")
    }

    fn limit(&self) -> u32 {
        match self.outcome {
            Outcome::Fails(_) => FAILS_WITHIN,
            Outcome::Ends if self.is_long => LONG_ENDS_WITHIN,
            Outcome::Ends => ENDS_WITHIN,
        }
    }

    /// The command for threads, or for an MPI, without the program.
    pub(super) fn starter(&self, mpi: Option<&Mpi>) -> Command {
        let mut command = match mpi {
            Some(mpi) => mpi.launcher(self.ranks, self.limit()),
            None => within(self.limit()),
        };
        command.env("P2P_RANKS", self.ranks.to_string()).envs(self.variables.iter().cloned());
        command
    }

    /// What comes after the starter.
    pub(super) fn add_program(&self, command: &mut Command, folder: &Path) {
        command.arg(folder.join(&self.program)).args(&self.arguments);
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_or_refused() {
        let line = "long: mpi: P2P_WATCH=1 -n 3 panic 7, fails: rank 2 panicked, twice";
        let run = Run::read("fault", line).expect("it is a run");
        assert!(run.is_long && run.is_only_mpi);
        assert_eq!((run.ranks, run.shown().as_str()), (3, "fault panic 7"));
        assert_eq!(run.variables, [("P2P_WATCH".to_owned(), "1".to_owned())]);
        assert_eq!(run.outcome, Outcome::Fails("rank 2 panicked, twice".to_owned()));
        for wrong in ["-n 3 panic", "-n x, ends", "-n 3, sleeps", "panic -n 3, ends", "3, ends"] {
            assert_eq!(Run::read("fault", wrong), None);
        }
    }
}
