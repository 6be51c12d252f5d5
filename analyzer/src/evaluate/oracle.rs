//! Decides conditions that nobody knows but that are the same on every rank: alike for all, and the
//! other way in another world.

use std::collections::BTreeMap;

use super::facts::Facts;
use crate::program::Place;

/// The answers of one world.
#[derive(Clone, Debug, Default)]
pub(super) struct Oracle {
    /// What conditions were taken to be, on all ranks.
    pub(super) facts: Facts,
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
}

impl Oracle {
    /// One that answers the other way at this place.
    pub(super) fn deviating(place: Place) -> Self {
        Oracle { deviation: Some(place), ..Oracle::default() }
    }

    /// The answer at a place, given what is ordinary there, and how yes and no are told.
    pub(super) fn ask(
        &mut self,
        place: Place,
        likely: bool,
        words: impl FnOnce(bool) -> String,
    ) -> bool {
        let answer = if self.deviation == Some(place) { !likely } else { likely };
        let order = self.asked.len();
        self.asked.entry(place).or_insert_with(|| Asked { order, words: words(answer) });
        answer
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
