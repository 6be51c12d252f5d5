//! Walks through the parts of a program's text.

use crate::program::{Condition, Expression, Kind, Statement};

/// Calls `visit` with an expression and all that stand in it.
pub(super) fn walk<'e>(expression: &'e Expression, visit: &mut dyn FnMut(&'e Expression)) {
    visit(expression);
    for part in parts(expression) {
        walk(part, visit);
    }
}

pub(super) fn walk_statements<'e>(
    expression: &'e Expression,
    visit: &mut dyn FnMut(&'e Statement),
) {
    walk(expression, &mut |part| {
        if let Kind::Block(block) = &part.kind {
            block.statements.iter().for_each(&mut *visit);
        }
    });
}

pub(super) fn conditions(condition: &Condition) -> Vec<&Expression> {
    match condition {
        Condition::Holds(value) | Condition::Let(_, value) => vec![value],
        Condition::And(one, two) => {
            let mut both = conditions(one);
            both.extend(conditions(two));
            both
        }
    }
}

/// The expressions that stand directly in another one.
pub(super) fn parts(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        Kind::Literal(_)
        | Kind::Variable(_)
        | Kind::Global(_)
        | Kind::Function(..)
        | Kind::External(..)
        | Kind::Continue(_)
        | Kind::Unknown(_) => Vec::new(),
        Kind::Tuple(parts) | Kind::Array(parts) | Kind::Macro(_, parts) => parts.iter().collect(),
        Kind::Construct { fields, rest, .. } => {
            fields.iter().map(|(_, field)| field).chain(rest.as_deref()).collect()
        }
        Kind::Repeat(one, two)
        | Kind::Binary(_, one, two)
        | Kind::Assign(one, two)
        | Kind::AssignWith(_, one, two)
        | Kind::Index(one, two) => vec![one, two],
        Kind::Unary(_, one)
        | Kind::Cast(one, _)
        | Kind::Reference { of: one, .. }
        | Kind::Dereference(one)
        | Kind::Field(one, _)
        | Kind::Loop(_, one)
        | Kind::Try(one) => vec![one],
        Kind::Range { start, end, .. } => {
            start.as_deref().into_iter().chain(end.as_deref()).collect()
        }
        Kind::Call(callee, arguments) => std::iter::once(&**callee).chain(arguments).collect(),
        Kind::Method { receiver, arguments, .. } => {
            std::iter::once(&**receiver).chain(arguments).collect()
        }
        Kind::Closure(closure) => vec![&closure.body],
        Kind::Block(block) => block
            .statements
            .iter()
            .flat_map(statement_parts)
            .chain(block.value.as_deref())
            .collect(),
        Kind::If { condition, then, otherwise } => {
            let mut parts = conditions(condition);
            parts.push(then);
            parts.extend(otherwise.as_deref());
            parts
        }
        Kind::Match(over, arms) => {
            let mut parts = vec![&**over];
            for arm in arms {
                parts.extend(arm.guard.as_ref().map(conditions).unwrap_or_default());
                parts.push(&arm.body);
            }
            parts
        }
        Kind::While(_, condition, body) => {
            let mut parts = conditions(condition);
            parts.push(body);
            parts
        }
        Kind::For { over, body, .. } => vec![over, body],
        Kind::Break(_, value) | Kind::Return(value) => value.as_deref().into_iter().collect(),
    }
}

fn statement_parts(statement: &Statement) -> Vec<&Expression> {
    match statement {
        Statement::Let { value, otherwise, .. } => value.iter().chain(otherwise).collect(),
        Statement::Expression(expression) => vec![expression],
    }
}
