//! Which values of the parameters are tried: small ones, and those around the constants that
//! something which depends on a parameter is compared with, divided by, or taken modulo.

use std::ops::RangeInclusive;

use quote::ToTokens;

use super::evaluate::Numbers;
use super::syntax::{
    BinaryOperator, Block, Expression, ExpressionKind, Name, Protocol, Range, Statement,
    StatementKind, UnaryOperator,
};

/// Tried of every parameter.
const SMALL: [i64; 4] = [0, 1, 2, 3];

/// Values above it are tried only where they cost little.
const LARGE: i64 = 256;

/// With more combinations than this, one parameter is varied at a time.
const MOST_COMBINATIONS: usize = 12;

/// Values for all parameters together.
pub(super) struct Sample {
    /// Each by its parameter's name.
    pub(super) values: Vec<(String, i64)>,
    /// Whether one of them is so large that a loop up to it is too much.
    pub(super) large: bool,
}

/// The combinations to be tried, those with large values last.
pub(super) fn of(protocol: &Protocol) -> Vec<Sample> {
    let mut search = Search::new(protocol);
    for requirement in &protocol.requirements {
        search.expression(&requirement.condition);
    }
    for role in &protocol.roles {
        search.block(&role.body);
    }
    let mut values = search.values;
    for (parameter, values) in protocol.parameters.iter().zip(&mut values) {
        let range = range(&parameter.ty);
        values.retain(|value| range.contains(value));
    }
    let names: Vec<String> =
        protocol.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let combinations = match values.iter().map(Vec::len).product::<usize>() {
        0..=MOST_COMBINATIONS => all_combinations(&values),
        _ if values.len() == 1 => all_combinations(&values),
        _ => one_at_a_time(&values),
    };
    let sample = |values: Vec<i64>| Sample {
        large: values.iter().any(|&value| value > LARGE),
        values: names.iter().cloned().zip(values).collect(),
    };
    let mut samples: Vec<Sample> = combinations.into_iter().map(sample).collect();
    samples.sort_by_key(|sample| sample.large);
    samples
}

/// The values that a parameter of this type can have.
fn range(ty: &syn::Type) -> RangeInclusive<i64> {
    let name = ty.to_token_stream().to_string();
    let (sign, bits) = name.split_at(1);
    let bits: u32 = bits.parse().unwrap_or(64);
    match sign {
        "i" => i64::MIN >> (64 - bits)..=i64::MAX >> (64 - bits),
        _ if bits < 64 => 0..=(1 << bits) - 1,
        _ => 0..=i64::MAX,
    }
}

fn all_combinations(values: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut combinations = vec![Vec::new()];
    for values in values {
        combinations = combinations
            .iter()
            .flat_map(|before: &Vec<i64>| {
                values.iter().map(|&value| before.iter().copied().chain([value]).collect())
            })
            .collect();
    }
    combinations
}

/// Each parameter through its values while the others are 2, and all of them alike.
fn one_at_a_time(values: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut combinations: Vec<Vec<i64>> =
        SMALL.iter().map(|&value| vec![value; values.len()]).collect();
    for (index, values_of_one) in values.iter().enumerate() {
        for &value in values_of_one {
            let mut combination = vec![2; values.len()];
            combination[index] = value;
            if !combinations.contains(&combination) {
                combinations.push(combination);
            }
        }
    }
    combinations
}

/// Looks for constants that matter to parameters.
struct Search<'p> {
    protocol: &'p Protocol,
    constants: Vec<i64>,
    /// The values found, for each parameter in order.
    values: Vec<Vec<i64>>,
    /// For each loop variable around, by id, the parameters that its range depends on.
    loops: Vec<(u32, Vec<usize>)>,
}

impl<'p> Search<'p> {
    fn new(protocol: &'p Protocol) -> Search<'p> {
        let constants = super::evaluate::constants(protocol);
        let values = vec![SMALL.to_vec(); protocol.parameters.len()];
        Search { protocol, constants, values, loops: Vec::new() }
    }

    fn block(&mut self, block: &'p Block) {
        if self.protocol.parameters.is_empty() {
            return;
        }
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        if let StatementKind::For { variable, range, body, .. } = &statement.kind {
            let depends = self.range(range);
            self.loops.push((variable.id, depends));
            self.block(body);
            self.loops.pop();
            return;
        }
        for expression in statement.kind.expressions() {
            self.expression(expression);
        }
        for block in statement.kind.blocks() {
            self.block(block);
        }
    }

    /// The parameters that a range depends on. Its stride is a constant that matters to them.
    fn range(&mut self, range: &Range) -> Vec<usize> {
        let mut depends = self.expression(&range.start);
        depends.extend(self.expression(&range.end));
        if let Some(stride) = range.step.as_ref().and_then(|step| self.constant(step)) {
            self.matters(stride, &depends);
        }
        depends
    }

    /// The parameters that an expression depends on; the constants that matter to them are noted.
    fn expression(&mut self, expression: &Expression) -> Vec<usize> {
        match &expression.kind {
            ExpressionKind::Variable(name) => self.parameters_of(name),
            ExpressionKind::Binary(operator, left, right) => {
                let (one, other) = (self.expression(left), self.expression(right));
                let sides =
                    [(&**left, self.constant(right), &one), (right, self.constant(left), &other)];
                for (side, constant, depends) in sides {
                    let Some(constant) = constant.filter(|_| !depends.is_empty()) else { continue };
                    self.meets(*operator, side, constant, depends);
                }
                one.into_iter().chain(other).collect()
            }
            ExpressionKind::Unary(_, inner) => self.expression(inner),
            ExpressionKind::Pair(one, other) => {
                let one = self.expression(one);
                one.into_iter().chain(self.expression(other)).collect()
            }
            ExpressionKind::Method(_, receiver, argument) => {
                let mut depends = self.expression(receiver);
                if let Some(argument) = argument {
                    depends.extend(self.expression(argument));
                }
                depends
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let parts = [condition, then, otherwise];
                parts.into_iter().flat_map(|part| self.expression(part)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The parameters that a name depends on.
    fn parameters_of(&self, name: &Name) -> Vec<usize> {
        if let Some((_, depends)) = self.loops.iter().find(|(id, _)| *id == name.id) {
            return depends.clone();
        }
        let parameters = &self.protocol.parameters;
        let index = parameters.iter().position(|other| other.name.id == name.id);
        index.into_iter().collect()
    }

    /// Something that depends on parameters meets a constant in an operation.
    fn meets(
        &mut self,
        operator: BinaryOperator,
        side: &Expression,
        constant: i64,
        depends: &[usize],
    ) {
        use BinaryOperator::{
            And, Divide, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, Remainder,
            ShiftLeft, ShiftRight,
        };
        match operator {
            Divide | Remainder | And => self.matters(constant, depends),
            ShiftLeft | ShiftRight => {
                let power = u32::try_from(constant).ok().and_then(|bits| 1_i64.checked_shl(bits));
                power.into_iter().for_each(|power| self.matters(power, depends));
            }
            Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual => {
                self.matters(constant, depends);
                self.reaches(side, constant);
            }
            _ => {}
        }
    }

    /// Tries the values of a parameter with which an expression is about so much.
    fn reaches(&mut self, expression: &Expression, value: i64) {
        match &expression.kind {
            ExpressionKind::Variable(name) => {
                let depends = self.parameters_of(name);
                self.matters(value, &depends);
            }
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => {
                value.checked_neg().into_iter().for_each(|value| self.reaches(inner, value));
            }
            ExpressionKind::Binary(operator, left, right) => {
                if let Some(constant) = self.constant(right) {
                    let value = left_of(*operator, value, constant);
                    value.into_iter().for_each(|value| self.reaches(left, value));
                } else if let Some(constant) = self.constant(left) {
                    let value = right_of(*operator, value, constant);
                    value.into_iter().for_each(|value| self.reaches(right, value));
                }
            }
            _ => {}
        }
    }

    /// The value of an expression that is the same everywhere.
    fn constant(&self, expression: &Expression) -> Option<i64> {
        let known = self.is_constant(expression);
        known.then(|| Numbers::fixed(&self.constants).integer(expression).ok()).flatten()
    }

    fn is_constant(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Integer(_) => true,
            ExpressionKind::Variable(name) => {
                self.protocol.constants.iter().any(|constant| constant.name.id == name.id)
            }
            ExpressionKind::Unary(_, inner) => self.is_constant(inner),
            ExpressionKind::Binary(_, left, right) => {
                self.is_constant(left) && self.is_constant(right)
            }
            _ => false,
        }
    }

    /// Tries the values around a constant for these parameters.
    fn matters(&mut self, constant: i64, parameters: &[usize]) {
        for &parameter in parameters {
            let values = &mut self.values[parameter];
            values.extend(constant.saturating_sub(1)..=constant.saturating_add(1));
            values.sort_unstable();
            values.dedup();
        }
    }
}

/// The left side with which an operation on this right side comes to about so much.
fn left_of(operator: BinaryOperator, value: i64, right: i64) -> Option<i64> {
    match operator {
        BinaryOperator::Subtract => value.checked_add(right),
        BinaryOperator::Divide => value.checked_mul(right),
        BinaryOperator::Remainder => Some(value),
        BinaryOperator::ShiftLeft => value.checked_shr(u32::try_from(right).ok()?),
        BinaryOperator::ShiftRight => {
            let power = u32::try_from(right).ok().and_then(|bits| 1_i64.checked_shl(bits))?;
            value.checked_mul(power)
        }
        _ => right_of(operator, value, right),
    }
}

/// The right side with which an operation on this left side comes to about so much.
fn right_of(operator: BinaryOperator, value: i64, left: i64) -> Option<i64> {
    match operator {
        BinaryOperator::Add => value.checked_sub(left),
        BinaryOperator::Subtract => left.checked_sub(value),
        BinaryOperator::Multiply => value.checked_div(left),
        BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor => Some(value),
        _ => None,
    }
}
