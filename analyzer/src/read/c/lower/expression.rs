//! Expressions, one by one.

use tree_sitter::Node;

use super::super::library;
use super::super::parse::children;
use super::super::scope::Named;
use super::super::types::pointer_to;
use super::assign::opaque_around;
use super::convert::{arithmetic, cast, convert, decayed, is_true, promote};
use super::{Lowering, convert as conversions, of_c};
use crate::program::{
    Block, Condition, Expression, Kind, Literal, Pattern, Place, Scalar, Statement, Type,
    VariableId,
};

impl<'u> Lowering<'u> {
    /// An expression as it stands there: an array stays one.
    pub(in crate::read::c) fn expression(&mut self, node: Node<'u>) -> Expression {
        self.deeper(node, Self::expression_here)
    }

    fn expression_here(&mut self, node: Node<'u>) -> Expression {
        match node.kind() {
            // What was taken for a type may be a value.
            "identifier" | "type_identifier" => self.named(node),
            "number_literal" => self.number(node),
            "char_literal" => self.character(node),
            "string_literal" | "concatenated_string" | "raw_string_literal" => self.string(node),
            "true" | "false" => self.bool(node.kind() == "true", node),
            "null" => self.null(node),
            "parenthesized_expression" => self.parenthesized(node),
            "extension_expression" => match children(node, &mut node.walk()).first() {
                Some(inner) => self.expression(*inner),
                None => self.unreadable(node),
            },
            "call_expression" => self.call(node),
            "field_expression" => self.field(node),
            "subscript_expression" => self.subscript(node),
            "pointer_expression" => self.pointer(node),
            "unary_expression" => self.unary(node),
            "update_expression" => self.update(node),
            "assignment_expression" => self.assignment(node),
            "binary_expression" => self.binary(node),
            "conditional_expression" => self.conditional(node),
            "cast_expression" => self.cast_expression(node),
            "sizeof_expression" => self.size(node),
            "alignof_expression" => self.alignment(node),
            "offsetof_expression" => self.offset_of_field(node),
            "comma_expression" => self.comma(node),
            "compound_literal_expression" => self.compound_literal(node),
            _ => self.expression_of_cpp(node),
        }
    }

    fn bool(&mut self, value: bool, node: Node<'u>) -> Expression {
        self.make(Kind::Literal(Literal::Bool(value)), Type::Scalar(Scalar::Bool), node)
    }

    fn null(&mut self, node: Node<'u>) -> Expression {
        let place = self.place(node);
        of_c("null", Type::Reference(Box::new(Type::Unknown)), place)
    }

    /// `(value)`, `({ statements; value; })`
    fn parenthesized(&mut self, node: Node<'u>) -> Expression {
        match children(node, &mut node.walk())[..] {
            [inner] if inner.kind() == "compound_statement" => self.block_with_value(inner),
            [inner] => self.expression(inner),
            _ => self.unreadable(node),
        }
    }

    // ---- names

    /// What a name stands for.
    pub(super) fn named(&mut self, node: Node<'u>) -> Expression {
        let name = self.text(node);
        let place = self.place(node);
        let known = self.scopes.name(name).cloned();
        let known = match known {
            // A prototype, or a variable of another file.
            Some(Named::Declared(ty)) => match self.externs.get(name) {
                Some(known) => Some(known.clone()),
                None => Some(Named::Declared(ty)),
            },
            Some(known) => Some(known),
            None => self.externs.get(name).cloned(),
        };
        if matches!(known, Some(Named::Function(_) | Named::Declared(_)))
            && !self.statics.contains_key(&(self.number, name))
            && let Some(why) = self.unclear.get(name)
        {
            return Expression { kind: Kind::Unknown((*why).into()), place, ty: Type::Unknown };
        }
        match known {
            Some(Named::Variable(variable)) => self.variable(variable, place),
            Some(Named::Alias(variable)) => {
                let pointer = self.variable(variable, place);
                pointee(pointer)
            }
            Some(Named::Global(global)) => self.global(global, place),
            Some(Named::Function(function)) => {
                let own = self.program.function(function);
                let parameters = own.parameters.iter().map(|it| it.ty.clone()).collect();
                let ty = Type::Function(parameters, Box::new(own.result.clone()));
                Expression { kind: Kind::Function(function, Vec::new()), place, ty }
            }
            Some(Named::Constant(number)) => {
                let fits = i32::try_from(number).is_ok();
                conversions::integer(number, if fits { Scalar::I32 } else { Scalar::I64 }, place)
            }
            Some(Named::Declared(ty)) => self.of_library(name, ty, place),
            Some(Named::Type(_)) => self.unreadable(node),
            None => self.undeclared(name, place),
        }
    }

    /// A name that system headers may declare.
    fn undeclared(&mut self, name: &str, place: Place) -> Expression {
        let float = |number| Expression {
            kind: Kind::Literal(Literal::Float(number)),
            place,
            ty: Type::Scalar(Scalar::F64),
        };
        match name {
            "NULL" | "nullptr" => {
                return of_c("null", Type::Reference(Box::new(Type::Unknown)), place);
            }
            "true" | "false" => {
                let kind = Kind::Literal(Literal::Bool(name == "true"));
                return Expression { kind, place, ty: Type::Scalar(Scalar::Bool) };
            }
            "M_PI" => return float(std::f64::consts::PI),
            "M_E" => return float(std::f64::consts::E),
            "DBL_MAX" | "HUGE_VAL" => return float(f64::MAX),
            "DBL_MIN" => return float(f64::MIN_POSITIVE),
            "DBL_EPSILON" => return float(f64::EPSILON),
            "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                let mut bytes = self.function.name.clone().into_bytes();
                bytes.push(0);
                let ty = Type::Array(Box::new(Type::Scalar(Scalar::I8)), Some(bytes.len() as u64));
                return Expression { kind: Kind::Literal(Literal::Bytes(bytes.into())), place, ty };
            }
            _ => {}
        }
        if let Some((number, scalar)) = library::number_named(name) {
            return conversions::integer(number, scalar, place);
        }
        let ty = match name {
            "stdin" | "stdout" | "stderr" => {
                pointer_to(Type::External("FILE".to_owned(), Vec::new()))
            }
            "errno" | "optind" | "opterr" | "optopt" => Type::Scalar(Scalar::I32),
            "optarg" => pointer_to(Type::Scalar(Scalar::I8)),
            name => library::type_of_constant(name),
        };
        self.of_library(name, ty, place)
    }

    /// What a library has under a name.
    pub(super) fn of_library(&mut self, name: &str, ty: Type, place: Place) -> Expression {
        let plain = name.strip_prefix('P').filter(|plain| plain.starts_with("MPI_"));
        let name = plain.unwrap_or(name);
        let path = if name.starts_with("MPI_") {
            vec!["mpi".to_owned(), "ffi".to_owned(), name.to_owned()]
        } else {
            vec![name.to_owned()]
        };
        Expression { kind: Kind::External(path.into(), Vec::new()), place, ty }
    }

    // ---- parts

    /// `value.field`, `pointer->field`
    fn field(&mut self, node: Node<'u>) -> Expression {
        let argument = node.child_by_field_name("argument");
        let field = node.child_by_field_name("field");
        let (Some(argument), Some(field)) = (argument, field) else {
            return self.unreadable(node);
        };
        let operator = node.child_by_field_name("operator").map(|it| self.text(it));
        let of = self.expression(argument);
        let of = if operator == Some("->") { pointee(decayed(of)) } else { of };
        let place = self.place(node);
        self.field_of(of, self.text(field), place)
    }

    /// The field of a value; also one of a struct in it that has no name.
    pub(super) fn field_of(&self, of: Expression, name: &str, place: Place) -> Expression {
        let Some(path) = self.path_to(&of.ty, name, 16) else {
            let ty = match &of.ty {
                Type::External(ty, _) if ty == "MPI_Status" => Type::Scalar(Scalar::I32),
                _ => Type::Unknown,
            };
            return Expression { kind: Kind::Field(Box::new(of), name.to_owned()), place, ty };
        };
        path.into_iter().fold(of, |of, (name, ty)| Expression {
            kind: Kind::Field(Box::new(of), name),
            place,
            ty,
        })
    }

    pub(super) fn path_to(&self, ty: &Type, name: &str, depth: u32) -> Option<Vec<(String, Type)>> {
        let depth = depth.checked_sub(1)?;
        let Type::Defined(definition, _) = ty else { return None };
        let fields = &self.program.definition(*definition).variants.first()?.fields;
        if let Some((field, ty)) = fields.iter().find(|(field, _)| field == name) {
            return Some(vec![(field.clone(), ty.clone())]);
        }
        let unnamed =
            fields.iter().filter(|(field, _)| field.starts_with(|it: char| it.is_ascii_digit()));
        unnamed.into_iter().find_map(|(field, ty)| {
            let mut path = vec![(field.clone(), ty.clone())];
            path.extend(self.path_to(ty, name, depth)?);
            Some(path)
        })
    }

    /// `array[index]`
    fn subscript(&mut self, node: Node<'u>) -> Expression {
        let Some((of, index)) = self.subscript_parts(node) else { return self.unreadable(node) };
        let place = self.place(node);
        element(of, index, place)
    }

    /// The array or pointer, and the index.
    fn subscript_parts(&mut self, node: Node<'u>) -> Option<(Expression, Expression)> {
        let argument = node.child_by_field_name("argument")?;
        let index = node.child_by_field_name("index").or_else(|| {
            let list = node.child_by_field_name("indices")?;
            children(list, &mut list.walk()).first().copied()
        })?;
        let (of, index) = (self.expression(argument), self.expression(index));
        let is_array = |it: &Expression| matches!(it.ty, Type::Array(..) | Type::Reference(_));
        let (of, index) =
            if is_array(&index) && !is_array(&of) { (index, of) } else { (of, index) };
        Some((of, promote(decayed(index))))
    }

    /// `*pointer`, `&place`
    fn pointer(&mut self, node: Node<'u>) -> Expression {
        let Some(argument) = node.child_by_field_name("argument") else {
            return self.unreadable(node);
        };
        if self.operator(node) == "&" {
            return self.address(argument, node);
        }
        let of = self.expression(argument);
        let place = self.place(node);
        match of.ty {
            Type::Function(..) => of,
            _ => Expression { place, ..pointee(of) },
        }
    }

    /// `&argument`
    fn address(&mut self, argument: Node<'u>, node: Node<'u>) -> Expression {
        let place = self.place(node);
        match argument.kind() {
            "parenthesized_expression" => {
                if let [inner] = children(argument, &mut argument.walk())[..] {
                    return self.address(inner, node);
                }
            }
            "subscript_expression" => {
                if let Some((of, index)) = self.subscript_parts(argument) {
                    let of = match &of.ty {
                        Type::External(name, arguments) if name == "Vec" => {
                            let inner = arguments.first().cloned().unwrap_or_default();
                            super::vector::first_of(of, &inner, place)
                        }
                        _ => decayed(of),
                    };
                    return self.offset(of, index, place);
                }
            }
            "pointer_expression" if self.operator(argument) == "*" => {
                if let Some(inner) = argument.child_by_field_name("argument") {
                    return self.value(inner);
                }
            }
            "compound_literal_expression" => {
                let Some((variable, first)) = self.literal_variable(argument) else {
                    return self.unreadable(node);
                };
                let of = self.variable(variable, place);
                let ty = pointer_to(of.ty.clone());
                let kind = Kind::Reference { of: Box::new(of), mutable: true };
                return block_of(vec![first], Expression { kind, place, ty });
            }
            _ => {}
        }
        let of = self.expression(argument);
        match of.ty {
            Type::Function(..) => of,
            _ => reference(of, place),
        }
    }

    /// `pointer + index`
    pub(super) fn offset(
        &mut self,
        pointer: Expression,
        index: Expression,
        place: Place,
    ) -> Expression {
        let ty = pointer.ty.clone();
        self.call_of_c("offset", vec![pointer, index], ty, place)
    }

    // ---- made of others

    /// `condition ? then : otherwise`
    fn conditional(&mut self, node: Node<'u>) -> Expression {
        let condition = node.child_by_field_name("condition");
        let otherwise = node.child_by_field_name("alternative");
        let (Some(condition), Some(otherwise)) = (condition, otherwise) else {
            return self.unreadable(node);
        };
        let Some(then) = node.child_by_field_name("consequence") else {
            return self.unreadable(node);
        };
        let condition = self.truth(condition);
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        let (then, otherwise, ty) = common(then, otherwise);
        let kind = Kind::If {
            condition: Box::new(Condition::Holds(condition)),
            then: Box::new(then),
            otherwise: Some(Box::new(otherwise)),
        };
        self.make(kind, ty, node)
    }

    /// `first, second`
    fn comma(&mut self, node: Node<'u>) -> Expression {
        let first = node.child_by_field_name("left");
        let second = node.child_by_field_name("right");
        let (Some(first), Some(second)) = (first, second) else { return self.unreadable(node) };
        let mut statements = Vec::new();
        self.effect(first, &mut statements);
        let second = self.value(second);
        block_of(statements, second)
    }

    /// `(type)value`
    fn cast_expression(&mut self, node: Node<'u>) -> Expression {
        let ty = node.child_by_field_name("type");
        let value = node.child_by_field_name("value");
        let (Some(ty), Some(value)) = (ty, value) else { return self.unreadable(node) };
        if let Some(expression) = self.no_cast(ty, value, node) {
            return expression;
        }
        let ty = self.described(ty).0;
        let value = self.value(value);
        self.cast_to(value, ty, node)
    }

    pub(super) fn cast_to(&mut self, value: Expression, ty: Type, node: Node<'u>) -> Expression {
        let place = self.place(node);
        if ty == Type::unit() {
            let block = Block {
                statements: vec![Statement::Expression(value)],
                end: place,
                ..Block::default()
            };
            return Expression { kind: Kind::Block(block), place, ty };
        }
        match (&value.ty, &ty) {
            (Type::Unknown, Type::Function(..)) => Expression { ty, ..value },
            (Type::Reference(_), Type::Function(..)) | (Type::Function(..), Type::Function(..)) => {
                Expression { ty, ..value }
            }
            _ => {
                let converted = convert(value, &ty);
                if converted.ty == ty { converted } else { cast(converted, &ty) }
            }
        }
    }

    /// `(type){ .. }`
    fn compound_literal(&mut self, node: Node<'u>) -> Expression {
        let Some((variable, first)) = self.literal_variable(node) else {
            return self.unreadable(node);
        };
        let place = self.place(node);
        let value = decayed(self.variable(variable, place));
        block_of(vec![first], value)
    }

    /// A variable without a name that holds a compound literal.
    fn literal_variable(&mut self, node: Node<'u>) -> Option<(VariableId, Statement)> {
        let value = self.literal(node)?;
        let variable = self.hidden("literal", value.ty.clone());
        let ty = value.ty.clone();
        Some((variable, let_be(variable, ty, value)))
    }

    /// What a compound literal is: an array as a whole, with its length.
    pub(super) fn literal(&mut self, node: Node<'u>) -> Option<Expression> {
        if node.kind() != "compound_literal_expression" {
            return None;
        }
        let ty = node.child_by_field_name("type")?;
        let value = node.child_by_field_name("value")?;
        let ty = match ty.kind() {
            "type_descriptor" => self.described(ty).0,
            _ => self.specified(ty),
        };
        Some(self.initialised(&ty, value))
    }
}

/// The element of an array, or what a pointer leads to with an index.
pub(super) fn element(of: Expression, index: Expression, place: Place) -> Expression {
    let ty = match &of.ty {
        Type::Array(element, _) | Type::Reference(element) => (**element).clone(),
        Type::External(name, arguments) if name == "Vec" => {
            arguments.first().cloned().unwrap_or_default()
        }
        _ => Type::Unknown,
    };
    Expression { kind: Kind::Index(Box::new(of), Box::new(index)), place, ty }
}

/// What a pointer leads to.
pub(super) fn pointee(pointer: Expression) -> Expression {
    let place = pointer.place;
    // `*&x` is `x`.
    if let Kind::Reference { of, .. } = pointer.kind {
        return match of.ty {
            Type::Array(..) => element(*of, conversions::integer(0, Scalar::I64, place), place),
            _ => *of,
        };
    }
    element(pointer, conversions::integer(0, Scalar::I64, place), place)
}

/// A pointer to what is at a place.
pub(super) fn reference(of: Expression, place: Place) -> Expression {
    if let Some(whole) = opaque_around(&of) {
        let kind = Kind::Reference { of: Box::new(whole.clone()), mutable: true };
        return Expression { kind, place, ty: Type::Reference(Box::new(Type::Unknown)) };
    }
    let ty = pointer_to(of.ty.clone());
    Expression { kind: Kind::Reference { of: Box::new(of), mutable: true }, place, ty }
}

/// Statements, and then a value.
pub(super) fn block_of(statements: Vec<Statement>, value: Expression) -> Expression {
    if statements.is_empty() {
        return value;
    }
    let (place, ty) = (value.place, value.ty.clone());
    let block = Block { statements, value: Some(Box::new(value)), end: place, label: None };
    Expression { kind: Kind::Block(block), place, ty }
}

/// A new variable with its value.
pub(super) fn let_be(variable: VariableId, ty: Type, value: Expression) -> Statement {
    let pattern = Pattern::Variable(variable, None);
    Statement::Let { pattern, ty, value: Some(value), otherwise: None }
}

/// The two values of a conditional expression as one type.
fn common(one: Expression, other: Expression) -> (Expression, Expression, Type) {
    let is_number = |it: &Expression| matches!(it.ty, Type::Scalar(_));
    let bool = Type::Scalar(Scalar::Bool);
    match (&one.ty, &other.ty) {
        (left, right) if left == right => {
            let ty = left.clone();
            (one, other, ty)
        }
        (left, _) if *left == bool && is_number(&other) => {
            let value = is_true(one);
            arithmetic(value, other)
        }
        (left, Type::Reference(inner)) if **inner == Type::Unknown && *left != Type::Unknown => {
            let ty = left.clone();
            let other = convert(other, &ty);
            (one, other, ty)
        }
        (Type::Reference(_), _) if !is_number(&one) => {
            let ty = one.ty.clone();
            let other = convert(other, &ty);
            (one, other, ty)
        }
        (_, Type::Reference(_)) => {
            let ty = other.ty.clone();
            let one = convert(one, &ty);
            (one, other, ty)
        }
        (Type::Never, _) => {
            let ty = other.ty.clone();
            (one, other, ty)
        }
        _ => arithmetic(one, other),
    }
}
