//! Decides conditions that nobody knows but that are the same on every rank: alike for all, and the
//! other way in another world.
//!
//! Of conditions on whole numbers, the answers of a world go together ([`super::witness`]); how often
//! a loop turns is a guess, and there are worlds with other guesses.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::facts::{Comparison, Facts};
use super::value::Unknown;
use super::witness::{Formulas, Roots, Witness};
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
    /// How much of that holds from the start, before anybody asks anything.
    from_start: usize,
    /// Where ranks ask different things: what decides there is a rank's own.
    own: BTreeSet<Place>,
    /// What that comes from which the first rank that came to a place asked there first, and the
    /// latest rank that came there.
    first: HashMap<Place, (Roots, u32)>,
    decided: Vec<(u64, bool)>,
    witness: Witness,
    /// How much may still be computed to find witnesses.
    steps: usize,
    /// What is answered otherwise.
    deviation: Option<Deviation>,
    /// Where something was asked, with what was answered first, in words.
    asked: BTreeMap<Place, Asked>,
}

/// A place where the answers are not the likely ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    pub(super) place: Place,
    /// The arm of a match that is taken; `None`: all is the other way.
    arm: Option<u32>,
}

/// An arm of a match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    /// How many others come before it; those that only fail do not count.
    pub(super) number: u32,
    /// How many there are.
    pub(super) of: u32,
}

/// How something is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// What is ordinary there.
    pub(super) likely: bool,
    /// In which turn of a loop, if that makes the answer a guess.
    pub(super) turn: Option<u32>,
    /// Whether it decides if the loop has another turn.
    pub(super) at_head: bool,
    /// Which arm of a match is taken, and by which answer.
    pub(super) arm: Option<(Arm, bool)>,
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
    /// Of a match: how many arms it has, and which of them was taken first; until then, that all
    /// before were passed over.
    arms: Option<(u32, Result<u32, u32>)>,
}

impl Default for Oracle {
    fn default() -> Self {
        Oracle {
            facts: Facts::default(),
            formulas: Formulas::default(),
            turns: TURNS,
            has_guessed: false,
            required: Vec::new(),
            from_start: 0,
            own: BTreeSet::new(),
            first: HashMap::new(),
            decided: Vec::new(),
            witness: Witness::new(),
            steps: STEPS,
            deviation: None,
            asked: BTreeMap::new(),
        }
    }
}

impl Oracle {
    /// One that answers the other way somewhere.
    pub(super) fn deviating(self, deviation: Deviation) -> Self {
        Oracle { deviation: Some(deviation), ..self }
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
            own: self.own,
            from_start: self.from_start,
            ..Oracle::default()
        };
        for (condition, meaning, holds) in self.required {
            fresh.require(condition, meaning, holds);
        }
        fresh
    }

    /// How much the program asks for, and how much of what is asked is a rank's own.
    pub(super) fn requirements(&self) -> usize {
        self.required.len() - self.from_start + self.own.len()
    }

    /// Whether what a rank asks at a place is its own, though it is made of what all ranks have:
    /// others ask something there that comes from other numbers, such as `parts[0]` where this one
    /// asks `parts[1]`. Nothing says how the answers go together then. Only what each asks first is
    /// compared: later on, ranks may be out of step by a mistake that is looked for.
    pub(super) fn is_own(&mut self, condition: Unknown, place: Place, rank: u32) -> bool {
        let roots = || self.formulas.roots(condition.identity);
        let (first, latest) = self.first.entry(place).or_insert_with(|| (roots(), rank));
        if *latest != rank {
            *latest = rank;
            if *first != roots() {
                self.own.insert(place);
            }
        }
        self.own.contains(&place)
    }

    /// A condition holds, or does not, on all ranks: the program goes on only then.
    pub(super) fn require(&mut self, condition: Unknown, meaning: Option<Comparison>, holds: bool) {
        if !self.required.iter().any(|(known, ..)| known.identity == condition.identity) {
            self.required.push((condition, meaning, holds));
        }
        self.set(condition, meaning, holds);
    }

    /// The same of what holds before anybody asks anything: that is no news for those who begin again,
    /// nor for the ranks that come after.
    pub(super) fn require_from_start(
        &mut self,
        condition: Unknown,
        meaning: Option<Comparison>,
        holds: bool,
    ) {
        if !self.required.iter().any(|(known, ..)| known.identity == condition.identity) {
            self.from_start += 1;
            self.require(condition, meaning, holds);
        }
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
        manner: Manner,
        words: impl FnOnce(bool) -> String,
    ) -> Option<bool> {
        let answer = self.possible(condition, self.wanted(place, manner))?;
        self.set(condition, meaning, answer);
        let order = self.asked.len();
        let at_head = manner.at_head;
        let arms = manner.arm.map(|(arm, _)| (arm.of, Err(0)));
        let new = || Asked { order, words: String::new(), at_head, times: 0, arms };
        let asked = self.asked.entry(place).or_insert_with(new);
        let goes_on = match (&mut asked.arms, manner.arm) {
            (Some((_, taken)), Some((arm, takes))) if *taken == Err(arm.number) => {
                *taken = if answer == takes { Ok(arm.number) } else { Err(arm.number + 1) };
                true
            }
            _ => false,
        };
        if asked.times == 0 || goes_on {
            asked.words = words(answer);
        }
        asked.times += 1;
        Some(answer)
    }

    /// An arm of a match is taken because it is the only one left.
    pub(super) fn take_last(&mut self, place: Place, arm: Arm, words: String) {
        if let Some(asked) = self.asked.get_mut(&place)
            && asked.arms == Some((arm.of, Err(arm.number)))
        {
            asked.arms = Some((arm.of, Ok(arm.number)));
            asked.words = words;
        }
    }

    /// The answer that is looked for.
    fn wanted(&self, place: Place, manner: Manner) -> bool {
        let Manner { likely, turn, arm, .. } = manner;
        // A loop that is left at once is not begun again; one that is not ends as usual.
        let deviation = self
            .deviation
            .filter(|deviation| deviation.place == place && turn.is_none_or(|turn| turn == 0));
        match (deviation.map(|deviation| deviation.arm), arm) {
            (None, _) => likely,
            (Some(Some(number)), Some((arm, takes))) => match arm.number.cmp(&number) {
                Ordering::Less => !takes,
                Ordering::Equal => takes,
                Ordering::Greater => likely,
            },
            (Some(_), _) => !likely,
        }
    }

    /// What could be answered otherwise, in the order in which it was first asked.
    pub(super) fn deviations(&self) -> Vec<Deviation> {
        let mut asked: Vec<(Place, &Asked)> =
            self.asked.iter().map(|(place, asked)| (*place, asked)).collect();
        asked.sort_by_key(|(_, asked)| asked.order);
        let all = asked.into_iter().flat_map(|(place, asked)| {
            let arms: Vec<Option<u32>> = match asked.arms {
                Some((of, taken)) => {
                    let taken = taken.unwrap_or_else(|passed| passed);
                    (0..of).filter(|arm| *arm != taken).map(Some).collect()
                }
                None => vec![None],
            };
            arms.into_iter().map(move |arm| Deviation { place, arm })
        });
        all.collect()
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
        let asked = self.deviation.and_then(|deviation| self.asked.get(&deviation.place));
        asked.is_some_and(|asked| asked.at_head)
    }

    /// How many conditions were asked at a place so far.
    pub(super) fn times_asked(&self, place: Place) -> u32 {
        self.asked.get(&place).map_or(0, |asked| asked.times)
    }

    /// How often it has learnt something: what a rank has asked before is answered the same as long as
    /// it has learnt nothing more.
    pub(super) fn learnt(&self) -> usize {
        self.decided.len() - self.from_start
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
