//! A C text as preprocessing tokens, one at a time and without allocation: names, numbers, literals,
//! signs, and what lies between them.

/// What a token is, as far as a preprocessor wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name,
    /// What begins like a number.
    Number,
    /// A string or a character, with its prefix.
    Literal,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `#`
    Hash,
    /// `##`
    Paste,
    /// Any other sign.
    Sign,
    /// A comment.
    Comment,
    /// The end of a line.
    Newline,
    /// The end of the text.
    End,
}

/// A token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lexeme {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether there is space before it.
    pub(super) space: bool,
}

/// Reads a text from some byte to some other.
#[derive(Clone)]
pub(super) struct Lexer<'t> {
    text: &'t [u8],
    /// Where the next token is looked for.
    pub(super) at: usize,
    end: usize,
    /// Whether there are raw strings.
    is_cpp: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Newline,
    Letter,
    Digit,
    Quote,
    Slash,
    Backslash,
    Dot,
    Sign,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Sign; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => Class::Space,
            b'\n' => Class::Newline,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'"' | b'\'' => Class::Quote,
            b'/' => Class::Slash,
            b'\\' => Class::Backslash,
            b'.' => Class::Dot,
            _ => Class::Sign,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[byte as usize]
}

fn is_part(byte: u8) -> bool {
    matches!(class(byte), Class::Letter | Class::Digit)
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, is_cpp: bool) -> Self {
        Lexer { text: text.as_bytes(), at: 0, end: text.len(), is_cpp }
    }

    /// Reads a part of the text only.
    pub(super) fn part(&self, start: u32, end: u32) -> Lexer<'t> {
        Lexer { at: start as usize, end: (end as usize).min(self.text.len()), ..self.clone() }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { Some(self.text[at]) } else { None }
    }

    /// The next token. Spaces are passed over, ends of lines are not; a line that goes on on the next
    /// one does not end.
    pub(super) fn next(&mut self) -> Lexeme {
        let before = self.at;
        loop {
            let start = self.at;
            let Some(byte) = self.byte(start) else {
                return self.token(Kind::End, start, start, before);
            };
            let (kind, end) = match class(byte) {
                Class::Space => {
                    self.at += 1;
                    continue;
                }
                Class::Backslash => match self.continued(start) {
                    Some(end) => {
                        self.at = end;
                        continue;
                    }
                    None => (Kind::Sign, start + 1),
                },
                Class::Newline => (Kind::Newline, start + 1),
                Class::Letter => self.name(start),
                Class::Digit => (Kind::Number, self.number(start)),
                Class::Quote => (Kind::Literal, self.literal(start)),
                Class::Dot if self.byte(start + 1).is_some_and(|it| it.is_ascii_digit()) => {
                    (Kind::Number, self.number(start))
                }
                Class::Slash => match self.byte(start + 1) {
                    Some(b'/') => (Kind::Comment, self.line_comment(start)),
                    Some(b'*') => (Kind::Comment, self.block_comment(start)),
                    _ => self.sign(start, byte),
                },
                Class::Sign | Class::Dot => self.sign(start, byte),
            };
            self.at = end;
            return self.token(kind, start, end, before);
        }
    }

    fn token(&self, kind: Kind, start: usize, end: usize, before: usize) -> Lexeme {
        Lexeme { kind, start: start as u32, end: end as u32, space: start > before }
    }

    /// Where the next line begins if the backslash here joins it to this one.
    fn continued(&self, at: usize) -> Option<usize> {
        match (self.byte(at + 1), self.byte(at + 2)) {
            (Some(b'\n'), _) => Some(at + 2),
            (Some(b'\r'), Some(b'\n')) => Some(at + 3),
            _ => None,
        }
    }

    fn name(&self, start: usize) -> (Kind, usize) {
        let mut end = start + 1;
        while self.byte(end).is_some_and(is_part) {
            end += 1;
        }
        if end - start <= 3 && matches!(self.byte(end), Some(b'"' | b'\'')) {
            match &self.text[start..end] {
                b"L" | b"u" | b"U" | b"u8" => return (Kind::Literal, self.literal(end)),
                b"R" | b"LR" | b"uR" | b"UR" | b"u8R"
                    if self.is_cpp && self.byte(end) == Some(b'"') =>
                {
                    return (Kind::Literal, self.raw_string(end));
                }
                _ => {}
            }
        }
        (Kind::Name, end)
    }

    fn number(&self, start: usize) -> usize {
        let mut end = start + 1;
        while let Some(byte) = self.byte(end) {
            let next = self.byte(end + 1);
            let goes_on = is_part(byte)
                || byte == b'.'
                || matches!(byte, b'+' | b'-')
                    && matches!(self.text[end - 1], b'e' | b'E' | b'p' | b'P')
                    && !self.text[start..end].starts_with(b"0x")
                || matches!(byte, b'+' | b'-') && matches!(self.text[end - 1], b'p' | b'P')
                || byte == b'\'' && next.is_some_and(|it| it.is_ascii_hexdigit());
            if !goes_on {
                break;
            }
            end += 1;
        }
        end
    }

    /// The end of a string or a character whose quote is here: at the latest that of its line.
    fn literal(&self, quote: usize) -> usize {
        let mut at = quote + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at = self.continued(at).unwrap_or(at + 2),
                b'\n' => return at,
                _ if byte == self.text[quote] => return at + 1,
                _ => at += 1,
            }
        }
        self.end
    }

    /// The end of `"name(..)name"`.
    fn raw_string(&self, quote: usize) -> usize {
        let rest = &self.text[quote + 1..self.end];
        let Some(length) = rest.iter().take(17).position(|&byte| byte == b'(') else {
            return self.literal(quote);
        };
        let mut ending = vec![b')'];
        ending.extend_from_slice(&rest[..length]);
        ending.push(b'"');
        let found = memchr::memmem::find(rest, &ending);
        found.map_or(self.end, |at| quote + 1 + at + ending.len())
    }

    fn line_comment(&self, start: usize) -> usize {
        let mut at = start;
        loop {
            let Some(found) = memchr::memchr(b'\n', &self.text[at..self.end]) else {
                return self.end;
            };
            at += found;
            let line = &self.text[start..at];
            if !(line.ends_with(b"\\") || line.ends_with(b"\\\r")) {
                return at;
            }
            at += 1;
        }
    }

    fn block_comment(&self, start: usize) -> usize {
        let inside = (start + 2).min(self.end);
        let found = memchr::memmem::find(&self.text[inside..self.end], b"*/");
        found.map_or(self.end, |at| inside + at + 2)
    }

    fn sign(&self, start: usize, byte: u8) -> (Kind, usize) {
        let (next, third) = (self.byte(start + 1), self.byte(start + 2));
        match byte {
            b'(' => return (Kind::Open, start + 1),
            b')' => return (Kind::Close, start + 1),
            b',' => return (Kind::Comma, start + 1),
            b'#' if next == Some(b'#') => return (Kind::Paste, start + 2),
            b'#' => return (Kind::Hash, start + 1),
            _ => {}
        }
        let length = match (byte, next, third) {
            (b'.', Some(b'.'), Some(b'.'))
            | (b'<', Some(b'<'), Some(b'='))
            | (b'>', Some(b'>'), Some(b'=')) => 3,
            (b'-', Some(b'>'), _) => 2,
            (b':', Some(b':'), _) if self.is_cpp => 2,
            (b'+' | b'-' | b'&' | b'|' | b'<' | b'>', Some(second), _) if second == byte => 2,
            (
                b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!',
                Some(b'='),
                _,
            ) => 2,
            _ => 1,
        };
        (Kind::Sign, start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::new(text, true);
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::End {
                return tokens;
            }
            tokens.push((token.kind, &text[token.start as usize..token.end as usize]));
        }
    }

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn signs_are_as_long_as_they_can_be() {
        assert_eq!(
            words("a+++b>>=c->d...e##f"),
            ["a", "++", "+", "b", ">>=", "c", "->", "d", "...", "e", "##", "f"]
        );
    }

    #[test]
    fn numbers_and_literals_are_whole() {
        let text = "1.5e-3 0x1Fu .5f 1'000 0xe+1 L'\\'' u8\"a\\\"b\" R\"x(\")\")x\" 'a";
        let expected = [
            "1.5e-3",
            "0x1Fu",
            ".5f",
            "1'000",
            "0xe",
            "+",
            "1",
            "L'\\''",
            "u8\"a\\\"b\"",
            "R\"x(\")\")x\"",
            "'a",
        ];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn comments_and_lines_end_where_they_end() {
        let text = "a // b \\\n c\n/* d\n */ e \\\r\n f";
        let expected = [
            (Kind::Name, "a"),
            (Kind::Comment, "// b \\\n c"),
            (Kind::Newline, "\n"),
            (Kind::Comment, "/* d\n */"),
            (Kind::Name, "e"),
            (Kind::Name, "f"),
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn what_does_not_end_ends_with_the_text() {
        for text in ["\"abc", "/*", "/", "'\\", "R\"(", "R\"", "\\", "//\\", "1'", "L'"] {
            let ends = tokens(text);
            assert_eq!(
                ends.iter().map(|(_, word)| word.len()).sum::<usize>(),
                text.len(),
                "{text}"
            );
        }
    }
}
