//! The methods of iterators that ask for all elements, or for some, and make one value of them.

use std::cmp::Ordering;

use super::gather::{Gathered, gather};
use super::subject::{BOOL, Subject, USIZE, argument, behind, count, option_of, run, size};
use crate::evaluate::comparison::order;
use crate::evaluate::iterator::{self, Asking, Count, Lazy, Next, Turns};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Content, Value};
use crate::program::{Binary, Scalar, Type};

/// Calls a method that asks an iterator for its elements. `None`: not one of these.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "next" | "next_back" | "nth" | "nth_back" | "next_if" => {
            return Some(step(machine, subject, call));
        }
        "peek" | "peek_mut" => return super::adapters::peek(machine, subject, call),
        "len" | "size_hint" => return counted(machine, subject, call),
        _ if !is_consumer(call.name) => return None,
        _ => {}
    }
    // What searches can go on afterwards: the iterator stays where it is.
    let stays = matches!(
        call.name,
        "any" | "all" | "find" | "find_map" | "position" | "try_for_each" | "try_fold"
    );
    let iterated = if stays { subject.value.clone() } else { subject.take(machine) };
    let mut lazy = match iterator::of(machine, &iterated, call.place) {
        Ok(lazy) => lazy,
        Err(flow) => return Some(Err(flow)),
    };
    let outcome = consumed(machine, &mut lazy, call);
    if stays && matches!(subject.value, Value::Iterator(_)) {
        subject.write(machine, super::adapters::value_of(lazy), call.place);
    }
    Some(outcome)
}

fn is_consumer(name: &str) -> bool {
    matches!(
        name,
        "collect"
            | "sum"
            | "product"
            | "count"
            | "last"
            | "fold"
            | "reduce"
            | "for_each"
            | "try_for_each"
            | "try_fold"
            | "any"
            | "all"
            | "find"
            | "find_map"
            | "position"
            | "rposition"
            | "min"
            | "max"
            | "min_by"
            | "max_by"
            | "min_by_key"
            | "max_by_key"
            | "partition"
            | "unzip"
            | "eq"
            | "ne"
            | "collect_vec"
            | "is_sorted"
            | "rfind"
            | "rfold"
            | "collect_into_vec"
            | "for_each_with"
            | "try_collect"
    )
}

fn consumed(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    match call.name {
        "collect" | "collect_vec" | "try_collect" => super::collect::collect(machine, lazy, call),
        "sum" | "product" => total(machine, lazy, call),
        "count" => how_many(machine, lazy, call),
        "fold" | "reduce" | "try_fold" => folded(machine, lazy, call),
        "for_each" | "try_for_each" => for_each(machine, lazy, call),
        "any" | "all" | "find" | "find_map" | "position" => search(machine, lazy, call),
        "min" | "max" | "min_by" | "max_by" | "min_by_key" | "max_by_key" => {
            extreme(machine, lazy, call)
        }
        "last" => last(machine, lazy, call),
        "partition" | "unzip" => super::collect::two(machine, lazy, call),
        _ => {
            let gathered = gather(machine, lazy, call.place)?;
            let whole = Value::Sequence(gathered.sequence(machine, Type::Unknown));
            let other = behind(machine, call, 0);
            Ok(machine.computed(call.name, &[&whole, &other], call.result()))
        }
    }
}

/// How to ask where it is not known whether there is another element.
fn asking(communicates: bool) -> Asking {
    if communicates { Asking::Deciding } else { Asking::Open }
}

/// An answer of an iterator as an `Option`.
fn option(machine: &mut Machine<'_>, answer: Next) -> Value {
    match answer {
        Next::Element(element) => Value::some(element),
        Next::End => Value::none(),
        Next::Perhaps(condition, element) => {
            let condition = Value::Scalar(Scalar::Bool, Content::Unknown(condition));
            let ty = option_of(machine.type_of(&element));
            machine.computed("next", &[&condition, &element], ty)
        }
    }
}

/// `next`, `nth`: the iterator stays, one element further on.
fn step(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Outcome {
    let mut lazy = match &subject.value {
        Value::Iterator(lazy) => (**lazy).clone(),
        other => iterator::of(machine, &other.clone(), call.place)?,
    };
    let deciding = asking(iterator::communicates(machine, &lazy));
    let passed = match call.name {
        "nth" | "nth_back" => match count(machine, call, 0) {
            Some(passed) => passed,
            None => {
                iterator::generalize(machine, &mut lazy);
                0
            }
        },
        _ => 0,
    };
    let back = call.name.ends_with("back");
    let mut answer = Next::End;
    for _ in 0..=passed {
        answer = match back {
            true => iterator::next_back(machine, &mut lazy, deciding, call.place)?,
            false => iterator::next(machine, &mut lazy, deciding, call.place)?,
        };
        match answer {
            Next::Element(_) => {}
            Next::End => break,
            Next::Perhaps(condition, _) => {
                answer = perhaps(machine, &mut lazy, condition, call)?;
                break;
            }
        }
    }
    if matches!(subject.value, Value::Iterator(_)) {
        subject.write(machine, super::adapters::value_of(lazy), call.place);
    }
    if call.name == "nth"
        && let Next::Perhaps(condition, element) = answer
    {
        // The same number of the same iterator is the same element.
        let number = size(passed);
        let condition = Value::Scalar(Scalar::Bool, Content::Unknown(condition));
        let ty = option_of(machine.type_of(&element));
        return Ok(machine.computed("nth", &[&condition, &element, &number], ty));
    }
    Ok(option(machine, answer))
}

/// An element that is perhaps there: one that stands for any.
fn perhaps(
    machine: &mut Machine<'_>,
    lazy: &mut Lazy,
    condition: crate::evaluate::value::Unknown,
    call: &Call<'_>,
) -> Outcome<Next> {
    if iterator::communicates(machine, lazy) {
        return Err(machine.lost(call.place, "whether there is another element is not known"));
    }
    if let Lazy::Unknown { each, taken, .. } = lazy {
        let number = size(*taken);
        *taken += 1;
        let each = each.clone();
        return Ok(Next::Perhaps(condition, iterator::element_of(machine, &each, &number)));
    }
    iterator::generalize(machine, lazy);
    let each = match iterator::next(machine, lazy, Asking::Granted, call.place)? {
        Next::Element(each) | Next::Perhaps(_, each) => each,
        Next::End => return Ok(Next::End),
    };
    let count = machine.fresh(USIZE);
    *lazy = Lazy::Unknown { count: iterator::unknown_of(&count), each: each.clone(), taken: 0 };
    Ok(Next::Perhaps(condition, each))
}

/// `len` of an iterator.
fn counted(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Option<Outcome> {
    let Value::Iterator(lazy) = &subject.value else { return None };
    let length = match iterator::length(machine, lazy) {
        Count::Known(length) => size(length),
        Count::Unknown(length) => Value::Scalar(Scalar::Usize, Content::Unknown(length)),
        Count::Open | Count::Endless => machine.fresh(USIZE),
    };
    Some(Ok(match call.name {
        "len" => length,
        _ => machine.fresh(Type::Tuple(vec![USIZE, option_of(USIZE)])),
    }))
}

/// `count`
fn how_many(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let counted = iterator::length(machine, lazy);
    let deciding = iterator::communicates(machine, lazy);
    if let (Count::Unknown(number), false) = (counted, deciding) {
        return Ok(Value::Scalar(Scalar::Usize, Content::Unknown(number)));
    }
    Ok(match iterator::each(machine, lazy, deciding, call.place, &mut |_, _| Ok(true))? {
        Turns::Known(number) => size(number),
        Turns::Unknown(number) => {
            let number = Value::Scalar(Scalar::Usize, Content::Unknown(number));
            machine.computed("count", &[&number], USIZE)
        }
    })
}

/// `sum`, `product`
fn total(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let gathered = gather(machine, lazy, call.place)?;
    let items = match gathered {
        Gathered::Each(items) => items,
        Gathered::Alike(any, length) => {
            let any = machine.behind(&any, call.place);
            let ty = match machine.type_of(&any) {
                Type::Unknown => call.result(),
                known => known,
            };
            let length = length.value();
            return Ok(machine.computed(call.name, &[&any, &length], ty));
        }
    };
    let operator = if call.name == "sum" { Binary::Add } else { Binary::Multiply };
    let mut total: Option<Value> = None;
    for item in items {
        let item = read(machine, &item, call);
        total = Some(match total {
            None => item,
            Some(total) => {
                let ty = machine.type_of(&total);
                machine.binary(operator, &total, &item, &ty, call.place)?
            }
        });
    }
    Ok(match (total, &*call.ty) {
        (Some(total), _) => total,
        (None, Type::Scalar(scalar)) if call.name == "sum" => super::defaults::zero(*scalar),
        (None, Type::Scalar(scalar)) if scalar.is_integer() => Value::integer(1, *scalar),
        (None, ty) => machine.fresh(ty.clone()),
    })
}

/// An element, read where it stands.
fn read(machine: &mut Machine<'_>, element: &Value, call: &Call<'_>) -> Value {
    match element {
        Value::Reference(path) => {
            let value = machine.read(path, call.place);
            machine.behind(&value, call.place)
        }
        other => other.clone(),
    }
}

/// `fold`, `reduce`, `try_fold`: the state is kept in memory, so that a loop of which nobody knows
/// how often it turns leaves nothing known of it.
fn folded(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let place = call.place;
    let (initial, closure) = match call.name {
        "reduce" => match iterator::next(
            machine,
            lazy,
            asking(iterator::communicates(machine, lazy)),
            place,
        )? {
            Next::Element(first) => (first, argument(call, 0)),
            Next::End => return Ok(Value::none()),
            Next::Perhaps(condition, _) => {
                let gathered = gather(machine, lazy, place)?;
                let whole = Value::Sequence(gathered.sequence(machine, Type::Unknown));
                let condition = Value::Scalar(Scalar::Bool, Content::Unknown(condition));
                return Ok(machine.computed("reduce", &[&condition, &whole], call.result()));
            }
        },
        _ => (argument(call, 0), argument(call, 1)),
    };
    let state = machine.allocate(initial);
    let deciding = iterator::communicates(machine, lazy) || machine.communicates(&closure);
    let tries = call.name == "try_fold";
    let mut failed = None;
    iterator::each(machine, lazy, deciding, place, &mut |machine, element| {
        let before = machine.take(&state, place);
        let mut after = run(machine, &closure, vec![before, element], place)?;
        if tries {
            match after {
                Value::Variant("Ok" | "Some", held) => {
                    after = held.first().cloned().unwrap_or(Value::Moved);
                }
                Value::Variant("Err" | "None", _) => {
                    failed = Some(after);
                    return Ok(false);
                }
                unknown => {
                    let ty = super::subject::type_argument(&machine.type_of(&unknown), 0);
                    after = super::perhaps::inside(machine, &unknown, ty);
                }
            }
        }
        machine.write(&state, after, place);
        Ok(true)
    })?;
    let result = machine.take(&state, place);
    Ok(match (call.name, failed) {
        (_, Some(failed)) => failed,
        ("reduce", _) => Value::some(result),
        ("try_fold", _) => good(call, result),
        _ => result,
    })
}

/// What succeeded, as the type says: `Ok(value)` or `Some(value)`.
fn good(call: &Call<'_>, value: Value) -> Value {
    match &*call.ty {
        Type::External(name, _) if name == "Option" => Value::some(value),
        _ => Value::ok(value),
    }
}

/// `for_each`, `try_for_each`
fn for_each(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let closure = argument(call, 0);
    let deciding = iterator::communicates(machine, lazy) || machine.communicates(&closure);
    let tries = call.name == "try_for_each";
    let mut failed = None;
    iterator::each(machine, lazy, deciding, call.place, &mut |machine, element| {
        let answer = run(machine, &closure, vec![element], call.place)?;
        match answer {
            Value::Variant("Err" | "None", _) if tries => {
                failed = Some(answer);
                Ok(false)
            }
            _ => Ok(true),
        }
    })?;
    Ok(match failed {
        Some(failed) => failed,
        None if tries => good(call, Value::unit()),
        None => Value::unit(),
    })
}

/// `any`, `all`, `find`, `find_map`, `position`: the first element that decides.
fn search(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let closure = argument(call, 0);
    let place = call.place;
    let deciding = iterator::communicates(machine, lazy) || machine.communicates(&closure);
    let mut found: Option<(u64, Value)> = None;
    let mut doubts: Vec<Value> = Vec::new();
    let mut number = 0;
    let turns = iterator::each(machine, lazy, deciding, place, &mut |machine, element| {
        let shown = match (call.name, &element) {
            ("find", Value::Scalar(..) | Value::Reference(_)) => element.clone(),
            ("find", other) => Value::Reference(machine.allocate(other.clone())),
            _ => element.clone(),
        };
        let verdict = run(machine, &closure, vec![shown], place)?;
        number += 1;
        let decides = match (call.name, &verdict) {
            ("find_map", Value::Variant("Some", _)) => Some(true),
            ("find_map", Value::Variant("None", _)) => Some(false),
            ("find_map", _) => None,
            ("all", verdict) => verdict.as_bool().map(|holds| !holds),
            (_, verdict) => verdict.as_bool(),
        };
        match decides {
            Some(true) => {
                let value = if call.name == "find_map" { verdict } else { element };
                found = Some((number - 1, value));
                Ok(false)
            }
            Some(false) => Ok(true),
            None => {
                doubts.push(verdict);
                doubts.push(element);
                Ok(true)
            }
        }
    })?;
    let complete = matches!(turns, Turns::Known(turns) if found.is_some() || turns == number);
    match (complete && doubts.is_empty(), found, call.name) {
        (_, Some(_), "any") if complete => Ok(Value::bool(true)),
        (_, Some(_), "all") if complete => Ok(Value::bool(false)),
        (true, Some((number, _)), "position") => Ok(Value::some(size(number))),
        (true, Some((_, value)), "find_map") => Ok(value),
        (true, Some((_, value)), _) => Ok(Value::some(value)),
        (true, None, "any" | "all") => Ok(Value::bool(call.name == "all")),
        (true, None, _) => Ok(Value::none()),
        (false, found, _) => {
            doubts.extend(found.map(|(_, value)| value));
            if let Turns::Unknown(turns) = turns {
                doubts.push(Value::Scalar(Scalar::Usize, Content::Unknown(turns)));
            }
            let ty = match call.name {
                "any" | "all" => BOOL,
                "position" => option_of(USIZE),
                _ => call.result(),
            };
            Ok(machine.computed(call.name, &doubts.iter().collect::<Vec<_>>(), ty))
        }
    }
}

/// `min`, `max` and kin.
fn extreme(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let place = call.place;
    let items = match gather(machine, lazy, place)? {
        Gathered::Each(items) => items,
        Gathered::Alike(any, length) => {
            let ty = option_of(machine.type_of(&any));
            let any = machine.behind(&any, place);
            let length = length.value();
            return Ok(machine.computed(call.name, &[&any, &length], ty));
        }
    };
    let closure = argument(call, 0);
    let greatest = call.name.starts_with("max");
    let mut best: Option<(Value, Value)> = None;
    for item in items {
        let key = match call.name {
            "min_by_key" | "max_by_key" => {
                let shown = Value::Reference(machine.allocate(item.clone()));
                run(machine, &closure, vec![shown], place)?
            }
            "min_by" | "max_by" => item.clone(),
            _ => read(machine, &item, call),
        };
        let Some((best_item, best_key)) = &best else {
            best = Some((item, key));
            continue;
        };
        let order = match call.name {
            "min_by" | "max_by" => {
                let one = Value::Reference(machine.allocate(best_key.clone()));
                let other = Value::Reference(machine.allocate(key.clone()));
                match run(machine, &closure, vec![one, other], place)? {
                    Value::Variant("Less", _) => Some(Ordering::Less),
                    Value::Variant("Equal", _) => Some(Ordering::Equal),
                    Value::Variant("Greater", _) => Some(Ordering::Greater),
                    _ => None,
                }
            }
            _ => order(machine, best_key, &key, place),
        };
        // The last one of equal greatest elements, the first one of equal least ones.
        match (order, greatest) {
            (Some(Ordering::Less | Ordering::Equal), true) | (Some(Ordering::Greater), false) => {
                best = Some((item, key));
            }
            (Some(_), _) => {}
            (None, _) => {
                let one = machine.behind(best_item, place);
                let other = machine.behind(&item, place);
                let ty = machine.type_of(&one);
                let (best_key, ty_of_key) = (best_key.clone(), machine.type_of(&key));
                let either = machine.computed(call.name, &[&one, &other], ty);
                let key = machine.computed(call.name, &[&best_key, &key], ty_of_key);
                best = Some((either, key));
            }
        }
    }
    Ok(match best {
        Some((best, _)) => Value::some(best),
        None => Value::none(),
    })
}

/// `last`
fn last(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    Ok(match gather(machine, lazy, call.place)? {
        Gathered::Each(items) => match items.into_iter().last() {
            Some(last) => Value::some(last),
            None => Value::none(),
        },
        Gathered::Alike(any, length) => {
            let ty = option_of(machine.type_of(&any));
            let length = length.value();
            machine.computed("last", &[&any, &length], ty)
        }
    })
}
