//! Loops. Those that count are [`Kind::For`] over a range; the others ask before, after or in the
//! middle of each turn.

use tree_sitter::Node;

use super::super::parse::children;
use super::Lowering;
use super::convert::negated;
use crate::program::{Condition, Expression, Kind, Literal, Statement, Type};

/// What `break` and `continue` are in.
pub(super) enum Around {
    /// A loop: the label of the block that `break` leaves, if it does not leave the loop itself, and
    /// that of the block that `continue` leaves, if the turn is not over with it.
    Loop { leaves: Option<String>, continues: Option<String>, was_left: bool, was_continued: bool },
    /// A switch: the label of the block around it.
    Switch { label: String, was_left: bool },
}

impl Around {
    /// A loop in which `break` and `continue` are what they are.
    pub(super) fn plain() -> Self {
        Around::continuing(None)
    }

    fn continuing(continues: Option<String>) -> Self {
        Around::Loop { leaves: None, continues, was_left: false, was_continued: false }
    }
}

impl<'u> Lowering<'u> {
    /// `while (condition) body`
    pub(super) fn while_loop(&mut self, node: Node<'u>) -> Expression {
        let condition = node.child_by_field_name("condition");
        let body = node.child_by_field_name("body");
        let (Some(condition), Some(body)) = (condition, body) else {
            return self.unreadable(node);
        };
        let condition = self.condition(condition);
        let (body, _) = self.turn(body, Around::plain());
        self.while_of(Some(condition), body, node)
    }

    fn while_of(
        &mut self,
        condition: Option<Expression>,
        body: Expression,
        node: Node<'u>,
    ) -> Expression {
        let endless = match &condition {
            Some(condition) => matches!(condition.kind, Kind::Literal(Literal::Bool(true))),
            None => true,
        };
        let kind = match condition {
            Some(condition) if !endless => {
                Kind::While(None, Box::new(Condition::Holds(condition)), Box::new(body))
            }
            _ => Kind::Loop(None, Box::new(body)),
        };
        self.make(kind, Type::unit(), node)
    }

    /// A loop's body, and what was used of what is around it.
    pub(super) fn turn(&mut self, body: Node<'u>, around: Around) -> (Expression, Around) {
        self.function.around.push(around);
        let body = self.single(body);
        let around = self.function.around.pop().unwrap_or_else(Around::plain);
        (body, around)
    }

    /// `do body while (condition);`
    pub(super) fn do_loop(&mut self, node: Node<'u>) -> Expression {
        let condition = node.child_by_field_name("condition");
        let body = node.child_by_field_name("body");
        let (Some(condition), Some(body)) = (condition, body) else {
            return self.unreadable(node);
        };
        let label = self.new_label("continue");
        let is_once = self.without_effect(|lowering| lowering.condition(condition));
        if matches!(is_once.kind, Kind::Literal(Literal::Bool(false))) {
            // `do { .. } while (0)` is a block.
            let around = Around::Loop {
                leaves: Some(label.clone()),
                continues: Some(label.clone()),
                was_left: false,
                was_continued: false,
            };
            let (body, around) = self.turn(body, around);
            let is_left = matches!(
                around,
                Around::Loop { was_left, was_continued, .. } if was_left || was_continued
            );
            return if is_left { self.labelled(label, vec![body], node) } else { body };
        }
        let (body, around) = self.turn(body, Around::continuing(Some(label.clone())));
        let condition = self.condition(condition);
        let place = condition.place;
        let body = match around {
            Around::Loop { was_continued: true, .. } => self.labelled(label, vec![body], node),
            _ => body,
        };
        let mut statements = vec![Statement::Expression(body)];
        let goes_on = matches!(condition.kind, Kind::Literal(Literal::Bool(true)));
        if !goes_on {
            let end = Expression { kind: Kind::Break(None, None), place, ty: Type::Never };
            let kind = Kind::If {
                condition: Box::new(Condition::Holds(negated(condition))),
                then: Box::new(end),
                otherwise: None,
            };
            statements.push(Statement::Expression(Expression { kind, place, ty: Type::unit() }));
        }
        let body = self.block_around(statements, node);
        self.make(Kind::Loop(None, Box::new(body)), Type::unit(), node)
    }

    /// A block that can be left by its label.
    pub(super) fn labelled(
        &mut self,
        label: String,
        mut statements: Vec<Expression>,
        node: Node<'u>,
    ) -> Expression {
        let is_block = |it: &Expression| matches!(&it.kind, Kind::Block(it) if it.label.is_none());
        let only = statements.pop_if(|last| is_block(last));
        let mut block = match only {
            Some(only) if statements.is_empty() => only,
            only => {
                let all = statements.into_iter().chain(only).map(Statement::Expression);
                self.block_around(all.collect(), node)
            }
        };
        if let Kind::Block(inner) = &mut block.kind {
            inner.label = Some(label);
        }
        block
    }

    /// `for (first; condition; step) body`
    pub(super) fn for_loop(&mut self, node: Node<'u>, out: &mut Vec<Statement>) {
        let Some(body) = node.child_by_field_name("body") else {
            let unreadable = self.unreadable(node);
            return out.push(Statement::Expression(unreadable));
        };
        self.scopes.open();
        match self.counting(node, body) {
            Some(counting) => self.counted_loop(&counting, node, body, out),
            None => {
                let mut statements = Vec::new();
                self.general_loop(node, body, &mut statements);
                let block = self.block_around(statements, node);
                out.push(Statement::Expression(block));
            }
        }
        self.scopes.close();
    }

    pub(super) fn general_loop(
        &mut self,
        node: Node<'u>,
        body: Node<'u>,
        out: &mut Vec<Statement>,
    ) {
        match node.child_by_field_name("initializer") {
            Some(first) if first.kind() == "declaration" => self.declaration(first, out),
            Some(first) if first.kind() == "init_statement" => {
                for part in children(first, &mut first.walk()) {
                    self.statement(part, out);
                }
            }
            Some(first) => self.effect(first, out),
            None => {}
        }
        let condition = node.child_by_field_name("condition");
        let condition = condition.map(|condition| self.truth(condition));
        let step = node.child_by_field_name("update");
        let label = self.new_label("continue");
        let continues = step.map(|_| label.clone());
        let (mut turn, around) = self.turn(body, Around::continuing(continues));
        if let Some(step) = step {
            if let Around::Loop { was_continued: true, .. } = around {
                turn = self.labelled(label, vec![turn], body);
            }
            let mut statements = vec![Statement::Expression(turn)];
            self.effect(step, &mut statements);
            turn = self.block_around(statements, body);
        }
        let whole = self.while_of(condition, turn, node);
        out.push(Statement::Expression(whole));
    }

    // ---- leaving

    /// `break;`
    pub(super) fn leave_loop(&mut self, node: Node<'u>) -> Expression {
        let label = match self.function.around.last_mut() {
            Some(Around::Switch { label, was_left }) => {
                *was_left = true;
                Some(label.clone())
            }
            Some(Around::Loop { leaves, was_left, .. }) => {
                *was_left = true;
                leaves.clone()
            }
            None => return self.lost("this leaves no loop", node),
        };
        self.make(Kind::Break(label, None), Type::Never, node)
    }

    /// `continue;`
    pub(super) fn next_turn(&mut self, node: Node<'u>) -> Expression {
        let around = self.function.around.iter_mut().rev();
        let found = around.into_iter().find_map(|around| match around {
            Around::Loop { continues, was_continued, .. } => {
                *was_continued = true;
                Some(continues.clone())
            }
            Around::Switch { .. } => None,
        });
        let kind = match found {
            Some(Some(label)) => Kind::Break(Some(label), None),
            Some(None) => Kind::Continue(None),
            None => return self.lost("this is in no loop", node),
        };
        self.make(kind, Type::Never, node)
    }
}
