//! What decides: conditions with `let` in them, `if`, `while`, `match`.

use syn::{BinOp, Expr, ExprIf, ExprMatch, ExprWhile};

use super::{Body, label};
use crate::program::{Arm, Condition, Expression, Kind};

impl Body<'_, '_> {
    /// A condition. What its patterns bind is visible until the scope is closed that was opened
    /// before.
    pub(super) fn condition(&mut self, written: &Expr) -> Condition {
        match written {
            Expr::Let(it) => {
                let value = self.expression(&it.expr);
                let value = self.matched(value, &it.pat);
                Condition::Let(self.pattern(&it.pat), value)
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) && has_let(written) => {
                let left = self.condition(&binary.left);
                let right = self.condition(&binary.right);
                Condition::And(Box::new(left), Box::new(right))
            }
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::Group(inner) => self.condition(&inner.expr),
            other => Condition::Holds(self.expression(other)),
        }
    }

    pub(super) fn branch(&mut self, written: &ExprIf) -> Expression {
        let start = self.bytes(written.if_token.span).start;
        self.scopes.open();
        let condition = Box::new(self.condition(&written.cond));
        let then = Box::new(self.block_expression(&written.then_branch, None));
        self.scopes.close();
        let otherwise = written.else_branch.as_ref();
        let otherwise = otherwise.map(|(_, otherwise)| Box::new(self.expression(otherwise)));
        let end = self.end_of(otherwise.as_deref().unwrap_or(&then));
        self.make(Kind::If { condition, then, otherwise }, start..end)
    }

    pub(super) fn while_loop(&mut self, written: &ExprWhile) -> Expression {
        let start = self.bytes(written.while_token.span).start;
        self.scopes.open();
        let condition = Box::new(self.condition(&written.cond));
        let body = Box::new(self.block_expression(&written.body, None));
        self.scopes.close();
        let end = self.end_of(&body);
        let label = written.label.as_ref().map(|it| label(&it.name));
        self.make(Kind::While(label, condition, body), start..end)
    }

    pub(super) fn match_expression(&mut self, written: &ExprMatch) -> Expression {
        let start = self.bytes(written.match_token.span).start;
        let end = self.bytes(written.brace_token.span.close()).end;
        let mut value = self.expression(&written.expr);
        let by_reference = written.arms.iter().find(|arm| super::pattern::by_reference(&arm.pat));
        if let Some(arm) = by_reference {
            value = self.matched(value, &arm.pat);
        }
        let arms = written.arms.iter().filter(|arm| self.is_built(&arm.attrs)).collect::<Vec<_>>();
        let arms = arms.into_iter().map(|arm| self.arm(arm)).collect();
        self.make(Kind::Match(Box::new(value), arms), start..end)
    }

    fn arm(&mut self, written: &syn::Arm) -> Arm {
        self.scopes.open();
        let (pattern, guard) = match &written.pat {
            syn::Pat::Guard(guarded) => {
                let pattern = self.pattern(&guarded.pat);
                (pattern, Some(self.condition(&guarded.guard)))
            }
            plain => (self.pattern(plain), None),
        };
        let body = self.expression(&written.body);
        self.scopes.close();
        Arm { pattern, guard, body }
    }
}

/// Whether there is a `let` among the conditions that must all hold.
fn has_let(written: &Expr) -> bool {
    match written {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        Expr::Paren(inner) => has_let(&inner.expr),
        Expr::Group(inner) => has_let(&inner.expr),
        _ => false,
    }
}
