//! Constants of Rust's own library: `i32::MAX`, `f64::consts::PI`, `None`, `Ordering::Less`.

use crate::evaluate::machine::Machine;
use crate::evaluate::value::{Constant, Content, Value};
use crate::program::Scalar;

use super::compare::ordering;

/// The value of a constant. `None`: not one of Rust's own.
pub(in crate::evaluate) fn constant(_: &mut Machine<'_>, path: &[String]) -> Option<Value> {
    let name = path.last()?.as_str();
    let owner = path.len().checked_sub(2).map_or("", |index| path[index].as_str());
    if let Some(scalar) = Scalar::from_name(owner) {
        return of_scalar(scalar, name);
    }
    Some(match (owner, name) {
        ("" | "Option" | "option", "None") => Value::none(),
        ("Ordering" | "cmp" | "", "Less") => ordering(std::cmp::Ordering::Less),
        ("Ordering" | "cmp" | "", "Equal") => ordering(std::cmp::Ordering::Equal),
        ("Ordering" | "cmp" | "", "Greater") => ordering(std::cmp::Ordering::Greater),
        ("marker" | "", "PhantomData") => Value::unit(),
        ("ExitCode", "SUCCESS" | "FAILURE") | ("fmt", "Error") => Value::unit(),
        ("consts", name) => {
            let single = path.iter().any(|segment| segment == "f32");
            let scalar = if single { Scalar::F32 } else { Scalar::F64 };
            float(scalar, math(name)?)
        }
        _ => return None,
    })
}

fn float(scalar: Scalar, number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "that is what an f32 holds")]
    let number = if scalar == Scalar::F32 { f64::from(number as f32) } else { number };
    Value::Scalar(scalar, Content::Known(Constant::Float(number.into())))
}

fn of_scalar(scalar: Scalar, name: &str) -> Option<Value> {
    if scalar.is_float() {
        return Some(float(
            scalar,
            match (name, scalar) {
                ("MAX", Scalar::F32) => f64::from(f32::MAX),
                ("MIN", Scalar::F32) => f64::from(f32::MIN),
                ("EPSILON", Scalar::F32) => f64::from(f32::EPSILON),
                ("MIN_POSITIVE", Scalar::F32) => f64::from(f32::MIN_POSITIVE),
                ("MAX", _) => f64::MAX,
                ("MIN", _) => f64::MIN,
                ("EPSILON", _) => f64::EPSILON,
                ("MIN_POSITIVE", _) => f64::MIN_POSITIVE,
                ("INFINITY", _) => f64::INFINITY,
                ("NEG_INFINITY", _) => f64::NEG_INFINITY,
                ("NAN", _) => f64::NAN,
                _ => return None,
            },
        ));
    }
    let (least, most) = super::integers::bounds(scalar)?;
    Some(match name {
        "MIN" => Value::integer(least, scalar),
        "MAX" => Value::integer(most, scalar),
        "BITS" => Value::integer(i128::from(scalar.bytes() * 8), Scalar::U32),
        _ => return None,
    })
}

fn math(name: &str) -> Option<f64> {
    use std::f64::consts;
    Some(match name {
        "PI" => consts::PI,
        "TAU" => consts::TAU,
        "E" => consts::E,
        "SQRT_2" => consts::SQRT_2,
        "LN_2" => consts::LN_2,
        "LN_10" => consts::LN_10,
        "FRAC_PI_2" => consts::FRAC_PI_2,
        "FRAC_PI_3" => consts::FRAC_PI_3,
        "FRAC_PI_4" => consts::FRAC_PI_4,
        "FRAC_PI_6" => consts::FRAC_PI_6,
        "FRAC_PI_8" => consts::FRAC_PI_8,
        "FRAC_1_PI" => consts::FRAC_1_PI,
        "FRAC_2_PI" => consts::FRAC_2_PI,
        "FRAC_1_SQRT_2" => consts::FRAC_1_SQRT_2,
        "FRAC_2_SQRT_PI" => consts::FRAC_2_SQRT_PI,
        "LOG2_E" => consts::LOG2_E,
        "LOG10_E" => consts::LOG10_E,
        "LOG2_10" => consts::LOG2_10,
        "LOG10_2" => consts::LOG10_2,
        _ => return None,
    })
}
