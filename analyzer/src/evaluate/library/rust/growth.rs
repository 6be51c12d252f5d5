//! The methods that make a sequence longer or shorter: `push`, `pop`, `resize`, `extend`, `drain`.

use std::rc::Rc;

use super::edits::{Tried, change, common, each, index, set};
use super::gather::{Gathered, gather};
use super::sequences::item;
use super::subject::{Subject, USIZE, argument, behind, computed, option_of, panic, run, size};
use crate::evaluate::comparison::is_known;
use crate::evaluate::iterator::{self, Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, MOST_ITEMS, Sequence, Value};
use crate::program::Type;

/// Methods that add or take away elements.
pub(super) fn resized(
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
    let (length, by) = (length.value(), by.value());
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
        if sequence.element == Type::Unknown {
            let element = machine.type_of(&value);
            let items = sequence.items;
            set(machine, subject, Sequence { element, items: items.clone() }, place);
            change(machine, subject, Sequence { element: Type::Unknown, items }, place, |items| {
                items.insert(at, value)
            });
        } else {
            change(machine, subject, sequence, place, |items| items.insert(at, value));
        }
        return Ok(Value::unit());
    }
    let any = match machine.any_of(&sequence) {
        Some(any) => machine.united(&any, &value),
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
        || matches!(&*call.ty, Type::External(name, _)
            if call.name == "remove" && name == "Option"
                && !matches!(&sequence.element, Type::External(inner, _) if inner == "Option"));
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
            let (length, target) = (length.value(), target.value());
            Length::Unknown(unknown_of(&machine.computed("min", &[&length, &target], USIZE)))
        }
        (_, _, target) => target,
    };
    let element = match (&sequence.element, &more) {
        (Type::Unknown, Some(more)) => machine.type_of(more),
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
    let any = match (machine.any_of(&sequence), more) {
        (Some(any), Some(more)) => machine.united(&any, &more),
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
        && sequence.element != Type::Unknown
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
        Type::Unknown => second.element.clone(),
        known => known.clone(),
    };
    if let (Items::Each(one), Items::Each(other)) = (&first.items, &second.items)
        && one.len() + other.len() <= MOST_ITEMS
    {
        let all = one.iter().chain(other.iter()).cloned().collect();
        return Sequence { element, items: Items::Each(Rc::new(all)) };
    }
    let any = match (machine.any_of(first), machine.any_of(second)) {
        (Some(one), Some(other)) => machine.united(&one, &other),
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
        let start =
            |value: &Value| value.as_integer().and_then(|start| usize::try_from(start).ok());
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
