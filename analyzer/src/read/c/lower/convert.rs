//! Conversions: C has them nearly everywhere, the program has them written out.

use tree_sitter::Node;

use super::{Lowering, is_of_c, of_c};
use crate::program::{Binary, Expression, Kind, Literal, Place, Scalar, Type, Unary};

impl<'u> Lowering<'u> {
    /// The value of an expression: an array is a pointer to its first element.
    pub(in crate::read::c) fn value(&mut self, node: Node<'u>) -> Expression {
        let expression = self.expression(node);
        decayed(expression)
    }

    /// The value as it is computed with: small numbers are `int`.
    pub(super) fn promoted(&mut self, node: Node<'u>) -> Expression {
        let value = self.value(node);
        promote(value)
    }

    /// Whether an expression is not 0.
    pub(super) fn truth(&mut self, node: Node<'u>) -> Expression {
        let value = self.value(node);
        is_true(value)
    }
}

/// An array as a pointer to its first element.
pub(super) fn decayed(expression: Expression) -> Expression {
    let Type::Array(element, _) = &expression.ty else { return expression };
    let ty = Type::Reference(element.clone());
    let place = expression.place;
    if matches!(expression.kind, Kind::Literal(Literal::Bytes(_))) {
        return Expression { ty, ..expression };
    }
    let kind = Kind::Reference { of: Box::new(expression), mutable: true };
    Expression { kind, place, ty }
}

/// A number that is smaller than an `int` as one.
pub(super) fn promote(value: Expression) -> Expression {
    match value.ty {
        Type::Scalar(
            Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::Char,
        ) => convert(value, &Type::Scalar(Scalar::I32)),
        _ => value,
    }
}

/// Two numbers as the greater of their types.
pub(super) fn arithmetic(left: Expression, right: Expression) -> (Expression, Expression, Type) {
    let (left, right) = (promote(left), promote(right));
    let ty = match (&left.ty, &right.ty) {
        (Type::Scalar(one), Type::Scalar(other)) => {
            let greater =
                if one.conversion_rank() >= other.conversion_rank() { one } else { other };
            Type::Scalar(*greater)
        }
        (Type::Unknown, known) | (known, Type::Unknown) => known.clone(),
        (Type::External(..), Type::Scalar(_)) => return (left, right, Type::Unknown),
        (Type::Scalar(_), Type::External(..)) => return (left, right, Type::Unknown),
        (one, _) => one.clone(),
    };
    let (left, right) = (convert(left, &ty), convert(right, &ty));
    (left, right, ty)
}

/// A value as one of another type, as an assignment has it.
pub(super) fn convert(value: Expression, to: &Type) -> Expression {
    if value.ty == *to {
        return value;
    }
    let place = value.place;
    match (&value.ty, to) {
        (_, Type::Unknown) => value,
        (_, Type::Scalar(Scalar::Bool)) => is_true(value),
        (Type::Unknown | Type::Scalar(_), Type::Scalar(scalar)) => {
            match literal_as(&value, *scalar) {
                Some(literal) => Expression { kind: Kind::Literal(literal), place, ty: to.clone() },
                None => cast(value, to),
            }
        }
        (Type::Scalar(_), Type::Reference(_) | Type::Function(..)) if is_zero(&value) => {
            of_c("null", to.clone(), place)
        }
        (Type::Reference(_) | Type::Unknown, Type::Reference(_) | Type::Function(..))
            if is_of_c(&value, "null") =>
        {
            Expression { ty: to.clone(), ..value }
        }
        (Type::Unknown, Type::Reference(_)) => cast(value, to),
        (Type::Reference(_) | Type::Function(..) | Type::Scalar(_), Type::Reference(_))
        | (Type::Reference(_), Type::Scalar(_)) => cast(value, to),
        (Type::Scalar(_), Type::External(name, _))
            if name == "long double" || name.contains("_Complex") =>
        {
            cast(value, to)
        }
        // What a library's function gives back is what it is taken for.
        (Type::Unknown, _) => Expression { ty: to.clone(), ..value },
        _ => value,
    }
}

/// `(to)value`
pub(super) fn cast(value: Expression, to: &Type) -> Expression {
    let place = value.place;
    Expression { kind: Kind::Cast(Box::new(value), to.clone()), place, ty: to.clone() }
}

/// Whether a value is not 0.
pub(super) fn is_true(value: Expression) -> Expression {
    let bool = Type::Scalar(Scalar::Bool);
    let place = value.place;
    let with = |kind| Expression { kind, place, ty: Type::Scalar(Scalar::Bool) };
    match (&value.kind, &value.ty) {
        (_, Type::Scalar(Scalar::Bool)) => value,
        (Kind::Literal(Literal::Integer(number)), _) => {
            with(Kind::Literal(Literal::Bool(*number != 0)))
        }
        (Kind::Cast(inner, _), _) if inner.ty == bool => (**inner).clone(),
        (_, Type::Reference(_) | Type::Function(..) | Type::Array(..) | Type::External(..)) => {
            let null = of_c("null", value.ty.clone(), place);
            with(Kind::Binary(Binary::NotEqual, Box::new(value), Box::new(null)))
        }
        (_, Type::Scalar(_)) => {
            let kind = Kind::Literal(Literal::Integer(0));
            let zero = Expression { kind, place, ty: value.ty.clone() };
            with(Kind::Binary(Binary::NotEqual, Box::new(value), Box::new(zero)))
        }
        _ => cast(value, &bool),
    }
}

/// `!value`
pub(super) fn negated(value: Expression) -> Expression {
    let place = value.place;
    let value = is_true(value);
    let ty = value.ty.clone();
    let inverse = |operation: &Binary| match operation {
        Binary::Equal => Some(Binary::NotEqual),
        Binary::NotEqual => Some(Binary::Equal),
        _ => None,
    };
    let kind = match value.kind {
        Kind::Literal(Literal::Bool(value)) => Kind::Literal(Literal::Bool(!value)),
        Kind::Binary(operation, left, right) if inverse(&operation).is_some() => {
            Kind::Binary(inverse(&operation).unwrap_or(operation), left, right)
        }
        _ => Kind::Unary(Unary::Not, Box::new(value)),
    };
    Expression { kind, place, ty }
}

/// Whether a value is written as 0.
pub(super) fn is_zero(value: &Expression) -> bool {
    matches!(value.kind, Kind::Literal(Literal::Integer(0)))
}

/// A number that is written down as one of another type, if it can be.
fn literal_as(value: &Expression, scalar: Scalar) -> Option<Literal> {
    match &value.kind {
        Kind::Literal(Literal::Integer(number)) if scalar.is_integer() => {
            Some(Literal::Integer(wrapped(*number, scalar)))
        }
        Kind::Literal(Literal::Integer(number)) if scalar.is_float() => {
            Some(Literal::Float(*number as f64))
        }
        Kind::Literal(Literal::Float(number)) if scalar.is_float() => Some(Literal::Float(*number)),
        Kind::Literal(Literal::Bool(value)) if scalar.is_integer() => {
            Some(Literal::Integer((*value).into()))
        }
        _ => None,
    }
}

/// The number that is left of one in a type's width.
pub(super) fn wrapped(number: i128, scalar: Scalar) -> i128 {
    match scalar {
        Scalar::I8 => i128::from(number as i8),
        Scalar::I16 => i128::from(number as i16),
        Scalar::I32 => i128::from(number as i32),
        Scalar::I64 | Scalar::Isize => i128::from(number as i64),
        Scalar::U8 => i128::from(number as u8),
        Scalar::U16 => i128::from(number as u16),
        Scalar::U32 => i128::from(number as u32),
        Scalar::U64 | Scalar::Usize => i128::from(number as u64),
        _ => number,
    }
}

/// A whole number.
pub(super) fn integer(number: i128, scalar: Scalar, place: Place) -> Expression {
    let kind = Kind::Literal(Literal::Integer(number));
    Expression { kind, place, ty: Type::Scalar(scalar) }
}
