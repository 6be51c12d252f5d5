//! Memory of C that gets its type, and memory of which nothing is known any more.

use std::rc::Rc;

use super::machine::Machine;
use super::value::{Items, Length, Path, Sequence, Value};
use crate::program::{Scalar, Type};

/// Memory behind pointers in memory behind pointers, at most.
const DEEPEST: u32 = 6;

impl Machine<'_> {
    /// Gives memory that has no type yet the one that a pointer to it has.
    pub(super) fn give_type(&mut self, path: &Path, ty: &Type) {
        let Some(Value::Variant(super::bytes::UNTYPED, parts)) =
            self.state.memory.get(path.object).filter(|_| path.steps.is_empty())
        else {
            return;
        };
        let Some(size) = self.program.size_of(ty).filter(|size| *size > 0) else { return };
        let (bytes, is_zeroed) = (parts[0].clone(), parts.len() > 1);
        let length = self.divided(&bytes, size);
        let value = self.row_of_type(ty, length, is_zeroed);
        self.put(path, value);
    }

    /// So many values of a type in a row, zeroed or not.
    pub(super) fn row_of_type(&mut self, ty: &Type, length: Length, is_zeroed: bool) -> Value {
        let element = ty.clone();
        let items = match length {
            Length::Known(length) if length <= self.most_kept(ty) => {
                let each = (0..length).map(|_| self.value_of_type(ty, is_zeroed));
                Items::Each(Rc::new(each.collect()))
            }
            length => Items::Alike(Rc::new(self.value_of_type(ty, is_zeroed)), length),
        };
        Value::Sequence(Sequence { element, items })
    }

    fn value_of_type(&mut self, ty: &Type, is_zeroed: bool) -> Value {
        if is_zeroed {
            self.zero(ty)
        } else {
            self.made_of(ty, &mut |machine, ty| machine.fresh(ty.clone()))
        }
    }

    /// How many elements of a size so many bytes are.
    fn divided(&mut self, bytes: &Value, size: u64) -> Length {
        if let Some(bytes) = bytes.as_integer() {
            return Length::Known(u64::try_from(bytes).unwrap_or(0) / size);
        }
        let identity = self.identity(bytes).identity;
        if let Some((of, times)) = self.products.get(&identity).cloned() {
            if times == i128::from(size) {
                return Length::Unknown(self.identity(&of));
            }
            if times % i128::from(size) == 0 {
                let times = Value::integer(times / i128::from(size), Scalar::U64);
                let (one, other) = (of, times);
                let swaps = self.identity(&one).identity > self.identity(&other).identity;
                let inputs = if swaps { [&other, &one] } else { [&one, &other] };
                let product = self.computed("multiply", &inputs, Type::Scalar(Scalar::U64));
                return Length::Unknown(self.identity(&product));
            }
        }
        if size == 1 {
            return Length::Unknown(self.identity(bytes));
        }
        let size = Value::integer(i128::from(size), Scalar::U64);
        let length = self.computed("divide", &[bytes, &size], Type::Scalar(Scalar::U64));
        Length::Unknown(self.identity(&length))
    }

    /// Makes unknown all that can be reached from a value: it was handed to code that nobody knows.
    /// That code may not touch it at all: no access is noted.
    pub(super) fn forget_behind(&mut self, value: &Value) {
        let mut seen = Vec::new();
        self.forget_reached(value, &mut seen, DEEPEST);
    }

    fn forget_reached(&mut self, value: &Value, seen: &mut Vec<Path>, depth: u32) {
        let mut paths = Vec::new();
        super::access::references(value, &mut paths);
        if let Value::Unknown(..) = value {
            paths.extend(self.pointees_of(value).iter().cloned());
        }
        for path in paths {
            if seen.contains(&path) {
                continue;
            }
            seen.push(path.clone());
            let inside = self.peek_at(&path);
            if depth > 0 {
                self.forget_reached(&inside, seen, depth - 1);
            }
            let forgotten = self.forgotten_in_c(&inside);
            self.put(&path, forgotten);
        }
    }

    /// Makes what is at a path unknown.
    pub(super) fn forget_there(&mut self, path: &Path) {
        let forgotten = self.peek_at(path);
        let forgotten = self.forgotten_in_c(&forgotten);
        self.put(path, forgotten);
    }

    /// A value of the same shape of which nothing else is known.
    pub(super) fn forgotten_in_c(&mut self, value: &Value) -> Value {
        match value {
            Value::Function(..) | Value::External(..) | Value::Moved => value.clone(),
            Value::Variant(super::bytes::UNTYPED, parts) => {
                Value::Variant(super::bytes::UNTYPED, Rc::new(parts[..1].to_vec()))
            }
            Value::Defined { definition, variant, fields } => {
                let fields = fields.iter().map(|part| self.forgotten_in_c(part)).collect();
                Value::Defined {
                    definition: *definition,
                    variant: *variant,
                    fields: Rc::new(fields),
                }
            }
            Value::Sequence(Sequence { element, items }) => {
                let items = match items {
                    Items::Each(items) => {
                        let items = items.iter().map(|item| self.forgotten_in_c(item)).collect();
                        Items::Each(Rc::new(items))
                    }
                    Items::Alike(item, length) => {
                        Items::Alike(Rc::new(self.forgotten_in_c(item)), *length)
                    }
                };
                Value::Sequence(Sequence { element: element.clone(), items })
            }
            Value::Reference(_) | Value::Variant(..) => {
                self.fresh(Type::Reference(Box::new(Type::Unknown)))
            }
            other => {
                let ty = self.type_of(other);
                self.fresh(ty)
            }
        }
    }
}
