//! Dice that fall alike on all ranks, and what messages hold.

use p2p::session::Mode;

/// Lengths in bytes at which something changes: nothing, what transports use for themselves, and
/// where MPI, or a policy, begins to wait for the receiver.
const EDGES: [usize; 14] =
    [0, 1, 8, 60, 61, 62, 4040, 4041, 4096, 4097, 8255, 65_536, 65_537, 1 << 20];

/// A small generator of numbers: splitmix64.
pub(crate) struct Dice(u64);

impl Dice {
    /// For one step.
    pub(crate) fn new(seed: u64, step: u64) -> Self {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ step.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// A rank, and another one.
    pub(crate) fn two_ranks(&mut self, size: usize) -> (usize, usize) {
        let one = self.below(size);
        (one, (one + 1 + self.below(size - 1)) % size)
    }

    /// A length in bytes: mostly short, at times some MiB.
    pub(crate) fn length(&mut self) -> usize {
        match self.below(1000) {
            0..200 => EDGES[self.below(EDGES.len())],
            200..600 => self.below(64),
            600..850 => self.below(2048),
            850..970 => self.below(32 << 10),
            970..998 => self.below(512 << 10),
            _ => self.below(4 << 20),
        }
    }

    /// A mode that needs no agreement with the receiver.
    pub(crate) fn mode(&mut self) -> Mode {
        [Mode::Standard, Mode::Standard, Mode::Synchronous, Mode::Buffered][self.below(4)]
    }
}

/// What a message holds.
pub(crate) fn data(key: u64, length: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(length + 8);
    let mut word = key;
    while data.len() < length {
        word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        data.extend_from_slice(&(mixed ^ (mixed >> 32)).to_le_bytes());
    }
    data.truncate(length);
    data
}

/// Numbers that a rank brings to a collective operation.
pub(crate) fn numbers(key: u64, rank: usize, length: usize) -> Vec<u64> {
    let mut dice = Dice(key ^ (rank as u64).wrapping_mul(0xa076_1d64_78bd_642f));
    (0..length).map(|_| dice.next()).collect()
}
