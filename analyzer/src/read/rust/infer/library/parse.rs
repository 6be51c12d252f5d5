//! Reads the tables of signatures. They are part of the program, so a mistake in them is a defect
//! that the first test shows.

use std::sync::Arc;

use super::{Library, Signature, Template};
use crate::program::Scalar;

/// Adds what a table says.
pub(super) fn table(text: &str, library: &mut Library) {
    let mut owner: Option<(Arc<str>, Arc<Template>)> = None;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut reader = Reader::new(line);
        if let Some(rest) = line.strip_prefix("type ") {
            let (names, parents) = rest.split_once(':').expect("`type NAMES: PARENTS`");
            let parents: Vec<Arc<str>> = parents.split_whitespace().map(Arc::from).collect();
            for name in names.split_whitespace() {
                library.parents.entry(name.into()).or_default().extend(parents.iter().cloned());
            }
        } else if reader.eat("impl") {
            let of = reader.template();
            owner = Some((section(&of), Arc::new(of)));
        } else {
            let (name, of) = owner.as_ref().expect("an entry stands below an `impl`");
            entry(&mut reader, name, of, library);
        }
    }
}

/// The name under which the methods of a type are kept.
fn section(of: &Template) -> Arc<str> {
    match of {
        Template::External(name, _) => name.clone(),
        Template::Slice(_) => "[]".into(),
        Template::Text => "str".into(),
        Template::Scalar(scalar) => scalar.name().into(),
        other => unreachable!("methods of {other:?}"),
    }
}

fn entry(reader: &mut Reader<'_>, section: &Arc<str>, of: &Arc<Template>, library: &mut Library) {
    let mut names = Vec::new();
    while !matches!(reader.peek(), Some("(" | "<" | "->")) {
        let prefix = if reader.eat("::") {
            "::"
        } else if reader.eat(".") {
            "."
        } else {
            ""
        };
        names.push(format!("{prefix}{}", reader.next()));
    }
    let mut generics = Vec::new();
    if reader.eat("<") {
        while !reader.eat(">") {
            generics.push(letter(reader.next()).expect("a letter"));
            reader.eat(",");
        }
    }
    let parameters = if reader.eat("(") { reader.list(")") } else { Vec::new() };
    let result = if reader.eat("->") { reader.template() } else { Template::Tuple(Vec::new()) };
    let signature = Arc::new(Signature { of: of.clone(), generics, parameters, result });
    let own = library.signatures.entry(section.clone()).or_default();
    own.extend(names.into_iter().map(|name| (name.into(), signature.clone())));
}

fn letter(word: &str) -> Option<u8> {
    match word.as_bytes() {
        [letter @ b'A'..=b'Z'] => Some(letter - b'A'),
        _ => None,
    }
}

/// The words of a line, one after the other.
struct Reader<'t> {
    words: Vec<&'t str>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn new(line: &'t str) -> Self {
        let mut words = Vec::new();
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if first.is_alphanumeric() || first == '_' {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            } else if rest.starts_with("::") || rest.starts_with("->") {
                2
            } else {
                first.len_utf8()
            };
            words.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        Reader { words, at: 0 }
    }

    fn peek(&self) -> Option<&'t str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self) -> &'t str {
        self.at += 1;
        self.words.get(self.at - 1).expect("the line is complete")
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    /// Types up to the closing word.
    fn list(&mut self, close: &str) -> Vec<Template> {
        let mut list = Vec::new();
        while !self.eat(close) {
            list.push(self.template());
            self.eat(",");
        }
        list
    }

    fn template(&mut self) -> Template {
        match self.next() {
            "?" => Template::Unknown,
            "_" => Template::Any,
            "!" => Template::Never,
            "*" => Template::Each(Box::new(self.template())),
            "&" => Template::Reference(Box::new(self.template())),
            "(" => {
                let mut list = self.list(")");
                if list.len() == 1 { list.remove(0) } else { Template::Tuple(list) }
            }
            "[" => self.bracket(),
            "Self" => Template::Itself,
            "str" => Template::Text,
            "fn" => {
                assert!(self.eat("("), "`fn(PARAMETERS) -> RESULT`");
                let mut parts = self.list(")");
                parts.push(if self.eat("->") { self.template() } else { Template::Tuple(vec![]) });
                Template::Function(parts)
            }
            word => self.named(word),
        }
    }

    fn bracket(&mut self) -> Template {
        let element = Box::new(self.template());
        let template = if self.eat(";") {
            self.next();
            Template::Array(element)
        } else {
            Template::Slice(element)
        };
        assert!(self.eat("]"), "`]` after an element");
        template
    }

    fn named(&mut self, word: &str) -> Template {
        if let Some(letter) = letter(word) {
            Template::Letter(letter)
        } else if let Some(scalar) = Scalar::from_name(word) {
            Template::Scalar(scalar)
        } else {
            let arguments = if self.eat("<") { self.list(">") } else { Vec::new() };
            Template::External(word.into(), arguments)
        }
    }
}
