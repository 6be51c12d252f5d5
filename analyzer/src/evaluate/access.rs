//! Reading and writing what paths lead to.

use std::collections::BTreeSet;
use std::rc::Rc;

use p2p_protocol::model::{Action, Buffer, RequestId};

use super::alike::Elsewhere;
use super::handle::Handle;
use super::identity::Identity;
use super::machine::Machine;
use super::value::{Items, Length, Path, Sequence, Step, Unknown, Value};
use crate::program::{Place, Type};

impl Machine<'_> {
    /// Memory that outlives the frame it is made in: `Box`, `Rc`, a collection's requests.
    pub(super) fn allocate(&mut self, value: Value) -> Path {
        let object = self.state.memory.add(value);
        self.state.kept = self.state.memory.len();
        Path::whole(object)
    }

    /// The value at a path; unknown where the path leads nowhere. Notes the access where an
    /// operation is pending on that memory.
    pub(super) fn read(&mut self, path: &Path, place: Place) -> Value {
        self.note_access(path, false, place);
        self.peek(path)
    }

    /// The value at a path, without touching what is in it: for its length, its type, a handle.
    pub(super) fn peek(&mut self, path: &Path) -> Value {
        self.peek_at(path)
    }

    /// The same without changing anything.
    pub(super) fn peek_at(&self, path: &Path) -> Value {
        if let Some(value) = self.known_at(path) {
            return value.clone();
        }
        let Some(whole) = self.state.memory.get(path.object) else {
            return Value::Moved;
        };
        let mut value = None;
        for step in &*path.steps {
            value = Some(self.part(value.as_ref().unwrap_or(whole), step));
        }
        value.unwrap_or_else(|| whole.clone())
    }

    /// A part of a value.
    pub(super) fn part(&self, value: &Value, step: &Step) -> Value {
        match (value, step) {
            (Value::Tuple(parts) | Value::Variant(_, parts), Step::Field(index)) => {
                parts.get(*index as usize).cloned().unwrap_or(Value::Moved)
            }
            (Value::Defined { fields, .. }, Step::Field(index)) => {
                fields.get(*index as usize).cloned().unwrap_or(Value::Moved)
            }
            (Value::Sequence(sequence), step) => self.elements(sequence, step),
            (Value::Reference(path), step) => {
                let behind = self.peek_at(path);
                self.part(&behind, step)
            }
            (Value::Moved, _) => Value::Moved,
            (other, step) => {
                let mut identity = Identity::of(&format!("{step:?}"));
                identity.unknown(self.identity(other));
                let ty = self.part_type(other, step);
                self.unknown(identity.finish(), &ty)
            }
        }
    }

    fn part_type(&self, value: &Value, step: &Step) -> Type {
        let Value::Unknown(_, ty) = value else {
            return Type::Unknown;
        };
        match (ty.behind_references(), step) {
            (Type::Tuple(parts), Step::Field(index)) => parts.get(*index as usize).cloned(),
            (Type::Defined(definition, _), Step::Field(index)) => {
                let definition = self.program.definition(*definition);
                match &definition.variants[..] {
                    [only] => only.fields.get(*index as usize).map(|(_, ty)| ty.clone()),
                    _ => None,
                }
            }
            (Type::Array(element, _) | Type::Slice(element), Step::Slice(..) | Step::Part(_)) => {
                Some(Type::Slice(element.clone()))
            }
            (Type::Array(element, _) | Type::Slice(element), _) => Some((**element).clone()),
            (Type::External(name, arguments), step) if arguments.len() == 1 => match &**name {
                "Vec" | "VecDeque" if matches!(step, Step::Slice(..) | Step::Part(_)) => {
                    Some(Type::Slice(Box::new(arguments[0].clone())))
                }
                "Vec" | "VecDeque" | "Option" => Some(arguments[0].clone()),
                _ => None,
            },
            _ => None,
        }
        .unwrap_or_default()
    }

    /// Sets the value at a path. Notes the access where an operation is pending on that memory.
    pub(super) fn write(&mut self, path: &Path, value: Value, place: Place) {
        self.note_access(path, true, place);
        self.put(path, value);
    }

    /// Sets the value at a path without touching what an operation may be using: a message that
    /// arrives, a handle that is moved away.
    pub(super) fn put(&mut self, path: &Path, value: Value) {
        let which = if path.steps.iter().any(|step| !matches!(step, Step::Field(_))) {
            let is_somewhere = path
                .steps
                .iter()
                .any(|it| matches!(it, Step::Somewhere | Step::Among(..) | Step::Part(_)));
            self.written(&value, is_somewhere)
        } else {
            Unknown { identity: 0, uniform: false, elsewhere: Elsewhere::default() }
        };
        let Some(mut whole) = self.state.memory.get_mut(path.object).map(std::mem::take) else {
            return;
        };
        self.set(&mut whole, &path.steps, value, which);
        if let Some(object) = self.state.memory.get_mut(path.object) {
            *object = whole;
        }
    }

    /// What decides between what was and what is written, where nobody knows which part is meant.
    fn written(&self, value: &Value, is_somewhere: bool) -> Unknown {
        let mut identity = Identity::of("written");
        identity.unknown(self.identity(value));
        if is_somewhere {
            // Each rank may have meant another part.
            identity.not_uniform();
        }
        identity.finish()
    }

    fn set(&mut self, whole: &mut Value, steps: &[Step], value: Value, which: Unknown) {
        let Some((step, rest)) = steps.split_first() else {
            *whole = value;
            return;
        };
        match (whole, step) {
            (
                Value::Tuple(parts)
                | Value::Variant(_, parts)
                | Value::Defined { fields: parts, .. },
                Step::Field(index),
            ) => {
                if let Some(part) = Rc::make_mut(parts).get_mut(*index as usize) {
                    self.set(part, rest, value, which);
                }
            }
            (Value::Sequence(sequence), step) => {
                self.set_elements(sequence, step, rest, value, which);
            }
            (Value::Reference(path), _) => {
                let path = path.clone();
                let path = steps.iter().fold(path, |path, step| path.child(step.clone()));
                self.put(&path, value);
            }
            // A part of something unknown has changed: it is another unknown.
            (Value::Unknown(unknown, _), _) => {
                let mut identity = Identity::of("changed");
                identity.unknown(*unknown);
                identity.unknown(self.written(&value, false));
                *unknown = identity.finish();
            }
            _ => {}
        }
    }

    fn set_elements(
        &mut self,
        sequence: &mut Sequence,
        step: &Step,
        rest: &[Step],
        value: Value,
        which: Unknown,
    ) {
        match (&mut sequence.items, step) {
            (Items::Each(items), Step::Element(index)) => {
                if let Some(item) = Rc::make_mut(items).get_mut(*index as usize) {
                    self.set(item, rest, value, which);
                }
            }
            (Items::Each(items), Step::Slice(first, last)) if rest.is_empty() => {
                let range = *first as usize..(*last as usize).min(items.len());
                let known = match &value {
                    Value::Sequence(Sequence { items: Items::Each(new), .. })
                        if new.len() == range.len() =>
                    {
                        Some(new.clone())
                    }
                    _ => None,
                };
                let item = self.unknown(which, &sequence.element);
                for (number, index) in range.enumerate() {
                    let new =
                        known.as_ref().map_or_else(|| item.clone(), |new| new[number].clone());
                    Rc::make_mut(items)[index] = new;
                }
            }
            (Items::Each(items), Step::Somewhere | Step::Among(..))
                if self.is_c() && items.len() > MOST_TOLD_APART && is_data(&items[0]) =>
            {
                let length = Length::Known(items.len() as u64);
                let any = self.somewhere(sequence, which);
                let any = self.perhaps_set(&any, rest, &value, which);
                sequence.items = Items::Alike(Rc::new(any), length);
            }
            (Items::Each(items), step) => {
                let value = match (value, step) {
                    (Value::Sequence(new), Step::Part(_)) if rest.is_empty() => {
                        self.somewhere(&new, which)
                    }
                    (value, _) => value,
                };
                let (first, count) = match step {
                    Step::Among(first, end) => (*first, end.saturating_sub(*first)),
                    _ => (0, u64::MAX),
                };
                let (first, count) = (first as usize, usize::try_from(count).unwrap_or(usize::MAX));
                for item in Rc::make_mut(items).iter_mut().skip(first).take(count) {
                    *item = self.perhaps_set(item, rest, &value, which);
                }
            }
            // One of many has changed: what they have in common may have.
            (Items::Alike(item, _), step) => {
                let new = match (&value, step) {
                    (Value::Sequence(new), Step::Slice(..) | Step::Part(_)) if rest.is_empty() => {
                        let new = self.somewhere(new, which);
                        self.merged(item, &new, which)
                    }
                    _ => self.perhaps_set(item, rest, &value, which),
                };
                *item = Rc::new(new);
            }
        }
    }

    /// A value of which a part may have been set.
    fn perhaps_set(&mut self, old: &Value, rest: &[Step], value: &Value, which: Unknown) -> Value {
        let mut changed = old.clone();
        self.set(&mut changed, rest, value.clone(), which);
        self.merged(old, &changed, which)
    }

    /// Changes a value where it is. Notes a write.
    pub(super) fn modify(&mut self, path: &Path, place: Place, change: &mut dyn FnMut(&mut Value)) {
        self.note_access(path, true, place);
        if path.steps.is_empty() {
            if let Some(object) = self.state.memory.get_mut(path.object) {
                change(object);
            }
            return;
        }
        let mut value = self.peek_at(path);
        change(&mut value);
        self.put(path, value);
    }

    /// The value at a path as it is used up there: moved out of it if it has a life that ends.
    pub(super) fn take(&mut self, path: &Path, place: Place) -> Value {
        let value = self.peek(path);
        if self.is_c() || !has_elements(&value) {
            self.note_access(path, false, place);
        }
        if self.is_owned(&value) {
            self.put(path, Value::Moved);
        }
        value
    }

    /// Makes everything behind the references in a value unknown: it was handed to code that is
    /// not known.
    pub(super) fn forget(&mut self, value: &Value, place: Place) {
        if self.is_c() {
            return self.forget_behind(value);
        }
        let mut paths = Vec::new();
        references(value, &mut paths);
        for path in paths {
            self.forget_at(&path, place, 4);
        }
    }

    fn forget_at(&mut self, path: &Path, place: Place, depth: u32) {
        let value = self.peek_at(path);
        if depth > 0 {
            let mut paths = Vec::new();
            references(&value, &mut paths);
            for path in paths {
                self.forget_at(&path, place, depth - 1);
            }
        }
        let forgotten = self.forgotten(&value);
        self.write(path, forgotten, place);
    }

    /// A value of the same type of which nothing else is known.
    fn forgotten(&mut self, value: &Value) -> Value {
        match value {
            // Handles that do not change, and what refers to other places, stay what they are.
            Value::Handle(_)
            | Value::Reference(_)
            | Value::Closure(..)
            | Value::Function(..)
            | Value::External(..)
            | Value::Moved => value.clone(),
            Value::Tuple(parts) => {
                Value::Tuple(Rc::new(parts.iter().map(|part| self.forgotten(part)).collect()))
            }
            Value::Defined { definition, variant, fields }
                if !self.program.definition(*definition).is_enum =>
            {
                let fields = Rc::new(fields.iter().map(|part| self.forgotten(part)).collect());
                Value::Defined { definition: *definition, variant: *variant, fields }
            }
            Value::Sequence(sequence) => {
                let length = self.fresh_unknown();
                let item = self.somewhere(sequence, length);
                let item = Rc::new(self.forgotten(&item));
                let items = Items::Alike(item, Length::Unknown(length));
                Value::Sequence(Sequence { element: sequence.element.clone(), items })
            }
            other => {
                let ty = self.type_of(other);
                self.fresh(ty)
            }
        }
    }

    /// The value behind all references. No access is noted.
    pub(super) fn behind(&mut self, value: &Value, _: Place) -> Value {
        let mut value = value.clone();
        for _ in 0..8 {
            match value {
                Value::Reference(path) => value = self.peek_at(&path),
                other => return other,
            }
        }
        value
    }

    /// Where a chain of references ends: a path to something that is not a reference.
    pub(super) fn end_of(&self, path: Path) -> Path {
        let mut path = path;
        for _ in 0..8 {
            let next = match self.known_at(&path) {
                Some(Value::Reference(next)) => next.clone(),
                None => match self.peek_at(&path) {
                    Value::Reference(next) => next,
                    _ => return path,
                },
                Some(_) => return path,
            };
            path = next;
        }
        path
    }

    /// Notes that memory is touched, where operations are pending on it.
    pub(super) fn note_access(&mut self, path: &Path, writes: bool, place: Place) {
        if self.state.mpi.has_windows() {
            super::library::mpi::touch_windows(self, path, writes, place);
        }
        let requests = match self.is_c() {
            true => self.touching_bytes(path, writes),
            false => self.state.uses.touching(path, writes),
        };
        if !requests.is_empty() && self.graph.total() < self.limits.events {
            self.graph.push(Action::Access { requests: requests.into(), writes }, place);
        }
    }

    /// A function of C returns: its variables are no more, though operations may still use them.
    pub(super) fn end_variables(&mut self, place: Place) {
        if !self.is_c() || self.state.uses.is_empty() {
            return;
        }
        let frame = &self.state.frames[self.state.frame.0 as usize];
        let used = frame.variables.iter().flatten().flat_map(|it| self.state.uses.requests_of(*it));
        let requests: BTreeSet<RequestId> = used.collect();
        if !requests.is_empty() && self.graph.total() < self.limits.events {
            let requests = requests.into_iter().collect();
            self.graph.push(Action::Vanish { requests }, place);
        }
    }

    /// The requests that touch what is touched, in a program that may come to the same memory by
    /// different paths.
    fn touching_bytes(&self, path: &Path, writes: bool) -> Vec<RequestId> {
        if !self.state.uses.may_touch(path.object, writes) {
            return Vec::new();
        }
        self.state.uses.touching_extent(path.object, self.extent(path), writes)
    }

    /// The memory that a path leads to, in bytes, where that is known.
    pub(super) fn buffer(&mut self, path: &Path) -> Option<Buffer> {
        if self.is_c() {
            let (start, end) = self.span(path).filter(|(_, end)| *end < u64::MAX)?;
            return Some(Buffer { object: path.object.0, start, end });
        }
        let mut value = self.state.memory.get(path.object)?.clone();
        let mut start = 0;
        for step in &*path.steps {
            start += match (&value, step) {
                (
                    Value::Tuple(parts) | Value::Defined { fields: parts, .. },
                    Step::Field(index),
                ) => self.bytes_of_all(parts.get(..*index as usize)?)?,
                (Value::Sequence(sequence), Step::Element(index) | Step::Slice(index, _)) => {
                    match &sequence.items {
                        Items::Each(items) => self.bytes_of_all(items.get(..*index as usize)?)?,
                        Items::Alike(item, _) => self.bytes(item)?.checked_mul(*index)?,
                    }
                }
                _ => return None,
            };
            value = self.part(&value, step);
        }
        let end = start + self.bytes(&value)?;
        Some(Buffer { object: path.object.0, start, end })
    }

    fn bytes_of_all(&self, values: &[Value]) -> Option<u64> {
        values.iter().map(|value| self.bytes(value)).sum()
    }

    /// How many bytes a value takes.
    fn bytes(&self, value: &Value) -> Option<u64> {
        match value {
            Value::Scalar(scalar, _) => Some(scalar.bytes()),
            Value::Tuple(parts) | Value::Defined { fields: parts, .. } => self.bytes_of_all(parts),
            Value::Sequence(sequence) => match &sequence.items {
                Items::Each(items) => self.bytes_of_all(items),
                Items::Alike(item, Length::Known(length)) => self.bytes(item)?.checked_mul(*length),
                Items::Alike(..) => None,
            },
            _ => None,
        }
    }
}

/// Elements of an array that stay apart when one of them changes, nobody knows which.
const MOST_TOLD_APART: usize = 8;

/// Whether a value is a number or an array: what is computed with, and seldom decides anything.
fn is_data(value: &Value) -> bool {
    matches!(value, Value::Scalar(..) | Value::Sequence(_))
}

/// Whether a value holds a sequence: what is moved with a `Vec` are not its elements.
fn has_elements(value: &Value) -> bool {
    match value {
        Value::Sequence(_) => true,
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().any(has_elements)
        }
        _ => false,
    }
}

/// The places that a value refers to.
pub(super) fn references(value: &Value, found: &mut Vec<Path>) {
    match value {
        Value::Reference(path) => found.push(path.clone()),
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().for_each(|part| references(part, found));
        }
        Value::Sequence(Sequence { items: Items::Each(items), .. })
            if !matches!(items.first(), Some(Value::Scalar(..)) | None) =>
        {
            items.iter().for_each(|item| references(item, found));
        }
        Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => references(item, found),
        Value::Iterator(lazy) => {
            let mut values = Vec::new();
            super::identity::values_of(lazy, &mut values);
            values.into_iter().for_each(|value| references(value, found));
            lazy.for_each_path(&mut |path| found.push(path.clone()));
        }
        Value::Handle(Handle::View { of, .. }) => references(of, found),
        Value::Map(map) => {
            found.extend(map.entries().into_iter().flatten().map(|(_, path)| path.clone()));
        }
        _ => {}
    }
}
