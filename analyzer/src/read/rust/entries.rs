//! Where a run may start: `main`, tests, and what a library offers to callers with a communicator.

use syn::{Attribute, FnArg, GenericParam, Signature, TypeParamBound, WherePredicate};

use super::declare::is_protocol;
use super::names::ModuleId;
use super::translation::Translation;
use super::types::name;
use crate::program::{Entry, EntryKind};

/// Types and traits that stand for a communicator or a process of one.
const COMMUNICATORS: [&str; 17] = [
    "SimpleCommunicator",
    "SystemCommunicator",
    "UserCommunicator",
    "CartesianCommunicator",
    "InterCommunicator",
    "Communicator",
    "AsCommunicator",
    "CommunicatorCollectives",
    "AnyCommunicator",
    "Process",
    "AnyProcess",
    "Source",
    "Destination",
    "Root",
    "Universe",
    "LocalScope",
    "MPI_Comm",
];

/// What kind of target a crate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// It has a `main`, or tests, or both.
    Program,
    /// Others call it.
    Library,
}

/// Whether `#[test]` stands on it, under any path (`#[tokio::test]`).
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    let last = |attribute: &Attribute| {
        attribute.path().segments.last().is_some_and(|last| last.ident == "test")
    };
    attributes.iter().any(last)
}

/// The protocol and the role that `#[p2p_protocol(role = protocol::Role)]` names.
pub(super) fn role(attributes: &[Attribute]) -> Option<(String, String)> {
    let attribute = attributes.iter().find(|attribute| is_protocol(attribute.path()))?;
    let mut role = None;
    _ = attribute.parse_nested_meta(|meta| {
        if meta.path.is_ident("role") {
            let path: syn::Path = meta.value()?.parse()?;
            let names: Vec<String> = path.segments.iter().map(|it| name(&it.ident)).collect();
            if let [.., protocol, own] = names.as_slice() {
                role = Some((protocol.clone(), own.clone()));
            }
        }
        Ok(())
    });
    role
}

/// Whether a parameter is a communicator or a process, by its type or by what its type must be.
pub(super) fn takes_communicator(signature: &Signature) -> bool {
    let generics: Vec<String> = signature
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(it) if bounds_communicate(&it.bounds) => Some(name(&it.ident)),
            _ => None,
        })
        .chain(signature.generics.where_clause.iter().flat_map(|clause| {
            clause.predicates.iter().filter_map(|predicate| match predicate {
                WherePredicate::Type(it) if bounds_communicate(&it.bounds) => {
                    last_name(&it.bounded_ty)
                }
                _ => None,
            })
        }))
        .collect();
    signature.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => is_communicator(&typed.ty, &generics),
        FnArg::Receiver(_) => false,
    })
}

fn is_communicator(ty: &syn::Type, generics: &[String]) -> bool {
    match ty {
        syn::Type::Reference(reference) => is_communicator(&reference.elem, generics),
        syn::Type::Paren(paren) => is_communicator(&paren.elem, generics),
        syn::Type::Group(group) => is_communicator(&group.elem, generics),
        syn::Type::ImplTrait(it) => bounds_communicate(&it.bounds),
        syn::Type::TraitObject(it) => bounds_communicate(&it.bounds),
        syn::Type::Path(_) => last_name(ty)
            .is_some_and(|last| COMMUNICATORS.contains(&last.as_str()) || generics.contains(&last)),
        _ => false,
    }
}

fn bounds_communicate<P>(bounds: &syn::punctuated::Punctuated<TypeParamBound, P>) -> bool {
    bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| COMMUNICATORS.contains(&last.ident.to_string().as_str())),
        _ => false,
    })
}

fn last_name(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|last| name(&last.ident)),
        _ => None,
    }
}

impl Translation<'_> {
    /// Finds where runs of the crate with this root may start.
    pub(super) fn find_entries(&mut self, root: ModuleId, target: Target) {
        let mut entries = Vec::new();
        for candidate in self.candidates.iter().filter(|candidate| candidate.root == root) {
            let name = self.program.function(candidate.function).name.clone();
            let kind = if let Some((protocol, role)) = &candidate.role {
                EntryKind::Role(protocol.clone(), role.clone())
            } else if candidate.is_test {
                EntryKind::Test
            } else if candidate.in_root && name == "main" && target == Target::Program {
                EntryKind::Main
            } else if candidate.is_public
                && candidate.takes_communicator
                && target == Target::Library
            {
                EntryKind::Public
            } else {
                continue;
            };
            entries.push(Entry { function: candidate.function, name, kind, given: Vec::new() });
        }
        self.program.entries = entries;
    }
}
