//! Statements, one by one: blocks and their scopes, and what `let` declares.

use super::choices::Choice;
use super::identity::SOME_INTEGER;
use super::machine::{Flow, Machine, Outcome};
use super::patterns::Matched;
use super::places::Target;
use super::types;
use super::value::{Path, Sequence, Value};
use crate::program::{Block, Expression, Kind, Pattern, Statement, Type};

impl Machine<'_> {
    /// Statements in a scope of their own.
    pub(super) fn evaluate_block(&mut self, block: &Block) -> Outcome {
        let began = (self.detached.len(), self.graph.mark());
        let scope = self.open_scope();
        let outcome = self.statements(block);
        let outcome = self.close_scope(scope, outcome, block.end);
        let Some(label) = &block.label else { return outcome };
        self.arrive(outcome, began, block.end, |flow| match flow {
            Flow::Break(Some(target), value) if target == label => Some(value.clone()),
            _ => None,
        })
    }

    /// What stands in a block, one after another, and the value at its end.
    fn statements(&mut self, block: &Block) -> Outcome {
        for statement in &block.statements {
            match statement {
                Statement::Expression(expression) => {
                    self.note_statement(expression);
                    let scope = self.open_scope();
                    let outcome = self.evaluate(expression);
                    let outcome =
                        outcome.and_then(|value| self.drop_value(value, expression.place));
                    self.close_scope(scope, outcome, expression.place)?;
                    self.note_statement_done(expression);
                }
                Statement::Let { pattern, ty, value, otherwise } => {
                    value.iter().for_each(|value| self.note_statement(value));
                    self.declare(pattern, ty, value.as_ref(), otherwise.as_ref())?;
                    value.iter().for_each(|value| self.note_statement_done(value));
                }
            }
        }
        block.value.iter().for_each(|value| self.note_statement(value));
        self.optional(block.value.as_deref())
    }

    /// `let pattern: ty = value else { otherwise };`
    fn declare(
        &mut self,
        pattern: &Pattern,
        ty: &Type,
        value: Option<&Expression>,
        otherwise: Option<&Expression>,
    ) -> Outcome<()> {
        let Some(expression) = value else {
            // Set later: it is there from here on, on all ways.
            pattern.for_each_variable(&mut |variable| {
                let object = self.state.variable(variable);
                self.put(&Path::whole(object), Value::Moved);
                self.state.declared.push(object);
            });
            return Ok(());
        };
        let place = expression.place;
        // A place that is taken apart stays where it is: `let (a, b) = &pair`, `let _ = x`.
        let is_simple = matches!(pattern, Pattern::Variable(_, None));
        if !is_simple && otherwise.is_none() && is_place(expression) {
            let target = self.locate(expression)?;
            return self.bind(pattern, &target.into(), place);
        }
        let scope = self.open_scope();
        let outcome = self.evaluate(expression);
        let value = self.close_scope(scope, outcome, place)?;
        let value = self.typed(value, ty);
        let Some(otherwise) = otherwise else {
            return self.bind_always(pattern, value, place);
        };
        self.spare(otherwise);
        let subject = Target::Value(value).into();
        match self.test(pattern, &subject, place)? {
            Matched::No => self.evaluate(otherwise).map(|_| ()),
            Matched::Yes => self.bind(pattern, &subject, place),
            Matched::If(condition) => {
                let choice = Choice::or_else(place, self.effects.get(otherwise), otherwise);
                let go_on = |_: &mut Self| Ok(Value::unit());
                let fail = |machine: &mut Self| machine.evaluate(otherwise);
                self.choose(condition, &choice, &go_on, &fail)?;
                self.bind(pattern, &subject, place)
            }
        }
    }

    /// A value with the type that is written beside it, where that says more.
    fn typed(&mut self, value: Value, ty: &Type) -> Value {
        match (&value, ty) {
            (_, Type::Unknown) => value,
            (Value::Scalar(scalar, content), Type::Scalar(written)) if *scalar == SOME_INTEGER => {
                Value::Scalar(*written, *content)
            }
            (Value::Unknown(unknown, Type::Unknown), ty) => {
                let ty = self.resolve(ty);
                self.unknown(*unknown, &ty)
            }
            (Value::Sequence(sequence), ty) if sequence.element == Type::Unknown => {
                let ty = self.resolve(ty);
                match types::element(ty.behind_references()) {
                    Some(element) => Value::Sequence(Sequence {
                        element: element.clone(),
                        items: sequence.items.clone(),
                    }),
                    None => value,
                }
            }
            _ => value,
        }
    }
}

/// Whether an expression names a place.
fn is_place(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        Kind::Variable(_) | Kind::Field(..) | Kind::Index(..) | Kind::Dereference(_)
    )
}
