//! What a part of a function does with its variables and where it goes, by names alone: more is found
//! than is, never less.

use rustc_hash::FxHashSet;
use tree_sitter::{Node, TreeCursor};

use super::{Lowering, Names};
use crate::program::{Expression, Type};
use crate::read::c::scope::Named;

/// What is done in a part of a function.
#[derive(Debug, Default)]
pub(super) struct Mentioned<'u> {
    /// What is assigned.
    assigned: Names<'u>,
    /// What has a part that is assigned, or leads to something that is.
    parts: Names<'u>,
    /// Whose address is handed to a call.
    handed: Names<'u>,
    /// Whose address is kept elsewhere: it may change at any time.
    pub(super) kept: Names<'u>,
    /// The labels that one goes to.
    pub(super) jumps: Names<'u>,
    /// Something is called.
    calls: bool,
    /// Something is written over a pointer, or to an element.
    writes_through: bool,
    /// What is written so, as far as it is told, and the variables with which that begins.
    targets: Vec<(Node<'u>, &'u str)>,
    /// What may be declared there.
    declared: Names<'u>,
}

impl Mentioned<'_> {
    /// Whether a variable may change.
    pub(super) fn changes(&self, name: &str) -> bool {
        [&self.assigned, &self.parts, &self.handed, &self.kept].iter().any(|it| it.contains(name))
    }
}

impl<'u> Lowering<'u> {
    /// What is done in a part of a function.
    pub(super) fn mentioned_in(&self, node: Node<'u>) -> Mentioned<'u> {
        let mut found = Mentioned::default();
        each(node, &mut |node, parent| self.note(node, parent, &mut found));
        found
    }

    fn note(&self, node: Node<'u>, parent: &str, found: &mut Mentioned<'u>) {
        match node.kind() {
            "assignment_expression" => self.note_target(node, "left", found),
            "update_expression" => self.note_target(node, "argument", found),
            "pointer_expression" if self.operator(node) == "&" => {
                let root = node.child_by_field_name("argument").and_then(root);
                if let Some((root, _)) = root {
                    let name = self.text(root);
                    match parent {
                        "argument_list" => found.handed.insert(name),
                        _ => found.kept.insert(name),
                    };
                }
            }
            "call_expression" => found.calls = true,
            "goto_statement" => {
                let label = node.child_by_field_name("label");
                found.jumps.extend(label.map(|label| self.text(label)));
            }
            "identifier" if is_declarator(parent) => _ = found.declared.insert(self.text(node)),
            "ERROR" => found.writes_through = true,
            // A reference of C++ is the variable itself.
            "reference_declarator" => found.writes_through = true,
            _ => {}
        }
    }

    fn note_target(&self, node: Node<'u>, field: &str, found: &mut Mentioned<'u>) {
        match node.child_by_field_name(field).and_then(root) {
            Some((root, is_direct)) => {
                let name = self.text(root);
                if is_direct {
                    found.assigned.insert(name);
                } else {
                    found.parts.insert(name);
                    found.targets.extend(node.child_by_field_name(field).map(|it| (it, name)));
                }
            }
            None => found.writes_through = true,
        }
    }

    /// Whether an expression has the same value throughout a loop in whose body that is done.
    pub(super) fn is_steady(&self, node: Node<'u>, body: &Mentioned<'u>) -> bool {
        let mut steady = true;
        each(node, &mut |node, _| {
            steady &= match node.kind() {
                "identifier" => self.is_steady_name(self.text(node), body),
                "call_expression"
                | "assignment_expression"
                | "update_expression"
                | "ERROR"
                | "pointer_expression" => false,
                // What lies elsewhere changes where anything is written over pointers, or called.
                "field_expression" | "subscript_expression" => {
                    !body.writes_through && body.targets.is_empty() && !body.calls
                }
                _ => true,
            };
        });
        steady
    }

    /// The same: writing floats over pointers changes no number that is made of whole ones alone.
    pub(super) fn is_steady_bound(&mut self, node: Node<'u>, mut body: Mentioned<'u>) -> bool {
        if self.is_steady(node, &body) {
            return true;
        }
        let targets = std::mem::take(&mut body.targets);
        body.parts.clear();
        if targets.is_empty() || !self.is_steady(node, &body) {
            return false;
        }
        let of = |lowering: &mut Self, node| lowering.without_effect(|it| it.value(node));
        let writes_floats = targets
            .into_iter()
            .all(|(target, name)| !body.declared.contains(name) && is_float(&of(self, target).ty));
        writes_floats && is_without_floats(&of(self, node))
    }

    fn is_steady_name(&self, name: &str, body: &Mentioned<'u>) -> bool {
        if body.changes(name) || self.function.mentioned.kept.contains(name) {
            return false;
        }
        match self.scopes.name(name) {
            // Others may change it.
            Some(Named::Global(global)) => !body.calls || !self.program.global(*global).is_mutable,
            Some(Named::Alias(_)) => false,
            _ => true,
        }
    }
}

/// Whether names in such a part of a tree may be declared by it.
fn is_declarator(kind: &str) -> bool {
    kind == "declaration" || kind.ends_with("_declarator")
}

fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if scalar.is_float())
}

fn is_without_floats(expression: &Expression) -> bool {
    let mut all = matches!(&expression.ty, Type::Scalar(scalar) if !scalar.is_float())
        || matches!(expression.ty, Type::Defined(..) | Type::Reference(_) | Type::Array(..));
    expression.for_each_child(&mut |child| all &= is_without_floats(child));
    all
}

/// The variable that a place is in or behind, and whether it is the variable itself.
fn root(node: Node<'_>) -> Option<(Node<'_>, bool)> {
    let (mut node, mut is_direct) = (node, true);
    loop {
        node = match node.kind() {
            "identifier" => return Some((node, is_direct)),
            "field_expression" | "subscript_expression" | "pointer_expression" => {
                is_direct = false;
                node.child_by_field_name("argument")?
            }
            "cast_expression" => node.child_by_field_name("value")?,
            "parenthesized_expression" => node.named_child(0)?,
            _ => return None,
        };
    }
}

/// Calls `visit` with every named node of a tree, and the kind of the one around it.
pub(super) fn each<'t>(node: Node<'t>, visit: &mut dyn FnMut(Node<'t>, &'static str)) {
    let mut cursor: TreeCursor<'t> = node.walk();
    let mut around: Vec<&'static str> = vec![""];
    loop {
        let here = cursor.node();
        if here.is_named() {
            visit(here, around.last().copied().unwrap_or(""));
        }
        if cursor.goto_first_child() {
            around.push(here.kind());
            continue;
        }
        while !cursor.goto_next_sibling() {
            if around.len() <= 1 || !cursor.goto_parent() {
                return;
            }
            around.pop();
        }
        if around.len() <= 1 {
            return;
        }
    }
}

/// The identifiers in a tree, each once.
pub(super) fn identifiers<'u>(lowering: &Lowering<'u>, node: Node<'u>) -> Vec<&'u str> {
    let mut seen = FxHashSet::default();
    let mut names = Vec::new();
    each(node, &mut |node, _| {
        if node.kind() == "identifier" && seen.insert(lowering.text(node)) {
            names.push(lowering.text(node));
        }
    });
    names
}
