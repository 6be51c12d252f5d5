//! What methods, functions and fields of libraries take and give, read from two tables.
//!
//! `std.txt` is about Rust's own library, `mpi.txt` about rsmpi. A table is lines:
//!
//! ```text
//! impl Vec<T>                          what follows belongs to this type
//!   first last () -> Option<&T>        methods, all with this signature
//!   receive <M> (i32) -> (M, Status)   with generic arguments in the order of the turbofish
//!   ::new () -> Self                   a function of the type, or of a module
//!   .start -> T                        a field
//! type Process: Source Communicator    has the methods of these as well
//! ```
//!
//! In signatures a single capital letter is any type, the same at all its places. `_` is any type
//! at each place, `*T` anything whose elements are `T`, `str` any text, `&T` any reference or
//! pointer. `?` is unknown: a result that nothing is said about, an argument that may decide more
//! than is said here.

mod parse;

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use crate::program::Scalar;

/// A type in a signature.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Template {
    /// Not known.
    Unknown,
    /// Any type, of which nothing follows.
    Any,
    /// What the method is called on, or the type whose function it is.
    Itself,
    /// The same type at all places with this letter.
    Letter(u8),
    /// Anything that can be iterated over, with these elements.
    Each(Box<Template>),
    /// A number, a truth value, a character.
    Scalar(Scalar),
    /// Text.
    Text,
    /// Never returns.
    Never,
    /// A tuple.
    Tuple(Vec<Template>),
    /// An array of some length.
    Array(Box<Template>),
    /// A slice.
    Slice(Box<Template>),
    /// A reference.
    Reference(Box<Template>),
    /// A library's type.
    External(Arc<str>, Vec<Template>),
    /// A function or a closure; the result is the last one.
    Function(Vec<Template>),
}

/// What a method, a function or a field takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Signature {
    /// The type that it belongs to.
    pub(super) of: Arc<Template>,
    /// The letters that a turbofish gives.
    pub(super) generics: Vec<u8>,
    /// The parameters, without `self`.
    pub(super) parameters: Vec<Template>,
    /// The result.
    pub(super) result: Template,
}

/// All that is known of libraries.
#[derive(Debug, Default)]
pub(super) struct Library {
    /// By the type and the name, which starts with `::` for functions and with `.` for fields.
    signatures: FxHashMap<Arc<str>, FxHashMap<Arc<str>, Arc<Signature>>>,
    /// The types whose methods a type has besides its own.
    parents: FxHashMap<Arc<str>, Vec<Arc<str>>>,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let mut library = Library::default();
    parse::table(include_str!("std.txt"), &mut library);
    parse::table(include_str!("mpi.txt"), &mut library);
    library
});

/// Everything that is known of libraries.
pub(super) fn library() -> &'static Library {
    &LIBRARY
}

impl Library {
    /// The signature of a type's method (`name`), function (`::name`) or field (`.name`).
    pub(super) fn find(&self, of: &str, name: &str) -> Option<Arc<Signature>> {
        let own = |of: &str| self.signatures.get(of)?.get(name).cloned();
        own(of).or_else(|| self.parents.get(of)?.iter().find_map(|parent| own(parent)))
    }

    /// Whether a type has the methods of another one.
    pub(super) fn is_a(&self, of: &str, parent: &str) -> bool {
        of == parent
            || self.parents.get(of).is_some_and(|all| all.iter().any(|one| one.as_ref() == parent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let receive = library().find("Process", "receive").expect("a source receives");
        assert_eq!(receive.generics, [12]);
        assert_eq!(
            receive.result,
            Template::Tuple(vec![
                Template::Letter(12),
                Template::External("Status".into(), vec![])
            ])
        );
        assert!(library().find("Vec", "::new").is_some());
        assert!(library().find("AnyProcess", "rank").is_some());
        assert_eq!(library().find("Status", "receive"), None);
        assert!(library().is_a("Range", "Iterator"));
    }
}
