//! Arrays, slices, `Vec`, `VecDeque`: the methods that change them.
//!
//! Where all elements are kept one by one and the arguments are known, the elements are moved as
//! Rust moves them. Else only what they have in common is kept, and the length as far as it is known.
//! Those that make it longer or shorter are in [`super::growth`].

use std::rc::Rc;

use super::subject::{Subject, argument, count, panic, run};
use crate::evaluate::comparison::is_known;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Sequence, Value};
use crate::program::Place;

/// Calls a method that changes a sequence. `None`: not one of these.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &mut Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    // Nobody else may hold the elements while they are changed in place.
    subject.value = Value::Moved;
    let sequence = match ordered(machine, subject, sequence, call) {
        Ok(outcome) => return Some(outcome),
        Err(sequence) => sequence,
    };
    let sequence = match super::growth::resized(machine, subject, sequence, call) {
        Ok(outcome) => return Some(outcome),
        Err(sequence) => sequence,
    };
    let outcome = filled(machine, subject, &sequence, call);
    if outcome.is_none() {
        subject.value = Value::Sequence(sequence);
    }
    outcome
}

/// Sets the whole.
pub(super) fn set(machine: &mut Machine<'_>, subject: &Subject, sequence: Sequence, place: Place) {
    subject.write(machine, Value::Sequence(sequence), place);
}

/// Changes the elements that are kept one by one. The sequence is given up for that.
pub(super) fn change(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    place: Place,
    edit: impl FnOnce(&mut Vec<Value>),
) {
    drop(sequence);
    let Some(path) = &subject.path else { return };
    let mut edit = Some(edit);
    machine.modify(path, place, &mut |value| {
        if let (Value::Sequence(Sequence { items: Items::Each(items), .. }), Some(edit)) =
            (value, edit.take())
        {
            edit(Rc::make_mut(items));
        }
    });
}

/// How many elements are kept one by one.
pub(super) fn each(sequence: &Sequence) -> Option<usize> {
    match &sequence.items {
        Items::Each(items) => Some(items.len()),
        Items::Alike(..) => None,
    }
}

/// The same elements in another order, which is not known.
fn shuffled(machine: &mut Machine<'_>, sequence: &Sequence, call: &Call<'_>) -> Sequence {
    let any = common(machine, sequence, call);
    Sequence {
        element: sequence.element.clone(),
        items: Items::Alike(Rc::new(any), sequence.length()),
    }
}

/// What all elements have in common; where they are not known, not what they were before the call.
pub(super) fn common(machine: &mut Machine<'_>, sequence: &Sequence, call: &Call<'_>) -> Value {
    match machine.any_of(sequence) {
        Some(any) if is_known(&any) => any,
        Some(any @ (Value::Scalar(..) | Value::Unknown(..))) => {
            let ty = machine.type_of(&any);
            machine.computed(call.name, &[&any], ty)
        }
        Some(any) => any,
        None => machine.fresh(sequence.element.clone()),
    }
}

/// A known index of a sequence's element.
pub(super) fn index(machine: &mut Machine<'_>, call: &Call<'_>, argument: usize) -> Option<usize> {
    count(machine, call, argument).and_then(|index| usize::try_from(index).ok())
}

/// A method whose change was made, or the sequence for another one.
pub(super) type Tried = Result<Outcome, Sequence>;

/// Methods that put the elements in another order.
fn ordered(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Tried {
    let place = call.place;
    let known = each(&sequence);
    match (call.name, known) {
        ("swap", Some(length)) => match (index(machine, call, 0), index(machine, call, 1)) {
            (Some(one), Some(other)) if one < length && other < length => {
                change(machine, subject, sequence, place, |items| items.swap(one, other));
            }
            (Some(_), Some(_)) => return Ok(Err(panic(machine, place))),
            _ => {
                let shuffled = shuffled(machine, &sequence, call);
                set(machine, subject, shuffled, place);
            }
        },
        ("reverse", Some(_)) => {
            change(machine, subject, sequence, place, |items| items.reverse());
        }
        ("rotate_left" | "rotate_right", Some(length)) => match index(machine, call, 0) {
            Some(by) if by <= length => {
                let left = call.name == "rotate_left";
                change(machine, subject, sequence, place, |items| match left {
                    true => items.rotate_left(by),
                    false => items.rotate_right(by),
                });
            }
            Some(_) => return Ok(Err(panic(machine, place))),
            None => {
                let shuffled = shuffled(machine, &sequence, call);
                set(machine, subject, shuffled, place);
            }
        },
        ("sort" | "sort_unstable", Some(_)) => match sorted(machine, &sequence, place) {
            Some(sorted) => set(machine, subject, sorted, place),
            None => {
                let shuffled = shuffled(machine, &sequence, call);
                set(machine, subject, shuffled, place);
            }
        },
        (
            "swap"
            | "reverse"
            | "rotate_left"
            | "rotate_right"
            | "sort"
            | "sort_unstable"
            | "sort_by"
            | "sort_by_key"
            | "sort_unstable_by"
            | "sort_unstable_by_key"
            | "sort_by_cached_key"
            | "par_sort"
            | "par_sort_unstable"
            | "par_sort_by"
            | "par_sort_unstable_by"
            | "shuffle",
            _,
        ) => {
            let shuffled = shuffled(machine, &sequence, call);
            set(machine, subject, shuffled, place);
        }
        _ => return Err(sequence),
    }
    Ok(Ok(Value::unit()))
}

/// The elements in their order, where it is known.
fn sorted(machine: &mut Machine<'_>, sequence: &Sequence, place: Place) -> Option<Sequence> {
    let Items::Each(items) = &sequence.items else { return None };
    if items.len() > 256 {
        return None;
    }
    let mut sorted: Vec<Value> = Vec::with_capacity(items.len());
    for item in items.iter() {
        let mut at = sorted.len();
        while at > 0 {
            match crate::evaluate::comparison::order(machine, item, &sorted[at - 1], place)? {
                std::cmp::Ordering::Less => at -= 1,
                _ => break,
            }
        }
        sorted.insert(at, item.clone());
    }
    Some(Sequence { element: sequence.element.clone(), items: Items::Each(Rc::new(sorted)) })
}

/// Methods that give all elements new values and leave the length.
fn filled(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Option<Outcome> {
    let place = call.place;
    let fill = |machine: &mut Machine<'_>, each: &Value| {
        let element = sequence.element.clone();
        let filled = super::defaults::repeated(machine, element, each, sequence.length());
        set(machine, subject, filled, place);
    };
    match call.name {
        "fill" => {
            let each = argument(call, 0);
            fill(machine, &each);
        }
        "fill_with" => match run(machine, &argument(call, 0), Vec::new(), place) {
            // The closure may give another value each time.
            Ok(each) => {
                let ty = machine.type_of(&each);
                let any = machine.fresh(ty.clone());
                let items = Items::Alike(Rc::new(any), sequence.length());
                set(machine, subject, Sequence { element: ty, items }, place);
            }
            Err(flow) => return Some(Err(flow)),
        },
        "copy_from_slice" | "clone_from_slice" | "clone_from" => {
            let from = argument(call, 0);
            let from = match &from {
                Value::Reference(path) => machine.read(path, place),
                other => other.clone(),
            };
            let from = machine.behind(&from, place);
            let source = super::sequences::sequence_of(machine, &from);
            match (source, call.name) {
                (Some(source), "clone_from") => set(machine, subject, source, place),
                (Some(source), _) => {
                    // Both are of one length, or the call panics: the one that is known holds.
                    let items = match (&source.items, sequence.length()) {
                        (Items::Alike(each, Length::Unknown(_)), length) => {
                            Items::Alike(each.clone(), length)
                        }
                        (items, _) => items.clone(),
                    };
                    let differs = matches!((source.length(), sequence.length()),
                        (Length::Known(one), Length::Known(other)) if one != other);
                    if differs {
                        return Some(Err(panic(machine, place)));
                    }
                    let element = sequence.element.clone();
                    set(machine, subject, Sequence { element, items }, place);
                }
                (None, _) => {
                    let each = machine.fresh(sequence.element.clone());
                    fill(machine, &each);
                }
            }
        }
        "swap_with_slice" => {
            let Value::Reference(other) = argument(call, 0) else { return None };
            let theirs = machine.read(&other, place);
            machine.write(&other, Value::Sequence(sequence.clone()), place);
            subject.write(machine, theirs, place);
        }
        "copy_within" => {
            let each = machine.fresh(sequence.element.clone());
            fill(machine, &each);
        }
        _ => return None,
    }
    Some(Ok(Value::unit()))
}
