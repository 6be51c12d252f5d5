//! What typed steps add to the calls that they are made of, in instructions: counted by valgrind,
//! so that neither the clock nor the scheduler has a part in it.
//!
//! A rank sends to itself, as a thread: what carries the message is the same on both sides.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::workspace::cargo;

/// Trips of two runs, whose difference is free of all that happens once.
const TRIPS: [u32; 2] = [2000, 4000];

pub(super) fn run() -> Result {
    let program = build()?;
    let [calls, typed] = [per_trip(&program, "calls")?, per_trip(&program, "typed")?];
    println!("\n| a message to oneself and its receive | instructions | ratio | target |");
    println!("| --- | ---: | ---: | ---: |");
    println!("| calls of the session | {calls:.1} | | |");
    println!("| typed steps | {typed:.1} | {:.3} | 1.00 |", typed / calls);
    Ok(())
}

/// Builds the program; cargo says where it has put it.
fn build() -> Result<PathBuf> {
    let words = "bench --quiet --package p2p-runtime --bench instructions --no-run";
    super::executable(cargo(words.split(' ')))
}

fn per_trip(program: &Path, contender: &str) -> Result<f64> {
    let mut counts = [0.0; 2];
    for (count, trips) in counts.iter_mut().zip(TRIPS) {
        *count = instructions(program, contender, trips)?;
    }
    // Each trip that counts brings a tenth of one to warm up.
    Ok((counts[1] - counts[0]) / (f64::from(TRIPS[1] - TRIPS[0]) * 1.1))
}

fn instructions(program: &Path, contender: &str, trips: u32) -> Result<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.args([contender, &trips.to_string()]).stdin(Stdio::null());
    let output =
        command.output().map_err(|error| format!("valgrind: {error}; is it installed?"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text
        .split_once("Collected : ")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    count.ok_or_else(|| format!("valgrind has counted nothing:\n{text}").into())
}
