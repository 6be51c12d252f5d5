//! Memory as C sees it: how many bytes values take, where a part of an object begins and ends, and
//! which part of an object lies at some bytes. Compilers for 64-bit machines agree on the layout.

use p2p_protocol::model::{Buffer, RequestId};
use std::rc::Rc;

use super::handle::Handle;
use super::machine::Machine;
use super::value::{Items, Length, Path, Sequence, Step, Steps, Value};
use crate::program::{DefinitionId, Type};

/// What lies where a pointer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The scalar or the struct that the memory is made of; `None`: it has no type yet, or none that
    /// is known.
    pub(super) element: Option<Type>,
    /// How many bytes there are up to the end of the whole object, where that is known.
    pub(super) bytes: Option<u64>,
}

/// The end of a slice of which only the start is known.
pub(super) const OPEN_END: u64 = u64::MAX;

/// What memory is called that has no type yet.
pub(super) const UNTYPED: &str = "untyped memory";

impl Machine<'_> {
    /// How many bytes a value takes.
    pub(super) fn size_of_value(&self, value: &Value) -> Option<u64> {
        match value {
            Value::Scalar(scalar, _) => Some(scalar.bytes()),
            Value::Sequence(sequence) => match sequence.length() {
                Length::Known(length) => self.element_bytes(sequence)?.checked_mul(length),
                Length::Unknown(_) => None,
            },
            Value::Defined { definition, .. } => {
                self.program.size_of(&Type::Defined(*definition, Vec::new()))
            }
            Value::Reference(_) | Value::Function(..) | Value::Variant("None", _) => Some(8),
            Value::Unknown(_, ty) => self.program.size_of(ty),
            Value::Handle(Handle::Status(_)) => Some(24),
            Value::Handle(_) => Some(8),
            Value::Variant(UNTYPED, parts) => {
                parts.first()?.as_integer().and_then(|bytes| u64::try_from(bytes).ok())
            }
            _ => None,
        }
    }

    /// How many bytes an element of a sequence takes.
    pub(super) fn element_bytes(&self, sequence: &Sequence) -> Option<u64> {
        if let Some(size) = self.program.size_of(&sequence.element) {
            return Some(size);
        }
        match &sequence.items {
            Items::Each(items) => self.size_of_value(items.first()?),
            Items::Alike(item, _) => self.size_of_value(item),
        }
    }

    /// The bytes of its object that a path leads to, from the first to before the second; `None`
    /// where nobody knows which.
    pub(super) fn span(&self, path: &Path) -> Option<(u64, u64)> {
        let (start, end, is_exact) = self.extent(path);
        is_exact.then_some((start, end))
    }

    /// The bytes of its object that a path leads to, and whether it leads to all of them: else to some,
    /// nobody knows which.
    pub(super) fn extent(&self, path: &Path) -> (u64, u64, bool) {
        let whole = self.state.memory.get(path.object);
        let size = whole.and_then(|whole| self.size_of_value(whole)).unwrap_or(u64::MAX);
        if path.steps.is_empty() {
            return (0, size, true);
        }
        let mut value = whole.cloned().unwrap_or_default();
        let (mut start, mut end) = (0_u64, size);
        for (number, step) in path.steps.iter().enumerate() {
            let Some((before, size, is_exact)) = self.bytes_of_step(&value, step) else {
                return (start, end, false);
            };
            start = start.saturating_add(before);
            end = end.min(start.saturating_add(size));
            if !is_exact {
                return (start, end, false);
            }
            if number + 1 < path.steps.len() {
                value = self.part(&value, step);
            }
        }
        (start, end, true)
    }

    /// How many bytes before a part of a value begins, how many it has, and whether it is all of
    /// these, or some part of them.
    fn bytes_of_step(&self, value: &Value, step: &Step) -> Option<(u64, u64, bool)> {
        match (value, step) {
            (
                Value::Defined { definition, .. } | Value::Unknown(_, Type::Defined(definition, _)),
                Step::Field(field),
            ) => {
                let variant = self.program.definition(*definition).variants.first()?;
                let (name, ty) = variant.fields.get(*field as usize)?;
                let size = self.program.size_of(ty)?;
                Some((self.program.offset_of(*definition, name)?, size, true))
            }
            (Value::Sequence(sequence), step) => {
                let each = self.element_bytes(sequence)?;
                let (first, length, is_exact) = match step {
                    Step::Element(index) => (*index, 1, true),
                    Step::Slice(first, last) => (*first, last.saturating_sub(*first), true),
                    Step::Among(first, last) => (*first, last.saturating_sub(*first), false),
                    Step::Somewhere | Step::Part(_) => match sequence.length() {
                        Length::Known(length) => (0, length, false),
                        Length::Unknown(_) => (0, u64::MAX, false),
                    },
                    Step::Field(_) => return None,
                };
                Some((each.checked_mul(first)?, each.saturating_mul(length), is_exact))
            }
            _ => None,
        }
    }

    /// What lies where a path leads to, as a pointer's value.
    pub(super) fn room(&self, path: &Path) -> Room {
        let start = self.span(path).map(|(start, _)| start);
        let whole = self.state.memory.get(path.object).and_then(|value| self.size_of_value(value));
        let bytes = start.zip(whole).map(|(start, whole)| whole.saturating_sub(start));
        Room { element: self.element_behind_path(path), bytes }
    }

    /// The scalar or the struct that memory is made of.
    fn element_behind_path(&self, path: &Path) -> Option<Type> {
        let value = match path.steps.split_last() {
            Some((Step::Slice(..) | Step::Part(_), before)) => {
                self.peek_at(&Path { object: path.object, steps: before.into() })
            }
            _ => self.peek_at(path),
        };
        match self.leaf_type(&value) {
            Type::Unknown => None,
            ty => Some(ty),
        }
    }

    /// The type of what a value is made of that is no array.
    pub(super) fn leaf_type(&self, value: &Value) -> Type {
        match value {
            Value::Sequence(sequence) => match leaf(&sequence.element) {
                Type::Unknown => match &sequence.items {
                    Items::Each(items) => items.first().map(|it| self.leaf_type(it)),
                    Items::Alike(item, _) => Some(self.leaf_type(item)),
                }
                .unwrap_or_default(),
                known => known.clone(),
            },
            Value::Reference(_) | Value::Variant("None", _) => {
                Type::Reference(Box::new(Type::Unknown))
            }
            Value::Variant(UNTYPED, _) => Type::Unknown,
            other => leaf(&self.type_of(other)).clone(),
        }
    }

    /// The path to exactly these bytes, counted from where a path leads to; `None` where there is
    /// none, or none is known.
    pub(super) fn region(&self, path: &Path, first: u64, end: u64) -> Option<Path> {
        let (start, _) = self.span(path)?;
        let whole = self.state.memory.get(path.object)?;
        let bytes = (start.checked_add(first)?, start.checked_add(end)?);
        if bytes.0 >= bytes.1 {
            return None;
        }
        self.narrowed(Path::whole(path.object), whole, bytes, true)
    }

    /// A path to these bytes, counted from where a path leads to, and to others around them where it
    /// must be.
    pub(super) fn region_around(&self, path: &Path, first: u64, end: u64) -> Path {
        let whole = Path::whole(path.object);
        let Some((start, _)) = self.span(path) else { return whole };
        let bytes = (start.saturating_add(first), start.saturating_add(end));
        let value = self.state.memory.get(path.object);
        let found = value.and_then(|value| self.narrowed(whole.clone(), value, bytes, false));
        found.unwrap_or(whole)
    }

    /// The path to so many elements from where a path leads to, of so many bytes each: to all of an
    /// array where its length is the same number that nobody knows.
    pub(super) fn region_of(&self, path: &Path, count: &Value, extent: u64) -> Option<Path> {
        if let Some(count) = count.as_integer() {
            let bytes = u64::try_from(count).ok()?.checked_mul(extent)?;
            return self.region(path, 0, bytes);
        }
        let Value::Sequence(sequence) = self.peek_at(path) else { return None };
        let Length::Unknown(length) = sequence.length() else { return None };
        let (count, each) = (self.identity(count), self.element_bytes(&sequence)?);
        let is_same = match self.products.get(&count.identity) {
            Some((of, times)) if u128::from(each) != u128::from(extent) => {
                self.identity(of) == length
                    && times.checked_mul(i128::from(extent)) == Some(i128::from(each))
            }
            _ => count.identity == length.identity && each == extent,
        };
        let is_all = !matches!(path.steps.last(), Some(Step::Slice(..) | Step::Part(_)));
        (is_all && is_same).then(|| path.clone())
    }

    /// The narrowest path to bytes of a value. `exactly`: to no others.
    fn narrowed(
        &self,
        path: Path,
        value: &Value,
        (first, end): (u64, u64),
        exactly: bool,
    ) -> Option<Path> {
        let size = self.size_of_value(value);
        if first == 0 && size == Some(end) {
            return Some(path);
        }
        let inner = match value {
            Value::Sequence(sequence) => self.narrowed_in(&path, sequence, (first, end), exactly),
            Value::Defined { definition, fields, .. } => {
                self.narrowed_field(&path, *definition, fields, (first, end), exactly)
            }
            _ => None,
        };
        inner.or_else(|| (!exactly).then_some(path))
    }

    fn narrowed_in(
        &self,
        path: &Path,
        sequence: &Sequence,
        (first, end): (u64, u64),
        exactly: bool,
    ) -> Option<Path> {
        let each = self.element_bytes(sequence).filter(|each| *each > 0)?;
        let (index, last) = (first / each, end.div_ceil(each));
        if matches!(sequence.length(), Length::Known(length) if last > length) {
            return None;
        }
        if last == index + 1 {
            let (start, step) = (index * each, Step::Element(index));
            let element = self.elements(sequence, &step);
            let bytes = (first - start, end - start);
            return self.narrowed(path.child(step), &element, bytes, exactly);
        }
        let is_exact = first.is_multiple_of(each) && end.is_multiple_of(each);
        (is_exact || !exactly).then(|| path.child(Step::Slice(index, last)))
    }

    fn narrowed_field(
        &self,
        path: &Path,
        definition: DefinitionId,
        fields: &[Value],
        (first, end): (u64, u64),
        exactly: bool,
    ) -> Option<Path> {
        let variant = self.program.definition(definition).variants.first()?;
        for (index, (name, ty)) in variant.fields.iter().enumerate() {
            let start = self.program.offset_of(definition, name)?;
            let size = self.program.size_of(ty)?;
            if start <= first && end <= start + size {
                let path = path.child(Step::Field(index as u32));
                return self.narrowed(
                    path,
                    fields.get(index)?,
                    (first - start, end - start),
                    exactly,
                );
            }
        }
        None
    }

    /// The place of element `number`, counted from where a path leads to.
    pub(super) fn element_at(&self, path: &Path, number: u64) -> Path {
        match path.steps.last() {
            Some(Step::Slice(..) | Step::Part(_)) => path.child(Step::Element(number)),
            Some(Step::Element(first)) if !matches!(self.peek_at(path), Value::Sequence(_)) => {
                row_of(path).child(Step::Element(first + number))
            }
            _ => match self.peek_at(path) {
                Value::Sequence(_) => path.child(Step::Element(number)),
                _ if number == 0 => path.clone(),
                _ => path.child(Step::Element(number)),
            },
        }
    }

    /// The bytes from where a path leads to, as the model counts them.
    pub(super) fn buffer_of(&self, path: &Path, first: u64, end: u64) -> Option<Buffer> {
        let (start, _) = self.span(path)?;
        let (start, end) = (start.checked_add(first)?, start.checked_add(end)?);
        Some(Buffer { object: path.object.0, start, end })
    }

    /// An operation uses these bytes until its request is completed.
    pub(super) fn begin_use_of(&mut self, request: RequestId, buffer: Buffer, writes: bool) {
        let uses = Rc::make_mut(&mut self.state.uses);
        let object = super::value::ObjectId(buffer.object);
        uses.add_bytes(request, object, (buffer.start, buffer.end), writes);
        self.note_buffer(request, object);
    }
}

/// A path without its last step.
pub(super) fn row_of(path: &Path) -> Path {
    let before = path.steps.split_last().map_or(&[][..], |(_, before)| before);
    Path { object: path.object, steps: Steps::from(before) }
}

/// The type of what is in an array, and in arrays of arrays.
pub(super) fn leaf(ty: &Type) -> &Type {
    match ty {
        Type::Array(element, _) | Type::Slice(element) => leaf(element),
        Type::External(name, arguments) if name == "Vec" && arguments.len() == 1 => {
            leaf(&arguments[0])
        }
        other => other,
    }
}
