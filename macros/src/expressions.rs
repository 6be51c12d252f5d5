//! Expressions of the language as Rust code, all integers `i64` as in the check.

use std::collections::HashMap;

use p2p_protocol::grammar::syntax::{
    BinaryOperator, Expression, ExpressionKind, Method, Name, UnaryOperator,
};
use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

/// Where the code of an expression finds its values.
pub(crate) struct Values {
    /// `rank` as an `i64`.
    pub(crate) rank: TokenStream,
    /// `size` as an `i64`.
    pub(crate) size: TokenStream,
    /// The grid, where there is one.
    pub(crate) grid: TokenStream,
    /// Every name, by its declaration, as an `i64`.
    pub(crate) names: HashMap<u32, TokenStream>,
}

impl Values {
    /// The code of an expression.
    pub(crate) fn code(&self, expression: &Expression) -> TokenStream {
        let span = expression.span.resolved_at(Span::call_site());
        match &expression.kind {
            ExpressionKind::Integer(value) => {
                let mut literal = Literal::i64_suffixed(*value);
                literal.set_span(span);
                quote!(#literal)
            }
            ExpressionKind::Boolean(value) => quote_spanned!(span=> #value),
            ExpressionKind::Rank => self.rank.clone(),
            ExpressionKind::Size => self.size.clone(),
            ExpressionKind::Variable(name) => self.name(name),
            ExpressionKind::Pair(row, column) => {
                let (row, column, grid) = (self.code(row), self.code(column), &self.grid);
                quote_spanned!(span=> #grid.rank(#row, #column))
            }
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.code(inner);
                match operator {
                    UnaryOperator::Not => quote_spanned!(span=> (!#inner)),
                    UnaryOperator::Negate => quote_spanned!(span=> (-#inner)),
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                let operator = self::operator(*operator, span);
                let (left, right) = (self.code(left), self.code(right));
                quote_spanned!(span=> (#left #operator #right))
            }
            ExpressionKind::Method(method, receiver, argument) => {
                let receiver = self.code(receiver);
                let argument = argument.as_ref().map(|argument| self.code(argument));
                match method {
                    Method::Min => quote_spanned!(span=> #receiver.min(#argument)),
                    Method::Max => quote_spanned!(span=> #receiver.max(#argument)),
                    Method::Pow => quote_spanned!(span=> #receiver.pow((#argument) as u32)),
                    Method::AbsDiff => {
                        quote_spanned!(span=> (#receiver.abs_diff(#argument) as i64))
                    }
                    Method::Ilog2 => quote_spanned!(span=> (#receiver.ilog2() as i64)),
                    Method::IsPowerOfTwo => {
                        quote_spanned!(span=> (#receiver.max(0i64) as u64).is_power_of_two())
                    }
                }
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let condition = self.code(condition);
                let (then, otherwise) = (self.code(then), self.code(otherwise));
                quote_spanned!(span=> (if #condition { #then } else { #otherwise }))
            }
        }
    }

    /// The code of a name's value.
    pub(crate) fn name(&self, name: &Name) -> TokenStream {
        self.names.get(&name.id).cloned().unwrap_or_else(|| quote!(#name))
    }
}

fn operator(operator: BinaryOperator, span: Span) -> TokenStream {
    match operator {
        BinaryOperator::Add => quote_spanned!(span=> +),
        BinaryOperator::Subtract => quote_spanned!(span=> -),
        BinaryOperator::Multiply => quote_spanned!(span=> *),
        BinaryOperator::Divide => quote_spanned!(span=> /),
        BinaryOperator::Remainder => quote_spanned!(span=> %),
        BinaryOperator::Xor => quote_spanned!(span=> ^),
        BinaryOperator::And => quote_spanned!(span=> &),
        BinaryOperator::Or => quote_spanned!(span=> |),
        BinaryOperator::ShiftLeft => quote_spanned!(span=> <<),
        BinaryOperator::ShiftRight => quote_spanned!(span=> >>),
        BinaryOperator::Equal => quote_spanned!(span=> ==),
        BinaryOperator::NotEqual => quote_spanned!(span=> !=),
        BinaryOperator::Less => quote_spanned!(span=> <),
        BinaryOperator::LessOrEqual => quote_spanned!(span=> <=),
        BinaryOperator::Greater => quote_spanned!(span=> >),
        BinaryOperator::GreaterOrEqual => quote_spanned!(span=> >=),
        BinaryOperator::LogicalAnd => quote_spanned!(span=> &&),
        BinaryOperator::LogicalOr => quote_spanned!(span=> ||),
    }
}
