//! `switch`: a match on a number. Where one case goes on with the next one, its arm does so too.

use tree_sitter::Node;

use super::super::parse::children;
use super::Lowering;
use super::convert::{convert, promote};
use super::loops::Around;
use crate::program::{Arm, Expression, Kind, Pattern, Statement, Type};

/// Statements that stand in several arms, at most.
const REPEATED: usize = 200;

/// Some cases with one list of statements.
struct Group<'u> {
    /// What the number must be.
    values: Vec<Node<'u>>,
    is_default: bool,
    statements: Vec<Node<'u>>,
    /// Whether the next group follows.
    falls_through: bool,
}

impl<'u> Lowering<'u> {
    /// `switch (value) { case .. }`
    pub(super) fn switch(&mut self, node: Node<'u>) -> Expression {
        let condition = node.child_by_field_name("condition");
        let body = node.child_by_field_name("body");
        let (Some(condition), Some(body)) = (condition, body) else {
            return self.unreadable(node);
        };
        let condition = condition.child_by_field_name("value").unwrap_or(condition);
        let value = self.value(condition);
        let value = promote(value);
        let Some((before, groups)) = groups(body) else {
            return self
                .lost("a case with a range, or in the middle of a statement, is not read", node);
        };
        let label = self.new_label("switch");
        self.scopes.open();
        self.function.around.push(Around::Switch { label: label.clone(), was_left: false });
        let mut statements = Vec::new();
        // Declarations may stand before the first case.
        for declaration in before {
            if declaration.kind() == "declaration" {
                self.declaration(declaration, &mut statements);
            }
        }
        let ty = value.ty.clone();
        let matched = match self.arms(&groups, &ty) {
            Some(arms) => self.make(Kind::Match(Box::new(value), arms), Type::unit(), node),
            None => self.lost("a switch whose cases run into each other this often", node),
        };
        statements.push(Statement::Expression(matched));
        let was_left =
            matches!(self.function.around.pop(), Some(Around::Switch { was_left: true, .. }));
        self.scopes.close();
        let mut block = self.block_around(statements, node);
        if let (Kind::Block(inner), true) = (&mut block.kind, was_left) {
            inner.label = Some(label);
        }
        block
    }

    fn arms(&mut self, groups: &[Group<'u>], ty: &Type) -> Option<Vec<Arm>> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        let mut repeated = 0;
        for (number, group) in groups.iter().enumerate() {
            let last = groups.iter().skip(number).position(|it| !it.falls_through);
            let last = last.map_or(groups.len(), |last| number + last + 1);
            repeated +=
                groups[number + 1..last].iter().map(|it| it.statements.len()).sum::<usize>();
            if repeated > REPEATED {
                return None;
            }
            let nodes: Vec<Node<'u>> =
                groups[number..last].iter().flat_map(|it| it.statements.iter().copied()).collect();
            let body = self.arm(nodes, group);
            if group.is_default {
                otherwise = Some(body);
                continue;
            }
            let mut values = Vec::new();
            for value in &group.values {
                values.push(self.case(*value, ty));
            }
            let pattern = match values.len() {
                1 => values.remove(0),
                _ => Pattern::Or(values),
            };
            arms.push(Arm { pattern, guard: None, body });
        }
        let otherwise = match (otherwise, groups.first()) {
            (Some(body), _) => body,
            (None, Some(first)) => {
                let node = first.values.first().or(first.statements.first())?;
                self.block_around(Vec::new(), *node)
            }
            (None, None) => return Some(arms),
        };
        arms.push(Arm { pattern: Pattern::Wildcard, guard: None, body: otherwise });
        Some(arms)
    }

    fn arm(&mut self, mut nodes: Vec<Node<'u>>, group: &Group<'u>) -> Expression {
        let around = nodes.first().or(group.values.first()).copied();
        nodes.pop_if(|last| last.kind() == "break_statement");
        self.scopes.open();
        let mut statements = Vec::new();
        self.items(nodes, &mut statements);
        self.scopes.close();
        let node = around.unwrap_or_else(|| self.unit.tree.root_node());
        self.block_around(statements, node)
    }

    fn case(&mut self, node: Node<'u>, ty: &Type) -> Pattern {
        let value = self.value(node);
        Pattern::Value(Box::new(self.constant(value, ty)))
    }

    /// A constant as a number that is written down, where it is known.
    fn constant(&self, value: Expression, ty: &Type) -> Expression {
        let value = convert(value, ty);
        match (self.fold(&value), &value.ty) {
            (Some(number), Type::Scalar(scalar)) => {
                super::convert::integer(number, *scalar, value.place)
            }
            _ => value,
        }
    }
}

/// What stands before the cases, and the cases.
fn groups(body: Node<'_>) -> Option<(Vec<Node<'_>>, Vec<Group<'_>>)> {
    let (mut before, mut groups) = (Vec::new(), Vec::<Group<'_>>::new());
    let mut open: Option<Group<'_>> = None;
    for node in children(body, &mut body.walk()) {
        if node.kind() != "case_statement" {
            if groups.is_empty() && open.is_none() {
                before.push(node);
            } else {
                groups.last_mut()?.statements.push(node);
            }
            continue;
        }
        let value = node.child_by_field_name("value");
        let statements: Vec<Node<'_>> =
            children(node, &mut node.walk()).into_iter().filter(|it| Some(*it) != value).collect();
        // `case 1 ... 3:` is no C.
        let is_range = node.children(&mut node.walk()).any(|it| it.is_error() || it.is_missing());
        if is_range || statements.iter().any(|it| has_case(*it)) {
            return None;
        }
        let mut group = open.take().unwrap_or(Group {
            values: Vec::new(),
            is_default: false,
            statements: Vec::new(),
            falls_through: true,
        });
        match value {
            Some(value) => group.values.push(value),
            None => group.is_default = true,
        }
        group.falls_through = !statements.last().is_some_and(|last| ends(*last));
        group.statements = statements;
        if group.statements.is_empty() {
            open = Some(group);
        } else {
            groups.push(group);
        }
    }
    groups.extend(open);
    Some((before, groups))
}

/// Whether a case of the switch around stands in a statement.
fn has_case(node: Node<'_>) -> bool {
    match node.kind() {
        "case_statement" => true,
        "switch_statement" => false,
        kind if kind.ends_with("_statement") || kind == "else_clause" => {
            children(node, &mut node.walk()).into_iter().any(has_case)
        }
        _ => false,
    }
}

/// Whether nothing follows a statement.
fn ends(node: Node<'_>) -> bool {
    match node.kind() {
        "break_statement" | "return_statement" | "continue_statement" | "goto_statement" => true,
        "compound_statement" => {
            children(node, &mut node.walk()).last().is_some_and(|last| ends(*last))
        }
        _ => false,
    }
}
