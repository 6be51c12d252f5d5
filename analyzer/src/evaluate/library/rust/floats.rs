//! The methods of numbers with a fraction.

use super::subject::{BOOL, all_behind, computed, pair};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Constant, Content, Value};
use crate::program::{Scalar, Type};

/// Calls a method on a number with a fraction. `None`: they have no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    scalar: Scalar,
    subject: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    let ty = result_type(call.name, scalar)?;
    let arguments = all_behind(machine, call);
    if let Some(number) = fraction(subject) {
        let whole = arguments.first().and_then(Value::as_integer);
        let others: Option<Vec<f64>> = arguments.iter().map(fraction).collect();
        let value = match (call.name, whole, others) {
            ("powi", Some(power), _) => {
                i32::try_from(power).ok().map(|power| rounded(scalar, number.powi(power)))
            }
            (name, _, Some(others)) => compute(name, scalar, number, &others),
            _ => None,
        };
        if let Some(value) = value {
            return Some(Ok(value));
        }
    }
    let inputs: Vec<&Value> = std::iter::once(subject).chain(&arguments).collect();
    Some(Ok(computed(machine, call, &inputs, ty)))
}

/// The number, where it is known.
fn fraction(value: &Value) -> Option<f64> {
    match value {
        Value::Scalar(_, Content::Known(Constant::Float(number))) => Some(number.get()),
        _ => None,
    }
}

/// A number as a value of the type: of the precision that it has.
fn rounded(scalar: Scalar, number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "that is what an f32 does")]
    let number = if scalar == Scalar::F32 { f64::from(number as f32) } else { number };
    Value::Scalar(scalar, Content::Known(Constant::Float(number.into())))
}

/// The type of what a method gives. `None`: there is no such method.
fn result_type(name: &str, scalar: Scalar) -> Option<Type> {
    let number = Type::Scalar(scalar);
    Some(match name {
        "abs" | "sqrt" | "cbrt" | "floor" | "ceil" | "round" | "trunc" | "fract" | "signum"
        | "recip" | "exp" | "exp2" | "exp_m1" | "ln" | "ln_1p" | "log2" | "log10" | "log"
        | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" | "sinh" | "cosh" | "tanh"
        | "asinh" | "acosh" | "atanh" | "to_degrees" | "to_radians" | "powf" | "powi" | "min"
        | "max" | "clamp" | "hypot" | "mul_add" | "copysign" | "rem_euclid" | "div_euclid"
        | "abs_sub" | "round_ties_even" => number,
        "is_nan" | "is_finite" | "is_infinite" | "is_normal" | "is_sign_negative"
        | "is_sign_positive" => BOOL,
        "sin_cos" => Type::Tuple(vec![number.clone(), number]),
        "to_bits" => Type::Scalar(match scalar {
            Scalar::F32 => Scalar::U32,
            _ => Scalar::U64,
        }),
        "total_cmp" => Type::External("Ordering".to_owned(), Vec::new()),
        "to_le_bytes" | "to_be_bytes" | "to_ne_bytes" => {
            Type::Array(Box::new(Type::Scalar(Scalar::U8)), Some(scalar.bytes()))
        }
        _ => return None,
    })
}

/// What a method gives for known numbers. `None`: it is not computed.
fn compute(name: &str, scalar: Scalar, number: f64, others: &[f64]) -> Option<Value> {
    if let Some(result) = one_number(name, number) {
        return Some(rounded(scalar, result));
    }
    let other = others.first().copied();
    let result = match name {
        "is_nan" => return Some(Value::bool(number.is_nan())),
        "is_finite" => return Some(Value::bool(number.is_finite())),
        "is_infinite" => return Some(Value::bool(number.is_infinite())),
        "is_sign_negative" => return Some(Value::bool(number.is_sign_negative())),
        "is_sign_positive" => return Some(Value::bool(number.is_sign_positive())),
        "sin_cos" => {
            let (sine, cosine) = number.sin_cos();
            return Some(pair(rounded(scalar, sine), rounded(scalar, cosine)));
        }
        "total_cmp" => return Some(super::compare::ordering(number.total_cmp(&other?))),
        "log" => number.log(other?),
        "atan2" => number.atan2(other?),
        "powf" => number.powf(other?),
        "min" => number.min(other?),
        "max" => number.max(other?),
        "hypot" => number.hypot(other?),
        "copysign" => number.copysign(other?),
        "rem_euclid" => number.rem_euclid(other?),
        "div_euclid" => number.div_euclid(other?),
        "mul_add" => number.mul_add(other?, *others.get(1)?),
        "clamp" => {
            let (least, most) = (other?, *others.get(1)?);
            (least <= most).then(|| number.clamp(least, most))?
        }
        _ => return None,
    };
    Some(rounded(scalar, result))
}

/// Methods of one number that give another one.
fn one_number(name: &str, number: f64) -> Option<f64> {
    Some(match name {
        "abs" => number.abs(),
        "sqrt" => number.sqrt(),
        "cbrt" => number.cbrt(),
        "floor" => number.floor(),
        "ceil" => number.ceil(),
        "round" => number.round(),
        "round_ties_even" => number.round_ties_even(),
        "trunc" => number.trunc(),
        "fract" => number.fract(),
        "signum" => number.signum(),
        "recip" => number.recip(),
        "exp" => number.exp(),
        "exp2" => number.exp2(),
        "exp_m1" => number.exp_m1(),
        "ln" => number.ln(),
        "ln_1p" => number.ln_1p(),
        "log2" => number.log2(),
        "log10" => number.log10(),
        "sin" => number.sin(),
        "cos" => number.cos(),
        "tan" => number.tan(),
        "asin" => number.asin(),
        "acos" => number.acos(),
        "atan" => number.atan(),
        "sinh" => number.sinh(),
        "cosh" => number.cosh(),
        "tanh" => number.tanh(),
        "to_degrees" => number.to_degrees(),
        "to_radians" => number.to_radians(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_a_tree_are_known() {
        let log = compute("log2", Scalar::F64, 8.0, &[]).as_ref().and_then(fraction);
        assert_eq!(log, Some(3.0));
        let up = compute("ceil", Scalar::F64, 2.1, &[]).as_ref().and_then(fraction);
        assert_eq!(up, Some(3.0));
    }

    #[test]
    fn single_precision_is_kept() {
        let root = compute("sqrt", Scalar::F32, 2.0, &[]).as_ref().and_then(fraction);
        assert_eq!(root, Some(f64::from(2.0_f32.sqrt())));
    }
}
