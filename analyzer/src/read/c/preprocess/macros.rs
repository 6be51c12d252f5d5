//! Which macros there are, and what each of them says.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::lexer::{Kind, Lexer};
use super::sources::Sources;

/// The token is no parameter of a macro.
pub(super) const NO_PARAMETER: u16 = u16::MAX;

/// No macro that somebody has written has more.
const MOST_PARAMETERS: usize = 256;

/// A token wherever it comes from: a stretch of one of the texts of a translation unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Which text.
    pub(super) text: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether there is space before it.
    pub(super) space: bool,
    /// It is a name that is not replaced any more: it came out of its own replacement.
    pub(super) done: bool,
    /// In what a macro says: which of its parameters it is.
    pub(super) parameter: u16,
}

/// A macro.
pub(super) struct Macro {
    /// The text it is defined in.
    text: u32,
    /// What follows its name.
    start: u32,
    end: u32,
    /// What it says, once somebody uses it.
    meaning: Option<Rc<Meaning>>,
    /// It is being replaced, and stands for itself in what it says.
    pub(super) open: bool,
    /// It is one of those that the preprocessor knows by itself.
    pub(super) builtin: Option<Builtin>,
}

/// What the preprocessor finds out by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `__FILE__`
    File,
    /// `__LINE__`
    Line,
    /// `__COUNTER__`
    Counter,
}

/// What a macro says.
pub(super) struct Meaning {
    /// How many parameters it has; `None` if it is used without parentheses.
    pub(super) parameters: Option<usize>,
    /// Whether the last of them stands for all that is left.
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
}

/// The macros that are defined at some point of a text.
#[derive(Default)]
pub(super) struct Macros {
    names: FxHashMap<Box<str>, u32>,
    list: Vec<Macro>,
    /// For each first byte, the lengths of the names that begin with it.
    lengths: Lengths,
}

struct Lengths([u64; 256]);

impl Default for Lengths {
    fn default() -> Self {
        Lengths([0; 256])
    }
}

fn length_bit(name: &str) -> u64 {
    1 << name.len().min(63)
}

impl Macros {
    /// The macro of a name.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let first = *name.as_bytes().first()?;
        if self.lengths.0[first as usize] & length_bit(name) == 0 {
            return None;
        }
        self.names.get(name).copied()
    }

    pub(super) fn get(&self, number: u32) -> &Macro {
        &self.list[number as usize]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Macro {
        &mut self.list[number as usize]
    }

    /// Defines a macro; what follows its name stands there.
    pub(super) fn define(&mut self, name: &str, text: u32, start: u32, end: u32) {
        let builtin = None;
        self.add(name, Macro { text, start, end, meaning: None, open: false, builtin });
    }

    /// Defines one that the preprocessor finds out by itself.
    pub(super) fn define_builtin(&mut self, name: &str, builtin: Builtin) {
        let builtin = Some(builtin);
        self.add(name, Macro { text: 0, start: 0, end: 0, meaning: None, open: false, builtin });
    }

    fn add(&mut self, name: &str, definition: Macro) {
        let Some(&first) = name.as_bytes().first() else { return };
        self.lengths.0[first as usize] |= length_bit(name);
        self.names.insert(name.into(), self.list.len() as u32);
        self.list.push(definition);
    }

    pub(super) fn undefine(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// What a macro says.
    pub(super) fn meaning(
        &mut self,
        number: u32,
        sources: &Sources<'_>,
        is_cpp: bool,
    ) -> Rc<Meaning> {
        let definition = &mut self.list[number as usize];
        let read = || {
            let text = sources.file(definition.text);
            let lexer = Lexer::new(text, is_cpp).part(definition.start, definition.end);
            Rc::new(Meaning::read(lexer, text, definition.text))
        };
        Rc::clone(definition.meaning.get_or_insert_with(read))
    }
}

impl Macros {
    /// What a macro says if that is one token which is no name.
    pub(super) fn plain_word(
        &mut self,
        number: u32,
        sources: &Sources<'_>,
        is_cpp: bool,
    ) -> Option<Token> {
        if self.get(number).builtin.is_some() {
            return None;
        }
        let meaning = self.meaning(number, sources, is_cpp);
        match (meaning.parameters, meaning.body.as_slice()) {
            (None, [only]) if only.kind != Kind::Name => Some(*only),
            _ => None,
        }
    }
}

impl Meaning {
    /// Reads what follows a macro's name.
    fn read(mut lexer: Lexer<'_>, text: &str, number: u32) -> Meaning {
        let mut names: Vec<&str> = Vec::new();
        let (mut parameters, mut variadic) = (None, false);
        let start = lexer.clone();
        let first = lexer.next();
        if first.kind == Kind::Open && !first.space {
            variadic = read_parameters(&mut lexer, text, &mut names);
            parameters = Some(names.len());
        } else {
            lexer = start;
        }
        let mut body: Vec<Token> = Vec::new();
        let mut space = false;
        loop {
            let token = lexer.next();
            space |= token.space;
            match token.kind {
                Kind::End => break,
                Kind::Comment | Kind::Newline => {
                    space = true;
                    continue;
                }
                _ => {}
            }
            let word = &text[token.start as usize..token.end as usize];
            let place = names.iter().position(|name| *name == word);
            body.push(Token {
                kind: token.kind,
                text: number,
                start: token.start,
                end: token.end,
                space: space && !body.is_empty(),
                done: false,
                parameter: place.map_or(NO_PARAMETER, |place| place as u16),
            });
            space = false;
        }
        Meaning { parameters, variadic, body }
    }
}

/// Reads up to the `)`; whether the last parameter stands for all that is left.
fn read_parameters<'t>(lexer: &mut Lexer<'_>, text: &'t str, names: &mut Vec<&'t str>) -> bool {
    let mut variadic = false;
    // Whether a name without a comma behind it has come.
    let mut named = false;
    loop {
        let token = lexer.next();
        match token.kind {
            Kind::Close | Kind::End => return variadic,
            Kind::Name => {
                names.push(&text[token.start as usize..token.end as usize]);
                named = true;
            }
            Kind::Comma => named = false,
            Kind::Sign if &text[token.start as usize..token.end as usize] == "..." => {
                variadic = true;
                if !named {
                    names.push("__VA_ARGS__");
                }
            }
            _ => {}
        }
        if names.len() > MOST_PARAMETERS {
            return variadic;
        }
    }
}
