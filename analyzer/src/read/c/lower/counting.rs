//! Loops that count: those that do nothing else with their counter are loops over a range, and known
//! to have so many turns.

use tree_sitter::Node;

use super::super::parse::children;
use super::super::scope::Named;
use super::Lowering;
use super::convert::{convert, integer};
use super::expression::let_be;
use super::loops::Around;
use super::operator::without_parentheses;
use crate::program::{
    Binary, Condition, Expression, Kind, Pattern, Place, Scalar, Statement, Type, VariableId,
};

/// A loop that counts.
pub(super) struct Counting<'u> {
    name: &'u str,
    /// Where it starts.
    start: Node<'u>,
    end: Node<'u>,
    /// Whether the end belongs to it.
    inclusive: bool,
    /// How far each turn goes; negative downwards.
    step: i128,
    /// The loop declares the counter itself.
    declaration: Option<Node<'u>>,
}

impl<'u> Lowering<'u> {
    /// How a loop counts, if that is all that it does with its counter.
    pub(super) fn counting(&mut self, node: Node<'u>, body: Node<'u>) -> Option<Counting<'u>> {
        let first = node.child_by_field_name("initializer")?;
        let condition = node.child_by_field_name("condition")?;
        let update = node.child_by_field_name("update")?;
        let (name, start, declaration) = counter(first)?;
        let name = self.text(name);
        let step = self.counting_step(update, name)?;
        let condition = without_parentheses(condition);
        if condition.kind() != "binary_expression" {
            return None;
        }
        let left = condition.child_by_field_name("left")?;
        let right = condition.child_by_field_name("right")?;
        let is_counter = |node: Node<'u>| node.kind() == "identifier" && self.text(node) == name;
        let operator = self.operator(condition);
        let (end, operator) = match operator {
            _ if is_counter(left) => (right, operator),
            "<" if is_counter(right) => (left, ">"),
            "<=" if is_counter(right) => (left, ">="),
            ">" if is_counter(right) => (left, "<"),
            ">=" if is_counter(right) => (left, "<="),
            _ => return None,
        };
        let inclusive = match operator {
            "<" if step > 0 => false,
            "<=" if step > 0 => true,
            ">" if step == -1 => false,
            ">=" if step == -1 => true,
            _ => return None,
        };
        let mentioned = self.mentioned_in(body);
        let is_local = match declaration {
            Some(_) => true,
            None => matches!(self.scopes.name(name), Some(Named::Variable(_))),
        };
        let is_kept = self.function.mentioned.kept.contains(name);
        if !is_local || is_kept || mentioned.changes(name) {
            return None;
        }
        if !self.is_steady_bound(end, mentioned) {
            return None;
        }
        Some(Counting { name, start, end, inclusive, step, declaration })
    }

    /// `i++`, `i += 2`, `i = i - 1`
    fn counting_step(&mut self, update: Node<'u>, name: &str) -> Option<i128> {
        let update = without_parentheses(update);
        let is_counter = |lowering: &Self, node: Option<Node<'u>>| {
            node.is_some_and(|node| node.kind() == "identifier" && lowering.text(node) == name)
        };
        match update.kind() {
            "update_expression" if is_counter(self, update.child_by_field_name("argument")) => {
                Some(if self.operator(update) == "--" { -1 } else { 1 })
            }
            "assignment_expression" if is_counter(self, update.child_by_field_name("left")) => {
                let right = update.child_by_field_name("right")?;
                let (operator, amount) = match self.operator(update) {
                    "=" if right.kind() == "binary_expression"
                        && is_counter(self, right.child_by_field_name("left")) =>
                    {
                        (self.operator(right), right.child_by_field_name("right")?)
                    }
                    operator => (operator.strip_suffix('=')?, right),
                };
                let amount = self.without_effect(|lowering| lowering.value(amount));
                let amount = self.fold(&amount).filter(|amount| *amount > 0)?;
                match operator {
                    "+" => Some(amount),
                    "-" => Some(-amount),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn counted_loop(
        &mut self,
        counting: &Counting<'u>,
        node: Node<'u>,
        body: Node<'u>,
        out: &mut Vec<Statement>,
    ) {
        let known = match (counting.declaration, self.scopes.name(counting.name)) {
            (None, Some(Named::Variable(variable))) => Some(*variable),
            _ => None,
        };
        let ty = match (known, counting.declaration) {
            (Some(variable), _) => self.function.variables[variable.0 as usize].ty.clone(),
            (None, Some(declaration)) => self.specifiers(declaration).ty,
            (None, None) => Type::Unknown,
        };
        let is_whole = matches!(&ty, Type::Scalar(scalar) if scalar.is_integer());
        if !is_whole {
            let mut statements = Vec::new();
            self.general_loop(node, body, &mut statements);
            let block = self.block_around(statements, node);
            return out.push(Statement::Expression(block));
        }
        let start = self.value(counting.start);
        let end = self.value(counting.end);
        let (start, end) = (convert(start, &ty), convert(end, &ty));
        let place = self.place(node);
        let (start, end) = match known {
            // Both are needed once more after it.
            Some(_) => (self.kept(start, place, out), self.kept(end, place, out)),
            None => (start, end),
        };
        let after = known.map(|variable| (variable, start.clone(), end.clone()));
        let over = self.range(counting, start, end, place);
        let counter = match known {
            Some(_) => self.hidden(counting.name, ty.clone()),
            None => self.bind(counting.name, ty.clone()),
        };
        let label = self.new_label("loop");
        let leaves = known.map(|_| label.clone());
        let around =
            Around::Loop { leaves, continues: None, was_left: false, was_continued: false };
        let (mut turn, around) = self.turn(body, around);
        if let Some(variable) = known {
            // What it is where the loop is left.
            let value = self.variable(counter, place);
            let first = self.assigned(variable, value, place);
            let first = Statement::Expression(first);
            turn = self.block_around(vec![first, Statement::Expression(turn)], body);
        }
        let kind = Kind::For {
            label: None,
            pattern: Pattern::Variable(counter, None),
            over: Box::new(over),
            body: Box::new(turn),
        };
        let whole = self.make(kind, Type::unit(), node);
        match after {
            Some((variable, start, end)) => {
                let ends = self.counter_after(counting, variable, (start, end), place);
                if matches!(around, Around::Loop { was_left: true, .. }) {
                    let block = self.labelled(label, vec![whole, ends], node);
                    out.push(Statement::Expression(block));
                } else {
                    out.extend([whole, ends].map(Statement::Expression));
                }
            }
            None => out.push(Statement::Expression(whole)),
        }
    }

    /// What a loop counts over.
    fn range(
        &mut self,
        counting: &Counting<'u>,
        start: Expression,
        end: Expression,
        place: Place,
    ) -> Expression {
        let ty = start.ty.clone();
        let with = |kind| Expression { kind, place, ty: Type::Unknown };
        let range = |start, end, inclusive| Kind::Range {
            start: Some(Box::new(start)),
            end: Some(Box::new(end)),
            inclusive,
        };
        if counting.step == -1 {
            let lowest = if counting.inclusive {
                end
            } else {
                let one = convert(integer(1, Scalar::I32, place), &ty);
                self.operate(Binary::Add, end, one, place)
            };
            let up = with(range(convert(lowest, &ty), start, true));
            return with(method(up, "rev", Vec::new()));
        }
        let up = with(range(start, end, counting.inclusive));
        if counting.step == 1 {
            return up;
        }
        let step = integer(counting.step, Scalar::Usize, place);
        with(method(up, "step_by", vec![step]))
    }

    /// The counter after the last turn.
    fn counter_after(
        &mut self,
        counting: &Counting<'u>,
        variable: VariableId,
        (start, end): (Expression, Expression),
        place: Place,
    ) -> Expression {
        let ty = start.ty.clone();
        let step = counting.step;
        let last = match (counting.inclusive, step) {
            (false, 1 | -1) => end.clone(),
            (true, 1 | -1) => self.plus(end.clone(), step, place),
            (inclusive, step) => {
                // The first of `start + step * n` that is beyond the end.
                let more = if inclusive { step } else { step - 1 };
                let room = self.operate(Binary::Subtract, end.clone(), start.clone(), place);
                let room = self.plus(room, more, place);
                let by = convert(integer(step, Scalar::I32, place), &room.ty);
                let turns = self.operate(Binary::Divide, room, by.clone(), place);
                let far = self.operate(Binary::Multiply, turns, by, place);
                self.operate(Binary::Add, start.clone(), far, place)
            }
        };
        let operation = match (counting.inclusive, step > 0) {
            (false, true) => Binary::Less,
            (true, true) => Binary::LessOrEqual,
            (false, false) => Binary::Greater,
            (true, false) => Binary::GreaterOrEqual,
        };
        let place = self.again(place);
        let turns = self.operate(operation, start.clone(), end, place);
        let value = match self.fold(&turns) {
            Some(0) => start,
            Some(_) => {
                let last = convert(last, &ty);
                self.written(last)
            }
            None => Expression {
                kind: Kind::If {
                    condition: Box::new(Condition::Holds(turns)),
                    then: Box::new(convert(last, &ty)),
                    otherwise: Some(Box::new(start)),
                },
                place,
                ty,
            },
        };
        self.assigned(variable, value, place)
    }

    /// A constant as the number that it is.
    fn written(&self, value: Expression) -> Expression {
        match (self.fold(&value), &value.ty) {
            (Some(number), Type::Scalar(scalar)) => integer(number, *scalar, value.place),
            _ => value,
        }
    }

    fn plus(&mut self, value: Expression, number: i128, place: Place) -> Expression {
        if number == 0 {
            return value;
        }
        let number = convert(integer(number, Scalar::I32, place), &value.ty);
        self.operate(Binary::Add, value, number, place)
    }

    fn assigned(&mut self, variable: VariableId, value: Expression, place: Place) -> Expression {
        let target = self.variable(variable, place);
        let kind = Kind::Assign(Box::new(target), Box::new(value));
        Expression { kind, place, ty: Type::unit() }
    }

    /// A value that stays what it is now.
    fn kept(&mut self, value: Expression, place: Place, out: &mut Vec<Statement>) -> Expression {
        if self.fold(&value).is_some() {
            return value;
        }
        let ty = value.ty.clone();
        let variable = self.hidden("bound", ty.clone());
        out.push(let_be(variable, ty, value));
        self.variable(variable, place)
    }
}

fn method(receiver: Expression, name: &str, arguments: Vec<Expression>) -> Kind {
    Kind::Method {
        receiver: Box::new(receiver),
        name: name.to_owned(),
        generics: Vec::new(),
        arguments,
    }
}

/// The variable that a loop starts with, and its first value.
fn counter(first: Node<'_>) -> Option<(Node<'_>, Node<'_>, Option<Node<'_>>)> {
    let first = match first.kind() {
        "init_statement" => children(first, &mut first.walk()).first().copied()?,
        "expression_statement" => children(first, &mut first.walk()).first().copied()?,
        _ => first,
    };
    match first.kind() {
        "declaration" => {
            let mut cursor = first.walk();
            let mut declarators = first.children_by_field_name("declarator", &mut cursor);
            let (only, None) = (declarators.next()?, declarators.next()) else { return None };
            let name = only.child_by_field_name("declarator")?;
            let value = only.child_by_field_name("value")?;
            (name.kind() == "identifier").then_some((name, value, Some(first)))
        }
        "assignment_expression" => {
            let name = first.child_by_field_name("left")?;
            let value = first.child_by_field_name("right")?;
            let operator = first.child_by_field_name("operator")?;
            let is_plain = operator.kind() == "=" && name.kind() == "identifier";
            is_plain.then_some((name, value, None))
        }
        _ => None,
    }
}
