//! What can be told from the tokens alone: whether a file declares modules in other files, what is
//! left of it without bodies, and whether it is nested deeper than a parser that calls itself can go.

use std::ops::Range;

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};

/// Brackets inside brackets; handwritten code has some twenty.
const DEPTH: usize = 400;
/// Tokens of one expression, without any `{`, `}`, `;` or `,`: each may be a level of the tree.
const RUN: usize = 10_000;

/// Whether `mod name;` occurs.
pub(super) fn declares_modules(text: &str) -> bool {
    if !text.match_indices("mod").any(|(at, word)| may_declare(&text[at + word.len()..])) {
        return false;
    }
    let mut at = 0;
    // How much of `mod name ;` has been seen.
    let mut seen = 0;
    for token in tokenize(text, FrontmatterAllowed::No) {
        let word = &text[at..at + token.len as usize];
        at += token.len as usize;
        seen = match (token.kind, seen) {
            (
                TokenKind::Whitespace
                | TokenKind::LineComment { .. }
                | TokenKind::BlockComment { .. },
                seen,
            ) => seen,
            (TokenKind::Ident, 0) if word == "mod" => 1,
            (TokenKind::Ident | TokenKind::RawIdent, 1) => 2,
            (TokenKind::Semi, 2) => return true,
            _ => 0,
        };
    }
    false
}

/// Whether what follows `mod` looks like a name and a semicolon; a comment may be anything.
fn may_declare(rest: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '#');
    let after = rest.trim_start();
    if after.starts_with('/') {
        return true;
    }
    let end = after.trim_start_matches(is_part);
    let has_name = end.len() < after.len() && after.len() < rest.len();
    has_name && end.trim_start().starts_with([';', '/'])
}

/// The text with what stands in braces taken out, but for modules and macros: the items without
/// their bodies, each token where it was. What is declared stays declared, and little is left to be
/// parsed.
pub(super) fn without_bodies(text: &str) -> String {
    let mut left = Vec::with_capacity(text.len());
    let mut at = 0;
    // For each open brace whether its inside is kept; what is not is blank.
    let mut open: Vec<bool> = Vec::new();
    // The last two tokens.
    let mut before = ["", ""];
    for token in tokenize(text, FrontmatterAllowed::No) {
        let word = &text[at..at + token.len as usize];
        at += token.len as usize;
        let kept = open.last().copied().unwrap_or(true);
        match token.kind {
            TokenKind::OpenBrace => {
                let inside = kept && (before[0] == "mod" || before[1] == "!" || before[0] == "!");
                open.push(inside);
                left.push(if kept { b'{' } else { b' ' });
            }
            TokenKind::CloseBrace => {
                open.pop();
                let kept = open.last().copied().unwrap_or(true);
                left.push(if kept { b'}' } else { b' ' });
            }
            TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => {
                left.resize(left.len() + word.len(), b' ');
            }
            _ if kept => left.extend_from_slice(word.as_bytes()),
            _ => left.resize(left.len() + word.len(), b' '),
        }
        let is_space = matches!(
            token.kind,
            TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. }
        );
        if !is_space {
            before = [before[1], word];
        }
    }
    // Only whole tokens were replaced, so it is text still.
    String::from_utf8(left).unwrap_or_default()
}

/// Where the text is too deep to be parsed, and what to say about it.
pub(super) fn check(text: &str) -> Result<(), (Range<usize>, String)> {
    let mut at = 0;
    let mut depth = 0_usize;
    let mut run = 0;
    for token in tokenize(text, FrontmatterAllowed::No) {
        let bytes = at..at + token.len as usize;
        at = bytes.end;
        use TokenKind::{
            BlockComment, CloseBrace, CloseBracket, CloseParen, Comma, LineComment, OpenBrace,
            OpenBracket, OpenParen, Semi, Whitespace,
        };
        match token.kind {
            OpenBrace | OpenBracket | OpenParen => depth += 1,
            CloseBrace | CloseBracket | CloseParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        match token.kind {
            OpenBrace | CloseBrace | Semi | Comma => run = 0,
            Whitespace | LineComment { .. } | BlockComment { .. } => {}
            _ => run += 1,
        }
        if depth > DEPTH {
            return Err((bytes, format!("more than {DEPTH} brackets inside each other")));
        }
        if run > RUN {
            return Err((bytes, format!("more than {RUN} tokens in one expression")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modules_in_other_files_count() {
        for text in ["mod a;", "pub(crate) mod /* x */ r#a\n;", "#[cfg(x)] mod b ;"] {
            assert!(declares_modules(text), "{text}");
        }
        for text in ["mod a {}", "// mod a;", "\"mod a;\"", "modify();", "mod a.b;"] {
            assert!(!declares_modules(text), "{text}");
        }
    }

    #[test]
    fn bodies_are_left_out_and_modules_and_macros_are_not() {
        let text = "fn f() { if x { é } } mod a { mod b; fn g() { y } } // {\n\
                    m! { mod c; } macro_rules! n { () => { x } } struct S { x: u8 } mod d;";
        let left = without_bodies(text);
        assert_eq!(left.len(), text.len());
        let words: Vec<&str> = left.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "fn f() { } mod a { mod b; fn g() { } } m! { mod c; } macro_rules! n { () => { } } \
             struct S { } mod d;"
        );
        assert_eq!(left.find("mod d"), text.find("mod d"));
    }

    #[test]
    fn depth_and_length_have_an_end() {
        assert_eq!(check(&"(".repeat(DEPTH)), Ok(()));
        assert_eq!(check(&"(".repeat(DEPTH + 1)).unwrap_err().0, DEPTH..DEPTH + 1);
        assert_eq!(check(&"!".repeat(RUN)), Ok(()));
        assert!(check(&"!".repeat(RUN + 1)).is_err());
        assert_eq!(check(&"1,".repeat(RUN + 1)), Ok(()));
    }
}
