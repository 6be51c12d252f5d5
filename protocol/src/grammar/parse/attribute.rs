//! Arguments of attributes: `#[p2p_protocol(ranks = 2.., grid(P, Q), allow(rule))]` and
//! `#[message(tag = 3, count = steps, communicator = halo)]`.

use proc_macro2::{Delimiter, Span, TokenTree};

use super::{Parsed, Parser};
use crate::grammar::scope::Meaning;
use crate::grammar::suggest;
use crate::grammar::syntax::{Extent, Grid, Requirement};
use crate::grammar::text;
use crate::grammar::tokens::{Cursor, Region, Token};

/// One argument: `key = value` or `key(value)`.
pub(super) struct Argument<'t> {
    pub(super) key: &'t str,
    pub(super) region: Region,
    pub(super) value: Cursor<'t>,
}

/// What a key's value looks like.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `key = value`
    Equals,
    /// `key(value)`
    Brackets,
}

/// The keys of one attribute, each with an example.
type Keys = [(&'static str, Form, &'static str)];

const PROTOCOL: &Keys = &[
    ("ranks", Form::Equals, "ranks = 2.."),
    ("grid", Form::Brackets, "grid(P, Q)"),
    ("require", Form::Brackets, "require(root < size)"),
    ("allow", Form::Brackets, "allow(deadlock_unbuffered)"),
];

const MESSAGE: &Keys = &[
    ("tag", Form::Equals, "tag = 3"),
    ("count", Form::Equals, "count = 1024"),
    ("communicator", Form::Equals, "communicator = halo"),
];

impl Parser {
    /// The arguments of `#[p2p_protocol(..)]`.
    pub(super) fn protocol_arguments<'t>(&mut self, cursor: Cursor<'t>) -> Vec<Argument<'t>> {
        self.arguments(cursor, "p2p_protocol", PROTOCOL)
    }

    /// The arguments of `#[message(..)]`.
    pub(super) fn message_arguments<'t>(&mut self, cursor: Cursor<'t>) -> Vec<Argument<'t>> {
        self.arguments(cursor, "message", MESSAGE)
    }

    fn arguments<'t>(
        &mut self,
        mut cursor: Cursor<'t>,
        attribute: &str,
        keys: &Keys,
    ) -> Vec<Argument<'t>> {
        let mut arguments: Vec<Argument<'t>> = Vec::new();
        while !cursor.is_empty() {
            let mut argument = cursor.until(|token| token.is_mark(','));
            cursor.take(",");
            if let Ok(argument) = self.key_and_value(&mut argument, attribute, keys) {
                if arguments.iter().any(|other| other.key == argument.key) {
                    let message = format!("`{}` is given twice", argument.key);
                    self.wrong_help(argument.region, message, "keep one of them");
                } else {
                    arguments.push(argument);
                }
            }
        }
        arguments
    }

    fn key_and_value<'t>(
        &mut self,
        cursor: &mut Cursor<'t>,
        attribute: &str,
        keys: &Keys,
    ) -> Parsed<Argument<'t>> {
        let examples = || {
            let examples = keys.iter().map(|(_, _, example)| format!("`{example}`"));
            examples.collect::<Vec<_>>().join(", ")
        };
        let region = cursor.region();
        let Some(key) = cursor.next().filter(|token| token.word().is_some()) else {
            let help = format!("`#[{attribute}(..)]` takes {}", examples());
            return Err(self.wrong_help(region, "expected a key", help));
        };
        let Some(&(_, form, example)) = keys.iter().find(|(name, _, _)| key.is_word(name)) else {
            return Err(self.unknown_key(key, attribute, keys, &examples()));
        };
        let brackets = cursor.peek().filter(|token| token.is_group(Delimiter::Parenthesis));
        let value = match (form, brackets) {
            (Form::Equals, _) if cursor.take("=") => *cursor,
            (Form::Brackets, Some(group)) if cursor.rest.len() == 1 => group.enter(),
            _ => {
                let message = format!("this is not how `{}` is written", key.text);
                return Err(self.wrong_help(region, message, format!("write `{example}`")));
            }
        };
        if value.is_empty() {
            let message = format!("`{}` needs a value", key.text);
            return Err(self.wrong_help(region, message, format!("write `{example}`")));
        }
        Ok(Argument { key: &key.text, region, value })
    }

    fn unknown_key(
        &mut self,
        key: &Token,
        attribute: &str,
        keys: &Keys,
        examples: &str,
    ) -> super::Reported {
        let message = format!("`{attribute}` has no argument `{}`", key.text);
        let help = match suggest::nearest(&key.text, keys.iter().map(|(name, _, _)| *name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if key.is_word("role") && attribute == "p2p_protocol" => {
                "`role = ..` stands on a function that follows a role, not on a protocol".to_owned()
            }
            None => format!("it takes {examples}"),
        };
        self.wrong_help(key.region(), message, help)
    }

    /// `P, Q`, each a new name or a number; `P, P` is a square.
    pub(super) fn grid(&mut self, mut cursor: Cursor<'_>) -> Parsed<Grid> {
        let help = "a grid has two extents: `grid(P, Q)`, `grid(4, Q)`";
        let all = cursor;
        let mut rows = cursor.until(|token| token.is_mark(','));
        cursor.take(",");
        let mut columns = cursor.until(|token| token.is_mark(','));
        cursor.take(",");
        if !cursor.is_empty() || columns.is_empty() {
            return Err(self.wrong_help(all.remainder(), "this is not a grid", help));
        }
        let square = matches!((rows.rest, columns.rest), ([one], [other])
            if one.word().is_some() && one.text == other.text);
        let rows = self.extent(&mut rows, help);
        let columns = if square { rows.clone() } else { self.extent(&mut columns, help) };
        Ok(Grid { rows: rows?, columns: columns? })
    }

    fn extent(&mut self, cursor: &mut Cursor<'_>, help: &str) -> Parsed<Extent> {
        if let [token] = cursor.rest
            && let Some(ident) = token.word()
            && self.scope.find(&token.text).is_none()
        {
            return Ok(Extent::Named(self.declare(ident, Meaning::Extent)));
        }
        let region = cursor.remainder();
        let value = self.fixed_value(cursor)?;
        match u32::try_from(value) {
            Ok(extent) if extent > 0 => Ok(Extent::Fixed(extent)),
            _ => Err(self.wrong_help(region, format!("{value} is no extent of a grid"), help)),
        }
    }

    /// Conditions on parameters, which are in scope.
    pub(super) fn requirements(&mut self, mut cursor: Cursor<'_>) -> Vec<Requirement> {
        let help = "conditions in parameters, constants and `size`: `require(root < size)`";
        let mut requirements = Vec::new();
        self.size_known = true;
        while !cursor.is_empty() {
            let mut one = cursor.until(|token| token.is_mark(','));
            cursor.take(",");
            let text = text::line(one.rest);
            if let Ok(condition) = self.condition(&mut one)
                && self.finished(one, help).is_ok()
            {
                requirements.push(Requirement { condition, text });
            }
        }
        self.size_known = false;
        requirements
    }

    /// The rules named, in kebab-case.
    pub(super) fn allowed(&mut self, mut cursor: Cursor<'_>) -> Vec<(String, Span)> {
        let mut allowed = Vec::new();
        while !cursor.is_empty() {
            let name = cursor.until(|token| token.is_mark(','));
            cursor.take(",");
            match name.rest {
                [token] if matches!(token.tree, TokenTree::Ident(_)) => {
                    let rule = token.text.replace('_', "-");
                    if self.known_rule(&rule, token) {
                        allowed.push((rule, token.region().first));
                    }
                }
                _ => {
                    let help = "write its name with underscores: `allow(deadlock_unbuffered)`";
                    self.wrong_help(name.remainder(), "this is not a rule", help);
                }
            }
        }
        allowed
    }

    #[cfg(feature = "engine")]
    fn known_rule(&mut self, rule: &str, token: &Token) -> bool {
        let names = crate::rules::all().iter().map(|rule| rule.name);
        if names.clone().any(|name| name == rule) {
            return true;
        }
        let help = match suggest::nearest(rule, names) {
            Some(near) => format!("did you mean `{}`?", near.replace('-', "_")),
            None => "`cargo p2p-check rules` lists the rules".to_owned(),
        };
        self.wrong_help(token.region(), format!("unknown rule `{}`", token.text), help);
        false
    }

    /// Without the engine there are no rules to compare with.
    #[cfg(not(feature = "engine"))]
    fn known_rule(&mut self, _: &str, _: &Token) -> bool {
        true
    }
}
