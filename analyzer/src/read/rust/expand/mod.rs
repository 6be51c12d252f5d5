//! The program's own macros, written with `macro_rules!`: what they stand for where they are used.
//!
//! Only what is surely the compiler's own expansion is made. A macro with several definitions, one
//! whose variables could be taken for those of its arguments, one that has no end: these stay
//! unexpanded, and what they do is not known. Every token that comes from the definition stands
//! where the macro is used, because that is where its fault shows, and because the definition may
//! be in another file.

mod by_example;
mod hygiene;

use std::cell::Cell;
use std::rc::Rc;

use proc_macro2::{Span, TokenStream, TokenTree};
use rustc_hash::FxHashMap;
use syn::parse::{Parse, ParseStream};
use syn::{Item, ItemMacro, Macro};

use super::load::ParsedFile;
use super::types::name;
use by_example::Arm;

/// How many tokens all expansions of a program have together at most.
const TOKENS: usize = 200_000;

/// How many macros are expanded inside of each other at most.
pub(super) const DEPTH: usize = 24;

/// The macros of a program, by name.
#[derive(Default)]
pub(super) struct Macros {
    definitions: FxHashMap<String, Definition>,
    /// How many tokens have been made.
    made: Cell<usize>,
}

struct Definition {
    tokens: TokenStream,
    /// `None` where they cannot be read, or where there are several definitions.
    arms: Option<Rc<[Arm]>>,
}

impl Macros {
    /// The macros that files define outside of functions.
    pub(super) fn of_files(files: &[ParsedFile]) -> Self {
        let mut macros = Macros::default();
        files.iter().for_each(|file| macros.add_all(&file.items));
        macros
    }

    fn add_all(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Macro(item) => self.add(item),
                Item::Mod(item) => {
                    let inner = item.content.as_ref().map(|(_, items)| items.as_slice());
                    self.add_all(inner.unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    /// Adds a definition, if it is one.
    pub(super) fn add(&mut self, item: &ItemMacro) {
        let Some(own) = item.ident.as_ref().map(name) else { return };
        let tokens = item.mac.tokens.clone();
        match self.definitions.get_mut(&own) {
            Some(known) if known.tokens.to_string() == tokens.to_string() => {}
            Some(known) => {
                known.tokens.extend(tokens);
                known.arms = None;
            }
            None => {
                let arms = by_example::arms(tokens.clone()).map(Rc::from);
                self.definitions.insert(own, Definition { tokens, arms });
            }
        }
    }

    /// The name of the program's macro that this uses.
    pub(super) fn named(&self, mac: &Macro) -> Option<String> {
        let segments = &mac.path.segments;
        let own = name(&segments.last()?.ident);
        let first = segments.first()?.ident.to_string();
        let here = segments.len() == 1 || matches!(first.as_str(), "crate" | "self" | "super");
        (here && self.definitions.contains_key(&own)).then_some(own)
    }

    /// What a macro of the program is made of, whether it can be expanded or not.
    pub(super) fn definition(&self, own: &str) -> Option<TokenStream> {
        self.definitions.get(own).map(|definition| definition.tokens.clone())
    }

    /// What a macro stands for where it is used.
    pub(super) fn expand(&self, own: &str, mac: &Macro) -> Option<TokenStream> {
        let arms = self.definitions.get(own)?.arms.as_ref()?;
        let at = mac.path.segments.last()?.ident.span();
        let (arm, bindings) =
            arms.iter().find_map(|arm| Some((arm, arm.bindings(&mac.tokens)?)))?;
        if arm.binds.iter().any(|bound| hygiene::mentions(&mac.tokens, bound)) {
            return None;
        }
        let expansion = arm.transcribe(&bindings, at)?;
        let made = self.made.get() + count(&expansion);
        self.made.set(made);
        (made <= TOKENS).then_some(expansion)
    }

    /// Whether what a macro declares is meant for the statements that follow it.
    pub(super) fn declares(&self, own: &str) -> bool {
        let arms = self.definitions.get(own).and_then(|definition| definition.arms.as_ref());
        arms.is_some_and(|arms| arms.iter().any(|arm| arm.declares))
    }
}

fn count(tokens: &TokenStream) -> usize {
    let inside = |token| match token {
        TokenTree::Group(group) => 1 + count(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(inside).sum()
}

/// Puts the items that macros of the program stand for in their place.
pub(super) fn expand_items(files: &mut [ParsedFile]) {
    let macros = Macros::of_files(files);
    if macros.definitions.is_empty() {
        return;
    }
    files.iter_mut().for_each(|file| macros.expand_among(&mut file.items, 0));
}

impl Macros {
    fn expand_among(&self, items: &mut Vec<Item>, depth: usize) {
        let mut all = Vec::with_capacity(items.len());
        for mut item in items.drain(..) {
            if let Item::Mod(it) = &mut item
                && let Some((_, inner)) = &mut it.content
            {
                self.expand_among(inner, depth);
            }
            match self.items_of(&item, depth) {
                Some(mut expanded) => {
                    self.expand_among(&mut expanded, depth + 1);
                    all.extend(expanded);
                }
                None => all.push(item),
            }
        }
        *items = all;
    }

    fn items_of(&self, item: &Item, depth: usize) -> Option<Vec<Item>> {
        let Item::Macro(item) = item else { return None };
        if item.ident.is_some() || depth > DEPTH {
            return None;
        }
        let expansion = self.expand(&self.named(&item.mac)?, &item.mac)?;
        syn::parse2::<Items>(expansion).ok().map(|items| items.0)
    }
}

struct Items(Vec<Item>);

impl Parse for Items {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut items = Vec::new();
        while !input.is_empty() {
            items.push(input.parse()?);
        }
        Ok(Items(items))
    }
}

/// A token where a macro is used.
fn placed(mut token: TokenTree, at: Span) -> TokenTree {
    token.set_span(at);
    token
}
