//! What Rust's own library means to an evaluation with known and unknown values.
//!
//! Methods are found by the kind of the value that they are called on. Nothing here guesses: what is
//! not known is unknown, with an identity computed of what it was made of.

mod adapters;
mod atomics;
mod collect;
mod compare;
mod constants;
mod consumers;
mod conversions;
mod copies;
mod defaults;
mod edits;
mod floats;
mod functions;
mod gather;
mod generic;
mod growth;
mod heaps;
mod integers;
mod maps;
mod option;
mod perhaps;
mod pointers;
mod sequences;
mod subject;
mod surroundings;
#[cfg(test)]
mod tests;
mod text;
mod threads;
mod unknown;
mod wrappers;

pub(in crate::evaluate) use constants::constant;
pub(in crate::evaluate) use functions::function;
pub(in crate::evaluate) use sequences::sequence_of;
pub(in crate::evaluate) use text::formatted;
pub(in crate::evaluate) use threads::begin as begin_threads;
pub(in crate::evaluate) use unknown::not_known;

use self::subject::Subject;
use super::super::machine::{Call, Machine, Outcome};
use super::super::value::Value;
use crate::program::{Scalar, Type};

/// Calls a method of Rust's own library. `None`: it has none of this name for such a value.
pub(super) fn method(
    machine: &mut Machine<'_>,
    receiver: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    if let ("clone", Some(shared)) = (call.name, copies::shared(machine, receiver, &call.ty)) {
        return Some(Ok(shared));
    }
    let mut subject = Subject::of(machine, receiver, call.place);
    by_kind(machine, &mut subject, call).or_else(|| generic::method(machine, &subject, call))
}

/// Calls a method by the kind of the value.
fn by_kind(machine: &mut Machine<'_>, subject: &mut Subject, call: &Call<'_>) -> Option<Outcome> {
    match subject.value.clone() {
        Value::Scalar(scalar, _) => {
            subject.value = subject.read(machine, call.place);
            of_scalar(machine, scalar, &subject.value, call)
        }
        Value::Text(_) => text::method(machine, subject, call),
        Value::Variant(name @ ("Some" | "None" | "Ok" | "Err"), _) => {
            option::method(machine, subject, name, call)
        }
        Value::Variant(name @ ("Less" | "Equal" | "Greater"), _) => {
            compare::ordering_method(machine, name, call)
        }
        Value::Variant("Atomic", _) => atomics::method(machine, subject, call),
        Value::Variant("BinaryHeap", _) => heaps::method(machine, subject, call),
        Value::Variant("JoinHandle", held) => threads::join(machine, &held, call),
        Value::Variant("ThreadScope", _) if call.name == "spawn" => {
            Some(threads::spawn(machine, call))
        }
        Value::Variant("Entry", held) => maps::entry_method(machine, &held, call),
        Value::Variant(name, _) => wrappers::method(machine, subject, name, call),
        Value::Iterator(lazy) => adapters::range_method(machine, &lazy, call)
            .or_else(|| of_iterator(machine, subject, call)),
        Value::Map(map) => maps::method(machine, subject, &map, call),
        Value::Sequence(sequence) => of_sequence(machine, subject, sequence, call),
        Value::Defined { definition, .. } => {
            let has_next = machine.has_method(definition, "next");
            has_next.then(|| of_iterator(machine, subject, call))?
        }
        Value::Unknown(_, ty) => of_unknown(machine, subject, &ty, call),
        _ => None,
    }
}

/// Methods of numbers, truth values and characters.
fn of_scalar(
    machine: &mut Machine<'_>,
    scalar: Scalar,
    value: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    match scalar {
        Scalar::Bool => compare::bool_method(machine, value, call),
        Scalar::Char => text::char_method(machine, value, call),
        _ if scalar.is_float() => floats::method(machine, scalar, value, call),
        _ => integers::method(machine, scalar, value, call),
    }
}

fn of_iterator(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Option<Outcome> {
    consumers::method(machine, subject, call).or_else(|| adapters::method(machine, subject, call))
}

fn of_sequence(
    machine: &mut Machine<'_>,
    subject: &mut Subject,
    sequence: super::super::value::Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    sequences::method(machine, subject, &sequence, call)
        .or_else(|| edits::method(machine, subject, sequence, call))
}

/// Methods of a value of which only the type is known.
fn of_unknown(
    machine: &mut Machine<'_>,
    subject: &mut Subject,
    ty: &Type,
    call: &Call<'_>,
) -> Option<Outcome> {
    if let Some(sequence) = sequence_of(machine, &subject.value) {
        return of_sequence(machine, subject, sequence, call);
    }
    match ty {
        Type::Text => text::method(machine, subject, call),
        Type::Scalar(scalar) => of_scalar(machine, *scalar, &subject.value.clone(), call),
        Type::External(name, arguments) => match name.as_str() {
            "Option" | "Result" => perhaps::method(machine, subject, ty, call),
            "Iterator" | "Range" | "RangeInclusive" | "RangeFrom" => {
                of_iterator(machine, subject, call)
            }
            "String" | "PathBuf" | "Path" | "OsString" => text::method(machine, subject, call),
            "Box" | "Cow" if arguments.len() == 1 => {
                of_unknown(machine, subject, &arguments[0], call)
            }
            name => {
                let Some(Value::Map(map)) = defaults::empty(name, ty) else { return None };
                let map = map.unknown(machine.identity(&subject.value.clone()));
                maps::method(machine, subject, &map, call)
            }
        },
        Type::Unknown => match call.name {
            "unwrap" | "expect" | "is_some" | "is_none" | "is_ok" | "is_err" => {
                perhaps::method(machine, subject, &Type::Unknown, call)
            }
            _ => None,
        },
        _ => None,
    }
}
