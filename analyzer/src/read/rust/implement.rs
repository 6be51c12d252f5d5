//! Traits and `impl`s: what belongs to which type.

use rustc_hash::FxHashMap;
use syn::{ImplItem, ItemImpl, ItemTrait, TraitItem, Visibility};

use super::cfg::{Built, built};
use super::declare::{Pending, PendingFunction, PendingGlobal, PendingImpl};
use super::names::{Meaning, ModuleId, Namespace, TraitId};
use super::translation::Translation;
use super::types::{Context, import_of, name};
use crate::program::{DefinitionId, Type};

impl Translation<'_> {
    /// Declares a trait and its functions.
    pub(super) fn declare_trait<'x>(
        &mut self,
        item: &'x ItemTrait,
        module: ModuleId,
        built: Built,
        pending: &mut Pending<'x>,
    ) {
        let own = name(&item.ident);
        let id = self.add_trait(own.clone());
        self.names.declare(module, &own, Meaning::Trait(id), built == Built::Always);
        let mut context = Context::of_module(module);
        context.generics.push("Self".to_owned());
        context.self_type = Some(Type::Parameter("Self".to_owned()));
        let context = context.with(&item.generics);
        let around = item;
        for item in &item.items {
            match item {
                TraitItem::Fn(item) => {
                    self.declare_trait_function((around, item), id, &context, pending);
                }
                TraitItem::Const(item) => {
                    let Some((_, value)) = &item.default else { continue };
                    let global = self.global_named(&item.ident, module, false);
                    self.constants.insert((None, name(&item.ident)), global);
                    let context = context.clone();
                    pending.globals.push(PendingGlobal {
                        id: global,
                        context,
                        ty: &item.ty,
                        value: Some(value),
                    });
                }
                _ => {}
            }
        }
    }

    fn declare_trait_function<'x>(
        &mut self,
        (around, item): (&'x ItemTrait, &'x syn::TraitItemFn),
        of: TraitId,
        context: &Context,
        pending: &mut Pending<'x>,
    ) {
        let own = name(&item.sig.ident);
        self.traits[of.0].functions.push((own.clone(), item.sig.receiver().is_some()));
        let Some(block) = &item.default else { return };
        let id = self.function_named(&item.sig.ident, context.module);
        let full = format!("{}::{own}", self.traits[of.0].name);
        let full = self.names.path_of(context.module, &full);
        self.program.functions[id.0 as usize].name = full;
        self.traits[of.0].defaults.push((own, id));
        pending.functions.push(PendingFunction {
            id,
            context: context.clone(),
            signature: &item.sig,
            outer: Some(&around.generics),
            supertraits: Some(&around.supertraits),
            block: Some(block),
            attributes: &item.attrs,
            is_public: false,
            built: Built::InTests,
        });
    }

    /// Declares the functions of an `impl`, under its type.
    pub(super) fn complete_impl<'x>(
        &mut self,
        pending_impl: &PendingImpl<'x>,
        pending: &mut Pending<'x>,
    ) {
        let PendingImpl { item, module, built: around } = *pending_impl;
        let mut context = Context::of_module(module).with(&item.generics);
        let self_type = self.type_of(&item.self_ty, &context);
        context.self_type = Some(self_type);
        context.associated = self.associated_types(item, &context);
        let owner = self.self_definition(&context);
        let self_name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| name(&last.ident)),
            _ => None,
        };
        let self_name = self.names.path_of(module, &self_name.unwrap_or_else(|| "impl".into()));
        let mut own_names = Vec::new();
        let file = self.names.module(module).file;
        let generics = &item.generics;
        for item in &item.items {
            match item {
                ImplItem::Fn(item) => {
                    let built = built(&item.attrs, &self.files[file].features).min(around);
                    if built == Built::Never {
                        continue;
                    }
                    let own = name(&item.sig.ident);
                    let id = self.function_named(&item.sig.ident, module);
                    self.program.functions[id.0 as usize].name = format!("{self_name}::{own}");
                    self.add_method(owner, &own, id);
                    own_names.push(own);
                    pending.functions.push(PendingFunction {
                        id,
                        context: context.clone(),
                        signature: &item.sig,
                        outer: Some(generics),
                        supertraits: None,
                        block: Some(&item.block),
                        attributes: &item.attrs,
                        is_public: matches!(item.vis, Visibility::Public(_)),
                        built,
                    });
                }
                ImplItem::Const(item) => {
                    let id = self.global_named(&item.ident, module, false);
                    let full = format!("{self_name}::{}", name(&item.ident));
                    self.program.globals[id.0 as usize].name = full;
                    self.note_number(id, module, &item.expr);
                    self.constants.insert((owner, name(&item.ident)), id);
                    let context = context.clone();
                    let value = Some(&item.expr);
                    pending.globals.push(PendingGlobal { id, context, ty: &item.ty, value });
                }
                _ => {}
            }
        }
        if let Some((path, _)) = &item.trait_ {
            self.implement(path, owner, module, &own_names);
        }
    }

    fn associated_types(&self, item: &ItemImpl, context: &Context) -> FxHashMap<String, Type> {
        let types = item.items.iter().filter_map(|item| match item {
            ImplItem::Type(item) => Some((name(&item.ident), self.type_of(&item.ty, context))),
            _ => None,
        });
        types.collect()
    }

    /// `impl path for owner`: its default methods are the owner's too.
    fn implement(
        &mut self,
        path: &syn::Path,
        owner: Option<DefinitionId>,
        module: ModuleId,
        own: &[String],
    ) {
        if let (Some(owner), Some(last)) = (owner, path.segments.last()) {
            self.program.definitions[owner.0 as usize].traits.push(name(&last.ident));
        }
        let written = import_of(path);
        let (meaning, _) = self.names.resolve(module, &written, Namespace::Types);
        let Meaning::Trait(id) = meaning else { return };
        for (method, function) in self.traits[id.0].defaults.clone() {
            if !own.contains(&method) {
                self.add_method(owner, &method, function);
            }
        }
    }
}
