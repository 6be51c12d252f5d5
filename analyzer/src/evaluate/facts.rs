//! What conditions were found or taken to be, and what follows from that: `n < 3` holds where
//! `n < 2` does.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::alike::Number;
use super::identity::negation;
use super::value::Unknown;
use crate::program::Binary;

/// A condition on a whole number: how it compares with a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    /// The number that is not known.
    pub(super) operand: u64,
    /// Less or equal.
    pub(super) operation: Binary,
    /// What it is compared with.
    pub(super) with: Number,
}

/// Conditions that are decided, and what whole numbers can be.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    decided: Rc<BTreeMap<u64, bool>>,
    bounds: Rc<BTreeMap<u64, Bounds>>,
    /// What numbers are equal to, where a condition says so.
    values: Rc<BTreeMap<u64, Number>>,
}

/// From the lowest to the highest, both included, except some.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bounds {
    lowest: Number,
    highest: Number,
    except: Vec<Number>,
}

impl Facts {
    /// What a condition is, as far as it follows.
    pub(super) fn get(&self, condition: Unknown, meaning: Option<Comparison>) -> Option<bool> {
        if let Some(decided) = self.decided.get(&condition.identity) {
            return Some(*decided);
        }
        if let Some(decided) = self.decided.get(&negation(condition).identity) {
            return Some(!decided);
        }
        let meaning = meaning?;
        let bounds = self.bounds.get(&meaning.operand)?;
        match meaning.operation {
            Binary::Less if bounds.highest < meaning.with => Some(true),
            Binary::Less if bounds.lowest >= meaning.with => Some(false),
            Binary::Equal if bounds.lowest == bounds.highest => Some(bounds.lowest == meaning.with),
            Binary::Equal
                if meaning.with < bounds.lowest
                    || meaning.with > bounds.highest
                    || bounds.except.contains(&meaning.with) =>
            {
                Some(false)
            }
            _ => None,
        }
    }

    /// What a number is known to be equal to.
    pub(super) fn value(&self, operand: u64) -> Option<Number> {
        self.values.get(&operand).copied()
    }

    /// A condition is found or taken to hold, or not to.
    pub(super) fn set(&mut self, condition: Unknown, meaning: Option<Comparison>, holds: bool) {
        Rc::make_mut(&mut self.decided).insert(condition.identity, holds);
        let Some(Comparison { operand, operation, with }) = meaning else {
            return;
        };
        let (lowest, highest) = (i128::MIN.into(), i128::MAX.into());
        let all = Bounds { lowest, highest, except: Vec::new() };
        let below = |number: Number| number.plus(-1);
        if (operation, holds) == (Binary::Equal, true) {
            Rc::make_mut(&mut self.values).insert(operand, with);
        }
        let bounds = Rc::make_mut(&mut self.bounds).entry(operand).or_insert(all);
        match (operation, holds) {
            (Binary::Less, true) => bounds.highest = bounds.highest.min(below(with)),
            (Binary::Less, false) => bounds.lowest = bounds.lowest.max(with),
            (Binary::Equal, true) => (bounds.lowest, bounds.highest) = (with, with),
            _ if with == bounds.lowest => bounds.lowest = with.plus(1),
            _ if with == bounds.highest => bounds.highest = below(with),
            _ => bounds.except.push(with),
        }
    }

    /// Keeps what both know.
    pub(super) fn keep_common(&mut self, other: &Facts) {
        if self.decided != other.decided {
            Rc::make_mut(&mut self.decided).retain(|key, it| other.decided.get(key) == Some(it));
        }
        if self.bounds != other.bounds {
            Rc::make_mut(&mut self.bounds).retain(|key, it| other.bounds.get(key) == Some(it));
        }
        if self.values != other.values {
            Rc::make_mut(&mut self.values).retain(|key, it| other.values.get(key) == Some(it));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::alike::Elsewhere;
    use super::*;

    fn unknown(identity: u64) -> Unknown {
        Unknown { identity, uniform: true, elsewhere: Elsewhere::default() }
    }

    fn less(with: i128) -> (Unknown, Option<Comparison>) {
        let condition = unknown(2 * with as u64 + 100);
        (condition, Some(Comparison { operand: 1, operation: Binary::Less, with: with.into() }))
    }

    #[test]
    fn what_follows_is_known() {
        let mut facts = Facts::default();
        let (condition, meaning) = less(5);
        facts.set(condition, meaning, true);
        assert_eq!(facts.get(condition, meaning), Some(true));
        assert_eq!(facts.get(negation(condition), None), Some(false));
        let [(seven, larger), (three, smaller)] = [less(7), less(3)];
        assert_eq!(facts.get(seven, larger), Some(true));
        assert_eq!(facts.get(three, smaller), None);
        facts.set(three, smaller, false);
        let is = |with: i128| {
            Some(Comparison { operand: 1, operation: Binary::Equal, with: with.into() })
        };
        let other = unknown(8);
        assert_eq!(facts.get(other, is(4)), None);
        assert_eq!(facts.get(other, is(2)), Some(false));
    }

    #[test]
    fn only_what_both_know_stays() {
        let (condition, meaning) = less(5);
        let mut one = Facts::default();
        one.set(condition, meaning, true);
        one.keep_common(&Facts::default());
        assert_eq!(one.get(condition, meaning), None);
    }
}
