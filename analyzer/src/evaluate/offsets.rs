//! Pointers of C that are counted on and back, subtracted and compared.

use super::bytes::{OPEN_END, row_of};
use super::identity::Identity;
use super::machine::Machine;
use super::pointers::Spot;
use super::value::{Length, Path, Step, Value};
use crate::program::{Scalar, Type};

impl Machine<'_> {
    /// `pointer + index`. `ty`: what it points to.
    pub(super) fn offset(&mut self, pointer: &Value, index: &Value, ty: &Type) -> Value {
        if index.as_integer() == Some(0) {
            return pointer.clone();
        }
        let paths = self.pointees_of(pointer);
        match &paths[..] {
            [] => self.moved_pointer(pointer, index, ty),
            [path] => match self.offset_path(path, index, ty) {
                Some(path) => Value::Reference(path),
                None => self.moved_pointer(pointer, index, ty),
            },
            several => {
                let moved: Option<Vec<Path>> =
                    several.iter().map(|path| self.offset_path(path, index, ty)).collect();
                let result = self.moved_pointer(pointer, index, ty);
                if let (Some(moved), Value::Unknown(unknown, _)) = (moved, &result) {
                    self.pointees.borrow_mut().insert(unknown.identity, moved.into());
                }
                result
            }
        }
    }

    /// A pointer of which nobody knows where it leads, so many elements from another one.
    fn moved_pointer(&mut self, pointer: &Value, index: &Value, ty: &Type) -> Value {
        let ty = Type::Reference(Box::new(ty.clone()));
        match pointer {
            Value::Reference(_) => self.fresh(ty),
            pointer => self.computed("pointer", &[pointer, index], ty),
        }
    }

    fn offset_path(&mut self, path: &Path, index: &Value, ty: &Type) -> Option<Path> {
        let number = index.as_integer();
        match self.spot(path, ty) {
            Spot::Row { row, first, each } => {
                let (Some(first), Some(number), Some(each)) = (first, number, each) else {
                    return Some(self.part_of_row(&row, index));
                };
                let target = i128::from(first) + number.checked_mul(i128::from(each))?;
                Some(match self.elements_from(&row, target) {
                    Some(path) => path,
                    None => self.part_of_row(&row, index),
                })
            }
            Spot::Single(path) if number.is_none() => Some(path),
            Spot::Single(_) | Spot::Other => {
                let size = self.program.size_of(ty).unwrap_or(1);
                let (start, _) = self.span(path)?;
                let first = i128::from(start) + number?.checked_mul(i128::from(size))?;
                self.path_to_byte(path, u64::try_from(first).ok()?)
            }
        }
    }

    /// The path to the elements of a row from this one on, or those of rows before or behind it.
    fn elements_from(&self, row: &Path, index: i128) -> Option<Path> {
        let Value::Sequence(sequence) = self.peek_at(row) else { return None };
        let end = match sequence.length() {
            Length::Known(length) => length,
            Length::Unknown(_) => OPEN_END,
        };
        match u64::try_from(index) {
            Ok(0) => Some(row.clone()),
            Ok(first) if first <= end => Some(row.child(Step::Slice(first, end))),
            _ => {
                let element = self.carried(row, index)?;
                let Some(Step::Element(first)) = element.steps.last() else { return None };
                self.elements_from(&row_of(&element), i128::from(*first))
            }
        }
    }

    /// Elements in a row, from one on of which nobody knows which it is.
    pub(super) fn part_of_row(&self, row: &Path, index: &Value) -> Path {
        let mut identity = Identity::of("elements from");
        identity.unknown(self.identity(index));
        let mut top = row.clone();
        while matches!(top.steps.last(), Some(Step::Element(_) | Step::Somewhere | Step::Among(..)))
            && matches!(self.peek_at(&row_of(&top)), Value::Sequence(_))
        {
            top = row_of(&top);
        }
        top.child(Step::Part(Length::Unknown(identity.finish())))
    }

    /// The path to what begins at a byte of the object that a path leads to.
    fn path_to_byte(&self, path: &Path, byte: u64) -> Option<Path> {
        let whole = Path::whole(path.object);
        let found = self.region_around(&whole, byte, byte.checked_add(1)?);
        let (start, _) = self.span(&found)?;
        match (start == byte, found.steps.last()) {
            (true, Some(Step::Element(index))) => {
                self.elements_from(&row_of(&found), i128::from(*index))
            }
            (true, _) => Some(found),
            _ => None,
        }
    }

    /// `one - other`, in elements of a type.
    pub(super) fn difference(&mut self, one: &Value, other: &Value, ty: &Type) -> Value {
        let size = self.program.size_of(ty).unwrap_or(1);
        if let (Some(mine), Some(theirs)) = (self.pointer(one), self.pointer(other))
            && mine.object == theirs.object
            && size > 0
        {
            if mine == theirs {
                return Value::integer(0, Scalar::I64);
            }
            if let (Some((mine, _)), Some((theirs, _))) = (self.span(&mine), self.span(&theirs)) {
                let bytes = i128::from(mine) - i128::from(theirs);
                return Value::integer(bytes / i128::from(size), Scalar::I64);
            }
        }
        self.computed("pointer difference", &[one, other], Type::Scalar(Scalar::I64))
    }

    /// How two pointers compare, where that is known: less than zero, zero, or more.
    pub(super) fn order_of_pointers(&self, one: &Value, other: &Value) -> Option<i128> {
        match (self.is_null(one), self.is_null(other)) {
            (Some(true), Some(true)) => return Some(0),
            (Some(true), Some(false)) => return Some(-1),
            (Some(false), Some(true)) => return Some(1),
            _ => {}
        }
        let (Value::Reference(one), Value::Reference(other)) = (one, other) else { return None };
        if one == other {
            return Some(0);
        }
        if one.object != other.object {
            return None;
        }
        let ((mine, _), (theirs, _)) = (self.span(one)?, self.span(other)?);
        Some(i128::from(mine) - i128::from(theirs))
    }
}
