//! What an expression is worth, for one rank of one size. Conditions are 0 or 1.

use crate::grammar::LanguageError;
use crate::grammar::syntax::{BinaryOperator, Expression, ExpressionKind, Method, UnaryOperator};
use crate::grammar::tokens::Region;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::grammar) enum Reason {
    Overflow,
    DivisionByZero,
    LogarithmOfNothing,
    NegativeExponent,
    /// A shift by less than 0 or more than 63.
    Shift,
}

/// An expression without a value.
#[derive(Clone, Copy, Debug)]
pub(in crate::grammar) struct Fault {
    pub(in crate::grammar) reason: Reason,
    pub(in crate::grammar) region: Region,
}

impl Fault {
    /// The fault in words.
    pub(in crate::grammar) fn error(self) -> LanguageError {
        let (message, help) = match self.reason {
            Reason::Overflow => {
                ("this is larger than any 64-bit integer", "all numbers are 64-bit integers here")
            }
            Reason::DivisionByZero => ("this divides by zero", "ask before whether it is 0"),
            Reason::LogarithmOfNothing => {
                ("only a number above 0 has a logarithm", "ask before whether it is 0")
            }
            Reason::NegativeExponent => ("the exponent is negative", "ask before whether it is"),
            Reason::Shift => {
                ("this shifts by less than 0 or more than 63 bits", "shift by less than 64")
            }
        };
        LanguageError::new(self.region, message).help(help)
    }
}

/// All that an expression may refer to.
#[derive(Clone, Copy)]
pub(in crate::grammar) struct Numbers<'a> {
    pub(in crate::grammar) rank: i64,
    pub(in crate::grammar) size: i64,
    /// The grid's extents in x and y.
    pub(in crate::grammar) grid: (i64, i64),
    /// The values of names, by their id.
    pub(in crate::grammar) values: &'a [i64],
}

impl<'a> Numbers<'a> {
    /// Constants alone.
    pub(in crate::grammar) fn fixed(values: &'a [i64]) -> Numbers<'a> {
        Numbers { rank: 0, size: 0, grid: (0, 0), values }
    }

    /// Whether a condition holds.
    pub(in crate::grammar) fn holds(&self, condition: &Expression) -> Result<bool, Fault> {
        self.integer(condition).map(|value| value != 0)
    }

    /// The value.
    pub(in crate::grammar) fn integer(&self, expression: &Expression) -> Result<i64, Fault> {
        match &expression.kind {
            ExpressionKind::Integer(value) => Ok(*value),
            ExpressionKind::Boolean(value) => Ok(i64::from(*value)),
            ExpressionKind::Rank => Ok(self.rank),
            ExpressionKind::Size => Ok(self.size),
            ExpressionKind::Variable(name) => {
                Ok(self.values.get(name.id as usize).copied().unwrap_or_default())
            }
            ExpressionKind::Pair(x, y) => {
                let (x, y) = (self.integer(x)?, self.integer(y)?);
                Ok(self.rank_at(x, y))
            }
            ExpressionKind::Unary(operator, inner) => {
                let value = self.integer(inner)?;
                match operator {
                    UnaryOperator::Not => Ok(i64::from(value == 0)),
                    UnaryOperator::Negate => known(value.checked_neg(), expression),
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, expression)
            }
            ExpressionKind::Method(method, receiver, argument) => {
                let receiver = self.integer(receiver)?;
                let argument = match argument {
                    Some(argument) => self.integer(argument)?,
                    None => 0,
                };
                apply(*method, receiver, argument)
                    .map_err(|reason| Fault { reason, region: expression.region() })
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let taken = if self.holds(condition)? { then } else { otherwise };
                self.integer(taken)
            }
        }
    }

    /// The rank at these coordinates. Coordinates beside the grid have none: they give a number
    /// that lies outside the world as well, on the same side.
    fn rank_at(&self, x: i64, y: i64) -> i64 {
        let (rows, columns) = self.grid;
        if x < 0 || y < 0 {
            -1
        } else if x >= rows || y >= columns {
            self.size
        } else {
            x * columns + y
        }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        all: &Expression,
    ) -> Result<i64, Fault> {
        let a = self.integer(left)?;
        match operator {
            BinaryOperator::LogicalAnd if a == 0 => return Ok(0),
            BinaryOperator::LogicalOr if a != 0 => return Ok(1),
            _ => {}
        }
        let b = self.integer(right)?;
        let fault = |reason| Err(Fault { reason, region: all.region() });
        match operator {
            BinaryOperator::Add => known(a.checked_add(b), all),
            BinaryOperator::Subtract => known(a.checked_sub(b), all),
            BinaryOperator::Multiply => known(a.checked_mul(b), all),
            BinaryOperator::Divide | BinaryOperator::Remainder if b == 0 => {
                fault(Reason::DivisionByZero)
            }
            BinaryOperator::Divide => known(a.checked_div(b), all),
            BinaryOperator::Remainder => known(a.checked_rem(b), all),
            BinaryOperator::Xor => Ok(a ^ b),
            BinaryOperator::And => Ok(a & b),
            BinaryOperator::Or => Ok(a | b),
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight if !(0..64).contains(&b) => {
                fault(Reason::Shift)
            }
            BinaryOperator::ShiftLeft => {
                let shifted = a << b;
                known(Some(shifted).filter(|shifted| shifted >> b == a), all)
            }
            BinaryOperator::ShiftRight => Ok(a >> b),
            BinaryOperator::Equal => Ok(i64::from(a == b)),
            BinaryOperator::NotEqual => Ok(i64::from(a != b)),
            BinaryOperator::Less => Ok(i64::from(a < b)),
            BinaryOperator::LessOrEqual => Ok(i64::from(a <= b)),
            BinaryOperator::Greater => Ok(i64::from(a > b)),
            BinaryOperator::GreaterOrEqual => Ok(i64::from(a >= b)),
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => Ok(b),
        }
    }
}

fn known(value: Option<i64>, expression: &Expression) -> Result<i64, Fault> {
    value.ok_or(Fault { reason: Reason::Overflow, region: expression.region() })
}

fn apply(method: Method, receiver: i64, argument: i64) -> Result<i64, Reason> {
    match method {
        Method::Min => Ok(receiver.min(argument)),
        Method::Max => Ok(receiver.max(argument)),
        Method::Pow => {
            let exponent = u32::try_from(argument.max(0)).map_err(|_| Reason::Overflow)?;
            if argument < 0 {
                return Err(Reason::NegativeExponent);
            }
            receiver.checked_pow(exponent).ok_or(Reason::Overflow)
        }
        Method::AbsDiff => i64::try_from(receiver.abs_diff(argument)).map_err(|_| Reason::Overflow),
        Method::Ilog2 => receiver.checked_ilog2().map(i64::from).ok_or(Reason::LogarithmOfNothing),
        Method::IsPowerOfTwo => Ok(i64::from(receiver > 0 && receiver & (receiver - 1) == 0)),
    }
}
