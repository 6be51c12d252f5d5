//! What a check costs those who wait for it: over the crates that this machine has from the
//! registry, beside a compiler's check of the same project, and with many ranks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::checker;
use crate::Result;
use crate::workspace::{cargo, files, root, run as run_command};

/// How much of the registry is read.
const BYTES: u64 = 20_000_000;

/// How fast what does not mention MPI is to be read, in bytes a second.
const READING: f64 = 200e6;

/// How often each thing is measured, one after the other in turns. The fastest counts: all that can
/// disturb it makes it slower.
const REPETITIONS: usize = 5;

pub(super) fn run() -> Result {
    if cfg!(debug_assertions) {
        // What is beside the checker is measured in this program, which has to be as fast.
        let again =
            ["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "analyzer"];
        return run_command(cargo(again));
    }
    eprintln!("building the checker ..");
    run_command(cargo(["build", "--quiet", "--release", "--package", "cargo-p2p-check"]))?;
    let folder = std::env::temp_dir().join(format!("p2p-bench-{}", std::process::id()));
    let measured = over_the_registry(&folder);
    _ = std::fs::remove_dir_all(&folder);
    measured?;
    beside_a_compiler(&folder)?;
    with_many_ranks()?;
    per_rank()
}

/// The whole run over a folder of crates, beside what parsing and reading it costs at least.
fn over_the_registry(folder: &Path) -> Result {
    let crates = copy_crates(folder)?;
    let texts: Vec<String> = files(&crates, ".rs")?
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    let (mentioning, others): (Vec<&String>, Vec<&String>) =
        texts.iter().partition(|text| p2p_analyzer::read::mentions_mpi(text));
    let size = |texts: &[&String]| texts.iter().map(|text| text.len() as f64).sum::<f64>();
    let (mut parsing, mut whole) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPETITIONS {
        parsing = parsing.min(seconds(|| {
            for text in &mentioning {
                _ = std::hint::black_box(syn::parse_file(text));
            }
            Ok(())
        })?);
        whole = whole.min(seconds(|| check(&crates, &[]))?);
    }
    let least = parsing + size(&others) / READING;
    println!("\n| over the registry's crates | MB | s | ratio | target |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let row = |what: &str, bytes: f64, time: f64| {
        println!("| {what} | {:.1} | {time:.3} | | |", bytes / 1e6)
    };
    row("`syn::parse_file` on what mentions MPI", size(&mentioning), parsing);
    row("reading the rest at 200 MB/s", size(&others), size(&others) / READING);
    let all = (size(&mentioning) + size(&others)) / 1e6;
    println!("| the whole run | {all:.1} | {whole:.3} | {:.2} | 1.3 |", whole / least);
    Ok(())
}

/// Copies crates until there is enough, the one that is MPI's first; gives back where they are.
fn copy_crates(folder: &Path) -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.ok_or("no home of cargo is known")?.join("registry/src");
    let mut crates: Vec<PathBuf> = Vec::new();
    for registry in std::fs::read_dir(&sources)? {
        let entries = std::fs::read_dir(registry?.path())?;
        crates.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    let about_mpi = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mpi"))
    };
    crates.sort_by_key(|path| (!about_mpi(path), path.clone()));
    let target = folder.join("crates");
    let mut copied = 0;
    for path in crates {
        for file in files(&path, ".rs")? {
            let name = file.strip_prefix(path.parent().unwrap_or(&path))?;
            let to = target.join(name);
            std::fs::create_dir_all(to.parent().unwrap_or(&target))?;
            copied += std::fs::copy(&file, &to)?;
        }
        if copied > BYTES {
            break;
        }
    }
    Ok(target)
}

/// The same rsmpi project, by `cargo check` with nothing compiled before, and by the checker.
fn beside_a_compiler(folder: &Path) -> Result {
    let project = root().join("fixtures/rsmpi");
    let target = folder.join("cold");
    let mut cold = Command::new("cargo");
    cold.args(["check", "--quiet", "--all-targets"]).current_dir(&project);
    cold.env("CARGO_TARGET_DIR", &target).stdout(Stdio::null()).stderr(Stdio::null());
    let compiled = seconds(|| {
        if cold.status()?.success() { Ok(()) } else { Err("the fixtures do not compile".into()) }
    });
    _ = std::fs::remove_dir_all(folder);
    let compiled = match compiled {
        Ok(time) => time,
        Err(error) => {
            println!("\nno comparison with `cargo check`: {error} (is an MPI installed?)");
            return Ok(());
        }
    };
    let checked = (0..REPETITIONS).map(|_| seconds(|| check(&project, &[])));
    let checked = checked.collect::<Result<Vec<f64>>>()?.into_iter().fold(f64::INFINITY, f64::min);
    println!("\n| fixtures/rsmpi | s | ratio | target |");
    println!("| --- | ---: | ---: | ---: |");
    println!("| `cargo check`, cold | {compiled:.2} | | |");
    println!("| the checker | {checked:.3} | {:.0} x faster | 20 |", compiled / checked);
    Ok(())
}

/// Each fixture with many ranks: the slowest at 64, and how the time of all grows.
fn with_many_ranks() -> Result {
    let fixtures = files(&root().join("fixtures/rsmpi"), ".rs")?;
    println!("\n| ranks | all fixtures, s | slowest fixture, s | which | target |");
    println!("| ---: | ---: | ---: | --- | ---: |");
    for ranks in ["16", "32", "64", "128"] {
        let mut times = Vec::new();
        for fixture in &fixtures {
            times.push((seconds(|| check(fixture, &["--ranks", ranks]))?, fixture));
        }
        let all: f64 = times.iter().map(|(time, _)| time).sum();
        let slowest = times.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((time, fixture)) = slowest else { return Err("there are no fixtures".into()) };
        let name = fixture.strip_prefix(root()).unwrap_or(fixture).display();
        let target = if ranks == "64" { "1" } else { "" };
        println!("| {ranks} | {all:.2} | {time:.3} | {name} | {target} |");
    }
    Ok(())
}

/// Programs in which a rank does as much whatever the number of ranks.
const EQUALLY_BUSY: [&str; 5] = [
    "deadlock/src/bin/barrier_before_receive_right.rs",
    "deadlock/src/bin/halo_rows_right.rs",
    "deadlock/src/bin/ordered_exchange_right.rs",
    "deadlock/src/bin/ring_else_if_right.rs",
    "programs/src/bin/halo_2d_right.rs",
];

/// How the time grows with the ranks where each does as much: the time of two ranks, which is that
/// of reading the program, is taken off.
fn per_rank() -> Result {
    let all_of = |ranks: u32| -> Result<f64> {
        let ranks = ranks.to_string();
        let mut all = 0.0;
        for name in EQUALLY_BUSY {
            let fixture = root().join("fixtures/rsmpi").join(name);
            let once = || seconds(|| check(&fixture, &["--ranks", &ranks]));
            let times = (0..REPETITIONS).map(|_| once()).collect::<Result<Vec<f64>>>()?;
            all += times.into_iter().fold(f64::INFINITY, f64::min);
        }
        Ok(all)
    };
    let reading = all_of(2)?;
    println!("\n| ranks that do as much each | s | ms for each rank |");
    println!("| ---: | ---: | ---: |");
    for ranks in [64, 128, 256, 512, 1024] {
        let time = all_of(ranks)? - reading;
        println!("| {ranks} | {time:.3} | {:.3} |", 1e3 * time / f64::from(ranks));
    }
    Ok(())
}

/// One run of the checker. What it finds does not matter here.
fn check(path: &Path, options: &[&str]) -> Result {
    let mut command = Command::new(checker());
    command.args(options).args(["--message-format", "short", "--exit-zero"]).arg(path);
    let output = command.output()?;
    if String::from_utf8_lossy(&output.stderr).contains("panicked") {
        return Err(format!("the checker fails on {}", path.display()).into());
    }
    Ok(())
}

fn seconds(action: impl FnOnce() -> Result) -> Result<f64> {
    let start = Instant::now();
    action()?;
    Ok(start.elapsed().as_secs_f64())
}
