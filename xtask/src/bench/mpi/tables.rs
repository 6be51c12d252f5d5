//! The page of the book with what was measured.

use super::plan::{COLLECTIVES, KIB, LARGE, MIB, RIMS, SHORT, SWEEP, TOGETHER};
use super::samples::Samples;
use super::{Measured, PLOT, RUNS};

/// How a time is shown.
#[derive(Clone, Copy)]
enum Unit {
    Microseconds,
    MessagesPerSecond,
    /// What a message of so many bytes makes of it.
    Bandwidth(u64),
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Microseconds => "µs",
            Unit::MessagesPerSecond => "million/s",
            Unit::Bandwidth(_) => "GiB/s",
        }
    }

    fn show(self, nanoseconds: f64) -> String {
        match self {
            Unit::Microseconds => digits(nanoseconds / 1e3),
            Unit::MessagesPerSecond => digits(1e3 / nanoseconds),
            Unit::Bandwidth(bytes) => digits(bytes as f64 / nanoseconds * 1e9 / 1_073_741_824.0),
        }
    }
}

/// Three digits that mean something.
fn digits(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `64 KiB`.
pub(super) fn length(bytes: u64) -> String {
    match bytes {
        MIB.. => format!("{} MiB", bytes / MIB),
        KIB.. => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} B"),
    }
}

/// A row: one subject, with what the ratio to rsmpi must not be above.
struct Row {
    subject: &'static str,
    what: &'static str,
    bytes: u64,
    unit: Unit,
    target: Option<f64>,
}

fn rows(ranks: u32) -> Vec<Row> {
    let row = |subject, what, bytes, unit, target| Row { subject, what, bytes, unit, target };
    let least = (ranks == 2).then_some(1.02);
    let mut rows = vec![
        row("latency", "one message", 8, Unit::Microseconds, least),
        row("rate", "messages, 64 under way", 8, Unit::MessagesPerSecond, least),
    ];
    for bytes in LARGE {
        let target = match bytes {
            _ if ranks > 2 => None,
            MIB => Some(1.0),
            // One and a half times as fast.
            67_108_864 => Some(0.667),
            _ => None,
        };
        rows.push(row("one-way", "one way", bytes, Unit::Bandwidth(bytes), target));
    }
    for bytes in LARGE {
        // What goes and what comes.
        rows.push(row("both-ways", "both ways", bytes, Unit::Bandwidth(2 * bytes), None));
    }
    for bytes in LARGE {
        // Twice as fast.
        let target = (bytes == 64 * MIB).then_some(0.5);
        rows.push(row("fresh", "into a fresh `Vec`", bytes, Unit::Bandwidth(bytes), target));
    }
    for rim in RIMS {
        rows.push(row("halo", "halo, then compute", rim, Unit::Microseconds, None));
        rows.push(row("halo-overlap", "halo while computing", rim, Unit::Microseconds, None));
    }
    rows
}

/// The whole page.
pub(super) fn page(all: &[Measured]) -> String {
    let plot = PLOT.rsplit('/').next().unwrap_or(PLOT);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut page = format!(
        "<!-- written by `cargo xtask bench mpi` -->\n\n# Measured over MPI\n\n\
         All ranks on one machine with {cores} cores. C, raw rsmpi and this library (p2p) do the same \
         exchanges; rsmpi and p2p take turns in one process, C takes turns with that process, {RUNS} \
         times. Values are medians; a ratio is the median of the ratios of times that were measured \
         one right after the other, so below 1 p2p is faster.\n\n\
         ![Bandwidth by length]({plot})\n"
    );
    for Measured { mpi, samples } in all {
        for (ranks, samples) in samples {
            page += &format!("\n## {mpi}, {ranks} ranks\n\n");
            page += &exchanges(samples, *ranks);
            if *ranks == 2 {
                page += &beside_mpi(samples);
                page += &memory(samples);
                page += &strategies(samples);
            }
        }
    }
    page
}

fn exchanges(samples: &Samples, ranks: u32) -> String {
    let mut table = "| what | | C | rsmpi | p2p | time, p2p / rsmpi | at most |\n".to_owned();
    table += "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n";
    for Row { subject, what, bytes, unit, target } in rows(ranks) {
        let shown = |contender| {
            let time = samples.median(subject, bytes, contender);
            time.map_or_else(String::new, |time| unit.show(time))
        };
        let Some(ratio) = samples.ratio(subject, bytes, "p2p", "rsmpi") else { continue };
        let (length, name) = (length(bytes), unit.name());
        let [c, rsmpi, p2p] = ["C", "rsmpi", "p2p"].map(shown);
        let target = target.map_or_else(String::new, |target| {
            format!("{target:.2}{}", if ratio > target { ", missed" } else { "" })
        });
        table += &format!(
            "| {what}, {length} | {name} | {c} | {rsmpi} | {p2p} | {ratio:.2} | {target} |\n"
        );
    }
    table
}

/// What MPI has calls of its own for, beside what this library does for it.
fn beside_mpi(samples: &Samples) -> String {
    let mut table = "\n| µs | MPI's own call | p2p | time, p2p / MPI |\n".to_owned();
    table += "| --- | ---: | ---: | ---: |\n";
    let mut add = |subject: &str, what: &str, bytes| {
        let shown = |contender| {
            let time = samples.median(subject, bytes, contender);
            time.map_or_else(String::new, |time| Unit::Microseconds.show(time))
        };
        let Some(ratio) = samples.ratio(subject, bytes, "p2p", "rsmpi") else { return };
        let (mpi, p2p) = (shown("rsmpi"), shown("p2p"));
        table += &format!("| {what} | {mpi} | {p2p} | {ratio:.2} |\n");
    };
    for bytes in SHORT {
        let what = format!("planned send and receive, {}", length(bytes));
        add("planned", &what, bytes);
    }
    add("barrier", "barrier", 8);
    for (subject, what) in
        COLLECTIVES.iter().map(|name| (*name, *name)).chain([("put", "put, then fence")])
    {
        for bytes in TOGETHER {
            add(subject, &format!("{what}, {}", length(bytes)), bytes);
        }
    }
    table
}

/// One way, beside a copy within one rank.
fn memory(samples: &Samples) -> String {
    let mut table =
        "\n| one way | p2p, GiB/s | one `memcpy`, GiB/s | part of it | at least |\n".to_owned();
    table += "| --- | ---: | ---: | ---: | ---: |\n";
    for bytes in LARGE {
        let unit = Unit::Bandwidth(bytes);
        let shown = |contender| {
            samples.median("one-way", bytes, contender).map_or_else(String::new, |it| unit.show(it))
        };
        let Some(part) = samples.ratio("one-way", bytes, "memcpy", "p2p") else { continue };
        let target = match bytes == 64 * MIB {
            true if part < 0.8 => "0.80, missed",
            true => "0.80",
            false => "",
        };
        let (length, p2p, memcpy) = (length(bytes), shown("p2p"), shown("memcpy"));
        table += &format!("| {length} | {p2p} | {memcpy} | {part:.2} | {target} |\n");
    }
    table
}

/// The policy, beside each way for a message to travel.
fn strategies(samples: &Samples) -> String {
    let fixed: Vec<&str> = samples
        .contenders("strategies", MIB)
        .into_iter()
        .filter(|&contender| contender != "policy")
        .collect();
    let heads: String = fixed.iter().map(|name| format!(" {name} |")).collect();
    let mut table = format!("\n| one way, µs | policy |{heads} policy / best | at most |\n");
    table += &format!("| --- | ---: |{} ---: | ---: |\n", " ---: |".repeat(fixed.len()));
    for bytes in SWEEP {
        let shown = |contender: &str| {
            let time = samples.median("strategies", bytes, contender);
            format!(" {} |", time.map_or_else(String::new, |time| Unit::Microseconds.show(time)))
        };
        let ratios = fixed.iter().filter_map(|it| samples.ratio("strategies", bytes, "policy", it));
        let worst = ratios.fold(0.0, f64::max);
        let target = if worst > 1.05 { "1.05, missed" } else { "1.05" };
        let cells: String = fixed.iter().map(|name| shown(name)).collect();
        let (length, policy) = (length(bytes), shown("policy"));
        table += &format!("| {length} |{policy}{cells} {worst:.2} | {target} |\n");
    }
    table
}
