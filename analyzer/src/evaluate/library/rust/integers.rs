//! The methods of whole numbers.

use super::subject::{BOOL, all_behind, computed, option_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Constant, Content, Value};
use crate::program::{Scalar, Type};

/// Calls a method on a whole number. `None`: whole numbers have no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    scalar: Scalar,
    subject: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    let ty = result_type(call.name, scalar)?;
    let arguments = all_behind(machine, call);
    let known: Option<Vec<i128>> =
        std::iter::once(subject).chain(&arguments).map(whole_number).collect();
    if let Some(known) = known
        && let Some(value) = compute(call.name, scalar, known[0], &known[1..])
    {
        return Some(Ok(value));
    }
    if matches!(call.name, "min" | "max") && arguments.len() == 1 && same(subject, &arguments[0]) {
        return Some(Ok(subject.clone()));
    }
    let inputs: Vec<&Value> = std::iter::once(subject).chain(&arguments).collect();
    Some(Ok(computed(machine, call, &inputs, ty)))
}

/// A whole number, or a truth value as one.
fn whole_number(value: &Value) -> Option<i128> {
    match value {
        Value::Scalar(_, Content::Known(Constant::Integer(number))) => Some(number.get()),
        Value::Scalar(_, Content::Known(Constant::Bool(value))) => Some(i128::from(*value)),
        _ => None,
    }
}

fn same(one: &Value, other: &Value) -> bool {
    matches!((one, other), (Value::Scalar(first, one), Value::Scalar(second, other))
        if first == second && one == other)
}

/// The type of what a method gives. `None`: there is no such method.
fn result_type(name: &str, scalar: Scalar) -> Option<Type> {
    let number = Type::Scalar(scalar);
    Some(match name {
        "abs" | "pow" | "min" | "max" | "clamp" | "rem_euclid" | "div_euclid" | "div_ceil"
        | "div_floor" | "next_multiple_of" | "next_power_of_two" | "signum" | "isqrt"
        | "swap_bytes" | "reverse_bits" | "to_be" | "to_le" | "rotate_left" | "rotate_right"
        | "midpoint" => number,
        "abs_diff" | "unsigned_abs" => Type::Scalar(unsigned(scalar)),
        "is_power_of_two" | "is_positive" | "is_negative" | "is_multiple_of" => BOOL,
        "trailing_zeros" | "leading_zeros" | "count_ones" | "count_zeros" | "trailing_ones"
        | "leading_ones" | "ilog2" | "ilog10" | "ilog" => Type::Scalar(Scalar::U32),
        "checked_ilog2" | "checked_ilog10" | "checked_ilog" => option_of(Type::Scalar(Scalar::U32)),
        "to_le_bytes" | "to_be_bytes" | "to_ne_bytes" => {
            Type::Array(Box::new(Type::Scalar(Scalar::U8)), Some(scalar.bytes()))
        }
        _ if operation(name, "wrapping_").is_some() || operation(name, "saturating_").is_some() => {
            number
        }
        _ if operation(name, "checked_").is_some() => option_of(number),
        _ if operation(name, "overflowing_").is_some() => Type::Tuple(vec![number, BOOL]),
        "is_ascii_digit"
        | "is_ascii_alphabetic"
        | "is_ascii_alphanumeric"
        | "is_ascii_whitespace"
        | "is_ascii"
        | "is_ascii_uppercase"
        | "is_ascii_lowercase"
        | "is_ascii_punctuation"
        | "eq_ignore_ascii_case" => BOOL,
        "to_ascii_uppercase" | "to_ascii_lowercase" => number,
        _ => return None,
    })
}

/// What `wrapping_add`, `checked_add`, .. do, without what they do where it does not fit.
fn operation<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let operation = name.strip_prefix(prefix)?;
    matches!(
        operation,
        "add"
            | "sub"
            | "mul"
            | "div"
            | "rem"
            | "neg"
            | "pow"
            | "abs"
            | "shl"
            | "shr"
            | "rem_euclid"
            | "div_euclid"
            | "add_signed"
            | "sub_unsigned"
            | "add_unsigned"
            | "sub_signed"
            | "next_power_of_two"
    )
    .then_some(operation)
}

/// The unsigned type of the same width.
fn unsigned(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        Scalar::I128 => Scalar::U128,
        Scalar::Isize => Scalar::Usize,
        other => other,
    }
}

/// The least and the greatest number of a type, where `i128` holds them.
pub(super) fn bounds(scalar: Scalar) -> Option<(i128, i128)> {
    let bits = u32::try_from(scalar.bytes() * 8).ok()?;
    match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::Isize => {
            Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
        }
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Usize => {
            Some((0, (1 << bits) - 1))
        }
        Scalar::I128 => Some((i128::MIN, i128::MAX)),
        // Numbers above the half of `u128` are not kept.
        _ => None,
    }
}

/// Whether a number fits into a type.
pub(super) fn fits(scalar: Scalar, number: i128) -> bool {
    match scalar {
        Scalar::U128 => number >= 0,
        _ => bounds(scalar).is_some_and(|(least, most)| (least..=most).contains(&number)),
    }
}

/// A number cut to the width of a type, as `wrapping_` and `as` do.
pub(super) fn wrapped(scalar: Scalar, number: i128) -> Option<i128> {
    let (least, most) = bounds(scalar)?;
    if scalar == Scalar::I128 {
        return Some(number);
    }
    let span = most - least + 1;
    Some((number - least).rem_euclid(span) + least)
}

/// What a method gives for known numbers. `None`: it panics, or is not computed.
fn compute(name: &str, scalar: Scalar, number: i128, arguments: &[i128]) -> Option<Value> {
    let other = arguments.first().copied();
    let integer = |number: i128| fits(scalar, number).then(|| Value::integer(number, scalar));
    let small = |number: u32| Value::integer(i128::from(number), Scalar::U32);
    if let Some(operation) = operation(name, "checked_") {
        let result = exact(operation, number, other, scalar);
        return Some(match result.filter(|result| fits(scalar, *result)) {
            Some(result) => Value::some(Value::integer(result, scalar)),
            None if result.is_some() || divides_by_zero(operation, other) => Value::none(),
            None => return None,
        });
    }
    if let Some(operation) = operation(name, "wrapping_") {
        return integer(wrapped(scalar, exact(operation, number, other, scalar)?)?);
    }
    if let Some(operation) = operation(name, "saturating_") {
        let (least, most) = bounds(scalar)?;
        return integer(exact(operation, number, other, scalar)?.clamp(least, most));
    }
    if let Some(operation) = operation(name, "overflowing_") {
        let result = exact(operation, number, other, scalar)?;
        let cut = integer(wrapped(scalar, result)?)?;
        return Some(super::subject::pair(cut, Value::bool(!fits(scalar, result))));
    }
    match name {
        "abs" | "pow" | "rem_euclid" | "div_euclid" | "next_power_of_two" => {
            integer(exact(name, number, other, scalar)?)
        }
        "min" => integer(number.min(other?)),
        "max" => integer(number.max(other?)),
        "clamp" => {
            let (least, most) = (other?, *arguments.get(1)?);
            (least <= most).then(|| integer(number.clamp(least, most)))?
        }
        "div_ceil" => integer(round_up(number, other?)?),
        "div_floor" => integer(number.checked_div_euclid(other?).filter(|_| other > Some(0))?),
        "next_multiple_of" => integer(round_up(number, other?)?.checked_mul(other?)?),
        "signum" => integer(number.signum()),
        "isqrt" => integer(number.checked_isqrt()?),
        "midpoint" => integer((number + other?).div_euclid(2)).filter(|_| number >= 0),
        "abs_diff" => {
            let difference = number.checked_sub(other?)?.checked_abs()?;
            Some(Value::integer(difference, unsigned(scalar)))
        }
        "unsigned_abs" => Some(Value::integer(number.checked_abs()?, unsigned(scalar))),
        "is_power_of_two" => Some(Value::bool(number > 0 && number & (number - 1) == 0)),
        "is_positive" => Some(Value::bool(number > 0)),
        "is_negative" => Some(Value::bool(number < 0)),
        "is_multiple_of" => Some(Value::bool(match other? {
            0 => number == 0,
            other => number % other == 0,
        })),
        "ilog2" => number.checked_ilog2().map(small),
        "ilog10" => number.checked_ilog10().map(small),
        "ilog" => number.checked_ilog(other.filter(|base| *base >= 2)?).map(small),
        "checked_ilog2" => Some(optional(number.checked_ilog2().map(small))),
        "checked_ilog10" => Some(optional(number.checked_ilog10().map(small))),
        _ => bits(name, scalar, number).map(small),
    }
}

/// `Some(value)` or `None`, as values of the program.
fn optional(value: Option<Value>) -> Value {
    value.map_or_else(Value::none, Value::some)
}

/// Whether an operation has no result because it would divide by nothing.
fn divides_by_zero(operation: &str, other: Option<i128>) -> bool {
    matches!(operation, "div" | "rem" | "div_euclid" | "rem_euclid") && other == Some(0)
}

/// The quotient of two numbers that are not negative, rounded up.
fn round_up(number: i128, by: i128) -> Option<i128> {
    (number >= 0 && by > 0).then(|| number / by + i128::from(number % by != 0))
}

/// The result of an operation as if the type had no bounds; `None` where there is none, or where
/// even `i128` has no room for it.
fn exact(operation: &str, number: i128, other: Option<i128>, scalar: Scalar) -> Option<i128> {
    let bits = i128::from(scalar.bytes() * 8);
    match operation {
        "add" | "add_signed" | "add_unsigned" => number.checked_add(other?),
        "sub" | "sub_unsigned" | "sub_signed" => number.checked_sub(other?),
        "mul" => number.checked_mul(other?),
        "div" => number.checked_div(other?),
        "rem" => number.checked_rem(other?),
        "rem_euclid" => number.checked_rem_euclid(other?),
        "div_euclid" => number.checked_div_euclid(other?),
        "neg" => number.checked_neg(),
        "abs" => number.checked_abs(),
        "pow" => number.checked_pow(u32::try_from(other?).ok()?),
        "shl" => number.checked_mul(1_i128.checked_shl(shift(other?, bits)?)?),
        "shr" => Some(number >> shift(other?, bits)?),
        "next_power_of_two" => {
            i128::try_from(u128::try_from(number).ok()?.checked_next_power_of_two()?).ok()
        }
        _ => None,
    }
}

/// By how many bits to shift, where that is less than there are.
fn shift(by: i128, bits: i128) -> Option<u32> {
    (0..bits).contains(&by).then(|| u32::try_from(by).ok())?
}

/// Methods that count bits.
fn bits(name: &str, scalar: Scalar, number: i128) -> Option<u32> {
    let width = u32::try_from(scalar.bytes() * 8).ok()?;
    let mask = if width == 128 { u128::MAX } else { (1 << width) - 1 };
    let pattern = number.cast_unsigned() & mask;
    Some(match name {
        "count_ones" => pattern.count_ones(),
        "count_zeros" => width - pattern.count_ones(),
        "trailing_zeros" => pattern.trailing_zeros().min(width),
        "leading_zeros" => pattern.leading_zeros() - (128 - width),
        "trailing_ones" => pattern.trailing_ones(),
        "leading_ones" => (pattern << (128 - width)).leading_ones(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str, scalar: Scalar, number: i128, arguments: &[i128]) -> Option<i128> {
        compute(name, scalar, number, arguments)?.as_integer()
    }

    #[test]
    fn numbers_wrap_at_the_width_of_their_type() {
        assert_eq!(number("wrapping_sub", Scalar::U8, 0, &[1]), Some(255));
        assert_eq!(
            number("wrapping_add", Scalar::I32, i128::from(i32::MAX), &[1]),
            Some(i128::from(i32::MIN))
        );
        assert_eq!(number("wrapping_sub", Scalar::Usize, 0, &[1]), Some(i128::from(u64::MAX)));
        assert_eq!(number("saturating_sub", Scalar::Usize, 3, &[5]), Some(0));
        assert_eq!(wrapped(Scalar::I64, i128::from(u64::MAX)), Some(-1));
    }

    #[test]
    fn checked_operations_tell_what_does_not_fit() {
        let result = compute("checked_sub", Scalar::Usize, 0, &[1]);
        assert!(matches!(result, Some(Value::Variant("None", _))));
        let result = compute("checked_div", Scalar::I32, 7, &[0]);
        assert!(matches!(result, Some(Value::Variant("None", _))));
        let result = compute("checked_add", Scalar::I32, 7, &[1]);
        assert!(
            matches!(result, Some(Value::Variant("Some", held)) if held[0].as_integer() == Some(8))
        );
    }

    #[test]
    fn what_would_panic_is_not_computed() {
        assert_eq!(number("pow", Scalar::I32, 10, &[20]), None);
        assert_eq!(number("rem_euclid", Scalar::I32, 10, &[0]), None);
        assert_eq!(number("ilog2", Scalar::U32, 0, &[]), None);
    }

    #[test]
    fn methods_give_what_rust_gives() {
        assert_eq!(
            number("rem_euclid", Scalar::I32, -1, &[4]),
            Some((-1_i32).rem_euclid(4).into())
        );
        assert_eq!(number("next_power_of_two", Scalar::Usize, 5, &[]), Some(8));
        assert_eq!(number("trailing_zeros", Scalar::I32, 12, &[]), Some(2));
        assert_eq!(number("leading_zeros", Scalar::U16, 1, &[]), Some(15));
        assert_eq!(number("count_ones", Scalar::I8, -1, &[]), Some(8));
        assert_eq!(number("leading_ones", Scalar::I8, -1, &[]), Some(8));
        assert_eq!(number("div_ceil", Scalar::Usize, 7, &[2]), Some(4));
        assert_eq!(number("ilog2", Scalar::Usize, 9, &[]), Some(3));
        assert_eq!(number("abs_diff", Scalar::I32, -3, &[4]), Some(7));
    }
}
