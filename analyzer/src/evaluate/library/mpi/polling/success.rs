//! Where in a loop, or in a function, the answer of a call that asks is known to be yes.

use rustc_hash::FxHashSet;

use super::super::walk::{conditions, parts, walk, walk_statements};
use super::answered_variable;
use super::helpers::Helpers;
use crate::program::{
    Binary, Block, Condition, Expression, Kind, Literal, Pattern, Place, Statement, Unary,
    VariableId,
};

/// Where in a loop the answer of a call is known to be yes.
pub(super) struct Success<'t> {
    /// The variables that hold the answer.
    answers: FxHashSet<VariableId>,
    /// The variables that the loop's condition looks at.
    pub(super) steering: FxHashSet<VariableId>,
    place: Place,
    helpers: &'t Helpers,
}

impl<'t> Success<'t> {
    pub(super) fn of(whole: &Expression, asked: &Expression, helpers: &'t Helpers) -> Success<'t> {
        let mut success = Success {
            answers: answered_variable(asked).into_iter().collect(),
            steering: FxHashSet::default(),
            place: asked.place,
            helpers,
        };
        walk_statements(whole, &mut |statement| {
            if let Statement::Let { pattern: Pattern::Variable(variable, None), value, .. } =
                statement
                && value.as_ref().is_some_and(|value| success.contains(value))
            {
                success.answers.insert(*variable);
            }
        });
        if let Kind::While(_, condition, _) = &whole.kind {
            for part in conditions(condition) {
                walk(part, &mut |part| {
                    if let Kind::Variable(variable) = part.kind {
                        success.steering.insert(variable);
                    }
                });
            }
        }
        success
    }

    /// Whether an expression has the answer in it.
    pub(super) fn contains(&self, expression: &Expression) -> bool {
        let mut any = false;
        walk(expression, &mut |part| {
            any |= part.place == self.place && self.helpers.asks(part);
            any |=
                matches!(part.kind, Kind::Variable(variable) if self.answers.contains(&variable));
        });
        any
    }

    /// Whether an expression is the answer itself.
    fn is_answer(&self, expression: &Expression) -> bool {
        match &expression.kind {
            Kind::Variable(variable) => self.answers.contains(variable),
            Kind::Cast(inner, _) => self.is_answer(inner),
            _ => false,
        }
    }

    /// Whether an assignment only keeps the answer or the request.
    pub(super) fn holds(&self, assignment: &Expression) -> bool {
        match &assignment.kind {
            Kind::Assign(_, value) => self.contains(value),
            // `left -= done`: of none that is complete, nothing is counted.
            Kind::AssignWith(Binary::Add | Binary::Subtract, _, value) => self.is_answer(value),
            Kind::Method { .. } => {
                matches!(&assignment.kind,
                    Kind::Method { name, .. } if matches!(name.as_str(), "incomplete" | "is_empty"
                        | "len" | "is_none" | "is_some" | "iter" | "iter_mut" | "take" | "is_ok"
                        | "is_err" | "as_ref" | "as_mut" | "unwrap" | "clone"))
                    || self.helpers.asks(assignment)
                    || self.contains(assignment)
            }
            _ => false,
        }
    }

    /// The parts of an expression, each with whether it is only reached once the answer was yes.
    pub(super) fn parts<'e>(&self, expression: &'e Expression) -> Vec<(&'e Expression, bool)> {
        match &expression.kind {
            Kind::If { condition, then, otherwise } => {
                let yes = self.answer(condition);
                let mut parts: Vec<_> =
                    conditions(condition).into_iter().map(|part| (part, false)).collect();
                parts.push((then, yes == Some(true)));
                parts.extend(otherwise.as_deref().map(|part| (part, yes == Some(false))));
                parts
            }
            Kind::Match(over, arms) if self.contains(over) => {
                let mut parts = vec![(&**over, false)];
                for arm in arms {
                    parts.push((&arm.body, says_yes(&arm.pattern)));
                }
                parts
            }
            Kind::While(_, condition, body) => {
                let yes = self.answer(condition) == Some(true);
                let mut parts: Vec<_> =
                    conditions(condition).into_iter().map(|part| (part, false)).collect();
                parts.push((body, yes));
                parts
            }
            // `if (!answer) { ..; continue; }`: what stands behind it is reached after a yes.
            Kind::Block(_) => {
                let mut after_yes = false;
                let part = |part| {
                    let reached = (part, after_yes);
                    after_yes |= self.goes_round_unless(part);
                    reached
                };
                parts(expression).into_iter().map(part).collect()
            }
            _ => parts(expression).into_iter().map(|part| (part, false)).collect(),
        }
    }

    /// Whether a statement begins the next turn unless the answer was yes.
    fn goes_round_unless(&self, statement: &Expression) -> bool {
        let Kind::If { condition, then, .. } = &statement.kind else { return false };
        let Condition::Holds(value) = &**condition else { return false };
        self.contains(value) && !is_affirmative(value) && ends_in_continue(then)
    }

    /// What a condition that holds says of the answer.
    fn answer(&self, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::Let(pattern, value) if self.contains(value) => Some(says_yes(pattern)),
            Condition::Holds(value) if self.contains(value) => Some(is_affirmative(value)),
            Condition::And(one, two) => self.answer(one).or_else(|| self.answer(two)),
            _ => None,
        }
    }
}

fn ends_in_continue(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Continue(_) => true,
        Kind::Block(Block { value: Some(value), .. }) => ends_in_continue(value),
        Kind::Block(Block { statements, value: None, .. }) => {
            let last = statements.last();
            matches!(last, Some(Statement::Expression(last)) if ends_in_continue(last))
        }
        _ => false,
    }
}

fn says_yes(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::External(name, _) => name == "Some" || name == "Ok",
        Pattern::Variable(_, Some(inner)) => says_yes(inner),
        Pattern::Reference(inner) => says_yes(inner),
        _ => false,
    }
}

/// Whether a condition on an answer holds if it was yes.
pub(super) fn is_affirmative(condition: &Expression) -> bool {
    match &condition.kind {
        Kind::Unary(Unary::Not, inner) => !is_affirmative(inner),
        Kind::Binary(Binary::Equal, one, other) => !is_zero(one) && !is_zero(other),
        Kind::Binary(Binary::NotEqual, one, other) if is_zero(other) => is_affirmative(one),
        Kind::Cast(inner, _) => is_affirmative(inner),
        Kind::Method { name, .. } => !matches!(name.as_str(), "is_none" | "is_err"),
        _ => true,
    }
}

fn is_zero(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Literal(Literal::Integer(0)) => true,
        Kind::Cast(inner, _) => is_zero(inner),
        _ => false,
    }
}
