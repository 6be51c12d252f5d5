//! How generated things are called.

use std::collections::HashMap;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

/// `RowBlock` -> `row_block`, `HTTPHead` -> `http_head`.
pub(crate) fn snake(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, &character) in characters.iter().enumerate() {
        let after_lower = index > 0 && !characters[index - 1].is_uppercase();
        let before_lower = characters.get(index + 1).is_some_and(|next| next.is_lowercase());
        let starts_word = character.is_uppercase() && index > 0 && (after_lower || before_lower);
        if starts_word && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

/// `row_block` -> `RowBlock`; leading underscores go.
pub(crate) fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect::<String>()
        })
        .collect()
}

/// The text of an identifier without `r#`, so that it can be part of another.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or_else(|| text.clone(), str::to_owned)
}

/// A loop variable's name as part of another: `_step` -> `step`, and nothing for one without
/// letters.
pub(crate) fn trimmed(ident: &Ident) -> String {
    let text = plain(ident);
    let trimmed = text.trim_matches('_');
    if trimmed.starts_with(|first: char| first.is_alphabetic()) {
        trimmed.to_owned()
    } else {
        String::new()
    }
}

/// An identifier of the generated code: resolved where the macro is used, and recognised by lints
/// as not written by the user.
pub(crate) fn generated(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Like [`generated`]; when the compiler or the editor looks for its declaration they find `place`.
pub(crate) fn generated_at(name: &str, place: Span) -> Ident {
    Ident::new(name, place.resolved_at(Span::call_site()))
}

/// The same name at another place.
pub(crate) fn at(ident: &Ident, span: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}

/// The same tokens at another place: where the compiler will point to when it speaks of them.
pub(crate) fn all_at(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), all_at(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    });
    moved.collect()
}

/// Names in use, so that the second `send_block` of a role becomes `send_block_2`.
#[derive(Default)]
pub(crate) struct Used(HashMap<String, usize>);

impl Used {
    /// Names that are taken from the start.
    pub(crate) fn with(names: &[&str]) -> Used {
        Used(names.iter().map(|&name| (name.to_owned(), 1)).collect())
    }

    /// This name, or with the first free number behind it.
    pub(crate) fn unique(&mut self, name: &str, between: &str) -> String {
        let mut candidate = name.to_owned();
        while self.0.contains_key(&candidate) {
            let count = self.0.entry(name.to_owned()).or_insert(1);
            *count += 1;
            candidate = format!("{name}{between}{count}");
        }
        self.0.insert(candidate.clone(), 1);
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found() {
        assert_eq!(snake("RowBlock"), "row_block");
        assert_eq!(snake("HTTPHead"), "http_head");
        assert_eq!(snake("Row2D"), "row2_d");
        assert_eq!(snake("row"), "row");
        assert_eq!(camel("row_block"), "RowBlock");
        assert_eq!(camel("_step"), "Step");
    }

    #[test]
    fn names_are_made_unique() {
        let mut used = Used::with(&["session"]);
        assert_eq!(used.unique("session", "_"), "session_2");
        assert_eq!(used.unique("Send", ""), "Send");
        assert_eq!(used.unique("Send", ""), "Send2");
        assert_eq!(used.unique("Send", ""), "Send3");
    }
}
