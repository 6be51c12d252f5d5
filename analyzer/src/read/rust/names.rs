//! Modules, what is declared in them, and what a path means at one of their points.
//!
//! Resolution is lazy: a `use` is followed when a name that it brings is looked up. What no module of
//! the program declares belongs to a library, and is a path there.

use rustc_hash::FxHashMap;

use crate::program::{DefinitionId, FunctionId, GlobalId};

/// A module, or the inside of a block that declares items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ModuleId(pub(super) usize);

/// A type alias: an index into the translation's aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AliasId(pub(super) usize);

/// A trait: an index into the translation's traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TraitId(pub(super) usize);

/// What has been looked up on the way to one answer; `None` also while it is looked for.
type Seen = FxHashMap<(ModuleId, String, Namespace), Option<Meaning>>;

/// In which of Rust's two namespaces a name is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Namespace {
    Types,
    Values,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Module(ModuleId),
    Definition(DefinitionId),
    Variant(DefinitionId, u32),
    Alias(AliasId),
    Trait(TraitId),
    Function(FunctionId),
    Global(GlobalId),
    /// Something of a library, by its path.
    External(Vec<String>),
}

/// A declaration and how sure it is that builds have it: of two with one name the surer one counts.
#[derive(Clone, Debug)]
struct Declared {
    meaning: Meaning,
    sure: bool,
}

/// What `use` says.
#[derive(Clone, Debug)]
pub(super) struct Import {
    /// The path, with `self`, `super` and `crate` as they stand there.
    pub(super) path: Vec<String>,
    /// It begins with `::`: the first name is a crate's.
    pub(super) absolute: bool,
}

/// A module.
#[derive(Clone, Debug)]
pub(super) struct Module {
    /// Where names go on to be looked up: the block's function's module; for `super` in a module.
    parent: Option<ModuleId>,
    /// The crate's root.
    root: ModuleId,
    /// It is a block: names that it does not have are looked up around it.
    is_block: bool,
    /// Its path, as reports write it; empty for the root of the program itself.
    pub(super) path: String,
    /// The file that it stands in.
    pub(super) file: usize,
    types: FxHashMap<String, Declared>,
    values: FxHashMap<String, Declared>,
    imports: FxHashMap<String, Vec<Import>>,
    globs: Vec<Import>,
}

/// All modules of a program.
#[derive(Debug, Default)]
pub(super) struct Names {
    modules: Vec<Module>,
    /// The roots of the crates that are read with the program, by the name they have in it.
    crates: FxHashMap<String, ModuleId>,
    /// What dependencies are called in this package that have another name of their own.
    renamed: FxHashMap<String, String>,
    /// The variants of each enum.
    variants: FxHashMap<DefinitionId, Vec<String>>,
}

impl Names {
    /// Adds the root of a crate.
    pub(super) fn add_root(&mut self, path: String, file: usize) -> ModuleId {
        let id = ModuleId(self.modules.len());
        self.modules.push(Module::new(None, id, path, file));
        id
    }

    /// Adds a module inside another one.
    pub(super) fn add_module(&mut self, parent: ModuleId, name: &str, file: usize) -> ModuleId {
        let id = ModuleId(self.modules.len());
        let path = self.path_of(parent, name);
        let root = self.module(parent).root;
        self.modules.push(Module::new(Some(parent), root, path, file));
        id
    }

    /// Adds the inside of a block that declares items.
    pub(super) fn add_block(&mut self, around: ModuleId) -> ModuleId {
        let id = ModuleId(self.modules.len());
        let Module { root, path, file, .. } = self.module(around);
        let mut module = Module::new(Some(around), *root, path.clone(), *file);
        module.is_block = true;
        self.modules.push(module);
        id
    }

    /// Says that a crate of this name is read with the program.
    pub(super) fn add_crate(&mut self, name: &str, root: ModuleId) {
        self.crates.insert(name.to_owned(), root);
    }

    /// Says that a dependency has another name in the package than its own.
    pub(super) fn rename_crate(&mut self, here: &str, own: &str) {
        self.renamed.insert(here.to_owned(), own.to_owned());
    }

    /// Declares a name. The surer one of two counts, otherwise the first.
    pub(super) fn declare(&mut self, module: ModuleId, name: &str, meaning: Meaning, sure: bool) {
        let module = &mut self.modules[module.0];
        let names = match meaning {
            Meaning::Function(_) | Meaning::Global(_) => &mut module.values,
            _ => &mut module.types,
        };
        let known = names.get(name).is_some_and(|known| known.sure || !sure);
        if !known {
            names.insert(name.to_owned(), Declared { meaning, sure });
        }
    }

    /// Says what the variants of an enum are called.
    pub(super) fn declare_variants(&mut self, definition: DefinitionId, names: Vec<String>) {
        self.variants.insert(definition, names);
    }

    /// Declares what `use` brings under a name; `None` for `*`.
    pub(super) fn import(&mut self, module: ModuleId, name: Option<&str>, import: Import) {
        let module = &mut self.modules[module.0];
        match name {
            Some(name) => module.imports.entry(name.to_owned()).or_default().push(import),
            None => module.globs.push(import),
        }
    }

    /// The module.
    pub(super) fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    /// The root of a module's crate.
    pub(super) fn root_of(&self, id: ModuleId) -> ModuleId {
        self.module(id).root
    }

    /// The path of something in a module, as reports write it.
    pub(super) fn path_of(&self, module: ModuleId, name: &str) -> String {
        match self.module(module).path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}::{name}"),
        }
    }

    /// The variant of this name.
    pub(super) fn variant(&self, definition: DefinitionId, name: &str) -> Option<u32> {
        let names = self.variants.get(&definition)?;
        names.iter().position(|variant| variant == name).and_then(|at| u32::try_from(at).ok())
    }

    /// What a path means in a module, and how many of its segments lead there: the rest are
    /// associated items. All of them for what a library has.
    pub(super) fn resolve(
        &self,
        module: ModuleId,
        import: &Import,
        namespace: Namespace,
    ) -> (Meaning, usize) {
        self.follow(module, import, namespace, &mut Seen::default())
            .unwrap_or_else(|| (self.external(&import.path), import.path.len()))
    }

    fn follow(
        &self,
        module: ModuleId,
        import: &Import,
        namespace: Namespace,
        seen: &mut Seen,
    ) -> Option<(Meaning, usize)> {
        let path = &import.path;
        let (mut meaning, mut at) = self.first(module, import, namespace, seen)?;
        while at < path.len() {
            let last = at + 1 == path.len();
            let wanted = if last { namespace } else { Namespace::Types };
            meaning = match meaning {
                Meaning::Module(inner) => self.inside(inner, &path[at], wanted, seen)?,
                Meaning::Definition(definition) => match self.variant(definition, &path[at]) {
                    Some(variant) => Meaning::Variant(definition, variant),
                    None => return Some((Meaning::Definition(definition), at)),
                },
                Meaning::External(mut start) => {
                    start.extend_from_slice(&path[at..]);
                    return Some((Meaning::External(start), path.len()));
                }
                other => return Some((other, at)),
            };
            at += 1;
        }
        Some((meaning, at))
    }

    /// What the beginning of a path means, and how many segments it takes.
    fn first(
        &self,
        module: ModuleId,
        import: &Import,
        namespace: Namespace,
        seen: &mut Seen,
    ) -> Option<(Meaning, usize)> {
        let path = &import.path;
        let name = path.first()?;
        let mut here = self.out_of_blocks(module);
        match name.as_str() {
            "crate" | "$crate" => return Some((Meaning::Module(self.module(module).root), 1)),
            "self" | "super" => {
                let mut at = usize::from(name == "self");
                while path.get(at).is_some_and(|word| word == "super") {
                    here = self.out_of_blocks(self.module(here).parent?);
                    at += 1;
                }
                return Some((Meaning::Module(here), at));
            }
            _ if import.absolute => return Some((self.crate_of(name), 1)),
            _ => {}
        }
        let wanted = if path.len() == 1 { namespace } else { Namespace::Types };
        let found = self.around(module, name, wanted, seen);
        let found = found.or_else(|| {
            // What begins a longer path and is written small is a crate before it is a module that
            // some library has.
            let may_be_glob = path.len() == 1 || name.starts_with(char::is_uppercase);
            may_be_glob.then(|| self.by_external_glob(module, name, seen)).flatten()
        });
        Some((found.unwrap_or_else(|| self.crate_of(name)), 1))
    }

    fn crate_of(&self, name: &str) -> Meaning {
        match self.crates.get(name) {
            Some(root) => Meaning::Module(*root),
            None => self.external(std::slice::from_ref(&name.to_owned())),
        }
    }

    fn external(&self, path: &[String]) -> Meaning {
        let mut path = path.to_vec();
        if let Some(own) = path.first().and_then(|first| self.renamed.get(first)) {
            path[0].clone_from(own);
        }
        Meaning::External(path)
    }

    fn out_of_blocks(&self, mut module: ModuleId) -> ModuleId {
        while let Module { is_block: true, parent: Some(parent), .. } = self.module(module) {
            module = *parent;
        }
        module
    }

    /// A name in a module, or in what is around it where it is a block.
    fn around(
        &self,
        mut module: ModuleId,
        name: &str,
        namespace: Namespace,
        seen: &mut Seen,
    ) -> Option<Meaning> {
        loop {
            if let Some(found) = self.inside(module, name, namespace, seen) {
                return Some(found);
            }
            match self.module(module) {
                Module { is_block: true, parent: Some(parent), .. } => module = *parent,
                _ => return None,
            }
        }
    }

    /// A name that a module declares or imports. While it is looked for, the module does not have
    /// it: `use log::log;` means the crate, and globs may go round in circles.
    fn inside(
        &self,
        module: ModuleId,
        name: &str,
        namespace: Namespace,
        seen: &mut Seen,
    ) -> Option<Meaning> {
        let found = self.module(module);
        let of = |names: &FxHashMap<String, Declared>| names.get(name).map(|it| it.meaning.clone());
        let declared = match namespace {
            Namespace::Types => of(&found.types),
            // A struct's constructor has the struct's name.
            Namespace::Values => of(&found.values).or_else(|| {
                of(&found.types).filter(|meaning| matches!(meaning, Meaning::Definition(_)))
            }),
        };
        if declared.is_some() {
            return declared;
        }
        if found.imports.is_empty() && found.globs.is_empty() {
            return None;
        }
        let key = (module, name.to_owned(), namespace);
        if let Some(known) = seen.get(&key) {
            return known.clone();
        }
        seen.insert(key.clone(), None);
        let meaning = self
            .by_import(module, name, namespace, seen)
            .or_else(|| self.by_glob(module, name, namespace, seen));
        seen.insert(key, meaning.clone());
        meaning
    }

    fn by_import(
        &self,
        module: ModuleId,
        name: &str,
        namespace: Namespace,
        seen: &mut Seen,
    ) -> Option<Meaning> {
        let mut external = None;
        for import in self.module(module).imports.get(name)? {
            // In `use log::log;` the first name is not the one that is being imported.
            let own = import.path.len() > 1 && import.path.first().is_some_and(|it| it == name);
            let absolute = own && !self.module(module).types.contains_key(name);
            let import = &Import { absolute: import.absolute || absolute, ..import.clone() };
            match self.follow(module, import, namespace, seen) {
                Some((Meaning::External(path), _)) => external = external.or(Some(path)),
                Some((meaning, used)) if used == import.path.len() => return Some(meaning),
                _ => {}
            }
        }
        external.map(Meaning::External)
    }

    /// A name that a glob import of the program's own items brings.
    fn by_glob(
        &self,
        module: ModuleId,
        name: &str,
        namespace: Namespace,
        seen: &mut Seen,
    ) -> Option<Meaning> {
        self.module(module).globs.iter().find_map(|glob| {
            match self.follow(module, glob, Namespace::Types, seen)? {
                (Meaning::Module(inner), _) if inner != module => {
                    self.inside(inner, name, namespace, seen)
                }
                (Meaning::Definition(definition), used) if used == glob.path.len() => {
                    let variant = self.variant(definition, name)?;
                    Some(Meaning::Variant(definition, variant))
                }
                _ => None,
            }
        })
    }

    /// A name that a glob import of a library may bring, here or around this block.
    fn by_external_glob(
        &self,
        mut module: ModuleId,
        name: &str,
        seen: &mut Seen,
    ) -> Option<Meaning> {
        let mut globs = Vec::new();
        loop {
            let found = self.module(module);
            for glob in &found.globs {
                // What begins a glob's path comes by no other glob.
                let first = glob.path.first().map(String::as_str).unwrap_or_default();
                if first != name
                    && let Some((Meaning::External(path), _)) =
                        self.follow(module, glob, Namespace::Types, seen)
                {
                    globs.push(path);
                }
            }
            match found {
                Module { is_block: true, parent: Some(parent), .. } => module = *parent,
                _ => return from_external_globs(globs, name),
            }
        }
    }
}

/// What a glob import of a library gives for a name, where only one of them can: traits bring no
/// names that paths use, and what Rust itself gives every module is none of theirs.
fn from_external_globs(mut globs: Vec<Vec<String>>, name: &str) -> Option<Meaning> {
    const EVERYWHERE: [&str; 18] = [
        "Some", "None", "Ok", "Err", "Vec", "String", "Box", "Option", "Result", "drop", "Default",
        "From", "Into", "Iterator", "Clone", "ToString", "Send", "Self",
    ];
    let is_known = EVERYWHERE.contains(&name) || crate::program::Scalar::from_name(name).is_some();
    if is_known || name == "str" {
        return None;
    }
    let only_traits =
        |path: &Vec<String>| matches!(path.last().map(String::as_str), Some("traits" | "prelude"));
    globs.retain(|path| !only_traits(path));
    globs.dedup();
    match globs.as_mut_slice() {
        [only] if only.first().is_some_and(|first| first == "mpi") => {
            only.push(name.to_owned());
            Some(Meaning::External(std::mem::take(only)))
        }
        _ => None,
    }
}

impl Module {
    fn new(parent: Option<ModuleId>, root: ModuleId, path: String, file: usize) -> Module {
        Module {
            parent,
            root,
            is_block: false,
            path,
            file,
            types: FxHashMap::default(),
            values: FxHashMap::default(),
            imports: FxHashMap::default(),
            globs: Vec::new(),
        }
    }
}
