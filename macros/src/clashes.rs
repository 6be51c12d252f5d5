//! Names that the user's module and the generated code would both have.

use std::collections::HashSet;

use p2p_protocol::grammar::LanguageError;
use p2p_protocol::grammar::syntax::Protocol;
use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::Item;

use crate::role::RoleCode;

/// What is called as something that is generated.
pub(crate) fn find(protocol: &Protocol, roles: &[RoleCode<'_>]) -> Vec<LanguageError> {
    let mut taken: HashSet<String> = ["Role", "Done"].map(str::to_owned).into();
    if !protocol.parameters.is_empty() {
        taken.insert("Parameters".to_owned());
    }
    let mut errors = Vec::new();
    for code in roles {
        let name = code.name.to_string();
        if taken.contains(&name) {
            errors.push(clash(&code.role.name, &format!("role `{}`", code.role.name), &name));
        }
        taken.extend(code.graph.states().map(|state| state.name.clone()));
    }
    taken.extend(roles.iter().map(|code| code.name.to_string()));
    let messages = protocol.messages.iter().map(|message| message.name.clone());
    let items = protocol.items.iter().filter_map(item_name);
    for ident in messages.chain(items) {
        let name = ident.to_string();
        if taken.contains(&name) {
            errors.push(clash(&ident, &format!("`{name}`"), &name));
        }
    }
    errors
}

fn clash(ident: &Ident, what: &str, name: &str) -> LanguageError {
    LanguageError {
        span: ident.span(),
        end: ident.span(),
        message: format!("{what} and what is generated would both be `{name}`"),
        help: Some("give it another name".to_owned()),
    }
}

/// The name of a type that an item declares: what follows its keyword.
fn item_name(item: &Item) -> Option<Ident> {
    let mut words = item.to_token_stream().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    let keyword = |word: &Ident| {
        ["struct", "enum", "union", "type", "trait"].iter().any(|keyword| word == keyword)
    };
    words.find(keyword)?;
    words.next()
}
