//! Numbers with a fraction, of which it is known what they are on other ranks. They are made of
//! whole numbers that may be others there, ranks above all; what is said of [`Number`] holds here.

use std::cmp::Ordering;
use std::fmt;

use super::alike::Number;

/// A number with a fraction.
#[derive(Clone, Copy)]
pub(super) struct Float(Number);

impl Float {
    /// What is made of a whole number.
    pub(super) fn of(number: Number, make: impl Fn(i128) -> f64) -> Float {
        let bits = number.map(|number| Some(bits(make(number))));
        Float(bits.expect("something is made of each number"))
    }

    /// What it is on the rank that is run, which goes on by it.
    pub(super) fn get(self) -> f64 {
        fraction(self.0.get())
    }

    /// Its bits as a whole number.
    pub(super) fn bits(self) -> Number {
        self.0
    }

    /// What is made of it.
    pub(super) fn map(self, make: impl Fn(f64) -> f64) -> Float {
        Float::of(self.0, |number| make(fraction(number)))
    }

    /// What is made of two.
    pub(super) fn with(self, other: Float, make: impl Fn(f64, f64) -> f64) -> Float {
        let made =
            self.0.with(other.0, |one, other| Some(bits(make(fraction(one), fraction(other)))));
        Float(made.expect("something is made of each number"))
    }

    /// The whole number that is made of it.
    pub(super) fn whole(self, make: impl Fn(f64) -> i128) -> Number {
        let made = self.0.map(|number| Some(make(fraction(number))));
        made.expect("something is made of each number")
    }

    /// How two of them compare, which the run goes on by.
    fn compare(self, other: Float, is: impl Fn(Option<Ordering>) -> bool) -> bool {
        self.0.holds(other.0, |one, other| is(fraction(one).partial_cmp(&fraction(other))))
    }
}

fn bits(number: f64) -> i128 {
    i128::from(number.to_bits())
}

fn fraction(bits: i128) -> f64 {
    f64::from_bits(bits as u64)
}

impl From<f64> for Float {
    fn from(number: f64) -> Self {
        Float(bits(number).into())
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other, |order| order == Some(Ordering::Equal))
    }
}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let all = [Ordering::Less, Ordering::Equal, Ordering::Greater];
        all.into_iter().find(|such| self.compare(*other, |order| order == Some(*such)))
    }

    fn lt(&self, other: &Self) -> bool {
        self.compare(*other, |order| order == Some(Ordering::Less))
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(formatter)
    }
}
