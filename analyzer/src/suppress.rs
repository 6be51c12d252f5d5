//! `// p2p-check: allow(RULE) reason`: what a comment in the source silences.
//!
//! A comment after code speaks of its own line, a comment alone on its line of the next line with
//! code; `allow-file(RULE)` speaks of the whole file. Comments are found with rustc's lexer, so
//! that one inside a string is none.

use std::ops::Range;

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, strip_shebang, tokenize};

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

/// Finds the suppressions of a Rust file.
pub fn find(text: &str) -> Suppressions {
    if !text.contains(WORD) {
        return Suppressions::default();
    }
    let mut comments: Vec<(Range<usize>, usize)> = Vec::new();
    let mut lines_with_code = Vec::new();
    let mut at = strip_shebang(text).unwrap_or(0);
    let mut line = 1;
    for token in tokenize(&text[at..], FrontmatterAllowed::No) {
        let bytes = at..at + token.len as usize;
        let last = line + text[bytes.clone()].matches('\n').count();
        match token.kind {
            TokenKind::LineComment { doc_style: None }
            | TokenKind::BlockComment { doc_style: None, .. } => {
                comments.push((bytes.clone(), line))
            }
            TokenKind::Whitespace
            | TokenKind::LineComment { .. }
            | TokenKind::BlockComment { .. } => {}
            _ => lines_with_code.extend(line..=last),
        }
        (at, line) = (bytes.end, last);
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
        let list = find(text).list;
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
    fn strings_and_documentation_are_not_comments() {
        let text = "let x = \"// p2p-check: allow(a)\";\n/// p2p-check: allow(b)\nfn f() {}";
        assert_eq!(find(text), Suppressions::default());
    }

    #[test]
    fn what_begins_like_one_and_is_none_is_kept_apart() {
        for text in ["// p2p-check: alow(a)", "// p2p-check: allow a", "// p2p-check: allow()"] {
            let found = find(text);
            assert_eq!(found.list, [], "{text}");
            assert_eq!(found.unclear.first(), Some(&(0..text.len())), "{text}");
        }
    }
}
