//! Whether conditions on numbers that nobody knows can hold at once.
//!
//! What is computed from whole numbers that are the same on every rank is kept as a formula over
//! its roots: the numbers that come from elsewhere. Conditions go together if there is a *witness*,
//! numbers for the roots with which all of them come out as they should. It is looked for among few
//! numbers; what has no witness among these is taken not to go together. What is computed in a way
//! that is not known here has none, whatever it comes to.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::Binary;

/// One side of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// A number that is known.
    Number(i128),
    /// One that is not, by its identity.
    Unknown(u64),
}

/// How a value comes from others.
#[derive(Clone, Debug)]
enum Formula {
    /// Arithmetic, a comparison, or two conditions at once.
    Operation(Binary, Term, Term),
    /// A method of whole numbers, by its name.
    Method(String, Vec<Term>),
}

/// The formulas of a world, by the identities of their results.
#[derive(Clone, Debug, Default)]
pub(super) struct Formulas {
    known: FxHashMap<u64, Formula>,
    /// The numbers that are never below 0.
    unsigned: FxHashSet<u64>,
    /// What values come from in the end, as far as that was asked.
    roots: RefCell<FxHashMap<u64, Roots>>,
    /// Numbers as others and what is added to them in all, as far as that was asked.
    sums: RefCell<FxHashMap<u64, (u64, i128)>>,
    /// The numbers that they are sums with.
    bases: RefCell<FxHashSet<u64>>,
}

/// The numbers that a value is computed from in the end.
pub(super) type Roots = Rc<BTreeSet<u64>>;

/// Numbers for the roots.
pub(super) type Witness = BTreeMap<u64, i128>;

/// So many formulas are computed for one question.
const STEPS: usize = 20_000;

/// So many numbers are tried.
const CANDIDATES: usize = 64;

impl Formulas {
    /// A result of two numbers.
    pub(super) fn note(&mut self, result: u64, operation: Binary, left: Term, right: Term) {
        if self.known.insert(result, Formula::Operation(operation, left, right)).is_none() {
            self.forget_root(result);
        }
    }

    /// What a method makes of numbers.
    pub(super) fn note_method(&mut self, result: u64, name: &str, inputs: Vec<Term>) {
        if let Entry::Vacant(new) = self.known.entry(result) {
            new.insert(Formula::Method(name.to_owned(), inputs));
            self.forget_root(result);
        }
    }

    /// A number that was taken for a root is none.
    fn forget_root(&mut self, number: u64) {
        let roots = self.roots.get_mut();
        if roots.contains_key(&number) {
            roots.clear();
        }
        if self.bases.get_mut().contains(&number) {
            self.bases.get_mut().clear();
            self.sums.get_mut().clear();
        }
    }

    /// A number is never below 0.
    pub(super) fn note_unsigned(&mut self, number: u64) {
        self.unsigned.insert(number);
    }

    /// Both sides of a condition that holds if two others do.
    pub(super) fn both(&self, condition: u64) -> Option<[u64; 2]> {
        match self.known.get(&condition)? {
            Formula::Operation(Binary::And, Term::Unknown(one), Term::Unknown(other)) => {
                Some([*one, *other])
            }
            _ => None,
        }
    }

    /// A number as another one and what is added to it.
    pub(super) fn as_sum(&self, number: u64) -> Option<(u64, i128)> {
        match *self.known.get(&number)? {
            Formula::Operation(Binary::Add, Term::Unknown(base), Term::Number(added))
            | Formula::Operation(Binary::Add, Term::Number(added), Term::Unknown(base)) => {
                Some((base, added))
            }
            Formula::Operation(Binary::Subtract, Term::Unknown(base), Term::Number(taken)) => {
                Some((base, taken.saturating_neg()))
            }
            _ => None,
        }
    }

    /// A number as another one that is no sum, and what is added to it in all. What was asked before is
    /// kept: a number that each turn of a loop adds to is a long sum after many.
    pub(super) fn as_whole_sum(&self, number: u64) -> (u64, i128) {
        let mut sums = self.sums.borrow_mut();
        let (mut base, mut total) = (number, 0_i128);
        loop {
            if let Some((below, added)) = sums.get(&base) {
                (base, total) = (*below, total.saturating_add(*added));
                break;
            }
            let Some((below, added)) = self.as_sum(base) else { break };
            (base, total) = (below, total.saturating_add(added));
        }
        if base != number {
            sums.insert(number, (base, total));
            self.bases.borrow_mut().insert(base);
        }
        (base, total)
    }

    /// The numbers that a value is computed from in the end.
    pub(super) fn roots(&self, of: u64) -> Roots {
        let mut known = self.roots.borrow_mut();
        let mut begun = FxHashSet::default();
        let mut open = vec![of & !1];
        while let Some(&identity) = open.last() {
            if known.contains_key(&identity) {
                open.pop();
                continue;
            }
            let Some(formula) = self.known.get(&identity) else {
                known.insert(identity, Rc::new(BTreeSet::from([identity])));
                continue;
            };
            let inner: Vec<u64> = formula.terms().into_iter().filter_map(Term::unknown).collect();
            if begun.insert(identity) {
                open.extend(inner.iter().filter(|it| !known.contains_key(it)));
                continue;
            }
            let roots = inner.iter().filter_map(|it| known.get(it)).cloned().reduce(united);
            known.insert(identity, roots.unwrap_or_default());
        }
        known[&(of & !1)].clone()
    }

    /// Those of the conditions that have a root in common with one, by way of each other.
    pub(super) fn related(&self, condition: u64, decided: &[(u64, bool)]) -> Vec<(u64, bool)> {
        let mut mine = BTreeSet::clone(&self.roots(condition));
        let with_roots = decided.iter().map(|decided| (*decided, self.roots(decided.0)));
        let mut others: Vec<_> = with_roots.collect();
        let mut related = Vec::new();
        loop {
            let before = related.len();
            others.retain(|(decided, roots)| {
                let meets = !roots.is_disjoint(&mine);
                if meets {
                    mine.extend(roots.iter());
                    related.push(*decided);
                }
                !meets
            });
            if related.len() == before {
                return related;
            }
        }
    }

    /// Numbers with which all conditions come out so, beginning with some that are likely. Takes
    /// what it computes off the steps that are left.
    pub(super) fn witness(
        &self,
        wanted: &[(u64, bool)],
        likely: &Witness,
        steps: &mut usize,
    ) -> Option<Witness> {
        let left = Cell::new(STEPS.min(*steps));
        let before = left.get();
        let witness = self.search(wanted, likely, &left);
        *steps -= before - left.get();
        witness
    }

    fn search(
        &self,
        wanted: &[(u64, bool)],
        likely: &Witness,
        left: &Cell<usize>,
    ) -> Option<Witness> {
        let roots: BTreeSet<u64> = wanted
            .iter()
            .flat_map(|(of, _)| self.roots(*of).iter().copied().collect::<Vec<_>>())
            .collect();
        let candidates = self.candidates(wanted);
        let mut witness: Witness =
            roots.iter().map(|root| (*root, likely.get(root).copied().unwrap_or(1))).collect();
        // The newest one first: the others went together.
        let fits = |witness: &Witness| {
            wanted.iter().rev().all(|(condition, holds)| {
                self.value(Term::Unknown(*condition), witness, left) == Some(i128::from(*holds))
            })
        };
        if fits(&witness) {
            return Some(witness);
        }
        let roots: Vec<u64> = roots.into_iter().collect();
        let vary =
            |witness: &mut Witness, root: u64, then: &mut dyn FnMut(&mut Witness) -> bool| {
                let kept = witness[&root];
                for &candidate in &candidates {
                    witness.insert(root, candidate);
                    if left.get() == 0 || then(witness) {
                        return left.get() > 0;
                    }
                }
                witness.insert(root, kept);
                false
            };
        for &root in &roots {
            if vary(&mut witness, root, &mut |witness| fits(witness)) {
                return Some(witness);
            }
        }
        for (number, &one) in roots.iter().enumerate() {
            for &other in &roots[number + 1..] {
                let found = vary(&mut witness, one, &mut |witness| {
                    let mut both = witness.clone();
                    for &candidate in &candidates {
                        both.insert(other, candidate);
                        if left.get() > 0 && fits(&both) {
                            *witness = both;
                            return true;
                        }
                    }
                    false
                });
                if found {
                    return Some(witness);
                }
            }
        }
        None
    }

    /// Numbers that may be witnesses: small ones, and those that the conditions name.
    fn candidates(&self, wanted: &[(u64, bool)]) -> Vec<i128> {
        let mut named = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut open: Vec<u64> = wanted.iter().map(|(condition, _)| *condition).collect();
        while let Some(identity) = open.pop() {
            if !seen.insert(identity & !1) {
                continue;
            }
            let formula = self.known.get(&(identity & !1));
            for term in formula.map(Formula::terms).unwrap_or_default() {
                match term {
                    Term::Number(number) => _ = named.insert(number),
                    Term::Unknown(inner) => open.push(inner),
                }
            }
        }
        let near = |number: i128| [number, number.saturating_add(1), number.saturating_sub(1)];
        let multiples = |number: i128| (2..=4).map(move |times| number.saturating_mul(times));
        let mut candidates: Vec<i128> = (0..=8).collect();
        candidates.extend(named.iter().rev().copied().flat_map(near));
        candidates.extend([-1, 10, 12, 16, 24, 60, 64, 100, 120, 128, 840, 1000, 1024]);
        candidates.extend(named.iter().rev().copied().flat_map(multiples));
        let mut seen = BTreeSet::new();
        candidates.retain(|candidate| seen.insert(*candidate));
        candidates.truncate(CANDIDATES);
        candidates
    }

    /// What comes out. The lowest bit of an identity says "not".
    fn value(&self, term: Term, witness: &Witness, left: &Cell<usize>) -> Option<i128> {
        left.set(left.get().checked_sub(1)?);
        let identity = match term {
            Term::Number(number) => return Some(number),
            Term::Unknown(identity) => identity,
        };
        let value = match self.known.get(&(identity & !1)) {
            Some(Formula::Operation(operation, one, other)) => {
                let one = self.value(*one, witness, left)?;
                result(*operation, one, self.value(*other, witness, left)?)?
            }
            Some(Formula::Method(name, inputs)) => {
                let inputs = inputs.iter().map(|input| self.value(*input, witness, left));
                result_of_method(name, &inputs.collect::<Option<Vec<i128>>>()?)?
            }
            None => *witness.get(&(identity & !1))?,
        };
        if value < 0 && self.unsigned.contains(&(identity & !1)) {
            return None;
        }
        Some(if identity & 1 == 1 { i128::from(value == 0) } else { value })
    }
}

impl Formula {
    /// What it is made of.
    fn terms(&self) -> Vec<Term> {
        match self {
            Formula::Operation(_, left, right) => vec![*left, *right],
            Formula::Method(_, inputs) => inputs.clone(),
        }
    }
}

impl Term {
    /// The number whose value is not known, whether it is negated or not.
    fn unknown(self) -> Option<u64> {
        match self {
            Term::Unknown(identity) => Some(identity & !1),
            Term::Number(_) => None,
        }
    }
}

fn united(one: Roots, other: Roots) -> Roots {
    if other.is_subset(&one) {
        return one;
    }
    Rc::new(one.union(&other).copied().collect())
}

fn result(operation: Binary, left: i128, right: i128) -> Option<i128> {
    Some(match operation {
        Binary::Add => left.checked_add(right)?,
        Binary::Subtract => left.checked_sub(right)?,
        Binary::Multiply => left.checked_mul(right)?,
        Binary::Divide => left.checked_div(right)?,
        Binary::Remainder => left.checked_rem(right)?,
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?)?,
        Binary::ShiftRight => left.checked_shr(u32::try_from(right).ok()?)?,
        Binary::Less => i128::from(left < right),
        Binary::Equal => i128::from(left == right),
        Binary::And => i128::from(left != 0 && right != 0),
        _ => return None,
    })
}

fn result_of_method(name: &str, inputs: &[i128]) -> Option<i128> {
    Some(match (name, inputs) {
        ("min", [one, other]) => *one.min(other),
        ("max", [one, other]) => *one.max(other),
        ("abs", [of]) => of.checked_abs()?,
        ("negative", [of]) => of.checked_neg()?,
        ("abs_diff", [one, other]) => one.checked_sub(*other)?.checked_abs()?,
        ("saturating_sub", [one, other]) => one.checked_sub(*other)?.max(0),
        ("div_ceil", [one, other]) if *one >= 0 && *other > 0 => (one + other - 1) / other,
        ("div_euclid", [one, other]) => one.checked_div_euclid(*other)?,
        ("rem_euclid", [one, other]) => one.checked_rem_euclid(*other)?,
        ("pow", [one, other]) => one.checked_pow(u32::try_from(*other).ok()?)?,
        ("ilog2", [of]) => i128::from(of.checked_ilog2()?),
        ("isqrt", [of]) => of.checked_isqrt()?,
        ("is_power_of_two", [of]) => i128::from(*of > 0 && of.count_ones() == 1),
        ("is_multiple_of", [one, other]) => i128::from(one.checked_rem(*other)? == 0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(formulas: &Formulas, wanted: &[(u64, bool)]) -> Option<Witness> {
        formulas.witness(wanted, &Witness::new(), &mut 10_000)
    }

    fn less_than(formulas: &mut Formulas, result: u64, of: u64, number: i128) -> u64 {
        formulas.note(result, Binary::Less, Term::Unknown(of), Term::Number(number));
        result
    }

    #[test]
    fn a_sum_is_followed_to_its_base_once() {
        let mut formulas = Formulas::default();
        for number in (4..40_000).step_by(2) {
            formulas.note(number, Binary::Add, Term::Unknown(number - 2), Term::Number(3));
            // As a loop asks after each turn: only the last step is new.
            let added = i128::from(number - 2) / 2 * 3;
            assert_eq!(formulas.as_whole_sum(number), (2, added));
        }
        formulas.note(2, Binary::Subtract, Term::Unknown(50_000), Term::Number(5));
        assert_eq!(formulas.as_whole_sum(8), (50_000, 4));
        assert_eq!(formulas.as_whole_sum(7), (7, 0));
    }

    #[test]
    fn what_contradicts_has_no_witness() {
        let mut formulas = Formulas::default();
        let small = less_than(&mut formulas, 100, 2, 3);
        formulas.note(10, Binary::Divide, Term::Unknown(2), Term::Number(3));
        let none = less_than(&mut formulas, 102, 10, 1);
        let known = [(small, true)];
        assert_eq!(formulas.related(none, &known), vec![(small, true)]);
        let with = |holds| witness(&formulas, &[(small, true), (none, holds)]);
        assert_eq!(with(true), Some(Witness::from([(2, 1)])));
        assert_eq!(with(false), None);
    }

    #[test]
    fn two_numbers_are_ordered_one_way() {
        let mut formulas = Formulas::default();
        formulas.note(100, Binary::Less, Term::Unknown(2), Term::Unknown(4));
        formulas.note(102, Binary::Less, Term::Unknown(4), Term::Unknown(2));
        assert!(witness(&formulas, &[(100, true), (102, false)]).is_some());
        assert_eq!(witness(&formulas, &[(100, true), (102, true)]), None);
    }

    #[test]
    fn what_has_nothing_in_common_is_not_related() {
        let mut formulas = Formulas::default();
        let one = less_than(&mut formulas, 100, 2, 3);
        let other = less_than(&mut formulas, 102, 4, 3);
        assert_eq!(formulas.related(other, &[(one, true)]), vec![]);
        formulas.note_method(4, "isqrt", vec![Term::Unknown(2)]);
        let both = [(one, false), (other, true)];
        assert_eq!(formulas.related(other, &both[..1]), both[..1]);
        assert_eq!(witness(&formulas, &both), Some(Witness::from([(2, 3)])));
        formulas.note_method(6, "of another kind", vec![Term::Unknown(2)]);
        let third = less_than(&mut formulas, 104, 6, 3);
        for answer in [true, false] {
            assert_eq!(witness(&formulas, &[(one, true), (third, answer)]), None);
        }
    }

    #[test]
    fn what_is_shared_is_walked_once() {
        let mut formulas = Formulas::default();
        for number in 1..200 {
            let before = Term::Unknown(2 * number);
            formulas.note(2 * number + 2, Binary::Add, before, before);
        }
        let condition = less_than(&mut formulas, 1000, 400, 3);
        assert_eq!(formulas.related(condition, &[(condition, true)]), vec![(condition, true)]);
        assert_eq!(witness(&formulas, &[(condition, true)]), None);
    }

    #[test]
    fn what_is_never_negative_stays_so() {
        let mut formulas = Formulas::default();
        formulas.note(4, Binary::Subtract, Term::Unknown(2), Term::Number(1));
        let some = less_than(&mut formulas, 100, 4, 5);
        let none = less_than(&mut formulas, 102, 2, 1);
        let wanted = [(some, true), (none, true)];
        assert!(witness(&formulas, &wanted).is_some());
        formulas.note_unsigned(2);
        formulas.note_unsigned(4);
        assert_eq!(witness(&formulas, &wanted), None);
    }
}
