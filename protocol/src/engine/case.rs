//! Everything that the runs of one world showed, as rules look at it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::evidence::{At, Observation};
use super::machine::Unmatched;
use super::pairing::Cause;
use super::wait_for::Blocked;
use crate::finding::Step;
use crate::model::{Place, Rank, World};

/// Under which readings of the standard send a circle forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Whatever is buffered.
    Any,
    /// Only where standard sends wait for their receives.
    Unbuffered,
}

/// Something that a run showed, and that run.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What.
    pub observation: Observation,
    /// The run, where it depends on choices.
    pub trace: Arc<[Step]>,
}

/// An operation without a partner.
#[derive(Clone, Debug)]
pub struct Unpaired {
    /// The operation.
    pub operation: Unmatched,
    /// What keeps it from having one.
    pub cause: Cause,
    /// Who waits because of it.
    pub waits: Arc<[Blocked]>,
    /// The run, where it depends on choices.
    pub trace: Arc<[Step]>,
}

/// Ranks that wait for each other.
#[derive(Clone, Debug)]
pub struct Circle {
    /// Those in the circle.
    pub members: Vec<Blocked>,
    /// Everybody who cannot move.
    pub waits: Arc<[Blocked]>,
    /// When it forms.
    pub reading: Reading,
    /// Whether another choice of sender would have avoided it.
    pub by_race: bool,
    /// The run, where it depends on choices.
    pub trace: Arc<[Step]>,
}

impl Circle {
    /// Whether each member waits for a member. Otherwise the ranks are stuck for want of something
    /// that could not be named.
    pub fn is_closed(&self) -> bool {
        let inside = |rank: &Rank| self.members.iter().any(|member| member.rank == *rank);
        self.members.iter().all(|member| member.waits_for.iter().any(inside))
    }
}

/// A collective that some ranks call and others never do.
#[derive(Clone, Debug)]
pub struct MissingRank {
    /// Who calls it, and where.
    pub arrivals: Vec<At>,
    /// Who never does.
    pub missing: Vec<Rank>,
    /// Where those of them have left that left before their end: a panic, an exit.
    pub left: Vec<At>,
    /// Who waits because of it.
    pub waits: Arc<[Blocked]>,
    /// The run, where it depends on choices.
    pub trace: Arc<[Step]>,
}

/// What rules judge: one world, and everything that its runs showed.
#[derive(Debug)]
pub struct Case<'w> {
    /// The world.
    pub world: &'w World,
    /// What was seen.
    pub seen: Vec<Seen>,
    /// Operations without a partner.
    pub unpaired: Vec<Unpaired>,
    /// Ranks that wait for each other.
    pub circles: Vec<Circle>,
    /// Collectives that not all ranks call.
    pub missing: Vec<MissingRank>,
    /// Wildcards that could take messages of several senders: the receive, and the sends.
    pub races: BTreeMap<At, BTreeSet<At>>,
    /// All that wildcards take in some run: the receive, and the sends.
    pub taken: BTreeMap<At, BTreeSet<At>>,
    /// Whether everything that can happen was followed.
    pub complete: bool,
    /// Whether data decide ways and some run of them is right from start to end.
    pub(super) is_excused: bool,
    /// How many states were followed.
    pub states: usize,
    /// Where steps were executed, if it was asked for.
    pub(super) executed: FxHashSet<Place>,
}

impl<'w> Case<'w> {
    /// Nothing is known of the world yet.
    pub(super) fn new(world: &'w World) -> Self {
        Case {
            world,
            seen: Vec::new(),
            unpaired: Vec::new(),
            circles: Vec::new(),
            missing: Vec::new(),
            races: BTreeMap::new(),
            taken: BTreeMap::new(),
            complete: true,
            is_excused: false,
            states: 0,
            executed: FxHashSet::default(),
        }
    }
}
