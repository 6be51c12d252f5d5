//! Evaluates a program: what each rank of one world size does, as a [`World`] for the engine.
//!
//! One rank at a time, with its rank and the size known and everything else known as far as the
//! text tells it. Nothing is wrong here: what a rank does is written down, and what was not
//! understood is counted.

mod access;
mod alike;
mod arithmetic;
mod assignments;
mod beginnings;
mod branches;
mod bytes;
mod calls;
mod choices;
mod comparison;
mod dialect;
mod drops;
mod effects;
mod elements;
mod expressions;
mod facts;
mod failures;
mod float;
mod floats;
mod forgetting;
mod graph;
mod grid;
mod guesses;
mod habits;
mod handle;
mod identity;
mod iterator;
mod join;
mod library;
mod loops;
mod machine;
mod macros;
mod map;
mod memory;
mod methods;
mod offsets;
mod operators;
mod oracle;
mod patterns;
mod periods;
mod places;
mod pointers;
mod ranks;
mod recall;
mod shared;
mod state;
mod statements;
mod steady;
mod types;
mod unions;
mod uses;
mod value;
mod widen;
mod witness;
mod words;
mod work;
mod world;
mod writes;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use p2p_protocol::model::World;

pub use self::effects::Communicating;
pub use self::library::mpi::is_communication as is_mpi_communication;
use crate::program::{Entry, Place, Program};

/// How far a program is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of evaluation for one rank.
    pub steps: u64,
    /// Events of one rank.
    pub events: usize,
    /// Calls within calls.
    pub depth: u32,
    /// Loops of which it is known that they have more turns than this, and that do the same in each,
    /// are cut short.
    pub turns: u64,
    /// Whether turns are left out as soon as it is known that all later ones do the same.
    pub proves: bool,
    /// Whether it is written down where ranks compute between their steps.
    pub shows_work: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 2_000_000,
            events: 200_000,
            depth: 64,
            turns: steady::LONGEST,
            proves: true,
            shows_work: false,
        }
    }
}

/// How a call that communicates was understood, over all ranks, sizes and entries. Ordered: what
/// was seen worse anywhere counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Understood {
    /// All of it.
    Fully,
    /// What it is, but not all that a rule could ask, such as the length.
    Partly(String),
    /// Not what it does, and why.
    Not(String),
}

/// The worlds of one entry at one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// One world for each way in which what is not known, but the same on every rank, may come out
    /// (the first is the most ordinary one), with what the conditions were taken to be in it: where
    /// they stand, and in words.
    pub worlds: Vec<(World, Vec<(Place, String)>)>,
    /// How each call that was reached was understood.
    pub calls: Vec<(Place, Understood)>,
    /// Calls that are only made where a run gives up, which is taken not to happen.
    pub spared: Vec<Place>,
    /// Where a rank was not followed any further, and why.
    pub lost: Vec<(Place, String)>,
    /// What else was not understood, and where.
    pub gaps: Vec<(Place, String)>,
    /// The program itself refuses this size: every rank leaves without a message.
    pub refused: bool,
}

/// Evaluates an entry of a program, for one size after the other.
pub struct Evaluator<'p> {
    program: &'p Program,
    effects: Rc<effects::Effects<'p>>,
    computations: Rc<recall::Computations>,
}

impl<'p> Evaluator<'p> {
    /// Of a program of which it is known what communicates.
    pub fn new(program: &'p Program, communicating: Arc<Communicating<'p>>) -> Self {
        let effects = Rc::new(effects::Effects::of(communicating));
        Evaluator { program, effects, computations: Rc::default() }
    }

    /// Evaluates an entry for one world size.
    pub fn evaluate(&self, entry: &Entry, size: u32, limits: Limits) -> Evaluated {
        self.evaluate_as_well(entry, size, &[], limits).0
    }

    /// Evaluates an entry for one world size. Also gives what comes out for others of these sizes,
    /// where all ranks do the same, there and here, but for whom they name.
    pub fn evaluate_as_well(
        &self,
        entry: &Entry,
        size: u32,
        others: &[u32],
        limits: Limits,
    ) -> (Evaluated, BTreeMap<u32, Evaluated>) {
        let known = (self.effects.clone(), self.computations.clone());
        let all = world::evaluate(self.program, known, entry, (size, others), limits);
        if cfg!(debug_assertions) {
            for (size, known) in &all.1 {
                assert_eq!(self.evaluate(entry, *size, limits), *known, "it is the same");
            }
        }
        all
    }
}

/// Evaluates an entry for one world size.
pub fn evaluate(program: &Program, entry: &Entry, size: u32, limits: Limits) -> Evaluated {
    let communicating = Arc::new(Communicating::of(program));
    Evaluator::new(program, communicating).evaluate(entry, size, limits)
}
