//! Patterns.

use rustc_hash::FxHashMap;
use syn::{Member, Pat};

use super::super::names::{Meaning, Namespace};
use super::super::types::{import_of, name};
use super::Body;
use crate::program::{DefinitionId, Expression, FieldPattern, Kind, Pattern, Type, VariableId};

impl Body<'_, '_> {
    /// A pattern, with its variables visible from here on.
    pub(super) fn pattern(&mut self, written: &Pat) -> Pattern {
        self.pattern_with(written, &mut FxHashMap::default())
    }

    /// `bound`: the variables that this pattern has bound already, for the other alternatives.
    fn pattern_with(
        &mut self,
        written: &Pat,
        bound: &mut FxHashMap<String, VariableId>,
    ) -> Pattern {
        match written {
            Pat::Wild(_) => Pattern::Wildcard,
            Pat::Rest(_) => Pattern::Rest,
            Pat::Ident(ident) => self.ident_pattern(ident, bound),
            Pat::Paren(inner) => self.pattern_with(&inner.pat, bound),
            Pat::Guard(inner) => self.pattern_with(&inner.pat, bound),
            Pat::Reference(inner) => {
                Pattern::Reference(Box::new(self.pattern_with(&inner.pat, bound)))
            }
            Pat::Type(typed) => {
                let pattern = self.pattern_with(&typed.pat, bound);
                if let Pattern::Variable(variable, _) = &pattern {
                    let ty = self.translation.annotation(&typed.ty, &self.context);
                    self.variables[variable.0 as usize].ty = ty;
                }
                pattern
            }
            Pat::Tuple(tuple) => Pattern::Tuple(self.patterns(&tuple.elems, bound)),
            Pat::Slice(slice) => Pattern::Slice(self.patterns(&slice.elems, bound)),
            Pat::Or(or) => {
                Pattern::Or(or.cases.iter().map(|it| self.pattern_with(it, bound)).collect())
            }
            Pat::Lit(literal) => Pattern::Value(Box::new(self.literal(&literal.lit))),
            Pat::Range(range) => {
                let end = |body: &mut Self, end: &Option<Box<syn::Expr>>| {
                    end.as_ref().map(|end| Box::new(body.expression(end)))
                };
                let start = end(self, &range.start);
                let last = end(self, &range.end);
                let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                Pattern::Range(start, last, inclusive)
            }
            Pat::Const(block) => {
                Pattern::Value(Box::new(self.block_expression(&block.block, None)))
            }
            Pat::Path(path) => self.path_pattern(path),
            Pat::Struct(it) => self.struct_pattern(it, bound),
            Pat::TupleStruct(it) => self.tuple_struct_pattern(it, bound),
            _ => Pattern::Unknown,
        }
    }

    fn patterns<P>(
        &mut self,
        written: &syn::punctuated::Punctuated<Pat, P>,
        bound: &mut FxHashMap<String, VariableId>,
    ) -> Vec<Pattern> {
        written.iter().map(|it| self.pattern_with(it, bound)).collect()
    }

    fn ident_pattern(
        &mut self,
        written: &syn::PatIdent,
        bound: &mut FxHashMap<String, VariableId>,
    ) -> Pattern {
        let own = name(&written.ident);
        let plain =
            written.by_ref.is_none() && written.mutability.is_none() && written.subpat.is_none();
        if plain && let Some(pattern) = self.constant_pattern(written, &own) {
            return pattern;
        }
        let variable = match bound.get(&own) {
            Some(&variable) => variable,
            None => {
                let variable = self.bind(&own, Type::Unknown);
                bound.insert(own, variable);
                variable
            }
        };
        let inner = written.subpat.as_ref();
        let inner = inner.map(|(_, inner)| Box::new(self.pattern_with(inner, bound)));
        Pattern::Variable(variable, inner)
    }

    /// A name that is no new variable: a constant, a unit struct, a variant.
    fn constant_pattern(&mut self, written: &syn::PatIdent, own: &str) -> Option<Pattern> {
        let path: syn::Path = written.ident.clone().into();
        let import = import_of(&path);
        let (meaning, _) =
            self.translation.names.resolve(self.context.module, &import, Namespace::Values);
        match meaning {
            Meaning::Global(global) => {
                let value = self.at(Kind::Global(global), written.ident.span());
                Some(Pattern::Value(Box::new(value)))
            }
            Meaning::Variant(definition, variant) => {
                Some(Pattern::Defined { definition, variant, fields: Vec::new() })
            }
            Meaning::Definition(definition) if self.has_no_fields(definition) => {
                Some(Pattern::Defined { definition, variant: 0, fields: Vec::new() })
            }
            Meaning::External(_) if own == "None" => {
                Some(Pattern::External(own.to_owned(), Vec::new()))
            }
            Meaning::External(path) if path.len() > 1 && own.starts_with(char::is_uppercase) => {
                let value = self.at(Kind::External(path.into(), Vec::new()), written.ident.span());
                Some(Pattern::Value(Box::new(value)))
            }
            // By Rust's own convention variables are written small.
            Meaning::External(_) if own.starts_with(char::is_uppercase) => {
                Some(Pattern::External(own.to_owned(), Vec::new()))
            }
            _ => None,
        }
    }

    fn has_no_fields(&self, definition: DefinitionId) -> bool {
        let definition = self.translation.program.definition(definition);
        !definition.is_enum && definition.variants.iter().all(|it| it.fields.is_empty())
    }

    fn path_pattern(&mut self, written: &syn::ExprPath) -> Pattern {
        let value = self.path(written);
        match value.kind {
            Kind::Construct { definition, variant, .. } => {
                Pattern::Defined { definition, variant, fields: Vec::new() }
            }
            Kind::External(path, _) if names_a_variant(&path) => {
                let last = path.last().cloned().unwrap_or_default();
                Pattern::External(last, Vec::new())
            }
            _ => Pattern::Value(Box::new(value)),
        }
    }

    fn struct_pattern(
        &mut self,
        written: &syn::PatStruct,
        bound: &mut FxHashMap<String, VariableId>,
    ) -> Pattern {
        let fields: Vec<FieldPattern> = written
            .fields
            .iter()
            .map(|field| FieldPattern {
                name: member(&field.member),
                pattern: self.pattern_with(&field.pat, bound),
            })
            .collect();
        match self.constructor(&written.path) {
            Some((definition, variant)) => Pattern::Defined { definition, variant, fields },
            None => Pattern::Unknown,
        }
    }

    fn tuple_struct_pattern(
        &mut self,
        written: &syn::PatTupleStruct,
        bound: &mut FxHashMap<String, VariableId>,
    ) -> Pattern {
        let patterns = self.patterns(&written.elems, bound);
        let Some((definition, variant)) = self.constructor(&written.path) else {
            let last = written.path.segments.last().map(|last| name(&last.ident));
            return Pattern::External(last.unwrap_or_default(), patterns);
        };
        let count = self.translation.program.definition(definition).variants.get(variant as usize);
        let count = count.map_or(0, |variant| variant.fields.len());
        let rest = patterns.iter().position(|it| matches!(it, Pattern::Rest));
        let given = patterns.len();
        let mut fields = Vec::new();
        for (at, pattern) in patterns.into_iter().enumerate() {
            let number = match rest {
                Some(rest) if at == rest => continue,
                // What follows `..` is counted from the end.
                Some(rest) if at > rest => (count + at).saturating_sub(given),
                _ => at,
            };
            fields.push(FieldPattern { name: number.to_string(), pattern });
        }
        Pattern::Defined { definition, variant, fields }
    }

    /// The struct, or the enum and its variant, that a path means.
    pub(super) fn constructor(&self, path: &syn::Path) -> Option<(DefinitionId, u32)> {
        let written = import_of(path);
        if written.path.first().is_some_and(|first| first == "Self") {
            let definition = self.translation.self_definition(&self.context)?;
            return match written.path.as_slice() {
                [_] => Some((definition, 0)),
                [_, variant] => {
                    Some((definition, self.translation.names.variant(definition, variant)?))
                }
                _ => None,
            };
        }
        let module = self.context.module;
        let resolved = self.translation.names.resolve(module, &written, Namespace::Types);
        match resolved {
            (Meaning::Definition(definition), used) if used == written.path.len() => {
                Some((definition, 0))
            }
            (Meaning::Variant(definition, variant), _) => Some((definition, variant)),
            (Meaning::Alias(alias), used) => {
                let Type::Defined(definition, _) = self.translation.alias(alias, Vec::new()) else {
                    return None;
                };
                match written.path.get(used) {
                    None => Some((definition, 0)),
                    Some(variant) => {
                        Some((definition, self.translation.names.variant(definition, variant)?))
                    }
                }
            }
            _ => None,
        }
    }

    /// A value that a pattern takes apart: behind a reference where the pattern says `ref`, so
    /// that its variables refer to the value's parts.
    pub(super) fn matched(&mut self, value: Expression, pattern: &Pat) -> Expression {
        let names_a_place = matches!(
            value.kind,
            Kind::Variable(_) | Kind::Field(..) | Kind::Index(..) | Kind::Dereference(_)
        );
        if !names_a_place || !by_reference(pattern) {
            return value;
        }
        let bytes = self.bytes_of(&value);
        self.make(Kind::Reference { of: Box::new(value), mutable: true }, bytes)
    }
}

/// Whether `ref` stands in a pattern.
pub(super) fn by_reference(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(it) => {
            it.by_ref.is_some() || it.subpat.as_ref().is_some_and(|(_, it)| by_reference(it))
        }
        Pat::Guard(it) => by_reference(&it.pat),
        Pat::Or(it) => it.cases.iter().any(by_reference),
        Pat::Paren(it) => by_reference(&it.pat),
        Pat::Slice(it) => it.elems.iter().any(by_reference),
        Pat::Struct(it) => it.fields.iter().any(|field| by_reference(&field.pat)),
        Pat::Tuple(it) => it.elems.iter().any(by_reference),
        Pat::TupleStruct(it) => it.elems.iter().any(by_reference),
        Pat::Type(it) => by_reference(&it.pat),
        _ => false,
    }
}

/// `Ordering::Less` rather than `i32::MAX` or `consts::PI`.
fn names_a_variant(path: &[String]) -> bool {
    path.last().is_some_and(|last| {
        last.starts_with(char::is_uppercase) && last.chars().any(char::is_lowercase)
    })
}

/// A field's name; its number in a tuple.
pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Named(ident) => name(ident),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
