//! The methods of iterators that make another iterator, and the functions that make one.

use std::rc::Rc;

use super::subject::{Subject, argument, behind, count, size};
use crate::evaluate::iterator::{self, Adapter, Asking, Lazy, Next, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::Type;

/// An iterator as a value.
pub(super) fn value_of(lazy: Lazy) -> Value {
    Value::Iterator(Rc::new(lazy))
}

/// Calls a method that makes another iterator. `None`: not one of these.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    if !is_adapter(call.name) {
        return None;
    }
    let iterated = subject.take(machine);
    Some(
        iterator::of(machine, &iterated, call.place)
            .and_then(|source| adapted(machine, source, subject, call))
            .map(value_of),
    )
}

fn is_adapter(name: &str) -> bool {
    matches!(
        name,
        "into_iter"
            | "iter"
            | "into_par_iter"
            | "par_bridge"
            | "map"
            | "filter"
            | "filter_map"
            | "enumerate"
            | "zip"
            | "chain"
            | "rev"
            | "step_by"
            | "take"
            | "skip"
            | "take_while"
            | "skip_while"
            | "map_while"
            | "flat_map"
            | "flatten"
            | "inspect"
            | "peekable"
            | "cloned"
            | "copied"
            | "cycle"
            | "scan"
            | "fuse"
            | "by_ref"
            | "intersperse"
            | "array_chunks"
            | "with_min_len"
            | "with_max_len"
            | "map_windows"
            | "into_inner"
            | "clone"
            | "tuple_windows"
            | "dedup"
            | "chunks"
    )
}

/// The iterator that an adapter makes.
fn adapted(
    machine: &mut Machine<'_>,
    source: Lazy,
    subject: &Subject,
    call: &Call<'_>,
) -> Outcome<Lazy> {
    let closure = argument(call, 0);
    let adapter = match call.name {
        "into_iter" | "iter" | "into_par_iter" | "par_bridge" | "clone" | "with_min_len"
        | "with_max_len" => return Ok(source),
        "by_ref" => Adapter::Borrowed(subject.place(machine)),
        "map" => Adapter::Map(source, closure),
        "filter" => Adapter::Filter(source, closure),
        "filter_map" => Adapter::FilterMap(source, closure),
        "inspect" => Adapter::Inspect(source, closure),
        "take_while" => Adapter::TakeWhile(source, closure, false),
        "skip_while" => Adapter::SkipWhile(source, closure, false),
        "map_while" => Adapter::MapWhile(source, closure),
        "flat_map" => Adapter::Flatten(source, Some(closure), None),
        "flatten" => Adapter::Flatten(source, None, None),
        "enumerate" => Adapter::Enumerate(source, size(0)),
        "rev" => Adapter::Rev(source),
        "peekable" => Adapter::Peekable(source, None),
        "cloned" | "copied" => Adapter::Cloned(source),
        "cycle" => Adapter::Cycle(source.clone(), source),
        "fuse" => Adapter::Fuse(source, false),
        "zip" => Adapter::Zip(source, iterator::of(machine, &closure, call.place)?),
        "chain" => Adapter::Chain(Some(source), iterator::of(machine, &closure, call.place)?),
        "scan" => Adapter::Scan(source, machine.allocate(closure), argument(call, 1)),
        "step_by" | "take" | "skip" => return counted(machine, source, call),
        _ => return unknown(machine, source, call),
    };
    Ok(Lazy::Adapter(Box::new(adapter)))
}

/// Adapters that take a number.
fn counted(machine: &mut Machine<'_>, source: Lazy, call: &Call<'_>) -> Outcome<Lazy> {
    let Some(number) = count(machine, call, 0) else {
        return counted_unknown(machine, source, call);
    };
    Ok(Lazy::Adapter(Box::new(match call.name {
        "step_by" => Adapter::StepBy(source, number, 0),
        "take" => Adapter::Take(source, number),
        _ => Adapter::Skip(source, number),
    })))
}

/// `take(n)` and kin of a number that is not known.
fn counted_unknown(machine: &mut Machine<'_>, source: Lazy, call: &Call<'_>) -> Outcome<Lazy> {
    if call.name != "take" {
        return unknown(machine, source, call);
    }
    let number = behind(machine, call, 0);
    Ok(match source {
        // Counting from 0 as far as the number says.
        Lazy::Range { next, end: None } if next.as_integer() == Some(0) => {
            Lazy::Range { next, end: Some(number) }
        }
        source => as_many_as(source, number),
    })
}

/// As many elements as a number says.
fn as_many_as(source: Lazy, number: Value) -> Lazy {
    let counter = Lazy::Range { next: size(0), end: Some(number) };
    Lazy::Adapter(Box::new(Adapter::Bounded(counter, source)))
}

/// An iterator with elements of another one, how many is not known.
fn unknown(machine: &mut Machine<'_>, mut source: Lazy, call: &Call<'_>) -> Outcome<Lazy> {
    let deciding = iterator::communicates(machine, &source);
    if deciding {
        return Err(machine.lost(call.place, "how many of these there are is not known"));
    }
    let number = behind(machine, call, 0);
    let length = match iterator::length(machine, &source) {
        iterator::Count::Known(length) => size(length),
        iterator::Count::Unknown(length) => crate::evaluate::value::Length::Unknown(length).value(),
        _ => machine.fresh(super::subject::USIZE),
    };
    let left = machine.computed(call.name, &[&length, &number], super::subject::USIZE);
    iterator::generalize(machine, &mut source);
    let each = match iterator::next(machine, &mut source, Asking::Granted, call.place)? {
        Next::Element(each) | Next::Perhaps(_, each) => each,
        Next::End => Value::Moved,
    };
    let known = matches!(call.name, "step_by" | "take" | "skip");
    let each = if known { each } else { machine.fresh(Type::Unknown) };
    Ok(Lazy::Unknown { count: unknown_of(&left), each, taken: 0 })
}

/// Functions of `std::iter`, and of iterators: by their last name. `None`: not one of these.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Outcome> {
    let first = argument(call, 0);
    let adapter = |adapter| Some(Ok(value_of(Lazy::Adapter(Box::new(adapter)))));
    match name {
        "once" => Some(Ok(value_of(Lazy::Items(Rc::new(vec![first]), 0, 1)))),
        "empty" => Some(Ok(value_of(Lazy::Items(Rc::default(), 0, 0)))),
        "repeat" => Some(Ok(value_of(Lazy::Endless(first)))),
        "repeat_n" => Some(take_endless(machine, Lazy::Endless(first), call).map(value_of)),
        "repeat_with" => adapter(Adapter::RepeatWith(first)),
        "from_fn" => adapter(Adapter::FromFunction(first)),
        "successors" => adapter(Adapter::Successors(first, argument(call, 1))),
        "zip" | "chain" => {
            let second = argument(call, 1);
            let sources = iterator::of(machine, &first, call.place).and_then(|one| {
                iterator::of(machine, &second, call.place).map(|other| (one, other))
            });
            match sources {
                Ok((one, other)) if name == "zip" => adapter(Adapter::Zip(one, other)),
                Ok((one, other)) => adapter(Adapter::Chain(Some(one), other)),
                Err(flow) => Some(Err(flow)),
            }
        }
        _ => None,
    }
}

/// So many of an endless iterator: the number is the second argument.
fn take_endless(machine: &mut Machine<'_>, source: Lazy, call: &Call<'_>) -> Outcome<Lazy> {
    match count(machine, call, 1) {
        Some(number) => Ok(Lazy::Adapter(Box::new(Adapter::Take(source, number)))),
        None => Ok(as_many_as(source, behind(machine, call, 1))),
    }
}

/// The methods of a range as a value. `None`: it has no such method.
pub(super) fn range_method(
    machine: &mut Machine<'_>,
    lazy: &Lazy,
    call: &Call<'_>,
) -> Option<Outcome> {
    let Lazy::Range { next, end } = lazy else { return None };
    match (call.name, end) {
        ("contains", end) => {
            let wanted = behind(machine, call, 0);
            let place = call.place;
            let ty = super::subject::BOOL;
            let from =
                machine.binary(crate::program::Binary::LessOrEqual, next, &wanted, &ty, place);
            let below = match end {
                Some(end) => machine.binary(crate::program::Binary::Less, &wanted, end, &ty, place),
                None => Ok(Value::bool(true)),
            };
            Some(match (from, below) {
                (Err(flow), _) | (_, Err(flow)) => Err(flow),
                (Ok(from), Ok(below)) => Ok(match (from.as_bool(), below.as_bool()) {
                    (Some(false), _) | (_, Some(false)) => Value::bool(false),
                    (Some(true), _) => below,
                    (_, Some(true)) => from,
                    _ => machine.computed("and", &[&from, &below], ty),
                }),
            })
        }
        ("start", _) => Some(Ok(next.clone())),
        ("end", Some(end)) => Some(Ok(end.clone())),
        ("is_empty", Some(_)) => Some(Ok(match iterator::length(machine, lazy) {
            iterator::Count::Known(length) => Value::bool(length == 0),
            _ => machine.computed("is_empty", &[next], super::subject::BOOL),
        })),
        _ => None,
    }
}

/// A part of what is peeked at: the element that comes next.
pub(super) fn peek(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    let Value::Iterator(kept) = &subject.value else { return None };
    let mut lazy = (**kept).clone();
    let Lazy::Adapter(adapter) = &mut lazy else { return None };
    let Adapter::Peekable(source, peeked) = &mut **adapter else { return None };
    let answer = match peeked.take() {
        Some(answer) => *answer,
        None => {
            let asking = match iterator::communicates(machine, source) {
                true => Asking::Deciding,
                false => Asking::Open,
            };
            match iterator::next(machine, source, asking, call.place) {
                Ok(answer) => answer,
                Err(flow) => return Some(Err(flow)),
            }
        }
    };
    *peeked = Some(Box::new(answer.clone()));
    subject.write(machine, value_of(lazy), call.place);
    Some(Ok(match answer {
        Next::Element(element) => {
            let path = machine.allocate(element);
            Value::some(Value::Reference(path))
        }
        Next::End => Value::none(),
        Next::Perhaps(..) => machine.fresh(super::subject::option_of(Type::Unknown)),
    }))
}
