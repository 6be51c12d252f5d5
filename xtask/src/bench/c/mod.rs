//! The checks of C programs: beside clang's own checks of MPI, and what they cost.
//!
//! Everything is the time of whole processes, the checker optimised.

mod clang;
mod generated;
mod typical;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Result;
use crate::workspace::{cargo, files, read, root, run as run_command, write};

/// How often each thing is measured, one after the other in turns, at most.
const REPETITIONS: usize = 7;

/// What takes longer than this in all, in seconds, is not measured once more.
const PATIENCE: f64 = 10.0;

/// How long the files are that people check one at a time, in lines.
const USUAL_LENGTH: std::ops::RangeInclusive<usize> = 100..=300;

/// How many of them are checked in one call.
const MANY: usize = 2000;

/// The sizes that one file is checked with.
const FEW_RANKS: [&str; 2] = ["--ranks", "2..=4"];

pub(super) fn run() -> Result {
    eprintln!("building the checker ..");
    run_command(cargo(["build", "--quiet", "--release", "--package", "cargo-p2p-check"]))?;
    clang::compare()?;
    let folder = std::env::temp_dir().join(format!("p2p-bench-c-{}", std::process::id()));
    let measured = speed(&folder);
    _ = std::fs::remove_dir_all(&folder);
    measured
}

/// What is measured is written below the folder.
fn speed(folder: &Path) -> Result {
    println!("\n| what | ms | target |");
    println!("| --- | ---: | ---: |");
    let typical = typical_files(&folder.join("typical"))?;
    let some: Vec<PathBuf> = typical.iter().step_by(MANY / 40).cloned().collect();
    one_at_a_time("as suites have them", &some)?;
    let what = format!("{MANY} such files in one call, {} cores", cores());
    row(&what, median(&folder.join("typical"), &FEW_RANKS)?, "2000 on two cores");
    let usual = usual_files()?;
    one_at_a_time("that compute and move data", &usual)?;
    let large = folder.join("large.c");
    write(&large, &generated::large())?;
    let calls = format!("{} lines, {} calls", generated::LINES, generated::CALLS);
    row(&format!("one file of {calls}"), median(&large, &[])?, "1000");
    for turns in [10, 1_000_000] {
        let file = folder.join(format!("loops_{turns}.c"));
        write(&file, &generated::loops(turns))?;
        let what = format!("loops of {turns} turns around computation");
        row(&what, median(&file, &FEW_RANKS)?, "")
    }
    Ok(())
}

fn row(what: &str, time: f64, target: &str) {
    println!("| {what} | {:.2} | {target} |", 1e3 * time);
}

/// The fixtures that are as long as such files are: whole programs, most of which take many steps.
fn usual_files() -> Result<Vec<PathBuf>> {
    let mut usual = Vec::new();
    for file in files(&root().join("fixtures/c"), ".c")? {
        let text = read(&file)?;
        if USUAL_LENGTH.contains(&text.lines().count()) && text.contains("int main") {
            usual.push(file);
        }
    }
    if usual.is_empty() { Err("no fixture in C is as long as usual".into()) } else { Ok(usual) }
}

/// The median of all runs over one file, and that of the file with the largest one.
fn one_at_a_time(kind: &str, usual: &[PathBuf]) -> Result {
    let times = usual.iter().map(|file| Ok((median(file, &FEW_RANKS)?, file)));
    let mut times = times.collect::<Result<Vec<_>>>()?;
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let count = usual.len();
    let what = format!("one file of 100 to 300 lines, 2 to 4 ranks ({count} {kind})");
    row(&what, times[times.len() / 2].0, "3");
    if let Some((time, file)) = times.last() {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        row(&format!("the slowest of them ({name})"), *time, "");
    }
    Ok(())
}

/// Many files as suites of tests have them.
fn typical_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = (0..MANY).map(|number| {
        let file = folder.join(format!("test_{number:04}.c"));
        write(&file, &typical::program(number))?;
        Ok(file)
    });
    std::fs::create_dir_all(folder)?;
    files.collect()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How long a check takes.
fn median(path: &Path, options: &[&str]) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        check([path], options)?;
        times.push(start.elapsed().as_secs_f64());
        if times.iter().sum::<f64>() > PATIENCE {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// One run of the checker: what it says.
fn check<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, options: &[&str]) -> Result<String> {
    let mut command = Command::new(super::checker());
    command.args(options).args(["--message-format", "short", "--exit-zero"]);
    command.args(paths.into_iter().map(|path| path.as_ref().to_owned()));
    let output = command.output()?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if text.contains("panicked") {
        return Err(format!("the checker fails:\n{text}").into());
    }
    Ok(text)
}
