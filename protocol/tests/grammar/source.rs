//! Protocols out of text, and the expectations that stand in its comments.

use std::fs;
use std::path::{Path, PathBuf};

use p2p_protocol::grammar::syntax::Protocol;
use p2p_protocol::grammar::{self, LanguageError};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// All Rust files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Where the fixtures are.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The attribute's arguments and the module of every protocol in a text. The module need not be
/// right; what is around it must be tokens.
pub(crate) fn modules(text: &str) -> Vec<(TokenStream, TokenStream)> {
    let tokens: Vec<TokenTree> = text.parse::<TokenStream>().into_iter().flatten().collect();
    let mut found = Vec::new();
    for start in 0..tokens.len() {
        let [TokenTree::Punct(mark), TokenTree::Group(attribute), rest @ ..] = &tokens[start..]
        else {
            continue;
        };
        let mut inside = attribute.stream().into_iter();
        if mark.as_char() != '#'
            || !inside.next().is_some_and(|word| is_word(&word, "p2p_protocol"))
        {
            continue;
        }
        let arguments = match inside.next() {
            Some(TokenTree::Group(arguments)) => arguments.stream(),
            _ => TokenStream::new(),
        };
        let braces = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let end = rest.iter().position(braces).map_or(rest.len(), |body| body + 1);
        found.push((arguments, rest[..end].iter().cloned().collect()));
    }
    found
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// Reads the one protocol of a text.
pub(crate) fn read(text: &str) -> (Option<Protocol>, Vec<LanguageError>) {
    let mut modules = modules(text);
    assert_eq!(modules.len(), 1, "the text has one protocol:\n{text}");
    let (attribute, module) = modules.remove(0);
    grammar::parse(attribute, module)
}

/// The one protocol of a text, which is right.
pub(crate) fn protocol(text: &str) -> Protocol {
    let (protocol, errors) = read(text);
    assert!(errors.is_empty(), "{}\n{text}", lines(&errors).join("\n"));
    protocol.expect("a protocol without errors is there")
}

/// A protocol of these roles and messages `A` (`[f32]`), `B` (`u64`) and `C` (`[f32; 4]`).
pub(crate) fn with_messages(arguments: &str, roles: &str) -> String {
    format!(
        "#[p2p_protocol({arguments})]\nmod sample {{\n\
         type A = [f32];\ntype B = u64;\ntype C = [f32; 4];\n{roles}\n}}\n"
    )
}

/// `line: message (help)` of each error.
pub(crate) fn lines(errors: &[LanguageError]) -> Vec<String> {
    let line = |error: &LanguageError| {
        let help = error.help.as_deref().unwrap_or("no help");
        format!("{}: {} ({help})", error.span.start().line, error.message)
    };
    errors.iter().map(line).collect()
}

/// What follows `//~` on each line, with the line's number; `//~^` speaks of the line above.
pub(crate) fn expectations(text: &str) -> Vec<(usize, String)> {
    let mut expected = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for part in line.split("//~").skip(1) {
            let above = part.chars().take_while(|&letter| letter == '^').count();
            let part = part.trim_start_matches('^').trim();
            expected.push((index + 1 - above, part.to_owned()));
        }
    }
    expected
}

/// Holds errors against the expectations in a text: each line has the errors that it announces, in
/// order, and there are no others.
pub(crate) fn assert_announced(text: &str, errors: &[LanguageError]) {
    let mut open = expectations(text);
    let mut surprising = Vec::new();
    for error in errors {
        let line = error.span.start().line;
        let announced = open.iter().position(|(expected, part)| {
            *expected == line && error.message.contains(part.as_str())
        });
        match announced {
            Some(index) => {
                open.remove(index);
            }
            None => surprising.extend(lines(std::slice::from_ref(error))),
        }
    }
    assert!(
        open.is_empty() && surprising.is_empty(),
        "not found: {open:?}\nnot announced: {surprising:#?}\n{text}"
    );
}
