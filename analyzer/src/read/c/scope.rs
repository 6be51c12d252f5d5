//! What names mean where: types, variables, functions and enumerators by their names, structs, unions
//! and enums by their tags.

use rustc_hash::FxHashMap;

use crate::program::{DefinitionId, FunctionId, GlobalId, Type, VariableId};

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Named {
    /// `typedef`
    Type(Type),
    /// A variable or a parameter of the function.
    Variable(VariableId),
    /// A variable of C++ that stands for another one: `int &x`.
    Alias(VariableId),
    /// A variable of the file, or a static one.
    Global(GlobalId),
    /// A function that the program defines.
    Function(FunctionId),
    /// A function that is declared, of this type.
    Declared(Type),
    /// An enumerator.
    Constant(i128),
}

/// What a tag means.
#[derive(Clone, Debug)]
pub(super) enum Tag {
    Struct(DefinitionId),
    Other(Type),
}

/// The names of one block or one file.
#[derive(Debug, Default)]
pub(super) struct Scope<'u> {
    pub(super) names: FxHashMap<&'u str, Named>,
    pub(super) tags: FxHashMap<&'u str, Tag>,
}

/// The scopes around a place, the file's first.
#[derive(Debug, Default)]
pub(super) struct Scopes<'u>(Vec<Scope<'u>>);

impl<'u> Scopes<'u> {
    /// Those of a file, outside of any function.
    pub(super) fn of_file(file: Scope<'u>) -> Self {
        Scopes(vec![file])
    }

    /// The file's own scope back.
    pub(super) fn into_file(self) -> Scope<'u> {
        self.0.into_iter().next().unwrap_or_default()
    }

    pub(super) fn open(&mut self) {
        self.0.push(Scope::default());
    }

    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    /// Whether no function is around.
    pub(super) fn is_file(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn name(&self, name: &str) -> Option<&Named> {
        self.0.iter().rev().find_map(|scope| scope.names.get(name))
    }

    pub(super) fn tag(&self, tag: &str) -> Option<&Tag> {
        self.0.iter().rev().find_map(|scope| scope.tags.get(tag))
    }

    /// The tag, if it is one of the innermost block.
    pub(super) fn own_tag(&self, tag: &str) -> Option<&Tag> {
        self.0.last()?.tags.get(tag)
    }

    pub(super) fn bind(&mut self, name: &'u str, named: Named) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name, named);
        }
    }

    pub(super) fn bind_tag(&mut self, tag: &'u str, meaning: Tag) {
        if let Some(scope) = self.0.last_mut() {
            scope.tags.insert(tag, meaning);
        }
    }
}
