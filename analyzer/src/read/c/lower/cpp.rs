//! What C++ has besides, as far as programs that call MPI's C functions use it in functions that look
//! like C: vectors, references, `new`, casts by name, streams. Classes are not followed; what may
//! communicate in them is never taken to be silent.

use std::sync::Arc;

use tree_sitter::Node;

use super::super::parse::children;
use super::super::scope::Named;
use super::super::types::pointer_to;
use super::convert::{convert, decayed, integer, promote};
use super::expression::{block_of, element, let_be, reference};
use super::vector::first_of;
use super::{FunctionState, Lowering};
use crate::program::{
    Binary, Closure, Expression, FunctionId, Kind, Pattern, Scalar, Statement, Type,
};

impl<'u> Lowering<'u> {
    /// An expression that only C++ has.
    pub(super) fn expression_of_cpp(&mut self, node: Node<'u>) -> Expression {
        match node.kind() {
            "qualified_identifier" => match last_name(node) {
                Some(name) if name.kind() == "identifier" && !self.is_binding(node) => {
                    self.named(name)
                }
                _ => self.unreadable(node),
            },
            "new_expression" => self.new_objects(node),
            "delete_expression" => {
                let place = self.place(node);
                let freed = children(node, &mut node.walk()).first().map(|it| self.value(*it));
                let callee = self.of_library("free", Type::Unknown, place);
                let kind = Kind::Call(Box::new(callee), freed.into_iter().collect());
                Expression { kind, place, ty: Type::unit() }
            }
            "lambda_expression" => self.lambda(node),
            _ => self.unreadable(node),
        }
    }

    /// `MPI::COMM_WORLD`: the bindings that MPI once had for C++.
    fn is_binding(&self, node: Node<'u>) -> bool {
        self.unit.is_cpp() && self.text(node).starts_with("MPI::")
    }

    /// `new type[length]`, `new type`
    fn new_objects(&mut self, node: Node<'u>) -> Expression {
        let Some(ty) = node.child_by_field_name("type") else { return self.unreadable(node) };
        let place = self.place(node);
        let ty = self.specified(ty);
        let length = node
            .child_by_field_name("declarator")
            .and_then(|declarator| declarator.child_by_field_name("length"));
        let mut statements = Vec::new();
        if let Some(arguments) = node.child_by_field_name("arguments") {
            for argument in children(arguments, &mut arguments.walk()) {
                self.effect(argument, &mut statements);
            }
        }
        let one = self.size_of_type(&ty, &[], place);
        let bytes = match length {
            Some(length) => {
                let length = self.value(length);
                let length = convert(length, &Type::Scalar(Scalar::U64));
                self.operate(Binary::Multiply, length, one, place)
            }
            None => one,
        };
        let callee = self.of_library("malloc", Type::Unknown, place);
        let kind = Kind::Call(Box::new(callee), vec![bytes]);
        let pointer = Type::Reference(Box::new(Type::Unknown));
        let memory = convert(Expression { kind, place, ty: pointer }, &pointer_to(ty));
        block_of(statements, memory)
    }

    /// `[&](int x) { .. }`
    fn lambda(&mut self, node: Node<'u>) -> Expression {
        let Some(body) = node.child_by_field_name("body") else { return self.unreadable(node) };
        let list = node
            .child_by_field_name("declarator")
            .and_then(|declarator| declarator.child_by_field_name("parameters"));
        self.scopes.open();
        let outside = FunctionState {
            around: std::mem::take(&mut self.function.around),
            result: std::mem::take(&mut self.function.result),
            targets: std::mem::take(&mut self.function.targets),
            ..FunctionState::default()
        };
        let parameters = self.bind_parameters(list);
        let body = self.block(body);
        self.function.around = outside.around;
        self.function.result = outside.result;
        self.function.targets = outside.targets;
        self.scopes.close();
        let parameters = parameters.into_iter().map(|it| (it.pattern, it.ty)).collect();
        let closure = Closure { parameters, body, moves: false };
        self.make(Kind::Closure(Arc::new(closure)), Type::Unknown, node)
    }

    // ---- calls

    /// A call of what C does not call: a method, a cast by its name, a vector. `None`: a plain one.
    pub(super) fn call_of_cpp(
        &mut self,
        function: Node<'u>,
        written: &[Node<'u>],
        node: Node<'u>,
    ) -> Option<Expression> {
        if !self.unit.is_cpp() {
            return None;
        }
        match function.kind() {
            "field_expression" => Some(self.method_call(function, written, node)),
            "template_function" => {
                let name = function.child_by_field_name("name").map(|name| self.text(name))?;
                let ty = self.template_argument(function)?;
                match (name, written) {
                    ("static_cast" | "reinterpret_cast" | "const_cast", [value]) => {
                        let value = self.value(*value);
                        Some(self.cast_to(value, ty, node))
                    }
                    ("vector", _) => Some(self.vector(&ty, written, node)),
                    _ => Some(self.not_followed(name, Vec::new(), written, node)),
                }
            }
            "qualified_identifier" if self.is_binding(function) => {
                Some(self.lost("the C++ bindings of MPI are not read", node))
            }
            "qualified_identifier" => match last_name(function) {
                Some(name) if name.kind() == "template_function" => {
                    self.call_of_cpp(name, written, node)
                }
                Some(name) if self.text(name) == "swap" => self.swapped(written, node),
                _ => None,
            },
            "identifier" if self.text(function) == "swap" => self.swapped(written, node),
            _ => None,
        }
    }

    fn swapped(&mut self, written: &[Node<'u>], node: Node<'u>) -> Option<Expression> {
        let known = matches!(self.externs.get("swap"), Some(Named::Function(_)));
        let [one, other] = written else { return None };
        if known {
            return None;
        }
        let place = self.place(node);
        let (one, other) = (self.expression(*one), self.expression(*other));
        let ty = one.ty.clone();
        let kept = self.hidden("swapped", ty.clone());
        let kept_value = self.variable(kept, place);
        let assign = |target: &Expression, value: Expression| {
            let kind = Kind::Assign(Box::new(target.clone()), Box::new(value));
            Statement::Expression(Expression { kind, place, ty: Type::unit() })
        };
        let statements = vec![
            let_be(kept, ty, one.clone()),
            assign(&one, other.clone()),
            assign(&other, kept_value),
        ];
        let unit = Expression { kind: Kind::Tuple(Vec::new()), place, ty: Type::unit() };
        Some(block_of(statements, unit))
    }

    /// `value.method(arguments)`
    fn method_call(
        &mut self,
        function: Node<'u>,
        written: &[Node<'u>],
        node: Node<'u>,
    ) -> Expression {
        let argument = function.child_by_field_name("argument");
        let field = function.child_by_field_name("field");
        let (Some(argument), Some(field)) = (argument, field) else {
            return self.unreadable(node);
        };
        let name = self.text(field);
        let of = self.expression(argument);
        if let Type::Defined(definition, _) = of.ty.behind_references() {
            let fields = &self.program.definition(*definition).variants;
            let is_field = fields.iter().any(|it| it.fields.iter().any(|it| it.0 == name));
            if is_field {
                // A pointer to a function in a struct.
                let callee = self.value(function);
                let place = self.place(node);
                return self.call_of(callee, written, "", place);
            }
        }
        let element = match &of.ty {
            Type::External(name, arguments) if name == "Vec" => arguments.first().cloned(),
            _ => None,
        };
        if let Some(inner) = element
            && let Some(done) = self.vector_method(&of, &inner, name, written, node)
        {
            return done;
        }
        let place = of.place;
        let object = reference(of, place);
        self.not_followed(name, vec![object], written, node)
    }

    /// A call of something that is not read.
    fn not_followed(
        &mut self,
        name: &str,
        mut arguments: Vec<Expression>,
        written: &[Node<'u>],
        node: Node<'u>,
    ) -> Expression {
        if self.unread.contains(name) {
            return self.lost("this may communicate where it is not followed", node);
        }
        let place = self.place(node);
        for argument in written {
            let value = self.value(*argument);
            arguments.push(promote(value));
        }
        let why = format!("`{name}` is not followed");
        let callee = Expression { kind: Kind::Unknown(why), place, ty: Type::Unknown };
        let kind = Kind::Call(Box::new(callee), arguments);
        Expression { kind, place, ty: Type::Unknown }
    }

    // ---- streams

    /// `cout << this << that`: prints. What comes in over a stream is not known.
    pub(super) fn streamed(&mut self, node: Node<'u>) -> Option<Expression> {
        if !self.unit.is_cpp() || self.operator(node) != "<<" {
            return None;
        }
        let mut operands = Vec::new();
        let mut first = node;
        while first.kind() == "binary_expression" && self.operator(first) == "<<" {
            operands.push(first.child_by_field_name("right")?);
            first = first.child_by_field_name("left")?;
        }
        let name = last_name(first).unwrap_or(first);
        if !matches!(self.text(name), "cout" | "cerr" | "clog") {
            return None;
        }
        let place = self.place(node);
        let mut arguments = Vec::new();
        for operand in operands.into_iter().rev() {
            let manipulates = last_name(operand).unwrap_or(operand).kind() == "identifier"
                && matches!(
                    self.text(last_name(operand).unwrap_or(operand)),
                    "endl" | "flush" | "fixed" | "scientific" | "left" | "right" | "hex" | "dec"
                );
            if !manipulates {
                let value = self.value(operand);
                arguments.push(promote(value));
            }
        }
        let callee = self.of_library("printf", Type::Unknown, place);
        let kind = Kind::Call(Box::new(callee), arguments);
        Some(Expression { kind, place, ty: Type::Unknown })
    }

    // ---- loops

    /// `for (type &name : values) body`
    pub(super) fn range_loop(&mut self, node: Node<'u>) -> Expression {
        let declarator = node.child_by_field_name("declarator");
        let right = node.child_by_field_name("right");
        let body = node.child_by_field_name("body");
        let (Some(declarator), Some(right), Some(body)) = (declarator, right, body) else {
            return self.unreadable(node);
        };
        let values = self.without_effect(|lowering| lowering.expression(right));
        let place = values.place;
        let (inner, length) = match &values.ty {
            Type::Array(inner, Some(length)) => {
                ((**inner).clone(), integer((*length).into(), Scalar::U64, place))
            }
            Type::External(name, arguments) if name == "Vec" => {
                let inner = arguments.first().cloned().unwrap_or_default();
                let length = vec![values.clone()];
                (inner, self.call_of_c("length", length, Type::Scalar(Scalar::U64), place))
            }
            _ => return self.unreadable(node),
        };
        self.scopes.open();
        let base = self.specifiers(node).ty;
        let base = if base == Type::Unknown { inner.clone() } else { base };
        let declared = self.declarator(declarator, base);
        let counter = self.hidden("position", Type::Scalar(Scalar::U64));
        let position = self.variable(counter, place);
        let name = declared.name.map_or("", |name| self.text(name));
        let value = if declared.is_alias {
            let first = first_of(values, &inner, place);
            self.offset(first, position, place)
        } else {
            convert(element(values, position, place), &declared.ty)
        };
        let variable = self.bind(name, value.ty.clone());
        if declared.is_alias {
            self.scopes.bind(name, Named::Alias(variable));
        }
        let first = let_be(variable, value.ty.clone(), value);
        let (turn, _) = self.turn(body, super::loops::Around::plain());
        self.scopes.close();
        let body = self.block_around(vec![first, Statement::Expression(turn)], body);
        let zero = integer(0, Scalar::U64, place);
        let kind = Kind::Range {
            start: Some(Box::new(zero)),
            end: Some(Box::new(length)),
            inclusive: false,
        };
        let over = Expression { kind, place, ty: Type::Unknown };
        let pattern = Pattern::Variable(counter, None);
        let (over, body) = (Box::new(over), Box::new(body));
        self.make(Kind::For { label: None, pattern, over, body }, Type::unit(), node)
    }

    // ---- references

    /// What a call of this function takes by reference.
    pub(super) fn is_taken_by_reference(&self, callee: &Expression, number: usize) -> bool {
        let Kind::Function(function, _) = callee.kind else { return false };
        self.aliases.get(&function).is_some_and(|taken| taken.get(number) == Some(&true))
    }

    /// An argument that is taken by reference.
    pub(super) fn by_reference(&mut self, argument: Node<'u>, ty: &Type) -> Expression {
        let of = self.expression(argument);
        let place = of.place;
        let is_place = matches!(
            of.kind,
            Kind::Variable(_) | Kind::Global(_) | Kind::Field(..) | Kind::Index(..)
        );
        if is_place {
            return convert(reference(of, place), ty);
        }
        let value = decayed(of);
        let variable = self.hidden("argument", value.ty.clone());
        let first = let_be(variable, value.ty.clone(), value);
        let of = self.variable(variable, place);
        block_of(vec![first], convert(reference(of, place), ty))
    }

    /// Remembers which parameters of a function are references.
    pub(in crate::read::c) fn note_aliases(
        &mut self,
        function: FunctionId,
        list: Option<Node<'u>>,
    ) {
        let Some(list) = list.filter(|_| self.unit.is_cpp()) else { return };
        let taken: Vec<bool> = self.parameters(list).iter().map(|it| it.is_alias).collect();
        if taken.contains(&true) {
            self.aliases.insert(function, taken);
        }
    }
}

/// The last name of `one::other::name`.
pub(super) fn last_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    while node.kind() == "qualified_identifier" {
        node = node.child_by_field_name("name")?;
    }
    Some(node)
}
