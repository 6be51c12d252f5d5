//! Arithmetic, comparisons, casts: known where the operands are, else unknown with an identity.

use std::cmp::Ordering;

use p2p_protocol::model::Departure;

use super::comparison;
use super::facts::Comparison;
use super::float::Float;
use super::identity::{SOME_INTEGER, negation};
use super::machine::{Machine, Outcome};
use super::value::{Constant, Content, Unknown, Value};
use crate::program::{Binary, Place, Scalar, Type, Unary};

impl Machine<'_> {
    /// `left operation right`, both evaluated; for values of the program's own types see
    /// [`Machine::operate`].
    pub(super) fn binary(
        &mut self,
        operation: Binary,
        left: &Value,
        right: &Value,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        let left = self.behind(left, place);
        let right = self.behind(right, place);
        if let Some(outcome) = self.binary_of_guesses(operation, &left, &right, ty, place) {
            return outcome;
        }
        match operation {
            Binary::And | Binary::Or => return Ok(self.both(operation, &left, &right)),
            Binary::Equal => return Ok(self.equal(&left, &right)),
            Binary::NotEqual => {
                let equal = self.equal(&left, &right);
                return Ok(self.not(&equal));
            }
            Binary::Less => return Ok(self.less(&left, &right)),
            Binary::Greater => return Ok(self.less(&right, &left)),
            Binary::LessOrEqual => {
                let greater = self.less(&right, &left);
                return Ok(self.not(&greater));
            }
            Binary::GreaterOrEqual => {
                let less = self.less(&left, &right);
                return Ok(self.not(&less));
            }
            _ => {}
        }
        if let (
            Value::Scalar(mine, Content::Known(left)),
            Value::Scalar(theirs, Content::Known(right)),
        ) = (&left, &right)
        {
            let scalar = common_scalar(*mine, *theirs, operation);
            let is_division = matches!(operation, Binary::Divide | Binary::Remainder);
            if is_division && *right == Constant::Integer(0.into()) {
                return Err(self.leave(Departure::Panicked, place));
            }
            if let Some(result) =
                arithmetic(operation, *left, *right).and_then(|it| fit(it, scalar))
            {
                return Ok(Value::Scalar(scalar, Content::Known(result)));
            }
        }
        let ty = match (&left, &right) {
            (Value::Scalar(mine, _), Value::Scalar(theirs, _)) => {
                Type::Scalar(common_scalar(*mine, *theirs, operation))
            }
            _ => ty.clone(),
        };
        let commutes = matches!(operation, Binary::Add | Binary::Multiply);
        let swaps = commutes && self.identity(&left).identity > self.identity(&right).identity;
        let inputs = if swaps { [&right, &left] } else { [&left, &right] };
        let result = self.computed(name(operation), &inputs, ty);
        self.keep_formula(&result, operation, &left, &right);
        Ok(result)
    }

    /// `!value` and `-value`
    pub(super) fn unary(&mut self, operation: Unary, value: &Value, place: Place) -> Value {
        let value = self.behind(value, place);
        match (operation, &value) {
            (Unary::Not, Value::Scalar(Scalar::Bool, _)) => self.not(&value),
            (Unary::Not, Value::Scalar(scalar, Content::Known(Constant::Integer(number)))) => {
                let not = number.map(|number| Some(wrap(!number, *scalar)));
                Value::integer(not.unwrap_or(*number), *scalar)
            }
            (Unary::Negate, Value::Scalar(scalar, Content::Known(Constant::Integer(number)))) => {
                let negative = number.map(i128::checked_neg).unwrap_or(*number);
                match fit(Constant::Integer(negative), *scalar) {
                    Some(number) => Value::Scalar(*scalar, Content::Known(number)),
                    None => self.computed("negative", &[&value], Type::Scalar(*scalar)),
                }
            }
            (Unary::Negate, Value::Scalar(scalar, Content::Known(Constant::Float(number)))) => {
                Value::Scalar(*scalar, Content::Known(Constant::Float(number.map(|it| -it))))
            }
            _ => {
                let ty = self.type_of(&value);
                let what = if operation == Unary::Not { "not" } else { "negative" };
                self.computed(what, &[&value], ty)
            }
        }
    }

    /// `!value` of a truth value.
    pub(super) fn not(&self, value: &Value) -> Value {
        match value {
            Value::Scalar(_, Content::Known(Constant::Bool(value))) => Value::bool(!value),
            other => truth(negation(self.identity(other))),
        }
    }

    fn both(&mut self, operation: Binary, left: &Value, right: &Value) -> Value {
        let absorbing = operation == Binary::Or;
        match (left.as_bool(), right.as_bool()) {
            (Some(value), _) | (_, Some(value)) if value == absorbing => Value::bool(absorbing),
            (Some(_), _) => right.clone(),
            (_, Some(_)) => left.clone(),
            // One word for both, so that `!(a && b)` is `!a || !b`.
            _ if absorbing => {
                let [left, right] = [self.not(left), self.not(right)];
                let both = self.computed("and", &[&left, &right], Type::Scalar(Scalar::Bool));
                self.keep_formula(&both, Binary::And, &left, &right);
                self.not(&both)
            }
            _ => {
                let both = self.computed("and", &[left, right], Type::Scalar(Scalar::Bool));
                self.keep_formula(&both, Binary::And, left, right);
                both
            }
        }
    }

    /// `left == right`
    pub(super) fn equal(&mut self, left: &Value, right: &Value) -> Value {
        let [left, right] = &[self.guessed(left), self.guessed(right)];
        if let Some(known) = comparison::equal(self, left, right, Place::default()) {
            return Value::bool(known);
        }
        let swaps = self.identity(left).identity > self.identity(right).identity;
        let inputs = if swaps { [right, left] } else { [left, right] };
        let result = self.computed("equal", &inputs, Type::Scalar(Scalar::Bool));
        self.remember(&result, Binary::Equal, left, right);
        result
    }

    /// `left < right`
    fn less(&mut self, left: &Value, right: &Value) -> Value {
        let [left, right] = &[self.guessed(left), self.guessed(right)];
        let known = match (left, right) {
            (Value::Scalar(_, Content::Known(left)), Value::Scalar(_, Content::Known(right))) => {
                match (left, right) {
                    (Constant::Integer(left), Constant::Integer(right)) => Some(left < right),
                    (Constant::Float(left), Constant::Float(right)) => Some(left < right),
                    (Constant::Char(left), Constant::Char(right)) => Some(left < right),
                    _ => None,
                }
            }
            (Value::Scalar(_, left), Value::Scalar(_, right)) if left == right => Some(false),
            _ => comparison::order(self, left, right, Place::default()).map(Ordering::is_lt),
        };
        if let Some(known) = known {
            return Value::bool(known);
        }
        // `k < x` is `!(x < k + 1)`: one form for all that compares with a known number.
        if let (Some(number), Value::Scalar(scalar, Content::Unknown(_))) =
            (left.as_number(), right)
            && scalar.is_integer()
        {
            let next = Value::integer(number.plus(1), *scalar);
            let less = self.less(right, &next);
            return self.not(&less);
        }
        let inputs = match right.as_number() {
            // The number's type does not matter.
            Some(number) => [left.clone(), Value::integer(number, SOME_INTEGER)],
            None => [left.clone(), right.clone()],
        };
        let result = self.computed("less", &[&inputs[0], &inputs[1]], Type::Scalar(Scalar::Bool));
        self.remember(&result, Binary::Less, left, right);
        result
    }

    /// Keeps what a condition says, so that others follow from it.
    fn remember(&mut self, result: &Value, operation: Binary, left: &Value, right: &Value) {
        self.keep_formula(result, operation, left, right);
        let (unknown, with) = match (left, left.as_number(), right, right.as_number()) {
            (Value::Scalar(_, Content::Unknown(unknown)), _, _, Some(with)) => (unknown, with),
            (_, Some(with), Value::Scalar(_, Content::Unknown(unknown)), _)
                if operation == Binary::Equal =>
            {
                (unknown, with)
            }
            _ => return,
        };
        let (operand, added) = self.shared.oracle.formulas.as_whole_sum(unknown.identity);
        let with = if added == 0 { with } else { with.plus(added.saturating_neg()) };
        let comparison = Comparison { operand, operation, with };
        let condition = self.identity(result).identity;
        self.note_question();
        self.comparisons.insert(condition, comparison);
    }

    /// `value as ty`
    pub(super) fn cast(&mut self, value: &Value, ty: &Type) -> Value {
        let Type::Scalar(scalar) = ty else {
            // A pointer to something else leads to the same memory.
            return value.clone();
        };
        let value = self.behind(value, Place::default());
        match &value {
            Value::Scalar(_, Content::Known(constant)) => {
                let constant = converted(*constant, *scalar);
                Value::Scalar(*scalar, Content::Known(constant))
            }
            // The same number, unless it does not fit, which is not what is looked for.
            Value::Scalar(from, Content::Unknown(unknown))
                if from.is_integer() && scalar.is_integer() =>
            {
                Value::Scalar(*scalar, Content::Unknown(*unknown))
            }
            Value::Defined { definition, variant, fields } if fields.is_empty() => {
                let variants = &self.program.definition(*definition).variants;
                match variants.get(*variant as usize).and_then(|it| it.discriminant) {
                    Some(number) => Value::integer(wrap(number, *scalar), *scalar),
                    None => self.computed("cast", &[&value], ty.clone()),
                }
            }
            _ => self.computed(&format!("as {}", scalar.name()), &[&value], ty.clone()),
        }
    }
}

/// A truth value that is not known.
pub(super) fn truth(condition: Unknown) -> Value {
    Value::Scalar(Scalar::Bool, Content::Unknown(condition))
}

/// The type of what two scalars make: that of the one whose type is known, and in shifts the
/// first one's.
fn common_scalar(left: Scalar, right: Scalar, operation: Binary) -> Scalar {
    let shifts = matches!(operation, Binary::ShiftLeft | Binary::ShiftRight);
    if left == SOME_INTEGER && !shifts { right } else { left }
}

/// The result, where it is a number.
fn arithmetic(operation: Binary, left: Constant, right: Constant) -> Option<Constant> {
    match (left, right) {
        (Constant::Integer(left), Constant::Integer(right)) => {
            left.with(right, |left, right| whole(operation, left, right)).map(Constant::Integer)
        }
        (Constant::Float(left), Constant::Float(right)) => {
            let make: fn(f64, f64) -> f64 = match operation {
                Binary::Add => |left, right| left + right,
                Binary::Subtract => |left, right| left - right,
                Binary::Multiply => |left, right| left * right,
                Binary::Divide => |left, right| left / right,
                Binary::Remainder => |left, right| left % right,
                _ => return None,
            };
            Some(Constant::Float(left.with(right, make)))
        }
        (Constant::Bool(left), Constant::Bool(right)) => Some(Constant::Bool(match operation {
            Binary::BitAnd => left & right,
            Binary::BitOr => left | right,
            Binary::BitXor => left ^ right,
            _ => return None,
        })),
        _ => None,
    }
}

fn whole(operation: Binary, left: i128, right: i128) -> Option<i128> {
    let distance = || u32::try_from(right).ok();
    match operation {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => left.checked_div(right),
        Binary::Remainder => left.checked_rem(right),
        Binary::BitAnd => Some(left & right),
        Binary::BitOr => Some(left | right),
        Binary::BitXor => Some(left ^ right),
        Binary::ShiftLeft => left.checked_shl(distance()?),
        Binary::ShiftRight => left.checked_shr(distance()?),
        _ => None,
    }
}

/// A number of a type, if it fits: what overflows is not known.
fn fit(constant: Constant, scalar: Scalar) -> Option<Constant> {
    match constant {
        Constant::Integer(number) if scalar.is_integer() => {
            let fits = |number| (wrap(number, scalar) == number).then_some(number);
            number.map(fits).map(Constant::Integer)
        }
        Constant::Float(number) => {
            Some(Constant::Float(number.map(|number| rounded(number, scalar))))
        }
        other => Some(other),
    }
}

/// The number of a type that is nearest to one.
pub(super) fn rounded(number: f64, scalar: Scalar) -> f64 {
    if scalar == Scalar::F32 { f64::from(number as f32) } else { number }
}

/// The number with a fraction of a type that is nearest to a whole one.
fn nearest(number: i128, scalar: Scalar) -> f64 {
    if scalar == Scalar::F32 { f64::from(number as f32) } else { number as f64 }
}

/// The number that is left of one in a type's width.
pub(super) fn wrap(number: i128, scalar: Scalar) -> i128 {
    match scalar {
        Scalar::I8 => i128::from(number as i8),
        Scalar::I16 => i128::from(number as i16),
        Scalar::I32 => i128::from(number as i32),
        Scalar::I64 | Scalar::Isize => i128::from(number as i64),
        Scalar::U8 => i128::from(number as u8),
        Scalar::U16 => i128::from(number as u16),
        Scalar::U32 => i128::from(number as u32),
        Scalar::U64 | Scalar::Usize => i128::from(number as u64),
        _ => number,
    }
}

/// What `as` makes of a constant.
fn converted(constant: Constant, scalar: Scalar) -> Constant {
    let number = match constant {
        Constant::Integer(number) if scalar.is_integer() => {
            let wrapped = number.map(|number| Some(wrap(number, scalar)));
            return Constant::Integer(wrapped.unwrap_or(number));
        }
        Constant::Integer(number) if scalar.is_float() => {
            return Constant::Float(Float::of(number, |number| nearest(number, scalar)));
        }
        Constant::Integer(number) => number.get(),
        Constant::Bool(value) => i128::from(value),
        Constant::Char(value) => i128::from(u32::from(value)),
        Constant::Float(number) if scalar.is_float() => {
            return Constant::Float(number.map(|number| rounded(number, scalar)));
        }
        Constant::Float(number) => {
            let (lowest, highest): (i128, i128) = match scalar {
                Scalar::I8 => (i8::MIN.into(), i8::MAX.into()),
                Scalar::I16 => (i16::MIN.into(), i16::MAX.into()),
                Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
                Scalar::I64 | Scalar::Isize => (i64::MIN.into(), i64::MAX.into()),
                Scalar::U8 => (0, u8::MAX.into()),
                Scalar::U16 => (0, u16::MAX.into()),
                Scalar::U32 => (0, u32::MAX.into()),
                Scalar::U64 | Scalar::Usize => (0, u64::MAX.into()),
                _ => (i128::MIN, i128::MAX),
            };
            return Constant::Integer(number.whole(|it| (it as i128).clamp(lowest, highest)));
        }
    };
    match scalar {
        Scalar::F32 | Scalar::F64 => Constant::Float(nearest(number, scalar).into()),
        Scalar::Bool => Constant::Bool(number != 0),
        Scalar::Char => {
            let letter = u32::try_from(number).ok().and_then(char::from_u32);
            letter.map_or(Constant::Integer(number.into()), Constant::Char)
        }
        scalar => Constant::Integer(wrap(number, scalar).into()),
    }
}

/// What a computation of two values is called in identities.
fn name(operation: Binary) -> &'static str {
    match operation {
        Binary::Add => "add",
        Binary::Subtract => "subtract",
        Binary::Multiply => "multiply",
        Binary::Divide => "divide",
        Binary::Remainder => "remainder",
        Binary::BitAnd => "and bits",
        Binary::BitOr => "or bits",
        Binary::BitXor => "xor bits",
        Binary::ShiftLeft => "shift left",
        Binary::ShiftRight => "shift right",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Equal => "equal",
        Binary::NotEqual => "not equal",
        Binary::Less => "less",
        Binary::LessOrEqual => "less or equal",
        Binary::Greater => "greater",
        Binary::GreaterOrEqual => "greater or equal",
    }
}

/// The method that a type of the program has for an operation.
pub(super) fn operator_method(operation: Binary) -> Option<&'static str> {
    Some(match operation {
        Binary::Add => "add",
        Binary::Subtract => "sub",
        Binary::Multiply => "mul",
        Binary::Divide => "div",
        Binary::Remainder => "rem",
        Binary::BitAnd => "bitand",
        Binary::BitOr => "bitor",
        Binary::BitXor => "bitxor",
        Binary::ShiftLeft => "shl",
        Binary::ShiftRight => "shr",
        Binary::Equal => "eq",
        _ => return None,
    })
}
