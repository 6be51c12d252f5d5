//! `// p2p-check: allow(RULE) reason`: what a comment in the source silences.
//!
//! A comment after code speaks of its own line, a comment alone on its line of the next line with
//! code; `allow-file(RULE)` speaks of the whole file. Comments are found with a lexer, rustc's or the
//! preprocessor's, so that one inside a string is none.

use std::ops::Range;

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, strip_shebang, tokenize};

use crate::read::c::preprocess;
use crate::source::Language;

/// The word that begins every suppression.
const WORD: &str = "p2p-check:";

/// One rule's name in one comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The name as written.
    pub rule: String,
    /// Where the name stands.
    pub bytes: Range<usize>,
    /// The line it speaks of, counted from 1; `None` for the whole file.
    pub line: Option<usize>,
}

impl Suppression {
    /// Whether a finding of this rule on this line is meant.
    pub fn covers(&self, rule: &str, line: usize) -> bool {
        self.rule == rule && self.line.is_none_or(|covered| covered == line)
    }
}

/// All suppressions of a file, and the comments that begin like one and are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    /// Those that were understood.
    pub list: Vec<Suppression>,
    /// Where the others stand.
    pub unclear: Vec<Range<usize>>,
}

/// What a text has of which a suppression may be one, or may be about.
enum Piece {
    /// A comment that may be one.
    Comment(Range<usize>),
    /// What is no comment and no space.
    Code(Range<usize>),
}

/// Finds the suppressions of a file.
pub fn find(text: &str, language: Language) -> Suppressions {
    if !text.contains(WORD) {
        return Suppressions::default();
    }
    match language {
        Language::Rust => find_among(text, pieces_of_rust(text).into_iter()),
        Language::C | Language::Cpp => find_among(text, pieces_of_c(text, language)),
    }
}

fn pieces_of_rust(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = strip_shebang(text).unwrap_or(0);
    for token in tokenize(&text[at..], FrontmatterAllowed::No) {
        let bytes = at..at + token.len as usize;
        at = bytes.end;
        match token.kind {
            TokenKind::LineComment { doc_style: None }
            | TokenKind::BlockComment { doc_style: None, .. } => pieces.push(Piece::Comment(bytes)),
            TokenKind::Whitespace
            | TokenKind::LineComment { .. }
            | TokenKind::BlockComment { .. } => {}
            _ => pieces.push(Piece::Code(bytes)),
        }
    }
    pieces
}

fn pieces_of_c(text: &str, language: Language) -> impl Iterator<Item = Piece> + use<'_> {
    preprocess::pieces(text, language == Language::Cpp).map(|piece| match piece {
        preprocess::Piece::Comment(bytes) => Piece::Comment(bytes),
        preprocess::Piece::Code(bytes) => Piece::Code(bytes),
    })
}

fn find_among(text: &str, pieces: impl Iterator<Item = Piece>) -> Suppressions {
    let mut comments: Vec<(Range<usize>, usize)> = Vec::new();
    let mut lines_with_code = Vec::new();
    let (mut line, mut at) = (1, 0);
    let lines = |bytes: Range<usize>| memchr::memchr_iter(b'\n', &text.as_bytes()[bytes]).count();
    for piece in pieces {
        let (Piece::Comment(bytes) | Piece::Code(bytes)) = &piece;
        let first = line + lines(at..bytes.start);
        line = first + lines(bytes.clone());
        at = bytes.end;
        match piece {
            Piece::Comment(bytes) => comments.push((bytes, first)),
            Piece::Code(_) => lines_with_code.extend(first..=line),
        }
    }
    let mut found = Suppressions::default();
    for (bytes, line) in comments {
        let next = lines_with_code.partition_point(|&with_code| with_code < line);
        let spoken_of = lines_with_code.get(next).copied().unwrap_or(line);
        found.read_comment(text, bytes, spoken_of);
    }
    found
}

impl Suppressions {
    fn read_comment(&mut self, text: &str, bytes: Range<usize>, line: usize) {
        let comment = &text[bytes.clone()];
        let words = comment.trim_start_matches('/').trim_start_matches('*').trim_start();
        let Some(directive) = words.strip_prefix(WORD).map(str::trim_start) else { return };
        let file = directive.strip_prefix("allow-file");
        let arguments = file.or_else(|| directive.strip_prefix("allow")).map(str::trim_start);
        let names = arguments
            .and_then(|text| text.strip_prefix('('))
            .and_then(|text| text.split_once(')'))
            .map(|(names, _)| names)
            .filter(|names| !names.trim().is_empty());
        let Some(names) = names else {
            self.unclear.push(bytes.start..bytes.start + comment.trim_end().len());
            return;
        };
        let line = file.is_none().then_some(line);
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            // Both are parts of one text, so the distance of their starts is the offset.
            let start = name.as_ptr() as usize - text.as_ptr() as usize;
            let bytes = start..start + name.len();
            self.list.push(Suppression { rule: name.to_owned(), bytes, line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Option<usize>)> {
        let list = find(text, Language::Rust).list;
        assert!(list.iter().all(|it| text[it.bytes.clone()] == it.rule));
        list.into_iter().map(|it| (it.rule, it.line)).collect()
    }

    #[test]
    fn a_comment_speaks_of_its_line_or_of_the_next_with_code() {
        let text = "#!/bin/x\r\nsend(); // p2p-check: allow(a) why\r\n  // p2p-check: allow(b, c)\n\
                    // more\n\n  recv();\n// p2p-check:allow-file( d )\n/* p2p-check: allow(e) */ x";
        let line = |name: &str, line| (name.to_owned(), line);
        let expected = [
            line("a", Some(2)),
            line("b", Some(6)),
            line("c", Some(6)),
            line("d", None),
            line("e", Some(8)),
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn comments_of_c_speak_as_well() {
        let text = "#if 1 // p2p-check: allow(a)\n/* p2p-check: allow(b)\n */\n\
                    #endif\nchar *s = \"// p2p-check: allow(c)\"; /* p2p-check: allow-file(d) */";
        let list = find(text, Language::C).list;
        let found: Vec<_> = list.iter().map(|it| (it.rule.as_str(), it.line)).collect();
        assert_eq!(found, [("a", Some(1)), ("b", Some(4)), ("d", None)]);
    }

    #[test]
    fn strings_and_documentation_are_not_comments() {
        let text = "let x = \"// p2p-check: allow(a)\";\n/// p2p-check: allow(b)\nfn f() {}";
        assert_eq!(find(text, Language::Rust), Suppressions::default());
    }

    #[test]
    fn what_begins_like_one_and_is_none_is_kept_apart() {
        for text in ["// p2p-check: alow(a)", "// p2p-check: allow a", "// p2p-check: allow()"] {
            let found = find(text, Language::Rust);
            assert_eq!(found.list, [], "{text}");
            assert_eq!(found.unclear.first(), Some(&(0..text.len())), "{text}");
        }
    }
}
