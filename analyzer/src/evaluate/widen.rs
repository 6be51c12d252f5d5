//! What is known at the head of a loop, whichever turn begins there.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::identity::Identity;
use super::machine::Machine;
use super::state::State;
use super::value::{Content, Items, Length, Sequence, Unknown, Value};

/// What was made unknown at a loop's head.
#[derive(Debug)]
pub(super) struct Widening {
    /// What the loop makes its values of, if it only computes.
    inputs: Option<Unknown>,
    /// Nothing in it comes from anywhere else.
    pub(super) is_pure: bool,
    /// The identities of what was made unknown, which may differ in each turn.
    made: FxHashSet<u64>,
}

impl Widening {
    /// Nothing yet.
    pub(super) fn new(inputs: Option<Unknown>) -> Self {
        Widening { inputs, is_pure: true, made: FxHashSet::default() }
    }
}

impl Machine<'_> {
    /// An unknown that stands for what a value is in any turn. It is the same for all who compute
    /// the same.
    fn made_unknown(&mut self, widening: &mut Widening) -> Unknown {
        let unknown = match widening.inputs {
            Some(inputs) if widening.is_pure => {
                let mut identity = Identity::of("any turn");
                identity.unknown(inputs);
                identity.number(widening.made.len() as u64);
                identity.finish()
            }
            _ => self.fresh_unknown(),
        };
        widening.made.insert(unknown.identity);
        unknown
    }

    /// Makes unknown what differs after a turn. Whether something new was made unknown.
    pub(super) fn widen(&mut self, after: &State, widening: &mut Widening) -> bool {
        let mut changed = false;
        for object in self.state.memory.differing(&after.memory) {
            let (Some(mine), Some(theirs)) =
                (self.state.memory.get(object).cloned(), after.memory.get(object))
            else {
                continue;
            };
            if self.is_same(&mine, theirs) || matches!(mine, Value::Moved) {
                continue;
            }
            let is_owned = self.is_owned(&mine) || self.is_owned(theirs);
            self.joined_badly |= is_owned && self.state.declared.contains(&object);
            if let Some(widened) = self.widened(&mine, theirs, widening) {
                changed = true;
                if let Some(value) = self.state.memory.get_mut(object) {
                    *value = widened;
                }
            }
        }
        self.joined_badly |= !self.state.uses.are_of_the_same(&after.uses);
        let state = &mut self.state;
        state.facts.keep_common(&after.facts);
        state.mpi.join(&after.mpi);
        state.kept = state.kept.max(after.kept);
        state.next_slot = state.next_slot.max(after.next_slot);
        if state.counters != after.counters {
            let counters = Rc::make_mut(&mut state.counters);
            for (key, count) in &*after.counters {
                if counters.get(key) != Some(count) {
                    changed |= counters.insert(*key, None) != Some(None);
                }
            }
        }
        changed
    }

    /// What stands for both values; `None` if the first one does already.
    fn widened(&mut self, mine: &Value, theirs: &Value, widening: &mut Widening) -> Option<Value> {
        match (mine, theirs) {
            (Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _), _)
                if widening.made.contains(&unknown.identity) =>
            {
                let has_more = self.is_c() && self.more_pointees(*unknown, theirs);
                has_more.then(|| mine.clone())
            }
            (Value::Reference(mine), Value::Reference(theirs))
                if self.is_c() && mine.object == theirs.object && mine != theirs =>
            {
                let part = self.any_part(mine, theirs)?;
                Some(Value::Reference(part))
            }
            (Value::Tuple(ones), Value::Tuple(others)) if ones.len() == others.len() => {
                self.widened_parts(ones, others, widening).map(Value::Tuple)
            }
            (Value::Variant(name, ones), Value::Variant(same, others))
                if name == same && ones.len() == others.len() =>
            {
                let parts = self.widened_parts(ones, others, widening)?;
                Some(Value::Variant(name, parts))
            }
            (
                Value::Defined { definition, variant, fields },
                Value::Defined { definition: same, variant: alike, fields: others },
            ) if definition == same && variant == alike => {
                let fields = self.widened_parts(fields, others, widening)?;
                Some(Value::Defined { definition: *definition, variant: *variant, fields })
            }
            (Value::Sequence(ones), Value::Sequence(others)) => {
                self.widened_sequence(ones, others, widening).map(Value::Sequence)
            }
            // An iterator that is in use is made general before.
            (Value::Iterator(_), Value::Iterator(_)) => None,
            (mine, theirs) if self.is_same(mine, theirs) => None,
            (Value::Moved, _) => None,
            _ => {
                let unknown = self.made_unknown(widening);
                let (one, other) = (self.type_of(mine), self.type_of(theirs));
                let ty = if one == other { one } else { crate::program::Type::Unknown };
                let value = self.unknown(unknown, &ty);
                if self.is_c() {
                    self.keep_pointees(&value, [mine, theirs]);
                }
                identities(&value, &mut widening.made);
                Some(value)
            }
        }
    }

    fn widened_parts(
        &mut self,
        ones: &Rc<Vec<Value>>,
        others: &Rc<Vec<Value>>,
        widening: &mut Widening,
    ) -> Option<Rc<Vec<Value>>> {
        let mut changed = None;
        for (index, (one, other)) in ones.iter().zip(&**others).enumerate() {
            if let Some(widened) = self.widened(one, other, widening) {
                Rc::make_mut(changed.get_or_insert_with(|| ones.clone()))[index] = widened;
            }
        }
        changed
    }

    fn widened_sequence(
        &mut self,
        ones: &Sequence,
        others: &Sequence,
        widening: &mut Widening,
    ) -> Option<Sequence> {
        if let (Items::Each(mine), Items::Each(theirs)) = (&ones.items, &others.items)
            && mine.len() == theirs.len()
        {
            let items = Items::Each(self.widened_parts(mine, theirs, widening)?);
            return Some(Sequence { element: ones.element.clone(), items });
        }
        let is_made = |length: Length| match length {
            Length::Known(_) => false,
            Length::Unknown(unknown) => widening.made.contains(&unknown.identity),
        };
        let length = ones.length();
        let has_length = length == others.length() || is_made(length);
        let which = self.made_unknown(widening);
        let mine = self.somewhere(ones, which);
        let theirs = self.somewhere(others, which);
        let item = if ones.is_empty() {
            Some(theirs)
        } else if others.is_empty() {
            None
        } else {
            self.widened(&mine, &theirs, widening)
        };
        if has_length && item.is_none() && matches!(ones.items, Items::Alike(..)) {
            return None;
        }
        let length = if has_length { length } else { Length::Unknown(self.made_unknown(widening)) };
        let item = Rc::new(item.unwrap_or(mine));
        let element = if ones.element == crate::program::Type::Unknown {
            others.element.clone()
        } else {
            ones.element.clone()
        };
        Some(Sequence { element, items: Items::Alike(item, length) })
    }
}

/// Notes the identities in a value that was made unknown.
fn identities(value: &Value, made: &mut FxHashSet<u64>) {
    match value {
        Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) => {
            made.insert(unknown.identity);
        }
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().for_each(|part| identities(part, made));
        }
        Value::Sequence(Sequence { items: Items::Alike(item, length), .. }) => {
            if let Length::Unknown(unknown) = length {
                made.insert(unknown.identity);
            }
            identities(item, made);
        }
        _ => {}
    }
}
