//! Random worlds, explored twice.

use std::collections::HashSet;
use std::fmt::Write;
use std::panic::catch_unwind;

use p2p_protocol::engine::{self, Limits, Semantics};
use p2p_protocol::model::World;

use crate::build::world;
use crate::census::Census;
use crate::edit::{Ranks, smaller};
use crate::exploration::{Reading, Truth, explore};
use crate::sample::Sample;
use crate::show::Shown;

/// States of a world, above which it is skipped.
const STATES: usize = 10_000;
/// States with a choice, above which the engine gives up.
const ENGINE_STATES: usize = 2_000;
/// Worlds in a normal and in a long run.
const WORLDS: usize = 400;
const WORLDS_LONG: usize = 100_000;
/// Threads, so that a sample is the same wherever it is drawn.
const PARTS: usize = 8;
/// Disagreements that are made small and shown.
const SHOWN: usize = 8;

pub(crate) const READINGS: [Reading; 3] = [
    Reading::Rendezvous { eager_limit: 0 },
    Reading::Rendezvous { eager_limit: 16 },
    Reading::Buffered,
];

/// What came of a world under one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Alike(Truth),
    Different {
        engine: Option<Truth>,
        truth: Truth,
    },
    /// There are too many states.
    Vast,
    /// The engine gave up where the plain exploration did not.
    GivenUp,
}

/// Explores a world twice under each reading.
pub(crate) fn answers(ranks: &Ranks) -> [Answer; 3] {
    READINGS.map(|reading| {
        let world = world(ranks.clone());
        let Some(truth) = explore(&world, reading, STATES) else { return Answer::Vast };
        let truth = truth.that_is_settled();
        match catch_unwind(|| engine_says(&world, reading)) {
            Err(_) => Answer::Different { engine: None, truth },
            Ok(None) => Answer::GivenUp,
            Ok(Some(engine)) if engine == truth => Answer::Alike(truth),
            Ok(engine) => Answer::Different { engine, truth },
        }
    })
}

/// What the engine says, in the words of the exploration; `None` if it gave up.
fn engine_says(world: &World, reading: Reading) -> Option<Truth> {
    let semantics = match reading {
        Reading::Rendezvous { eager_limit } => Semantics::Rendezvous { eager_limit },
        Reading::Buffered => Semantics::Buffered,
    };
    let outcome = engine::explore(world, semantics, Limits { states: ENGINE_STATES });
    let truth = Truth {
        can_finish: outcome.can_finish,
        can_finish_unclean: outcome.can_finish_unclean,
        can_hang: outcome.can_hang,
        unposted_ready: outcome.unposted_ready,
        missing_wait: outcome.missing_wait,
        mismatch: outcome.mismatch,
        can_abort: outcome.can_abort,
        type_mismatch: outcome.type_mismatch,
        truncation: outcome.truncation,
    };
    outcome.complete.then_some(truth.that_is_settled())
}

fn differ(ranks: &Ranks) -> bool {
    answers(ranks).iter().any(|answer| matches!(answer, Answer::Different { .. }))
}

/// Takes away from a world what its disagreement does not need.
fn minimised(mut ranks: Ranks) -> Ranks {
    while let Some(next) = smaller(&ranks).into_iter().find(differ) {
        ranks = next;
    }
    ranks
}

/// The world and, for every reading under which they differ, what the two say.
fn report(ranks: &Ranks) -> String {
    let mut report = Shown(&world(ranks.clone())).to_string();
    for (reading, answer) in READINGS.iter().zip(answers(ranks)) {
        if let Answer::Different { engine, truth } = answer {
            let engine = engine.map_or("panics".to_owned(), |engine| engine.to_string());
            writeln!(report, "  {reading:?}: engine: {engine}; truth: {truth}").expect("a string");
        }
    }
    report
}

/// A report for each way in which the two differ, up to [`SHOWN`].
fn one_of_each_kind(different: &[Ranks]) -> Vec<String> {
    let mut kinds = HashSet::new();
    let mut reports = Vec::new();
    for ranks in different {
        let is_new = kinds.insert(answers(ranks).map(|answer| match answer {
            Answer::Different { engine, truth } => Some((engine, truth)),
            _ => None,
        }));
        if is_new && reports.len() < SHOWN {
            reports.push(report(&minimised(ranks.clone())));
        }
    }
    reports
}

/// Which worlds there were, and those of which the two say different things.
fn run(sample: Sample) -> (Census, Vec<Ranks>) {
    let mut census = Census::default();
    let mut different = Vec::new();
    for ranks in sample.worlds() {
        let answers = answers(&ranks);
        census.count(&answers);
        if answers.iter().any(|answer| matches!(answer, Answer::Different { .. })) {
            different.push(ranks);
        }
    }
    (census, different)
}

#[test]
fn engine_and_exploration_agree() {
    let sample = Sample::new(WORLDS, WORLDS_LONG);
    let mut census = Census::default();
    let mut different = Vec::new();
    std::thread::scope(|scope| {
        let parts: Vec<_> =
            sample.split(PARTS).map(|part| scope.spawn(move || run(part))).collect();
        for part in parts {
            let (counted, found) = part.join().expect("a part of the worlds");
            census.add(&counted);
            different.extend(found);
        }
    });
    eprintln!("{census}");
    let reports = one_of_each_kind(&different);
    assert!(
        different.is_empty(),
        "{sample:?}: {} worlds differ, such as\n{}",
        different.len(),
        reports.join("\n")
    );
    census.assert_healthy();
}
