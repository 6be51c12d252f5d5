//! Numbers that are only guesses, and numbers that turn out to be known.
//!
//! How often a loop turns may be something that nobody knows. It is run a few times then, and what it
//! counts along is a *guess*: conditions go by its number, so that the first turn is told from the
//! others, but it is not known as a rank or a length. The other way round, a number that nobody knows
//! is known from the condition on that it is equal to one that is.

use super::identity::Identity;
use super::machine::{Machine, Outcome};
use super::memory::Memory;
use super::value::{Constant, Content, Unknown, Value};
use super::witness::Term;
use crate::program::{Binary, Place, Scalar, Type};

/// What is watched of a loop's turn that is being run.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The memory at its start; of a late turn that nobody expected to be a guess, when that was found.
    before: Option<Memory>,
    /// The loop goes on, or does not, by what nobody knows: how often it turns is a guess.
    is_guess: bool,
}

impl Watch {
    /// A turn that begins; a copy of the memory makes it cost more.
    pub(super) fn over(memory: Option<&Memory>) -> Self {
        Watch { before: memory.cloned(), is_guess: false }
    }
}

impl Machine<'_> {
    /// The innermost loop goes on, or does not, by what nobody knows.
    pub(super) fn turn_is_guess(&mut self) {
        if !self.turns.is_empty() {
            self.watch.is_guess = true;
            self.watch.before.get_or_insert_with(|| self.state.memory.clone());
        }
    }

    /// A number that depends on how often a loop turns. Equal guesses are equal on all ranks.
    pub(super) fn guess(&mut self, number: i128, scalar: Scalar) -> Value {
        let mut identity = Identity::of("guess");
        identity.number(number as u64);
        identity.number((number >> 64) as u64);
        let unknown = identity.finish();
        self.note_question();
        self.guesses.insert(unknown.identity, number);
        Value::Scalar(scalar, Content::Unknown(unknown))
    }

    /// The same value, with a guess taken for what it is.
    pub(super) fn guessed(&self, value: &Value) -> Value {
        match value {
            Value::Scalar(scalar, Content::Unknown(unknown)) => {
                match self.guesses.get(&unknown.identity) {
                    Some(number) => Value::integer(*number, *scalar),
                    None => value.clone(),
                }
            }
            _ => value.clone(),
        }
    }

    /// The same value as a guess, if it is a whole number that is known, or made of some.
    pub(super) fn as_guess(&mut self, value: &Value) -> Value {
        match value {
            Value::Scalar(scalar, Content::Known(Constant::Integer(number))) => {
                self.guess(number.get(), *scalar)
            }
            Value::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.as_guess(part)).collect();
                Value::Tuple(std::rc::Rc::new(parts))
            }
            other => other.clone(),
        }
    }

    /// What two values make of which one is a guess: a guess, or a condition that is known.
    pub(super) fn binary_of_guesses(
        &mut self,
        operation: Binary,
        left: &Value,
        right: &Value,
        ty: &Type,
        place: Place,
    ) -> Option<Outcome> {
        if self.guesses.is_empty() {
            return None;
        }
        let is_guess = |value: &Value| match value {
            Value::Scalar(_, Content::Unknown(it)) => self.guesses.contains_key(&it.identity),
            _ => false,
        };
        let is_known = |value: &Value| is_guess(value) || value.as_integer().is_some();
        if !(is_guess(left) || is_guess(right)) {
            return None;
        }
        let both = is_known(left) && is_known(right);
        let [left, right] = [self.guessed(left), self.guessed(right)];
        let result = self.binary(operation, &left, &right, ty, place);
        // With another number that is not known, the result is not known either.
        Some(result.map(|result| if both { self.as_guess(&result) } else { result }))
    }

    /// A turn is over: if how often the loop turns is a guess, so are the numbers that it has changed.
    /// Gives back whether it is.
    pub(super) fn guess_what_changed(&mut self) -> bool {
        let Watch { before: Some(before), is_guess: true } = std::mem::take(&mut self.watch) else {
            return false;
        };
        for object in self.state.memory.differing(&before) {
            let (Some(old), Some(new)) = (before.get(object), self.state.memory.get(object)) else {
                continue;
            };
            let (old, new) = (old.clone(), new.clone());
            if let Some(guess) = self.guess_of_change(&old, &new)
                && let Some(value) = self.state.memory.get_mut(object)
            {
                *value = guess;
            }
        }
        true
    }

    fn guess_of_change(&mut self, old: &Value, new: &Value) -> Option<Value> {
        match (old, new) {
            (
                Value::Scalar(_, _),
                Value::Scalar(scalar, Content::Known(Constant::Integer(number))),
            ) if old.as_number() != Some(*number) => Some(self.guess(number.get(), *scalar)),
            (
                Value::Defined { fields: olds, .. },
                Value::Defined { definition, variant, fields },
            ) if olds.len() == fields.len() => {
                let mut changed = false;
                let mut parts = fields.to_vec();
                for (part, old) in parts.iter_mut().zip(olds.iter()) {
                    if let Some(guess) = self.guess_of_change(old, part) {
                        (*part, changed) = (guess, true);
                    }
                }
                changed.then(|| Value::Defined {
                    definition: *definition,
                    variant: *variant,
                    fields: std::rc::Rc::new(parts),
                })
            }
            _ => None,
        }
    }

    /// The same value, known if a condition has said what it is equal to.
    pub(super) fn settled(&self, value: Value) -> Value {
        let Value::Scalar(scalar, Content::Unknown(unknown)) = &value else { return value };
        if !scalar.is_integer() {
            return value;
        }
        self.note_question();
        let (base, added) = match self.shared.oracle.formulas.as_sum(unknown.identity) {
            Some(sum) => sum,
            None => (unknown.identity, 0),
        };
        let here = self.state.facts.value(base);
        let known = here
            .or_else(|| unknown.uniform.then(|| self.shared.oracle.facts.value(base)).flatten());
        match known {
            Some(number) => Value::integer(number.plus(added), *scalar),
            None => value,
        }
    }

    /// Keeps how a number or a condition comes from numbers that are the same on every rank.
    pub(super) fn keep_formula(
        &mut self,
        result: &Value,
        operation: Binary,
        left: &Value,
        right: &Value,
    ) {
        let Value::Scalar(scalar, Content::Unknown(result)) = result else { return };
        let compares = matches!(operation, Binary::Less | Binary::Equal);
        if compares && !result.uniform {
            return;
        }
        if let (Some(left), Some(right)) = (self.term(left), self.term(right)) {
            self.note_question();
            let formulas = &mut self.shared.oracle.formulas;
            formulas.note(result.identity & !1, operation, left, right);
            if is_unsigned(*scalar) {
                formulas.note_unsigned(result.identity);
            }
        }
    }

    /// Keeps what a method makes of whole numbers that are the same on every rank.
    pub(super) fn keep_method(&mut self, result: Unknown, name: &str, inputs: &[&Value]) {
        let unknown = |input: &&Value| matches!(input, Value::Scalar(_, Content::Unknown(_)));
        if !inputs.iter().any(unknown) || !inputs.iter().all(|input| is_whole(input)) {
            return;
        }
        self.note_question();
        let terms = inputs.iter().filter_map(|input| self.term(input)).collect();
        self.shared.oracle.formulas.note_method(result.identity, name, terms);
    }

    /// A value as it stands in a formula.
    fn term(&mut self, value: &Value) -> Option<Term> {
        match &self.guessed(value) {
            Value::Scalar(_, Content::Known(Constant::Integer(number))) => {
                Some(Term::Number(number.get()))
            }
            Value::Scalar(scalar, Content::Unknown(unknown))
                if scalar.is_integer() || *scalar == Scalar::Bool =>
            {
                if is_unsigned(*scalar) {
                    self.shared.oracle.formulas.note_unsigned(unknown.identity);
                }
                Some(Term::Unknown(unknown.identity))
            }
            // Other values are only equal or not.
            Value::Unknown(unknown, _) => Some(Term::Unknown(unknown.identity)),
            Value::Text(Some(_)) => Some(Term::Number(i128::from(self.identity(value).identity))),
            _ => None,
        }
    }
}

fn is_unsigned(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Usize)
}

/// Whether a value is a whole number, known or not.
fn is_whole(value: &Value) -> bool {
    match value {
        Value::Scalar(_, Content::Known(constant)) => matches!(constant, Constant::Integer(_)),
        Value::Scalar(scalar, Content::Unknown(_)) => scalar.is_integer(),
        _ => false,
    }
}
