//! Finds the `#[p2p_protocol]` modules of a file, and the module files that it declares.
//!
//! The bodies of `macro_rules!` are left alone: what stands there is text until it is expanded.

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, Meta, Token};

use crate::source::cfg::{self, Condition, Features};
use crate::source::modules::{Candidate, Kind, Scope};

/// The attribute's name.
pub(super) const ATTRIBUTE: &str = "p2p_protocol";

/// A protocol as the compiler would hand it to the macro.
pub(super) struct Found {
    /// The attribute itself, for what it says as a whole.
    pub(super) meta: Meta,
    /// The module without the attribute.
    pub(super) module: ItemMod,
}

/// `mod name;`
pub(super) struct Declaration {
    /// The module's name.
    pub(super) name: Ident,
    /// Where it may be, the likeliest first.
    pub(super) candidates: Vec<Candidate>,
    /// Whether builds contain it.
    pub(super) holds: Option<bool>,
}

/// All that was found in a file, in order.
#[derive(Default)]
pub(super) struct FoundInFile {
    pub(super) protocols: Vec<Found>,
    pub(super) declarations: Vec<Declaration>,
}

/// Looks through a file.
pub(super) fn in_file(
    file: &syn::File,
    path: &Path,
    kind: Kind,
    features: &Features,
) -> FoundInFile {
    let mut names = Names(BTreeSet::from([ATTRIBUTE.to_owned()]));
    names.visit_file(file);
    let mut finder = Finder {
        names: names.0,
        features,
        scope: Scope::of_file(path, kind),
        holds: cfg::holds(&file.attrs, features),
        found: FoundInFile::default(),
    };
    for item in &file.items {
        finder.visit_item(item);
    }
    finder.found
}

/// The names that the attribute has in the file: `use p2p::p2p_protocol as protocol;`.
struct Names(BTreeSet<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_use_rename(&mut self, rename: &'ast syn::UseRename) {
        if rename.ident == ATTRIBUTE {
            self.0.insert(rename.rename.to_string());
        }
    }
}

struct Finder<'a> {
    names: BTreeSet<String>,
    features: &'a Features,
    scope: Scope,
    /// Whether builds contain the place where it is.
    holds: Option<bool>,
    found: FoundInFile,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = attributes(item);
        let outside = self.holds;
        self.holds = cfg::all([outside, cfg::holds(attributes, self.features)].into_iter());
        match item {
            Item::Mod(module) => self.module(module),
            _ if self.holds == Some(false) => {}
            Item::Macro(invocation) if invocation.ident.is_none() => {
                self.declared_in_macro(invocation.mac.tokens.clone());
            }
            _ => visit::visit_item(self, item),
        }
        self.holds = outside;
    }
}

impl Finder<'_> {
    fn module(&mut self, module: &ItemMod) {
        if let Some((index, meta)) = self.protocol_attribute(&module.attrs) {
            if self.holds != Some(false) {
                let mut module = module.clone();
                module.attrs.remove(index);
                self.found.protocols.push(Found { meta, module });
            }
            return;
        }
        let name = name_of(&module.ident);
        let paths = self.path_attributes(&module.attrs);
        match &module.content {
            Some((_, items)) if self.holds != Some(false) => {
                let path = paths.first().and_then(|(path, _)| path.as_deref());
                let inside = self.scope.inside(&name, path);
                let outside = std::mem::replace(&mut self.scope, inside);
                for item in items {
                    self.visit_item(item);
                }
                self.scope = outside;
            }
            Some(_) => {}
            None => {
                for (path, holds) in paths {
                    self.declare(&module.ident, path.as_deref(), holds);
                }
            }
        }
    }

    fn declare(&mut self, name: &Ident, path: Option<&str>, holds: Option<bool>) {
        self.found.declarations.push(Declaration {
            name: name.clone(),
            candidates: self.scope.candidates(&name_of(name), path),
            holds: cfg::all([self.holds, holds].into_iter()),
        });
    }

    /// The paths that `#[path]` and `#[cfg_attr(.., path = "..")]` give a module, with what decides
    /// about each; `None` is where it is without them.
    fn path_attributes(&self, attributes: &[Attribute]) -> Vec<(Option<String>, Option<bool>)> {
        let mut paths = Vec::new();
        for attribute in attributes {
            for (meta, holds) in self.expanded(attribute) {
                let Meta::NameValue(pair) = meta else { continue };
                let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value
                else {
                    continue;
                };
                if pair.path.is_ident("path") && holds != Some(false) {
                    paths.push((Some(path.value()), holds));
                }
            }
        }
        if paths.iter().all(|&(_, holds)| holds.is_none()) {
            // Where some attribute may give a path, that the plain file exists is not certain.
            let certain = paths.is_empty().then_some(true);
            paths.push((None, certain));
        }
        paths
    }

    /// The attribute among these that makes a module a protocol.
    fn protocol_attribute(&self, attributes: &[Attribute]) -> Option<(usize, Meta)> {
        attributes.iter().enumerate().find_map(|(index, attribute)| {
            let meta = self
                .expanded(attribute)
                .into_iter()
                .find(|(meta, holds)| *holds != Some(false) && self.is_protocol(meta.path()));
            meta.map(|(meta, _)| (index, meta))
        })
    }

    /// `p2p_protocol` under any path, or one of its other names alone.
    fn is_protocol(&self, path: &syn::Path) -> bool {
        let Some(last) = path.segments.last() else { return false };
        last.ident == ATTRIBUTE
            || (path.segments.len() == 1 && self.names.contains(&last.ident.to_string()))
    }

    /// What an attribute says, with the attributes inside `cfg_attr` and whether they apply.
    fn expanded(&self, attribute: &Attribute) -> Vec<(Meta, Option<bool>)> {
        let mut plain = Vec::new();
        let mut open = vec![(attribute.meta.clone(), Some(true))];
        while let Some((meta, holds)) = open.pop() {
            let Meta::List(list) = &meta else {
                plain.push((meta, holds));
                continue;
            };
            if !list.path.is_ident("cfg_attr") {
                plain.push((meta, holds));
                continue;
            }
            let Ok((condition, parts)) = list.parse_args_with(conditional) else { continue };
            let inner = cfg::all([holds, cfg::evaluate(&condition, self.features)].into_iter());
            open.extend(parts.into_iter().map(|part| (part, inner)));
        }
        plain
    }

    /// `mod name;` among the tokens of a macro such as `cfg_if!`, which passes it on, or not.
    fn declared_in_macro(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for window in tokens.windows(3) {
            if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end)] = window
                && word == "mod"
                && end.as_char() == ';'
            {
                self.declare(name, None, None);
            }
        }
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.declared_in_macro(group.stream());
            }
        }
    }
}

/// The inside of `cfg_attr(..)`.
fn conditional(input: ParseStream<'_>) -> syn::Result<(Condition, Punctuated<Meta, Token![,]>)> {
    let condition = input.parse()?;
    input.parse::<Token![,]>()?;
    Ok((condition, Punctuated::parse_terminated(input)?))
}

fn name_of(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

impl Found {
    /// What stands in the attribute's parentheses.
    pub(super) fn arguments(&self) -> TokenStream {
        match &self.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) => TokenStream::new(),
            // Not an attribute macro's form; the parser says so at its place.
            Meta::NameValue(pair) => pair.value.to_token_stream(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let file = syn::parse_file(text).unwrap();
        let found = in_file(&file, Path::new("src/lib.rs"), Kind::Folder, &None);
        found.protocols.iter().map(|found| found.module.ident.to_string()).collect()
    }

    #[test]
    fn protocols_are_found_wherever_an_item_can_be() {
        let text = "use p2p::{p2p_protocol as protocol, other as p2p_protocolx};
            #[p2p_protocol] mod a {}
            #[p2p::p2p_protocol(ranks = 2)] mod b {}
            mod nested { mod deeper { #[::p2p::p2p_protocol] mod c {} } }
            fn f() { #[protocol] mod d {} let g = || { #[p2p_protocol] mod e {} }; }
            impl X { fn f() { #[p2p_protocol] mod f {} } }
            #[cfg_attr(feature = \"x\", allow(y), p2p_protocol(ranks = 2))] mod g {}
            #[cfg(test)] mod tests { #[p2p_protocol] mod h {} }";
        assert_eq!(names(text), ["a", "b", "c", "d", "e", "f", "g", "h"]);
    }

    #[test]
    fn what_is_none_or_in_no_build_is_left_out() {
        let text = "#[cfg(any())] #[p2p_protocol] mod a {}
            #[p2p_protocol] #[cfg(false)] mod b {}
            #[cfg(FALSE)] mod x { #[p2p_protocol] mod c {} }
            #[cfg(any())] fn f() { #[p2p_protocol] mod d {} }
            #[cfg_attr(any(), p2p_protocol)] mod e {}
            macro_rules! m { () => { #[p2p_protocol] mod f {} } }
            #[p2p_protocol(role = ring::Worker)] fn worker() {}
            #[other] mod g {} #[x::protocol] mod h {}";
        assert_eq!(names(text), Vec::<String>::new());
    }

    #[test]
    fn module_files_are_declared_with_what_decides_about_them() {
        let text = "mod a; #[cfg(any())] mod b; #[cfg(unix)] mod c;
            mod inline { #[path = \"x.rs\"] mod d; }
            #[cfg_attr(unix, path = \"e_unix.rs\")] mod e;
            cfg_if! { if #[cfg(unix)] { mod f; } }
            #[cfg(any())] mod off { mod g; }";
        let file = syn::parse_file(text).unwrap();
        let found = in_file(&file, Path::new("src/lib.rs"), Kind::Folder, &None);
        let of = |it: &Declaration| {
            (it.name.to_string(), it.candidates[0].path.display().to_string(), it.holds)
        };
        let declared: Vec<_> = found.declarations.iter().map(of).collect();
        let it = |name: &str, path: &str, holds| (name.to_owned(), path.to_owned(), holds);
        let expected = [
            it("a", "src/a.rs", Some(true)),
            it("b", "src/b.rs", Some(false)),
            it("c", "src/c.rs", None),
            it("d", "src/inline/x.rs", Some(true)),
            it("e", "src/e_unix.rs", None),
            it("e", "src/e.rs", None),
            it("f", "src/f.rs", None),
        ];
        assert_eq!(declared, expected);
    }
}
