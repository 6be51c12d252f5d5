//! Maps and sets of Rust's own library: which keys there are, and where their values are kept.
//!
//! What the methods of maps mean is in [`super::library`].

use std::rc::Rc;

use super::iterator::Lazy;
use super::machine::Machine;
use super::value::{Path, Unknown, Value};
use crate::program::{Place, Type};

/// A map or a set.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// Whether it iterates in the order of its keys; the order of a hash map is not known.
    pub sorted: bool,
    /// Whether it has keys only.
    pub is_set: bool,
    /// The type of the keys.
    pub key: Type,
    /// The type of the values; the unit for a set.
    pub value: Type,
    /// What is in it.
    pub entries: Entries,
}

/// What is in a map.
#[derive(Clone, Debug)]
pub(super) enum Entries {
    /// These keys, all of them known, each with the place of its value; sorted where the map is.
    Known(Rc<Vec<(Value, Path)>>),
    /// Not known: the identity of what is there.
    Unknown(Unknown),
}

/// What iterating over a map gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// Keys and values.
    Pairs,
    /// Keys.
    Keys,
    /// Values.
    Values,
}

impl Map {
    /// An empty one.
    pub(super) fn new(sorted: bool, is_set: bool, key: Type, value: Type) -> Map {
        Map { sorted, is_set, key, value, entries: Entries::Known(Rc::default()) }
    }

    /// Its type.
    pub(super) fn ty(&self) -> Type {
        let name = match (self.sorted, self.is_set) {
            (false, false) => "HashMap",
            (false, true) => "HashSet",
            (true, false) => "BTreeMap",
            (true, true) => "BTreeSet",
        };
        let mut arguments = vec![self.key.clone()];
        if !self.is_set {
            arguments.push(self.value.clone());
        }
        Type::External(name.to_owned(), arguments)
    }

    /// One of which nothing is known but what it is.
    pub(super) fn unknown(&self, what: Unknown) -> Map {
        Map { entries: Entries::Unknown(what), ..self.clone() }
    }

    /// The keys with the places of their values, where they are known.
    pub(super) fn entries(&self) -> Option<&[(Value, Path)]> {
        match &self.entries {
            Entries::Known(entries) => Some(entries),
            Entries::Unknown(_) => None,
        }
    }

    /// What iterating over it gives: keys alone if it is a set.
    pub(super) fn natural(&self) -> Gives {
        if self.is_set { Gives::Keys } else { Gives::Pairs }
    }

    /// The iterator over its keys, its values, or both. `by_reference`: values are references.
    /// A hash map may have any order, and so what goes wrong in one of them goes wrong in some run: it
    /// is the order in which the keys came.
    pub(super) fn iterate(
        &self,
        machine: &mut Machine<'_>,
        gives: Gives,
        by_reference: bool,
        place: Place,
    ) -> Lazy {
        let Entries::Known(entries) = &self.entries else {
            return self.iterate_unknown(machine, gives);
        };
        let mut items = Vec::with_capacity(entries.len());
        for (key, path) in entries.iter() {
            let value = match by_reference {
                true => Value::Reference(path.clone()),
                false => machine.take(path, place),
            };
            items.push(element(gives, key.clone(), value));
        }
        let count = items.len();
        Lazy::Items(Rc::new(items), 0, count)
    }

    fn iterate_unknown(&self, machine: &mut Machine<'_>, gives: Gives) -> Lazy {
        let Entries::Unknown(count) = self.entries else { return Lazy::Endless(Value::Moved) };
        let whole = Value::Unknown(count, Type::Unknown);
        let key = machine.computed("key of", &[&whole], self.key.clone());
        let value = machine.computed("value of", &[&whole], self.value.clone());
        Lazy::Unknown { count, each: element(gives, key, value), taken: 0 }
    }
}

/// What iterating gives of one entry.
fn element(gives: Gives, key: Value, value: Value) -> Value {
    match gives {
        Gives::Pairs => Value::Tuple(Rc::new(vec![key, value])),
        Gives::Keys => key,
        Gives::Values => value,
    }
}
