//! Paths in expressions: variables, items, constructors, associated items, libraries.

use std::ops::Range;
use std::sync::Arc;

use syn::{ExprPath, PathArguments};

use super::super::names::{Meaning, Namespace, TraitId};
use super::super::types::{import_of, name};
use super::Body;
use crate::program::{
    Closure, DefinitionId, Expression, FunctionId, GlobalId, Kind, Pattern, Scalar, Type,
    VariableId,
};

/// What a path in an expression means.
pub(super) enum Named {
    Variable(VariableId),
    Function(FunctionId, Vec<Type>),
    Global(GlobalId),
    /// A struct, or a variant, with its type as far as it is written.
    Constructor(DefinitionId, u32, Type),
    /// `Trait::function` of a trait of the program.
    OfTrait(TraitId, String),
    External(Vec<String>, Vec<Type>),
    /// A `const` parameter: a number that each use of the function, or of its `impl`, gives.
    Number(String, Scalar),
    Unknown(&'static str),
}

impl Body<'_, '_> {
    /// A path as a value.
    pub(super) fn path(&mut self, written: &ExprPath) -> Expression {
        let bytes = self.path_bytes(written);
        let named = self.named(written);
        self.value_of(named, bytes)
    }

    pub(super) fn value_of(&mut self, named: Named, bytes: Range<usize>) -> Expression {
        let kind = match named {
            Named::Variable(variable) => Kind::Variable(variable),
            Named::Function(function, generics) => Kind::Function(function, generics),
            Named::Global(global) => Kind::Global(global),
            Named::Constructor(definition, variant, ty) => {
                return self.constructor_value(definition, variant, ty, bytes);
            }
            Named::OfTrait(id, own) => {
                let path = vec![self.translation.traits[id.0].name.clone(), own];
                Kind::External(path.into(), Vec::new())
            }
            Named::Number(parameter, scalar) => {
                let number = Kind::External(vec![parameter].into(), Vec::new());
                let number = self.make(number, bytes.clone());
                Kind::Cast(Box::new(number), Type::Scalar(scalar))
            }
            Named::External(path, generics) => Kind::External(path.into(), generics),
            Named::Unknown(why) => Kind::Unknown(why.to_owned()),
        };
        self.make(kind, bytes)
    }

    pub(super) fn path_bytes(&self, written: &ExprPath) -> Range<usize> {
        let first = match &written.qself {
            Some(of) => Some(self.bytes(of.lt_token.span).start),
            None => written.path.segments.first().map(|it| self.bytes(it.ident.span()).start),
        };
        let last = written.path.segments.last().map(|last| match &last.arguments {
            PathArguments::AngleBracketed(it) => self.bytes(it.gt_token.span).end,
            _ => self.bytes(last.ident.span()).end,
        });
        let last = last.unwrap_or(0);
        first.unwrap_or(last)..last
    }

    /// What a path means.
    pub(super) fn named(&mut self, written: &ExprPath) -> Named {
        let path = &written.path;
        if let Some(of) = &written.qself {
            let ty = self.translation.type_of(&of.ty, &self.context);
            let rest: Vec<_> = path.segments.iter().skip(of.position).collect();
            return match rest.as_slice() {
                [own] => self.associated(ty, own),
                _ => Named::Unknown("this path cannot be read"),
            };
        }
        let import = import_of(path);
        let names = import.path.as_slice();
        if let [own] = names
            && let Some(variable) = self.scopes.find(own)
        {
            return Named::Variable(variable);
        }
        match names {
            [first] if first == "Self" => return self.own_constructor(),
            [first] if self.context.numbers.contains_key(first) => {
                return Named::Number(first.clone(), self.context.numbers[first]);
            }
            [first, _] if first == "Self" || self.context.generics.contains(first) => {
                let ty = self.context.self_type.clone().filter(|_| first == "Self");
                let ty = ty.unwrap_or_else(|| Type::Parameter(first.clone()));
                return self.associated(ty, &path.segments[1]);
            }
            _ => {}
        }
        let module = self.context.module;
        let (meaning, used) = self.translation.names.resolve(module, &import, Namespace::Values);
        self.meant(meaning, used, path)
    }

    fn meant(&mut self, meaning: Meaning, used: usize, path: &syn::Path) -> Named {
        let count = path.segments.len();
        let next = path.segments.iter().nth(used).filter(|_| used + 1 == count);
        let before = used.checked_sub(1).and_then(|at| path.segments.iter().nth(at));
        let arguments = |body: &Self, segment: Option<&syn::PathSegment>| match segment {
            Some(segment) => body.translation.arguments(&segment.arguments, &body.context),
            None => Vec::new(),
        };
        match meaning {
            Meaning::Function(function) if used == count => {
                Named::Function(function, arguments(self, before))
            }
            Meaning::Global(global) if used == count => Named::Global(global),
            Meaning::Variant(definition, variant) if used == count => {
                let of = arguments(self, used.checked_sub(2).map(|at| &path.segments[at]));
                let ty = self.of_definition(definition, Type::Defined(definition, of));
                Named::Constructor(definition, variant, ty)
            }
            Meaning::Definition(definition) => {
                let ty = Type::Defined(definition, arguments(self, before));
                match next {
                    Some(own) => self.associated(ty, own),
                    None if used == count => {
                        Named::Constructor(definition, 0, self.of_definition(definition, ty))
                    }
                    None => Named::Unknown("this path cannot be read"),
                }
            }
            Meaning::Alias(alias) => {
                let ty = self.translation.alias(alias, arguments(self, before));
                match (next, ty) {
                    (Some(own), ty) => self.associated(ty, own),
                    (None, Type::Defined(definition, of)) => {
                        let ty = self.of_definition(definition, Type::Defined(definition, of));
                        Named::Constructor(definition, 0, ty)
                    }
                    (None, _) => Named::Unknown("this path cannot be read"),
                }
            }
            Meaning::Trait(id) => match next {
                Some(own) => Named::OfTrait(id, name(&own.ident)),
                None => Named::Unknown("this path cannot be read"),
            },
            Meaning::External(names) => {
                let mut generics =
                    arguments(self, count.checked_sub(2).map(|at| &path.segments[at]));
                generics.extend(arguments(self, path.segments.last()));
                Named::External(names, generics)
            }
            _ => Named::Unknown("this path names no value"),
        }
    }

    fn own_constructor(&self) -> Named {
        match (self.translation.self_definition(&self.context), &self.context.self_type) {
            (Some(definition), Some(ty)) => Named::Constructor(definition, 0, ty.clone()),
            _ => Named::Unknown("`Self` is not known here"),
        }
    }

    /// `Type::name`
    fn associated(&mut self, ty: Type, own: &syn::PathSegment) -> Named {
        let turbofish = self.translation.arguments(&own.arguments, &self.context);
        let own = name(&own.ident);
        match ty {
            Type::Defined(definition, of) => self.of_defined(definition, of, own, turbofish),
            Type::Parameter(parameter) => Named::External(vec![parameter, own], turbofish),
            Type::Scalar(scalar) => Named::External(vec![scalar.name().to_owned(), own], turbofish),
            Type::Text => Named::External(vec!["String".to_owned(), own], turbofish),
            Type::External(library, mut of) => {
                of.extend(turbofish);
                Named::External(vec![library, own], of)
            }
            _ => Named::Unknown("what this belongs to is not known"),
        }
    }

    fn of_defined(
        &mut self,
        definition: DefinitionId,
        of: Vec<Type>,
        own: String,
        turbofish: Vec<Type>,
    ) -> Named {
        if let Some(variant) = self.translation.names.variant(definition, &own) {
            let ty = self.of_definition(definition, Type::Defined(definition, of));
            return Named::Constructor(definition, variant, ty);
        }
        // Of several, such as `from` of `From<A>` and `From<B>`, types decide, which nobody has yet.
        if let &[function] = self.translation.program.methods.of(Some(definition), &own) {
            let generics = self.generics_of(function, of, turbofish);
            return Named::Function(function, generics);
        }
        let constants = &self.translation.constants;
        let constant = constants.get(&(Some(definition), own.clone()));
        if let Some(&global) = constant.or_else(|| constants.get(&(None, own.clone()))) {
            return Named::Global(global);
        }
        // What `derive` or a library's trait gives it; its type goes first among the generics.
        let path = self.translation.program.definition(definition).name.clone();
        let last = path.rsplit("::").next().unwrap_or_default().to_owned();
        let ty = self.of_definition(definition, Type::Defined(definition, of));
        Named::External(vec![last, own], vec![ty])
    }

    /// The generic arguments of an associated function: the type's, then its own.
    fn generics_of(&self, function: FunctionId, of: Vec<Type>, turbofish: Vec<Type>) -> Vec<Type> {
        if of.is_empty() && turbofish.is_empty() {
            return Vec::new();
        }
        let count = self.translation.program.function(function).generics.len();
        let mut generics = of;
        generics.resize(count.saturating_sub(turbofish.len()), Type::Unknown);
        generics.extend(turbofish);
        generics.resize(count, Type::Unknown);
        generics
    }

    /// A struct or a variant by its name alone: its value if it has no fields, otherwise a
    /// function that makes one.
    fn constructor_value(
        &mut self,
        definition: DefinitionId,
        variant: u32,
        ty: Type,
        bytes: Range<usize>,
    ) -> Expression {
        let of = self.translation.program.definition(definition).variants.get(variant as usize);
        let names: Vec<String> = of
            .map(|it| it.fields.iter().map(|(name, _)| name.clone()).collect())
            .unwrap_or_default();
        let mut parameters = Vec::new();
        let mut fields = Vec::new();
        for name in names {
            let variable = self.hidden(&name, Type::Unknown);
            parameters.push((Pattern::Variable(variable, None), Type::Unknown));
            fields.push((name, self.variable(variable, bytes.clone())));
        }
        let kind = Kind::Construct { definition, variant, fields, rest: None };
        let mut built = self.make(kind, bytes.clone());
        built.ty = ty;
        if parameters.is_empty() {
            return built;
        }
        let closure = Closure { parameters, body: built, moves: false };
        self.make(Kind::Closure(Arc::new(closure)), bytes)
    }
}
