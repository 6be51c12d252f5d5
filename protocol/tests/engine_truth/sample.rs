//! Which worlds a test draws, and how many.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::edit::Ranks;
use crate::worlds::worlds;

/// How a test draws its worlds.
///
/// `P2P_LONG=1` takes more worlds (`P2P_WORLDS` says how many), and others each time unless
/// `P2P_SEED` names them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) seed: u64,
    pub(crate) count: usize,
}

impl Sample {
    /// So many worlds in a normal and in a long run.
    pub(crate) fn new(normal: usize, long: usize) -> Sample {
        let is_long = number("P2P_LONG").is_some_and(|long| long > 0);
        let usual = if is_long { long } else { normal };
        let drawn = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let seed = number("P2P_SEED").unwrap_or_else(|| if is_long { drawn() } else { 0 });
        Sample { seed, count: number("P2P_WORLDS").map_or(usual, |count| count as usize) }
    }

    /// The sample in so many parts.
    pub(crate) fn split(self, parts: usize) -> impl Iterator<Item = Sample> {
        let part =
            move |seed| Sample { seed: self.seed.wrapping_add(seed), count: self.count / parts };
        (0..parts as u64).map(part)
    }

    /// The worlds.
    pub(crate) fn worlds(self) -> impl Iterator<Item = Ranks> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), random);
        let strategy = worlds();
        let draw = move |_| strategy.new_tree(&mut runner).expect("nothing is rejected").current();
        (0..self.count).map(draw)
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
