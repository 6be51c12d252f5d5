//! Statements and declarations in functions.

use tree_sitter::Node;

use super::super::parse::children;
use super::super::scope::Named;
use super::super::types::{Specifiers, pointer_to};
use super::Lowering;
use super::convert::convert;
use super::expression::{let_be, reference};
use crate::program::{Block, Condition, Expression, Kind, Statement, Type, VariableId};

impl<'u> Lowering<'u> {
    /// `{ statements }`
    pub(super) fn block(&mut self, node: Node<'u>) -> Expression {
        self.deeper(node, |lowering, node| {
            lowering.scopes.open();
            let mut statements = Vec::new();
            lowering.items(children(node, &mut node.walk()), &mut statements);
            lowering.scopes.close();
            lowering.block_around(statements, node)
        })
    }

    /// Statements as a block that stands where the node does.
    pub(super) fn block_around(
        &mut self,
        statements: Vec<Statement>,
        node: Node<'u>,
    ) -> Expression {
        let place = self.place(node);
        // Where it closes.
        let end = node.end_byte();
        let location =
            self.unit.expanded.origins.locate(end.saturating_sub(1).max(node.start_byte())..end);
        self.program.places.push(location);
        let end = u32::try_from(self.program.places.len() - 1).unwrap_or(u32::MAX);
        let end = crate::program::Place(end);
        let block = Block { statements, end, ..Block::default() };
        Expression { kind: Kind::Block(block), place, ty: Type::unit() }
    }

    /// `({ statements; value; })`
    pub(super) fn block_with_value(&mut self, node: Node<'u>) -> Expression {
        self.scopes.open();
        let mut items = children(node, &mut node.walk());
        let last = items.pop_if(|last| last.kind() == "expression_statement");
        let mut statements = Vec::new();
        self.items(items, &mut statements);
        let value = last.and_then(|last| children(last, &mut last.walk()).first().copied());
        let value = value.map(|value| self.value(value));
        self.scopes.close();
        let mut block = self.block_around(statements, node);
        if let (Kind::Block(inner), Some(value)) = (&mut block.kind, value) {
            block.ty = value.ty.clone();
            inner.value = Some(Box::new(value));
        }
        block
    }

    /// A statement as an expression of its own: the body of a loop, an arm.
    pub(super) fn single(&mut self, node: Node<'u>) -> Expression {
        if node.kind() == "compound_statement" {
            return self.block(node);
        }
        self.deeper(node, |lowering, node| {
            lowering.scopes.open();
            let mut statements = Vec::new();
            lowering.items(vec![node], &mut statements);
            lowering.scopes.close();
            lowering.block_around(statements, node)
        })
    }

    /// One statement.
    pub(super) fn statement(&mut self, node: Node<'u>, out: &mut Vec<Statement>) {
        if self.is_unreadable(node) {
            let unreadable = self.unreadable(node);
            out.push(Statement::Expression(unreadable));
            return;
        }
        let expression = match node.kind() {
            "compound_statement" => self.block(node),
            "expression_statement" => {
                if let Some(inner) = children(node, &mut node.walk()).first() {
                    self.effect(*inner, out);
                }
                return;
            }
            "declaration" => return self.declaration(node, out),
            "type_definition" => return self.type_definition(node),
            "alias_declaration" => return self.alias_declaration(node),
            "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => {
                self.specified(node);
                return;
            }
            "if_statement" => self.branch(node),
            "while_statement" => self.while_loop(node),
            "do_statement" => self.do_loop(node),
            "for_statement" => return self.for_loop(node, out),
            "for_range_loop" => self.range_loop(node),
            "try_statement" => self.attempt(node),
            "switch_statement" => self.switch(node),
            "return_statement" => self.leave(node),
            "break_statement" => self.leave_loop(node),
            "continue_statement" => self.next_turn(node),
            "goto_statement" => self.jump(node),
            "labeled_statement" | "attributed_statement" => {
                return self.items(vec![node], out);
            }
            "using_declaration" | "static_assert_declaration" | ";" => return,
            // A statement of the preprocessor that nobody has taken out.
            kind if kind.starts_with("preproc_") => return,
            _ => self.unreadable(node),
        };
        out.push(Statement::Expression(expression));
    }

    /// `if (condition) .. else ..`
    fn branch(&mut self, node: Node<'u>) -> Expression {
        let condition = node.child_by_field_name("condition");
        if let Some(first) = condition.and_then(|it| it.child_by_field_name("initializer")) {
            return self.branch_after(first, node);
        }
        self.branch_by(node)
    }

    fn branch_by(&mut self, node: Node<'u>) -> Expression {
        let condition = node.child_by_field_name("condition");
        let then = node.child_by_field_name("consequence");
        let (Some(condition), Some(then)) = (condition, then) else {
            return self.unreadable(node);
        };
        let condition = self.condition(condition);
        let then = self.single(then);
        let otherwise = node.child_by_field_name("alternative").map(|clause| {
            // The clause has `else` and one statement.
            match children(clause, &mut clause.walk())[..] {
                [inner] if clause.kind() == "else_clause" => self.otherwise(inner),
                _ => self.single(clause),
            }
        });
        let kind = Kind::If {
            condition: Box::new(Condition::Holds(condition)),
            then: Box::new(then),
            otherwise: otherwise.map(Box::new),
        };
        self.make(kind, Type::unit(), node)
    }

    /// `if (first; condition) ..` of C++
    fn branch_after(&mut self, first: Node<'u>, node: Node<'u>) -> Expression {
        self.scopes.open();
        let mut statements = Vec::new();
        self.items(children(first, &mut first.walk()), &mut statements);
        let branch = self.branch_by(node);
        statements.push(Statement::Expression(branch));
        self.scopes.close();
        self.block_around(statements, node)
    }

    /// `try { .. } catch ..`: nothing is thrown, as far as is known.
    fn attempt(&mut self, node: Node<'u>) -> Expression {
        let mut body = None;
        for part in children(node, &mut node.walk()) {
            match part.kind() {
                "compound_statement" => body = Some(self.block(part)),
                _ => self.note_unread(part),
            }
        }
        match body {
            Some(body) => body,
            None => self.unreadable(node),
        }
    }

    fn otherwise(&mut self, node: Node<'u>) -> Expression {
        if node.kind() == "if_statement" && !self.is_unreadable(node) {
            return self.deeper(node, Self::branch);
        }
        self.single(node)
    }

    /// What decides in `if (..)` and `while (..)`.
    pub(super) fn condition(&mut self, node: Node<'u>) -> Expression {
        if node.kind() == "condition_clause" {
            return match node.child_by_field_name("value") {
                Some(value) if value.kind() != "declaration" => self.truth(value),
                _ => {
                    let value = self.unreadable(node);
                    convert(value, &Type::Scalar(crate::program::Scalar::Bool))
                }
            };
        }
        self.truth(node)
    }

    /// `return value;`
    fn leave(&mut self, node: Node<'u>) -> Expression {
        let value = children(node, &mut node.walk()).first().copied();
        let result = self.function.result.clone();
        let value = value.map(|value| {
            let value = match value.kind() {
                "initializer_list" => self.initialised(&result, value),
                _ => self.value(value),
            };
            if result == Type::unit() { value } else { convert(value, &result) }
        });
        self.make(Kind::Return(value.map(Box::new)), Type::Never, node)
    }

    // ---- declarations

    /// `type name = value, ..;`
    pub(super) fn declaration(&mut self, node: Node<'u>, out: &mut Vec<Statement>) {
        if self.no_declaration(node) {
            // `a * b;` does nothing.
            return;
        }
        let specifiers = self.specifiers(node);
        let declarators: Vec<Node<'u>> =
            node.children_by_field_name("declarator", &mut node.walk()).collect();
        for declarator in declarators {
            let declared = self.declarator(declarator, specifiers.ty.clone());
            let Some(name) = declared.name else { continue };
            let text = self.text(name);
            let value = declarator.child_by_field_name("value");
            if self.object(&specifiers, &declared, declarator, out) {
                continue;
            }
            let of_nothing = matches!(specifiers.ty, Type::External(..) | Type::Unknown);
            if declared.parameters.is_some() && of_nothing && self.may_communicate(text) {
                // `CHECK MPI_Send(..);`, with a macro of a header that is not there.
                let place = self.place(declarator);
                self.note_call(text, place);
                let lost = self.lost("what stands before this call is not known", declarator);
                out.push(Statement::Expression(lost));
                continue;
            }
            if declared.parameters.is_some() && value.is_none() {
                self.declare_prototype(text, declared.ty);
                continue;
            }
            if specifiers.is_static || specifiers.is_extern {
                self.lasting(name, declarator, &specifiers, declared.ty, &declared.lengths);
                continue;
            }
            if declared.is_alias {
                self.alias(text, declared.ty, value, out);
                continue;
            }
            let variable = self.bind(text, declared.ty.clone());
            self.note_lengths(variable, declared.lengths.clone());
            let value = match value {
                Some(value) if specifiers.is_auto => self.value(value),
                Some(value) => self.initialised(&declared.ty, value),
                None => self.filled("uninitialized", &declared.ty, &declared.lengths, declarator),
            };
            // `int a[] = {..}` is as long as its value.
            let ty = match declared.ty {
                Type::Array(_, None) | Type::Unknown => value.ty.clone(),
                ty => ty,
            };
            if let Some(own) = self.function.variables.get_mut(variable.0 as usize) {
                own.ty = ty.clone();
            }
            out.push(let_be(variable, ty, value));
        }
    }

    /// `static type name = value;`, `extern type name;`
    fn lasting(
        &mut self,
        name: Node<'u>,
        declarator: Node<'u>,
        specifiers: &Specifiers,
        ty: Type,
        lengths: &[Option<Node<'u>>],
    ) {
        let text = self.text(name);
        if specifiers.is_extern {
            let global = match self.externs.get(text) {
                Some(Named::Global(global)) => *global,
                _ => {
                    let global = self.add_global(text.to_owned(), name, ty, false);
                    self.externs.insert(text, Named::Global(global));
                    global
                }
            };
            self.scopes.bind(text, Named::Global(global));
            return;
        }
        let own = format!("{}.{text}", self.function.name);
        let global = self.add_global(own, name, ty, specifiers.is_const);
        self.scopes.bind(text, Named::Global(global));
        self.define(global, declarator, lengths, declarator.child_by_field_name("value"));
    }

    /// `type &name = place;` of C++
    fn alias(
        &mut self,
        name: &'u str,
        ty: Type,
        value: Option<Node<'u>>,
        out: &mut Vec<Statement>,
    ) {
        let Some(value) = value else { return };
        let of = self.expression(value);
        let place = of.place;
        let pointer = reference(of, place);
        let ty = if ty == Type::Unknown { pointer.ty.clone() } else { pointer_to(ty) };
        let variable = self.hidden(name, ty.clone());
        self.scopes.bind(name, Named::Alias(variable));
        out.push(let_be(variable, ty, pointer));
    }

    /// Remembers how long the arrays are that a variable is or points to, if that is no constant.
    pub(in crate::read::c) fn add_lengths(
        &mut self,
        variable: VariableId,
        lengths: Vec<Option<Node<'u>>>,
    ) {
        self.function.lengths.insert(variable, lengths);
    }
}
