//! `From`, `Into`, `TryFrom`, `FromStr`: a value as one of another type.
//!
//! Which type is inference's to say. Where it does not, neither the type nor the number is known: a
//! number of a wrong type would be sent as one.

use std::rc::Rc;

use super::integers::{bounds, fits};
use super::sequences::sequence_of;
use super::subject::{computed, option_of, type_argument};
use crate::evaluate::machine::{Call, Machine};
use crate::evaluate::value::{Constant, Content, Items, Length, Value};
use crate::program::{Scalar, Type};

/// A value as one of a type: `into`, `from`. Conversions of the program are not looked for here.
pub(super) fn into(machine: &mut Machine<'_>, value: &Value, ty: &Type, call: &Call<'_>) -> Value {
    match (value, ty) {
        (Value::Scalar(scalar, _), Type::Scalar(target)) => {
            if scalar == target {
                value.clone()
            } else {
                machine.cast(value, ty)
            }
        }
        (Value::Text(_) | Value::Unknown(_, Type::Text), Type::Text) => value.clone(),
        (_, Type::External(name, _)) => match name.as_str() {
            "Option" if !is_option(machine, value) => Value::some(value.clone()),
            "Option" | "Result" => value.clone(),
            "Rc" | "Arc" => {
                let held = contents(machine, value, call);
                super::copies::share(machine, name, held)
            }
            "Box" | "Cow" | "PathBuf" | "OsString" | "ManuallyDrop" => value.clone(),
            "Vec" | "VecDeque" => contents(machine, value, call),
            "BinaryHeap" => match contents(machine, value, call) {
                Value::Sequence(sequence) => super::heaps::of(sequence),
                _ => computed(machine, call, &[value], ty.clone()),
            },
            name => match (super::wrappers::cell(name), super::defaults::empty(name, ty)) {
                (Some(cell), _) => Value::Variant(cell, Rc::new(vec![value.clone()])),
                (None, Some(Value::Map(map))) => {
                    let lazy = crate::evaluate::iterator::of(machine, value, call.place);
                    match lazy
                        .and_then(|mut lazy| super::gather::gather(machine, &mut lazy, call.place))
                    {
                        Ok(gathered) => super::maps::filled(machine, &map, gathered, call),
                        Err(_) => machine.fresh(ty.clone()),
                    }
                }
                _ => computed(machine, call, &[value], ty.clone()),
            },
        },
        (_, Type::Unknown) => computed(machine, call, &[value], Type::Unknown),
        (_, ty) if machine.type_of(value) == *ty => value.clone(),
        (_, ty) => computed(machine, call, &[value], ty.clone()),
    }
}

fn is_option(machine: &mut Machine<'_>, value: &Value) -> bool {
    match value {
        Value::Variant("Some" | "None", _) => true,
        other => matches!(machine.type_of(other), Type::External(name, _) if name == "Option"),
    }
}

/// What a sequence holds, out of a reference or a text.
fn contents(machine: &mut Machine<'_>, value: &Value, call: &Call<'_>) -> Value {
    let value = machine.behind(value, call.place);
    match (&value, sequence_of(machine, &value)) {
        (_, Some(sequence)) => super::copies::copy(machine, &Value::Sequence(sequence)),
        (Value::Text(Some(text)), _) => super::text::bytes(text.as_bytes()),
        (Value::Text(None), _) => super::text::unknown_bytes(machine, "bytes", &[&value]),
        (Value::Unknown(_, Type::Text), _) => {
            super::text::unknown_bytes(machine, "bytes", &[&value])
        }
        _ => value,
    }
}

/// `try_into`, `try_from`: what may not fit. The type is that of the whole `Result`.
pub(super) fn try_into(
    machine: &mut Machine<'_>,
    value: &Value,
    target: &Type,
    call: &Call<'_>,
) -> Value {
    let value = machine.behind(value, call.place);
    let result = |target: &Type| {
        Type::External("Result".to_owned(), vec![target.clone(), type_argument(&call.ty, 1)])
    };
    match (&value, target) {
        (Value::Scalar(_, Content::Known(Constant::Integer(number))), Type::Scalar(scalar))
            if scalar.is_integer() =>
        {
            if bounds(*scalar).is_some() && !number.is(|number| fits(*scalar, number)) {
                let error = machine.fresh(type_argument(&call.ty, 1));
                return Value::Variant("Err", Rc::new(vec![error]));
            }
            Value::ok(Value::integer(*number, *scalar))
        }
        // A number that fits is the same number: whether it fits is taken for granted.
        (Value::Scalar(scalar, Content::Unknown(_)), Type::Scalar(target)) => {
            if scalar == target {
                Value::ok(value.clone())
            } else {
                Value::ok(machine.cast(&value, &Type::Scalar(*target)))
            }
        }
        (Value::Sequence(sequence), Type::Array(inner, length)) => {
            let mut sequence = sequence.clone();
            match (&sequence.items, length) {
                (Items::Each(items), Some(length)) if items.len() as u64 != *length => {
                    let error = machine.fresh(type_argument(&call.ty, 1));
                    return Value::Variant("Err", Rc::new(vec![error]));
                }
                (Items::Alike(each, Length::Unknown(_)), Some(length)) => {
                    sequence.items = Items::Alike(each.clone(), Length::Known(*length));
                }
                _ => {}
            }
            if sequence.element == Type::Unknown {
                sequence.element = (**inner).clone();
            }
            Value::ok(Value::Sequence(sequence))
        }
        (_, target) => computed(machine, call, &[&value], result(target)),
    }
}

/// The target of a conversion whose result is a `Result`.
pub(super) fn target_of_result(call: &Call<'_>) -> Type {
    type_argument(&call.ty, 0)
}

/// Functions of scalars by their names: `i64::from`, `usize::try_from`, `f64::from_bits`,
/// `u8::from_str_radix`. `None`: not one of these.
pub(super) fn of_scalar(
    machine: &mut Machine<'_>,
    scalar: Scalar,
    name: &str,
    call: &Call<'_>,
) -> Option<Value> {
    let target = Type::Scalar(scalar);
    let value = super::subject::behind(machine, call, 0);
    Some(match name {
        "from" => into(machine, &value, &target, call),
        "try_from" => try_into(machine, &value, &target, call),
        "default" | "zero" => super::defaults::zero(scalar),
        "from_str" | "from_str_radix" => match parsed(machine, scalar, &value, call) {
            Some(number) => number,
            None => {
                let ty = Type::External("Result".to_owned(), vec![target, Type::Unknown]);
                computed(machine, call, &[&value], ty)
            }
        },
        "from_bits" | "from_le_bytes" | "from_be_bytes" | "from_ne_bytes" => {
            machine.computed(name, &[&value], target)
        }
        "from_u32" | "from_digit" => computed(machine, call, &[&value], option_of(target)),
        "max_value" | "min_value" => {
            let (least, most) = bounds(scalar)?;
            Value::integer(if name == "max_value" { most } else { least }, scalar)
        }
        _ => return None,
    })
}

/// `from_str_radix` of known text.
fn parsed(
    machine: &mut Machine<'_>,
    scalar: Scalar,
    text: &Value,
    call: &Call<'_>,
) -> Option<Value> {
    let Value::Text(Some(text)) = text else { return None };
    let base = super::subject::behind(machine, call, 1).as_integer()?;
    let base = u32::try_from(base).ok().filter(|base| (2..=36).contains(base))?;
    let number = i128::from_str_radix(text, base).ok().filter(|number| fits(scalar, *number))?;
    Some(Value::ok(Value::integer(number, scalar)))
}
