//! The fields of structs and enums, and the numbers that stand for variants.

use super::declare::{PendingDefinition, Shape};
use super::names::ModuleId;
use super::translation::Translation;
use super::types::{Context, name};
use crate::program::{Type, Variant};

impl Translation<'_> {
    /// Reads the fields of a struct or an enum.
    pub(super) fn complete_definition(&mut self, pending: &PendingDefinition<'_>) {
        let mut context = pending.context.clone();
        let parameters = context.generics.iter().cloned().map(Type::Parameter).collect();
        context.self_type = Some(Type::Defined(pending.id, parameters));
        let variants = match &pending.shape {
            Shape::Struct(own, fields) => vec![Variant {
                name: own.clone(),
                fields: self.fields(fields, &context),
                discriminant: None,
            }],
            Shape::Enum(variants) => self.variants(variants, &context),
        };
        self.program.definitions[pending.id.0 as usize].variants = variants;
    }

    fn fields(&self, fields: &syn::Fields, context: &Context) -> Vec<(String, Type)> {
        let named = fields.iter().enumerate().map(|(at, field)| {
            let own = field.ident.as_ref().map_or_else(|| at.to_string(), name);
            (own, self.type_of(&field.ty, context))
        });
        named.collect()
    }

    fn variants(&self, variants: &[&syn::Variant], context: &Context) -> Vec<Variant> {
        let mut next = Some(0_i128);
        let mut read = Vec::new();
        for variant in variants {
            if let Some((_, written)) = &variant.discriminant {
                next = self.discriminant(written, context.module);
            }
            read.push(Variant {
                name: name(&variant.ident),
                fields: self.fields(&variant.fields, context),
                discriminant: next,
            });
            next = next.and_then(|number| number.checked_add(1));
        }
        read
    }

    fn discriminant(&self, written: &syn::Expr, module: ModuleId) -> Option<i128> {
        self.number(written, module)
    }
}
