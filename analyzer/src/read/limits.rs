//! What can be told from the tokens alone: whether a file declares modules in other files, and
//! whether it is nested deeper than a parser that calls itself can go.

use std::ops::Range;

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};

/// Brackets inside brackets; handwritten code has some twenty.
const DEPTH: usize = 400;
/// Tokens of one expression, without any `{`, `}`, `;` or `,`: each may be a level of the tree.
const RUN: usize = 10_000;

/// Whether `mod name;` occurs.
pub(super) fn declares_modules(text: &str) -> bool {
    if !text.contains("mod") {
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
    fn depth_and_length_have_an_end() {
        assert_eq!(check(&"(".repeat(DEPTH)), Ok(()));
        assert_eq!(check(&"(".repeat(DEPTH + 1)).unwrap_err().0, DEPTH..DEPTH + 1);
        assert_eq!(check(&"!".repeat(RUN)), Ok(()));
        assert!(check(&"!".repeat(RUN + 1)).is_err());
        assert_eq!(check(&"1,".repeat(RUN + 1)), Ok(()));
    }
}
