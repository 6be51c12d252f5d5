//! Numbers: what `math.h` and `stdlib.h` compute, and the constants of the headers.

use super::text::{known_text, of_text};
use super::{argument, computed};
use crate::evaluate::machine::{Call, Machine};
use crate::evaluate::value::{Constant, Content, Value};
use crate::program::{Scalar, Type};

/// Calls one of these functions.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Value> {
    match name {
        "abs" | "labs" | "llabs" => return Some(absolute(machine, call)),
        "atoi" | "atol" | "atoll" | "strtol" | "strtoll" | "strtoul" | "strtoull" | "atof"
        | "strtod" | "strtof" | "strtold" => return Some(parsed(machine, name, call)),
        "expect" => return Some(argument(call, 0)),
        "htonl" | "ntohl" | "htons" | "ntohs" => return Some(computed(machine, call)),
        _ => {}
    }
    let (base, scalar) = match name.strip_suffix('f') {
        Some(base) if is_math(base) => (base, Scalar::F32),
        _ => (name.strip_suffix('l').filter(|base| is_math(base)).unwrap_or(name), Scalar::F64),
    };
    if !is_math(base) {
        return None;
    }
    let numbers: Option<Vec<f64>> = call.arguments.iter().map(float).collect();
    let result = numbers.and_then(|numbers| math(base, &numbers));
    Some(match result {
        Some(number) => {
            let number = if scalar == Scalar::F32 { f64::from(number as f32) } else { number };
            let number = Constant::Float(number.into());
            let value = Value::Scalar(scalar, Content::Known(number));
            match &*call.ty {
                ty @ Type::Scalar(_) => machine.cast_exactly(&value, ty),
                _ => value,
            }
        }
        None => {
            for argument in &call.arguments {
                machine.forget_behind(argument);
            }
            computed(machine, call)
        }
    })
}

/// Whether a function only computes a number of its arguments.
pub(super) fn computes_only(name: &str) -> bool {
    let base = name.strip_suffix(['f', 'l']).filter(|base| is_math(base)).unwrap_or(name);
    let has_other_results = matches!(base, "frexp" | "modf" | "lgamma" | "nan");
    matches!(name, "abs" | "labs" | "llabs") || is_math(base) && !has_other_results
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Scalar(_, Content::Known(Constant::Float(number))) => Some(number.get()),
        Value::Scalar(_, Content::Known(Constant::Integer(number))) => Some(number.get() as f64),
        _ => None,
    }
}

fn is_math(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "sqrt",
        "pow",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "floor",
        "ceil",
        "round",
        "trunc",
        "rint",
        "nearbyint",
        "fabs",
        "fmod",
        "fmin",
        "fmax",
        "hypot",
        "cbrt",
        "exp2",
        "expm1",
        "log1p",
        "lround",
        "llround",
        "lrint",
        "llrint",
        "copysign",
        "remainder",
        "fdim",
        "fma",
        "ldexp",
        "frexp",
        "modf",
        "erf",
        "erfc",
        "tgamma",
        "lgamma",
        "asinh",
        "acosh",
        "atanh",
        "isnan",
        "isinf",
        "isfinite",
        "signbit",
        "scalbn",
        "ilogb",
        "logb",
        "nan",
        "j0",
        "j1",
        "y0",
        "y1",
    ];
    NAMES.contains(&name)
}

/// What a function makes of numbers that are known; `None`: it is not computed here.
fn math(name: &str, numbers: &[f64]) -> Option<f64> {
    Some(match (name, numbers) {
        ("sqrt", [x]) => x.sqrt(),
        ("exp", [x]) => x.exp(),
        ("exp2", [x]) => x.exp2(),
        ("log", [x]) => x.ln(),
        ("log2", [x]) => x.log2(),
        ("log10", [x]) => x.log10(),
        ("sin", [x]) => x.sin(),
        ("cos", [x]) => x.cos(),
        ("tan", [x]) => x.tan(),
        ("atan", [x]) => x.atan(),
        ("cbrt", [x]) => x.cbrt(),
        ("floor", [x]) => x.floor(),
        ("ceil", [x]) => x.ceil(),
        ("round" | "lround" | "llround", [x]) => x.round(),
        ("rint" | "nearbyint" | "lrint" | "llrint", [x]) => x.round_ties_even(),
        ("trunc", [x]) => x.trunc(),
        ("fabs", [x]) => x.abs(),
        ("pow", [x, y]) => x.powf(*y),
        ("fmod", [x, y]) => x % y,
        ("fmin", [x, y]) => x.min(*y),
        ("fmax", [x, y]) => x.max(*y),
        ("hypot", [x, y]) => x.hypot(*y),
        ("atan2", [x, y]) => x.atan2(*y),
        ("fma", [x, y, z]) => x.mul_add(*y, *z),
        _ => return None,
    })
}

fn absolute(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let value = argument(call, 0);
    match (&value, value.as_number()) {
        (Value::Scalar(scalar, _), Some(number)) => match number.map(i128::checked_abs) {
            Some(number) => Value::integer(number, *scalar),
            None => computed(machine, call),
        },
        _ => computed(machine, call),
    }
}

/// The number that a text is. What comes from outside is the same on every rank that is given the same.
fn parsed(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Value {
    super::memory::touch(machine, &argument(call, 0), false, call.place);
    if name.starts_with("str") && call.arguments.len() > 1 {
        machine.forget_behind(&argument(call, 1));
    }
    let ty = match (&*call.ty, name) {
        (ty @ Type::Scalar(_), _) => ty.clone(),
        (_, "atoi") => Type::Scalar(Scalar::I32),
        (_, "atof" | "strtod" | "strtof" | "strtold") => Type::Scalar(Scalar::F64),
        _ => Type::Scalar(Scalar::I64),
    };
    let base = argument(call, 2).as_integer();
    let is_decimal = !name.starts_with("str") || matches!(base, Some(10));
    let is_float = matches!(&ty, Type::Scalar(scalar) if scalar.is_float());
    match (known_text(machine, &argument(call, 0)), is_float) {
        (Some(text), false) if is_decimal => {
            let number = Value::integer(leading_number(&text), Scalar::I64);
            machine.cast_exactly(&number, &ty)
        }
        // One word for all of them: the number is the same, however it is read.
        _ if call.arguments.is_empty() => of_text(machine, call, ty),
        _ => {
            let text = argument(call, 0);
            let what = if is_float { "fraction in text" } else { "number in text" };
            machine.computed(what, &[&text], ty)
        }
    }
}

/// The whole number at the start of a text; 0 where there is none.
fn leading_number(text: &[u8]) -> i128 {
    let mut rest = text.trim_ascii_start();
    let negative = rest.first() == Some(&b'-');
    if let Some(b'-' | b'+') = rest.first() {
        rest = &rest[1..];
    }
    let digits = rest.iter().take_while(|it| it.is_ascii_digit()).take(30);
    let number = digits.fold(0_i128, |number, digit| number * 10 + i128::from(digit - b'0'));
    if negative { -number } else { number }
}

/// The value of a constant of the headers. `None`: it is none that is known.
pub(in crate::evaluate::library) fn constant(
    machine: &mut Machine<'_>,
    name: &str,
    ty: &Type,
) -> Option<Value> {
    let scalar = |default: Scalar| match ty {
        Type::Scalar(scalar) => *scalar,
        _ => default,
    };
    let integer = |number: i128, default: Scalar| Some(Value::integer(number, scalar(default)));
    let float = |number: f64| {
        let scalar = if scalar(Scalar::F64) == Scalar::F32 { Scalar::F32 } else { Scalar::F64 };
        Some(Value::Scalar(scalar, Content::Known(Constant::Float(number.into()))))
    };
    use std::f64::consts;
    match name {
        "NULL" => Some(Value::none()),
        "EXIT_SUCCESS" | "FALSE" => integer(0, Scalar::I32),
        "EXIT_FAILURE" | "TRUE" => integer(1, Scalar::I32),
        "true" | "false" => Some(Value::bool(name == "true")),
        "INT_MAX" | "RAND_MAX" | "INT32_MAX" => integer(i32::MAX.into(), Scalar::I32),
        "INT_MIN" | "INT32_MIN" => integer(i32::MIN.into(), Scalar::I32),
        "UINT_MAX" | "UINT32_MAX" => integer(u32::MAX.into(), Scalar::U32),
        "LONG_MAX" | "LLONG_MAX" | "INT64_MAX" => integer(i64::MAX.into(), Scalar::I64),
        "LONG_MIN" | "LLONG_MIN" | "INT64_MIN" => integer(i64::MIN.into(), Scalar::I64),
        "ULONG_MAX" | "ULLONG_MAX" | "UINT64_MAX" | "SIZE_MAX" => {
            integer(u64::MAX.into(), Scalar::U64)
        }
        "SHRT_MAX" | "INT16_MAX" => integer(i16::MAX.into(), Scalar::I32),
        "CHAR_BIT" => integer(8, Scalar::I32),
        "CHAR_MAX" | "SCHAR_MAX" | "INT8_MAX" => integer(127, Scalar::I32),
        "UCHAR_MAX" | "UINT8_MAX" => integer(255, Scalar::I32),
        "CLOCKS_PER_SEC" => integer(1_000_000, Scalar::I64),
        "DBL_MAX" => float(f64::MAX),
        "DBL_MIN" => float(f64::MIN_POSITIVE),
        "DBL_EPSILON" => float(f64::EPSILON),
        "FLT_MAX" => float(f32::MAX.into()),
        "FLT_EPSILON" => float(f32::EPSILON.into()),
        "HUGE_VAL" | "INFINITY" => float(f64::INFINITY),
        "M_PI" => float(consts::PI),
        "M_PI_2" => float(consts::FRAC_PI_2),
        "M_PI_4" => float(consts::FRAC_PI_4),
        "M_E" => float(consts::E),
        "M_SQRT2" => float(consts::SQRT_2),
        "errno" => Some(machine.fresh(Type::Scalar(Scalar::I32))),
        "optarg" | "optind" | "opterr" | "optopt" => {
            let counted = crate::evaluate::state::Counted::Options;
            let times = machine.state.counters.get(&counted).copied().unwrap_or(Some(0));
            Some(match times {
                Some(times) => machine.uniform(&format!("{name} {times}"), ty.clone()),
                None => machine.fresh(ty.clone()),
            })
        }
        _ => None,
    }
}
