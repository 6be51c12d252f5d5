//! A program while it is put together: what is known of its items.

use std::cell::Cell;
use std::ops::Range;

use proc_macro2::Span;
use rustc_hash::FxHashMap;

use super::expand::Macros;
use super::load::ParsedFile;
use super::names::{AliasId, ModuleId, Names, TraitId};
use super::types::Context;
use crate::program::{
    Definition, DefinitionId, Dialect, Function, FunctionId, Global, GlobalId, Place, Program, Type,
};
use crate::source::Location;

/// `type Name<..> = ..;`
pub(super) struct Alias {
    pub(super) module: ModuleId,
    pub(super) generics: Vec<String>,
    pub(super) written: syn::Type,
}

/// A trait of the program.
#[derive(Debug, Default)]
pub(super) struct Trait {
    pub(super) name: String,
    /// Its functions that have a body, by name.
    pub(super) defaults: Vec<(String, FunctionId)>,
    /// The names of all its functions, and whether each is a method.
    pub(super) functions: Vec<(String, bool)>,
}

/// What is known of a function besides what the program says, for finding where runs start.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) function: FunctionId,
    /// The crate, by its root.
    pub(super) root: ModuleId,
    /// It stands in the root itself.
    pub(super) in_root: bool,
    pub(super) is_test: bool,
    pub(super) is_public: bool,
    /// One of its parameters is a communicator or a process.
    pub(super) takes_communicator: bool,
    /// `#[p2p_protocol(role = protocol::Role)]`
    pub(super) role: Option<(String, String)>,
}

/// A program while it is put together.
pub(super) struct Translation<'f> {
    pub(super) program: Program,
    pub(super) names: Names,
    pub(super) files: &'f [ParsedFile],
    pub(super) aliases: Vec<Alias>,
    /// How many aliases are being looked through, one in the other.
    pub(super) alias_depth: Cell<u32>,
    pub(super) traits: Vec<Trait>,
    /// What constants are that are made of numbers alone.
    pub(super) numbers: FxHashMap<GlobalId, (ModuleId, syn::Expr)>,
    /// The constants in `impl` and `trait`, by what they belong to.
    pub(super) constants: FxHashMap<(Option<DefinitionId>, String), GlobalId>,
    pub(super) candidates: Vec<Candidate>,
    /// The program's own macros.
    pub(super) macros: Macros,
    /// Where the macros are used that are being expanded, one in the other.
    pub(super) expanding: Vec<Range<usize>>,
}

impl<'f> Translation<'f> {
    pub(super) fn new(files: &'f [ParsedFile]) -> Self {
        Translation {
            program: Program { dialect: Dialect::Rsmpi, ..Program::default() },
            names: Names::default(),
            files,
            aliases: Vec::new(),
            alias_depth: Cell::new(0),
            traits: Vec::new(),
            numbers: FxHashMap::default(),
            constants: FxHashMap::default(),
            candidates: Vec::new(),
            macros: Macros::of_files(files),
            expanding: Vec::new(),
        }
    }

    /// The bytes of a span in a file.
    pub(super) fn bytes(&self, file: usize, span: Span) -> Range<usize> {
        let start = self.files[file].start;
        let range = span.byte_range();
        range.start + start..range.end + start
    }

    /// A place.
    pub(super) fn place(&mut self, file: usize, mut bytes: Range<usize>) -> Place {
        // What begins in a macro's arguments and ends in its body stands where the macro does.
        if bytes.start > bytes.end {
            let around = self.expanding.first().cloned();
            bytes = around.unwrap_or(bytes.end..bytes.start);
        }
        self.program.places.push(Location { file, bytes });
        Place(index(self.program.places.len() - 1))
    }

    pub(super) fn add_function(&mut self, name: String, place: Place) -> FunctionId {
        self.program.functions.push(Function {
            name,
            place,
            generics: Vec::new(),
            bounds: Vec::new(),
            parameters: Vec::new(),
            is_method: false,
            result: Type::Unknown,
            variables: Vec::new(),
            body: None,
        });
        FunctionId(index(self.program.functions.len() - 1))
    }

    pub(super) fn add_global(&mut self, name: String, place: Place, mutable: bool) -> GlobalId {
        self.program.globals.push(Global {
            name,
            place,
            ty: Type::Unknown,
            value: None,
            is_mutable: mutable,
        });
        GlobalId(index(self.program.globals.len() - 1))
    }

    pub(super) fn add_definition(&mut self, name: String, is_enum: bool) -> DefinitionId {
        self.program.definitions.push(Definition {
            name,
            is_enum,
            generics: Vec::new(),
            variants: Vec::new(),
            traits: Vec::new(),
        });
        DefinitionId(index(self.program.definitions.len() - 1))
    }

    pub(super) fn add_alias(&mut self, alias: Alias) -> AliasId {
        self.aliases.push(alias);
        AliasId(self.aliases.len() - 1)
    }

    pub(super) fn add_trait(&mut self, name: String) -> TraitId {
        self.program.traits.insert(name.clone());
        self.traits.push(Trait { name, ..Trait::default() });
        TraitId(self.traits.len() - 1)
    }

    /// Says that a definition, or some other type, has a function of this name.
    pub(super) fn add_method(
        &mut self,
        owner: Option<DefinitionId>,
        name: &str,
        function: FunctionId,
    ) {
        self.program.methods.add(owner, name, function);
    }

    /// The definition that a context's `Self` is.
    pub(super) fn self_definition(&self, context: &Context) -> Option<DefinitionId> {
        match context.self_type.as_ref()?.behind_references() {
            Type::Defined(definition, _) => Some(*definition),
            _ => None,
        }
    }
}

/// Programs are smaller than four thousand million of anything: their text is.
fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
