//! `cargo xtask corpus PATH`: the checker over many crates that nobody has written for it.
//!
//! Every folder with a `Cargo.toml` is checked on its own, every folder with C files in it, and every
//! Rust file that lies in none.
//! What was found and how much was understood is printed for each; a crate on which the checker
//! panics, or takes too long, makes the command fail.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;
use crate::workspace::{cargo, read, run};

/// No crate takes longer than this.
const LIMIT: Duration = Duration::from_secs(120);

/// How often it is looked whether a run has ended.
const INTERVAL: Duration = Duration::from_millis(2);

/// Checks everything below the paths and prints the findings, the coverage and the totals.
pub(crate) fn run_over(paths: &[PathBuf]) -> Result {
    let checker = build()?;
    let mut subjects = Vec::new();
    for path in paths {
        collect(path, &mut subjects)?;
    }
    let mut total = Report::default();
    let mut broken = Vec::new();
    for subject in &subjects {
        match check(&checker, subject)? {
            Ok(report) => {
                if report.calls > 0 || !report.findings.is_empty() || report.unchecked > 0 {
                    println!("{}: {}", subject.display(), report.line());
                    report.findings.iter().for_each(|finding| println!("    {finding}"));
                }
                total.add(report);
            }
            Err(how) => {
                println!("{}: {how}", subject.display());
                broken.push(format!("{}: {how}", subject.display()));
            }
        }
    }
    println!(
        "\n{} crates, folders and files: {}, {} broken",
        subjects.len(),
        total.line(),
        broken.len()
    );
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n").into()) }
}

/// What one run has said, or all runs together.
#[derive(Default)]
struct Report {
    findings: Vec<String>,
    /// Calls that communicate, and how many of them were understood.
    calls: u64,
    understood: u64,
    /// How many files could not be checked.
    unchecked: u64,
    time: Duration,
}

impl Report {
    fn line(&self) -> String {
        let Report { findings, calls, understood, unchecked, time } = self;
        let seconds = time.as_secs_f64();
        format!(
            "{} findings, understood {understood} of {calls} calls, {unchecked} not checked, \
             {seconds:.2} s",
            findings.len()
        )
    }

    fn add(&mut self, other: Report) {
        self.findings.extend(other.findings);
        self.calls += other.calls;
        self.understood += other.understood;
        self.unchecked += other.unchecked;
        self.time += other.time;
    }

    /// Reads cargo's lines and the summary at their end.
    fn parse(text: &str, time: Duration) -> Result<Report> {
        let mut report = Report { time, ..Report::default() };
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            let number = |name: &str| line[name].as_u64().unwrap_or(0);
            match line["reason"].as_str() {
                Some("compiler-message") => report.findings.push(finding(&line["message"])),
                Some("p2p-summary") => {
                    report.calls = number("calls");
                    report.understood = number("understood");
                    report.unchecked = number("unchecked");
                }
                _ => {}
            }
        }
        Ok(report)
    }
}

/// One line about a finding: `src/main.rs:7: deadlock: what happens`.
fn finding(message: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spans = message["spans"].as_array();
    let primary = spans.and_then(|spans| spans.iter().find(|span| span["is_primary"] == true));
    let place = primary.map_or_else(String::new, |span| {
        format!("{}:{}: ", text(&span["file_name"]), span["line_start"])
    });
    let rule = text(&message["code"]["code"]);
    let rule = rule.strip_prefix("p2p::").unwrap_or("error");
    format!("{place}{rule}: {}", text(&message["message"]))
}

/// Builds the checker with optimisation and says where it is.
fn build() -> Result<PathBuf> {
    run(cargo(["build", "--release", "--quiet", "--package", "cargo-p2p-check"]))?;
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).ok_or("this program lies in no target folder")?;
    Ok(target.join("release/p2p-check"))
}

/// The topmost folders with a manifest or with C files, and the Rust files outside of them.
fn collect(path: &Path, subjects: &mut Vec<PathBuf>) -> Result {
    let has_name = |path: &Path, names: &[&str]| {
        path.extension().and_then(|it| it.to_str()).is_some_and(|it| names.contains(&it))
    };
    let is_c = |path: &Path| has_name(path, &["c", "cpp", "cc", "cxx"]) && path.is_file();
    let is_source = is_c(path) || has_name(path, &["rs"]) && path.is_file();
    let has_c = || {
        let mut entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.any(|entry| is_c(&entry.path()))
    };
    if path.join("Cargo.toml").is_file() || is_source || path.is_dir() && has_c() {
        subjects.push(path.to_owned());
    } else if path.is_dir() {
        let entries = std::fs::read_dir(path)
            .map_err(|error| format!("{}: {error}", path.display()))?
            .collect::<std::io::Result<Vec<_>>>()?;
        let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
        paths.sort();
        for path in paths.iter().filter(|path| !path.ends_with("target")) {
            collect(path, subjects)?;
        }
    } else if !path.exists() {
        return Err(format!("{}: not found", path.display()).into());
    }
    Ok(())
}

/// Runs the checker over one crate or file: its report, or how it went wrong.
fn check(checker: &Path, subject: &Path) -> Result<std::result::Result<Report, String>> {
    let output = std::env::temp_dir().join(format!("p2p-corpus-{}.json", std::process::id()));
    let mut command = Command::new(checker);
    command.args(["--message-format", "json", "--summary-json", "--output"]).arg(&output);
    command.arg(subject).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = finish(&mut command, start)?;
    let time = start.elapsed();
    let report = match status {
        Some(status) if matches!(status.code(), Some(0..=2)) => {
            Ok(Report::parse(&read(&output)?, time)?)
        }
        Some(status) => Err(format!("panicked ({status})")),
        None => Err(format!("took more than {} s", LIMIT.as_secs())),
    };
    // It is not there if the checker has panicked.
    let _ = std::fs::remove_file(&output);
    Ok(report)
}

/// How a command ends, or nothing if it had to be ended.
fn finish(command: &mut Command, start: Instant) -> Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_run_are_read() {
        let text = r#"{"reason":"compiler-message","message":{"code":{"code":"p2p::deadlock"},"message":"all wait","spans":[{"is_primary":true,"file_name":"a.rs","line_start":7}]}}
{"reason":"p2p-summary","calls":4,"understood":3,"unchecked":1}"#;
        let report = Report::parse(text, Duration::ZERO).expect("JSON");
        assert_eq!(report.findings, ["a.rs:7: deadlock: all wait"]);
        assert_eq!((report.calls, report.understood, report.unchecked), (4, 3, 1));
    }
}
