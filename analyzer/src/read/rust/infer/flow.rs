//! Walks over a body: blocks, branches, loops, and where they are left.

use super::Inference;
use super::question::Question;
use super::term::{Shape, TermId};
use crate::program::{Arm, Block, Condition, Expression, Kind, Pattern, Scalar, Statement, Type};

/// A loop or a labelled block that can be left.
#[derive(Debug)]
pub(super) struct Exit {
    label: Option<String>,
    /// Whether it is a loop, which `break` without a label leaves.
    is_loop: bool,
    /// What it gives.
    result: TermId,
    /// Whether anything leaves it.
    is_left: bool,
}

impl Inference<'_> {
    /// The body of a function or a closure, which gives this.
    pub(super) fn body(&mut self, body: &mut Expression, result: TermId) {
        let exits = std::mem::take(&mut self.exits);
        self.returns.push(result);
        let value = self.expression(body);
        self.coerce(value, result);
        self.settle();
        self.returns.pop();
        self.exits = exits;
    }

    pub(super) fn control(&mut self, kind: &mut Kind) -> TermId {
        match kind {
            Kind::Block(block) => self.block(block),
            Kind::If { condition, then, otherwise } => {
                self.condition(condition);
                let then = self.expression(then);
                match otherwise {
                    Some(otherwise) => {
                        let otherwise = self.expression(otherwise);
                        self.either(&[then, otherwise])
                    }
                    None => self.terms.unit(),
                }
            }
            Kind::Match(value, arms) => self.matched(value, arms),
            Kind::Loop(label, body) => {
                let result = self.open();
                if self.within(label.clone(), true, result, |one| _ = one.expression(body)) {
                    result
                } else {
                    self.terms.known(Shape::Never, &[])
                }
            }
            Kind::While(label, condition, body) => {
                let unit = self.terms.unit();
                self.within(label.clone(), true, unit, |one| {
                    one.condition(condition);
                    one.expression(body);
                });
                unit
            }
            Kind::For { label, pattern, over, body } => {
                let over = self.expression(over);
                self.each(label.clone(), pattern, over, body)
            }
            Kind::Break(label, value) => {
                let value = match value {
                    Some(value) => self.expression(value),
                    None => self.terms.unit(),
                };
                self.leave(label.as_deref(), value);
                self.terms.known(Shape::Never, &[])
            }
            Kind::Return(value) => {
                let value = match value {
                    Some(value) => self.expression(value),
                    None => self.terms.unit(),
                };
                if let Some(result) = self.returns.last().copied() {
                    self.coerce(value, result);
                }
                self.terms.known(Shape::Never, &[])
            }
            Kind::Continue(_) => self.terms.known(Shape::Never, &[]),
            _ => self.terms.doubtful(),
        }
    }

    fn each(
        &mut self,
        label: Option<String>,
        pattern: &mut Pattern,
        over: TermId,
        body: &mut Expression,
    ) -> TermId {
        let item = self.open();
        self.ask(Question::Iterate { over, item });
        self.settle();
        let unit = self.terms.unit();
        self.within(label, true, unit, |one| {
            if one.terms.is_open(item) && one.terms.is_open(over) {
                one.terms.doubt(item);
            }
            one.bind(pattern, item);
            one.expression(body);
        });
        unit
    }

    /// Looks at what can be left by `break`; gives whether it is.
    fn within(
        &mut self,
        label: Option<String>,
        is_loop: bool,
        result: TermId,
        walk: impl FnOnce(&mut Self),
    ) -> bool {
        self.exits.push(Exit { label, is_loop, result, is_left: false });
        walk(self);
        self.exits.pop().is_some_and(|exit| exit.is_left)
    }

    fn leave(&mut self, label: Option<&str>, value: TermId) {
        let exit = self.exits.iter_mut().rev().find(|exit| match label {
            Some(label) => exit.label.as_deref() == Some(label),
            None => exit.is_loop,
        });
        if let Some(exit) = exit {
            exit.is_left = true;
            let result = exit.result;
            self.coerce(value, result);
        }
    }

    fn block(&mut self, block: &mut Block) -> TermId {
        let Some(label) = block.label.clone() else {
            return self.statements(block);
        };
        let result = self.open();
        let mut value = result;
        let is_left = self.within(Some(label), false, result, |one| value = one.statements(block));
        if is_left {
            self.coerce(value, result);
            result
        } else {
            value
        }
    }

    fn statements(&mut self, block: &mut Block) -> TermId {
        let mut ends = false;
        for statement in &mut block.statements {
            match statement {
                Statement::Let { pattern, ty, value, otherwise } => {
                    self.declare(pattern, ty, value.as_mut());
                    if let Some(otherwise) = otherwise {
                        self.expression(otherwise);
                    }
                }
                Statement::Expression(expression) => {
                    let term = self.expression(expression);
                    ends |= self.terms.is_never(term);
                }
            }
        }
        match &mut block.value {
            Some(value) => self.expression(value),
            None if ends => self.terms.known(Shape::Never, &[]),
            None => self.terms.unit(),
        }
    }

    fn declare(&mut self, pattern: &mut Pattern, ty: &mut Type, value: Option<&mut Expression>) {
        let declared = if *ty == Type::Unknown {
            None
        } else {
            if let Pattern::Variable(variable, _) = pattern {
                self.declare_variable(*variable, ty);
            }
            Some(self.note(ty))
        };
        let value = value.map(|value| self.free_closure(value));
        match (declared, value) {
            (Some(declared), value) => {
                if let Some(value) = value {
                    self.coerce(value, declared);
                }
                self.bind(pattern, declared);
            }
            (None, Some(value)) => {
                if !self.terms.is_never(value) {
                    self.bind(pattern, value);
                }
            }
            (None, None) => {
                let open = self.open();
                self.bind(pattern, open);
            }
        }
        self.settle();
    }

    fn condition(&mut self, condition: &mut Condition) {
        match condition {
            Condition::Holds(expression) => {
                let term = self.expression(expression);
                let truth = self.terms.scalar(Scalar::Bool);
                self.coerce(term, truth);
            }
            Condition::Let(pattern, value) => {
                let value = self.expression(value);
                self.bind(pattern, value);
                self.settle();
            }
            Condition::And(first, second) => {
                self.condition(first);
                self.condition(second);
            }
        }
    }

    fn matched(&mut self, value: &mut Expression, arms: &mut [Arm]) -> TermId {
        let value = self.expression(value);
        let mut results = Vec::with_capacity(arms.len());
        for arm in arms {
            self.bind(&mut arm.pattern, value);
            if let Some(guard) = &mut arm.guard {
                self.condition(guard);
            }
            results.push(self.expression(&mut arm.body));
        }
        self.either(&results)
    }

    /// One of these, of which some may never come to be.
    fn either(&mut self, values: &[TermId]) -> TermId {
        let mut result = None;
        for value in values {
            if self.terms.is_never(*value) {
                continue;
            }
            let result = *result.get_or_insert_with(|| self.open());
            self.coerce(*value, result);
        }
        result.unwrap_or_else(|| self.terms.known(Shape::Never, &[]))
    }
}
