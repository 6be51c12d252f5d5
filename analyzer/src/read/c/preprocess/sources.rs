//! All texts that the tokens of one translation unit are parts of.

use super::lexer::{Kind, Lexeme};
use super::macros::{NO_PARAMETER, Token};
use super::texts::Text;
use crate::source::FileId;

/// The number of the text that is made while macros are replaced.
const MADE: u32 = u32::MAX;

/// The texts of one translation unit.
#[derive(Default)]
pub(super) struct Sources<'r> {
    files: Vec<(Text<'r>, FileId)>,
    /// What is made out of tokens, by `#` and `##`.
    made: String,
}

impl<'r> Sources<'r> {
    /// Adds a text, with the number that everybody knows it by.
    pub(super) fn add(&mut self, text: Text<'r>, file: FileId) -> u32 {
        self.files.push((text, file));
        self.files.len() as u32 - 1
    }

    pub(super) fn text(&self, number: u32) -> Text<'r> {
        self.files[number as usize].0.clone()
    }

    /// The number of a text that everybody knows it by.
    pub(super) fn number(&self, number: u32) -> FileId {
        self.files[number as usize].1
    }

    pub(super) fn file(&self, number: u32) -> &str {
        self.files[number as usize].0.as_str()
    }

    /// What a token says.
    pub(super) fn word(&self, token: &Token) -> &str {
        let text = if token.text == MADE { &self.made } else { self.file(token.text) };
        &text[token.start as usize..token.end as usize]
    }

    /// Makes a token of a text that stands nowhere.
    pub(super) fn make(&mut self, kind: Kind, space: bool, word: &str) -> Token {
        let start = self.made.len() as u32;
        self.made.push_str(word);
        let end = self.made.len() as u32;
        let (done, parameter) = (false, NO_PARAMETER);
        Token { kind, text: MADE, start, end, space, done, parameter }
    }
}

impl Token {
    /// A token that was read from a text.
    pub(super) fn of(token: Lexeme, text: u32) -> Token {
        let Lexeme { kind, start, end, space } = token;
        Token { kind, text, start, end, space, done: false, parameter: NO_PARAMETER }
    }
}
