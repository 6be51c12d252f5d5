//! What a message costs between threads, beside crossbeam-channel and beside the calls under the
//! typed steps. All variants take turns in one run, so that whatever else the machine does meets
//! them alike; medians are of rounds, and each ratio is of two numbers of the same run.
//!
//! `cargo bench -p p2p-runtime --bench threads`, or `cargo xtask bench threads`.

#![allow(clippy::print_stdout, reason = "it prints a table")]

mod contenders;

use contenders::Sample;

/// How often each variant gets its turn.
const ROUNDS: usize = 201;

struct Variant {
    name: &'static str,
    run: fn(u32) -> Sample,
    samples: Vec<Sample>,
}

struct Subject {
    what: &'static str,
    trips: u32,
    variants: Vec<Variant>,
    /// Which variant is measured against which, and the ratio it must not exceed.
    ratios: &'static [(usize, usize, f64)],
}

fn main() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let mut subjects = subjects();
    subjects
        .retain(|subject| only.as_ref().is_none_or(|only| subject.what.contains(only.as_str())));
    for _ in 0..rounds {
        for subject in &mut subjects {
            for variant in &mut subject.variants {
                variant.samples.push((variant.run)(subject.trips));
            }
        }
    }
    println!("{:<34} {:<12} {:>11} {:>11}   {:>6} {:>6}", "", "", "wall", "CPU", "wall", "CPU");
    for subject in &subjects {
        print_subject(subject);
    }
}

fn subjects() -> Vec<Subject> {
    let variant = |name, run| Variant { name, run, samples: Vec::new() };
    let against_crossbeam: &'static [(usize, usize, f64)] = &[(1, 0, 1.0)];
    vec![
        Subject {
            what: "u32, 2 ranks, round trip",
            trips: 500,
            variants: vec![
                variant("crossbeam", contenders::crossbeam::pair),
                variant("p2p", contenders::raw::pair),
            ],
            ratios: against_crossbeam,
        },
        Subject {
            what: "u32, 2 ranks on a core each",
            trips: 500,
            variants: vec![
                variant("crossbeam", contenders::crossbeam::pinned_pair),
                variant("p2p", contenders::raw::pinned_pair),
            ],
            ratios: against_crossbeam,
        },
        Subject {
            what: "u32, 4 ranks in 2 pairs",
            trips: 300,
            variants: vec![
                variant("crossbeam", contenders::crossbeam::two_pairs),
                variant("p2p", contenders::raw::two_pairs),
            ],
            ratios: against_crossbeam,
        },
        Subject {
            what: "u32, 4 ranks in a ring",
            trips: 500,
            variants: vec![
                variant("crossbeam", contenders::crossbeam::ring),
                variant("p2p", contenders::raw::ring),
            ],
            ratios: against_crossbeam,
        },
        Subject {
            what: "1 MiB Vec moved, 2 ranks",
            trips: 500,
            variants: vec![
                variant("crossbeam", contenders::crossbeam::moved),
                variant("p2p", contenders::raw::moved),
            ],
            ratios: against_crossbeam,
        },
        Subject {
            what: "1 MiB Vec moved, a core each",
            trips: 500,
            variants: vec![
                variant("crossbeam", contenders::crossbeam::pinned_moved),
                variant("p2p", contenders::raw::pinned_moved),
            ],
            ratios: against_crossbeam,
        },
    ]
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print_subject(subject: &Subject) {
    let wall = |variant: &Variant| median(variant.samples.iter().map(|sample| sample.wall));
    let processor = |variant: &Variant| median(variant.samples.iter().map(|sample| sample.cpu));
    for (index, variant) in subject.variants.iter().enumerate() {
        let what = if index == 0 { subject.what } else { "" };
        print!("{what:<34} {:<12}", variant.name);
        print!(" {:>8.0} ns {:>8.0} ns", wall(variant), processor(variant));
        if let Some(&(_, base, limit)) = subject.ratios.iter().find(|ratio| ratio.0 == index) {
            let base = &subject.variants[base];
            let wall_ratio = wall(variant) / wall(base);
            let cpu_ratio = processor(variant) / processor(base);
            let verdict = if wall_ratio <= limit { "" } else { " over" };
            print!("   {wall_ratio:>6.2} {cpu_ratio:>6.2}   at most {limit}{verdict}");
        }
        println!();
    }
}
