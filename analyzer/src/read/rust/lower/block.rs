//! Blocks and their statements, with the items that stand among them.

use std::borrow::Cow;

use syn::{Item, Stmt};

use super::super::cfg::{Built, built};
use super::super::declare::Pending;
use super::super::expand::DEPTH;
use super::{Body, label};
use crate::program::{Block, Expression, Kind, Pattern, Place, Statement, Type};

impl Body<'_, '_> {
    /// A block as an expression; its variables end with it.
    pub(super) fn block_expression(
        &mut self,
        block: &syn::Block,
        labelled: Option<&syn::Label>,
    ) -> Expression {
        let start = self.bytes(block.brace_token.span.open()).start;
        let end = self.bytes(block.brace_token.span.close());
        let label = labelled.map(|it| label(&it.name));
        let start = labelled.map_or(start, |it| self.bytes(it.name.apostrophe).start);
        let closing = self.place(end.clone());
        let block = self.block(block, label, closing);
        self.make(Kind::Block(block), start..end.end)
    }

    fn block(&mut self, block: &syn::Block, label: Option<String>, end: Place) -> Block {
        self.scopes.open();
        let outside = self.context.module;
        let statements = self.with_declared(&block.stmts);
        self.items(&statements);
        let mut lowered = Block { label, end, ..Block::default() };
        let built: Vec<&Stmt> = statements.iter().filter(|it| self.has(it)).collect();
        for (at, statement) in built.iter().enumerate() {
            let last = at + 1 == built.len();
            self.statement(statement, last, &mut lowered);
        }
        self.context.module = outside;
        self.scopes.close();
        lowered
    }

    /// The statements, with those in place of a macro that declare something for the others.
    fn with_declared<'s>(&mut self, statements: &'s [Stmt]) -> Cow<'s, [Stmt]> {
        for statement in statements {
            if let Stmt::Item(Item::Macro(item)) = statement {
                self.translation.macros.add(item);
            }
        }
        let mut all = Cow::Borrowed(statements);
        for _ in 0..DEPTH {
            let declared: Vec<_> = all.iter().map(|it| self.declared_by(it)).collect();
            if declared.iter().all(Option::is_none) {
                break;
            }
            let one = |(statement, declared): (&Stmt, Option<Vec<Stmt>>)| {
                declared.unwrap_or_else(|| vec![statement.clone()])
            };
            all = Cow::Owned(all.iter().zip(declared).flat_map(one).collect());
        }
        all
    }

    /// Declares and reads the items of a block, in which names see them from here on.
    fn items(&mut self, statements: &[Stmt]) {
        let has_items = statements.iter().any(|it| matches!(it, Stmt::Item(_)));
        if !has_items {
            return;
        }
        let module = self.translation.names.add_block(self.context.module);
        let mut pending = Pending::default();
        for statement in statements {
            if let Stmt::Item(item) = statement {
                let items: &[Item] = std::slice::from_ref(item);
                self.translation.declare(items, module, &[], Built::Always, &mut pending);
            }
        }
        self.translation.complete(&mut pending);
        self.translation.lower(&pending);
        self.context.module = module;
    }

    /// Whether the build has a statement; items are looked at by themselves.
    fn has(&self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Local(local) => self.is_built(&local.attrs),
            Stmt::Expr(expression, _) => self.is_built(attributes(expression)),
            Stmt::Macro(invocation) => self.is_built(&invocation.attrs),
            Stmt::Item(_) => false,
        }
    }

    fn statement(&mut self, statement: &Stmt, last: bool, block: &mut Block) {
        match statement {
            Stmt::Local(local) => {
                let lowered = self.local(local);
                block.statements.push(lowered);
            }
            Stmt::Expr(expression, semicolon) => {
                let lowered = self.expression(expression);
                self.add(lowered, last && semicolon.is_none(), block);
            }
            Stmt::Macro(invocation) => {
                let lowered = self.invocation(&invocation.mac);
                let is_value = last && invocation.semi_token.is_none();
                self.add(lowered, is_value, block);
            }
            Stmt::Item(_) => {}
        }
    }

    fn add(&mut self, lowered: Expression, is_value: bool, block: &mut Block) {
        if is_value {
            block.value = Some(Box::new(lowered));
        } else {
            block.statements.push(Statement::Expression(lowered));
        }
    }

    fn local(&mut self, local: &syn::Local) -> Statement {
        let (written, ty) = match &local.pat {
            syn::Pat::Type(typed) => {
                let ty = self.translation.annotation(&typed.ty, &self.context);
                (&*typed.pat, ty)
            }
            other => (other, Type::Unknown),
        };
        let value = local.init.as_ref().map(|init| {
            let value = self.expression(&init.expr);
            self.matched(value, written)
        });
        let diverge = local.init.as_ref().and_then(|init| init.diverge.as_ref());
        let otherwise = diverge.map(|(_, otherwise)| self.expression(otherwise));
        let pattern = self.pattern(written);
        if let Pattern::Variable(variable, None) = &pattern {
            self.variables[variable.0 as usize].ty = ty.clone();
        }
        Statement::Let { pattern, ty, value, otherwise }
    }

    /// Whether the build has what these attributes stand on.
    pub(super) fn is_built(&self, attributes: &[syn::Attribute]) -> bool {
        attributes.is_empty()
            || built(attributes, &self.translation.files[self.file].features) == Built::Always
    }
}

/// The attributes of an expression that may be a statement.
fn attributes(expression: &syn::Expr) -> &[syn::Attribute] {
    match expression {
        syn::Expr::Block(it) => &it.attrs,
        syn::Expr::Call(it) => &it.attrs,
        syn::Expr::MethodCall(it) => &it.attrs,
        syn::Expr::If(it) => &it.attrs,
        syn::Expr::ForLoop(it) => &it.attrs,
        syn::Expr::While(it) => &it.attrs,
        syn::Expr::Loop(it) => &it.attrs,
        syn::Expr::Match(it) => &it.attrs,
        syn::Expr::Macro(it) => &it.attrs,
        syn::Expr::Assign(it) => &it.attrs,
        syn::Expr::Unsafe(it) => &it.attrs,
        syn::Expr::Return(it) => &it.attrs,
        _ => &[],
    }
}
