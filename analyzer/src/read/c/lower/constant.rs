//! Constants: what an expression is that is made of numbers alone.

use super::Lowering;
use super::convert::wrapped;
use crate::program::{Binary, Condition, Expression, Kind, Literal, Scalar, Type, Unary};

/// Constants in constants that are looked through.
const DEPTH: u32 = 200;

impl Lowering<'_> {
    /// The number that an expression is, if it is a constant.
    pub(in crate::read::c) fn fold(&self, expression: &Expression) -> Option<i128> {
        self.fold_at(expression, DEPTH)
    }

    fn fold_at(&self, expression: &Expression, depth: u32) -> Option<i128> {
        let depth = depth.checked_sub(1)?;
        let fit = |number: i128| match &expression.ty {
            Type::Scalar(scalar) if scalar.is_integer() => Some(wrapped(number, *scalar)),
            Type::Scalar(Scalar::Bool) => Some(i128::from(number != 0)),
            _ => None,
        };
        match &expression.kind {
            Kind::Literal(Literal::Integer(number)) => Some(*number),
            Kind::Literal(Literal::Bool(value)) => Some(i128::from(*value)),
            Kind::Global(global) => {
                let global = self.program.global(*global);
                let value = global.value.as_ref().filter(|_| !global.is_mutable)?;
                self.fold_at(value, depth)
            }
            Kind::Cast(inner, _) => match (&inner.kind, &inner.ty) {
                (Kind::Literal(Literal::Float(number)), _) if number.abs() < 1e18 => {
                    fit(*number as i128)
                }
                _ => fit(self.fold_at(inner, depth)?),
            },
            Kind::Unary(Unary::Negate, inner) => fit(self.fold_at(inner, depth)?.checked_neg()?),
            Kind::Unary(Unary::Not, inner) => {
                let number = self.fold_at(inner, depth)?;
                let is_truth = inner.ty == Type::Scalar(Scalar::Bool);
                fit(if is_truth { i128::from(number == 0) } else { !number })
            }
            Kind::Binary(operation, left, right) => {
                let (left, right) = (self.fold_at(left, depth)?, self.fold_at(right, depth)?);
                fit(computed(*operation, left, right)?)
            }
            Kind::If { condition, then, otherwise: Some(otherwise) } => {
                let Condition::Holds(condition) = &**condition else { return None };
                let arm = if self.fold_at(condition, depth)? != 0 { then } else { otherwise };
                self.fold_at(arm, depth)
            }
            _ => None,
        }
    }
}

/// What an operation on two numbers makes, if it is no overflow.
pub(super) fn of_numbers(operation: Binary, left: i128, right: i128, ty: &Type) -> Option<Kind> {
    let number = computed(operation, left, right)?;
    match ty {
        Type::Scalar(Scalar::Bool) => Some(Kind::Literal(Literal::Bool(number != 0))),
        Type::Scalar(scalar) if scalar.is_integer() && wrapped(number, *scalar) == number => {
            Some(Kind::Literal(Literal::Integer(number)))
        }
        _ => None,
    }
}

fn computed(operation: Binary, left: i128, right: i128) -> Option<i128> {
    let distance = || u32::try_from(right).ok().filter(|distance| *distance < 64);
    match operation {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => left.checked_div(right),
        Binary::Remainder => left.checked_rem(right),
        Binary::BitAnd => Some(left & right),
        Binary::BitOr => Some(left | right),
        Binary::BitXor => Some(left ^ right),
        Binary::ShiftLeft => left.checked_shl(distance()?),
        Binary::ShiftRight => left.checked_shr(distance()?),
        Binary::And => Some(i128::from(left != 0 && right != 0)),
        Binary::Or => Some(i128::from(left != 0 || right != 0)),
        Binary::Equal => Some(i128::from(left == right)),
        Binary::NotEqual => Some(i128::from(left != right)),
        Binary::Less => Some(i128::from(left < right)),
        Binary::LessOrEqual => Some(i128::from(left <= right)),
        Binary::Greater => Some(i128::from(left > right)),
        Binary::GreaterOrEqual => Some(i128::from(left >= right)),
    }
}
