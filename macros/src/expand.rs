//! From the attribute's tokens to the generated code.

use p2p_protocol::grammar::syntax::{Block, Protocol, Statement};
use p2p_protocol::grammar::{CheckOptions, LanguageError, Report, check, parse};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::elsewhere::{self, Position};
use crate::role::RoleCode;
use crate::runner::{self, About};
use crate::states;
use crate::{clashes, errors, mentions, messages};

/// The whole macro.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(role) = role_of_function(&attribute) {
        return quote!(#role #item);
    }
    let about = About { fingerprint: fingerprint(&item), sizes: sizes(&attribute) };
    let (protocol, mut language) = parse(attribute, item.clone());
    let Some(protocol) = protocol else {
        return broken_item(&item, &errors::language(&language));
    };
    let report = if language.is_empty() {
        check(&protocol, &CheckOptions::default())
    } else {
        Report::default()
    };
    language.extend(report.errors.iter().cloned());
    let contents = if language.is_empty() {
        generated(&protocol, &about, &report)
    } else {
        broken(&protocol, &language)
    };
    let Protocol { name, visibility, attributes, items, constants, .. } = &protocol;
    let constants = constants.iter().map(|constant| &constant.item);
    let messages = messages::items(&protocol);
    let summary = documentation(&report);
    quote! {
        #(#attributes)*
        #summary
        #[allow(unexpected_cfgs)]
        #visibility mod #name {
            #(#items)*
            #(#constants)*
            #messages
            #contents
        }
    }
}

/// All that a right protocol becomes, and the errors of a wrong one: its steps are there all the
/// same, so that code which takes them has no errors of its own.
fn generated(protocol: &Protocol, about: &About, report: &Report) -> TokenStream {
    let findings = errors::findings(protocol, &report.findings);
    let roles: Vec<_> = protocol.roles.iter().map(|role| RoleCode::new(protocol, role)).collect();
    let clashes = clashes::find(protocol, &roles);
    if !clashes.is_empty() {
        return broken(protocol, &clashes);
    }
    let (mut verbs, mut positions) = (Vec::new(), Vec::<Position>::new());
    let states: TokenStream =
        roles.iter().map(|code| states::states(code, &mut verbs, &mut positions)).collect();
    let runner = runner::items(protocol, &roles, about);
    positions.push(runner::end(protocol));
    let elsewhere = elsewhere::items(protocol, &verbs, &positions);
    let resolved = resolved(protocol);
    quote!(#findings #runner #states #elsewhere #resolved)
}

/// What stands for the steps of a module that is not the language. Nothing can be known of them,
/// so every name is taken from a place that does not exist: beside the errors, the compiler is
/// then silent about all that uses them.
fn broken(protocol: &Protocol, language: &[LanguageError]) -> TokenStream {
    let errors = errors::language(language);
    let resolved = resolved(protocol);
    quote! {
        #errors
        #resolved
        #[allow(unused_imports)]
        pub use self::nothing_is_generated_from_a_wrong_protocol::*;
    }
}

/// The same where not even the module could be read.
fn broken_item(item: &TokenStream, errors: &TokenStream) -> TokenStream {
    let mut tokens = item
        .clone()
        .into_iter()
        .skip_while(|token| !matches!(token, TokenTree::Ident(word) if word == "mod"));
    tokens.next();
    let Some(TokenTree::Ident(name)) = tokens.next() else { return quote!(#errors #item) };
    quote! {
        pub mod #name {
            #errors
            #[allow(unused_imports)]
            pub use self::nothing_is_generated_from_a_wrong_protocol::*;
        }
    }
}

/// Says for which sizes the protocol was checked, and what is worth a warning.
fn documentation(report: &Report) -> TokenStream {
    if report.sizes.is_empty() {
        return TokenStream::new();
    }
    let summary = report.summary();
    let warnings = errors::warnings(&report.findings);
    quote! {
        #[doc = ""]
        #[doc = #summary]
        #(#[doc = ""] #[doc = #warnings])*
    }
}

/// Names the messages where the roles name them, so that the editor knows what they are and the
/// compiler that they are there.
fn resolved(protocol: &Protocol) -> TokenStream {
    let mut names = Vec::new();
    for role in &protocol.roles {
        named(&role.body, &mut names);
    }
    let uses = names.into_iter().map(|name| {
        let span = name.span().resolved_at(Span::call_site());
        quote_spanned!(span=> let _ = ::core::marker::PhantomData::<#name>;)
    });
    quote!(const _: () = { #(#uses)* };)
}

fn named<'p>(block: &'p Block, names: &mut Vec<&'p Ident>) {
    for Statement { kind, .. } in &block.statements {
        names.extend(mentions::messages(kind).into_iter().map(|message| &message.name));
        for block in kind.blocks() {
            named(block, names);
        }
    }
}

/// `role = PATH` on a function: the path is looked up, and nothing else.
fn role_of_function(attribute: &TokenStream) -> Option<TokenStream> {
    let mut tokens = attribute.clone().into_iter();
    match (tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(word), TokenTree::Punct(equals))
            if word == "role" && equals.as_char() == '=' =>
        {
            let path: TokenStream = tokens.collect();
            Some(quote!(const _: () = { #[allow(unused_imports)] use #path as _; };))
        }
        _ => None,
    }
}

/// The sizes as the attribute writes them.
fn sizes(attribute: &TokenStream) -> String {
    let tokens = attribute.clone().into_iter();
    let mut after =
        tokens.skip_while(|token| !matches!(token, TokenTree::Ident(word) if word == "ranks"));
    after.next();
    after.next();
    let comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    let sizes: TokenStream = after.take_while(|token| !comma(token)).collect();
    if sizes.is_empty() {
        return "other numbers of".to_owned();
    }
    sizes.to_string().replace(" ..", "..").replace(".. ", "..").replace("..= ", "..=")
}

/// A number that differs between protocols that differ: FNV-1a over the words, documentation left
/// out.
fn fingerprint(item: &TokenStream) -> u64 {
    fn add(tokens: &TokenStream, hash: &mut u64) {
        let mut tokens = tokens.clone().into_iter().peekable();
        while let Some(token) = tokens.next() {
            let is_mark = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
            if is_mark && tokens.next_if(is_documentation).is_some() {
                continue;
            }
            match &token {
                TokenTree::Group(group) => {
                    let open = if group.delimiter() == Delimiter::Brace { "{" } else { "(" };
                    text(open, hash);
                    add(&group.stream(), hash);
                    text(")", hash);
                }
                other => text(&other.to_string(), hash),
            }
        }
    }
    fn text(text: &str, hash: &mut u64) {
        for byte in text.bytes().chain([0]) {
            *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let mut hash = 0xcbf2_9ce4_8422_2325;
    add(item, &mut hash);
    hash
}

fn is_documentation(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let first = group.stream().into_iter().next();
    matches!(first, Some(TokenTree::Ident(word)) if word == "doc")
}
