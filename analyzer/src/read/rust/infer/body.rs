//! Walks over a body: expressions, one kind after the other. Control flow is in
//! [`super::flow`].

use std::sync::Arc;

use super::Inference;
use super::call::MethodCall;
use super::question::Question;
use super::term::{Kind as Number, Shape, TermId};
use crate::program::{Closure, DefinitionId, Expression, Kind, Literal, Scalar, Type, Unary};

impl Inference<'_> {
    /// Finds out what an expression is. Its term stands for its type until types are filled in.
    pub(super) fn expression(&mut self, expression: &mut Expression) -> TermId {
        let term = self.kind_of(expression);
        self.finish(expression, term)
    }

    /// The same for a closure that nothing but its own text says anything about.
    pub(super) fn free_closure(&mut self, expression: &mut Expression) -> TermId {
        let Kind::Closure(closure) = &mut expression.kind else {
            return self.expression(expression);
        };
        let closure = Arc::make_mut(closure);
        let term = self.closure_head(closure);
        self.closure_body(closure, term, false);
        self.finish(expression, term)
    }

    fn finish(&mut self, expression: &mut Expression, term: TermId) -> TermId {
        // `Type` alone says nothing of its arguments, and text that is written is borrowed.
        let says_more = match &expression.ty {
            Type::Unknown | Type::Text => false,
            Type::Defined(_, arguments) => !arguments.is_empty(),
            _ => true,
        };
        if says_more {
            let written = self.written(&expression.ty, &[]);
            self.coerce(term, written);
        }
        expression.ty = Type::Variable(term.0);
        self.settle();
        term
    }

    fn kind_of(&mut self, expression: &mut Expression) -> TermId {
        match &mut expression.kind {
            Kind::Literal(literal) => self.literal(literal),
            Kind::Variable(variable) => self.variable(*variable),
            Kind::Global(global) => {
                let ty = &self.program.global(*global).ty;
                self.written(ty, &[])
            }
            Kind::Function(id, generics) => {
                let instance = self.used(*id, generics);
                let mut parts = instance.parameters;
                parts.push(instance.result);
                self.terms.known(Shape::Function, &parts)
            }
            Kind::External(path, generics) => {
                let path = path.clone();
                let generics = self.turbofish(generics);
                self.external_value(&path, &generics)
            }
            Kind::Tuple(parts) => {
                let parts = self.expressions(parts);
                self.terms.known(Shape::Tuple, &parts)
            }
            Kind::Array(..) | Kind::Repeat(..) => self.array(&mut expression.kind),
            Kind::Construct { definition, variant, fields, rest } => {
                self.construct((*definition, *variant), fields, rest)
            }
            Kind::Unary(..)
            | Kind::Binary(..)
            | Kind::Assign(..)
            | Kind::AssignWith(..)
            | Kind::Cast(..) => self.operation(&mut expression.kind),
            Kind::Reference { .. }
            | Kind::Dereference(_)
            | Kind::Field(..)
            | Kind::Index(..)
            | Kind::Range { .. }
            | Kind::Try(_) => self.part(&mut expression.kind),
            Kind::Call(callee, arguments) => self.call(callee, arguments),
            Kind::Method { receiver, name, generics, arguments } => {
                self.method_call(receiver, name, generics, arguments)
            }
            Kind::Macro(name, arguments) => self.expand(name, arguments),
            Kind::Closure(closure) => {
                let closure = Arc::make_mut(closure);
                let term = self.closure_head(closure);
                self.closure_body(closure, term, true);
                term
            }
            Kind::Unknown(_) => self.terms.doubtful(),
            control => self.control(control),
        }
    }

    pub(super) fn expressions(&mut self, expressions: &mut [Expression]) -> Vec<TermId> {
        expressions.iter_mut().map(|one| self.expression(one)).collect()
    }

    fn literal(&mut self, literal: &Literal) -> TermId {
        match literal {
            Literal::Integer(_) => self.terms.open(Number::Integer),
            Literal::Float(_) => self.terms.open(Number::Float),
            Literal::Bool(_) => self.terms.scalar(Scalar::Bool),
            Literal::Char(_) => self.terms.scalar(Scalar::Char),
            Literal::Text(_) => {
                let text = self.terms.known(Shape::Text, &[]);
                self.terms.reference(text)
            }
            Literal::Bytes(bytes) => {
                let byte = self.terms.scalar(Scalar::U8);
                let array = self.terms.known(Shape::Array(Some(bytes.len() as u64)), &[byte]);
                self.terms.reference(array)
            }
        }
    }

    fn array(&mut self, kind: &mut Kind) -> TermId {
        match kind {
            Kind::Array(elements) => {
                let element = self.open();
                for one in elements.iter_mut() {
                    let term = self.expression(one);
                    self.coerce(term, element);
                }
                self.terms.known(Shape::Array(Some(elements.len() as u64)), &[element])
            }
            Kind::Repeat(element, count) => {
                let element = self.expression(element);
                let term = self.expression(count);
                let usize = self.terms.scalar(Scalar::Usize);
                self.coerce(term, usize);
                self.terms.known(Shape::Array(self.length(count)), &[element])
            }
            _ => self.terms.doubtful(),
        }
    }

    fn length(&self, count: &Expression) -> Option<u64> {
        let literal = match &count.kind {
            Kind::Literal(literal) => literal,
            Kind::Global(global) => match &self.program.global(*global).value.as_ref()?.kind {
                Kind::Literal(literal) => literal,
                _ => return None,
            },
            _ => return None,
        };
        match literal {
            Literal::Integer(length) => u64::try_from(*length).ok(),
            _ => None,
        }
    }

    fn construct(
        &mut self,
        (definition, variant): (DefinitionId, u32),
        fields: &mut [(String, Expression)],
        rest: &mut Option<Box<Expression>>,
    ) -> TermId {
        let whole = self.defined(definition);
        let arguments = match self.terms.shape(whole) {
            Some((_, parts)) => parts,
            None => [].into(),
        };
        for (name, value) in fields {
            let term = self.expression(value);
            match self.member(definition, variant, name, &arguments) {
                Some(field) => self.coerce(term, field),
                None => self.terms.doubt(term),
            }
        }
        if let Some(rest) = rest {
            let rest = self.expression(rest);
            self.terms.unify(rest, whole);
        }
        whole
    }

    fn operation(&mut self, kind: &mut Kind) -> TermId {
        match kind {
            Kind::Unary(operator, of) => {
                let of = self.expression(of);
                let result = self.open();
                let method = if *operator == Unary::Negate { "neg" } else { "not" };
                self.ask(Question::Unary { method, of, result });
                result
            }
            Kind::Binary(operator, left, right) => {
                let left = self.expression(left);
                let right = self.expression(right);
                self.operate(*operator, left, right)
            }
            Kind::Assign(target, value) => {
                let target = self.expression(target);
                let value = self.expression(value);
                self.coerce(value, target);
                self.terms.unit()
            }
            Kind::AssignWith(operator, target, value) => {
                let target = self.expression(target);
                let value = self.expression(value);
                self.operate(*operator, target, value);
                self.terms.unit()
            }
            Kind::Cast(value, ty) => {
                let term = self.expression(value);
                let target = self.note(ty);
                if is_literal(value) {
                    self.cast_literal(term, target);
                }
                target
            }
            _ => self.terms.doubtful(),
        }
    }

    /// `5 as u64` is a literal of type `u64`, but in `5 as f64` it is an `i32`.
    fn cast_literal(&mut self, literal: TermId, target: TermId) {
        if let Some((Shape::Scalar(scalar), _)) = self.terms.shape(target) {
            let is_integer =
                matches!(self.terms.view(literal), super::term::View::Open(Number::Integer));
            if is_integer && scalar == Scalar::Char {
                let byte = self.terms.scalar(Scalar::U8);
                self.terms.unify(literal, byte);
            } else if is_integer == scalar.is_integer() && scalar != Scalar::Bool {
                self.terms.unify(literal, target);
            }
        } else {
            self.terms.doubt(literal);
        }
    }

    fn part(&mut self, kind: &mut Kind) -> TermId {
        let result = self.open();
        match kind {
            Kind::Reference { of, .. } => {
                let of = self.expression(of);
                return self.terms.reference(of);
            }
            Kind::Dereference(of) => {
                let of = self.expression(of);
                self.ask(Question::Dereference { of, result });
            }
            Kind::Field(of, name) => {
                let of = self.expression(of);
                self.ask(Question::Field { of, name: name.clone(), result });
            }
            Kind::Index(base, index) => {
                let base = self.expression(base);
                let index = self.expression(index);
                self.ask(Question::Index { base, index, result });
            }
            Kind::Range { start, end, inclusive } => {
                return self.range(start, end, *inclusive);
            }
            Kind::Try(of) => {
                let of = self.expression(of);
                self.ask(Question::Try { of, result });
            }
            _ => self.terms.doubt(result),
        }
        result
    }

    fn range(
        &mut self,
        start: &mut Option<Box<Expression>>,
        end: &mut Option<Box<Expression>>,
        inclusive: bool,
    ) -> TermId {
        let name = match (&start, &end, inclusive) {
            (Some(_), Some(_), false) => "Range",
            (Some(_), Some(_), true) => "RangeInclusive",
            (Some(_), None, _) => "RangeFrom",
            (None, Some(_), false) => "RangeTo",
            (None, Some(_), true) => "RangeToInclusive",
            (None, None, _) => return self.terms.external("RangeFull", &[]),
        };
        let bound = self.open();
        for one in [start, end].into_iter().flatten() {
            let term = self.expression(one);
            self.coerce(term, bound);
        }
        self.terms.external(name, &[bound])
    }

    /// Arguments: the bodies of closures are looked at when it is known what they are called with.
    fn arguments(&mut self, arguments: &mut [Expression]) -> Vec<TermId> {
        let mut terms = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let term = match &mut argument.kind {
                Kind::Closure(closure) => self.closure_head(Arc::make_mut(closure)),
                _ => self.expression(argument),
            };
            terms.push(term);
        }
        terms
    }

    fn closures(&mut self, arguments: &mut [Expression], terms: &[TermId]) {
        for (argument, term) in arguments.iter_mut().zip(terms) {
            if let Kind::Closure(closure) = &mut argument.kind {
                self.closure_body(Arc::make_mut(closure), *term, true);
                argument.ty = Type::Variable(term.0);
            }
        }
    }

    fn call(&mut self, callee: &mut Expression, arguments: &mut [Expression]) -> TermId {
        let result = self.open();
        let path = match &callee.kind {
            Kind::External(path, _) => Some(path.clone()),
            _ => None,
        };
        if let (Some(path), Kind::External(_, generics)) = (path, &mut callee.kind) {
            let generics = self.turbofish(generics);
            let terms = self.arguments(arguments);
            self.call_external(&path, &generics, &terms, result);
            let mut parts = terms.clone();
            parts.push(result);
            callee.ty = Type::Variable(self.terms.known(Shape::Function, &parts).0);
            self.settle();
            self.closures(arguments, &terms);
            return result;
        }
        if let Kind::Function(id, generics) = &mut callee.kind {
            let instance = self.used(*id, generics);
            let terms = self.arguments(arguments);
            self.pass(&instance, &instance.parameters, &terms, result);
            callee.ty = Type::Unknown;
            self.settle();
            self.closures(arguments, &terms);
            return result;
        }
        let callee = self.expression(callee);
        let terms = self.arguments(arguments);
        self.ask(Question::Call { callee, arguments: terms.clone(), result });
        self.settle();
        self.closures(arguments, &terms);
        result
    }

    fn method_call(
        &mut self,
        receiver: &mut Expression,
        name: &str,
        generics: &mut [Type],
        arguments: &mut [Expression],
    ) -> TermId {
        let receiver = self.expression(receiver);
        let generics = self.turbofish(generics);
        let terms = self.arguments(arguments);
        let result = self.open();
        let call = MethodCall {
            receiver,
            name: name.to_owned(),
            generics,
            arguments: terms.clone(),
            result,
        };
        self.ask(Question::Method(Box::new(call)));
        self.settle();
        self.closures(arguments, &terms);
        result
    }

    /// What a closure takes and gives, before its body is looked at.
    fn closure_head(&mut self, closure: &mut Closure) -> TermId {
        let mut parts = Vec::with_capacity(closure.parameters.len() + 1);
        for (_, ty) in &mut closure.parameters {
            let term = if *ty == Type::Unknown { self.open() } else { self.written(ty, &[]) };
            *ty = Type::Variable(term.0);
            parts.push(term);
        }
        parts.push(self.open());
        self.terms.known(Shape::Function, &parts)
    }

    /// The body of a closure. What it is called with, if it is handed on, may be decided by what it
    /// is handed to.
    fn closure_body(&mut self, closure: &mut Closure, term: TermId, handed_on: bool) {
        let Some((Shape::Function, parts)) = self.terms.shape(term) else { return };
        let count = closure.parameters.len();
        for ((pattern, _), term) in closure.parameters.iter_mut().zip(parts.iter()) {
            if handed_on && self.terms.is_open(*term) {
                self.terms.doubt(*term);
            }
            self.bind(pattern, *term);
        }
        let result = parts.get(count).copied().unwrap_or(term);
        self.body(&mut closure.body, result);
    }

    fn expand(&mut self, name: &str, arguments: &mut [Expression]) -> TermId {
        let terms = self.expressions(arguments);
        match (name, terms.as_slice()) {
            ("vec", [elements]) => {
                let element = match self.terms.shape(*elements) {
                    Some((Shape::Array(_), parts)) => parts[0],
                    _ => self.terms.doubtful(),
                };
                self.terms.external("Vec", &[element])
            }
            ("vec", []) => {
                let element = self.open();
                self.terms.external("Vec", &[element])
            }
            (
                "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne",
                [left, right, ..],
            ) => {
                self.ask(Question::Compare { left: *left, right: *right });
                self.terms.unit()
            }
            ("dbg", [value]) => *value,
            ("format" | "concat" | "stringify" | "file" | "env" | "include_str", _) => {
                let text = self.terms.known(Shape::Text, &[]);
                if name == "format" { text } else { self.terms.reference(text) }
            }
            (
                "print" | "println" | "eprint" | "eprintln" | "assert" | "debug_assert" | "trace"
                | "debug" | "info" | "warn" | "error",
                _,
            ) => self.terms.unit(),
            ("panic" | "unreachable" | "todo" | "unimplemented" | "bail", _) => {
                self.terms.known(Shape::Never, &[])
            }
            ("matches", _) => self.terms.scalar(Scalar::Bool),
            ("line" | "column", _) => self.terms.scalar(Scalar::U32),
            ("write" | "writeln", _) => {
                let (unit, error) = (self.terms.unit(), self.terms.doubtful());
                self.terms.external("Result", &[unit, error])
            }
            _ => {
                self.give_up(&terms);
                self.terms.doubtful()
            }
        }
    }
}

/// A literal, or one with a sign.
fn is_literal(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Literal(_) => true,
        Kind::Unary(_, of) => is_literal(of),
        _ => false,
    }
}
