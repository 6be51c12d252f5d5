//! What stands directly in an expression.

use super::{Block, Condition, Expression, Kind, Pattern, Place, Program, Statement};

impl Program {
    /// Whether the expression at a place is a statement: nobody looks at its value.
    pub fn drops_value_at(&self, place: Place) -> bool {
        fn is_dropped(within: &Expression, place: Place) -> bool {
            if let Kind::Block(block) = &within.kind
                && block
                    .statements
                    .iter()
                    .any(|it| matches!(it, Statement::Expression(inner) if inner.place == place))
            {
                return true;
            }
            let mut found = false;
            within.for_each_child(&mut |child| found = found || is_dropped(child, place));
            found
        }
        self.functions.iter().filter_map(|it| it.body.as_ref()).any(|body| is_dropped(body, place))
    }
}

impl Expression {
    /// Visits the expressions directly inside this one, in the order in which they stand there,
    /// closures' bodies included. Expressions in patterns are constants and left out.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match &self.kind {
            Kind::Tuple(parts) | Kind::Array(parts) | Kind::Macro(_, parts) => {
                parts.iter().for_each(visit);
            }
            Kind::Repeat(one, other)
            | Kind::Binary(_, one, other)
            | Kind::Assign(one, other)
            | Kind::AssignWith(_, one, other)
            | Kind::Index(one, other) => {
                visit(one);
                visit(other);
            }
            Kind::Construct { fields, rest, .. } => {
                fields.iter().for_each(|(_, value)| visit(value));
                rest.iter().for_each(|rest| visit(rest));
            }
            Kind::Unary(_, inner)
            | Kind::Cast(inner, _)
            | Kind::Reference { of: inner, .. }
            | Kind::Dereference(inner)
            | Kind::Field(inner, _)
            | Kind::Loop(_, inner)
            | Kind::Try(inner) => visit(inner),
            Kind::Range { start, end, .. } => {
                start.iter().chain(end).for_each(|inner| visit(inner));
            }
            Kind::Call(callee, arguments) => {
                visit(callee);
                arguments.iter().for_each(visit);
            }
            Kind::Method { receiver, arguments, .. } => {
                visit(receiver);
                arguments.iter().for_each(visit);
            }
            Kind::Closure(closure) => visit(&closure.body),
            Kind::Block(block) => block.for_each_child(visit),
            Kind::If { condition, then, otherwise } => {
                condition.for_each_child(visit);
                visit(then);
                otherwise.iter().for_each(|inner| visit(inner));
            }
            Kind::Match(value, arms) => {
                visit(value);
                for arm in arms {
                    if let Some(guard) = &arm.guard {
                        guard.for_each_child(visit);
                    }
                    visit(&arm.body);
                }
            }
            Kind::While(_, condition, body) => {
                condition.for_each_child(visit);
                visit(body);
            }
            Kind::For { over, body, .. } => {
                visit(over);
                visit(body);
            }
            Kind::Break(_, value) | Kind::Return(value) => {
                value.iter().for_each(|inner| visit(inner));
            }
            Kind::Literal(_)
            | Kind::Variable(_)
            | Kind::Global(_)
            | Kind::Function(..)
            | Kind::External(..)
            | Kind::Continue(_)
            | Kind::Unknown(_) => {}
        }
    }
}

impl Block {
    fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        for statement in &self.statements {
            match statement {
                Statement::Let { value, otherwise, .. } => {
                    value.iter().chain(otherwise).for_each(&mut *visit);
                }
                Statement::Expression(expression) => visit(expression),
            }
        }
        self.value.iter().for_each(|value| visit(value));
    }
}

impl Condition {
    /// Visits the expressions in it.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match self {
            Condition::Holds(expression) | Condition::Let(_, expression) => visit(expression),
            Condition::And(one, other) => {
                one.for_each_child(visit);
                other.for_each_child(visit);
            }
        }
    }
}

impl Pattern {
    /// Visits the variables that it binds.
    pub fn for_each_variable(&self, visit: &mut dyn FnMut(super::VariableId)) {
        match self {
            Pattern::Variable(variable, inner) => {
                visit(*variable);
                inner.iter().for_each(|inner| inner.for_each_variable(visit));
            }
            Pattern::Tuple(parts) | Pattern::Slice(parts) | Pattern::External(_, parts) => {
                parts.iter().for_each(|part| part.for_each_variable(visit));
            }
            // All alternatives bind the same.
            Pattern::Or(parts) => {
                parts.iter().take(1).for_each(|part| part.for_each_variable(visit));
            }
            Pattern::Defined { fields, .. } => {
                fields.iter().for_each(|field| field.pattern.for_each_variable(visit));
            }
            Pattern::Reference(inner) => inner.for_each_variable(visit),
            Pattern::Wildcard
            | Pattern::Value(_)
            | Pattern::Range(..)
            | Pattern::Rest
            | Pattern::Unknown => {}
        }
    }
}
