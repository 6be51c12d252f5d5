//! Two ways come together: what is the same on both stays, what differs is unknown.

use std::rc::Rc;

use super::handle::{Handle, Process};
use super::identity::Identity;
use super::iterator::Lazy;
use super::machine::Machine;
use super::state::State;
use super::value::{Content, Items, Length, Sequence, Unknown, Value};
use crate::program::Type;

impl Machine<'_> {
    /// What is known where either of two values is meant. `which`: what decides between them.
    pub(super) fn merged(&self, one: &Value, other: &Value, which: Unknown) -> Value {
        let all = |ones: &[Value], others: &[Value]| -> Rc<Vec<Value>> {
            let pairs = ones.iter().zip(others);
            Rc::new(pairs.map(|(one, other)| self.merged(one, other, which)).collect())
        };
        match (one, other) {
            (Value::Moved, value) | (value, Value::Moved) => {
                if self.is_owned(value) {
                    Value::Moved
                } else {
                    value.clone()
                }
            }
            (Value::Scalar(scalar, mine), Value::Scalar(other, theirs)) if scalar == other => {
                Value::Scalar(*scalar, self.merged_content(*mine, *theirs, which))
            }
            (Value::Tuple(ones), Value::Tuple(others)) if ones.len() == others.len() => {
                if Rc::ptr_eq(ones, others) {
                    return one.clone();
                }
                Value::Tuple(all(ones, others))
            }
            (
                Value::Defined { definition, variant, fields },
                Value::Defined { definition: same, variant: alike, fields: others },
            ) if definition == same && variant == alike => {
                if Rc::ptr_eq(fields, others) {
                    return one.clone();
                }
                let fields = all(fields, others);
                Value::Defined { definition: *definition, variant: *variant, fields }
            }
            (Value::Variant(name, ones), Value::Variant(same, others))
                if name == same && ones.len() == others.len() =>
            {
                Value::Variant(name, all(ones, others))
            }
            (Value::Sequence(ones), Value::Sequence(others)) => {
                Value::Sequence(self.merged_sequences(ones, others, which))
            }
            (Value::Handle(Handle::Process(mine)), Value::Handle(Handle::Process(theirs)))
                if mine.communicator == theirs.communicator && mine != theirs =>
            {
                let rank = match (mine.rank, theirs.rank) {
                    (Some(mine), Some(theirs)) => Some(self.merged_content(mine, theirs, which)),
                    // One is any process: which one is meant is not known, but it is one.
                    _ => Some(Content::Unknown(self.either(one, other, which))),
                };
                let communicator = mine.communicator.clone();
                Value::Handle(Handle::Process(Process { communicator, rank, source: None }))
            }
            _ if self.is_same(one, other) => one.clone(),
            (Value::Reference(_) | Value::Variant("None", _), _)
            | (_, Value::Reference(_) | Value::Variant("None", _))
                if self.is_c() =>
            {
                self.either_pointer(one, other, which)
            }
            _ => {
                let ty = common_type(self.type_of(one), self.type_of(other));
                let either = self.unknown(self.either(one, other, which), &ty);
                if self.is_c() && matches!(either, Value::Unknown(..)) {
                    self.keep_pointees(&either, [one, other]);
                }
                either
            }
        }
    }

    /// What is known where either of two values is meant, and nothing is known that decides between
    /// them. What has been moved away is no value.
    pub(super) fn united(&self, one: &Value, other: &Value) -> Value {
        match (one, other) {
            (Value::Moved, value) | (value, Value::Moved) => value.clone(),
            _ => {
                let mut which = Identity::of("united");
                which.unknown(self.identity(one));
                which.unknown(self.identity(other));
                self.merged(one, other, which.finish())
            }
        }
    }

    /// A value that any element of a sequence may have; `None` if it has none.
    pub(super) fn any_of(&self, sequence: &Sequence) -> Option<Value> {
        match &sequence.items {
            Items::Alike(each, _) => Some((**each).clone()),
            Items::Each(items) => items.iter().cloned().reduce(|any, it| self.united(&any, &it)),
        }
    }

    fn either(&self, one: &Value, other: &Value, which: Unknown) -> Unknown {
        let mut identity = Identity::of("either");
        identity.unknown(which);
        identity.unknown(self.identity(one));
        identity.unknown(self.identity(other));
        identity.finish()
    }

    fn merged_content(&self, mine: Content, theirs: Content, which: Unknown) -> Content {
        if mine == theirs {
            return mine;
        }
        let scalar = crate::program::Scalar::I64;
        let [one, other] = [mine, theirs].map(|content| Value::Scalar(scalar, content));
        Content::Unknown(self.either(&one, &other, which))
    }

    fn merged_sequences(&self, ones: &Sequence, others: &Sequence, which: Unknown) -> Sequence {
        let element = common_type(ones.element.clone(), others.element.clone());
        if let (Items::Each(mine), Items::Each(theirs)) = (&ones.items, &others.items)
            && mine.len() == theirs.len()
        {
            if Rc::ptr_eq(mine, theirs) {
                return ones.clone();
            }
            let pairs = mine.iter().zip(&**theirs);
            let items = pairs.map(|(one, other)| self.merged(one, other, which)).collect();
            return Sequence { element, items: Items::Each(Rc::new(items)) };
        }
        let (mine, theirs) = (ones.length(), others.length());
        let length = if mine == theirs {
            mine
        } else {
            let mut identity = Identity::of("length");
            identity.unknown(which);
            for length in [mine, theirs] {
                match length {
                    Length::Known(length) => identity.number(length),
                    Length::Unknown(length) => identity.unknown(length),
                }
            }
            Length::Unknown(identity.finish())
        };
        let item = match (ones.is_empty(), others.is_empty()) {
            (true, _) => self.somewhere(others, which),
            (_, true) => self.somewhere(ones, which),
            _ => {
                let one = self.somewhere(ones, which);
                self.merged(&one, &self.somewhere(others, which), which)
            }
        };
        Sequence { element, items: Items::Alike(Rc::new(item), length) }
    }

    /// Whether two values are known to be the same in all that is kept of them.
    pub(super) fn is_same(&self, one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Scalar(scalar, mine), Value::Scalar(same, theirs)) => {
                scalar == same && mine == theirs
            }
            (Value::Unknown(mine, _), Value::Unknown(theirs, _)) => mine == theirs,
            (Value::Tuple(mine), Value::Tuple(theirs)) => self.are_same(mine, theirs),
            (Value::Variant(name, mine), Value::Variant(same, theirs)) => {
                name == same && self.are_same(mine, theirs)
            }
            (
                Value::Defined { definition, variant, fields },
                Value::Defined { definition: same, variant: alike, fields: others },
            ) => definition == same && variant == alike && self.are_same(fields, others),
            (Value::Sequence(mine), Value::Sequence(theirs)) => {
                match (&mine.items, &theirs.items) {
                    (Items::Each(mine), Items::Each(theirs)) => self.are_same(mine, theirs),
                    (Items::Alike(mine, length), Items::Alike(theirs, same)) => {
                        length == same && self.is_same(mine, theirs)
                    }
                    _ => false,
                }
            }
            (Value::Reference(mine), Value::Reference(theirs)) => mine == theirs,
            (Value::Moved, Value::Moved) => true,
            (Value::Text(Some(mine)), Value::Text(Some(theirs))) => mine == theirs,
            (Value::Closure(mine, frame), Value::Closure(theirs, same)) => {
                std::sync::Arc::ptr_eq(mine, theirs) && frame == same
            }
            (Value::Function(mine, generics), Value::Function(theirs, others)) => {
                mine == theirs && generics == others
            }
            (Value::External(mine, generics), Value::External(theirs, others)) => {
                mine == theirs && generics == others
            }
            (Value::Map(mine), Value::Map(theirs)) if Rc::ptr_eq(mine, theirs) => true,
            (Value::Iterator(mine), Value::Iterator(theirs)) => {
                Rc::ptr_eq(mine, theirs) || self.are_same_iterators(mine, theirs)
            }
            (Value::Handle(Handle::Requests(mine)), Value::Handle(Handle::Requests(theirs))) => {
                mine.is_same(theirs)
            }
            // These are seldom compared, and small.
            (
                Value::Handle(Handle::View { .. } | Handle::Partition { .. }),
                Value::Handle(Handle::View { .. } | Handle::Partition { .. }),
            )
            | (Value::Map(_), Value::Map(_)) => format!("{one:?}") == format!("{other:?}"),
            (Value::Handle(mine), Value::Handle(theirs)) => mine.is_same(theirs),
            _ => false,
        }
    }

    /// Whether two iterators have the same before them.
    fn are_same_iterators(&self, one: &Lazy, other: &Lazy) -> bool {
        match (one, other) {
            (Lazy::Range { next, end: None }, Lazy::Range { next: other, end: None })
            | (Lazy::Endless(next), Lazy::Endless(other)) => self.is_same(next, other),
            (
                Lazy::Range { next, end: Some(end) },
                Lazy::Range { next: other, end: Some(last) },
            ) => self.is_same(next, other) && self.is_same(end, last),
            // These are seldom compared.
            _ => format!("{one:?}") == format!("{other:?}"),
        }
    }

    fn are_same(&self, mine: &Rc<Vec<Value>>, theirs: &Rc<Vec<Value>>) -> bool {
        Rc::ptr_eq(mine, theirs)
            || mine.len() == theirs.len()
                && mine.iter().zip(&**theirs).all(|(one, other)| self.is_same(one, other))
    }

    /// Joins another way's state into the current one.
    pub(super) fn join_state(&mut self, other: &State, which: Unknown) {
        for object in self.state.memory.differing(&other.memory) {
            let (Some(mine), Some(theirs)) =
                (self.state.memory.get(object), other.memory.get(object))
            else {
                continue;
            };
            if self.is_same(mine, theirs) {
                continue;
            }
            let merged = self.merged(mine, theirs, which);
            let is_bad = || self.owned(mine) != self.owned(theirs);
            self.joined_badly |= self.is_declared(object, other) && is_bad();
            if let Some(value) = self.state.memory.get_mut(object) {
                *value = merged;
            }
        }
        for index in self.state.memory.len()..other.memory.len() {
            let object = super::value::ObjectId(index as u32);
            let value = other.memory.get(object).cloned().unwrap_or_default();
            self.state.memory.add(value);
        }
        let state = &mut self.state;
        state.kept = state.kept.max(other.kept);
        state.next_slot = state.next_slot.max(other.next_slot);
        state.facts.keep_common(&other.facts);
        state.mpi.join(&other.mpi);
        let threads = |state: &State| state.threads.iter().map(|it| it.0).collect::<Vec<_>>();
        self.joined_badly |= threads(state) != threads(other);
        if state.uses != other.uses {
            self.joined_badly |= !state.uses.are_of_the_same(&other.uses);
            Rc::make_mut(&mut state.uses).join(&other.uses);
        }
        if !Rc::ptr_eq(&state.work, &other.work) {
            Rc::make_mut(&mut state.work).join(&other.work);
        }
        if state.globals != other.globals {
            Rc::make_mut(&mut state.globals)
                .retain(|global, object| other.globals.get(global) == Some(object));
        }
        if state.constants != other.constants {
            Rc::make_mut(&mut state.constants)
                .retain(|address, object| other.constants.get(address) == Some(object));
        }
        if state.counters != other.counters {
            let counters = Rc::make_mut(&mut state.counters);
            for (key, count) in &*other.counters {
                counters.entry(*key).or_insert(Some(0));
                if counters[key] != *count {
                    counters.insert(*key, None);
                }
            }
            for (key, count) in counters.iter_mut() {
                if !other.counters.contains_key(key) && *count != Some(0) {
                    *count = None;
                }
            }
        }
    }

    /// Whether an object's life is still going on: what is left of scopes that are closed is nobody's.
    fn is_declared(&self, object: super::value::ObjectId, other: &State) -> bool {
        self.state.declared.contains(&object) || other.declared.contains(&object)
    }

    /// What has a life that ends in a value, as text to compare.
    fn owned(&self, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        super::drops::owned_handles(value, &mut |handle| found.push(format!("{handle:?}")));
        found
    }
}

fn common_type(one: Type, other: Type) -> Type {
    if one == other { one } else { Type::Unknown }
}

impl Sequence {
    /// How long it is.
    pub(super) fn length(&self) -> Length {
        match &self.items {
            Items::Each(items) => Length::Known(items.len() as u64),
            Items::Alike(_, length) => *length,
        }
    }

    /// Whether it is known to be empty.
    pub(super) fn is_empty(&self) -> bool {
        self.length() == Length::Known(0)
    }
}
