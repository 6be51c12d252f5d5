//! The whole macro over the fixtures, outside the compiler.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::quote;

use crate::expand::expand;

/// The arguments and the module of each protocol in a source file.
fn protocols(source: &str) -> Vec<(TokenStream, TokenStream)> {
    let file = syn::parse_file(source).expect("a fixture is Rust");
    let modules = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Mod(module) => Some(module),
        _ => None,
    });
    modules
        .map(|mut module| {
            let attribute = module.attrs.remove(0);
            let arguments = attribute.meta.require_list().expect("it has arguments");
            (arguments.tokens.clone(), quote!(#module))
        })
        .collect()
}

/// All fixtures, with their paths.
fn fixtures() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")];
    let mut fixtures = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                // The programs on rsmpi declare no protocols that are compiled here.
                folders.extend((!path.ends_with("rsmpi")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).expect("a fixture is text");
                fixtures.push((path, source));
            }
        }
    }
    fixtures
}

#[test]
fn every_fixture_becomes_items_and_the_right_ones_no_errors() {
    let fixtures = fixtures();
    assert!(fixtures.len() > 50, "only {} fixtures", fixtures.len());
    let mut refusals = 0;
    for (path, source) in fixtures {
        let code: TokenStream =
            protocols(&source).into_iter().map(|(it, module)| expand(it, module)).collect();
        let text = code.to_string();
        assert!(syn::parse2::<syn::File>(code).is_ok(), "{}: {text}", path.display());
        let (wrong, refused) = (source.contains("//~"), text.contains("compile_error"));
        assert!(wrong || !refused, "{}", path.display());
        refusals += usize::from(refused);
    }
    assert!(refusals > 30, "only {refusals} wrong fixtures are refused");
}

/// The tokens without the one at this position, counted through all groups.
fn without(tokens: TokenStream, position: &mut usize) -> TokenStream {
    let mut rest = TokenStream::new();
    for token in tokens {
        let here = *position == 0;
        *position = position.wrapping_sub(1);
        match token {
            _ if here => {}
            TokenTree::Group(group) => {
                let inner = without(group.stream(), position);
                rest.extend([TokenTree::from(Group::new(group.delimiter(), inner))]);
            }
            other => rest.extend([other]),
        }
    }
    rest
}

#[test]
fn no_missing_token_makes_it_panic() {
    let source = include_str!("../../fixtures/protocols/ring/good/even_odd.rs");
    let (arguments, module) = protocols(source).remove(0);
    for position in 0.. {
        let mut left = position;
        let changed = without(module.clone(), &mut left);
        if left < usize::MAX / 2 {
            break;
        }
        expand(arguments.clone(), changed);
    }
}

/// The code of the one protocol in a source.
fn expanded(source: &str) -> String {
    let (arguments, module) = protocols(source).remove(0);
    expand(arguments, module).to_string()
}

#[test]
fn a_protocol_that_is_too_long_is_never_called_checked() {
    let with = |statement: &str| {
        expanded(&format!(
            "#[p2p_protocol(ranks = 2)] mod long {{
                pub type Ping = u8;
                #[rank(_)] fn all() {{ {statement} }}
            }}"
        ))
    };
    let begun = with("for i in 0..1_000_000_000 { sendrecv(1 - rank, Ping, 1 - rank, Ping); }");
    assert!(!begun.contains("compile_error"), "{begun}");
    assert!(begun.contains("only the first rounds of long loops were looked at"), "{begun}");
    assert!(!begun.contains("Checked for"), "{begun}");
    let nothing = with("match choose(0..1_000_000_000) { Go => {} Stop => {} }");
    assert!(nothing.contains("compile_error"), "{nothing}");
    assert!(nothing.contains("nothing was checked with 2 ranks"), "{nothing}");
}
