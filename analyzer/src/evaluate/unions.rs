//! Values of enums of which it is known what decides between them.
//!
//! `match tag { 1 => Kind::Task, 2 => Kind::Stop, .. }` makes a value of a number that nobody knows.
//! What is asked of the value afterwards is asked of the number.

use super::facts::Comparison;
use super::identity::negation;
use super::machine::Machine;
use super::patterns::Matched;
use super::value::{Unknown, Value};
use crate::program::Binary;

/// One of two values.
#[derive(Clone, Debug)]
pub(super) struct Union {
    /// It is the first one if this holds.
    which: Unknown,
    one: Value,
    other: Value,
}

/// Whether a value that is known is of a kind; `None`: that cannot be told.
type Is<'a> = &'a dyn Fn(&Value) -> Option<bool>;

impl Machine<'_> {
    /// A value has become of two: of the first one if a condition holds.
    pub(super) fn keep_union(
        &mut self,
        merged: &Value,
        which: Unknown,
        one: &Value,
        other: &Value,
    ) {
        match (merged, one, other) {
            (Value::Unknown(merged, _), one, other) if self.is_enum(one) && self.is_enum(other) => {
                let union = Union { which, one: one.clone(), other: other.clone() };
                self.unions.insert(merged.identity, union);
            }
            (Value::Variant(_, merged), Value::Variant(_, ones), Value::Variant(_, others)) => {
                for (merged, (one, other)) in merged.iter().zip(ones.iter().zip(others.iter())) {
                    self.keep_union(merged, which, one, other);
                }
            }
            _ => {}
        }
    }

    fn is_enum(&self, value: &Value) -> bool {
        match value {
            Value::Variant(..) => true,
            Value::Defined { definition, .. } => self.program.definition(*definition).is_enum,
            Value::Unknown(unknown, _) => self.unions.contains_key(&unknown.identity),
            _ => false,
        }
    }

    /// Whether a value is of a kind, if it is known what decides.
    pub(super) fn decided(&self, value: &Value, is: Is<'_>) -> Option<Matched> {
        let Value::Unknown(unknown, _) = value else {
            return is(value).map(|is| if is { Matched::Yes } else { Matched::No });
        };
        let Union { which, one, other } = self.unions.get(&unknown.identity)?;
        if let Some(first) = self.fact(*which) {
            return self.decided(if first { one } else { other }, is);
        }
        match (self.decided(one, is)?, self.decided(other, is)?) {
            (Matched::Yes, Matched::Yes) => Some(Matched::Yes),
            (Matched::No, Matched::No) => Some(Matched::No),
            (Matched::Yes, Matched::No) => Some(Matched::If(*which)),
            (Matched::No, Matched::Yes) => Some(Matched::If(negation(*which))),
            (Matched::No, Matched::If(inner)) if self.are_apart(inner, *which) => {
                Some(Matched::If(inner))
            }
            _ => None,
        }
    }

    /// Whether two conditions never hold at once: one number would be equal to two.
    fn are_apart(&self, one: Unknown, other: Unknown) -> bool {
        let equality = |condition: Unknown| {
            let is = self.comparisons.get(&condition.identity)?;
            (is.operation == Binary::Equal).then_some(*is)
        };
        let (Some(one), Some(other)) = (equality(one), equality(other)) else { return false };
        let Comparison { operand, with, .. } = one;
        operand == other.operand && with != other.with
    }

    /// What a variant of a library's enum holds, if it is known what decides. `Some(None)`: the value
    /// is never this variant.
    pub(super) fn held(
        &mut self,
        value: &Value,
        name: &str,
        number: usize,
    ) -> Option<Option<Value>> {
        match value {
            Value::Variant(found, parts) if *found == name => Some(parts.get(number).cloned()),
            Value::Variant(..) => Some(None),
            Value::Unknown(unknown, _) => {
                let Union { which, one, other } = self.unions.get(&unknown.identity)?.clone();
                let held = [&one, &other].map(|value| self.held(value, name, number));
                let [Some(one), Some(other)] = held else { return None };
                let (Some(one), Some(other)) = (&one, &other) else {
                    return Some(one.or(other));
                };
                let merged = self.merged(one, other, which);
                self.keep_union(&merged, which, one, other);
                Some(Some(merged))
            }
            _ => None,
        }
    }
}
