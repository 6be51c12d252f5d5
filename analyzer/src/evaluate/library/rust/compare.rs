//! `PartialEq`, `PartialOrd` and `Ord` of every value, and what `Ordering` and truth values have.

use std::cmp::Ordering;
use std::rc::Rc;

use super::subject::{BOOL, Subject, argument, behind, computed, option_of, run};
use crate::evaluate::comparison::{equal, order};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::{Binary, Type};

/// `Less`, `Equal`, `Greater`
pub(super) fn ordering(ordering: Ordering) -> Value {
    let name = match ordering {
        Ordering::Less => "Less",
        Ordering::Equal => "Equal",
        Ordering::Greater => "Greater",
    };
    Value::Variant(name, Rc::default())
}

/// The methods of comparison, which every value has. `None`: another method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    let operator = match call.name {
        "eq" => Some(Binary::Equal),
        "ne" => Some(Binary::NotEqual),
        "lt" => Some(Binary::Less),
        "le" => Some(Binary::LessOrEqual),
        "gt" => Some(Binary::Greater),
        "ge" => Some(Binary::GreaterOrEqual),
        _ => None,
    };
    let arguments = call.arguments.len();
    if !matches!((call.name, arguments), ("cmp" | "partial_cmp" | "min" | "max", 1) | ("clamp", 2))
        && (operator.is_none() || arguments != 1)
    {
        return None;
    }
    let value = subject.read(machine, call.place);
    let other = behind(machine, call, 0);
    if let Some(operator) = operator {
        return Some(compare(machine, operator, &value, &other, call));
    }
    let order = order(machine, &value, &other, call.place);
    Some(Ok(match (call.name, order) {
        ("cmp", Some(order)) => ordering(order),
        ("partial_cmp", Some(order)) => Value::some(ordering(order)),
        ("cmp", None) => computed(machine, call, &[&value, &other], ordering_type()),
        ("partial_cmp", None) => {
            computed(machine, call, &[&value, &other], option_of(ordering_type()))
        }
        ("min", Some(Ordering::Less | Ordering::Equal)) | ("max", Some(Ordering::Greater)) => value,
        ("min" | "max", Some(_)) => argument(call, 0),
        ("clamp", Some(Ordering::Less)) => argument(call, 0),
        ("clamp", Some(_)) => {
            let most = behind(machine, call, 1);
            match crate::evaluate::comparison::order(machine, &value, &most, call.place) {
                Some(Ordering::Greater) => argument(call, 1),
                Some(_) => value,
                None => either(machine, call, &value, &most),
            }
        }
        _ => either(machine, call, &value, &other),
    }))
}

/// One of two values, which one is not known.
fn either(machine: &mut Machine<'_>, call: &Call<'_>, one: &Value, other: &Value) -> Value {
    let ty = machine.type_of(one);
    computed(machine, call, &[one, other], ty)
}

/// `Ordering`
pub(super) fn ordering_type() -> Type {
    Type::External("Ordering".to_owned(), Vec::new())
}

/// Whether a comparison of two values holds.
pub(super) fn compare(
    machine: &mut Machine<'_>,
    operator: Binary,
    one: &Value,
    other: &Value,
    call: &Call<'_>,
) -> Outcome {
    if let (Value::Scalar(..), Value::Scalar(..)) = (one, other) {
        return machine.binary(operator, one, other, &BOOL, call.place);
    }
    Ok(match compared(machine, operator, one, other, call.place) {
        Some(holds) => Value::bool(holds),
        None => machine.computed(call.name, &[one, other], BOOL),
    })
}

/// Whether a comparison of two values of any kind holds, where that is known.
pub(in crate::evaluate) fn compared(
    machine: &mut Machine<'_>,
    operator: Binary,
    one: &Value,
    other: &Value,
    place: crate::program::Place,
) -> Option<bool> {
    match operator {
        Binary::Equal => equal(machine, one, other, place),
        Binary::NotEqual => equal(machine, one, other, place).map(|equal| !equal),
        Binary::Less => order(machine, one, other, place).map(Ordering::is_lt),
        Binary::LessOrEqual => order(machine, one, other, place).map(Ordering::is_le),
        Binary::Greater => order(machine, one, other, place).map(Ordering::is_gt),
        Binary::GreaterOrEqual => order(machine, one, other, place).map(Ordering::is_ge),
        _ => None,
    }
}

/// The methods of `Ordering`. `None`: it has no such method.
pub(super) fn ordering_method(
    machine: &mut Machine<'_>,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let order = match name {
        "Less" => Ordering::Less,
        "Equal" => Ordering::Equal,
        _ => Ordering::Greater,
    };
    Some(Ok(match call.name {
        "reverse" => ordering(order.reverse()),
        "is_lt" => Value::bool(order.is_lt()),
        "is_le" => Value::bool(order.is_le()),
        "is_gt" => Value::bool(order.is_gt()),
        "is_ge" => Value::bool(order.is_ge()),
        "is_eq" => Value::bool(order.is_eq()),
        "is_ne" => Value::bool(order.is_ne()),
        "then" if order == Ordering::Equal => argument(call, 0),
        "then_with" if order == Ordering::Equal => {
            return Some(run(machine, &argument(call, 0), Vec::new(), call.place));
        }
        "then" | "then_with" => ordering(order),
        _ => return None,
    }))
}

/// The methods of truth values: `then`, `then_some`. `None`: they have no such method.
pub(super) fn bool_method(
    machine: &mut Machine<'_>,
    subject: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    let value = subject.as_bool();
    Some(match (call.name, value) {
        ("then" | "then_some", Some(false)) => Ok(Value::none()),
        ("then_some", Some(true)) => Ok(Value::some(argument(call, 0))),
        ("then", Some(true)) => {
            run(machine, &argument(call, 0), Vec::new(), call.place).map(Value::some)
        }
        ("then_some", None) => {
            let held = argument(call, 0);
            let ty = option_of(machine.type_of(&held));
            Ok(computed(machine, call, &[subject, &held], ty))
        }
        ("then", None) => {
            let closure = argument(call, 0);
            return Some(super::option::either_way(machine, subject, &closure, &[], call));
        }
        ("not", _) => Ok(machine.not(subject)),
        _ => return None,
    })
}
