//! Nothing that is fed to the parser makes it, or the check behind it, panic or overflow the stack.
//!
//! The fixtures, changed at random with a fixed seed; random tokens; and text that nests as deep as
//! a recursive parser fears. The fuzz target in `fuzz/` looks further.

use std::fs;

use p2p_protocol::grammar::{self, CheckOptions};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;

#[path = "grammar/source.rs"]
#[expect(dead_code, reason = "the other half is for the tests beside it")]
mod source;

/// How many changed fixtures are read.
const ROUNDS: usize = 4_000;

/// Reads a protocol, and judges it if it is right.
fn feed(attribute: TokenStream, module: TokenStream) -> bool {
    let (protocol, errors) = grammar::parse(attribute, module);
    let right = protocol.filter(|_| errors.is_empty());
    if let Some(protocol) = &right {
        let options = CheckOptions { sizes: Some(vec![1, 3]), ..CheckOptions::default() };
        grammar::check(protocol, &options);
    }
    right.is_some()
}

/// Numbers without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("it is below a usize")
    }
}

/// The tokens with one change somewhere inside.
fn changed(tokens: TokenStream, dice: &mut Dice, spare: &[TokenTree]) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let at = dice.below(tokens.len());
    if let Some(TokenTree::Group(group)) = tokens.get(at)
        && dice.below(8) > 0
    {
        let inside = changed(group.stream(), dice, spare);
        tokens[at] = Group::new(group.delimiter(), inside).into();
        return tokens.into_iter().collect();
    }
    let other = spare[dice.below(spare.len())].clone();
    match dice.below(7) {
        0 if at < tokens.len() => {
            tokens.remove(at);
        }
        1 if at < tokens.len() => tokens[at] = other,
        2 if at < tokens.len() => {
            let to = dice.below(tokens.len());
            tokens.swap(at, to);
        }
        3 if at < tokens.len() => {
            let end = at + dice.below(tokens.len() - at);
            let copy: Vec<TokenTree> = tokens[at..end].to_vec();
            tokens.splice(at..at, copy);
        }
        4 if at < tokens.len() => {
            let end = at + dice.below(tokens.len() - at);
            tokens.drain(at..end);
        }
        5 => {
            let delimiters =
                [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None];
            let inside: TokenStream = tokens.drain(at..).collect();
            tokens.push(Group::new(delimiters[dice.below(4)], inside).into());
        }
        _ => tokens.insert(at, other),
    }
    tokens.into_iter().collect()
}

/// Every token of a stream that is no group.
fn leaves(stream: TokenStream, found: &mut Vec<TokenTree>) {
    for token in stream {
        match token {
            TokenTree::Group(group) => leaves(group.stream(), found),
            leaf => found.push(leaf),
        }
    }
}

#[test]
fn changed_fixtures_are_read() {
    let mut corpus = Vec::new();
    for path in source::files(&source::fixtures()) {
        let text = fs::read_to_string(&path).expect("a fixture is readable");
        corpus.extend(source::modules(&text));
    }
    assert!(corpus.len() > 20, "only {} protocols were found", corpus.len());
    let mut spare = Vec::new();
    for (attribute, module) in &corpus {
        leaves(attribute.clone(), &mut spare);
        leaves(module.clone(), &mut spare);
    }
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut right = 0;
    for _ in 0..ROUNDS {
        let (mut attribute, mut module) = corpus[dice.below(corpus.len())].clone();
        for _ in 0..=dice.below(3) {
            module = changed(module, &mut dice, &spare);
        }
        if dice.below(8) == 0 {
            attribute = changed(attribute, &mut dice, &spare);
        }
        right += usize::from(feed(attribute, module));
    }
    assert!((ROUNDS / 100..ROUNDS * 9 / 10).contains(&right), "{right} of {ROUNDS} were right");
}

/// A token, or a group of them.
fn token() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "send",
        "recv",
        "isend",
        "irecv",
        "wait",
        "wait_all",
        "wait_any",
        "test",
        "requests",
        "push",
        "let",
        "for",
        "in",
        "if",
        "else",
        "loop",
        "match",
        "choose",
        "offer",
        "break",
        "continue",
        "'a",
        "rank",
        "size",
        "any",
        "A",
        "x",
        "0",
        "1",
        "9999999999",
        "1.5",
        "\"s\"",
        "+",
        "-",
        "*",
        "/",
        "%",
        "^",
        "..",
        "..=",
        "=>",
        "=",
        "==",
        "<",
        ">",
        "&&",
        "||",
        "!",
        ".",
        ",",
        ";",
        ":",
        "::",
        "#",
        "|",
        "fn",
        "type",
        "struct",
        "const",
        "mod",
        "pub",
        "message",
        "as",
        "rev",
        "step_by",
        "_",
        "if",
        "min",
    ]);
    let leaf = words.prop_map(str::to_owned);
    leaf.prop_recursive(5, 60, 10, |inner| {
        let brackets = prop::sample::select(vec![("(", ")"), ("{", "}"), ("[", "]")]);
        (brackets, prop::collection::vec(inner, 0..10))
            .prop_map(|((open, close), inside)| format!("{open}{}{close}", inside.join(" ")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_tokens_are_read(
        attribute in prop::collection::vec(token(), 0..6),
        items in prop::collection::vec(token(), 0..12),
        pattern in prop::collection::vec(token(), 1..4),
        body in prop::collection::vec(token(), 0..20),
    ) {
        let (attribute, items) = (attribute.join(" "), items.join(" "));
        let (pattern, body) = (pattern.join(" "), body.join(" "));
        let module = format!("mod m {{ type A = u8; {items} #[rank({pattern})] fn r() {{ {body} }} }}");
        if let (Ok(attribute), Ok(module)) = (attribute.parse(), module.parse()) {
            feed(attribute, module);
        }
    }
}

/// A role with this body, read on the small stack of a test's thread.
fn errors_of_body(body: &str) -> usize {
    errors_of(&format!("type A = u8; #[rank(_)] fn all() {{ {body} }}"))
}

fn errors_of(items: &str) -> usize {
    let module = format!("mod deep {{ {items} }}");
    let module = module.parse().expect("these are tokens");
    grammar::parse(TokenStream::new(), module).1.len()
}

#[test]
fn nothing_overflows_the_stack() {
    const DEEP: usize = 10_000;
    let nested = |open: &str, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    for value in [
        nested("(", "1", ")"),
        nested("-", "1", ""),
        nested("1 + ", "1", ""),
        nested("1 + (", "1", ")"),
        nested("if true { ", "1", " } else { 2 }"),
        nested("", "1", ".min(1)"),
        nested("", "1", " else if true { 1 }"),
        nested("1.min(", "1", ")"),
    ] {
        assert_eq!(errors_of_body(&format!("send({value}, A);")), 1, "{}", &value[..30]);
    }
    for body in [
        nested("{", "", "}"),
        nested("loop {", "break;", "}"),
        nested("if true {", "", "}"),
        nested("for i in 0..1 {", "", "}"),
        nested("match choose() { Go => {", "", "} }"),
        format!("if true {{}} {}", nested("else if true {}", "", "")),
        nested("'a: ", "loop {}", ""),
        nested("requests(", "", ")"),
    ] {
        assert!(errors_of_body(&body) > 0, "{}", &body[..20]);
    }
    for ty in [
        nested("Vec<", "u8", ">"),
        nested("&", "u8", ""),
        nested("[", "u8", "]"),
        nested("(", "u8", ")"),
        nested("fn() -> ", "u8", ""),
        nested("*const ", "u8", ""),
        format!("[u8; {}]", nested("!", "1", "")),
        format!("[u8; {}]", nested("1 + ", "1", "")),
    ] {
        assert!(errors_of(&format!("type B = {ty};")) > 0, "{}", &ty[..8]);
    }
    assert!(errors_of(&format!("const K: u8 = {};", nested("-", "1", ""))) > 0);
    assert!(errors_of(&format!("#[doc = {}] #[rank(_)] fn r() {{}}", nested("-", "1", ""))) > 0);
    assert!(errors_of(&format!("#[rank({})] fn r() {{}}", nested("1 | ", "1", ""))) == 0);
    assert!(errors_of(&format!("#[message] struct S {{ a: {} }}", nested("A<", "u8", ">"))) > 0);
}

#[test]
fn a_long_protocol_is_no_deep_one() {
    let many = |one: &str| one.repeat(3_000);
    assert_eq!(errors_of_body(&many("send(rank + 1, A);")), 0);
    assert_eq!(errors_of_body(&many("if rank > 1 { send(1, A); } else { recv(1, A); }")), 0);
    let fields: String = (0..3_000).map(|field| format!("/// A field.\n f{field}: u8,")).collect();
    assert_eq!(errors_of(&format!("#[message] struct S {{ {fields} }} #[rank(_)] fn r() {{}}")), 0);
}
