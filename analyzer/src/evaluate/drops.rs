//! Where values end: at the end of their scope, in reverse order; at the end of their statement;
//! where another value takes their place.

use std::rc::Rc;

use super::handle::Handle;
use super::library;
use super::machine::{Flow, Machine, Outcome};
use super::value::{Items, Path, Sequence, Value};
use crate::program::{DefinitionId, Place, Type};

/// Where scopes began: what was declared, and what was detached before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    declared: usize,
    detached: usize,
}

impl Machine<'_> {
    /// Whether a value's life has an end that matters: a request, a guard, a message, a future, or
    /// a struct with a `drop` of its own, wherever it is inside.
    pub(super) fn is_owned(&self, value: &Value) -> bool {
        if self.is_c() {
            return false;
        }
        match value {
            Value::Handle(handle) => is_owned_handle(handle),
            Value::Tuple(parts) | Value::Variant(_, parts) => {
                parts.iter().any(|part| self.is_owned(part))
            }
            Value::Defined { definition, fields, .. } => {
                self.has_drop(*definition) || fields.iter().any(|part| self.is_owned(part))
            }
            Value::Sequence(Sequence { items: Items::Each(items), .. }) => match items.first() {
                None | Some(Value::Scalar(..) | Value::Text(_)) => false,
                Some(_) => items.iter().any(|item| self.is_owned(item)),
            },
            Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => self.is_owned(item),
            _ => false,
        }
    }

    fn has_drop(&self, definition: DefinitionId) -> bool {
        let traits = &self.program.definition(definition).traits;
        traits.iter().any(|name| name == "Drop") && self.has_method(definition, "drop")
    }

    /// Ends a value's life: guards wait, messages that were never received are noted.
    pub(super) fn drop_value(&mut self, value: Value, place: Place) -> Outcome<()> {
        if self.is_c() {
            return Ok(());
        }
        match value {
            Value::Handle(handle) if is_owned_handle(&handle) => {
                library::drop_handle(self, handle, place)
            }
            Value::Tuple(parts) | Value::Variant(_, parts) => self.drop_all(&parts, place),
            Value::Defined { definition, variant, fields } => {
                if !self.has_drop(definition) {
                    return self.drop_all(&fields, place);
                }
                let path = self.allocate(Value::Defined { definition, variant, fields });
                let receiver = Value::Reference(path.clone());
                let unit = Type::unit();
                let called = self.call_method(&receiver, "drop", Vec::new(), &unit, place);
                called.transpose()?;
                match self.peek(&path) {
                    Value::Defined { fields, .. } => self.drop_all(&fields, place),
                    _ => Ok(()),
                }
            }
            Value::Sequence(Sequence { items: Items::Each(items), .. }) => match items.first() {
                None | Some(Value::Scalar(..)) => Ok(()),
                Some(_) => self.drop_all(&items, place),
            },
            _ => Ok(()),
        }
    }

    fn drop_all(&mut self, parts: &Rc<Vec<Value>>, place: Place) -> Outcome<()> {
        for part in parts.iter() {
            if self.is_owned(part) {
                self.drop_value(part.clone(), place)?;
            }
        }
        Ok(())
    }

    /// A scope begins.
    pub(super) fn open_scope(&self) -> Scope {
        Scope { declared: self.state.declared.len(), detached: self.detached.len() }
    }

    /// A scope ends, however it was left: what was declared in it is dropped, in reverse order. Its
    /// value has been taken out of it before.
    pub(super) fn close_scope<T>(
        &mut self,
        scope: Scope,
        outcome: Outcome<T>,
        place: Place,
    ) -> Outcome<T> {
        let Scope { declared, detached } = scope;
        self.on_detached(detached, |machine| machine.drop_declared(declared, place));
        match outcome {
            // Nobody is left to drop anything.
            Err(Flow::Gone) => {
                self.state.declared.truncate(declared);
                Err(Flow::Gone)
            }
            outcome => {
                self.drop_declared(declared, place)?;
                outcome
            }
        }
    }

    fn drop_declared(&mut self, from: usize, place: Place) -> Outcome<()> {
        while self.state.declared.len() > from {
            let Some(object) = self.state.declared.pop() else { break };
            let Some(value) = self.state.memory.get(object) else { continue };
            if self.is_owned(value) {
                let value = value.clone();
                self.put(&Path::whole(object), Value::Moved);
                self.drop_value(value, place)?;
            }
        }
        Ok(())
    }

    /// A value in passing ends with the scope around it.
    pub(super) fn drop_at_end_of_scope(&mut self, value: Value) -> Path {
        let object = self.state.memory.add(value);
        self.state.declared.push(object);
        Path::whole(object)
    }
}

fn is_owned_handle(handle: &Handle) -> bool {
    matches!(
        handle,
        Handle::Request(_)
            | Handle::Guard { .. }
            | Handle::Collection(_)
            | Handle::Requests(_)
            | Handle::Future(..)
            | Handle::Message(_)
    )
}

/// Visits the handles in a value whose life has an end that matters.
pub(super) fn owned_handles(value: &Value, visit: &mut dyn FnMut(&Handle)) {
    match value {
        Value::Handle(handle) if is_owned_handle(handle) => visit(handle),
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().for_each(|part| owned_handles(part, visit));
        }
        Value::Sequence(Sequence { items: Items::Each(items), .. })
            if !matches!(items.first(), Some(Value::Scalar(..)) | None) =>
        {
            items.iter().for_each(|item| owned_handles(item, visit));
        }
        Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => {
            owned_handles(item, visit);
        }
        _ => {}
    }
}
