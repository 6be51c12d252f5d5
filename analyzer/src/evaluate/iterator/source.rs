//! What a value iterates over: `into_iter`, `iter`, the expression behind `for .. in`.

use std::rc::Rc;

use super::{Lazy, unknown_of};
use crate::evaluate::library::sequence_of;
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Items, Length, Path, Sequence, Step, Value};
use crate::program::{Place, Scalar, Type};

/// The iterator over a value: over its elements if it is a sequence, over references to them if it
/// is a reference to one.
pub(in crate::evaluate) fn of(
    machine: &mut Machine<'_>,
    value: &Value,
    place: Place,
) -> Outcome<Lazy> {
    Ok(match value {
        Value::Iterator(lazy) => (**lazy).clone(),
        Value::Reference(path) => of_reference(machine, path, place),
        Value::Sequence(sequence) => of_sequence(machine, sequence),
        Value::Variant("Some" | "Ok", held) => Lazy::Items(held.clone(), 0, held.len()),
        Value::Variant("None" | "Err", _) => Lazy::Items(Rc::default(), 0, 0),
        Value::Map(map) => map.iterate(machine, map.natural(), false, place),
        // In an order that is not known.
        Value::Variant("BinaryHeap", row) => match row.first() {
            Some(Value::Sequence(sequence)) => {
                let which = machine.fresh_unknown();
                let each = Rc::new(machine.somewhere(sequence, which));
                let items = Items::Alike(each, sequence.length());
                of_sequence(machine, &Sequence { element: sequence.element.clone(), items })
            }
            _ => of_unknown(machine, value),
        },
        Value::Defined { .. } => Lazy::Program(machine.allocate(value.clone())),
        other => of_unknown(machine, other),
    })
}

/// The iterator over what a reference leads to.
fn of_reference(machine: &mut Machine<'_>, path: &Path, place: Place) -> Lazy {
    match machine.peek(path) {
        Value::Reference(further) => of_reference(machine, &further, place),
        Value::Iterator(_) => Lazy::Adapter(Box::new(super::Adapter::Borrowed(path.clone()))),
        Value::Defined { .. } => Lazy::Program(path.clone()),
        Value::Map(map) => map.iterate(machine, map.natural(), true, place),
        Value::Variant("Some" | "Ok", _) => {
            let inner = Value::Reference(path.child(Step::Field(0)));
            Lazy::Items(Rc::new(vec![inner]), 0, 1)
        }
        Value::Variant("None" | "Err", _) => Lazy::Items(Rc::default(), 0, 0),
        other => match sequence_of(machine, &other) {
            Some(sequence) => match sequence.length() {
                Length::Known(length) => Lazy::Elements(path.clone(), 0, length),
                Length::Unknown(count) => Lazy::Unknown {
                    count,
                    each: Value::Reference(path.child(Step::Somewhere)),
                    taken: 0,
                },
            },
            None => {
                let inner = element_type(&machine.type_of(&other));
                let each = machine.fresh(inner);
                let count = machine.computed("len", &[&other], Type::Scalar(Scalar::Usize));
                Lazy::Unknown { count: unknown_of(&count), each, taken: 0 }
            }
        },
    }
}

/// The iterator over the elements themselves.
fn of_sequence(machine: &mut Machine<'_>, sequence: &Sequence) -> Lazy {
    match &sequence.items {
        Items::Each(items) => Lazy::Items(items.clone(), 0, items.len()),
        Items::Alike(each, Length::Known(_)) => {
            // Shared memory, so that elements that are not known stay apart by their numbers.
            let length = match sequence.length() {
                Length::Known(length) => length,
                Length::Unknown(_) => 0,
            };
            let path = machine.allocate(Value::Sequence(sequence.clone()));
            let _ = each;
            Lazy::Adapter(Box::new(super::Adapter::Cloned(Lazy::Elements(path, 0, length))))
        }
        Items::Alike(each, Length::Unknown(count)) => {
            Lazy::Unknown { count: *count, each: (**each).clone(), taken: 0 }
        }
    }
}

/// The iterator over something of which not even that is known.
fn of_unknown(machine: &mut Machine<'_>, value: &Value) -> Lazy {
    if let Some(sequence) = sequence_of(machine, value) {
        return of_sequence(machine, &sequence);
    }
    let each = element_type(&machine.type_of(value));
    let count = machine.computed("len", &[value], Type::Scalar(Scalar::Usize));
    let each = machine.computed("any of", &[value], each);
    Lazy::Unknown { count: unknown_of(&count), each, taken: 0 }
}

/// The type of the elements of a type that can be iterated over.
fn element_type(ty: &Type) -> Type {
    match ty {
        Type::Array(inner, _) | Type::Slice(inner) => (**inner).clone(),
        Type::Reference(inner) => match element_type(inner) {
            Type::Unknown => Type::Unknown,
            inner => Type::Reference(Box::new(inner)),
        },
        Type::External(name, arguments) => match (name.as_str(), arguments.as_slice()) {
            ("HashMap" | "BTreeMap", [key, value]) => Type::Tuple(vec![key.clone(), value.clone()]),
            (_, [first, ..]) => first.clone(),
            _ => Type::Unknown,
        },
        _ => Type::Unknown,
    }
}
