//! Expressions that name a place: variables, fields, elements, what references lead to.

use std::rc::Rc;

use super::handle::Handle;
use super::iterator::Lazy;
use super::library;
use super::machine::{Call, Machine, Outcome};
use super::state::Frame;
use super::value::{Items, Length, Path, Step, Value};
use crate::program::{Expression, GlobalId, Kind, Place, Type};

/// Where a value is, or the value if it is nowhere.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// There.
    Path(Path),
    /// In passing.
    Value(Value),
}

impl Machine<'_> {
    /// The place that an expression names, or its value if it names none.
    pub(super) fn locate(&mut self, expression: &Expression) -> Outcome<Target> {
        if self.is_c() {
            return self.target_exactly(expression);
        }
        match &expression.kind {
            Kind::Variable(variable) => {
                Ok(Target::Path(Path::whole(self.state.variable(*variable))))
            }
            Kind::Global(global) => Ok(Target::Path(self.global(*global)?)),
            Kind::Field(of, name) => {
                let target = self.locate(of)?;
                let target = self.deref_all(target);
                self.field(&target, name, &expression.ty)
            }
            Kind::Index(of, index) => {
                let target = self.locate(of)?;
                let target = self.deref_all(target);
                let index = self.evaluate(index)?;
                self.index(target, index, expression)
            }
            Kind::Dereference(of) => {
                let target = self.locate(of)?;
                match (&of.ty, self.look(&target)) {
                    // A box is what it holds: `*` leads no further, whatever that derefs to itself.
                    (Type::External(name, _), Value::Defined { .. }) if name == "Box" => Ok(target),
                    (Type::Reference(_), Value::Defined { .. }) => Ok(target),
                    _ => self.dereference(target, expression.place),
                }
            }
            _ => Ok(Target::Value(self.evaluate(expression)?)),
        }
    }

    /// The value at a target, without touching or moving it.
    pub(super) fn look(&mut self, target: &Target) -> Value {
        match target {
            Target::Path(path) => self.peek(path),
            Target::Value(value) => value.clone(),
        }
    }

    /// The value at a target as an expression's value: moved if it must be.
    pub(super) fn use_up(&mut self, target: Target, place: Place) -> Value {
        match target {
            Target::Path(path) => self.take(&path, place),
            Target::Value(value) => value,
        }
    }

    /// Follows references to what is not one. What was never set, as far as is known, is some value
    /// from here on.
    pub(super) fn deref_all(&mut self, target: Target) -> Target {
        let path = match target {
            Target::Path(path) | Target::Value(Value::Reference(path)) => self.end_of(path),
            other => return other,
        };
        if path.steps.is_empty() && matches!(self.state.memory.get(path.object), Some(Value::Moved))
        {
            let some = self.fresh(Type::Unknown);
            self.put(&path, some);
        }
        Target::Path(path)
    }

    /// `*target`
    pub(super) fn dereference(&mut self, target: Target, place: Place) -> Outcome<Target> {
        match self.look(&target) {
            Value::Reference(path) => Ok(Target::Path(path)),
            value @ Value::Defined { definition, .. } if self.has_method(definition, "deref") => {
                let receiver = match target {
                    Target::Path(path) => Value::Reference(path),
                    Target::Value(_) => value,
                };
                let called =
                    self.call_method(&receiver, "deref", Vec::new(), &Type::Unknown, place);
                match called.transpose()? {
                    Some(Value::Reference(path)) => Ok(Target::Path(path)),
                    Some(value) => Ok(Target::Value(value)),
                    None => Ok(Target::Value(receiver)),
                }
            }
            // A box, or a value that is kept without the reference it has in the text.
            _ => Ok(target),
        }
    }

    /// A field of what is at a target.
    pub(super) fn field(&mut self, target: &Target, name: &str, ty: &Type) -> Outcome<Target> {
        let value = self.look(target);
        if let Value::Handle(Handle::Status(status)) = &value
            && let Some(value) = library::mpi::status_field(self, status, name)
        {
            return Ok(Target::Value(value));
        }
        let index = match (&value, name.parse::<u32>()) {
            (_, Ok(index)) => Some(index),
            (Value::Defined { definition, variant, .. }, _) => {
                self.field_number(*definition, *variant, name)
            }
            (Value::Unknown(_, Type::Defined(definition, _)), _) => {
                self.field_number(*definition, 0, name)
            }
            _ => None,
        };
        if let (Value::Defined { definition, .. }, None) = (&value, index)
            && self.has_method(*definition, "deref")
        {
            let place = Place::default();
            let target = self.dereference(target.clone(), place)?;
            let target = self.deref_all(target);
            if !matches!(self.look(&target), Value::Defined { definition: same, .. } if same == *definition)
            {
                return self.field(&target, name, ty);
            }
        }
        match (index, target) {
            (Some(index), Target::Path(path)) => Ok(Target::Path(path.child(Step::Field(index)))),
            (Some(index), Target::Value(value)) => {
                Ok(Target::Value(self.part(value, &Step::Field(index))))
            }
            (None, _) => {
                let ty = self.resolve(ty);
                Ok(Target::Value(self.computed(&format!("field {name}"), &[&value], ty)))
            }
        }
    }

    /// The number of a field by its name.
    pub(super) fn field_number(
        &self,
        definition: crate::program::DefinitionId,
        variant: u32,
        name: &str,
    ) -> Option<u32> {
        let variants = &self.program.definition(definition).variants;
        let fields = &variants.get(variant as usize)?.fields;
        fields.iter().position(|(field, _)| field == name).map(|index| index as u32)
    }

    /// `target[index]`
    fn index(&mut self, target: Target, index: Value, expression: &Expression) -> Outcome<Target> {
        let place = expression.place;
        let value = self.look(&target);
        let index = self.behind(&index, place);
        if let Value::Defined { definition, .. } = &value
            && self.has_method(*definition, "index")
        {
            let receiver = match &target {
                Target::Path(path) => Value::Reference(path.clone()),
                Target::Value(value) => value.clone(),
            };
            let ty = self.resolve(&expression.ty);
            let called = self.call_method(&receiver, "index", vec![index], &ty, place);
            return Ok(match called.transpose()? {
                Some(Value::Reference(path)) => Target::Path(path),
                other => Target::Value(other.unwrap_or_default()),
            });
        }
        let is_row = match &value {
            Value::Sequence(_) => true,
            Value::Unknown(_, ty) => super::types::element(ty).is_some(),
            _ => false,
        };
        if !is_row {
            return self.index_of_library(target, index, expression);
        }
        let step = self.step(&value, &index);
        Ok(match target {
            Target::Path(path) => Target::Path(path.child(step)),
            Target::Value(value) => Target::Value(self.part(&value, &step)),
        })
    }

    /// `map[key]`, `text[a..b]`: what only the library knows.
    fn index_of_library(
        &mut self,
        target: Target,
        index: Value,
        expression: &Expression,
    ) -> Outcome<Target> {
        let receiver = match target {
            Target::Path(path) => Value::Reference(path),
            Target::Value(value) => value,
        };
        let ty = self.resolved(&expression.ty);
        let call = Call {
            name: "index",
            generics: Vec::new(),
            arguments: vec![index.clone()],
            expressions: &[],
            ty: ty.clone(),
            place: expression.place,
        };
        let value = match library::method(self, &receiver, &call) {
            Some(outcome) => outcome?,
            None => self.computed("index", &[&receiver, &index], ty.into_owned()),
        };
        Ok(match value {
            Value::Reference(path) => Target::Path(path),
            value => Target::Value(value),
        })
    }

    /// The step to an element or a slice of a sequence.
    fn step(&mut self, of: &Value, index: &Value) -> Step {
        if let Some(index) = index.as_integer() {
            return u64::try_from(index).map_or(Step::Somewhere, Step::Element);
        }
        let length = match of {
            Value::Sequence(sequence) => match &sequence.items {
                Items::Each(items) => Some(items.len() as u64),
                Items::Alike(_, Length::Known(length)) => Some(*length),
                Items::Alike(..) => None,
            },
            _ => None,
        };
        let Value::Iterator(lazy) = index else { return Step::Somewhere };
        let Lazy::Range { next, end } = &**lazy else {
            return Step::Part(Length::Unknown(self.fresh_unknown()));
        };
        let number = |value: &Value| value.as_integer().and_then(|it| u64::try_from(it).ok());
        let first = number(next);
        let last = end.as_ref().map_or(length, number);
        match (first, last, length) {
            (Some(first), Some(last), Some(length)) if first <= last && last <= length => {
                Step::Slice(first, last)
            }
            (Some(first), Some(last), None) if first <= last => Step::Slice(first, last),
            (Some(0), None, _) if end.is_some() => {
                let last = end.as_ref().map(|end| self.identity(end));
                Step::Part(Length::Unknown(last.unwrap_or_else(|| self.fresh_unknown())))
            }
            _ => Step::Part(Length::Unknown(self.fresh_unknown())),
        }
    }

    /// Where a constant or a static variable is; it gets its value when it is first asked for.
    pub(super) fn global(&mut self, id: GlobalId) -> Outcome<Path> {
        if let Some(object) = self.state.globals.get(&id) {
            return Ok(Path::whole(*object));
        }
        let program = self.program;
        let global = program.global(id);
        let value = match &global.value {
            // Its value leads back to it, as that of the head of an empty list does.
            Some(_) if self.begun.contains(&id) => {
                self.uniform(&format!("constant {}", global.name), global.ty.clone())
            }
            Some(value) => {
                self.begun.push(id);
                let caller = self.enter(Frame::default());
                let detached = self.detached.len();
                let outcome = self.evaluate(value);
                self.leave_frame(caller, detached, None);
                self.begun.pop();
                let value = outcome?;
                if let Some(object) = self.state.globals.get(&id) {
                    let path = Path::whole(*object);
                    self.put(&path, value);
                    return Ok(path);
                }
                value
            }
            // What another file defines may be another thing on each rank.
            None if self.is_c() => self.uninitialized(&global.ty, global.place),
            None => self.uniform(&format!("constant {}", global.name), global.ty.clone()),
        };
        let path = self.allocate(value);
        Rc::make_mut(&mut self.state.globals).insert(id, path.object);
        Ok(path)
    }
}
