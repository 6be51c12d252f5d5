//! Decides conditions that nobody knows but that are the same on every rank: alike for all, and the
//! other way in another world.
//!
//! Of conditions on whole numbers, the answers of a world go together ([`super::witness`]); how often
//! a loop turns is a guess, and there are worlds with other guesses.

use std::collections::BTreeMap;

use super::facts::{Comparison, Facts};
use super::value::Unknown;
use super::witness::{Formulas, Witness};
use crate::program::Place;

/// How often a loop turns, ordinarily.
pub(super) const TURNS: u32 = 2;

/// How much may be computed to find out what answers of a world go together.
const STEPS: usize = 200_000;

/// The answers of one world.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    /// What conditions were taken to be, on all ranks.
    pub(super) facts: Facts,
    /// How the numbers that are the same on all ranks come from each other.
    pub(super) formulas: Formulas,
    /// How often a loop turns of which nobody knows it.
    pub(super) turns: u32,
    /// Whether a loop has turned as often as that.
    pub(super) has_guessed: bool,
    /// What the program itself asks for, whatever else was answered.
    required: Vec<(Unknown, Option<Comparison>, bool)>,
    decided: Vec<(u64, bool)>,
    witness: Witness,
    /// How much may still be computed to find witnesses.
    steps: usize,
    /// The place whose answers are given the other way.
    deviation: Option<Place>,
    /// Where something was asked, with what was answered first, in words.
    asked: BTreeMap<Place, Asked>,
}

/// Where something was asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// When it was asked first, among all places.
    pub(super) order: usize,
    /// What was answered first.
    pub(super) words: String,
    /// Whether it was asked if a loop turns at all.
    pub(super) at_head: bool,
    /// How many conditions were asked there.
    times: u32,
}

impl Default for Oracle {
    fn default() -> Self {
        Oracle {
            facts: Facts::default(),
            formulas: Formulas::default(),
            turns: TURNS,
            has_guessed: false,
            required: Vec::new(),
            decided: Vec::new(),
            witness: Witness::new(),
            steps: STEPS,
            deviation: None,
            asked: BTreeMap::new(),
        }
    }
}

impl Oracle {
    /// One that answers the other way at this place.
    pub(super) fn deviating(self, place: Place) -> Self {
        Oracle { deviation: Some(place), ..self }
    }

    /// One whose loops turn so often.
    pub(super) fn turning(turns: u32) -> Self {
        Oracle { turns, ..Oracle::default() }
    }

    /// The same one before it was asked anything: it only knows what the program asks for.
    pub(super) fn begin_again(self) -> Self {
        let mut fresh = Oracle {
            turns: self.turns,
            deviation: self.deviation,
            formulas: self.formulas,
            ..Oracle::default()
        };
        for (condition, meaning, holds) in self.required {
            fresh.require(condition, meaning, holds);
        }
        fresh
    }

    /// How many conditions the program asks for.
    pub(super) fn requirements(&self) -> usize {
        self.required.len()
    }

    /// A condition holds, or does not, on all ranks: the program goes on only then.
    pub(super) fn require(&mut self, condition: Unknown, meaning: Option<Comparison>, holds: bool) {
        if !self.required.iter().any(|(known, ..)| known.identity == condition.identity) {
            self.required.push((condition, meaning, holds));
        }
        self.set(condition, meaning, holds);
    }

    /// A condition is taken to hold, or not to.
    fn set(&mut self, condition: Unknown, meaning: Option<Comparison>, holds: bool) {
        self.decided.push((condition.identity, holds));
        self.facts.set(condition, meaning, holds);
    }

    /// The answer at a place, given what is ordinary there, and how yes and no are told. `None`: no
    /// answer is known to go together with those that were given.
    pub(super) fn ask(
        &mut self,
        (condition, meaning): (Unknown, Option<Comparison>),
        place: Place,
        (likely, turn, at_head): (bool, Option<u32>, bool),
        words: impl FnOnce(bool) -> String,
    ) -> Option<bool> {
        // A loop that is left at once is not begun again; one that is not ends as usual.
        let deviates = self.deviation == Some(place) && turn.is_none_or(|turn| turn == 0);
        let answer = self.possible(condition, likely != deviates)?;
        self.set(condition, meaning, answer);
        let order = self.asked.len();
        let words = || Asked { order, words: words(answer), at_head, times: 0 };
        self.asked.entry(place).or_insert_with(words).times += 1;
        Some(answer)
    }

    /// The answer that is wanted, if it goes together with all others, or the other one.
    fn possible(&mut self, condition: Unknown, wanted: bool) -> Option<bool> {
        let mut related = self.formulas.related(condition.identity, &self.decided);
        if related.is_empty() {
            return Some(wanted);
        }
        for answer in [wanted, !wanted] {
            related.push((condition.identity, answer));
            if let Some(witness) = self.formulas.witness(&related, &self.witness, &mut self.steps) {
                self.witness.extend(witness);
                return Some(answer);
            }
            related.pop();
        }
        None
    }

    /// Whether it answered otherwise than usual only in that it left a loop out. That nobody runs a
    /// program on nothing is no more than likely, but enough to say nothing of it.
    pub(super) fn leaves_loop_out(&self) -> bool {
        let asked = self.deviation.and_then(|place| self.asked.get(&place));
        asked.is_some_and(|asked| asked.at_head)
    }

    /// How many conditions were asked at a place so far.
    pub(super) fn times_asked(&self, place: Place) -> u32 {
        self.asked.get(&place).map_or(0, |asked| asked.times)
    }

    /// Whether it has answered anything.
    pub(super) fn has_answered(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Where something was asked, in the order in which it was first asked, with what was answered.
    pub(super) fn answers(&self) -> Vec<(Place, String)> {
        let mut places: Vec<(Place, &Asked)> =
            self.asked.iter().map(|(place, asked)| (*place, asked)).collect();
        places.sort_by_key(|(_, asked)| asked.order);
        places.into_iter().map(|(place, asked)| (place, asked.words.clone())).collect()
    }
}
