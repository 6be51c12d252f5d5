//! What cannot be read: counted, with what it may change.

use tree_sitter::Node;

use super::super::library;
use super::super::scope::Named;
use super::Lowering;
use super::cpp::last_name;
use super::expression::block_of;
use super::scan::{each, identifiers};
use crate::evaluate::is_mpi_communication;
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
        self.note_calls(node);
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
    pub(super) fn may_communicate(&self, name: &str) -> bool {
        if library::is_function_of_mpi(name) {
            return true;
        }
        let known = self.scopes.name(name).or_else(|| self.externs.get(name));
        matches!(known, Some(Named::Function(_)))
    }

    /// Notes the communication in what is not lowered.
    pub(super) fn note_calls(&mut self, node: Node<'u>) {
        let mut calls = Vec::new();
        each(node, &mut |node, _| {
            if node.kind() == "call_expression" {
                calls.extend(node.child_by_field_name("function").map(|it| (it, node)));
            }
        });
        for (function, node) in calls {
            let place = self.place(node);
            self.note_call(self.text(function), place);
        }
    }

    /// Notes the communication in a part of a file that is not lowered, and the names of what it
    /// may be done by.
    pub(in crate::read::c) fn note_unread(&mut self, node: Node<'u>) {
        let mut names = Vec::new();
        let mut communicates = false;
        each(node, &mut |node, _| match node.kind() {
            "call_expression" => {
                let Some(function) = node.child_by_field_name("function") else { return };
                let name = self.text(function);
                communicates |= library::is_function_of_mpi(name) && is_mpi_communication(name)
                    || matches!(self.externs.get(name), Some(Named::Function(_)))
                    || self.statics.contains_key(&(self.number, name));
            }
            "function_declarator" => {
                let declarator = node.child_by_field_name("declarator").and_then(last_name);
                names.extend(declarator.map(|name| self.text(name)));
            }
            "class_specifier" | "struct_specifier" => {
                names.extend(node.child_by_field_name("name").map(|it| self.text(it)));
            }
            _ => {}
        });
        self.note_calls(node);
        if communicates {
            self.unread.extend(names);
        }
    }
}

fn is_statement(node: Node<'_>) -> bool {
    node.kind().ends_with("_statement")
        || node.kind() == "else_clause"
        || node.kind() == "declaration"
}
