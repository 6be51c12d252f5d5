//! Every protocol under `fixtures` is read without an error and judged as its comments say:
//! `//~ rule` at the end of the line that a finding is about.

use std::fs;
use std::path::{Path, PathBuf};

use p2p_protocol::finding::Level;
use p2p_protocol::grammar::{self, CheckOptions};
use proc_macro2::TokenStream;
use quote::ToTokens;

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

/// The attribute's arguments and the module of every protocol in a text.
pub(crate) fn protocols(text: &str) -> Vec<(TokenStream, TokenStream)> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let mut found = Vec::new();
    for item in file.items {
        let syn::Item::Mod(module) = item else { continue };
        let Some(attribute) =
            module.attrs.iter().find(|attribute| attribute.path().is_ident("p2p_protocol"))
        else {
            continue;
        };
        let arguments = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        found.push((arguments, module.to_token_stream()));
    }
    found
}

/// Where the fixtures are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The expected `line: rule`s of a text.
fn expected(text: &str) -> Vec<String> {
    let mut expected = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((_, rules)) = line.split_once("//~") {
            let above = rules.chars().take_while(|&letter| letter == '^').count();
            let number = index + 1 - above;
            let rules = rules.trim_start_matches('^').split(',');
            expected.extend(rules.map(|rule| format!("{number}: {}", rule.trim())));
        }
    }
    expected.sort();
    expected
}

/// The found `line: rule`s of a text.
fn found(text: &str) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    for (attribute, module) in protocols(text) {
        let (protocol, errors) = grammar::parse(attribute, module);
        let say = |errors: &[grammar::LanguageError]| {
            let texts = errors.iter().map(|error| {
                format!("{}: {} ({:?})", error.span.start().line, error.message, error.help)
            });
            texts.collect::<Vec<_>>().join("\n")
        };
        let Some(protocol) = protocol.filter(|_| errors.is_empty()) else {
            return Err(say(&errors));
        };
        let report = grammar::check(&protocol, &CheckOptions::default());
        if !report.errors.is_empty() {
            return Err(say(&report.errors));
        }
        for finding in report.findings.iter().filter(|finding| finding.level != Level::Allow) {
            let span = protocol.places[finding.primary.place.0 as usize];
            lines.push(format!("{}: {}", span.start().line, finding.rule));
        }
    }
    lines.sort();
    Ok(lines)
}

#[test]
fn fixtures_are_judged_as_they_say() {
    let mut wrong = Vec::new();
    let mut protocols = 0;
    for path in files(&folder()) {
        let text = fs::read_to_string(&path).expect("a fixture is readable");
        protocols += self::protocols(&text).len();
        let found = found(&text).unwrap_or_else(|errors| vec![errors]);
        let expected = expected(&text);
        if found != expected {
            wrong.push(format!("{}\n  expected {expected:?}\n  found {found:?}", path.display()));
        }
    }
    assert!(protocols > 20, "only {protocols} protocols were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
