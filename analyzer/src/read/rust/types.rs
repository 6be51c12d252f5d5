//! Types as they are written, without what inference adds.

use rustc_hash::FxHashMap;
use syn::{
    Expr, GenericArgument, GenericParam, Generics, PathArguments, ReturnType, TypeParamBound,
};

use super::names::{Import, Meaning, ModuleId, Namespace};
use super::translation::Translation;
use crate::program::{Scalar, Type};

/// What a type or a body can name besides items.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The module.
    pub(super) module: ModuleId,
    /// The generic types in scope, in the order of [`crate::program::Function::generics`].
    pub(super) generics: Vec<String>,
    /// Which of them are numbers, and of which type.
    pub(super) numbers: FxHashMap<String, Scalar>,
    /// What `Self` is.
    pub(super) self_type: Option<Type>,
    /// `Self::Name`: the associated types of the `impl`.
    pub(super) associated: FxHashMap<String, Type>,
}

impl Context {
    /// The context of a module's own items.
    pub(super) fn of_module(module: ModuleId) -> Context {
        Context {
            module,
            generics: Vec::new(),
            numbers: FxHashMap::default(),
            self_type: None,
            associated: FxHashMap::default(),
        }
    }

    /// With the generic types of an item.
    pub(super) fn with(mut self, generics: &Generics) -> Context {
        self.generics.extend(type_parameters(generics));
        for parameter in generics.const_params() {
            if let syn::Type::Path(path) = &parameter.ty
                && let Some(ty) = path.path.get_ident()
                && let Some(scalar) = Scalar::from_name(&ty.to_string())
            {
                self.numbers.insert(name(&parameter.ident), scalar);
            }
        }
        self
    }
}

/// The names of the generic types, and of the numbers that stand among them.
pub(super) fn type_parameters(generics: &Generics) -> impl Iterator<Item = String> {
    generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(name(&parameter.ident)),
        GenericParam::Const(parameter) => Some(name(&parameter.ident)),
        GenericParam::Lifetime(_) => None,
    })
}

/// A name without `r#`.
pub(super) fn name(ident: &proc_macro2::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// A path without its generic arguments.
pub(super) fn import_of(path: &syn::Path) -> Import {
    Import {
        path: path.segments.iter().map(|segment| name(&segment.ident)).collect(),
        absolute: path.leading_colon.is_some(),
    }
}

impl Translation<'_> {
    /// The type that is written there.
    pub(super) fn type_of(&self, written: &syn::Type, context: &Context) -> Type {
        match written {
            syn::Type::Array(array) => {
                let length = self.number(&array.len, context.module);
                let length = length.and_then(|length| u64::try_from(length).ok());
                Type::Array(Box::new(self.type_of(&array.elem, context)), length)
            }
            syn::Type::Slice(slice) => Type::Slice(Box::new(self.type_of(&slice.elem, context))),
            syn::Type::Reference(reference) => {
                Type::Reference(Box::new(self.type_of(&reference.elem, context)))
            }
            syn::Type::Ptr(pointer) => {
                Type::Reference(Box::new(self.type_of(&pointer.elem, context)))
            }
            syn::Type::Tuple(tuple) => {
                Type::Tuple(tuple.elems.iter().map(|part| self.type_of(part, context)).collect())
            }
            syn::Type::Group(group) => self.type_of(&group.elem, context),
            syn::Type::Paren(paren) => self.type_of(&paren.elem, context),
            syn::Type::Never(_) => Type::Never,
            // To be inferred.
            syn::Type::Infer(_) => Type::Variable(0),
            syn::Type::FnPtr(function) => {
                let parameters = function.inputs.iter().map(|it| self.type_of(&it.ty, context));
                let parameters = parameters.collect();
                Type::Function(parameters, Box::new(self.result_of(&function.output, context)))
            }
            syn::Type::ImplTrait(it) => self.bounds(it.bounds.iter(), context),
            syn::Type::TraitObject(it) => self.bounds(it.bounds.iter(), context),
            syn::Type::Path(path) if path.qself.is_none() => self.named(&path.path, context),
            _ => Type::Unknown,
        }
    }

    /// The type that an annotation gives: never [`Type::Unknown`], which says that there is none.
    pub(super) fn annotation(&self, written: &syn::Type, context: &Context) -> Type {
        match self.type_of(written, context) {
            Type::Unknown => Type::External("?".to_owned(), Vec::new()),
            ty => ty,
        }
    }

    /// The type after `->`.
    pub(super) fn result_of(&self, written: &ReturnType, context: &Context) -> Type {
        match written {
            ReturnType::Default => Type::unit(),
            ReturnType::Type(_, written) => self.type_of(written, context),
        }
    }

    /// `impl A + B`; what can be called is a function.
    fn bounds<'b>(
        &self,
        bounds: impl Iterator<Item = &'b TypeParamBound>,
        context: &Context,
    ) -> Type {
        let mut traits = Vec::new();
        for bound in bounds {
            let TypeParamBound::Trait(bound) = bound else { continue };
            let Some(last) = bound.path.segments.last() else { continue };
            if let PathArguments::Parenthesized(arguments) = &last.arguments {
                let parameters = arguments.inputs.iter().map(|it| self.type_of(&it.ty, context));
                let parameters = parameters.collect();
                let result = Box::new(self.result_of(&arguments.output, context));
                return Type::Function(parameters, result);
            }
            traits.push(name(&last.ident));
        }
        Type::Trait(traits)
    }

    /// What each generic type of a function must be, as far as it is written.
    pub(super) fn bounds_of(
        &self,
        function: &super::declare::PendingFunction<'_>,
        context: &Context,
    ) -> Vec<Type> {
        let generics: Vec<&Generics> =
            function.outer.into_iter().chain([&function.signature.generics]).collect();
        let of = |parameter: &String| {
            let mut bounds: Vec<&TypeParamBound> = Vec::new();
            if parameter == "Self" {
                bounds.extend(function.supertraits.into_iter().flatten());
            }
            for generics in &generics {
                for written in &generics.params {
                    match written {
                        GenericParam::Type(it) if it.ident == parameter => {
                            bounds.extend(&it.bounds);
                        }
                        _ => {}
                    }
                }
                for predicate in generics.where_clause.iter().flat_map(|it| &it.predicates) {
                    match predicate {
                        syn::WherePredicate::Type(it) if is_named(&it.bounded_ty, parameter) => {
                            bounds.extend(&it.bounds);
                        }
                        _ => {}
                    }
                }
            }
            self.bounds(bounds.into_iter(), context)
        };
        context.generics.iter().map(of).collect()
    }

    /// A type by its path.
    pub(super) fn named(&self, path: &syn::Path, context: &Context) -> Type {
        if path.segments.first().is_some_and(|first| first.ident == "Self") {
            return match path.segments.len() {
                1 => context.self_type.clone().unwrap_or_default(),
                2 => {
                    let associated = context.associated.get(&name(&path.segments[1].ident));
                    associated.cloned().unwrap_or_default()
                }
                _ => Type::Unknown,
            };
        }
        let written = import_of(path);
        let arguments = path.segments.last().map(|last| self.arguments(&last.arguments, context));
        let arguments = arguments.unwrap_or_default();
        if let [first, rest @ ..] = written.path.as_slice()
            && context.generics.contains(first)
        {
            return if rest.is_empty() { Type::Parameter(first.clone()) } else { Type::Unknown };
        }
        match self.names.resolve(context.module, &written, Namespace::Types) {
            (Meaning::Definition(definition), used) if used == written.path.len() => {
                Type::Defined(definition, arguments)
            }
            (Meaning::Alias(alias), used) if used == written.path.len() => {
                self.alias(alias, arguments)
            }
            (Meaning::External(path), _) => external(&path, arguments),
            _ => Type::Unknown,
        }
    }

    /// The types among generic arguments.
    pub(super) fn arguments(&self, arguments: &PathArguments, context: &Context) -> Vec<Type> {
        let PathArguments::AngleBracketed(list) = arguments else { return Vec::new() };
        self.generic_arguments(list, context)
    }

    /// The types in `<..>`.
    pub(super) fn generic_arguments(
        &self,
        list: &syn::AngleBracketedGenericArguments,
        context: &Context,
    ) -> Vec<Type> {
        let one = |argument: &GenericArgument| match argument {
            GenericArgument::Type(written) => {
                let number = self.constant(written, context);
                Some(number.unwrap_or_else(|| self.type_of(written, context)))
            }
            GenericArgument::Const(written) => {
                Some(self.number(written, context.module).map_or(Type::Unknown, Type::Number))
            }
            _ => None,
        };
        list.args.iter().filter_map(one).collect()
    }

    /// The number of a constant whose name stands among types.
    fn constant(&self, written: &syn::Type, context: &Context) -> Option<Type> {
        let syn::Type::Path(path) = written else { return None };
        let first = path.path.get_ident()?;
        if context.generics.iter().any(|generic| first == generic) {
            return None;
        }
        let value =
            Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() });
        self.number(&value, context.module).map(Type::Number)
    }

    /// What an alias stands for.
    pub(super) fn alias(&self, alias: super::names::AliasId, arguments: Vec<Type>) -> Type {
        let alias = &self.aliases[alias.0];
        // An alias of an alias of itself is no Rust, but it can be written.
        let depth = self.alias_depth.get();
        if depth > 16 {
            return Type::Unknown;
        }
        self.alias_depth.set(depth + 1);
        let context =
            Context { generics: alias.generics.clone(), ..Context::of_module(alias.module) };
        let ty = self.type_of(&alias.written, &context);
        self.alias_depth.set(depth);
        let replaced = alias.generics.iter().cloned().zip(arguments).collect();
        substitute(ty, &replaced)
    }

    /// A whole number that is written, or made of constants: the length of an array.
    pub(super) fn number(&self, expression: &Expr, module: ModuleId) -> Option<i128> {
        self.number_within(expression, module, 16)
    }

    fn number_within(&self, expression: &Expr, module: ModuleId, depth: u32) -> Option<i128> {
        let depth = depth.checked_sub(1)?;
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Int(number) => number.base10_parse().ok(),
                syn::Lit::Byte(byte) => Some(byte.value().into()),
                _ => None,
            },
            Expr::Block(block) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(inner, None)] => self.number_within(inner, module, depth),
                _ => None,
            },
            Expr::Paren(inner) => self.number_within(&inner.expr, module, depth),
            Expr::Group(inner) => self.number_within(&inner.expr, module, depth),
            Expr::Cast(inner) => self.number_within(&inner.expr, module, depth),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
                self.number_within(&unary.expr, module, depth)?.checked_neg()
            }
            Expr::Binary(binary) => {
                let left = self.number_within(&binary.left, module, depth)?;
                let right = self.number_within(&binary.right, module, depth)?;
                match binary.op {
                    syn::BinOp::Add(_) => left.checked_add(right),
                    syn::BinOp::Sub(_) => left.checked_sub(right),
                    syn::BinOp::Mul(_) => left.checked_mul(right),
                    syn::BinOp::Div(_) => left.checked_div(right),
                    syn::BinOp::Rem(_) => left.checked_rem(right),
                    syn::BinOp::Shl(_) if (0..64).contains(&right) => {
                        left.checked_shl(right as u32)
                    }
                    _ => None,
                }
            }
            Expr::Path(path) if path.qself.is_none() => {
                let written = import_of(&path.path);
                match self.names.resolve(module, &written, Namespace::Values) {
                    (Meaning::Global(global), used) if used == written.path.len() => {
                        let (module, value) = self.numbers.get(&global)?;
                        self.number_within(value, *module, depth)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn is_named(ty: &syn::Type, name: &str) -> bool {
    matches!(ty, syn::Type::Path(path) if path.qself.is_none() && path.path.is_ident(name))
}

/// A type of a library; text and numbers are types of the language.
fn external(path: &[String], arguments: Vec<Type>) -> Type {
    let Some(last) = path.last() else { return Type::Unknown };
    if let Some(scalar) = Scalar::from_name(last).filter(|_| arguments.is_empty()) {
        return Type::Scalar(scalar);
    }
    let number = match last.as_str() {
        "str" | "String" => return Type::Text,
        "Rank" | "Tag" | "Count" if path[0] == "mpi" || path.len() == 1 => Scalar::I32,
        "Address" if path[0] == "mpi" => Scalar::I64,
        "c_int" => Scalar::I32,
        "c_uint" => Scalar::U32,
        "c_long" | "c_longlong" => Scalar::I64,
        "c_ulong" | "c_ulonglong" => Scalar::U64,
        "c_double" => Scalar::F64,
        "c_float" => Scalar::F32,
        "c_char" | "c_schar" => Scalar::I8,
        "c_uchar" => Scalar::U8,
        _ => return Type::External(last.clone(), arguments),
    };
    Type::Scalar(number)
}

/// Replaces generic parameters by types.
pub(super) fn substitute(ty: Type, replaced: &FxHashMap<String, Type>) -> Type {
    let all = |types: Vec<Type>| types.into_iter().map(|ty| substitute(ty, replaced)).collect();
    let boxed = |ty: Box<Type>| Box::new(substitute(*ty, replaced));
    match ty {
        Type::Parameter(name) => replaced.get(&name).cloned().unwrap_or(Type::Parameter(name)),
        Type::Tuple(parts) => Type::Tuple(all(parts)),
        Type::Array(element, length) => Type::Array(boxed(element), length),
        Type::Slice(element) => Type::Slice(boxed(element)),
        Type::Reference(inner) => Type::Reference(boxed(inner)),
        Type::Defined(definition, arguments) => Type::Defined(definition, all(arguments)),
        Type::External(name, arguments) => Type::External(name, all(arguments)),
        Type::Function(parameters, result) => Type::Function(all(parameters), boxed(result)),
        other => other,
    }
}
