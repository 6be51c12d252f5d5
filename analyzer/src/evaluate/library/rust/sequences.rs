//! Arrays, slices, `Vec`, `VecDeque`: the methods that look and that give parts.
//!
//! Parts are references into the same object, so that memory that is sent and received keeps its
//! identity and its range. Looking at lengths and making slices is no access. The methods that
//! change a sequence are in [`super::edits`].

use std::rc::Rc;

use super::subject::{
    BOOL, Subject, USIZE, argument, behind, computed, count, option_of, pair, panic, run,
};
use crate::evaluate::comparison::{equal, is_known};
use crate::evaluate::iterator::{Lazy, Pieces, element_of, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Sequence, Step, Value};
use crate::program::{Scalar, Type};

/// The sequence that a value is: also one of which only the type is known.
pub(in crate::evaluate) fn sequence_of(
    machine: &mut Machine<'_>,
    value: &Value,
) -> Option<Sequence> {
    match value {
        Value::Sequence(sequence) => Some(sequence.clone()),
        Value::Unknown(_, ty) => {
            let (element, length) = element_type(ty)?;
            let each = machine.computed("element", &[value], element.clone());
            let length = match length {
                Some(length) => Length::Known(length),
                None => Length::Unknown(unknown_of(&machine.computed("len", &[value], USIZE))),
            };
            Some(Sequence { element, items: Items::Alike(Rc::new(each), length) })
        }
        _ => None,
    }
}

/// The type of a sequence's elements, and its length where the type says it.
fn element_type(ty: &Type) -> Option<(Type, Option<u64>)> {
    match ty {
        Type::Array(inner, length) => Some(((**inner).clone(), *length)),
        Type::Slice(inner) => Some(((**inner).clone(), None)),
        Type::External(name, arguments)
            if matches!(name.as_str(), "Vec" | "VecDeque" | "LinkedList" | "SmallVec")
                || (name == "Box" && matches!(arguments.first(), Some(Type::Slice(_)))) =>
        {
            match arguments.first() {
                Some(Type::Slice(inner)) => Some(((**inner).clone(), None)),
                inner => Some((inner.cloned().unwrap_or_default(), None)),
            }
        }
        _ => None,
    }
}

/// Calls a method that looks at a sequence. `None`: not one of these.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    measured(sequence, call)
        .map(Ok)
        .or_else(|| element(machine, subject, sequence, call))
        .or_else(|| parts(machine, subject, sequence, call))
        .or_else(|| joined(machine, subject, sequence, call))
        .or_else(|| searched(machine, subject, sequence, call))
}

/// Its length, and what is the same sequence under another type.
fn measured(sequence: &Sequence, call: &Call<'_>) -> Option<Value> {
    let length = sequence.length();
    Some(match (call.name, length) {
        ("len", length) => length.value(),
        ("is_empty", Length::Known(length)) => Value::bool(length == 0),
        _ => return None,
    })
}

/// The place of an element by its number: unknown numbers are somewhere.
fn step_to(index: &Value) -> Option<Step> {
    match index {
        Value::Scalar(..) => {
            Some(match index.as_integer().and_then(|index| u64::try_from(index).ok()) {
                Some(index) => Step::Element(index),
                None => Step::Somewhere,
            })
        }
        _ => None,
    }
}

/// Methods that give a reference to one element.
fn element(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    let known = match sequence.length() {
        Length::Known(length) => Some(length),
        Length::Unknown(_) => None,
    };
    let at = match call.name {
        "is_empty" => {
            let zero = super::subject::size(0);
            let length = sequence.length().value();
            return Some(machine.binary(
                crate::program::Binary::Equal,
                &length,
                &zero,
                &BOOL,
                call.place,
            ));
        }
        "first" | "first_mut" | "front" | "front_mut" | "peek_front" => 0,
        "last" | "last_mut" | "back" | "back_mut" => {
            known.map_or(0, |length| length.wrapping_sub(1))
        }
        "get_unchecked" | "get_unchecked_mut" => {
            let index = behind(machine, call, 0);
            let step = step_to(&index)?;
            return Some(Ok(subject.part(machine, step)));
        }
        "get" | "get_mut" => {
            let index = behind(machine, call, 0);
            if let Value::Iterator(range) = &index {
                return Some(Ok(slice_by(machine, subject, sequence, range)));
            }
            match (step_to(&index)?, known) {
                (Step::Element(index), Some(_)) => index,
                _ => return Some(Ok(perhaps(machine, call, sequence, &index))),
            }
        }
        _ => return None,
    };
    Some(Ok(match known {
        Some(length) if at < length => Value::some(subject.part(machine, Step::Element(at))),
        Some(_) => Value::none(),
        None => {
            let index = super::subject::size(at);
            perhaps(machine, call, sequence, &index)
        }
    }))
}

/// An element that may or may not be there.
fn perhaps(
    machine: &mut Machine<'_>,
    call: &Call<'_>,
    sequence: &Sequence,
    index: &Value,
) -> Value {
    let whole = Value::Sequence(sequence.clone());
    let ty = option_of(Type::Reference(Box::new(sequence.element.clone())));
    computed(machine, call, &[&whole, index], ty)
}

/// `get(range)`
fn slice_by(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    range: &Lazy,
) -> Value {
    let length = match sequence.length() {
        Length::Known(length) => Some(length),
        Length::Unknown(_) => None,
    };
    let bounds = match range {
        Lazy::Range { next, end } => {
            let start = next.as_integer().and_then(|start| u64::try_from(start).ok());
            let end = match end {
                Some(end) => end.as_integer().and_then(|end| u64::try_from(end).ok()),
                None => length,
            };
            start.zip(end).zip(length)
        }
        _ => None,
    };
    match bounds {
        Some(((start, end), length)) if start <= end && end <= length => {
            Value::some(subject.part(machine, Step::Slice(start, end)))
        }
        Some(_) => Value::none(),
        None => machine.fresh(option_of(Type::Reference(Box::new(Type::Slice(Box::new(
            sequence.element.clone(),
        )))))),
    }
}

/// Methods that give slices, pointers and iterators over the same memory.
fn parts(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    let name = call.name.trim_end_matches("_mut").trim_start_matches("par_");
    Some(Ok(match name {
        "as_slice" | "as" | "as_slices" if call.name == "as_slices" => return None,
        "as_slice" | "as_ptr" | "as_mut_slice" | "as_mut_ptr" | "as_ptr_range"
        | "make_contiguous" | "deref" | "as_ref" | "as_mut" | "borrow" | "by_ref" | "each_ref"
        | "as" | "leak" | "view" | "into_boxed_slice" | "into_vec" => match call.name {
            "into_boxed_slice" | "into_vec" => subject.take(machine),
            _ => subject.reference(machine),
        },
        "iter" => {
            let reference = subject.reference(machine);
            return Some(
                crate::evaluate::iterator::of(machine, &reference, call.place)
                    .map(|lazy| Value::Iterator(Rc::new(lazy))),
            );
        }
        "into_iter" | "into_par_iter" => {
            let value = subject.take(machine);
            return Some(
                crate::evaluate::iterator::of(machine, &value, call.place)
                    .map(|lazy| Value::Iterator(Rc::new(lazy))),
            );
        }
        "split_at" | "split_at_unchecked" => {
            return Some(split_at(machine, subject, sequence, call));
        }
        "split_first" | "split_last" => split_end(machine, subject, sequence, call, name),
        "chunks" | "chunks_exact" | "windows" | "rchunks" | "array_chunks" | "array_windows" => {
            pieces(machine, subject, sequence, call, name)
        }
        "first_chunk"
        | "last_chunk"
        | "as_chunks"
        | "split"
        | "splitn"
        | "chunk_by"
        | "select_nth_unstable" => return None,
        _ => return None,
    }))
}

/// `split_at`
fn split_at(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Outcome {
    let middle = count(machine, call, 0);
    Ok(match (middle, sequence.length()) {
        (Some(middle), Length::Known(length)) if middle > length => {
            return Err(panic(machine, call.place));
        }
        (Some(middle), Length::Known(length)) => pair(
            subject.part(machine, Step::Slice(0, middle)),
            subject.part(machine, Step::Slice(middle, length)),
        ),
        (Some(middle), Length::Unknown(_)) => {
            pair(subject.part(machine, Step::Slice(0, middle)), unknown_part(machine, subject))
        }
        (None, _) => pair(unknown_part(machine, subject), unknown_part(machine, subject)),
    })
}

/// A slice of which it is not known where it starts and ends.
fn unknown_part(machine: &mut Machine<'_>, subject: &Subject) -> Value {
    let length = Length::Unknown(unknown_of(&machine.fresh(USIZE)));
    subject.part(machine, Step::Part(length))
}

/// `split_first`, `split_last`
fn split_end(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
    name: &str,
) -> Value {
    match sequence.length() {
        Length::Known(0) => Value::none(),
        Length::Known(length) => {
            let (one, rest) = match name {
                "split_first" => (Step::Element(0), Step::Slice(1, length)),
                _ => (Step::Element(length - 1), Step::Slice(0, length - 1)),
            };
            let one = subject.part(machine, one);
            let rest = subject.part(machine, rest);
            Value::some(pair(one, rest))
        }
        Length::Unknown(_) => {
            let whole = Value::Sequence(sequence.clone());
            let element = Type::Reference(Box::new(sequence.element.clone()));
            let rest = Type::Reference(Box::new(Type::Slice(Box::new(sequence.element.clone()))));
            computed(machine, call, &[&whole], option_of(Type::Tuple(vec![element, rest])))
        }
    }
}

/// `chunks`, `windows` and kin.
fn pieces(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
    name: &str,
) -> Value {
    let size = behind(machine, call, 0);
    let known = size.as_integer().and_then(|size| u64::try_from(size).ok());
    let lazy = match (known, sequence.length(), name) {
        (Some(size), Length::Known(length), "chunks" | "chunks_exact" | "windows") => {
            let step = if name == "windows" { 1 } else { size };
            let of = subject.place(machine);
            Lazy::Pieces(Pieces { of, from: 0, to: length, size, step, whole: name != "chunks" })
        }
        _ => {
            let length = sequence.length().value();
            let number = computed(machine, call, &[&length, &size], USIZE);
            let each = match (known, name) {
                (Some(size), "chunks_exact" | "windows" | "array_chunks" | "array_windows") => {
                    subject.part(machine, Step::Part(Length::Known(size)))
                }
                _ => unknown_part(machine, subject),
            };
            Lazy::Unknown { count: unknown_of(&number), each, taken: 0 }
        }
    };
    Value::Iterator(Rc::new(lazy))
}

/// Methods that make a new sequence of it.
fn joined(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    Some(Ok(match call.name {
        "to_vec" | "into_owned" | "to_owned" | "to_vec_in" | "clone" => {
            let value = subject.read(machine, call.place);
            match sequence_of(machine, &value) {
                Some(sequence) => super::copies::copy(machine, &Value::Sequence(sequence)),
                None => value,
            }
        }
        "concat" | "join" if sequence.element == Type::Text => Value::Text(None),
        "concat" => concatenated(machine, sequence, call),
        "repeat" => match (&sequence.items, count(machine, call, 0)) {
            (Items::Each(items), Some(times)) if items.len() as u64 * times <= 256 => {
                let items = (0..times).flat_map(|_| items.iter().cloned()).collect();
                let items = Items::Each(Rc::new(items));
                Value::Sequence(Sequence { element: sequence.element.clone(), items })
            }
            _ => unknown_sequence(machine, sequence.element.clone()),
        },
        "map" if matches!(sequence.items, Items::Each(_)) => {
            return Some(mapped(machine, sequence, call));
        }
        _ => return None,
    }))
}

/// A sequence of which nothing but its elements' type is known.
pub(super) fn unknown_sequence(machine: &mut Machine<'_>, element: Type) -> Value {
    let each = machine.fresh(element.clone());
    let length = Length::Unknown(unknown_of(&machine.fresh(USIZE)));
    Value::Sequence(Sequence { element, items: Items::Alike(Rc::new(each), length) })
}

/// `[T; N]::map`
fn mapped(machine: &mut Machine<'_>, sequence: &Sequence, call: &Call<'_>) -> Outcome {
    let Items::Each(items) = &sequence.items else { return Ok(Value::Moved) };
    let closure = argument(call, 0);
    let mut results = Vec::with_capacity(items.len());
    for item in items.iter() {
        results.push(run(machine, &closure, vec![item.clone()], call.place)?);
    }
    let element = results.first().map(|first| machine.type_of(first)).unwrap_or_default();
    Ok(Value::Sequence(Sequence { element, items: Items::Each(Rc::new(results)) }))
}

/// `concat`: the rows one after the other.
fn concatenated(machine: &mut Machine<'_>, sequence: &Sequence, call: &Call<'_>) -> Value {
    let mut element = match &sequence.element {
        Type::External(_, arguments) => arguments.first().cloned().unwrap_or_default(),
        Type::Array(inner, _) | Type::Slice(inner) => (**inner).clone(),
        _ => Type::Unknown,
    };
    let Items::Each(rows) = &sequence.items else {
        return unknown_sequence(machine, element);
    };
    let mut all = Vec::new();
    let mut length = Some(0);
    let mut any = Value::Moved;
    for row in rows.iter() {
        let row = machine.behind(row, call.place);
        let Some(row) = sequence_of(machine, &row) else {
            return unknown_sequence(machine, element);
        };
        element = row.element.clone();
        match (&row.items, row.length()) {
            (Items::Each(items), _) => all.extend(items.iter().cloned()),
            (Items::Alike(..), Length::Known(_)) => {}
            (Items::Alike(..), Length::Unknown(_)) => length = None,
        }
        if let Length::Known(more) = row.length() {
            length = length.map(|length| length + more);
        }
        if let Some(each) = machine.any_of(&row) {
            any = machine.united(&any, &each);
        }
    }
    match length {
        Some(length) if all.len() as u64 == length => {
            Value::Sequence(Sequence { element, items: Items::Each(Rc::new(all)) })
        }
        Some(length) => {
            let items = Items::Alike(Rc::new(any), Length::Known(length));
            Value::Sequence(Sequence { element, items })
        }
        None => unknown_sequence(machine, element),
    }
}

/// Methods that look for elements.
fn searched(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    let result = match call.name {
        "contains" | "starts_with" | "ends_with" | "is_sorted" => BOOL,
        "binary_search" | "binary_search_by" | "binary_search_by_key" => {
            Type::External("Result".to_owned(), vec![USIZE, USIZE])
        }
        "partition_point" | "capacity" => USIZE,
        _ => return None,
    };
    let whole = match call.name {
        "capacity" => Value::Sequence(sequence.clone()),
        _ => subject.read(machine, call.place),
    };
    let wanted = behind(machine, call, 0);
    if call.name == "contains"
        && let Value::Sequence(Sequence { items, .. }) = &whole
        && let Some(found) = contains(machine, items, &wanted, call)
    {
        return Some(Ok(Value::bool(found)));
    }
    Some(Ok(computed(machine, call, &[&whole, &wanted], result)))
}

/// Whether an element is among the items, where that is known.
fn contains(
    machine: &mut Machine<'_>,
    items: &Items,
    wanted: &Value,
    call: &Call<'_>,
) -> Option<bool> {
    match items {
        Items::Each(items) => {
            let mut found = Some(false);
            for item in items.iter() {
                match equal(machine, item, wanted, call.place) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => found = None,
                }
            }
            found
        }
        Items::Alike(each, Length::Known(length)) if *length > 0 && is_known(each) => {
            equal(machine, each, wanted, call.place)
        }
        Items::Alike(..) => None,
    }
}

/// One element of a sequence by its number.
pub(in crate::evaluate) fn item(
    machine: &mut Machine<'_>,
    sequence: &Sequence,
    index: u64,
) -> Option<Value> {
    match &sequence.items {
        Items::Each(items) => items.get(usize::try_from(index).ok()?).cloned(),
        Items::Alike(each, length) => {
            if matches!(length, Length::Known(length) if index >= *length) {
                return None;
            }
            let number = Value::integer(i128::from(index), Scalar::Usize);
            Some(element_of(machine, each, &number))
        }
    }
}
