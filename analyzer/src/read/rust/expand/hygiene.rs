//! Which names in a macro's body are its own: the compiler keeps its variables apart from those of
//! its arguments, and an expansion that is read as text does not.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The variables that a body binds by names of its own.
pub(super) fn bound(body: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    collect(body, &mut found);
    found
}

fn collect(body: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Ident(word) if word == "let" || word == "for" && is_loop(&tokens[at..]) => {
                pattern(&tokens[at..], &["=", "in", ";", ":"], found);
            }
            // A closure, or an alternative, which binds nothing that is not bound before it.
            TokenTree::Punct(it) if it.as_char() == '|' => pattern(&tokens[at..], &["|"], found),
            TokenTree::Punct(it) if it.as_char() == '=' && is_punct(tokens.get(at), '>') => {
                let from = tokens[..at - 1].iter().rposition(|it| is_punct(Some(it), ','));
                pattern(&tokens[from.map_or(0, |it| it + 1)..at - 1], &["=", "if"], found);
            }
            _ => {}
        }
    }
}

/// Whether what follows `for` is a loop's, and not an implementation's.
fn is_loop(tokens: &[TokenTree]) -> bool {
    let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(it) if it.delimiter() == Delimiter::Brace);
    let head = tokens.iter().take_while(|token| !is_body(token));
    head.into_iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "in"))
}

fn is_punct(token: Option<&TokenTree>, letter: char) -> bool {
    matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == letter)
}

/// The names in a pattern that ends before one of these words; those after a `$` are arguments'.
fn pattern(tokens: &[TokenTree], ends: &[&str], found: &mut Vec<String>) {
    for (at, token) in tokens.iter().enumerate() {
        if ends.contains(&token.to_string().as_str()) {
            return;
        }
        match token {
            TokenTree::Group(group) => {
                pattern(&group.stream().into_iter().collect::<Vec<_>>(), &[], found);
            }
            TokenTree::Ident(word)
                if !at.checked_sub(1).is_some_and(|before| is_punct(tokens.get(before), '$')) =>
            {
                let word = word.to_string();
                if !matches!(word.as_str(), "mut" | "ref") && !found.contains(&word) {
                    found.push(word);
                }
            }
            _ => {}
        }
    }
}

/// Whether a body declares items, or variables by names that its arguments give.
pub(super) fn declares(body: TokenStream) -> bool {
    const ITEMS: [&str; 8] = ["fn", "struct", "enum", "impl", "trait", "const", "static", "mod"];
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) if word == "let" => {
            let is_mut = matches!(tokens.get(at + 1), Some(TokenTree::Ident(it)) if it == "mut");
            is_punct(tokens.get(at + 1 + usize::from(is_mut)), '$')
        }
        TokenTree::Ident(word) => ITEMS.iter().any(|item| word == item),
        _ => false,
    })
}

/// Whether a name is among tokens.
pub(super) fn mentions(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(&group.stream(), name),
        TokenTree::Ident(word) => word == name,
        _ => false,
    })
}
