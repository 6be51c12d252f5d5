//! The methods of an `Option` or a `Result` of which not even the variant is known.
//!
//! `unwrap`, `expect` and `?` are taken to succeed: what is wrong with data is not looked for.

use super::option::run_perhaps;
use super::subject::{
    BOOL, Subject, argument, computed, computed_of_all, option_of, type_argument,
};
use crate::evaluate::iterator::{Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::Type;

/// Calls a method on an unknown `Option` or `Result` of this type. `None`: they have no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    ty: &Type,
    call: &Call<'_>,
) -> Option<Outcome> {
    let inner = type_argument(ty, 0);
    let value = &subject.value;
    Some(Ok(match call.name {
        "is_some" | "is_none" | "is_ok" | "is_err" => computed(machine, call, &[value], BOOL),
        "unwrap" | "expect" | "unwrap_unchecked" => inside(machine, value, inner),
        "unwrap_err" | "expect_err" | "ok_or" | "ok" | "err" | "copied" | "cloned" | "flatten"
        | "transpose" | "zip" | "xor" | "and" | "or" | "unwrap_or" | "unwrap_or_default" => {
            let ty = match call.name {
                "unwrap_or" | "unwrap_or_default" => inner,
                "or" | "xor" => ty.clone(),
                "ok" => option_of(inner),
                "copied" | "cloned" => match inner {
                    Type::Reference(inner) => option_of(*inner),
                    other => option_of(other),
                },
                _ => Type::Unknown,
            };
            computed_of_all(machine, call, value, ty)
        }
        "take" | "replace" | "insert" | "get_or_insert" | "get_or_insert_with" => {
            return Some(forgotten(machine, subject, call));
        }
        "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" => {
            // Still the same: what is behind a reference need not stand anywhere.
            value.clone()
        }
        "iter" | "iter_mut" | "into_iter" => {
            let each = inside(machine, value, inner);
            let count = machine.computed("len", &[value], super::subject::USIZE);
            let lazy = Lazy::Unknown { count: unknown_of(&count), each, taken: 0 };
            Value::Iterator(std::rc::Rc::new(lazy))
        }
        "map" | "and_then" | "filter" | "is_some_and" | "is_ok_and" | "is_none_or" | "map_or"
        | "map_or_else" | "inspect" => {
            let held = inside(machine, value, inner);
            let closure = argument(call, if call.name.starts_with("map_or") { 1 } else { 0 });
            return Some(with_closure(machine, value, &closure, vec![held], ty, call));
        }
        "unwrap_or_else" | "or_else" | "ok_or_else" | "map_err" | "inspect_err" => {
            return Some(otherwise(machine, value, ty, call));
        }
        _ => return None,
    }))
}

/// What it holds, if it holds something.
pub(in crate::evaluate) fn inside(machine: &mut Machine<'_>, value: &Value, inner: Type) -> Value {
    for variant in ["Some", "Ok"] {
        if let Some(Some(held)) = machine.held(value, variant, 0) {
            return held;
        }
    }
    machine.computed("unwrap", &[value], inner)
}

/// A method whose closure runs on what it holds, if it holds something.
fn with_closure(
    machine: &mut Machine<'_>,
    value: &Value,
    closure: &Value,
    arguments: Vec<Value>,
    ty: &Type,
    call: &Call<'_>,
) -> Outcome {
    let result = match run_perhaps(machine, value, closure, arguments, call)? {
        Some(result) => result,
        None => machine.fresh(Type::Unknown),
    };
    let result_type = machine.type_of(&result);
    let ty = match call.name {
        "map" => match ty {
            Type::External(name, arguments) => {
                let mut arguments = arguments.clone();
                match arguments.first_mut() {
                    Some(first) => *first = result_type,
                    None => arguments.push(result_type),
                }
                Type::External(name.clone(), arguments)
            }
            _ => Type::Unknown,
        },
        "filter" | "inspect" => {
            return Ok(match call.name {
                "inspect" => value.clone(),
                _ => machine.computed("filter", &[value, &result], ty.clone()),
            });
        }
        "is_some_and" | "is_ok_and" | "is_none_or" => BOOL,
        _ => result_type,
    };
    let other = argument(call, 0);
    match call.name {
        "map_or" => Ok(machine.computed(call.name, &[value, &result, &other], ty)),
        _ => Ok(machine.computed(call.name, &[value, &result], ty)),
    }
}

/// A method whose closure only runs if it holds nothing, or an error: that is taken not to happen,
/// where it would end the rank.
fn otherwise(machine: &mut Machine<'_>, value: &Value, ty: &Type, call: &Call<'_>) -> Outcome {
    let inner = type_argument(ty, 0);
    let error = match ty {
        Type::External(name, _) if name == "Result" => {
            vec![machine.computed("unwrap_err", &[value], type_argument(ty, 1))]
        }
        _ => Vec::new(),
    };
    match call.name {
        "map_err" | "inspect_err" => Ok(value.clone()),
        "ok_or_else" => {
            let ty = Type::External("Result".to_owned(), vec![inner, Type::Unknown]);
            Ok(machine.computed("ok_or", &[value], ty))
        }
        "unwrap_or_else" if machine.communicates(&argument(call, 0)) => {
            Ok(inside(machine, value, inner))
        }
        name => {
            let Some(instead) = run_perhaps(machine, value, &argument(call, 0), error, call)?
            else {
                return Ok(if name == "or_else" {
                    value.clone()
                } else {
                    inside(machine, value, inner)
                });
            };
            let ty = if name == "or_else" { ty.clone() } else { inner };
            Ok(computed(machine, call, &[value, &instead], ty))
        }
    }
}

/// What is left of a value that a method changed in a way that is not known, and what it gave.
pub(super) fn forgotten(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Outcome {
    let result = computed_of_all(machine, call, &subject.value, call.result());
    let ty = machine.type_of(&subject.value);
    let left = machine.fresh(ty);
    subject.write(machine, left, call.place);
    Ok(result)
}
