//! What cannot be read: counted, with what it may change.

use tree_sitter::Node;

use super::super::scope::Named;
use super::Lowering;
use super::expression::block_of;
use super::scan::{each, identifiers};
use crate::program::{Expression, Kind, Statement, Type};

impl<'u> Lowering<'u> {
    /// Whether a statement has something in it that is no C, outside of statements in it that can be
    /// read by themselves.
    pub(super) fn is_unreadable(&self, node: Node<'u>) -> bool {
        if !node.has_error() {
            return false;
        }
        match node.kind() {
            "ERROR" => true,
            "compound_statement" | "labeled_statement" | "attributed_statement" => false,
            "if_statement" | "while_statement" | "do_statement" | "for_statement"
            | "switch_statement" | "else_clause" | "case_statement" => {
                let mut cursor = node.walk();
                let mut parts = node.children(&mut cursor);
                parts.any(|part| part.is_missing() || !is_statement(part) && part.has_error())
            }
            _ => true,
        }
    }

    /// What stands where nothing can be read. What it names may have changed, and if it may
    /// communicate or go elsewhere, nothing is known from here on.
    pub(super) fn unreadable(&mut self, node: Node<'u>) -> Expression {
        let mut goes_on = true;
        each(node, &mut |node, _| {
            let leaves = ["return_statement", "break_statement", "continue_statement"];
            goes_on &= !leaves.contains(&node.kind()) && node.kind() != "goto_statement";
        });
        let names = identifiers(self, node);
        let communicates = names.iter().any(|name| self.may_communicate(name));
        let why = match node.kind() {
            "ERROR" => "this is not understood",
            _ if node.has_error() => "this is not understood",
            _ => "this part of the language is not read",
        };
        if communicates || !goes_on {
            return self.lost(why, node);
        }
        let place = self.place(node);
        let unknown = |ty: Type| Expression { kind: Kind::Unknown(why.to_owned()), place, ty };
        let mut statements = Vec::new();
        for name in names {
            let target = match self.scopes.name(name) {
                Some(Named::Variable(variable) | Named::Alias(variable)) => {
                    self.variable(*variable, place)
                }
                Some(Named::Global(global)) => self.global(*global, place),
                _ => continue,
            };
            let value = unknown(target.ty.clone());
            let kind = Kind::Assign(Box::new(target), Box::new(value));
            statements.push(Statement::Expression(Expression { kind, place, ty: Type::unit() }));
        }
        block_of(statements, unknown(Type::Unknown))
    }

    /// Whether a name is that of something that may communicate.
    fn may_communicate(&self, name: &str) -> bool {
        let is_call = |name: &str| {
            name.starts_with("MPI_") && name.bytes().skip(5).any(|it| it.is_ascii_lowercase())
        };
        if is_call(name) || name.strip_prefix('P').is_some_and(is_call) {
            return true;
        }
        let known = self.scopes.name(name).or_else(|| self.externs.get(name));
        matches!(known, Some(Named::Function(_)))
    }
}

fn is_statement(node: Node<'_>) -> bool {
    node.kind().ends_with("_statement")
        || node.kind() == "else_clause"
        || node.kind() == "declaration"
}
