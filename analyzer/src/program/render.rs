//! Programs in a short form, so that tests can say what they expect.

use crate::program::{
    Binary, Block, Condition, Expression, Function, Kind, Literal, Pattern, Program, Statement,
    Type, Unary, VariableId,
};

/// A function's body.
pub(crate) fn body(program: &Program, function: &Function) -> String {
    let render = Render { program, function };
    function.body.as_ref().map(|body| render.expression(body)).unwrap_or_default()
}

/// A type.
pub(crate) fn ty(program: &Program, it: &Type) -> String {
    let all = |types: &[Type]| -> Vec<String> { types.iter().map(|it| ty(program, it)).collect() };
    let generic = |name: &str, arguments: &[Type]| match arguments {
        [] => name.to_owned(),
        some => format!("{name}<{}>", all(some).join(", ")),
    };
    match it {
        Type::Unknown => "?".to_owned(),
        Type::Variable(_) => "_".to_owned(),
        Type::Scalar(scalar) => scalar.name().to_owned(),
        Type::Text => "str".to_owned(),
        Type::Never => "!".to_owned(),
        Type::Tuple(parts) => format!("({})", all(parts).join(", ")),
        Type::Array(element, Some(length)) => format!("[{}; {length}]", ty(program, element)),
        Type::Number(number) => number.to_string(),
        Type::Array(element, None) => format!("[{}; ?]", ty(program, element)),
        Type::Slice(element) => format!("[{}]", ty(program, element)),
        Type::Reference(inner) => format!("&{}", ty(program, inner)),
        Type::Defined(id, arguments) => generic(&program.definition(*id).name, arguments),
        Type::External(name, arguments) => generic(name, arguments),
        Type::Parameter(name) => name.clone(),
        Type::Trait(names) => format!("impl {}", names.join(" + ")),
        Type::Function(parameters, result) => {
            format!("fn({}) -> {}", all(parameters).join(", "), ty(program, result))
        }
    }
}

struct Render<'a> {
    program: &'a Program,
    function: &'a Function,
}

impl Render<'_> {
    fn expressions(&self, all: &[Expression]) -> String {
        all.iter().map(|it| self.expression(it)).collect::<Vec<_>>().join(", ")
    }

    fn optional(&self, it: &Option<Box<Expression>>) -> String {
        it.as_ref().map(|it| self.expression(it)).unwrap_or_default()
    }

    fn variable(&self, id: VariableId) -> String {
        format!("{}.{}", self.function.variables[id.0 as usize].name, id.0)
    }

    fn constructor(&self, definition: crate::program::DefinitionId, variant: u32) -> String {
        let definition = self.program.definition(definition);
        let own = definition.name.rsplit("::").next().unwrap();
        let variant = &definition.variants[variant as usize].name;
        if definition.is_enum { format!("{own}::{variant}") } else { own.to_owned() }
    }

    fn expression(&self, it: &Expression) -> String {
        match &it.kind {
            Kind::Literal(literal) => self.literal(literal),
            Kind::Variable(variable) => self.variable(*variable),
            Kind::Global(global) => format!("const {}", self.program.global(*global).name),
            Kind::Function(function, _) => format!("fn {}", self.program.function(*function).name),
            Kind::External(path, generics) if generics.is_empty() => path.join("::"),
            Kind::External(path, generics) => {
                let own = matches!(generics.as_slice(), [Type::Defined(..)]);
                let types: Vec<_> = generics.iter().map(|it| ty(self.program, it)).collect();
                if own {
                    path.join("::")
                } else {
                    format!("{}<{}>", path.join("::"), types.join(", "))
                }
            }
            Kind::Tuple(parts) => format!("({})", self.expressions(parts)),
            Kind::Array(parts) => format!("[{}]", self.expressions(parts)),
            Kind::Repeat(element, length) => {
                format!("[{}; {}]", self.expression(element), self.expression(length))
            }
            Kind::Construct { definition, variant, fields, rest } => {
                let mut all: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", self.expression(value)))
                    .collect();
                all.extend(rest.iter().map(|rest| format!("..{}", self.expression(rest))));
                let name = self.constructor(*definition, *variant);
                if all.is_empty() { name } else { format!("{name}{{{}}}", all.join(", ")) }
            }
            Kind::Unary(Unary::Negate, of) => format!("-{}", self.expression(of)),
            Kind::Unary(Unary::Not, of) => format!("!{}", self.expression(of)),
            Kind::Binary(operation, one, other) => format!(
                "({} {} {})",
                self.expression(one),
                symbol(*operation),
                self.expression(other)
            ),
            Kind::Assign(one, other) => {
                format!("{} = {}", self.expression(one), self.expression(other))
            }
            Kind::AssignWith(operation, one, other) => format!(
                "{} {}= {}",
                self.expression(one),
                symbol(*operation),
                self.expression(other)
            ),
            Kind::Cast(of, to) => format!("({} as {})", self.expression(of), ty(self.program, to)),
            Kind::Reference { of, .. } => format!("&{}", self.expression(of)),
            Kind::Dereference(of) => format!("*{}", self.expression(of)),
            Kind::Field(of, name) => format!("{}.{name}", self.expression(of)),
            Kind::Index(of, at) => format!("{}[{}]", self.expression(of), self.expression(at)),
            Kind::Range { start, end, inclusive } => {
                let dots = if *inclusive { "..=" } else { ".." };
                format!("{}{dots}{}", self.optional(start), self.optional(end))
            }
            Kind::Call(callee, arguments) => {
                format!("{}({})", self.expression(callee), self.expressions(arguments))
            }
            Kind::Method { receiver, name, arguments, .. } => {
                format!("{}.{name}({})", self.expression(receiver), self.expressions(arguments))
            }
            Kind::Macro(name, arguments) => format!("{name}!({})", self.expressions(arguments)),
            Kind::Closure(closure) => {
                let parameters: Vec<_> =
                    closure.parameters.iter().map(|(it, _)| self.pattern(it)).collect();
                format!("|{}| {}", parameters.join(", "), self.expression(&closure.body))
            }
            Kind::Block(block) => self.block(block),
            Kind::Unknown(why) => format!("?{why}"),
            other => self.control(other),
        }
    }

    fn control(&self, it: &Kind) -> String {
        match it {
            Kind::If { condition, then, otherwise } => {
                let rest = otherwise.as_ref();
                let rest = rest.map(|rest| format!(" else {}", self.expression(rest)));
                format!(
                    "if {} {}{}",
                    self.condition(condition),
                    self.expression(then),
                    rest.unwrap_or_default()
                )
            }
            Kind::Match(value, arms) => {
                let arms: Vec<_> = arms
                    .iter()
                    .map(|arm| {
                        let guard = arm.guard.as_ref();
                        let guard = guard.map(|guard| format!(" if {}", self.condition(guard)));
                        format!(
                            "{}{} => {}",
                            self.pattern(&arm.pattern),
                            guard.unwrap_or_default(),
                            self.expression(&arm.body)
                        )
                    })
                    .collect();
                format!("match {} {{{}}}", self.expression(value), arms.join(", "))
            }
            Kind::Loop(label, body) => format!("{}loop {}", named(label), self.expression(body)),
            Kind::While(label, condition, body) => format!(
                "{}while {} {}",
                named(label),
                self.condition(condition),
                self.expression(body)
            ),
            Kind::For { label, pattern, over, body } => format!(
                "{}for {} in {} {}",
                named(label),
                self.pattern(pattern),
                self.expression(over),
                self.expression(body)
            ),
            Kind::Break(label, value) => {
                format!("break {}{}", label.clone().unwrap_or_default(), self.optional(value))
            }
            Kind::Continue(label) => format!("continue {}", label.clone().unwrap_or_default()),
            Kind::Return(None) => "return".to_owned(),
            Kind::Return(value) => format!("return {}", self.optional(value)),
            Kind::Try(of) => format!("{}?", self.expression(of)),
            _ => unreachable!("rendered by its caller"),
        }
    }

    fn block(&self, block: &Block) -> String {
        let mut text = named(&block.label) + "{";
        for statement in &block.statements {
            if !text.ends_with('{') {
                text.push(' ');
            }
            match statement {
                Statement::Let { pattern, value, otherwise, .. } => {
                    text += &format!("let {}", self.pattern(pattern));
                    if let Some(value) = value {
                        text += &format!(" = {}", self.expression(value));
                    }
                    if let Some(otherwise) = otherwise {
                        text += &format!(" else {}", self.expression(otherwise));
                    }
                }
                Statement::Expression(it) => text += &self.expression(it),
            }
            text.push(';');
        }
        if let Some(value) = &block.value {
            let space = if text.ends_with('{') { "" } else { " " };
            text += &format!("{space}{}", self.expression(value));
        }
        text + "}"
    }

    fn condition(&self, it: &Condition) -> String {
        match it {
            Condition::Holds(it) => self.expression(it),
            Condition::Let(pattern, value) => {
                format!("let {} = {}", self.pattern(pattern), self.expression(value))
            }
            Condition::And(one, other) => {
                format!("{} && {}", self.condition(one), self.condition(other))
            }
        }
    }

    fn patterns(&self, all: &[Pattern], between: &str) -> String {
        all.iter().map(|it| self.pattern(it)).collect::<Vec<_>>().join(between)
    }

    fn pattern(&self, it: &Pattern) -> String {
        match it {
            Pattern::Wildcard => "_".to_owned(),
            Pattern::Variable(id, None) => self.variable(*id),
            Pattern::Variable(id, Some(inner)) => {
                format!("{}@{}", self.variable(*id), self.pattern(inner))
            }
            Pattern::Value(value) => self.expression(value),
            Pattern::Range(start, end, inclusive) => {
                let dots = if *inclusive { "..=" } else { ".." };
                format!("{}{dots}{}", self.optional(start), self.optional(end))
            }
            Pattern::Tuple(parts) => format!("({})", self.patterns(parts, ", ")),
            Pattern::Slice(parts) => format!("[{}]", self.patterns(parts, ", ")),
            Pattern::Rest => "..".to_owned(),
            Pattern::Defined { definition, variant, fields } => {
                let name = self.constructor(*definition, *variant);
                let fields: Vec<_> = fields
                    .iter()
                    .map(|it| format!("{}: {}", it.name, self.pattern(&it.pattern)))
                    .collect();
                if fields.is_empty() { name } else { format!("{name}{{{}}}", fields.join(", ")) }
            }
            Pattern::External(name, parts) if parts.is_empty() => name.clone(),
            Pattern::External(name, parts) => format!("{name}({})", self.patterns(parts, ", ")),
            Pattern::Reference(inner) => format!("&{}", self.pattern(inner)),
            Pattern::Or(parts) => self.patterns(parts, " | "),
            Pattern::Unknown => "?".to_owned(),
        }
    }

    fn literal(&self, it: &Literal) -> String {
        match it {
            Literal::Integer(number) => number.to_string(),
            Literal::Float(number) => format!("{number:?}"),
            Literal::Bool(value) => value.to_string(),
            Literal::Char(letter) => format!("{letter:?}"),
            Literal::Text(text) => format!("{text:?}"),
            Literal::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        }
    }
}

fn named(label: &Option<String>) -> String {
    label.as_ref().map(|label| format!("'{label}: ")).unwrap_or_default()
}

fn symbol(operation: Binary) -> &'static str {
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
