//! What iterators are collected into.

use std::rc::Rc;

use super::gather::{Gathered, gather};
use super::subject::{argument, pair, run, type_argument};
use crate::evaluate::iterator::{Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Sequence, Value};
use crate::program::Type;

/// `collect`, into what the turbofish or inference says.
pub(super) fn collect(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let ty = match call.generics.first() {
        Some(ty) if call.name == "collect" && !matches!(ty, Type::Unknown) => merged(ty, &call.ty),
        _ => call.result(),
    };
    let gathered = gather(machine, lazy, call.place)?;
    Ok(into(machine, gathered, &ty, call))
}

/// A type with holes filled by another one.
fn merged(written: &Type, inferred: &Type) -> Type {
    match (written, inferred) {
        (Type::External(name, one), Type::External(as_well, other))
            if name == as_well && one.len() == other.len() =>
        {
            let parts = one.iter().zip(other).map(|(one, other)| merged(one, other)).collect();
            Type::External(name.clone(), parts)
        }
        (Type::Unknown | Type::Variable(_), inferred) => inferred.clone(),
        (written, _) => written.clone(),
    }
}

/// The elements as a value of a type.
fn into(machine: &mut Machine<'_>, gathered: Gathered, ty: &Type, call: &Call<'_>) -> Value {
    match ty {
        Type::External(name, _) => match name.as_str() {
            "Vec" | "VecDeque" | "LinkedList" | "SmallVec" => {
                Value::Sequence(gathered.sequence(machine, type_argument(ty, 0)))
            }
            "BinaryHeap" => super::heaps::of(gathered.sequence(machine, type_argument(ty, 0))),
            "Box" | "Rc" | "Arc" if matches!(type_argument(ty, 0), Type::Slice(_)) => {
                let Type::Slice(element) = type_argument(ty, 0) else { return Value::Moved };
                Value::Sequence(gathered.sequence(machine, *element))
            }
            "Result" | "Option" => wrapped(machine, gathered, ty, call),
            "String" => Value::Text(None),
            name => match super::defaults::empty(name, ty) {
                Some(Value::Map(map)) => super::maps::filled(machine, &map, gathered, call),
                _ => machine.fresh(ty.clone()),
            },
        },
        Type::Text => text(machine, gathered),
        Type::Tuple(parts) if parts.is_empty() => Value::unit(),
        // By far the most are collected into a `Vec`; another kind would have been written down.
        Type::Unknown => Value::Sequence(gathered.sequence(machine, Type::Unknown)),
        other => machine.fresh(other.clone()),
    }
}

/// Characters and texts as one text.
fn text(machine: &mut Machine<'_>, gathered: Gathered) -> Value {
    match gathered {
        Gathered::Each(items) => {
            let mut whole = String::new();
            for item in &items {
                match machine.behind(item, crate::program::Place::default()) {
                    Value::Text(Some(text)) => whole.push_str(&text),
                    Value::Scalar(
                        _,
                        crate::evaluate::value::Content::Known(
                            crate::evaluate::value::Constant::Char(letter),
                        ),
                    ) => whole.push(letter),
                    _ => {
                        let inputs: Vec<&Value> = items.iter().collect();
                        return machine.computed("collect", &inputs, Type::Text);
                    }
                }
            }
            Value::Text(Some(whole.into()))
        }
        Gathered::Alike(any, length) => {
            let length = length.value();
            machine.computed("collect", &[&any, &length], Type::Text)
        }
    }
}

/// `Result<Vec<T>, E>` and `Option<Vec<T>>`: the first failure is the result, where one is known.
fn wrapped(machine: &mut Machine<'_>, gathered: Gathered, ty: &Type, call: &Call<'_>) -> Value {
    let inner = type_argument(ty, 0);
    let good = |value: Value| match ty {
        Type::External(name, _) if name == "Option" => Value::some(value),
        _ => Value::ok(value),
    };
    let unwrapped = |machine: &mut Machine<'_>, item: &Value| match item {
        Value::Variant("Ok" | "Some", held) => held.first().cloned().unwrap_or(Value::Moved),
        unknown => {
            let held = type_argument(&machine.type_of(unknown), 0);
            super::perhaps::inside(machine, unknown, held)
        }
    };
    match gathered {
        Gathered::Each(items) => {
            let failed =
                items.iter().position(|item| !matches!(item, Value::Variant("Ok" | "Some", _)));
            if let Some(at) = failed
                && matches!(items[at], Value::Variant("Err" | "None", _))
            {
                return items[at].clone();
            }
            let items: Vec<Value> = items.iter().map(|item| unwrapped(machine, item)).collect();
            // Where it is not known whether one fails, none is taken to.
            good(into(machine, Gathered::Each(items), &inner, call))
        }
        Gathered::Alike(any, length) => {
            let any = unwrapped(machine, &any);
            good(into(machine, Gathered::Alike(any, length), &inner, call))
        }
    }
}

/// `partition`, `unzip`: two collections.
pub(super) fn two(machine: &mut Machine<'_>, lazy: &mut Lazy, call: &Call<'_>) -> Outcome {
    let types = match &*call.ty {
        Type::Tuple(parts) if parts.len() == 2 => (parts[0].clone(), parts[1].clone()),
        _ => (Type::Unknown, Type::Unknown),
    };
    if call.name == "partition" {
        return partition(machine, lazy, &types, call);
    }
    Ok(match gather(machine, lazy, call.place)? {
        Gathered::Each(items) => {
            let split = |item: &Value, index: usize| match item {
                Value::Tuple(parts) => parts.get(index).cloned().unwrap_or(Value::Moved),
                _ => Value::Moved,
            };
            let firsts = items.iter().map(|item| split(item, 0)).collect();
            let seconds = items.iter().map(|item| split(item, 1)).collect();
            let firsts = into(machine, Gathered::Each(firsts), &types.0, call);
            let seconds = into(machine, Gathered::Each(seconds), &types.1, call);
            pair(firsts, seconds)
        }
        Gathered::Alike(any, length) => {
            let (first, second) = match &any {
                Value::Tuple(parts) if parts.len() == 2 => (parts[0].clone(), parts[1].clone()),
                _ => (Value::Moved, Value::Moved),
            };
            let firsts = into(machine, Gathered::Alike(first, length), &types.0, call);
            let seconds = into(machine, Gathered::Alike(second, length), &types.1, call);
            pair(firsts, seconds)
        }
    })
}

/// `partition`: those that the closure wants, and the others.
fn partition(
    machine: &mut Machine<'_>,
    lazy: &mut Lazy,
    types: &(Type, Type),
    call: &Call<'_>,
) -> Outcome {
    let closure = argument(call, 0);
    let (mut wanted, mut others) = (Vec::new(), Vec::new());
    let gathered = gather(machine, lazy, call.place)?;
    if let Gathered::Each(items) = &gathered {
        let mut known = true;
        for item in items {
            let shown = Value::Reference(machine.allocate(item.clone()));
            let verdict = run(machine, &closure, vec![shown], call.place)?;
            match verdict.as_bool() {
                Some(true) => wanted.push(item.clone()),
                Some(false) => others.push(item.clone()),
                None => known = false,
            }
        }
        if known {
            let wanted = into(machine, Gathered::Each(wanted), &types.0, call);
            let others = into(machine, Gathered::Each(others), &types.1, call);
            return Ok(pair(wanted, others));
        }
    }
    let whole = gathered.sequence(machine, Type::Unknown);
    let any = machine.any_of(&whole).unwrap_or(Value::Moved);
    let length = |machine: &mut Machine<'_>| {
        Length::Unknown(unknown_of(&machine.fresh(super::subject::USIZE)))
    };
    let alike = |length| Sequence {
        element: whole.element.clone(),
        items: Items::Alike(Rc::new(any.clone()), length),
    };
    let wanted = Value::Sequence(alike(length(machine)));
    let others = Value::Sequence(alike(length(machine)));
    Ok(pair(wanted, others))
}
