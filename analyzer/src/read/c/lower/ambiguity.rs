//! What looks alike with and without knowing which names are types: `(a)(b)` is a call or a cast,
//! `(a) - b` a difference or a cast. The parser has guessed; here it is known.

use tree_sitter::Node;

use super::super::parse::children;
use super::Lowering;
use super::convert::{convert, promote};
use super::expression::{pointee, reference};
use super::operator::{operation, unary, without_parentheses};
use crate::program::{Expression, Type};

impl<'u> Lowering<'u> {
    /// The type that stands in parentheses, if a name that does so is one: `(type)`.
    fn parenthesized_type(&self, node: Node<'u>) -> Option<Type> {
        let inner = without_parentheses(node);
        let is_type = node.kind() == "parenthesized_expression"
            && inner.kind() == "identifier"
            && self.is_type(self.text(inner));
        is_type.then(|| self.named_type(self.text(inner)))
    }

    /// The types that stand in parentheses one after the other: `(type)(type)`.
    fn parenthesized_types(&mut self, node: Node<'u>) -> Option<Vec<Type>> {
        if node.kind() != "cast_expression" {
            return Some(vec![self.parenthesized_type(node)?]);
        }
        let ty = node.child_by_field_name("type")?;
        let value = node.child_by_field_name("value")?;
        let mut types = self.parenthesized_types(value)?;
        types.insert(0, self.described(ty).0);
        Some(types)
    }

    /// `(type)(value)`, which was taken for a call; also `type(value)` of C++.
    pub(super) fn cast_in_call(
        &mut self,
        function: Node<'u>,
        arguments: &[Node<'u>],
        node: Node<'u>,
    ) -> Option<Expression> {
        let ty = match function.kind() {
            "primitive_type" | "sized_type_specifier" => self.specified(function),
            "identifier" if self.unit.is_cpp() && self.is_type(self.text(function)) => {
                self.named_type(self.text(function))
            }
            _ => self.parenthesized_type(function)?,
        };
        let [argument] = arguments else { return None };
        let value = self.value(*argument);
        Some(self.cast_to(value, ty, node))
    }

    /// `(type) * pointer`, `(type) - value`, which were taken for operations on two values. What
    /// stands to the right may be an operation itself, of which the cast only takes the first part.
    pub(super) fn cast_in_binary(
        &mut self,
        operator: &str,
        left: Node<'u>,
        right: Node<'u>,
        node: Node<'u>,
    ) -> Option<Expression> {
        if !matches!(operator, "*" | "&" | "-" | "+") {
            return None;
        }
        let types = self.parenthesized_types(left)?;
        Some(self.cast_of_first(operator, &types, right, node))
    }

    fn cast_of_first(
        &mut self,
        operator: &str,
        types: &[Type],
        value: Node<'u>,
        node: Node<'u>,
    ) -> Expression {
        let parts = (value.child_by_field_name("left"), value.child_by_field_name("right"));
        if value.kind() == "binary_expression"
            && let (Some(first), Some(second)) = parts
            && let Some(operation) = operation(self.operator(value))
        {
            let first = self.deeper(first, |lowering, first| {
                lowering.cast_of_first(operator, types, first, node)
            });
            let second = self.value(second);
            let place = self.place(value);
            return self.operate(operation, first, second, place);
        }
        let place = self.place(value);
        let inner = match operator {
            "*" => {
                let pointer = self.value(value);
                pointee(pointer)
            }
            "&" => {
                let of = self.expression(value);
                reference(of, place)
            }
            operator => {
                let value = self.promoted(value);
                unary(operator, value, place)
            }
        };
        let inner = super::convert::decayed(inner);
        types.iter().rev().fold(inner, |inner, ty| self.cast_to(inner, ty.clone(), node))
    }

    /// `(variable) - value`, `(function)(value)`, which were taken for casts.
    pub(super) fn no_cast(
        &mut self,
        ty: Node<'u>,
        value: Node<'u>,
        node: Node<'u>,
    ) -> Option<Expression> {
        let name = only_name(ty)?;
        let is_value = !self.is_type(self.text(name)) && self.is_value(self.text(name));
        if !is_value {
            return None;
        }
        let place = self.place(node);
        match value.kind() {
            "unary_expression" | "pointer_expression" => {
                let operation = operation(self.operator(value))?;
                let argument = value.child_by_field_name("argument")?;
                let left = super::convert::decayed(self.named(name));
                let right = self.value(argument);
                Some(self.operate(operation, left, right, place))
            }
            _ => None,
        }
    }

    /// `sizeof (type) * n`, where the rest was taken for what is cast.
    pub(super) fn size_with_cast(&mut self, node: Node<'u>) -> Option<Expression> {
        let value = node.child_by_field_name("value")?;
        if value.kind() != "cast_expression" {
            return None;
        }
        let described = value.child_by_field_name("type")?;
        let rest = value.child_by_field_name("value")?;
        let operation = operation(self.operator(rest))?;
        let argument = rest.child_by_field_name("argument")?;
        let place = self.place(node);
        let ty = self.described(described).0;
        let size = match self.program.size_of(&ty) {
            Some(bytes) => self.integer(bytes.into(), crate::program::Scalar::U64, node),
            None => self.call_of_c(
                "sizeof",
                Vec::new(),
                Type::Scalar(crate::program::Scalar::U64),
                place,
            ),
        };
        let right = promote(self.value(argument));
        let right = convert(right, &size.ty);
        Some(self.operate(operation, size, right, place))
    }

    /// Whether a name is that of a variable, a function or a number here.
    fn is_value(&self, name: &str) -> bool {
        use super::super::scope::Named;
        match self.scopes.name(name) {
            Some(Named::Type(_)) => false,
            Some(_) => true,
            None => self.externs.contains_key(name),
        }
    }

    /// `a * b;`, which was taken for a declaration, with its two sides.
    pub(super) fn no_declaration(&self, node: Node<'u>) -> bool {
        let ty = node.child_by_field_name("type");
        ty.is_some_and(|ty| {
            ty.kind() == "type_identifier"
                && !self.is_type(self.text(ty))
                && self.is_value(self.text(ty))
        })
    }
}

/// The name that a type descriptor consists of.
fn only_name(ty: Node<'_>) -> Option<Node<'_>> {
    if ty.child_by_field_name("declarator").is_some() {
        return None;
    }
    let [only] = children(ty, &mut ty.walk())[..] else { return None };
    (only.kind() == "type_identifier").then_some(only)
}
