//! Arithmetic, comparisons and conversions of C, which computes with numbers of fixed widths, with
//! conditions as numbers, and with pointers.

use p2p_protocol::model::Departure;

use super::identity::{Identity, negation};
use super::machine::{Machine, Outcome};
use super::operators::truth;
use super::value::{Constant, Content, Unknown, Value};
use crate::program::{Binary, Place, Scalar, Type};

impl Machine<'_> {
    /// `left operation right`
    pub(super) fn binary_exactly(
        &mut self,
        operation: Binary,
        left: &Value,
        right: &Value,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        let compares = matches!(
            operation,
            Binary::Equal
                | Binary::NotEqual
                | Binary::Less
                | Binary::LessOrEqual
                | Binary::Greater
                | Binary::GreaterOrEqual
        );
        if compares {
            if let Some(known) = self.compared(operation, left, right) {
                return Ok(known);
            }
        } else if let (Value::Scalar(scalar, Content::Known(Constant::Integer(number))), true) =
            (right, matches!(operation, Binary::Divide | Binary::Remainder))
            && scalar.is_integer()
            && number.get() == 0
        {
            // The process dies, and the job with it.
            return Err(self.leave(Departure::Aborted, place));
        }
        if [left, right].iter().any(|it| matches!(it, Value::Reference(_) | Value::Sequence(_))) {
            let (left, right) = (self.without_memory(left), self.without_memory(right));
            return self.binary(operation, &left, &right, ty, place);
        }
        let result = self.binary(operation, left, right, ty, place)?;
        if !self.ranges.is_empty() {
            self.keep_bounds(operation, &result, left, right);
        }
        if operation == Binary::Multiply {
            self.keep_product(&result, left, right);
        }
        Ok(self.wrapped(operation, left, right, result))
    }

    /// A pointer as a number: what it leads to is none of its business.
    fn without_memory(&mut self, value: &Value) -> Value {
        match value {
            Value::Reference(path) => {
                let text = format!("{path:?}");
                let mut identity = Identity::of("address");
                identity.text(&text);
                identity.not_uniform();
                self.unknown(identity.finish(), &Type::Reference(Box::new(Type::Unknown)))
            }
            other => other.clone(),
        }
    }

    /// How two values compare, where that is known by pointers, handles or conditions in them.
    fn compared(&mut self, operation: Binary, left: &Value, right: &Value) -> Option<Value> {
        if let Some(known) = self.compared_truths(operation, left, right) {
            return Some(known);
        }
        let is_pointer = |it: &Value| {
            matches!(it, Value::Reference(_) | Value::Variant("None", _) | Value::Function(..))
        };
        if !is_pointer(left) && !is_pointer(right) {
            return None;
        }
        let equal = match (left, right) {
            (Value::Reference(one), Value::Reference(other)) if one.object != other.object => {
                Some(false)
            }
            (Value::Function(one, _), Value::Function(other, _)) => Some(one == other),
            _ => None,
        };
        let order = self.order_of_pointers(left, right);
        let holds = match operation {
            Binary::Equal => equal.or(order.map(|order| order == 0)),
            Binary::NotEqual => equal.or(order.map(|order| order == 0)).map(|equal| !equal),
            Binary::Less => order.map(|order| order < 0),
            Binary::LessOrEqual => order.map(|order| order <= 0),
            Binary::Greater => order.map(|order| order > 0),
            _ => order.map(|order| order >= 0),
        };
        holds.map(Value::bool)
    }

    /// How a condition that is kept as a number compares with a number.
    fn compared_truths(&mut self, operation: Binary, left: &Value, right: &Value) -> Option<Value> {
        if self.truths.is_empty() {
            return None;
        }
        let (condition, with, operation) = match (self.as_truth(left), self.as_truth(right)) {
            (Some(condition), None) => (condition, right.as_integer()?, operation),
            (None, Some(condition)) => (condition, left.as_integer()?, turned(operation)),
            _ => return None,
        };
        let holds = |number: i128| match operation {
            Binary::Equal => number == with,
            Binary::NotEqual => number != with,
            Binary::Less => number < with,
            Binary::LessOrEqual => number <= with,
            Binary::Greater => number > with,
            _ => number >= with,
        };
        Some(match (holds(0), holds(1)) {
            (false, true) => truth(condition),
            (true, false) => truth(negation(condition)),
            (same, _) => Value::bool(same),
        })
    }

    /// The condition that a number stands for.
    fn as_truth(&self, value: &Value) -> Option<Unknown> {
        match value {
            Value::Scalar(scalar, Content::Unknown(unknown))
                if *scalar != Scalar::Bool && self.truths.contains(&(unknown.identity & !1)) =>
            {
                Some(*unknown)
            }
            _ => None,
        }
    }

    /// Between which numbers a number is, where that is known.
    pub(super) fn bounds(&self, value: &Value) -> Option<(i128, i128)> {
        match value {
            Value::Scalar(scalar, Content::Unknown(unknown)) if scalar.is_integer() => {
                self.ranges.get(&unknown.identity).copied()
            }
            value => value.as_number().map(|number| (number.get(), number.get())),
        }
    }

    /// Keeps between which numbers a result is.
    fn keep_bounds(&mut self, operation: Binary, result: &Value, left: &Value, right: &Value) {
        let Value::Scalar(scalar, Content::Unknown(unknown)) = result else { return };
        let has_bounds = |value: &Value| match value {
            Value::Scalar(_, Content::Unknown(it)) => self.ranges.contains_key(&it.identity),
            _ => false,
        };
        if !scalar.is_integer() || !has_bounds(left) && !has_bounds(right) {
            return;
        }
        let (Some(left), Some(right)) = (self.bounds(left), self.bounds(right)) else { return };
        let between = |results: [Option<i128>; 4]| {
            let results: Option<Vec<i128>> = results.into_iter().collect();
            let results = results?;
            Some((*results.iter().min()?, *results.iter().max()?))
        };
        let bounds = match operation {
            Binary::Add => left.0.checked_add(right.0).zip(left.1.checked_add(right.1)),
            Binary::Subtract => left.0.checked_sub(right.1).zip(left.1.checked_sub(right.0)),
            Binary::Multiply => between([
                left.0.checked_mul(right.0),
                left.0.checked_mul(right.1),
                left.1.checked_mul(right.0),
                left.1.checked_mul(right.1),
            ]),
            Binary::Divide if right.0 == right.1 && right.0 > 0 => {
                Some((left.0 / right.0, left.1 / right.0))
            }
            Binary::Remainder if right.0 == right.1 && right.0 > 0 && left.0 >= 0 => {
                Some((0, left.1.min(right.0 - 1)))
            }
            _ => None,
        };
        let is_kept = |number: i128| super::operators::wrap(number, *scalar) == number;
        if let Some(bounds) = bounds.filter(|bounds| is_kept(bounds.0) && is_kept(bounds.1)) {
            self.ranges.insert(unknown.identity, bounds);
        }
    }

    /// Keeps of what a product is so many times.
    fn keep_product(&mut self, result: &Value, left: &Value, right: &Value) {
        let (Value::Scalar(scalar, Content::Unknown(product)), true) = (result, true) else {
            return;
        };
        if !scalar.is_integer() {
            return;
        }
        let (product, scalar) = (product.identity, *scalar);
        let times = |value: &Value| value.as_integer();
        let of = match (times(left), times(right)) {
            (None, Some(times)) => Some((left.clone(), times)),
            (Some(times), None) => Some((right.clone(), times)),
            _ => None,
        };
        let kept = match of {
            Some((of, times)) => match self.products.get(&self.identity(&of).identity) {
                Some((inner, already)) => already.checked_mul(times).map(|it| (inner.clone(), it)),
                None => Some((of, times)),
            },
            None => {
                let inner =
                    |value: &Value| self.products.get(&self.identity(value).identity).cloned();
                match (inner(left), inner(right)) {
                    (Some((of, times)), None) => Some((of, right.clone(), times)),
                    (None, Some((of, times))) => Some((of, left.clone(), times)),
                    _ => None,
                }
                .map(|(one, other, times)| (self.product(&one, &other, scalar), times))
            }
        };
        if let Some(kept) = kept {
            self.products.insert(product, kept);
        }
    }

    /// A product of which nothing is known, by the name that any such product has.
    fn product(&mut self, one: &Value, other: &Value, scalar: Scalar) -> Value {
        let swaps = self.identity(one).identity > self.identity(other).identity;
        let inputs = if swaps { [other, one] } else { [one, other] };
        self.computed("multiply", &inputs, Type::Scalar(scalar))
    }

    /// What is left of a result that does not fit: numbers without a sign start again from zero.
    fn wrapped(&mut self, operation: Binary, left: &Value, right: &Value, result: Value) -> Value {
        let Value::Scalar(scalar, Content::Unknown(_)) = &result else { return result };
        let (Some(left), Some(right), true) =
            (left.as_number(), right.as_number(), is_unsigned(*scalar))
        else {
            return result;
        };
        let number = left.with(right, |left, right| {
            let number = match operation {
                Binary::Add => left.checked_add(right),
                Binary::Subtract => left.checked_sub(right),
                Binary::Multiply => left.checked_mul(right),
                Binary::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?),
                _ => None,
            };
            number.map(|number| super::operators::wrap(number, *scalar))
        });
        match number {
            Some(number) => Value::integer(number, *scalar),
            None => result,
        }
    }

    /// `-value`, `~value`, `!value`
    pub(super) fn unary_exactly(
        &mut self,
        operation: crate::program::Unary,
        value: &Value,
        place: Place,
    ) -> Value {
        match (operation, value) {
            (crate::program::Unary::Negate, Value::Scalar(scalar, Content::Known(_)))
                if is_unsigned(*scalar) =>
            {
                let number = value.as_number().unwrap_or(0.into());
                let negative = number
                    .map(|number| Some(super::operators::wrap(number.wrapping_neg(), *scalar)));
                Value::integer(negative.unwrap_or(number), *scalar)
            }
            (_, Value::Reference(_) | Value::Sequence(_)) => {
                let value = self.without_memory(value);
                self.unary(operation, &value, place)
            }
            _ => self.unary(operation, value, place),
        }
    }

    /// `(ty) value`
    pub(super) fn cast_exactly(&mut self, value: &Value, ty: &Type) -> Value {
        match (value, ty) {
            (Value::Scalar(Scalar::Bool, Content::Unknown(unknown)), Type::Scalar(scalar))
                if scalar.is_integer() =>
            {
                self.truths.insert(unknown.identity & !1);
                Value::Scalar(*scalar, Content::Unknown(*unknown))
            }
            (_, Type::Scalar(Scalar::Bool)) if self.as_truth(value).is_some() => {
                self.as_truth(value).map_or_else(Value::default, truth)
            }
            (Value::Scalar(kept, Content::Unknown(_)), Type::Scalar(Scalar::Bool))
                if *kept != Scalar::Bool =>
            {
                let zero = Value::integer(0, *kept);
                let equal = self.equal(value, &zero);
                self.not(&equal)
            }
            (Value::Scalar(..), Type::Scalar(_)) => self.cast(value, ty),
            // A number of which only the type is known.
            (Value::Scalar(..), Type::External(name, _))
                if name == "long double" || name.contains("_Complex") =>
            {
                self.computed(&format!("as {name}"), &[value], ty.clone())
            }
            (Value::Reference(path), Type::Reference(to)) => {
                if **to != Type::Unknown {
                    let path = path.clone();
                    self.give_type(&path, to);
                }
                value.clone()
            }
            (Value::Scalar(..), Type::Reference(_)) if value.as_integer() == Some(0) => {
                Value::none()
            }
            (Value::Scalar(..), Type::Reference(_)) => {
                self.computed("pointer of", &[value], ty.clone())
            }
            (Value::Reference(_) | Value::Function(..), Type::Scalar(Scalar::Bool)) => {
                Value::bool(true)
            }
            (Value::Variant("None", _), Type::Scalar(Scalar::Bool)) => Value::bool(false),
            (Value::Variant("None", _), Type::Scalar(scalar)) if scalar.is_integer() => {
                Value::integer(0, *scalar)
            }
            (Value::Handle(_), Type::Scalar(_)) => value.clone(),
            (_, Type::Scalar(scalar)) => {
                let value = self.without_memory(value);
                self.computed(&format!("as {}", scalar.name()), &[&value], ty.clone())
            }
            (Value::Unknown(unknown, Type::Unknown), ty) => {
                let unknown = *unknown;
                self.unknown(unknown, ty)
            }
            _ => value.clone(),
        }
    }
}

fn is_unsigned(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Usize)
}

/// The comparison with its sides exchanged.
fn turned(operation: Binary) -> Binary {
    match operation {
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        same => same,
    }
}
