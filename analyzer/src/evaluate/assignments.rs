//! Assignments, and what they take the place of.

use super::machine::{Machine, Outcome};
use super::operators::operator_method;
use super::places::Target;
use super::value::{Step, Value};
use crate::program::{Binary, Expression, Kind, Place, Type};

impl Machine<'_> {
    /// `target = value`; what was there is dropped.
    pub(super) fn assign(
        &mut self,
        target: &Expression,
        value: Value,
        place: Place,
    ) -> Outcome<()> {
        if self.is_c() {
            return self.assign_exactly(target, value);
        }
        match &target.kind {
            Kind::Tuple(targets) | Kind::Array(targets) => {
                for (index, target) in targets.iter().enumerate() {
                    let step = match &target.kind {
                        Kind::Array(_) => Step::Element(index as u64),
                        _ => Step::Field(index as u32),
                    };
                    let part = self.part(&value, &step);
                    self.assign(target, part, place)?;
                }
                Ok(())
            }
            // `_ = value`
            Kind::Unknown(_) => self.drop_value(value, place),
            _ => match self.locate(target)? {
                Target::Path(path) => {
                    let old = self.peek(&path);
                    self.write(&path, value, target.place);
                    if self.is_owned(&old) { self.drop_value(old, place) } else { Ok(()) }
                }
                Target::Value(Value::Reference(path)) => {
                    self.write(&path, value, target.place);
                    Ok(())
                }
                Target::Value(_) => Ok(()),
            },
        }
    }

    pub(super) fn assign_with(
        &mut self,
        operation: Binary,
        target: &Expression,
        value: &Expression,
        place: Place,
    ) -> Outcome {
        if self.is_c() {
            return self.assign_with_exactly(operation, target, value, place);
        }
        let value = self.operand(value)?;
        let target_expression = target;
        let target = self.locate(target)?;
        let Target::Path(path) = self.deref_all(target) else { return Ok(Value::unit()) };
        let old = self.read(&path, target_expression.place);
        if let Value::Defined { definition, .. } = &old {
            let name = operator_method(operation).map(|name| format!("{name}_assign"));
            if let Some(name) = name.filter(|name| self.has_method(*definition, name)) {
                let receiver = Value::Reference(path);
                let called = self.call_method(&receiver, &name, vec![value], &Type::unit(), place);
                called.transpose()?;
                return Ok(Value::unit());
            }
        }
        let new = self.operate(operation, old, value, &target_expression.ty, place)?;
        self.write(&path, new, target_expression.place);
        Ok(Value::unit())
    }
}
