//! What the library of C means to an evaluation with known and unknown values: memory, text, numbers,
//! the end of the process. Functions that are not here are not known: what they are handed is forgotten.

mod memory;
mod names;
mod numbers;
mod process;
mod text;

use crate::evaluate::Understood;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Content, Length, Value};
use crate::program::{Scalar, Type};

pub(super) use numbers::constant;

/// Whether a function only computes a value of its arguments.
pub(super) fn computes_only(path: &[String]) -> bool {
    match path {
        [name] => numbers::computes_only(name),
        [dialect, name] => dialect == "c" && matches!(&**name, "offset" | "difference" | "sizeof"),
        _ => false,
    }
}

/// Whether a function only prints.
pub(super) fn prints_only(path: &[String]) -> bool {
    matches!(path, [name] if text::prints_only(name))
}

/// Calls a function of C's library. `None`: it has none of this name.
pub(super) fn function(
    machine: &mut Machine<'_>,
    path: &[String],
    call: &Call<'_>,
) -> Option<Outcome> {
    if let [dialect, name] = path
        && dialect == "c"
    {
        return built_in(machine, name, call);
    }
    // What is called by its name with a prefix for the compiler is the same function.
    let name = call.name.strip_prefix("__builtin_").unwrap_or(call.name);
    process::function(machine, name, call)
        .or_else(|| memory::function(machine, name, call).map(Ok))
        .or_else(|| text::function(machine, name, call).map(Ok))
        .or_else(|| numbers::function(machine, name, call).map(Ok))
        .or_else(|| names::function(machine, name, call).map(Ok))
}

/// What the front end makes of the language's own operations on pointers.
fn built_in(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Outcome> {
    let to = |number: usize| match call.expressions.get(number).map(|it| &it.ty) {
        Some(Type::Reference(to)) => (**to).clone(),
        _ => Type::Unknown,
    };
    let [one, other] = [argument(call, 0), argument(call, 1)];
    Some(Ok(match name {
        "offset" => {
            let to = match (&to(0), &*call.ty) {
                (Type::Unknown, Type::Reference(to)) => (**to).clone(),
                (known, _) => known.clone(),
            };
            machine.offset(&one, &other, &to)
        }
        "lost" => {
            let reason = match &one {
                Value::Text(Some(reason)) => reason.to_string(),
                _ => "this is not understood".to_owned(),
            };
            machine.understood(call.place, Understood::Not(reason.clone()));
            return Some(Err(machine.lost(call.place, &reason)));
        }
        "length" => length(machine, &one),
        "difference" => machine.difference(&one, &other, &to(0)),
        "sizeof" => {
            let what = format!("sizeof {:?}", call.generics);
            machine.uniform(&what, call.result())
        }
        _ => return None,
    }))
}

/// How many elements a sequence of C++ has.
fn length(machine: &mut Machine<'_>, value: &Value) -> Value {
    match value {
        Value::Sequence(sequence) => match sequence.length() {
            Length::Known(length) => Value::integer(i128::from(length), Scalar::U64),
            Length::Unknown(unknown) => Value::Scalar(Scalar::U64, Content::Unknown(unknown)),
        },
        other => machine.computed("length", &[other], Type::Scalar(Scalar::U64)),
    }
}

/// An argument; nothing where there are fewer.
fn argument(call: &Call<'_>, number: usize) -> Value {
    call.arguments.get(number).cloned().unwrap_or_default()
}

/// What is computed of the arguments and of nothing else.
fn computed(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let inputs: Vec<&Value> = call.arguments.iter().collect();
    machine.computed(call.name, &inputs, call.result())
}

/// A whole number of C's `int`.
fn int(number: i128) -> Value {
    Value::integer(number, Scalar::I32)
}
