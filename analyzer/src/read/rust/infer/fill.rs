//! Writes what was found into the program: every term becomes the type that it stands for.

use std::sync::Arc;

use super::Inference;
use super::term::TermId;
use crate::program::{Arm, Block, Closure, Condition, Expression, Kind, Pattern, Statement, Type};

/// Fills in an expression and all that is in it.
pub(super) fn expression(expression: &mut Expression, inference: &mut Inference<'_>) {
    Fill { inference }.expression(expression);
}

struct Fill<'i, 'p> {
    inference: &'i mut Inference<'p>,
}

impl Fill<'_, '_> {
    fn ty(&mut self, ty: &mut Type) {
        if let Type::Variable(term) = ty {
            *ty = self.inference.terms.resolve(TermId(*term));
        }
    }

    fn types(&mut self, types: &mut [Type]) {
        types.iter_mut().for_each(|ty| self.ty(ty));
    }

    fn expressions(&mut self, expressions: &mut [Expression]) {
        expressions.iter_mut().for_each(|one| self.expression(one));
    }

    fn optional(&mut self, expression: &mut Option<Box<Expression>>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    fn expression(&mut self, expression: &mut Expression) {
        self.ty(&mut expression.ty);
        match &mut expression.kind {
            Kind::Function(_, generics) | Kind::External(_, generics) => self.types(generics),
            Kind::Tuple(parts) | Kind::Array(parts) | Kind::Macro(_, parts) => {
                self.expressions(parts);
            }
            Kind::Repeat(one, other)
            | Kind::Binary(_, one, other)
            | Kind::Assign(one, other)
            | Kind::AssignWith(_, one, other)
            | Kind::Index(one, other) => {
                self.expression(one);
                self.expression(other);
            }
            Kind::Construct { fields, rest, .. } => {
                fields.iter_mut().for_each(|(_, value)| self.expression(value));
                self.optional(rest);
            }
            Kind::Cast(of, ty) => {
                self.expression(of);
                self.ty(ty);
            }
            Kind::Unary(_, of)
            | Kind::Reference { of, .. }
            | Kind::Dereference(of)
            | Kind::Field(of, _)
            | Kind::Loop(_, of)
            | Kind::Try(of) => self.expression(of),
            Kind::Range { start, end, .. } => {
                self.optional(start);
                self.optional(end);
            }
            Kind::Call(callee, arguments) => {
                self.expression(callee);
                self.expressions(arguments);
            }
            Kind::Method { receiver, generics, arguments, .. } => {
                self.expression(receiver);
                self.types(generics);
                self.expressions(arguments);
            }
            Kind::Closure(closure) => self.closure(Arc::make_mut(closure)),
            Kind::Break(_, value) | Kind::Return(value) => self.optional(value),
            Kind::Literal(_)
            | Kind::Variable(_)
            | Kind::Global(_)
            | Kind::Continue(_)
            | Kind::Unknown(_) => {}
            control => self.control(control),
        }
    }

    fn control(&mut self, kind: &mut Kind) {
        match kind {
            Kind::Block(block) => self.block(block),
            Kind::If { condition, then, otherwise } => {
                self.condition(condition);
                self.expression(then);
                self.optional(otherwise);
            }
            Kind::Match(value, arms) => {
                self.expression(value);
                for Arm { pattern, guard, body } in arms {
                    self.pattern(pattern);
                    if let Some(guard) = guard {
                        self.condition(guard);
                    }
                    self.expression(body);
                }
            }
            Kind::While(_, condition, body) => {
                self.condition(condition);
                self.expression(body);
            }
            Kind::For { pattern, over, body, .. } => {
                self.pattern(pattern);
                self.expression(over);
                self.expression(body);
            }
            _ => {}
        }
    }

    fn closure(&mut self, closure: &mut Closure) {
        for (pattern, ty) in &mut closure.parameters {
            self.pattern(pattern);
            self.ty(ty);
        }
        self.expression(&mut closure.body);
    }

    fn block(&mut self, block: &mut Block) {
        for statement in &mut block.statements {
            match statement {
                Statement::Let { pattern, ty, value, otherwise } => {
                    self.pattern(pattern);
                    self.ty(ty);
                    for part in [value, otherwise].into_iter().flatten() {
                        self.expression(part);
                    }
                }
                Statement::Expression(expression) => self.expression(expression),
            }
        }
        self.optional(&mut block.value);
    }

    fn condition(&mut self, condition: &mut Condition) {
        match condition {
            Condition::Holds(expression) => self.expression(expression),
            Condition::Let(pattern, value) => {
                self.pattern(pattern);
                self.expression(value);
            }
            Condition::And(first, second) => {
                self.condition(first);
                self.condition(second);
            }
        }
    }

    fn pattern(&mut self, pattern: &mut Pattern) {
        match pattern {
            Pattern::Value(value) => self.expression(value),
            Pattern::Range(start, end, _) => {
                self.optional(start);
                self.optional(end);
            }
            Pattern::Variable(_, Some(inner)) | Pattern::Reference(inner) => self.pattern(inner),
            Pattern::Tuple(parts)
            | Pattern::Slice(parts)
            | Pattern::External(_, parts)
            | Pattern::Or(parts) => parts.iter_mut().for_each(|one| self.pattern(one)),
            Pattern::Defined { fields, .. } => {
                fields.iter_mut().for_each(|field| self.pattern(&mut field.pattern));
            }
            Pattern::Variable(_, None) | Pattern::Wildcard | Pattern::Rest | Pattern::Unknown => {}
        }
    }
}
