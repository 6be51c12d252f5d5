//! Expressions of C where they mean something else than in Rust: what is read and written is exactly
//! what is written there, values are copied, and pointers are followed as often as it says.

use std::rc::Rc;

use super::handle::Handle;
use super::identity::Identity;
use super::machine::{Machine, Outcome};
use super::places::Target;
use super::pointers::Located;
use super::value::{Content, Path, Step, Value};
use crate::program::{Binary, Expression, Kind, Place, Scalar, Type};

/// What is known of an array.
enum KnownArray {
    /// What its elements are.
    Elements,
    /// What type it has.
    Type,
}

impl Machine<'_> {
    /// Where an expression leads to.
    pub(super) fn locate_exactly(&mut self, expression: &Expression) -> Outcome<Located> {
        match &expression.kind {
            Kind::Variable(variable) => {
                Ok(Located::At(Path::whole(self.state.variable(*variable))))
            }
            Kind::Global(global) => Ok(Located::At(self.global(*global)?)),
            Kind::Field(of, name) => {
                let located = self.locate_exactly(of)?;
                Ok(self.field_exactly(located, name, expression))
            }
            Kind::Index(of, index) => {
                if !matches!(of.ty, Type::Reference(_))
                    && let located @ (Located::At(_) | Located::OneOf(_) | Located::Within(_)) =
                        self.locate_exactly(of)?
                {
                    let before = self.index.take();
                    let index = self.evaluate(index)?;
                    self.index = before;
                    if let Some(element) = self.element_exactly(&located, &index, &expression.ty) {
                        self.note_index(&index);
                        return Ok(element);
                    }
                    let pointer = self.value_there(located, of);
                    return Ok(self.pointed(&pointer, &index, &expression.ty));
                }
                let pointer = self.evaluate(of)?;
                let index = self.evaluate(index)?;
                if let Value::Sequence(_) = pointer {
                    let step = index.as_integer().and_then(|it| u64::try_from(it).ok());
                    let step = step.map_or(Step::Somewhere, Step::Element);
                    return Ok(Located::Passing(self.part(&pointer, &step)));
                }
                if let Value::Function(..) | Value::External(..) = pointer {
                    return Ok(Located::Passing(pointer));
                }
                self.index = None;
                self.note_index(&index);
                Ok(self.pointed(&pointer, &index, &expression.ty))
            }
            Kind::Dereference(of) => {
                let pointer = self.evaluate(of)?;
                if let Value::Function(..) | Value::External(..) = pointer {
                    return Ok(Located::Passing(pointer));
                }
                let first = Value::integer(0, Scalar::I32);
                Ok(self.pointed(&pointer, &first, &expression.ty))
            }
            _ => Ok(Located::Passing(self.evaluate(expression)?)),
        }
    }

    /// Keeps which element is meant where nobody knows: who an element is goes by that as well.
    fn note_index(&mut self, index: &Value) {
        if index.as_number().is_some() {
            return;
        }
        let mut identity = Identity::of("index");
        identity.unknown(self.identity(index));
        if let Some(before) = self.index {
            identity.unknown(before);
        }
        self.index = Some(identity.finish());
    }

    /// An element of an array that is a place; `None`: it is no array, but a pointer.
    fn element_exactly(&mut self, of: &Located, index: &Value, ty: &Type) -> Option<Located> {
        match of {
            Located::At(path) => match self.array_at(path) {
                Some(KnownArray::Elements) => Some(match index.as_integer() {
                    // No array's elements are those of another row.
                    None => {
                        let step = self.among(path, 0, index).unwrap_or(Step::Somewhere);
                        Located::At(path.child(step))
                    }
                    Some(_) => self.element_behind(path, index, ty),
                }),
                Some(KnownArray::Type) => {
                    let step = index.as_integer().and_then(|it| u64::try_from(it).ok());
                    Some(Located::At(path.child(step.map_or(Step::Somewhere, Step::Element))))
                }
                _ => None,
            },
            Located::OneOf(paths) => {
                let parts = paths.iter().map(|path| {
                    match self.element_exactly(&Located::At(path.clone()), index, ty) {
                        Some(Located::At(path)) => Some(path),
                        _ => None,
                    }
                });
                Some(Located::OneOf(parts.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// What is known of an array that is there; `None`: there is none.
    fn array_at(&self, path: &Path) -> Option<KnownArray> {
        let kind = |value: &Value| match value {
            Value::Sequence(_) => Some(KnownArray::Elements),
            Value::Unknown(_, Type::Array(..)) => Some(KnownArray::Type),
            _ => None,
        };
        match self.known_at(path) {
            Some(value) => kind(value),
            None => kind(&self.peek_at(path)),
        }
    }

    fn field_exactly(&mut self, of: Located, name: &str, whole: &Expression) -> Located {
        match of {
            Located::At(path) => {
                let value = self.peek_at(&path);
                match self.field_of(&value, name) {
                    Some(field) => Located::At(path.child(Step::Field(field))),
                    None => match value {
                        Value::Handle(Handle::Status(_)) => {
                            let target = Target::Path(path.clone());
                            match self.field(&target, name, &whole.ty) {
                                Ok(Target::Value(value)) => Located::Passing(value),
                                Ok(Target::Path(path)) => Located::At(path),
                                Err(_) => Located::Within(path),
                            }
                        }
                        _ => Located::Within(path),
                    },
                }
            }
            Located::OneOf(paths) => {
                let parts = paths.iter().map(|path| {
                    let value = self.peek_at(path);
                    self.field_of(&value, name).map(|field| path.child(Step::Field(field)))
                });
                match parts.collect::<Option<Vec<Path>>>() {
                    Some(parts) => Located::OneOf(parts.into()),
                    None => Located::OneOf(paths),
                }
            }
            Located::Passing(value) => match self.field_of(&value, name) {
                Some(field) => Located::Passing(self.part(&value, &Step::Field(field))),
                None => {
                    let ty = whole.ty.clone();
                    Located::Passing(self.computed(&format!("field {name}"), &[&value], ty))
                }
            },
            within @ Located::Within(_) => within,
        }
    }

    fn field_of(&self, value: &Value, name: &str) -> Option<u32> {
        match value {
            Value::Defined { definition, variant, .. } => {
                self.field_number(*definition, *variant, name)
            }
            Value::Unknown(_, Type::Defined(definition, _)) => {
                self.field_number(*definition, 0, name)
            }
            _ => None,
        }
    }

    /// The value of an expression that names a place.
    pub(super) fn value_exactly(&mut self, expression: &Expression) -> Outcome {
        self.index = None;
        let located = self.locate_exactly(expression)?;
        let index = self.index.take();
        let value = self.value_there(located, expression);
        Ok(match (index, &value) {
            (
                Some(index),
                Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _),
            ) if self.pointees_of(&value).is_empty() => {
                let mut identity = Identity::of("element at");
                identity.unknown(*unknown);
                identity.unknown(index);
                let ty = self.type_of(&value);
                self.unknown(identity.finish(), &ty)
            }
            _ => value,
        })
    }

    /// The value where an expression leads to, of the expression's type.
    fn value_there(&mut self, located: Located, expression: &Expression) -> Value {
        let ty = &expression.ty;
        let value = match located {
            Located::At(path) => match self.read(&path, expression.place) {
                // Never set, as far as is known.
                Value::Moved => self.uninitialized(ty, expression.place),
                value => value,
            },
            Located::Within(path) => {
                let there = self.peek_at(&path);
                // What it is depends on where in it these bytes are.
                let mut identity = Identity::of("bytes of another type");
                identity.unknown(self.identity(&there));
                identity.unknown(self.fresh_unknown());
                self.unknown(identity.finish(), ty)
            }
            Located::OneOf(paths) => {
                let values: Vec<Value> =
                    paths.iter().map(|path| self.read(path, expression.place)).collect();
                let which = self.fresh_unknown();
                let one = values.into_iter().reduce(|one, other| self.merged(&one, &other, which));
                one.unwrap_or_default()
            }
            Located::Passing(value) => value,
        };
        match (&value, ty) {
            (Value::Scalar(kept, _), Type::Scalar(wanted)) if kept != wanted => {
                self.cast_exactly(&value, ty)
            }
            (Value::Unknown(unknown, Type::Unknown), ty) if *ty != Type::Unknown => {
                let unknown = *unknown;
                self.unknown(unknown, ty)
            }
            _ => value,
        }
    }

    /// Where an expression leads to, for whoever only reads.
    pub(super) fn target_exactly(&mut self, expression: &Expression) -> Outcome<Target> {
        Ok(match self.locate_exactly(expression)? {
            Located::At(path) => Target::Path(path),
            Located::Passing(value) => Target::Value(value),
            other => Target::Value(self.value_there(other, expression)),
        })
    }

    /// `&of`, and an array that is used as a pointer.
    pub(super) fn address(&mut self, of: &Expression) -> Outcome {
        if let Kind::Function(..) = of.kind {
            return self.evaluate(of);
        }
        let ty = Type::Reference(Box::new(of.ty.clone()));
        Ok(match self.locate_exactly(of)? {
            Located::At(path) => Value::Reference(path),
            Located::OneOf(paths) => {
                let pointer = self.fresh(ty);
                if let Value::Unknown(unknown, _) = &pointer {
                    self.pointees.borrow_mut().insert(unknown.identity, paths);
                }
                pointer
            }
            Located::Within(path) => {
                let pointer = self.fresh(ty);
                if let Value::Unknown(unknown, _) = &pointer {
                    let whole = Path::whole(path.object);
                    self.pointees.borrow_mut().insert(unknown.identity, Rc::from([path, whole]));
                }
                pointer
            }
            Located::Passing(value @ (Value::Reference(_) | Value::Function(..)))
                if !matches!(of.kind, Kind::Index(..) | Kind::Field(..) | Kind::Dereference(_)) =>
            {
                value
            }
            Located::Passing(_)
                if matches!(of.kind, Kind::Index(..) | Kind::Field(..) | Kind::Dereference(_)) =>
            {
                self.fresh(ty)
            }
            Located::Passing(value) => {
                let address = std::ptr::from_ref(of) as usize;
                let path = Path::whole(self.state.temporary(address));
                self.put(&path, value);
                Value::Reference(path)
            }
        })
    }

    /// `target = value`
    pub(super) fn assign_exactly(&mut self, target: &Expression, value: Value) -> Outcome<()> {
        let located = self.locate_exactly(target)?;
        self.set_located(located, value, target.place);
        Ok(())
    }

    fn set_located(&mut self, located: Located, value: Value, place: Place) {
        match located {
            Located::At(path) => self.write(&path, value, place),
            // Which one it is, nobody knows: each may be what it was.
            Located::OneOf(paths) => {
                for path in paths.iter() {
                    let old = self.peek_at(path);
                    let which = self.fresh_unknown();
                    let either = self.merged(&old, &value, which);
                    self.put(path, either);
                }
            }
            Located::Within(path) => self.forget_there(&path),
            Located::Passing(_) => {}
        }
    }

    /// `target += value`
    pub(super) fn assign_with_exactly(
        &mut self,
        operation: Binary,
        target: &Expression,
        value: &Expression,
        place: Place,
    ) -> Outcome {
        let value = self.evaluate(value)?;
        let located = self.locate_exactly(target)?;
        let old = self.value_there(located.clone(), target);
        let old = self.settled(old);
        let new = match (&target.ty, operation) {
            (Type::Reference(to), Binary::Add) => self.offset(&old, &value, to),
            (Type::Reference(to), Binary::Subtract) => {
                let back = self.unary(crate::program::Unary::Negate, &value, place);
                self.offset(&old, &back, to)
            }
            _ => {
                let new = self.binary_exactly(operation, &old, &value, &target.ty, place)?;
                self.cast_exactly(&new, &target.ty)
            }
        };
        self.set_located(located, new, place);
        Ok(Value::unit())
    }
}
