//! Maps and sets: `HashMap`, `BTreeMap`, `HashSet`, `BTreeSet`.
//!
//! While all keys are known, so are the entries; each value is kept in memory of its own, so that
//! references to it last. A key that is not known makes the whole map unknown.

use std::cmp::Ordering;
use std::rc::Rc;

use super::gather::{Gathered, gather};
use super::subject::{
    BOOL, Subject, USIZE, argument, behind, computed_of_all, option_of, run, size,
};
use crate::evaluate::comparison::{equal, is_known, order};
use crate::evaluate::iterator::{self, Lazy};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::map::{Entries, Gives, Map};
use crate::evaluate::value::{Path, Value};
use crate::program::{Place, Type};

/// Calls a method on a map or a set. `None`: they have no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    map: &Map,
    call: &Call<'_>,
) -> Option<Outcome> {
    iterated(machine, subject, map, call)
        .map(Ok)
        .or_else(|| looked_up(machine, subject, map, call).map(Ok))
        .or_else(|| changed(machine, subject, map, call))
}

/// Methods that iterate.
fn iterated(
    machine: &mut Machine<'_>,
    subject: &Subject,
    map: &Map,
    call: &Call<'_>,
) -> Option<Value> {
    let (gives, by_reference) = match call.name {
        "iter" | "iter_mut" => (map.natural(), true),
        "keys" => (Gives::Keys, true),
        "values" | "values_mut" => (Gives::Values, true),
        "into_iter" => (map.natural(), false),
        "into_keys" => (Gives::Keys, false),
        "into_values" => (Gives::Values, false),
        "drain" => {
            let all = map.iterate(machine, map.natural(), false, call.place);
            let empty = Map { entries: Entries::Known(Rc::default()), ..map.clone() };
            subject.write(machine, Value::Map(Rc::new(empty)), call.place);
            return Some(super::adapters::value_of(all));
        }
        _ => return None,
    };
    let lazy = map.iterate(machine, gives, by_reference, call.place);
    Some(super::adapters::value_of(lazy))
}

/// Whether a key is in a map.
enum Found {
    /// Its entry's number.
    At(usize),
    /// Not in it, and where it would be.
    Missing(usize),
    /// Not known.
    Unknown,
}

/// Looks a key up.
fn find(machine: &mut Machine<'_>, map: &Map, key: &Value, place: Place) -> Found {
    let Some(entries) = map.entries() else { return Found::Unknown };
    if !is_known(key) {
        return Found::Unknown;
    }
    for (number, (other, _)) in entries.iter().enumerate() {
        if map.sorted {
            match order(machine, key, other, place) {
                Some(Ordering::Equal) => return Found::At(number),
                Some(Ordering::Less) => return Found::Missing(number),
                Some(Ordering::Greater) => {}
                None => return Found::Unknown,
            }
        } else {
            match equal(machine, key, other, place) {
                Some(true) => return Found::At(number),
                Some(false) => {}
                None => return Found::Unknown,
            }
        }
    }
    Found::Missing(entries.len())
}

/// Methods that look something up.
fn looked_up(
    machine: &mut Machine<'_>,
    subject: &Subject,
    map: &Map,
    call: &Call<'_>,
) -> Option<Value> {
    let whole = subject.value.clone();
    match call.name {
        "len" | "is_empty" => {
            let is_empty = call.name == "is_empty";
            return Some(match map.entries() {
                Some(entries) if is_empty => Value::bool(entries.is_empty()),
                Some(entries) => size(entries.len() as u64),
                None => {
                    let ty = if is_empty { BOOL } else { USIZE };
                    computed_of_all(machine, call, &whole, ty)
                }
            });
        }
        "first_key_value" | "last_key_value" | "first" | "last" if map.sorted => {
            return Some(end_of(map, call));
        }
        "range" if map.sorted => return range_of(machine, map, call),
        "get" | "get_mut" | "contains_key" | "contains" | "get_key_value" | "index" => {}
        _ => return None,
    }
    let key = behind(machine, call, 0);
    let found = find(machine, map, &key, call.place);
    Some(match (call.name, found) {
        ("contains_key" | "contains", Found::At(_)) => Value::bool(true),
        ("contains_key" | "contains", Found::Missing(_)) => Value::bool(false),
        ("contains_key" | "contains", Found::Unknown) => {
            computed_of_all(machine, call, &whole, BOOL)
        }
        ("index", Found::At(number)) => Value::Reference(map.entries()?[number].1.clone()),
        ("index", _) => computed_of_all(machine, call, &whole, map.value.clone()),
        (_, Found::Missing(_)) => Value::none(),
        (name, Found::At(number)) => {
            let (key, path) = &map.entries()?[number];
            let value = Value::Reference(path.clone());
            Value::some(match name {
                "get_key_value" => super::subject::pair(key.clone(), value),
                _ if map.is_set => key.clone(),
                _ => value,
            })
        }
        (_, Found::Unknown) => {
            let ty = option_of(Type::Reference(Box::new(map.value.clone())));
            computed_of_all(machine, call, &whole, ty)
        }
    })
}

/// `range(..)`: the entries with keys in a range, where all of that is known.
fn range_of(machine: &mut Machine<'_>, map: &Map, call: &Call<'_>) -> Option<Value> {
    let Value::Iterator(lazy) = behind(machine, call, 0) else { return None };
    let Lazy::Range { next, end } = &*lazy else { return None };
    let mut inside = Vec::new();
    for (key, path) in map.entries()? {
        // A range without a start begins at 0 here.
        key.as_integer().filter(|number| *number >= 0)?;
        let begins = order(machine, key, next, call.place)?;
        let ends = match end {
            Some(end) => order(machine, key, end, call.place)?,
            None => Ordering::Less,
        };
        if begins != Ordering::Less && ends == Ordering::Less {
            let key = Value::Reference(machine.allocate(key.clone()));
            inside.push(match map.is_set {
                true => key,
                false => super::subject::pair(key, Value::Reference(path.clone())),
            });
        }
    }
    let count = inside.len();
    Some(super::adapters::value_of(Lazy::Items(Rc::new(inside), 0, count)))
}

/// The first or the last entry of a sorted map.
fn end_of(map: &Map, call: &Call<'_>) -> Value {
    let entry = map.entries().and_then(|entries| match call.name.starts_with("first") {
        true => entries.first(),
        false => entries.last(),
    });
    match entry {
        Some((key, _)) if map.is_set => Value::some(key.clone()),
        Some((key, path)) => {
            Value::some(super::subject::pair(key.clone(), Value::Reference(path.clone())))
        }
        None => Value::none(),
    }
}

/// Methods that change a map.
fn changed(
    machine: &mut Machine<'_>,
    subject: &Subject,
    map: &Map,
    call: &Call<'_>,
) -> Option<Outcome> {
    let place = call.place;
    Some(Ok(match call.name {
        "insert" => {
            let value = if map.is_set { Value::unit() } else { argument(call, 1) };
            return Some(Ok(inserted(machine, subject, map, argument(call, 0), value, call)));
        }
        "remove" | "take" | "remove_entry" => removed(machine, subject, map, call),
        "clear" => {
            let empty = Map { entries: Entries::Known(Rc::default()), ..map.clone() };
            subject.write(machine, Value::Map(Rc::new(empty)), place);
            Value::unit()
        }
        "extend" => {
            let source = argument(call, 0);
            let gathered = iterator::of(machine, &source, place)
                .and_then(|mut lazy| gather(machine, &mut lazy, place));
            match gathered {
                Ok(gathered) => {
                    let whole = filled(machine, map, gathered, call);
                    subject.write(machine, whole, place);
                    Value::unit()
                }
                Err(flow) => return Some(Err(flow)),
            }
        }
        "entry" => {
            // The entry is the map's place with the key: what follows looks it up.
            let place_of_map = Value::Reference(subject.place(machine));
            Value::Variant("Entry", Rc::new(vec![place_of_map, argument(call, 0)]))
        }
        "reserve" | "shrink_to_fit" => Value::unit(),
        "retain" => {
            forget(machine, subject, map, place);
            Value::unit()
        }
        _ => return None,
    }))
}

/// Nothing is known of the map any more.
fn forget(machine: &mut Machine<'_>, subject: &Subject, map: &Map, place: Place) {
    let what = machine.fresh(USIZE);
    let unknown = map.unknown(iterator::unknown_of(&what));
    subject.write(machine, Value::Map(Rc::new(unknown)), place);
}

/// `insert`, with what it gives.
fn inserted(
    machine: &mut Machine<'_>,
    subject: &Subject,
    map: &Map,
    key: Value,
    value: Value,
    call: &Call<'_>,
) -> Value {
    let place = call.place;
    let looked_for = machine.behind(&key, place);
    let map = &typed(machine, map, &looked_for, &value);
    match find(machine, map, &looked_for, place) {
        Found::At(number) => {
            let path = map.entries().map(|entries| entries[number].1.clone());
            let Some(path) = path else { return Value::Moved };
            let before = machine.take(&path, place);
            machine.write(&path, value, place);
            if map.is_set { Value::bool(false) } else { Value::some(before) }
        }
        Found::Missing(number) => {
            add(machine, subject, map, number, looked_for, value, place);
            if map.is_set { Value::bool(true) } else { Value::none() }
        }
        Found::Unknown => {
            let whole = subject.value.clone();
            let ty = if map.is_set { BOOL } else { option_of(map.value.clone()) };
            let result = computed_of_all(machine, call, &whole, ty);
            forget(machine, subject, map, place);
            result
        }
    }
}

/// The map with the types of a key and a value, where they were not known.
fn typed(machine: &mut Machine<'_>, map: &Map, key: &Value, value: &Value) -> Map {
    let mut map = map.clone();
    if map.key == Type::Unknown {
        map.key = machine.type_of(key);
    }
    if map.value == Type::Unknown {
        map.value = machine.type_of(value);
    }
    map
}

/// Adds an entry at its place in the order.
fn add(
    machine: &mut Machine<'_>,
    subject: &Subject,
    map: &Map,
    number: usize,
    key: Value,
    value: Value,
    place: Place,
) -> Path {
    let path = machine.allocate(value);
    let mut entries = map.entries().map(<[(Value, Path)]>::to_vec).unwrap_or_default();
    entries.insert(number.min(entries.len()), (key, path.clone()));
    let entries = Entries::Known(Rc::new(entries));
    let map = Map { entries, ..map.clone() };
    subject.write(machine, Value::Map(Rc::new(map)), place);
    path
}

/// `remove`
fn removed(machine: &mut Machine<'_>, subject: &Subject, map: &Map, call: &Call<'_>) -> Value {
    let place = call.place;
    let key = behind(machine, call, 0);
    match find(machine, map, &key, place) {
        Found::At(number) => {
            let mut entries = map.entries().map(<[(Value, Path)]>::to_vec).unwrap_or_default();
            let (key, path) = entries.remove(number);
            let value = machine.take(&path, place);
            let map = Map { entries: Entries::Known(Rc::new(entries)), ..map.clone() };
            let is_set = map.is_set;
            subject.write(machine, Value::Map(Rc::new(map)), place);
            match (call.name, is_set) {
                ("remove", true) => Value::bool(true),
                ("take", true) => Value::some(key),
                ("remove_entry", _) => Value::some(super::subject::pair(key, value)),
                _ => Value::some(value),
            }
        }
        Found::Missing(_) if map.is_set && call.name == "remove" => Value::bool(false),
        Found::Missing(_) => Value::none(),
        Found::Unknown => {
            let whole = subject.value.clone();
            let ty = if map.is_set { BOOL } else { option_of(map.value.clone()) };
            let result = computed_of_all(machine, call, &whole, ty);
            forget(machine, subject, map, place);
            result
        }
    }
}

/// The methods of an entry. `None`: it has no such method.
pub(super) fn entry_method(
    machine: &mut Machine<'_>,
    entry: &[Value],
    call: &Call<'_>,
) -> Option<Outcome> {
    let [map, key] = entry else { return None };
    let place = call.place;
    let subject = Subject::of(machine, map, place);
    let key = machine.behind(key, place);
    let Value::Map(known) = &subject.value else { return None };
    let known = known.clone();
    let found = find(machine, &known, &key, place);
    let value = match (call.name, &found) {
        (
            "or_insert" | "or_insert_with" | "or_default" | "or_insert_with_key",
            Found::At(number),
        ) => {
            let path = known.entries()?[*number].1.clone();
            return Some(Ok(Value::Reference(path)));
        }
        ("and_modify", Found::At(number)) => {
            let path = known.entries()?[*number].1.clone();
            let reference = Value::Reference(path);
            let again = Value::Variant("Entry", Rc::new(entry.to_vec()));
            let done = run(machine, &argument(call, 0), vec![reference], place);
            return Some(done.map(|_| again));
        }
        ("and_modify", Found::Missing(_)) => {
            return Some(Ok(Value::Variant("Entry", Rc::new(entry.to_vec()))));
        }
        ("key", _) => return Some(Ok(key)),
        ("or_insert" | "insert_entry", _) => Ok(argument(call, 0)),
        ("or_insert_with", _) => run(machine, &argument(call, 0), Vec::new(), place),
        ("or_insert_with_key", _) => run(machine, &argument(call, 0), vec![key.clone()], place),
        ("or_default", _) => {
            let ty = match &known.value {
                Type::Unknown => call.ty.behind_references().clone(),
                known => known.clone(),
            };
            super::defaults::called(machine, &ty, place)
        }
        ("and_modify", Found::Unknown) => {
            forget(machine, &subject, &known, place);
            return Some(Ok(Value::Variant("Entry", Rc::new(entry.to_vec()))));
        }
        _ => return None,
    };
    let value = match value {
        Ok(value) => value,
        Err(flow) => return Some(Err(flow)),
    };
    Some(Ok(Value::Reference(match found {
        Found::Missing(number) => {
            let known = typed(machine, &known, &key, &value);
            add(machine, &subject, &known, number, key, value, place)
        }
        _ => {
            forget(machine, &subject, &known, place);
            let ty = machine.type_of(&value);
            let unknown = machine.fresh(ty);
            machine.allocate(unknown)
        }
    })))
}

/// A map with what an iterator gives added: keys of a set, pairs of a map.
pub(super) fn filled(
    machine: &mut Machine<'_>,
    map: &Map,
    gathered: Gathered,
    call: &Call<'_>,
) -> Value {
    let unknown = |machine: &mut Machine<'_>, any: &Value, length: Value| {
        let what = machine.computed("collect", &[any, &length], USIZE);
        Value::Map(Rc::new(map.unknown(iterator::unknown_of(&what))))
    };
    let items = match gathered {
        Gathered::Each(items) => items,
        Gathered::Alike(any, length) => {
            let length = length.value();
            return unknown(machine, &any, length);
        }
    };
    let path = machine.allocate(Value::Map(Rc::new(map.clone())));
    for item in &items {
        let (key, value) = match item {
            Value::Tuple(parts) if !map.is_set && parts.len() == 2 => {
                (parts[0].clone(), parts[1].clone())
            }
            key if map.is_set => (key.clone(), Value::unit()),
            other => return unknown(machine, other, size(items.len() as u64)),
        };
        let subject = Subject::of(machine, &Value::Reference(path.clone()), call.place);
        let Value::Map(known) = &subject.value else { break };
        inserted(machine, &subject, &known.clone(), key, value, call);
    }
    machine.take(&path, call.place)
}
