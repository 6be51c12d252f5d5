//! Which steps a run has taken, kept as stretches of steps that follow each other.

use crate::engine::evidence::At;
use crate::model::{Position, Rank};

/// Steps that were taken.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Executed {
    stretches: Vec<Stretch>,
}

/// Steps of one rank that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    rank: Rank,
    first: u32,
    last: u32,
}

impl Executed {
    pub(super) fn note(&mut self, (rank, position): At) {
        let position = u32::try_from(position).expect("a behaviour has fewer than 2^32 events");
        match self.stretches.last_mut() {
            Some(last) if last.rank == rank && position == last.last + 1 => last.last = position,
            _ => self.stretches.push(Stretch { rank, first: position, last: position }),
        }
    }

    pub(in crate::engine) fn take(&mut self) -> Executed {
        std::mem::take(self)
    }

    pub(in crate::engine) fn has(&self, (rank, position): At) -> bool {
        self.stretches.iter().any(|stretch| {
            stretch.rank == rank
                && (stretch.first as Position..=stretch.last as Position).contains(&position)
        })
    }

    /// How much there is to keep.
    pub(in crate::engine) fn len(&self) -> usize {
        self.stretches.len()
    }

    pub(in crate::engine) fn iter(&self) -> impl Iterator<Item = At> + '_ {
        self.stretches.iter().flat_map(|stretch| {
            (stretch.first..=stretch.last).map(|position| (stretch.rank, position as Position))
        })
    }
}
