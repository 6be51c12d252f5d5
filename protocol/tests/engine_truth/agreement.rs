//! Random worlds, explored twice.

use std::fmt::Write;
use std::panic::catch_unwind;

use p2p_protocol::engine::{self, Limits, Semantics};
use p2p_protocol::model::World;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::build::world;
use crate::census::Census;
use crate::edit::{Ranks, smaller};
use crate::exploration::{Reading, Truth, explore};
use crate::show::Shown;
use crate::worlds::worlds;

/// States of a world, above which it is skipped.
const STATES: usize = 10_000;
/// States with a choice, above which the engine gives up.
const ENGINE_STATES: usize = 2_000;
/// Worlds in a normal and in a long run.
const WORLDS: usize = 400;
const WORLDS_LONG: usize = 100_000;
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

/// One share of the worlds, drawn from `seed`.
fn run(seed: u64, count: usize) -> (Census, Vec<Ranks>) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let strategy = worlds();
    let mut census = Census::default();
    let mut different = Vec::new();
    for _ in 0..count {
        let ranks = strategy.new_tree(&mut runner).expect("nothing is rejected").current();
        let answers = answers(&ranks);
        census.count(&answers);
        if answers.iter().any(|answer| matches!(answer, Answer::Different { .. })) {
            different.push(ranks);
        }
    }
    (census, different)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// `P2P_LONG=1` takes more worlds (`P2P_WORLDS` says how many), and others each time unless
/// `P2P_SEED` names them.
#[test]
fn engine_and_exploration_agree() {
    let long = number("P2P_LONG").is_some_and(|long| long > 0);
    let usual = if long { WORLDS_LONG } else { WORLDS };
    let count = number("P2P_WORLDS").map_or(usual, |count| count as usize);
    let drawn = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    let seed = number("P2P_SEED").unwrap_or_else(|| if long { drawn() } else { 0 });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut census = Census::default();
    let mut different = Vec::new();
    std::thread::scope(|scope| {
        let share = |thread| scope.spawn(move || run(seed.wrapping_add(thread), count / threads));
        let shares: Vec<_> = (0..threads as u64).map(share).collect();
        for share in shares {
            let (counted, found) = share.join().expect("a share of the worlds");
            census.add(&counted);
            different.extend(found);
        }
    });
    eprintln!("{census}");
    let reports: Vec<String> =
        different.iter().take(SHOWN).map(|ranks| report(&minimised(ranks.clone()))).collect();
    assert!(
        different.is_empty(),
        "P2P_SEED={seed}: {} of {count} worlds differ, such as\n{}",
        different.len(),
        reports.join("\n")
    );
    census.assert_healthy();
}
