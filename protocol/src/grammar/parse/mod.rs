//! Tokens -> tree, with every language error on the way.
//!
//! A part that is wrong is reported where it stands and left out; what follows it is read all the
//! same. A declaration that is wrong still declares its name, so that one mistake is one error.

mod attribute;
mod decision;
mod declaration;
mod expression;
mod items;
mod message;
mod operation;
mod pattern;
mod payload;
mod request;
mod role;
mod statement;

use proc_macro2::{Ident, Span, TokenStream};

pub(super) use payload::scalar_bytes;

use super::LanguageError;
use super::scope::{Meaning, Scope};
use super::syntax::{Name, Protocol};
use super::tokens::{Cursor, Region, Token};
use crate::model::Place;

/// Proof that an error was recorded.
#[derive(Clone)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

/// Reads a protocol: the attribute's arguments and the module that it stands on.
///
/// The tree is there wherever there is a module to speak of, without the parts that are wrong. It
/// is to be judged only if there is no error.
pub fn parse(
    attribute: TokenStream,
    module: TokenStream,
) -> (Option<Protocol>, Vec<LanguageError>) {
    let mut parser = Parser::default();
    let protocol = match (Token::read(attribute), Token::read(module)) {
        (Ok(attribute), Ok(module)) => parser.protocol(&attribute, &module).ok(),
        (attribute, module) => {
            parser.errors.extend(attribute.err().into_iter().chain(module.err()));
            None
        }
    };
    (protocol, parser.errors)
}

/// What is known of a message before any role is read.
struct MessageHead {
    text: String,
    /// What it carries, as written: sets hold messages that carry the same.
    payload: String,
    region: Region,
}

/// What has been read and found so far.
#[derive(Default)]
struct Parser {
    errors: Vec<LanguageError>,
    places: Vec<Span>,
    ends: Vec<Span>,
    messages: Vec<MessageHead>,
    labels: Vec<(Ident, String)>,
    communicators: Vec<(Ident, String)>,
    scope: Scope,
    /// The constants' values, by the id of their names.
    constants: Vec<i64>,
    /// Whether `rank` means something where expressions are read now.
    rank_known: bool,
    /// Whether `size` means something there.
    size_known: bool,
    /// Whether ranks may be written as coordinates.
    grid_known: bool,
    /// How many nodes the expression has that is being read.
    nodes: usize,
    /// How many statements and arms were left out, since they were wrong.
    left_out: usize,
    /// How many statements are around the one that is being read.
    nesting: usize,
}

impl Parser {
    /// Records an error.
    fn report(&mut self, error: LanguageError) -> Reported {
        self.errors.push(error);
        Reported
    }

    /// Records an error without help.
    fn wrong(&mut self, region: Region, message: impl Into<String>) -> Reported {
        self.report(LanguageError::new(region, message))
    }

    /// Records an error with help.
    fn wrong_help(
        &mut self,
        region: Region,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        self.report(LanguageError::new(region, message).help(help))
    }

    /// Makes a place of a region.
    fn place(&mut self, region: Region) -> Place {
        let place = Place(u32::try_from(self.places.len()).unwrap_or(u32::MAX));
        self.places.push(region.joined());
        self.ends.push(region.last);
        place
    }

    /// Declares a name, which must not hide another.
    fn declare(&mut self, ident: &Ident, meaning: Meaning) -> Name {
        let text = ident.to_string();
        let region = Region::from(ident.span());
        if matches!(text.as_str(), "rank" | "size" | "any") {
            let message = format!("`{text}` is a word of the language");
            self.wrong_help(region, message, "give it another name");
        } else if let Some(entry) = self.scope.find(&text)
            && !self.scope.may_replace(entry, &meaning)
        {
            let message = format!("`{text}` already is {} here", entry.meaning.noun());
            self.wrong_help(region, message, "a name stands for one thing; choose another");
        }
        self.scope.declare(ident, meaning)
    }

    /// Reports what is left over.
    fn finished(&mut self, cursor: Cursor<'_>, help: &str) -> Parsed<()> {
        if cursor.is_empty() {
            return Ok(());
        }
        Err(self.wrong_help(cursor.remainder(), "this does not belong here", help))
    }
}
