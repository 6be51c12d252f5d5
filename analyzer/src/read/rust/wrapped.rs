//! Items inside of macros that only wrap them: `lazy_static!`, `thread_local!`, `cfg_if!`.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Item, ItemStatic, Token, Visibility};

use super::cfg;
use crate::source::cfg::Features;

/// Puts what such macros contain in their place.
pub(super) fn unwrap(items: &mut Vec<Item>, features: &Features) {
    let has_wrapped = items.iter().any(|item| match item {
        Item::Macro(it) => it.ident.is_none(),
        Item::Mod(it) => it.content.is_some(),
        _ => false,
    });
    if !has_wrapped {
        return;
    }
    let mut all = Vec::with_capacity(items.len());
    for mut item in items.drain(..) {
        if let Item::Mod(it) = &mut item
            && let Some((_, inner)) = &mut it.content
        {
            unwrap(inner, features);
        }
        match contents(&item, features) {
            Some(mut contents) => {
                unwrap(&mut contents, features);
                all.extend(contents);
            }
            None => all.push(item),
        }
    }
    *items = all;
}

fn contents(item: &Item, features: &Features) -> Option<Vec<Item>> {
    let Item::Macro(invocation) = item else { return None };
    let tokens = invocation.mac.tokens.clone();
    let name = invocation.mac.path.segments.last()?.ident.to_string();
    match name.as_str() {
        "lazy_static" => lazy_statics.parse2(tokens).ok(),
        "thread_local" => thread_locals.parse2(tokens).ok(),
        "cfg_if" => syn::parse2::<File>(chosen(tokens, features)?).ok().map(|file| file.0),
        _ => None,
    }
}

struct File(Vec<Item>);

impl Parse for File {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut items = Vec::new();
        while !input.is_empty() {
            items.push(input.parse()?);
        }
        Ok(File(items))
    }
}

/// `static ref NAME: Type = value;`, as a static variable that already has its value.
fn lazy_statics(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        let static_token = input.parse()?;
        input.parse::<Token![ref]>()?;
        items.push(Item::Static(ItemStatic {
            attrs,
            vis,
            static_token,
            mutability: syn::StaticMutability::None,
            ident: input.parse()?,
            colon_token: input.parse()?,
            ty: input.parse()?,
            eq_token: input.parse()?,
            expr: input.parse()?,
            semi_token: input.parse()?,
        }));
    }
    Ok(items)
}

/// `static NAME: Type = value;`: a rank is followed in one thread, of which there is one value.
fn thread_locals(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(Item::Static(ItemStatic {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            static_token: input.parse()?,
            mutability: syn::StaticMutability::None,
            ident: input.parse()?,
            colon_token: input.parse()?,
            ty: input.parse()?,
            eq_token: input.parse()?,
            expr: input.parse()?,
            semi_token: input.parse::<Option<Token![;]>>()?.unwrap_or_default(),
        }));
    }
    Ok(items)
}

/// The tokens of the branch of `cfg_if!` that the build takes.
fn chosen(tokens: TokenStream, features: &Features) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut condition = None;
    for token in tokens {
        match token {
            // `#[cfg(..)]`
            TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Bracket => {
                let inner = group.stream().into_iter().find_map(|token| match token {
                    TokenTree::Group(group) => Some(group.stream()),
                    _ => None,
                });
                condition = Some(cfg::holds(inner?, features)?);
            }
            TokenTree::Group(group) if condition.take().unwrap_or(true) => {
                return Some(group.stream());
            }
            _ => {}
        }
    }
    Some(TokenStream::new())
}
