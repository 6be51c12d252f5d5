//! `BinaryHeap`: a row of elements of which the greatest comes out first.
//!
//! Where all elements are known well enough to be compared, so is the greatest. Else it may be any
//! of them. In which order the others are is not known.

use std::cmp::Ordering;
use std::rc::Rc;

use super::edits::{change, each};
use super::subject::{Subject, argument};
use crate::evaluate::comparison::order;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Sequence, Step, Value};
use crate::program::Place;

/// A heap of these elements.
pub(super) fn of(sequence: Sequence) -> Value {
    Value::Variant("BinaryHeap", Rc::new(vec![Value::Sequence(sequence)]))
}

/// Calls a method of a heap. `None`: it has no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    let inside = subject.part(machine, Step::Field(0));
    match call.name {
        "len" | "is_empty" | "clear" | "push" | "append" | "extend" | "reserve" | "capacity" => {}
        "pop" | "peek" => bring_greatest_last(machine, &inside, call.place),
        "into_sorted_vec" => {
            let sorted = again(call, "sort", Vec::new());
            super::method(machine, &inside, &sorted)?.ok()?;
            return Some(Ok(machine.behind(&inside, call.place)));
        }
        "iter" | "into_iter" | "into_vec" | "drain" | "retain" => {
            shuffle(machine, &inside, call.place);
            if call.name == "into_vec" {
                return Some(Ok(machine.behind(&inside, call.place)));
            }
        }
        _ => return None,
    }
    let arguments = match (call.name, argument(call, 0)) {
        ("append", Value::Reference(other)) => vec![Value::Reference(other.child(Step::Field(0)))],
        _ => call.arguments.clone(),
    };
    let name = if call.name == "peek" { "last" } else { call.name };
    super::method(machine, &inside, &again(call, name, arguments))
}

/// The same call of another method.
fn again<'p>(call: &Call<'p>, name: &'p str, arguments: Vec<Value>) -> Call<'p> {
    Call {
        name,
        generics: call.generics.clone(),
        arguments,
        expressions: call.expressions,
        ty: call.ty.clone(),
        place: call.place,
    }
}

fn elements(
    machine: &mut Machine<'_>,
    inside: &Value,
    place: Place,
) -> Option<(Subject, Sequence)> {
    let subject = Subject::of(machine, inside, place);
    match subject.value.clone() {
        Value::Sequence(sequence) => Some((subject, sequence)),
        _ => None,
    }
}

/// Puts the greatest element last, if it is known which one that is.
fn bring_greatest_last(machine: &mut Machine<'_>, inside: &Value, place: Place) {
    let Some((mut subject, sequence)) = elements(machine, inside, place) else { return };
    match greatest(machine, &sequence, place) {
        Some(at) => {
            subject.value = Value::Moved;
            change(machine, &subject, sequence, place, |items| {
                let greatest = items.remove(at);
                items.push(greatest);
            });
        }
        None => shuffle(machine, inside, place),
    }
}

/// Where the greatest element is.
fn greatest(machine: &mut Machine<'_>, sequence: &Sequence, place: Place) -> Option<usize> {
    let Items::Each(items) = &sequence.items else { return None };
    let is_known = items.len() < 2 || !items.iter().any(|item| has_own_order(machine, item));
    if items.is_empty() || !is_known {
        return None;
    }
    let mut greatest = 0;
    for at in 1..items.len() {
        match order(machine, &items[at], &items[greatest], place)? {
            Ordering::Greater => greatest = at,
            Ordering::Less | Ordering::Equal => {}
        }
    }
    Some(greatest)
}

/// Whether the program itself says how a value compares.
fn has_own_order(machine: &Machine<'_>, value: &Value) -> bool {
    match value {
        Value::Defined { definition, fields, .. } => {
            machine.has_method(*definition, "cmp")
                || fields.iter().any(|part| has_own_order(machine, part))
        }
        Value::Tuple(parts) | Value::Variant(_, parts) => {
            parts.iter().any(|part| has_own_order(machine, part))
        }
        Value::Reference(path) => has_own_order(machine, &machine.peek_at(path)),
        _ => false,
    }
}

/// Any element may be anywhere.
fn shuffle(machine: &mut Machine<'_>, inside: &Value, place: Place) {
    let Some((subject, sequence)) = elements(machine, inside, place) else { return };
    if each(&sequence).is_some_and(|length| length < 2) {
        return;
    }
    let which = machine.fresh_unknown();
    let any = machine.somewhere(&sequence, which);
    let items = Items::Alike(Rc::new(any), sequence.length());
    subject.write(machine, Value::Sequence(Sequence { element: sequence.element, items }), place);
}
