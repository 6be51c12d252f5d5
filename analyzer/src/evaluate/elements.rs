//! What is in sequences and other values: the part that a path leads to, where it is known, and some
//! element, where nobody knows which.

use std::rc::{Rc, Weak};

use rustc_hash::FxHashMap;

use super::identity::Identity;
use super::machine::Machine;
use super::value::{Content, Items, Length, Path, Sequence, Step, Unknown, Value};
use crate::program::Type;

/// The most sequences of which it is kept what some element is.
const KEPT: usize = 256;

/// What some element of sequences is, by where their elements are.
pub(super) type AnyElements = FxHashMap<*const Vec<Value>, AnyElement>;

/// What some element of a sequence is.
#[derive(Debug)]
pub(super) struct AnyElement {
    /// The elements. Whoever changes them while they are remembered here moves them away.
    items: Weak<Vec<Value>>,
    element: Type,
    any: Value,
}

impl Machine<'_> {
    /// The value at a path, where every step of it leads to a part that is there.
    pub(super) fn known_at(&self, path: &Path) -> Option<&Value> {
        let mut value = self.state.memory.get(path.object)?;
        for step in &*path.steps {
            for _ in 0..8 {
                let Value::Reference(behind) = value else { break };
                value = self.known_at(behind)?;
            }
            value = match (value, step) {
                (
                    Value::Tuple(parts)
                    | Value::Variant(_, parts)
                    | Value::Defined { fields: parts, .. },
                    Step::Field(index),
                ) => parts.get(*index as usize)?,
                (
                    Value::Sequence(Sequence { items: Items::Each(items), .. }),
                    Step::Element(index),
                ) => items.get(*index as usize)?,
                (
                    Value::Sequence(Sequence { items: Items::Alike(item, _), .. }),
                    Step::Element(_),
                ) if !is_unknown(item) => item,
                _ => return None,
            };
        }
        Some(value)
    }

    /// An element of a sequence, or some of them.
    pub(super) fn elements(&self, sequence: &Sequence, step: &Step) -> Value {
        let Sequence { element, items } = sequence;
        match (items, step) {
            (Items::Each(items), Step::Element(index)) if (*index as usize) < items.len() => {
                items[*index as usize].clone()
            }
            (Items::Each(items), Step::Slice(first, last)) if *last as usize <= items.len() => {
                let items = items.get(*first as usize..*last as usize).unwrap_or_default();
                let items = Items::Each(Rc::new(items.to_vec()));
                Value::Sequence(Sequence { element: element.clone(), items })
            }
            (Items::Alike(item, _), Step::Slice(first, last)) => {
                let length = Length::Known(last.saturating_sub(*first));
                let items = Items::Alike(item.clone(), length);
                Value::Sequence(Sequence { element: element.clone(), items })
            }
            (Items::Alike(item, _), Step::Element(index)) => match &**item {
                // Which one it is, is part of who it is.
                Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) => {
                    let mut identity = Identity::of("element");
                    identity.number(*index);
                    identity.unknown(*unknown);
                    self.unknown(identity.finish(), element)
                }
                other => other.clone(),
            },
            (Items::Each(items), Step::Somewhere) => self.any_element(sequence, items),
            (Items::Each(items), Step::Among(first, end)) => {
                let length = items.len();
                let range = (*first as usize).min(length)..(*end as usize).min(length);
                let some = Items::Each(Rc::new(items.get(range).unwrap_or_default().to_vec()));
                let some = Sequence { element: element.clone(), items: some };
                let mut identity = Identity::of("among");
                identity.unknown(self.identity(&Value::Sequence(some.clone())));
                self.somewhere(&some, identity.finish())
            }
            (_, step) => {
                let mut identity = Identity::of(&format!("{step:?}"));
                identity.unknown(self.identity(&Value::Sequence(sequence.clone())));
                let unknown = identity.finish();
                let length = match step {
                    Step::Slice(..) => Length::Unknown(unknown),
                    Step::Part(length) => *length,
                    _ => return self.somewhere(sequence, unknown),
                };
                let item = Rc::new(self.somewhere(sequence, unknown));
                let items = Items::Alike(item, length);
                Value::Sequence(Sequence { element: element.clone(), items })
            }
        }
    }

    /// Some element of a sequence. It is asked for over and over, in loops over an index that nobody
    /// knows, so that it is kept as long as the elements stay what they are.
    fn any_element(&self, sequence: &Sequence, items: &Rc<Vec<Value>>) -> Value {
        let at = Rc::as_ptr(items);
        let kept = self.any_elements.borrow();
        let known = kept.get(&at).filter(|known| {
            // A piece of memory that nobody else has changed is still there.
            known.items.strong_count() > 0
                && known.element == sequence.element
                && !self.state.mpi.shares_numbers()
        });
        if let Some(known) = known {
            return known.any.clone();
        }
        drop(kept);
        let mut identity = Identity::of("Somewhere");
        identity.unknown(self.identity(&Value::Sequence(sequence.clone())));
        let any = self.somewhere(sequence, identity.finish());
        // What numbers are called changes when they are sent to all others.
        if !self.state.mpi.shares_numbers() && items.iter().all(is_whole) {
            let (items, element) = (Rc::downgrade(items), sequence.element.clone());
            let mut kept = self.any_elements.borrow_mut();
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(at, AnyElement { items, element, any: any.clone() });
        }
        any
    }

    /// What all elements have in common.
    pub(super) fn somewhere(&self, sequence: &Sequence, which: Unknown) -> Value {
        match &sequence.items {
            Items::Alike(item, _) if !self.is_scalar_unknown(item) => (**item).clone(),
            Items::Each(items) if !items.is_empty() => {
                if let Some(number) = self.any_number(items, which) {
                    return number;
                }
                let mut common = items[0].clone();
                for item in &items[1..] {
                    common = self.merged(&common, item, which);
                }
                common
            }
            _ => self.unknown(which, &sequence.element),
        }
    }

    /// What numbers of one type have in common: arrays of data are long, so that this is quicker than
    /// one after the other.
    fn any_number(&self, items: &[Value], which: Unknown) -> Option<Value> {
        let Value::Scalar(scalar, first) = items[0] else { return None };
        let content = |item: &Value| match item {
            Value::Scalar(same, content) if *same == scalar => Some(*content),
            _ => None,
        };
        let others = items[1..].iter().map(content);
        if others.clone().any(|it| it.is_none()) {
            return None;
        }
        if others.clone().flatten().all(|it| it == first) {
            return Some(items[0].clone());
        }
        let mut identity = Identity::of("any of");
        identity.unknown(which);
        self.mix_contents(&mut identity, std::iter::once(first).chain(others.flatten()));
        Some(Value::Scalar(scalar, Content::Unknown(identity.finish())))
    }

    fn is_scalar_unknown(&self, value: &Value) -> bool {
        matches!(value, Value::Scalar(_, Content::Unknown(_)))
    }
}

/// Whether nothing is known of a value but who it is: of many alike, each is another one.
fn is_unknown(value: &Value) -> bool {
    matches!(value, Value::Unknown(..) | Value::Scalar(_, Content::Unknown(_)))
}

/// Whether a value is all there: it refers to nothing that could change.
fn is_whole(value: &Value) -> bool {
    match value {
        Value::Scalar(..) | Value::Unknown(..) | Value::Text(_) | Value::Moved => true,
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().all(is_whole)
        }
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => items.iter().all(is_whole),
        Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => is_whole(item),
        _ => false,
    }
}
