//! Where a text has comments, and where it has code.

use std::ops::Range;

use super::lexer::{Kind, Lexer};

/// A stretch of a text that is not space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A comment.
    Comment(Range<usize>),
    /// A token.
    Code(Range<usize>),
}

/// The comments and the tokens of a C or C++ text, in order.
pub(crate) fn pieces(text: &str, is_cpp: bool) -> impl Iterator<Item = Piece> + use<'_> {
    let mut lexer = Lexer::new(text, is_cpp);
    std::iter::from_fn(move || {
        loop {
            let token = lexer.next();
            let bytes = token.start as usize..token.end as usize;
            match token.kind {
                Kind::End => return None,
                Kind::Newline => {}
                Kind::Comment => return Some(Piece::Comment(bytes)),
                _ => return Some(Piece::Code(bytes)),
            }
        }
    })
}
