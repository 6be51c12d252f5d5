//! Calls of functions, constructors and methods.

use syn::{Expr, ExprCall, ExprMethodCall};

use super::super::types::name;
use super::Body;
use super::path::Named;
use crate::program::{DefinitionId, Expression, Kind, Type};

impl Body<'_, '_> {
    pub(super) fn call(&mut self, written: &ExprCall) -> Expression {
        let end = self.bytes(written.paren_token.span.close()).end;
        let mut callee = &*written.func;
        while let Expr::Paren(syn::ExprParen { expr, .. })
        | Expr::Group(syn::ExprGroup { expr, .. }) = callee
        {
            callee = expr;
        }
        let Expr::Path(path) = callee else {
            let callee = self.expression(callee);
            let bytes = self.start_of(&callee)..end;
            let arguments = self.expressions(&written.args);
            return self.make(Kind::Call(Box::new(callee), arguments), bytes);
        };
        let path_bytes = self.path_bytes(path);
        let bytes = path_bytes.start..end;
        match self.named(path) {
            Named::Constructor(definition, variant, ty) => {
                let arguments = self.expressions(&written.args);
                self.construct(definition, variant, ty, arguments, bytes)
            }
            Named::OfTrait(id, own) if self.is_method_of(id, &own) && !written.args.is_empty() => {
                let mut arguments = self.expressions(&written.args);
                let receiver = Box::new(arguments.remove(0));
                let generics = Vec::new();
                self.make(Kind::Method { receiver, name: own, generics, arguments }, bytes)
            }
            named => {
                let callee = Box::new(self.value_of(named, path_bytes));
                let arguments = self.expressions(&written.args);
                self.make(Kind::Call(callee, arguments), bytes)
            }
        }
    }

    fn is_method_of(&self, id: super::super::names::TraitId, own: &str) -> bool {
        let functions = &self.translation.traits[id.0].functions;
        functions.iter().any(|(name, is_method)| name == own && *is_method)
    }

    fn construct(
        &mut self,
        definition: DefinitionId,
        variant: u32,
        ty: Type,
        arguments: Vec<Expression>,
        bytes: std::ops::Range<usize>,
    ) -> Expression {
        let numbered = arguments.into_iter().enumerate();
        let fields = numbered.map(|(at, value)| (at.to_string(), value)).collect();
        let kind = Kind::Construct { definition, variant, fields, rest: None };
        let mut built = self.make(kind, bytes);
        built.ty = ty;
        built
    }

    pub(super) fn method_call(&mut self, written: &ExprMethodCall) -> Expression {
        let receiver = Box::new(self.expression(&written.receiver));
        let arguments = self.expressions(&written.args);
        let generics = written.turbofish.as_ref();
        let generics = generics.map(|list| self.translation.generic_arguments(list, &self.context));
        let bytes = self.start_of(&receiver)..self.bytes(written.paren_token.span.close()).end;
        let kind = Kind::Method {
            receiver,
            name: name(&written.method),
            generics: generics.unwrap_or_default(),
            arguments,
        };
        self.make(kind, bytes)
    }
}
