//! What a message costs between threads, beside crossbeam-channel, and what the typed steps add to
//! the calls that they are made of.
//!
//! Both contenders of a subject take turns in one run, so that whatever else the machine does meets
//! them alike. Times are medians over the rounds; a ratio is the median of the ratios of all
//! rounds, each of two samples taken one right after the other.
//!
//! `cargo xtask bench threads`, or `cargo bench -p p2p-runtime --bench threads [-- PART-OF-A-NAME]`.

#![allow(clippy::print_stdout, reason = "it prints a table")]

mod contenders;

use contenders::{Sample, crossbeam, raw, typed};

/// How often each contender gets its turn, unless `ROUNDS` says otherwise.
const ROUNDS: usize = 201;

struct Contender {
    name: &'static str,
    run: fn(u32) -> Sample,
    samples: Vec<Sample>,
}

struct Subject {
    what: &'static str,
    trips: u32,
    /// The ratio of the second to the first must not be above this.
    limit: f64,
    contenders: [Contender; 2],
}

type Named = (&'static str, fn(u32) -> Sample);

impl Subject {
    fn new(what: &'static str, trips: u32, limit: f64, base: Named, ours: Named) -> Self {
        let contenders =
            [base, ours].map(|(name, run)| Contender { name, run, samples: Vec::new() });
        Subject { what, trips, limit, contenders }
    }

    fn play(&mut self, round: usize) {
        // Neither always goes first.
        for turn in 0..2 {
            let contender = &mut self.contenders[(round + turn) % 2];
            contender.samples.push((contender.run)(self.trips));
        }
    }

    fn print(&self) {
        let [base, ours] = &self.contenders;
        for contender in &self.contenders {
            let what = if contender.name == base.name { self.what } else { "" };
            let wall = median(contender.samples.iter().map(|sample| sample.wall));
            let cpu = median(contender.samples.iter().map(|sample| sample.cpu));
            print!("{what:<34} {:<10} {wall:>8.0} ns {cpu:>8.0} ns", contender.name);
            if contender.name == base.name {
                println!();
            }
        }
        let pairs = || base.samples.iter().zip(&ours.samples);
        let wall = median(pairs().map(|(base, ours)| ours.wall / base.wall));
        let cpu = median(pairs().map(|(base, ours)| ours.cpu / base.cpu));
        let verdict = if wall <= self.limit { "" } else { "  OVER" };
        println!("   {wall:>6.3} {cpu:>6.3}   at most {}{verdict}", self.limit);
    }
}

fn main() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let mut subjects = subjects();
    if let Some(only) = only {
        subjects.retain(|subject| subject.what.contains(&only));
    }
    for round in 0..rounds {
        subjects.iter_mut().for_each(|subject| subject.play(round));
    }
    println!("{:<45} {:>11} {:>11}   {:>6} {:>6}", "", "wall", "CPU", "wall", "CPU");
    subjects.iter().for_each(Subject::print);
}

fn subjects() -> Vec<Subject> {
    let against_crossbeam = |what, trips, theirs, ours| {
        Subject::new(what, trips, 1.0, ("crossbeam", theirs), ("p2p", ours))
    };
    let typed = |what, trips, calls, typed| {
        Subject::new(what, trips, 1.02, ("calls", calls), ("typed", typed))
    };
    vec![
        against_crossbeam("u32, 2 ranks", 500, crossbeam::pair, raw::pair),
        against_crossbeam("u32, a core each", 500, crossbeam::pinned_pair, raw::pinned_pair),
        against_crossbeam("u32, 4 ranks in 2 pairs", 300, crossbeam::two_pairs, raw::two_pairs),
        against_crossbeam("u32, 4 ranks in a ring", 200, crossbeam::ring, raw::ring),
        against_crossbeam("1 MiB Vec moved, 2 ranks", 500, crossbeam::moved, raw::moved),
        against_crossbeam(
            "1 MiB Vec moved, a core each",
            500,
            crossbeam::pinned_moved,
            raw::pinned_moved,
        ),
        typed("typed u32, a core each", 500, raw::pinned_pair, typed::pinned_pair),
        typed("typed u32, 1 rank to itself", 3000, raw::alone, typed::alone),
    ]
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
