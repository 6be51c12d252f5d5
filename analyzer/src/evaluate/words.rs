//! Conditions in words, for reports that depend on how they come out.

use super::choices::Asked;
use crate::program::{
    Binary, Condition, Expression, Function, Kind, Literal, Pattern, Program, Unary,
};

/// What was asked, and what it was taken to be: "`n > 3` is false".
pub(super) fn of(
    program: &Program,
    function: Option<&Function>,
    asked: &Asked<'_>,
    holds: bool,
) -> String {
    let speaker = Speaker { program, function };
    let verdict = if holds { "is true" } else { "is false" };
    match asked {
        Asked::Nothing => format!("the condition {verdict}"),
        Asked::Condition(condition) => match speaker.condition(condition) {
            Some(text) => format!("`{text}` {verdict}"),
            None => format!("the condition {verdict}"),
        },
        Asked::Matches(value, pattern) => {
            let value = speaker.expression(value);
            let value = value.map_or("the value".to_owned(), |text| format!("`{text}`"));
            if matches!(pattern, Pattern::Wildcard | Pattern::Variable(_, None)) {
                return format!("{value} matches no other arm");
            }
            match (speaker.pattern(pattern), holds) {
                (Some(text), true) => format!("{value} is `{text}`"),
                (Some(text), false) => format!("{value} is not `{text}`"),
                (None, true) => format!("{value} matches here"),
                (None, false) => format!("{value} does not match here"),
            }
        }
        Asked::More(over) => {
            let word = if holds { "is not empty" } else { "is empty" };
            match speaker.expression(over) {
                Some(text) => format!("`{text}` {word}"),
                None => format!("what the loop goes over {word}"),
            }
        }
    }
}

struct Speaker<'p> {
    program: &'p Program,
    function: Option<&'p Function>,
}

impl Speaker<'_> {
    fn condition(&self, condition: &Condition) -> Option<String> {
        match condition {
            Condition::Holds(expression) => self.expression(expression),
            Condition::And(one, other) => {
                Some(format!("{} && {}", self.condition(one)?, self.condition(other)?))
            }
            Condition::Let(Pattern::External(name, parts), value) => {
                let inner = if parts.is_empty() { "" } else { "(..)" };
                Some(format!("let {name}{inner} = {}", self.expression(value)?))
            }
            Condition::Let(..) => None,
        }
    }

    /// A short pattern as it may stand in the source.
    fn pattern(&self, pattern: &Pattern) -> Option<String> {
        Some(match pattern {
            Pattern::Value(value) => self.expression(value)?,
            Pattern::Reference(inner) => self.pattern(inner)?,
            Pattern::External(name, parts) => {
                let inner = if parts.is_empty() { "" } else { "(..)" };
                format!("{name}{inner}")
            }
            Pattern::Defined { definition, variant, .. } => {
                let definition = self.program.definition(*definition);
                let variant = definition.variants.get(*variant as usize)?;
                let name = definition.name.rsplit("::").next().unwrap_or(&definition.name);
                format!("{name}::{}", variant.name)
            }
            Pattern::Or(patterns) => {
                let patterns: Option<Vec<String>> =
                    patterns.iter().map(|pattern| self.pattern(pattern)).collect();
                patterns?.join(" | ")
            }
            _ => return None,
        })
    }

    /// A short expression as it may stand in the source.
    fn expression(&self, expression: &Expression) -> Option<String> {
        Some(match &expression.kind {
            Kind::Literal(Literal::Integer(number)) => number.to_string(),
            Kind::Literal(Literal::Bool(value)) => value.to_string(),
            Kind::Literal(Literal::Text(text)) if text.len() <= 20 => format!("{text:?}"),
            Kind::Literal(Literal::Float(number)) => number.to_string(),
            Kind::Variable(variable) => {
                let variables = &self.function?.variables;
                variables.get(variable.0 as usize)?.name.clone()
            }
            Kind::Global(global) => {
                let name = &self.program.global(*global).name;
                name.rsplit("::").next().unwrap_or(name).to_owned()
            }
            Kind::Function(function, _) => self.program.function(*function).name.clone(),
            Kind::External(path, _) => path.join("::"),
            Kind::Field(of, name) => format!("{}.{name}", self.expression(of)?),
            Kind::Index(of, index) => {
                format!("{}[{}]", self.expression(of)?, self.expression(index)?)
            }
            Kind::Reference { of, .. } => format!("&{}", self.expression(of)?),
            Kind::Dereference(of) => format!("*{}", self.expression(of)?),
            Kind::Cast(of, _) => self.expression(of)?,
            Kind::Unary(Unary::Not, of) => format!("!{}", self.expression(of)?),
            Kind::Unary(Unary::Negate, of) => format!("-{}", self.expression(of)?),
            Kind::Binary(operation, left, right) => {
                let sign = sign(*operation);
                format!("{} {sign} {}", self.expression(left)?, self.expression(right)?)
            }
            Kind::Range { start, end, inclusive } => {
                let side = |side: &Option<Box<Expression>>| match side {
                    Some(side) => self.expression(side),
                    None => Some(String::new()),
                };
                format!("{}{}{}", side(start)?, if *inclusive { "..=" } else { ".." }, side(end)?)
            }
            Kind::Method { receiver, name, arguments, .. } => {
                let inside = if arguments.is_empty() { "" } else { ".." };
                format!("{}.{name}({inside})", self.expression(receiver)?)
            }
            Kind::Call(callee, arguments) => {
                let inside = if arguments.is_empty() { "" } else { ".." };
                format!("{}({inside})", self.expression(callee)?)
            }
            _ => return None,
        })
    }
}

fn sign(operation: Binary) -> &'static str {
    match operation {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::And => "&&",
        Binary::Or => "||",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterOrEqual => ">=",
    }
}
