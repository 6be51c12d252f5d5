//! Bodies: from syn's tree to the program's expressions, with every name resolved.
//!
//! What cannot be read becomes [`Kind::Unknown`] with its reason. Types are those that are written;
//! the others are for inference to find.

mod block;
mod call;
mod condition;
mod expression;
mod format;
mod literal;
mod macros;
mod path;
mod pattern;
mod scope;

use std::ops::Range;

use proc_macro2::Span;
use syn::{FnArg, ReceiverKind};

use super::declare::{Pending, PendingFunction};
use super::translation::Translation;
use super::types::{Context, name};
use crate::program::{
    Expression, Kind, Literal, Parameter, Pattern, Place, Type, Variable, VariableId,
};
use scope::Scopes;

/// A body while it is read.
struct Body<'t, 'f> {
    translation: &'t mut Translation<'f>,
    context: Context,
    file: usize,
    variables: Vec<Variable>,
    scopes: Scopes,
}

impl<'f> Translation<'f> {
    /// Reads the bodies of what was declared and completed.
    pub(super) fn lower(&mut self, pending: &Pending<'_>) {
        for function in &pending.functions {
            self.lower_function(function);
        }
        for global in &pending.globals {
            let Some(value) = global.value else { continue };
            let mut body = Body::new(self, global.context.clone());
            let value = body.expression(value);
            let global = &mut self.program.globals[global.id.0 as usize];
            global.value = Some(value);
        }
    }

    fn lower_function(&mut self, function: &PendingFunction<'_>) {
        let context = function.context.clone().with(&function.signature.generics);
        let mut body = Body::new(self, context);
        let parameters = function.signature.inputs.iter().map(|input| body.parameter(input));
        let parameters = parameters.collect();
        let lowered = function.block.map(|block| body.block_expression(block, None));
        let variables = body.variables;
        let function = &mut self.program.functions[function.id.0 as usize];
        function.parameters = parameters;
        function.variables = variables;
        function.body = lowered;
    }
}

impl<'t, 'f> Body<'t, 'f> {
    fn new(translation: &'t mut Translation<'f>, context: Context) -> Self {
        let file = translation.names.module(context.module).file;
        Body { translation, context, file, variables: Vec::new(), scopes: Scopes::default() }
    }

    fn parameter(&mut self, input: &FnArg) -> Parameter {
        match input {
            FnArg::Receiver(receiver) => {
                let own = self.context.self_type.clone().unwrap_or_default();
                let ty = match &receiver.kind {
                    ReceiverKind::Reference(..) => Type::Reference(Box::new(own)),
                    ReceiverKind::Typed(_, written) => {
                        self.translation.type_of(written, &self.context)
                    }
                    _ => own,
                };
                let variable = self.bind("self", ty.clone());
                Parameter { pattern: Pattern::Variable(variable, None), ty }
            }
            FnArg::Typed(typed) => {
                let ty = self.translation.type_of(&typed.ty, &self.context);
                let pattern = self.pattern(&typed.pat);
                if let Pattern::Variable(variable, _) = pattern {
                    self.variables[variable.0 as usize].ty = ty.clone();
                }
                Parameter { pattern, ty }
            }
        }
    }

    /// A new variable, visible from here on.
    fn bind(&mut self, name: &str, ty: Type) -> VariableId {
        let id = self.hidden(name, ty);
        self.scopes.bind(name, id);
        id
    }

    /// A new variable that no name leads to.
    fn hidden(&mut self, name: &str, ty: Type) -> VariableId {
        let id = VariableId(u32::try_from(self.variables.len()).unwrap_or(u32::MAX));
        self.variables.push(Variable { name: name.to_owned(), ty });
        id
    }

    // ---- places

    fn bytes(&self, span: Span) -> Range<usize> {
        self.translation.bytes(self.file, span)
    }

    fn place(&mut self, bytes: Range<usize>) -> Place {
        self.translation.place(self.file, bytes)
    }

    /// The bytes of an expression that was read.
    fn bytes_of(&self, expression: &Expression) -> Range<usize> {
        self.translation.program.location(expression.place).bytes.clone()
    }

    fn start_of(&self, expression: &Expression) -> usize {
        self.bytes_of(expression).start
    }

    fn end_of(&self, expression: &Expression) -> usize {
        self.bytes_of(expression).end
    }

    // ---- expressions

    fn make(&mut self, kind: Kind, bytes: Range<usize>) -> Expression {
        let place = self.place(bytes);
        Expression { kind, place, ty: Type::Unknown }
    }

    fn at(&mut self, kind: Kind, span: Span) -> Expression {
        let bytes = self.bytes(span);
        self.make(kind, bytes)
    }

    fn unknown(&mut self, why: impl Into<String>, bytes: Range<usize>) -> Expression {
        self.make(Kind::Unknown(why.into()), bytes)
    }

    fn unit(&mut self, bytes: Range<usize>) -> Expression {
        self.make(Kind::Tuple(Vec::new()), bytes)
    }

    fn bool(&mut self, value: bool, bytes: Range<usize>) -> Expression {
        let mut literal = self.make(Kind::Literal(Literal::Bool(value)), bytes);
        literal.ty = Type::Scalar(crate::program::Scalar::Bool);
        literal
    }

    fn variable(&mut self, variable: VariableId, bytes: Range<usize>) -> Expression {
        self.make(Kind::Variable(variable), bytes)
    }
}

/// A label without its quote.
fn label(lifetime: &syn::Lifetime) -> String {
    name(&lifetime.ident)
}
