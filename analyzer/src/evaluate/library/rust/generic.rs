//! The methods that every value may have: `clone`, comparisons, conversions, references.

use super::subject::{Subject, argument, computed};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Length, Path, Step, Value};
use crate::program::Type;

/// Calls a method that any value may have. `None`: not one of these.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    if let Some(outcome) = super::compare::method(machine, subject, call) {
        return Some(outcome);
    }
    let place = call.place;
    Some(Ok(match call.name {
        "clone" | "to_owned" | "cloned" | "copied" | "into_owned" => {
            let value = subject.read(machine, place);
            super::copies::copy(machine, &value)
        }
        "clone_from" => {
            let from = machine.behind(&argument(call, 0), place);
            let from = super::copies::copy(machine, &from);
            subject.write(machine, from, place);
            Value::unit()
        }
        "borrow" | "borrow_mut" | "as_ref" | "as_mut" | "deref" | "deref_mut" | "by_ref"
        | "as_deref" | "get_ref" => subject.reference(machine),
        "to_string" => {
            let value = subject.read(machine, place);
            match super::text::shown(&value) {
                Some(text) => Value::Text(Some(text.into())),
                None => machine.computed("to_string", &[&value], Type::Text),
            }
        }
        "into" | "into_boxed" => {
            let value = subject.take(machine);
            super::conversions::into(machine, &value, &call.ty, call)
        }
        "try_into" => {
            let value = subject.take(machine);
            let target = super::conversions::target_of_result(call);
            super::conversions::try_into(machine, &value, &target, call)
        }
        "hash" | "fmt" => Value::ok(Value::unit()),
        // What a thread has of its own: `COMM.with(|comm| ..)`.
        "with" | "with_borrow" | "with_borrow_mut" if call.arguments.len() == 1 => {
            let closure = argument(call, 0);
            if subject.path.is_none() || !matches!(closure, Value::Closure(..)) {
                return None;
            }
            let held = match (call.name, &subject.value) {
                ("with", _) => subject.reference(machine),
                (_, Value::Variant("RefCell", _)) => subject.part(machine, Step::Field(0)),
                _ => return None,
            };
            return Some(super::subject::run(machine, &closure, vec![held], place));
        }
        // What stood in memory that was not initialised yet is its value.
        "assume_init" | "assume_init_read" | "assume_init_ref" | "assume_init_mut" => {
            match call.name {
                "assume_init" | "assume_init_read" => subject.take(machine),
                _ => subject.reference(machine),
            }
        }
        "as_ptr" | "as_mut_ptr" | "cast" | "cast_mut" | "cast_const" => subject.reference(machine),
        "read" | "read_volatile" | "read_unaligned" if subject.path.is_some() => {
            subject.read(machine, place)
        }
        "write" | "write_volatile" if subject.path.is_some() && call.arguments.len() == 1 => {
            subject.write(machine, argument(call, 0), place);
            match *call.ty {
                Type::Reference(_) => subject.reference(machine),
                _ => Value::unit(),
            }
        }
        "add" | "offset" | "sub" | "wrapping_add" | "wrapping_sub" | "wrapping_offset" => {
            return moved_pointer(machine, subject, call).map(Ok);
        }
        "is_null" if subject.path.is_some() => Value::bool(false),
        "type_id" => computed(machine, call, &[&subject.value], Type::Unknown),
        _ => return None,
    }))
}

/// `pointer.add(n)`: the elements from there on. `None`: not a pointer into a sequence.
fn moved_pointer(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Option<Value> {
    let path = subject.path.as_ref()?;
    let sign = if call.name.ends_with("sub") { -1 } else { 1 };
    let by = super::subject::behind(machine, call, 0).as_integer().map(|by| by * sign);
    let (whole, first, last) = match path.steps.split_last() {
        Some((Step::Slice(first, last), steps)) => (steps, *first, Some(*last)),
        Some((Step::Element(index), steps)) => (steps, *index, None),
        _ => match &subject.value {
            Value::Sequence(sequence) => match sequence.length() {
                Length::Known(length) => (&*path.steps, 0, Some(length)),
                Length::Unknown(_) => return Some(somewhere(machine, path)),
            },
            _ => return None,
        },
    };
    let whole = Path { object: path.object, steps: whole.into() };
    let start = by.map(|by| i128::from(first) + by).and_then(|start| u64::try_from(start).ok());
    Some(match (start, last) {
        (Some(start), Some(last)) if start <= last => {
            Value::Reference(whole.child(Step::Slice(start, last)))
        }
        (Some(start), None) => Value::Reference(whole.child(Step::Element(start))),
        _ => somewhere(machine, &whole),
    })
}

/// Elements of which it is not known which ones.
fn somewhere(machine: &mut Machine<'_>, path: &Path) -> Value {
    let length = Length::Unknown(machine.fresh_unknown());
    Value::Reference(path.child(Step::Part(length)))
}
