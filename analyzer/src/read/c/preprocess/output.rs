//! The expanded text while it is written.

use std::ops::Range;

use super::macros::Token;
use super::origins::Origins;
use super::sources::Sources;

/// The text that was written so far.
#[derive(Default)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) origins: Origins,
    /// What was written last and what comes next are two tokens, whatever they look like.
    apart: bool,
}

impl Output {
    /// Copies a part of a text.
    pub(super) fn copy(&mut self, sources: &Sources<'_>, text: u32, bytes: Range<usize>) {
        let part = &sources.file(text)[bytes.clone()];
        let Some(&first) = part.as_bytes().first() else { return };
        self.keep_apart(first);
        self.origins.copied(self.text.len(), sources.number(text), bytes.start as u32);
        self.text.push_str(part);
    }

    /// What comes next is another token.
    pub(super) fn separate(&mut self) {
        self.apart = true;
    }

    /// Begins a new line.
    pub(super) fn begin_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Writes what macros say that are used in a stretch of a text. Tokens of that stretch come from
    /// where they stand, all others from the whole use.
    pub(super) fn write(
        &mut self,
        sources: &Sources<'_>,
        tokens: &[Token],
        text: u32,
        used: &Range<u32>,
    ) {
        let file = sources.number(text);
        for token in tokens {
            let word = sources.word(token);
            let Some(&first) = word.as_bytes().first() else { continue };
            if token.space && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
            self.apart = true;
            self.keep_apart(first);
            if token.text == text && used.contains(&token.start) {
                self.origins.copied(self.text.len(), file, token.start);
            } else {
                self.origins.used(self.text.len(), file, used);
            }
            self.text.push_str(word);
        }
        self.apart = true;
    }

    /// Writes a space if the next byte would become part of the last token.
    fn keep_apart(&mut self, next: u8) {
        if std::mem::take(&mut self.apart)
            && self.text.as_bytes().last().is_some_and(|&last| would_join(last, next))
        {
            self.text.push(' ');
        }
    }
}

fn would_join(last: u8, next: u8) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | 0x80..);
    let is_sign = |byte: u8| b"+-*/%&|^<>=!#:.".contains(&byte);
    is_part(last) && (is_part(next) || matches!(next, b'"' | b'\''))
        || is_sign(last) && is_sign(next)
}
