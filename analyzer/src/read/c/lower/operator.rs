//! Operators on one or two values, and what asks for sizes.

use tree_sitter::Node;

use super::super::parse::children;
use super::convert::{arithmetic, convert, decayed, integer, is_true, negated, promote};
use super::{Lowering, convert as conversions};
use crate::program::{Binary, Expression, Kind, Literal, Place, Scalar, Type, Unary};

impl<'u> Lowering<'u> {
    /// The operator of a node.
    pub(super) fn operator(&self, node: Node<'u>) -> &'u str {
        node.child_by_field_name("operator").map_or("", |operator| self.text(operator))
    }

    /// `-value`, `!value`, `~value`
    pub(super) fn unary(&mut self, node: Node<'u>) -> Expression {
        let Some(argument) = node.child_by_field_name("argument") else {
            return self.unreadable(node);
        };
        let place = self.place(node);
        match self.operator(node) {
            "!" | "not" => {
                let value = self.truth(argument);
                Expression { place, ..negated(value) }
            }
            operator => {
                let value = self.promoted(argument);
                unary(operator, value, place)
            }
        }
    }

    /// `left operator right`
    pub(super) fn binary(&mut self, node: Node<'u>) -> Expression {
        let left = node.child_by_field_name("left");
        let right = node.child_by_field_name("right");
        let (Some(left), Some(right)) = (left, right) else { return self.unreadable(node) };
        let operator = self.operator(node);
        if let Some(printed) = self.streamed(node) {
            return printed;
        }
        if let Some(expression) = self.cast_in_binary(operator, left, right, node) {
            return expression;
        }
        let place = self.place(node);
        let (left, right) = match operator {
            "&&" | "||" | "and" | "or" => (self.truth(left), self.truth(right)),
            _ => (self.value(left), self.value(right)),
        };
        match operation(operator) {
            Some(operation) => self.operate(operation, left, right, place),
            None => self.unreadable(node),
        }
    }

    /// An operation on two values.
    pub(super) fn operate(
        &mut self,
        operation: Binary,
        left: Expression,
        right: Expression,
        place: Place,
    ) -> Expression {
        let is_pointer = |it: &Expression| {
            matches!(it.ty, Type::Reference(_) | Type::Function(..) | Type::Array(..))
        };
        let has_pointer = is_pointer(&left) || is_pointer(&right);
        match operation {
            Binary::And | Binary::Or => {
                let (left, right) = (is_true(left), is_true(right));
                of_two(operation, left, right, Type::Scalar(Scalar::Bool), place)
            }
            Binary::Add if has_pointer => {
                let (left, right) = (decayed(left), decayed(right));
                let (pointer, index) =
                    if is_pointer(&left) { (left, right) } else { (right, left) };
                self.offset(pointer, promote(index), place)
            }
            Binary::Subtract if is_pointer(&left) && is_pointer(&right) => {
                let arguments = vec![decayed(left), decayed(right)];
                self.call_of_c("difference", arguments, Type::Scalar(Scalar::I64), place)
            }
            Binary::Subtract if is_pointer(&left) => {
                let back = convert(promote(right), &Type::Scalar(Scalar::I64));
                let back = unary("-", back, place);
                self.offset(decayed(left), back, place)
            }
            Binary::ShiftLeft | Binary::ShiftRight => {
                let (left, right) = (promote(left), promote(right));
                let ty = left.ty.clone();
                of_two(operation, left, right, ty, place)
            }
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessOrEqual
            | Binary::Greater
            | Binary::GreaterOrEqual => {
                let (left, right) = if has_pointer {
                    let (left, right) = (decayed(left), decayed(right));
                    let (one, other) = (left.ty.clone(), right.ty.clone());
                    if is_pointer(&left) {
                        (left, as_pointer(right, &one))
                    } else {
                        (as_pointer(left, &other), right)
                    }
                } else if is_bool(&left) && is_bool(&right) {
                    (left, right)
                } else {
                    let (left, right, _) = arithmetic(left, right);
                    (left, right)
                };
                of_two(operation, left, right, Type::Scalar(Scalar::Bool), place)
            }
            _ => {
                let (left, right, ty) = arithmetic(left, right);
                of_two(operation, left, right, ty, place)
            }
        }
    }

    // ---- sizes

    /// `sizeof value`, `sizeof(type)`
    pub(super) fn size(&mut self, node: Node<'u>) -> Expression {
        let place = self.place(node);
        if let Some(expression) = self.size_with_cast(node) {
            return expression;
        }
        if let Some(described) = node.child_by_field_name("type") {
            let (ty, lengths) = self.described(described);
            return self.size_of_type(&ty, &lengths, place);
        }
        let Some(value) = node.child_by_field_name("value") else { return self.unreadable(node) };
        let inner = without_parentheses(value);
        if inner.kind() == "identifier" && self.is_type(self.text(inner)) {
            let ty = self.named_type(self.text(inner));
            return self.size_of_type(&ty, &[], place);
        }
        let value = self.without_effect(|lowering| {
            let literal = lowering.literal(inner);
            literal.unwrap_or_else(|| lowering.expression(inner))
        });
        let lengths = self.lengths_of(&value);
        self.size_of_type(&value.ty, &lengths, place)
    }

    /// How long the arrays are that an expression has, as far as they are no constants.
    fn lengths_of(&self, value: &Expression) -> Vec<Option<Node<'u>>> {
        let (mut at, mut skipped) = (value, 0);
        loop {
            match &at.kind {
                Kind::Variable(variable) => {
                    let lengths = self.function.lengths.get(variable).cloned().unwrap_or_default();
                    // The first index of a pointer leads to an array as a whole.
                    let is_pointer = matches!(at.ty, Type::Reference(_));
                    let skipped = if is_pointer && skipped > 0 { skipped - 1 } else { skipped };
                    return lengths.get(skipped..).unwrap_or_default().to_vec();
                }
                Kind::Index(of, _) => {
                    skipped += 1;
                    at = of;
                }
                _ => return Vec::new(),
            }
        }
    }

    pub(super) fn size_of_type(
        &mut self,
        ty: &Type,
        lengths: &[Option<Node<'u>>],
        place: Place,
    ) -> Expression {
        if let Some(bytes) = self.program.size_of(ty) {
            return integer(bytes.into(), Scalar::U64, place);
        }
        if let (Type::Array(element, _), Some((Some(length), inner))) = (ty, lengths.split_first())
        {
            let length = self.value(*length);
            let length = convert(length, &Type::Scalar(Scalar::U64));
            let element = self.size_of_type(element, inner, place);
            return self.operate(Binary::Multiply, length, element, place);
        }
        self.call_of_c("sizeof", Vec::new(), Type::Scalar(Scalar::U64), place)
    }

    /// `_Alignof(type)`
    pub(super) fn alignment(&mut self, node: Node<'u>) -> Expression {
        let ty = node.child_by_field_name("type").map(|ty| self.described(ty).0);
        match ty.and_then(|ty| self.program.align_of(&ty)) {
            Some(bytes) => self.integer(bytes.into(), Scalar::U64, node),
            None => self.unreadable(node),
        }
    }

    /// `offsetof(type, field)`
    pub(super) fn offset_of_field(&mut self, node: Node<'u>) -> Expression {
        let ty = node.child_by_field_name("type").map(|ty| self.described(ty).0);
        let member = node.child_by_field_name("member").map(|member| self.text(member));
        self.offset_in(ty.unwrap_or_default(), member.unwrap_or_default(), node)
    }

    pub(super) fn offset_in(&mut self, ty: Type, member: &str, node: Node<'u>) -> Expression {
        let bytes = match ty {
            Type::Defined(definition, _) => self.program.offset_of(definition, member),
            _ => None,
        };
        let place = self.place(node);
        match bytes {
            Some(bytes) => integer(bytes.into(), Scalar::U64, place),
            None => self.call_of_c("sizeof", Vec::new(), Type::Scalar(Scalar::U64), place),
        }
    }
}

fn is_bool(value: &Expression) -> bool {
    value.ty == Type::Scalar(Scalar::Bool)
}

/// What a pointer is compared with, as one.
fn as_pointer(value: Expression, ty: &Type) -> Expression {
    match value.ty {
        // Two pointers are compared as they are.
        Type::Reference(_) | Type::Function(..) if !super::is_of_c(&value, "null") => value,
        _ => convert(value, ty),
    }
}

fn of_two(
    operation: Binary,
    left: Expression,
    right: Expression,
    ty: Type,
    place: Place,
) -> Expression {
    let kind = match (&left.kind, &right.kind) {
        // Sizes and bounds are mostly made of numbers that are written down.
        (Kind::Literal(Literal::Integer(one)), Kind::Literal(Literal::Integer(other))) => {
            super::constant::of_numbers(operation, *one, *other, &ty)
        }
        _ => None,
    };
    let kind = kind.unwrap_or_else(|| Kind::Binary(operation, Box::new(left), Box::new(right)));
    Expression { kind, place, ty }
}

/// `operator value`, for a value that is promoted.
pub(super) fn unary(operator: &str, value: Expression, place: Place) -> Expression {
    let ty = value.ty.clone();
    let scalar = match ty {
        Type::Scalar(scalar) => Some(scalar),
        _ => None,
    };
    let kind = match (operator, &value.kind) {
        ("+", _) => return Expression { place, ..value },
        ("-", Kind::Literal(Literal::Integer(number))) => {
            let negative = number.checked_neg().unwrap_or(*number);
            let negative = scalar.map_or(negative, |it| conversions::wrapped(negative, it));
            Kind::Literal(Literal::Integer(negative))
        }
        ("-", Kind::Literal(Literal::Float(number))) => Kind::Literal(Literal::Float(-number)),
        ("-", _) => Kind::Unary(Unary::Negate, Box::new(value)),
        ("~" | "compl", _) => Kind::Unary(Unary::Not, Box::new(value)),
        _ => Kind::Unknown("this operator is not known".to_owned()),
    };
    Expression { kind, place, ty }
}

/// The operation that an operator stands for.
pub(super) fn operation(operator: &str) -> Option<Binary> {
    Some(match operator {
        "+" => Binary::Add,
        "-" => Binary::Subtract,
        "*" => Binary::Multiply,
        "/" => Binary::Divide,
        "%" => Binary::Remainder,
        "&" | "bitand" => Binary::BitAnd,
        "|" | "bitor" => Binary::BitOr,
        "^" | "xor" => Binary::BitXor,
        "<<" => Binary::ShiftLeft,
        ">>" => Binary::ShiftRight,
        "&&" | "and" => Binary::And,
        "||" | "or" => Binary::Or,
        "==" => Binary::Equal,
        "!=" | "not_eq" => Binary::NotEqual,
        "<" => Binary::Less,
        "<=" => Binary::LessOrEqual,
        ">" => Binary::Greater,
        ">=" => Binary::GreaterOrEqual,
        _ => return None,
    })
}

/// What stands in parentheses.
pub(super) fn without_parentheses(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while node.kind() == "parenthesized_expression" {
        match children(node, &mut node.walk())[..] {
            [inner] if inner.kind() != "compound_statement" => node = inner,
            _ => break,
        }
    }
    node
}
