//! `std::vector`: a sequence by value, as far as programs use it as memory for messages.

use tree_sitter::Node;

use super::super::parse::children;
use super::super::types::{Declared, Specifiers};
use super::Lowering;
use super::convert::{convert, integer};
use super::expression::{block_of, element, let_be};
use crate::program::{Binary, Expression, Kind, Place, Scalar, Statement, Type};

impl<'u> Lowering<'u> {
    /// `vector<type>(length, value)`
    pub(super) fn vector(&mut self, ty: &Type, written: &[Node<'u>], node: Node<'u>) -> Expression {
        let vector = Type::External("Vec".to_owned(), vec![ty.clone()]);
        let place = self.place(node);
        let length = match written.first() {
            Some(length) => self.value(*length),
            None => integer(0, Scalar::U64, place),
        };
        // Two places to copy from, or another vector.
        let is_length = matches!(&length.ty, Type::Scalar(it) if it.is_integer())
            || length.ty == Type::Unknown && written.len() < 3;
        if !is_length {
            if length.ty == vector {
                return length;
            }
            let kind = Kind::Unknown("what this vector holds is not followed".to_owned());
            return Expression { kind, place, ty: vector };
        }
        let length = convert(length, &Type::Scalar(Scalar::U64));
        let value = match written.get(1) {
            Some(value) => {
                let value = self.value(*value);
                convert(value, ty)
            }
            None if matches!(ty, Type::External(name, _) if name == "Vec") => {
                let inner = Type::External("Vec".to_owned(), Vec::new());
                let kind = Kind::Unknown("an empty vector".to_owned());
                Expression { kind, place, ty: inner }
            }
            None => self.filled("zero", ty, &[], node),
        };
        let kind = Kind::Repeat(Box::new(value), Box::new(length));
        Expression { kind, place, ty: vector }
    }

    pub(super) fn vector_method(
        &mut self,
        of: &Expression,
        inner: &Type,
        name: &str,
        written: &[Node<'u>],
        node: Node<'u>,
    ) -> Option<Expression> {
        let place = self.place(node);
        let first = first_of(of.clone(), inner, place);
        let length = |lowering: &mut Self| {
            lowering.call_of_c("length", vec![of.clone()], Type::Scalar(Scalar::U64), place)
        };
        let assigned = |value: Expression| {
            let kind = Kind::Assign(Box::new(of.clone()), Box::new(value));
            Expression { kind, place, ty: Type::unit() }
        };
        let unknown = || Expression {
            kind: Kind::Unknown("what this vector holds is not followed".to_owned()),
            place,
            ty: of.ty.clone(),
        };
        Some(match (name, written) {
            ("data" | "begin" | "cbegin", []) => first,
            ("end" | "cend", []) => {
                let length = length(self);
                self.offset(first, length, place)
            }
            ("size", []) => length(self),
            ("empty", []) => {
                let length = length(self);
                self.operate(Binary::Equal, length, integer(0, Scalar::U64, place), place)
            }
            ("at", [index]) => {
                let index = self.promoted(*index);
                element(of.clone(), index, place)
            }
            ("front", []) => element(of.clone(), integer(0, Scalar::I64, place), place),
            ("resize" | "reserve", [length, ..]) if name == "resize" => {
                let length = self.value(*length);
                let length = convert(length, &Type::Scalar(Scalar::U64));
                let value = self.filled("uninitialized", inner, &[], node);
                let kind = Kind::Repeat(Box::new(value), Box::new(length));
                assigned(Expression { kind, place, ty: of.ty.clone() })
            }
            ("assign", [_, _]) => {
                let value = self.vector(inner, written, node);
                assigned(value)
            }
            ("clear", []) => {
                let value = self.vector(inner, &[], node);
                assigned(value)
            }
            ("reserve" | "shrink_to_fit", _) => {
                Expression { kind: Kind::Tuple(Vec::new()), place, ty: Type::unit() }
            }
            ("push_back" | "emplace_back" | "pop_back" | "insert" | "erase", _) => {
                let mut statements = Vec::new();
                written.iter().for_each(|argument| self.effect(*argument, &mut statements));
                block_of(statements, assigned(unknown()))
            }
            _ => return None,
        })
    }

    /// The type that stands first in `<..>`.
    pub(in crate::read::c) fn template_argument(&mut self, node: Node<'u>) -> Option<Type> {
        let list = node.child_by_field_name("arguments")?;
        let first = children(list, &mut list.walk()).first().copied()?;
        (first.kind() == "type_descriptor").then(|| self.described(first).0)
    }

    /// `vector<type> name(length);`, `Class name(arguments);`: whether it is such a declaration.
    pub(super) fn object(
        &mut self,
        specifiers: &Specifiers,
        declared: &Declared<'u>,
        declarator: Node<'u>,
        out: &mut Vec<Statement>,
    ) -> bool {
        let (true, Some(name)) = (self.unit.is_cpp(), declared.name) else { return false };
        let name = self.text(name);
        let class = match &specifiers.ty {
            Type::External(class, _) => class.clone(),
            Type::Defined(definition, _) => self.program.definition(*definition).name.clone(),
            _ => return false,
        };
        if self.unread.contains(class.as_str()) && !declared.is_pointer && !declared.is_alias {
            let lost = self.lost("this may communicate where it is not followed", declarator);
            out.push(Statement::Expression(lost));
        }
        let value = declarator.child_by_field_name("value");
        let arguments = match (value, declared.parameters) {
            (Some(list), _) if list.kind() == "argument_list" => children(list, &mut list.walk()),
            // What is no type cannot be a parameter's.
            (None, Some(list)) => children(list, &mut list.walk()),
            (None, None) if class == "Vec" => Vec::new(),
            _ => return false,
        };
        if declared.is_alias || declared.is_pointer || !declared.lengths.is_empty() {
            return false;
        }
        let inner = match &specifiers.ty {
            Type::External(_, arguments) if class == "Vec" => arguments.first().cloned(),
            _ => None,
        };
        let are_values = arguments.iter().all(|it| self.is_no_parameter(*it));
        if declared.parameters.is_some() && !are_values {
            return false;
        }
        let value = match inner {
            Some(inner) => {
                let arguments: Vec<_> = arguments.into_iter().map(as_value).collect();
                self.vector(&inner, &arguments, declarator)
            }
            None => {
                let mut value = self.unreadable(declarator);
                value.ty = specifiers.ty.clone();
                value
            }
        };
        let variable = self.bind(name, value.ty.clone());
        out.push(let_be(variable, value.ty.clone(), value));
        true
    }

    /// Whether what was taken for a parameter is the name of a value.
    fn is_no_parameter(&self, node: Node<'u>) -> bool {
        let value = as_value(node);
        match value.kind() {
            "type_identifier" => !self.is_type(self.text(value)),
            "parameter_declaration" | "primitive_type" => false,
            _ => true,
        }
    }
}

/// A pointer to the first element of a vector.
pub(super) fn first_of(vector: Expression, inner: &Type, place: Place) -> Expression {
    let ty = Type::Reference(Box::new(inner.clone()));
    Expression { kind: Kind::Reference { of: Box::new(vector), mutable: true }, place, ty }
}

/// The name in what was taken for a parameter of that type.
fn as_value(node: Node<'_>) -> Node<'_> {
    if node.kind() != "parameter_declaration" || node.child_by_field_name("declarator").is_some() {
        return node;
    }
    node.child_by_field_name("type").unwrap_or(node)
}
