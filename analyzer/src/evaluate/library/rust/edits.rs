//! Arrays, slices, `Vec`, `VecDeque`: the methods that change them.
//!
//! Where all elements are kept one by one and the arguments are known, the elements are moved as
//! Rust moves them. Else only what they have in common is kept, and the length as far as it is known.

use std::rc::Rc;

use super::alike::{is_known, length_value, unite};
use super::gather::{Gathered, gather};
use super::sequences::item;
use super::subject::{
    Subject, USIZE, argument, behind, computed, count, option_of, panic, run, size,
};
use crate::evaluate::iterator::{self, Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, MOST_ITEMS, Sequence, Value};
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
    let sequence = match resized(machine, subject, sequence, call) {
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
fn set(machine: &mut Machine<'_>, subject: &Subject, sequence: Sequence, place: Place) {
    subject.write(machine, Value::Sequence(sequence), place);
}

/// Changes the elements that are kept one by one. The sequence is given up for that.
fn change(
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
fn each(sequence: &Sequence) -> Option<usize> {
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
fn common(machine: &mut Machine<'_>, sequence: &Sequence, call: &Call<'_>) -> Value {
    match sequence.any(machine) {
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
fn index(machine: &mut Machine<'_>, call: &Call<'_>, argument: usize) -> Option<usize> {
    count(machine, call, argument).and_then(|index| usize::try_from(index).ok())
}

/// A method whose change was made, or the sequence for another one.
type Tried = Result<Outcome, Sequence>;

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
            "swap" | "reverse" | "rotate_left" | "rotate_right" | "sort" | "sort_unstable"
            | "sort_by" | "sort_by_key" | "sort_unstable_by" | "sort_unstable_by_key"
            | "sort_by_cached_key" | "par_sort" | "par_sort_unstable" | "par_sort_by"
            | "par_sort_unstable_by" | "shuffle",
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
            match super::alike::order(machine, item, &sorted[at - 1], place)? {
                std::cmp::Ordering::Less => at -= 1,
                _ => break,
            }
        }
        sorted.insert(at, item.clone());
    }
    Some(Sequence { element: sequence.element.clone(), items: Items::Each(Rc::new(sorted)) })
}

/// Methods that add or take away elements.
fn resized(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Tried {
    let place = call.place;
    match call.name {
        "push" | "push_back" | "push_front" | "insert" => {
            Ok(added(machine, subject, sequence, call))
        }
        "pop" | "pop_back" | "pop_front" | "remove" | "swap_remove" | "swap_remove_back" => {
            Ok(removed(machine, subject, sequence, call))
        }
        "truncate" | "resize" | "resize_with" | "set_len" => {
            Ok(cut(machine, subject, sequence, call))
        }
        "clear" => {
            let empty = Items::Each(Rc::default());
            set(machine, subject, Sequence { element: sequence.element, items: empty }, place);
            Ok(Ok(Value::unit()))
        }
        "extend" | "extend_from_slice" | "append" | "extend_from_within" => {
            Ok(extended(machine, subject, sequence, call).map(|()| Value::unit()))
        }
        "drain" | "split_off" => Ok(drained(machine, subject, &sequence, call)),
        "retain" | "retain_mut" | "dedup" | "dedup_by" | "dedup_by_key" => {
            Ok(retained(machine, subject, &sequence, call))
        }
        "reserve" | "reserve_exact" | "shrink_to_fit" | "shrink_to" => Ok(Ok(Value::unit())),
        _ => Err(sequence),
    }
}

/// A length that is so much longer, or shorter.
fn longer(machine: &mut Machine<'_>, length: Length, by: Length, what: &str) -> Length {
    if let (Length::Known(length), Length::Known(by)) = (length, by) {
        return Length::Known(match what {
            "add" => length.saturating_add(by),
            _ => length.saturating_sub(by),
        });
    }
    let (length, by) = (length_value(length), length_value(by));
    Length::Unknown(unknown_of(&machine.computed(what, &[&length, &by], USIZE)))
}

/// `push`, `insert` and kin.
fn added(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Outcome {
    let place = call.place;
    let value = argument(call, if call.name == "insert" { 1 } else { 0 });
    let at = match (call.name, each(&sequence)) {
        (_, Some(length)) if length >= MOST_ITEMS => None,
        ("push" | "push_back", Some(length)) => Some(length),
        ("push_front", Some(_)) => Some(0),
        ("insert", Some(length)) => match index(machine, call, 0) {
            Some(at) if at > length => return Err(panic(machine, place)),
            at => at,
        },
        _ => None,
    };
    if let Some(at) = at {
        if sequence.element == crate::program::Type::Unknown {
            let element = machine.type_of(&value);
            let items = sequence.items;
            set(machine, subject, Sequence { element, items: items.clone() }, place);
            change(
                machine,
                subject,
                Sequence { element: crate::program::Type::Unknown, items },
                place,
                |items| items.insert(at, value),
            );
        } else {
            change(machine, subject, sequence, place, |items| items.insert(at, value));
        }
        return Ok(Value::unit());
    }
    let any = match sequence.any(machine) {
        Some(any) => unite(machine, &any, &value),
        None => value,
    };
    let length = longer(machine, sequence.length(), Length::Known(1), "add");
    let items = Items::Alike(Rc::new(any), length);
    set(machine, subject, Sequence { element: sequence.element, items }, place);
    Ok(Value::unit())
}

/// `pop`, `remove` and kin.
fn removed(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Outcome {
    let place = call.place;
    // `VecDeque::remove` answers an option, `Vec::remove` an element.
    let optional = call.name.starts_with("pop")
        || call.name == "swap_remove_back"
        || matches!(&call.ty, crate::program::Type::External(name, _)
            if call.name == "remove" && name == "Option"
                && !matches!(&sequence.element, crate::program::Type::External(inner, _) if inner == "Option"));
    let wrap = |value: Value| if optional { Value::some(value) } else { value };
    let length = sequence.length();
    if length == Length::Known(0) {
        return if optional { Ok(Value::none()) } else { Err(panic(machine, place)) };
    }
    if let Some(length) = each(&sequence) {
        let at = match call.name {
            "pop" | "pop_back" => Some(length - 1),
            "pop_front" => Some(0),
            _ => index(machine, call, 0),
        };
        match at {
            Some(at) if at < length => {
                let value = item(machine, &sequence, at as u64).unwrap_or(Value::Moved);
                let swaps = call.name.starts_with("swap_remove");
                change(machine, subject, sequence, place, |items| match swaps {
                    true => drop(items.swap_remove(at)),
                    false => drop(items.remove(at)),
                });
                return Ok(wrap(value));
            }
            Some(_) if optional => return Ok(Value::none()),
            Some(_) => return Err(panic(machine, place)),
            None => {}
        }
    }
    let whole = Value::Sequence(sequence.clone());
    let at = if call.arguments.is_empty() { size(0) } else { behind(machine, call, 0) };
    let any = common(machine, &sequence, call);
    let value = match (&any, length) {
        (_, Length::Unknown(_)) if optional => {
            let ty = option_of(sequence.element.clone());
            computed(machine, call, &[&whole, &at], ty)
        }
        (Value::Scalar(..) | Value::Unknown(..), _) if !is_known(&any) => {
            let element = computed(machine, call, &[&whole, &at], sequence.element.clone());
            wrap(element)
        }
        _ => wrap(any.clone()),
    };
    let length = longer(machine, length, Length::Known(1), "subtract");
    let items = Items::Alike(Rc::new(any), length);
    set(machine, subject, Sequence { element: sequence.element, items }, place);
    Ok(value)
}

/// `truncate`, `resize` and kin.
fn cut(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Outcome {
    let place = call.place;
    let wanted = behind(machine, call, 0);
    let target = match wanted.as_integer() {
        Some(number) => Length::Known(u64::try_from(number).unwrap_or(0)),
        None => Length::Unknown(unknown_of(&wanted)),
    };
    let more = match call.name {
        "resize" => Some(argument(call, 1)),
        "resize_with" => Some(run(machine, &argument(call, 1), Vec::new(), place)?),
        "set_len" => Some(machine.fresh(sequence.element.clone())),
        _ => None,
    };
    let target = match (call.name, sequence.length(), target) {
        ("truncate", Length::Known(length), Length::Known(target)) => {
            Length::Known(length.min(target))
        }
        ("truncate", length, target) => {
            let (length, target) = (length_value(length), length_value(target));
            Length::Unknown(unknown_of(&machine.computed("min", &[&length, &target], USIZE)))
        }
        (_, _, target) => target,
    };
    let element = match (&sequence.element, &more) {
        (crate::program::Type::Unknown, Some(more)) => machine.type_of(more),
        (known, _) => known.clone(),
    };
    if let (Items::Each(items), Length::Known(target)) = (&sequence.items, target)
        && target <= 256.max(items.len() as u64)
    {
        let mut items = (**items).clone();
        let target = usize::try_from(target).unwrap_or(usize::MAX);
        items.truncate(target);
        while let (true, Some(more)) = (items.len() < target, &more) {
            items.push(super::copies::copy(machine, more));
        }
        let items = Items::Each(Rc::new(items));
        set(machine, subject, Sequence { element, items }, place);
        return Ok(Value::unit());
    }
    let any = match (sequence.any(machine), more) {
        (Some(any), Some(more)) => unite(machine, &any, &more),
        (Some(any), None) => any,
        (None, Some(more)) => more,
        (None, None) => machine.fresh(element.clone()),
    };
    let items = Items::Alike(Rc::new(any), target);
    set(machine, subject, Sequence { element, items }, place);
    Ok(Value::unit())
}

/// `extend`, `append` and kin.
fn extended(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: Sequence,
    call: &Call<'_>,
) -> Outcome<()> {
    let place = call.place;
    let source = argument(call, 0);
    if call.name == "extend_from_within" {
        let unknown = super::sequences::unknown_sequence(machine, sequence.element.clone());
        subject.write(machine, unknown, place);
        return Ok(());
    }
    let mut lazy = iterator::of(machine, &source, place)?;
    if call.name != "append" {
        // Elements are copied out of what is borrowed.
        lazy = Lazy::Adapter(Box::new(iterator::Adapter::Cloned(lazy)));
    }
    let gathered = match (call.name, &source) {
        ("append", Value::Reference(path)) => {
            let whole = machine.peek(path);
            let mut lazy = iterator::of(machine, &whole, place)?;
            let gathered = gather(machine, &mut lazy, place)?;
            let element = sequence.element.clone();
            let empty = Sequence { element, items: Items::Each(Rc::default()) };
            machine.write(path, Value::Sequence(empty), place);
            gathered
        }
        _ => gather(machine, &mut lazy, place)?,
    };
    if let (Some(length), Gathered::Each(more)) = (each(&sequence), &gathered)
        && length + more.len() <= MOST_ITEMS
        && sequence.element != crate::program::Type::Unknown
    {
        change(machine, subject, sequence, place, |items| items.extend(more.iter().cloned()));
        return Ok(());
    }
    let more = gathered.sequence(machine, sequence.element.clone());
    let joined = follow(machine, &sequence, &more);
    set(machine, subject, joined, place);
    Ok(())
}

/// One sequence after the other.
fn follow(machine: &mut Machine<'_>, first: &Sequence, second: &Sequence) -> Sequence {
    let element = match &first.element {
        crate::program::Type::Unknown => second.element.clone(),
        known => known.clone(),
    };
    if let (Items::Each(one), Items::Each(other)) = (&first.items, &second.items)
        && one.len() + other.len() <= MOST_ITEMS
    {
        let all = one.iter().chain(other.iter()).cloned().collect();
        return Sequence { element, items: Items::Each(Rc::new(all)) };
    }
    let any = match (first.any(machine), second.any(machine)) {
        (Some(one), Some(other)) => unite(machine, &one, &other),
        (Some(any), None) | (None, Some(any)) => any,
        (None, None) => machine.fresh(element.clone()),
    };
    let length = match (first.length(), second.length()) {
        (Length::Known(0), length) | (length, Length::Known(0)) => length,
        (one, other) => longer(machine, one, other, "add"),
    };
    Sequence { element, items: Items::Alike(Rc::new(any), length) }
}

/// `drain`, `split_off`
fn drained(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Outcome {
    let bounds = each(sequence).and_then(|length| {
        let argument = behind(machine, call, 0);
        let start = |value: &Value| value.as_integer().and_then(|start| usize::try_from(start).ok());
        match (&argument, call.name) {
            (Value::Iterator(range), "drain") => match &**range {
                Lazy::Range { next, end: Some(end) } => start(next).zip(start(end)),
                Lazy::Range { next, end: None } => start(next).map(|first| (first, length)),
                _ => None,
            },
            (first, "split_off") => start(first).map(|first| (first, length)),
            _ => None,
        }
        .filter(|(first, last)| first <= last && *last <= length)
    });
    let taken = match (&sequence.items, bounds) {
        (Items::Each(items), Some((first, last))) => {
            let mut left = (**items).clone();
            let taken: Vec<Value> = left.drain(first..last).collect();
            let items = Items::Each(Rc::new(left));
            let element = sequence.element.clone();
            set(machine, subject, Sequence { element, items }, call.place);
            Sequence { element: sequence.element.clone(), items: Items::Each(Rc::new(taken)) }
        }
        _ => {
            let any = common(machine, sequence, call);
            let left = machine.fresh(USIZE);
            let taken = machine.fresh(USIZE);
            let alike = |length: &Value| Sequence {
                element: sequence.element.clone(),
                items: Items::Alike(Rc::new(any.clone()), Length::Unknown(unknown_of(length))),
            };
            set(machine, subject, alike(&left), call.place);
            alike(&taken)
        }
    };
    let taken = Value::Sequence(taken);
    if call.name == "split_off" {
        return Ok(taken);
    }
    let lazy = iterator::of(machine, &taken, call.place)?;
    Ok(Value::Iterator(Rc::new(lazy)))
}

/// `retain` and `dedup`, whose closures only look.
fn retained(
    machine: &mut Machine<'_>,
    subject: &Subject,
    sequence: &Sequence,
    call: &Call<'_>,
) -> Outcome {
    let place = call.place;
    if let (Items::Each(items), "retain") = (&sequence.items, call.name) {
        let mut kept = Vec::new();
        let mut all_known = true;
        for item in items.iter() {
            let shown = Value::Reference(machine.allocate(item.clone()));
            let verdict = run(machine, &argument(call, 0), vec![shown], place)?;
            match verdict.as_bool() {
                Some(true) => kept.push(item.clone()),
                Some(false) => {}
                None => all_known = false,
            }
        }
        if all_known {
            let items = Items::Each(Rc::new(kept));
            let element = sequence.element.clone();
            set(machine, subject, Sequence { element, items }, place);
            return Ok(Value::unit());
        }
    }
    let any = common(machine, sequence, call);
    let whole = Value::Sequence(sequence.clone());
    let length = machine.computed(call.name, &[&whole], USIZE);
    let items = Items::Alike(Rc::new(any), Length::Unknown(unknown_of(&length)));
    set(machine, subject, Sequence { element: sequence.element.clone(), items }, place);
    Ok(Value::unit())
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
