//! What a contender must be able to do, and the buffers that all of them use.

use p2p::{Error, Result};

/// Messages in a window of the message rate.
pub(crate) const WINDOW: usize = 64;

/// Messages of whole words, between this rank and others.
pub(crate) trait Contender {
    fn send(&mut self, peer: usize, data: &[u64]) -> Result<()>;
    fn receive(&mut self, peer: usize, data: &mut [u64]) -> Result<()>;
    /// Into memory that is allocated for it.
    fn receive_fresh(&mut self, peer: usize) -> Result<Vec<u64>>;
    fn exchange(&mut self, peer: usize, data: &[u64], room: &mut [u64]) -> Result<()>;
    /// Starts `WINDOW` sends of one word, and waits for them.
    fn send_window(&mut self, peer: usize) -> Result<()>;
    /// Starts `WINDOW` receives of one word, and waits for them.
    fn receive_window(&mut self, peer: usize) -> Result<()>;
    /// Starts two receives and two sends, does `work`, and waits.
    fn halo(&mut self, neighbours: [usize; 2], words: usize, work: impl FnOnce()) -> Result<()>;
    /// Starts a planned receive and a planned send, with the same buffers each time, and waits.
    fn planned(&mut self, peer: usize, words: usize) -> Result<()>;
    /// Puts something into the memory of another rank, and meets all at a fence.
    fn put(&mut self, peer: usize, data: &[u64]) -> Result<()>;
    fn together(&mut self, what: Together, out: &[u64], into: &mut [u64]) -> Result<()>;
}

/// An operation of all ranks.
#[derive(Clone, Copy)]
pub(crate) enum Together {
    Barrier,
    /// What rank 0 has in `into`.
    Bcast,
    /// Of all of `into`.
    AllReduce,
    /// Of a part of `out` that has as much room in `into`.
    AllGather,
    AllToAll,
}

/// What is sent, and room for what comes.
pub(crate) struct Buffers {
    pub(crate) out: Vec<u64>,
    pub(crate) into: Vec<u64>,
    /// Two fields of cells, to compute something with.
    pub(crate) cells: [Vec<f64>; 2],
}

/// Cells of the field that a halo step computes, and how often it does.
const CELLS: usize = 32_768;
const PASSES: usize = 40;

impl Buffers {
    pub(crate) fn new(words: usize) -> Self {
        let out: Vec<u64> = (0..words as u64).collect();
        // Not zero, so that there is memory behind it before the clock runs.
        let into = vec![1; words];
        Buffers { out, into, cells: [vec![0.5; CELLS], vec![0.25; CELLS]] }
    }

    /// Forgets what has come.
    pub(crate) fn clear(&mut self, words: usize) {
        self.into[..words].fill(1);
    }

    /// Whether what has come is a message of so many words, where one was to come.
    pub(crate) fn check(&self, words: usize, name: &str) -> Result<()> {
        let came = &self.into[..words];
        let nothing = came.iter().all(|&word| word == 1);
        let right = nothing || *came == self.out[..words];
        if right { Ok(()) } else { Err(Error::other(format!("{name} brings something else"))) }
    }

    /// As many words copied within this rank.
    pub(crate) fn copy(&mut self, words: usize) {
        self.into[..words].copy_from_slice(&self.out[..words]);
        std::hint::black_box(&mut self.into);
    }

    /// As much work as it takes to send something.
    pub(crate) fn compute(cells: &mut [Vec<f64>; 2]) {
        let [now, next] = cells;
        for _ in 0..PASSES / 2 {
            relax(now, next);
            relax(next, now);
        }
    }
}

fn relax(now: &[f64], next: &mut [f64]) {
    for (cell, around) in next[1..].iter_mut().zip(now.windows(3)) {
        *cell = 0.5 * around[1] + 0.25 * (around[0] + around[2]);
    }
}
