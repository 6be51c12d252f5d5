//! Which names are known where, and what each of them is.

use proc_macro2::Ident;

use super::suggest;
use super::syntax::{Expression, Name};

/// Whether messages go out or come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Out,
    In,
}

impl Direction {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Direction::Out => "sends",
            Direction::In => "receives",
        }
    }
}

/// What a set of requests holds, once the first was pushed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) direction: Direction,
    pub(super) message: usize,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Constant,
    /// A constant whose value the language does not understand.
    Opaque,
    Extent,
    Parameter,
    /// A rank or coordinate that the role's pattern has bound.
    Bound,
    LoopVariable,
    /// A value that `let` has named, and that stands wherever its name does.
    Value(Box<Expression>),
    /// Who it was that a wildcard has met.
    Source,
    /// One request; persistent ones are started again and again.
    Request {
        persistent: bool,
    },
    Set(Option<Held>),
    /// Its declaration was wrong, which has been said already.
    Unknown,
}

impl Meaning {
    /// The meaning in words, with an article.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Meaning::Constant | Meaning::Opaque => "a constant",
            Meaning::Extent => "an extent of the grid",
            Meaning::Parameter => "a parameter",
            Meaning::Bound => "a rank",
            Meaning::LoopVariable => "a loop variable",
            Meaning::Value(_) => "a value",
            Meaning::Source => "a source",
            Meaning::Request { .. } => "a request",
            Meaning::Set(_) => "a set of requests",
            Meaning::Unknown => "a name",
        }
    }

    /// Whether it is a number that expressions may use.
    pub(super) fn is_number(&self) -> bool {
        matches!(
            self,
            Meaning::Constant
                | Meaning::Opaque
                | Meaning::Extent
                | Meaning::Parameter
                | Meaning::Bound
                | Meaning::LoopVariable
                | Meaning::Value(_)
        )
    }
}

/// A declaration.
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) id: u32,
    pub(super) meaning: Meaning,
    /// How many blocks are around it.
    depth: usize,
}

/// The declarations that can be named at one point.
#[derive(Default)]
pub(super) struct Scope {
    entries: Vec<Entry>,
    next: u32,
    depth: usize,
}

/// A point to return to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    entries: usize,
    depth: usize,
}

impl Scope {
    /// Begins a block.
    pub(super) fn open(&mut self) -> Mark {
        let mark = Mark { entries: self.entries.len(), depth: self.depth };
        self.depth += 1;
        mark
    }

    /// Ends the block: what it declared is gone.
    pub(super) fn close(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.depth = mark.depth;
    }

    /// How many declarations there were.
    pub(super) fn declared(&self) -> u32 {
        self.next
    }

    /// Goes back to counting from here, for the next role.
    pub(super) fn recount(&mut self, next: u32) {
        self.next = next;
    }

    /// Declares a name. `_` gets a name that nobody can write.
    pub(super) fn declare(&mut self, ident: &Ident, meaning: Meaning) -> Name {
        let id = self.next;
        self.next += 1;
        let text = ident.to_string();
        if text == "_" {
            return Name { ident: Ident::new(&format!("_{id}"), ident.span()), id };
        }
        self.entries.push(Entry { text, id, meaning, depth: self.depth });
        Name { ident: ident.clone(), id }
    }

    /// Brings a declaration back under its name.
    pub(super) fn admit(&mut self, name: &Name, meaning: Meaning) {
        let text = name.ident.to_string();
        self.entries.push(Entry { text, id: name.id, meaning, depth: self.depth });
    }

    /// The declaration that a word refers to.
    pub(super) fn find(&self, word: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.text == word)
    }

    /// The declaration that a word refers to, to change what is known of it.
    pub(super) fn find_mut(&mut self, word: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().rev().find(|entry| entry.text == word)
    }

    /// Whether a new declaration may take the name over: in the same block a source or a request
    /// may be followed by another.
    pub(super) fn may_replace(&self, entry: &Entry, by: &Meaning) -> bool {
        let same = match (&entry.meaning, by) {
            (Meaning::Unknown, _) | (_, Meaning::Unknown) => return true,
            (Meaning::Source, Meaning::Source) => true,
            (Meaning::Request { persistent: old }, Meaning::Request { persistent: new }) => {
                old == new
            }
            _ => false,
        };
        same && entry.depth == self.depth
    }

    /// The name of this kind that is written most like the word.
    pub(super) fn nearest(&self, word: &str, meant: impl Fn(&Meaning) -> bool) -> Option<&str> {
        let names: Vec<&str> = self
            .entries
            .iter()
            .filter(|entry| meant(&entry.meaning))
            .map(|entry| entry.text.as_str())
            .collect();
        suggest::nearest(word, names)
    }
}
