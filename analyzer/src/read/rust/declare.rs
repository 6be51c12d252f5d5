//! Items: first their names, so that everything can name everything; then their types and
//! signatures. Their bodies are left for [`super::lower`].

use syn::{Attribute, Item, ItemImpl, UseTree, Visibility};

use super::cfg::{Built, built};
use super::names::{Import, Meaning, ModuleId};
use super::translation::{Alias, Candidate, Translation};
use super::types::{Context, name, type_parameters};
use crate::program::{DefinitionId, FunctionId, GlobalId};

/// `A + B`
pub(super) type Bounds = syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>;

/// Items whose names are declared, and what else is to be done for each.
#[derive(Default)]
pub(super) struct Pending<'x> {
    pub(super) functions: Vec<PendingFunction<'x>>,
    pub(super) globals: Vec<PendingGlobal<'x>>,
    pub(super) definitions: Vec<PendingDefinition<'x>>,
    pub(super) impls: Vec<PendingImpl<'x>>,
}

/// A function whose signature and body are to be read.
pub(super) struct PendingFunction<'x> {
    pub(super) id: FunctionId,
    pub(super) context: Context,
    pub(super) signature: &'x syn::Signature,
    /// The generics of the `impl` or the trait around it.
    pub(super) outer: Option<&'x syn::Generics>,
    /// What `Self` must be, in a trait.
    pub(super) supertraits: Option<&'x Bounds>,
    pub(super) block: Option<&'x syn::Block>,
    pub(super) attributes: &'x [Attribute],
    pub(super) is_public: bool,
    pub(super) built: Built,
}

/// A constant or a static variable whose value is to be read.
pub(super) struct PendingGlobal<'x> {
    pub(super) id: GlobalId,
    pub(super) context: Context,
    pub(super) ty: &'x syn::Type,
    pub(super) value: Option<&'x syn::Expr>,
}

/// A struct or an enum whose fields are to be read.
pub(super) struct PendingDefinition<'x> {
    pub(super) id: DefinitionId,
    pub(super) context: Context,
    pub(super) shape: Shape<'x>,
}

/// What a definition looks like.
pub(super) enum Shape<'x> {
    Struct(String, &'x syn::Fields),
    Enum(Vec<&'x syn::Variant>),
}

/// An `impl` whose type is to be read.
pub(super) struct PendingImpl<'x> {
    pub(super) item: &'x ItemImpl,
    pub(super) module: ModuleId,
    pub(super) built: Built,
}

impl<'f> Translation<'f> {
    /// Declares what stands in a module. `inline`: the names of the modules around it in its file.
    pub(super) fn declare<'x>(
        &mut self,
        items: &'x [Item],
        module: ModuleId,
        inline: &[String],
        surely: Built,
        pending: &mut Pending<'x>,
    ) where
        'f: 'x,
    {
        for item in items {
            let file = self.names.module(module).file;
            let built = built(attributes(item), &self.files[file].features).min(surely);
            if built == Built::Never {
                continue;
            }
            let sure = built == Built::Always;
            match item {
                Item::Mod(item) => self.declare_module(item, module, inline, built, pending),
                Item::Use(item) => {
                    let start = Import { path: Vec::new(), absolute: item.leading_colon.is_some() };
                    self.declare_use(&item.tree, module, start);
                }
                Item::ExternCrate(item) => {
                    let (_, here) =
                        item.rename.as_ref().map_or((None, &item.ident), |(a, b)| (Some(a), b));
                    let path = vec![name(&item.ident)];
                    self.names.import(module, Some(&name(here)), Import { path, absolute: true });
                }
                Item::Type(item) => {
                    let alias = self.add_alias(Alias {
                        module,
                        generics: type_parameters(&item.generics).collect(),
                        written: (*item.ty).clone(),
                    });
                    self.names.declare(module, &name(&item.ident), Meaning::Alias(alias), sure);
                }
                Item::Macro(item) => self.macros.add(item),
                Item::Trait(item) => self.declare_trait(item, module, built, pending),
                Item::Impl(item) => pending.impls.push(PendingImpl { item, module, built }),
                _ => self.declare_value(item, module, built, pending),
            }
        }
    }

    /// A function, a constant, a struct.
    fn declare_value<'x>(
        &mut self,
        item: &'x Item,
        module: ModuleId,
        built: Built,
        pending: &mut Pending<'x>,
    ) {
        let sure = built == Built::Always;
        match item {
            Item::Fn(item) => {
                let id = self.function_named(&item.sig.ident, module);
                self.names.declare(module, &name(&item.sig.ident), Meaning::Function(id), sure);
                pending.functions.push(PendingFunction {
                    id,
                    context: Context::of_module(module),
                    signature: &item.sig,
                    outer: None,
                    supertraits: None,
                    block: Some(&item.block),
                    attributes: &item.attrs,
                    is_public: matches!(item.vis, Visibility::Public(_)),
                    built,
                });
            }
            Item::Const(item) => {
                let id = self.global_named(&item.ident, module, false);
                self.note_number(id, module, &item.expr);
                self.names.declare(module, &name(&item.ident), Meaning::Global(id), sure);
                let context = Context::of_module(module);
                let value = Some(&*item.expr);
                pending.globals.push(PendingGlobal { id, context, ty: &item.ty, value });
            }
            Item::Static(item) => {
                let mutable = matches!(item.mutability, syn::StaticMutability::Mut(_))
                    || has_interior_mutability(&item.ty);
                let id = self.global_named(&item.ident, module, mutable);
                self.names.declare(module, &name(&item.ident), Meaning::Global(id), sure);
                let context = Context::of_module(module);
                let value = Some(&*item.expr);
                pending.globals.push(PendingGlobal { id, context, ty: &item.ty, value });
            }
            Item::Struct(item) => {
                let own = name(&item.ident);
                let shape = Shape::Struct(own.clone(), &item.fields);
                self.define(own, module, sure, (&item.generics, &item.attrs), shape, pending);
            }
            Item::Enum(item) => {
                let shape = Shape::Enum(item.variants.iter().collect());
                let own = name(&item.ident);
                self.define(own, module, sure, (&item.generics, &item.attrs), shape, pending);
            }
            // Macros that declare items are not read: what they declare is not known by any name.
            _ => {}
        }
    }

    /// A function with the name and the place of this word.
    pub(super) fn function_named(&mut self, ident: &syn::Ident, module: ModuleId) -> FunctionId {
        let file = self.names.module(module).file;
        let bytes = self.bytes(file, ident.span());
        let place = self.place(file, bytes);
        self.add_function(self.names.path_of(module, &name(ident)), place)
    }

    /// A constant or a static variable with the name and the place of this word.
    pub(super) fn global_named(
        &mut self,
        ident: &syn::Ident,
        module: ModuleId,
        mutable: bool,
    ) -> GlobalId {
        let file = self.names.module(module).file;
        let bytes = self.bytes(file, ident.span());
        let place = self.place(file, bytes);
        self.add_global(self.names.path_of(module, &name(ident)), place, mutable)
    }

    /// Keeps what a constant is made of, for the lengths of arrays.
    pub(super) fn note_number(&mut self, id: GlobalId, module: ModuleId, value: &syn::Expr) {
        use syn::Expr::{Binary, Cast, Lit, Paren, Path, Unary};
        if matches!(value, Lit(_) | Binary(_) | Cast(_) | Paren(_) | Path(_) | Unary(_)) {
            self.numbers.insert(id, (module, value.clone()));
        }
    }

    fn define<'x>(
        &mut self,
        own: String,
        module: ModuleId,
        sure: bool,
        (generics, attributes): (&syn::Generics, &[Attribute]),
        shape: Shape<'x>,
        pending: &mut Pending<'x>,
    ) {
        let id =
            self.add_definition(self.names.path_of(module, &own), matches!(shape, Shape::Enum(_)));
        self.names.declare(module, &own, Meaning::Definition(id), sure);
        if let Shape::Enum(variants) = &shape {
            let names = variants.iter().map(|variant| name(&variant.ident)).collect();
            self.names.declare_variants(id, names);
        }
        let context = Context::of_module(module).with(generics);
        let definition = &mut self.program.definitions[id.0 as usize];
        definition.generics.clone_from(&context.generics);
        definition.traits = derived(attributes);
        pending.definitions.push(PendingDefinition { id, context, shape });
    }

    fn declare_module<'x>(
        &mut self,
        item: &'x syn::ItemMod,
        parent: ModuleId,
        inline: &[String],
        built: Built,
        pending: &mut Pending<'x>,
    ) where
        'f: 'x,
    {
        // A protocol is no module once the macro has read it.
        if item.attrs.iter().any(|attribute| is_protocol(attribute.path())) {
            return;
        }
        let own = name(&item.ident);
        let file = self.names.module(parent).file;
        let mut inside = inline.to_vec();
        inside.push(own.clone());
        match &item.content {
            Some((_, items)) => {
                let module = self.names.add_module(parent, &own, file);
                let sure = built == Built::Always;
                self.names.declare(parent, &own, Meaning::Module(module), sure);
                self.declare(items, module, &inside, built, pending);
            }
            None => {
                let files = self.files;
                let Some(&child) = files[file].modules.get(&inside) else { return };
                let module = self.names.add_module(parent, &own, child);
                let sure = built == Built::Always;
                self.names.declare(parent, &own, Meaning::Module(module), sure);
                self.declare(&files[child].items, module, &[], built, pending);
            }
        }
    }

    fn declare_use(&mut self, tree: &UseTree, module: ModuleId, start: Import) {
        let joined = |part: &syn::Ident| {
            let mut import = start.clone();
            import.path.push(name(part));
            import
        };
        match tree {
            UseTree::Path(path) => self.declare_use(&path.tree, module, joined(&path.ident)),
            UseTree::Name(it) if it.ident == "self" => {
                if let Some(own) = start.path.last().cloned() {
                    self.names.import(module, Some(&own), start);
                }
            }
            UseTree::Name(it) => {
                self.names.import(module, Some(&name(&it.ident)), joined(&it.ident));
            }
            UseTree::Rename(it) => {
                let import = if it.ident == "self" { start } else { joined(&it.ident) };
                self.names.import(module, Some(&name(&it.rename)), import);
            }
            UseTree::Glob(_) => self.names.import(module, None, start),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.declare_use(tree, module, start.clone());
                }
            }
        }
    }

    /// Reads the types of what is declared. Adds the functions of `impl`s to those whose bodies are
    /// to be read.
    pub(super) fn complete(&mut self, pending: &mut Pending<'_>) {
        for definition in &pending.definitions {
            self.complete_definition(definition);
        }
        for pending_impl in std::mem::take(&mut pending.impls) {
            self.complete_impl(&pending_impl, pending);
        }
        for function in &pending.functions {
            self.complete_signature(function);
        }
        for global in &pending.globals {
            let ty = self.type_of(global.ty, &global.context);
            self.program.globals[global.id.0 as usize].ty = ty;
        }
    }

    fn complete_signature(&mut self, function: &PendingFunction<'_>) {
        let PendingFunction { id, context, signature, .. } = function;
        let context = context.clone().with(&signature.generics);
        let result = self.result_of(&signature.output, &context);
        let bounds = self.bounds_of(function, &context);
        let receiver = signature.receiver();
        let takes_communicator = super::entries::takes_communicator(signature);
        let root = self.names.root_of(context.module);
        self.candidates.push(Candidate {
            function: *id,
            root,
            in_root: context.module == root && function.context.self_type.is_none(),
            is_test: super::entries::is_test(function.attributes),
            is_public: function.is_public && receiver.is_none() && function.built == Built::Always,
            takes_communicator,
            role: super::entries::role(function.attributes),
        });
        let function = &mut self.program.functions[id.0 as usize];
        function.is_method = receiver.is_some();
        function.result = result;
        function.generics = context.generics;
        function.bounds = bounds;
    }
}

/// `#[p2p_protocol]` under any path.
pub(super) fn is_protocol(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == crate::read::find::ATTRIBUTE)
}

/// The traits in `#[derive(..)]`, by their last names.
fn derived(attributes: &[Attribute]) -> Vec<String> {
    let mut traits = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        _ = attribute.parse_nested_meta(|meta| {
            traits.extend(meta.path.segments.last().map(|last| name(&last.ident)));
            Ok(())
        });
    }
    traits
}

/// Whether a static variable of this type can change.
fn has_interior_mutability(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        let holds = ["Mutex", "RwLock", "RefCell", "Cell", "UnsafeCell", "OnceLock", "OnceCell"];
        holds.contains(&name.as_str()) || name.starts_with("Atomic")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
