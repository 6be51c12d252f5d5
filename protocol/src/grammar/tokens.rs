//! Tokens as the parser reads them: a tree in plain vectors, walked by slices.
//!
//! The compiler hands out its tokens through a slow bridge, so each is taken over once, with the
//! text of words at hand. How deep groups may nest is limited here, before anything recurses.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use super::LanguageError;

/// How deep groups may nest. What follows recurses over them, also in a compiler's small stack.
pub(super) const DEEPEST: usize = 64;

/// One token; a group with what is inside.
pub(super) struct Token {
    /// As it came.
    pub(super) tree: TokenTree,
    /// A word's text; empty for everything else.
    pub(super) text: String,
    /// A group's content; empty for everything else.
    pub(super) inside: Vec<Token>,
}

/// A stretch of source, by its first and last token. Few compilers can join two spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) first: Span,
    pub(super) last: Span,
}

impl Region {
    /// From the start of this one to the end of the other.
    pub(super) fn to(self, other: Region) -> Region {
        Region { first: self.first, last: other.last }
    }

    /// All of it as one span, or the first token's where the compiler cannot join.
    pub(super) fn joined(self) -> Span {
        self.first.join(self.last).unwrap_or(self.first)
    }
}

impl From<Span> for Region {
    fn from(span: Span) -> Region {
        Region { first: span, last: span }
    }
}

impl Token {
    /// Takes over a stream, or says where it nests too deep.
    pub(super) fn read(stream: TokenStream) -> Result<Vec<Token>, LanguageError> {
        Token::read_at(stream, 0)
    }

    fn read_at(stream: TokenStream, depth: usize) -> Result<Vec<Token>, LanguageError> {
        let mut tokens = Vec::new();
        for tree in stream {
            let mut text = String::new();
            let mut inside = Vec::new();
            match &tree {
                TokenTree::Group(group) if depth == DEEPEST => {
                    return Err(LanguageError::new(
                        group.span_open().into(),
                        "this is nested too deep to be checked",
                    )
                    .help(format!("keep to {DEEPEST} brackets inside each other")));
                }
                TokenTree::Group(group) => inside = Token::read_at(group.stream(), depth + 1)?,
                TokenTree::Ident(ident) => text = ident.to_string(),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            let transparent = matches!(&tree, TokenTree::Group(group)
                if group.delimiter() == Delimiter::None && inside.len() == 1);
            match inside.pop() {
                Some(only) if transparent => tokens.push(only),
                last => {
                    inside.extend(last);
                    tokens.push(Token { tree, text, inside });
                }
            }
        }
        Ok(tokens)
    }

    /// Where it stands.
    pub(super) fn region(&self) -> Region {
        match &self.tree {
            TokenTree::Group(group) => {
                Region { first: group.span_open(), last: group.span_close() }
            }
            other => other.span().into(),
        }
    }

    /// Whether it is this word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.text == word
    }

    /// Whether it is this punctuation.
    pub(super) fn is_mark(&self, mark: char) -> bool {
        matches!(&self.tree, TokenTree::Punct(punct) if punct.as_char() == mark)
    }

    /// The word, if it is one.
    pub(super) fn word(&self) -> Option<&Ident> {
        match &self.tree {
            TokenTree::Ident(ident) => Some(ident),
            _ => None,
        }
    }

    /// Whether it is a group in these brackets.
    pub(super) fn is_group(&self, delimiter: Delimiter) -> bool {
        matches!(&self.tree, TokenTree::Group(group) if group.delimiter() == delimiter)
    }

    /// The inside of a group, for reading.
    pub(super) fn enter(&self) -> Cursor<'_> {
        let end = match &self.tree {
            TokenTree::Group(group) => group.span_close().into(),
            other => other.span().into(),
        };
        Cursor { rest: &self.inside, end }
    }
}

/// What is still to be read of a group or a part of it.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    /// The tokens not yet read.
    pub(super) rest: &'t [Token],
    /// Where to point when something is missing at the end.
    pub(super) end: Region,
}

impl<'t> Cursor<'t> {
    /// Whether all is read.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next token, left there.
    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.rest.first()
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Where the next token stands, or where one is missing.
    pub(super) fn region(&self) -> Region {
        self.peek().map_or(self.end, Token::region)
    }

    /// Where all that is left stands.
    pub(super) fn remainder(&self) -> Region {
        match self.rest {
            [] => self.end,
            [first, .., last] => first.region().to(last.region()),
            [only] => only.region(),
        }
    }

    /// Whether this punctuation follows, written together.
    pub(super) fn at(&self, marks: &str) -> bool {
        let length = marks.len();
        self.rest.len() >= length
            && marks.chars().zip(self.rest).enumerate().all(|(index, (mark, token))| {
                matches!(&token.tree, TokenTree::Punct(punct) if punct.as_char() == mark
                    && (index + 1 == length || punct.spacing() == proc_macro2::Spacing::Joint))
            })
    }

    /// Reads this punctuation if it follows.
    pub(super) fn take(&mut self, marks: &str) -> bool {
        let there = self.at(marks);
        if there {
            self.rest = &self.rest[marks.len()..];
        }
        there
    }

    /// Whether this word follows.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is_word(word))
    }

    /// Reads this word if it follows.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.rest = &self.rest[1..];
        }
        there
    }

    /// Reads a group in these brackets if it follows.
    pub(super) fn take_group(&mut self, delimiter: Delimiter) -> Option<&'t Token> {
        let group = self.peek().filter(|token| token.is_group(delimiter))?;
        self.rest = &self.rest[1..];
        Some(group)
    }

    /// Reads up to the first token that is meant, or all; that token stays.
    pub(super) fn until(&mut self, meant: impl Fn(&Token) -> bool) -> Cursor<'t> {
        let length = self.rest.iter().position(meant).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        Cursor { rest: taken, end: self.region() }
    }

    /// What has been read since an earlier state of the same cursor.
    pub(super) fn since(&self, earlier: Cursor<'t>) -> &'t [Token] {
        &earlier.rest[..earlier.rest.len() - self.rest.len()]
    }
}

/// The region of some tokens, if there are any.
pub(super) fn region_of(tokens: &[Token]) -> Option<Region> {
    Some(tokens.first()?.region().to(tokens.last()?.region()))
}

/// The tokens as a stream again.
pub(super) fn stream_of<'t>(tokens: impl IntoIterator<Item = &'t Token>) -> TokenStream {
    tokens.into_iter().map(|token| token.tree.clone()).collect()
}

/// At most how deep a recursive parser of Rust can get in these tokens: between two separators
/// each token may open a level (`&&&&T`, `A<A<A<..`), and so does each group.
pub(super) fn recursion(tokens: &[Token]) -> usize {
    let mut deepest = 0;
    let mut run = 0;
    for (index, token) in tokens.iter().enumerate() {
        let attribute = index > 0 && tokens[index - 1].is_mark('#');
        if token.is_mark(',') || token.is_mark(';') {
            run = 0;
        } else if !attribute && !token.is_mark('#') {
            run += 1;
        }
        let inside = if token.inside.is_empty() { 0 } else { recursion(&token.inside) };
        deepest = deepest.max(run + inside);
    }
    deepest
}
