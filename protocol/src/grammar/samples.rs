//! Which values of the parameters are tried: small ones, and those around the constants that
//! something which depends on a parameter is compared with, divided by, or taken modulo.

use super::evaluate::Numbers;
use super::syntax::{
    BinaryOperator, Block, Expression, ExpressionKind, Protocol, Range, Statement, StatementKind,
};

/// Tried of every parameter.
const SMALL: [i64; 4] = [0, 1, 2, 3];

/// Constants above it are not tried: loops up to them say nothing that smaller ones do not.
const LARGEST: i64 = 256;

/// With more combinations than this, one parameter is varied at a time.
const MOST_COMBINATIONS: usize = 12;

/// Values for all parameters together, one list for each combination to be tried.
pub(super) fn of(protocol: &Protocol) -> Vec<Vec<(String, i64)>> {
    let mut search = Search::new(protocol);
    for role in &protocol.roles {
        search.block(&role.body);
    }
    let mut values = search.values;
    for (parameter, values) in protocol.parameters.iter().zip(&mut values) {
        let largest = largest(&parameter.ty);
        values.retain(|&value| value <= largest);
    }
    let names: Vec<String> =
        protocol.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let combinations = match values.iter().map(Vec::len).product::<usize>() {
        0..=MOST_COMBINATIONS => all_combinations(&values),
        _ if values.len() == 1 => all_combinations(&values),
        _ => one_at_a_time(&values),
    };
    let named = |values: Vec<i64>| names.iter().cloned().zip(values).collect();
    combinations.into_iter().map(named).collect()
}

/// The largest value that a parameter of this type can have, as far as that matters here.
fn largest(ty: &syn::Type) -> i64 {
    let is = |name: &str| matches!(ty, syn::Type::Path(path) if path.path.is_ident(name));
    if is("i8") {
        i64::from(i8::MAX)
    } else if is("u8") {
        i64::from(u8::MAX)
    } else {
        i64::MAX
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
        match &statement.kind {
            StatementKind::For { variable, range, body, .. } => {
                let depends = self.range(range);
                self.loops.push((variable.id, depends));
                self.block(body);
                self.loops.pop();
            }
            StatementKind::If(condition, then, otherwise) => {
                self.expression(condition);
                self.block(then);
                self.block(otherwise);
            }
            StatementKind::Test(_, then, otherwise) => {
                self.block(then);
                self.block(otherwise);
            }
            StatementKind::Loop(_, body) => self.block(body),
            StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
                arms.iter().for_each(|arm| self.block(&arm.body));
            }
            StatementKind::WaitAny(arms) => arms.iter().for_each(|(_, body)| self.block(body)),
            _ => {}
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
        use BinaryOperator::{
            Divide, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, Remainder,
        };
        match &expression.kind {
            ExpressionKind::Variable(name) => {
                let of_loop = self.loops.iter().find(|(id, _)| *id == name.id);
                if let Some((_, depends)) = of_loop {
                    return depends.clone();
                }
                let parameters = &self.protocol.parameters;
                let index = parameters.iter().position(|other| other.name.id == name.id);
                index.into_iter().collect()
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (one, other) = (self.expression(left), self.expression(right));
                if matches!(
                    operator,
                    Divide
                        | Remainder
                        | Equal
                        | NotEqual
                        | Less
                        | LessOrEqual
                        | Greater
                        | GreaterOrEqual
                ) {
                    let constants = [(self.constant(right), &one), (self.constant(left), &other)];
                    for (constant, depends) in constants {
                        constant.into_iter().for_each(|constant| self.matters(constant, depends));
                    }
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
        if !(0..=LARGEST).contains(&constant) {
            return;
        }
        for &parameter in parameters {
            let values = &mut self.values[parameter];
            values.extend((constant - 1).max(0)..=constant + 1);
            values.sort_unstable();
            values.dedup();
        }
    }
}
