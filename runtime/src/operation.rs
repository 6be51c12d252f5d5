//! What a step of the specification is called where messages and errors speak of it.

use std::fmt;
use std::ops::Range;

/// One operation of the specification: a `static` of the generated code, one for each place.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// As the specification writes it: "send(dest, Block)".
    pub text: &'static str,
    /// The verb alone: "send".
    pub verb: &'static str,
    /// The message's name, empty where there is none.
    pub message: &'static str,
    /// The message's tag.
    pub tag: i32,
    /// The message's communicator.
    pub communicator: u16,
    /// The file that declares the protocol.
    pub file: &'static str,
    /// The line of the operation, from 1.
    pub line: u32,
    /// The column of the operation, from 1.
    pub column: u32,
}

impl Operation {
    /// All of it, in the order of the fields.
    #[doc(hidden)]
    #[expect(clippy::too_many_arguments, reason = "generated code calls it, and is shorter so")]
    pub const fn new(
        text: &'static str,
        verb: &'static str,
        message: &'static str,
        tag: i32,
        communicator: u16,
        file: &'static str,
        line: u32,
        column: u32,
    ) -> Operation {
        Operation { text, verb, message, tag, communicator, file, line, column }
    }
}

impl fmt::Display for Operation {
    /// "`send(dest, Block)` (src/main.rs:12:9)".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}:{}:{})", self.text, self.file, self.line, self.column)
    }
}

/// From whom a receive or probe takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This rank.
    Rank(i64),
    /// Whoever comes first out of these.
    Any(Range<i64>),
}

/// What a receive has taken, or a probe has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Who sent it.
    pub source: usize,
    /// How many elements it has.
    pub count: usize,
}
