//! Patterns: which ranks a role is for, which sizes a protocol is for.

use proc_macro2::Delimiter;

use super::{Parsed, Parser};
use crate::grammar::scope::Meaning;
use crate::grammar::syntax::{Expression, Name, Pattern};
use crate::grammar::tokens::{Cursor, Token};

const HELP: &str = "patterns are `0`, `1..`, `1..4`, `size - 1`, `0 | 3`, `r if r % 2 == 1`, `_`, \
                    and on a grid `(x, y)`";

impl Parser {
    /// A pattern that takes up all that is left, with its guard. Names that it binds stay in scope.
    pub(super) fn pattern(
        &mut self,
        cursor: &mut Cursor<'_>,
        guard_knows_rank: bool,
    ) -> Parsed<Pattern> {
        let mut unguarded = cursor.until(|token| token.is_word("if"));
        let pattern = self.alternatives(&mut unguarded)?;
        self.finished(unguarded, HELP)?;
        if !cursor.take_word("if") {
            return Ok(pattern);
        }
        let rank_known = std::mem::replace(&mut self.rank_known, guard_knows_rank);
        let guard = self.condition(cursor);
        self.rank_known = rank_known;
        let guard = guard?;
        self.finished(*cursor, "a guard is one condition")?;
        Ok(Pattern::Guarded(Box::new(pattern), guard))
    }

    fn alternatives(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
        let start = *cursor;
        let declared = self.scope.declared();
        let first = self.single_pattern(cursor)?;
        if !cursor.at("|") {
            return Ok(first);
        }
        let mut patterns = vec![first];
        while cursor.take("|") {
            patterns.push(self.single_pattern(cursor)?);
        }
        if self.scope.declared() != declared {
            return Err(self.wrong_help(
                start.remainder(),
                "a name in one of several patterns would have no value in the others",
                "bind one name and put the rest into a guard: `r if r == 0 || r == 3`",
            ));
        }
        Ok(Pattern::Or(patterns))
    }

    fn single_pattern(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
        if cursor.take_word("_") {
            return Ok(Pattern::All);
        }
        if let Some(pattern) = self.pair_pattern(cursor)? {
            return Ok(pattern);
        }
        if let Some(name) = self.binding(cursor)? {
            return Ok(Pattern::Binding(name));
        }
        let start = self.bound(cursor)?;
        let inclusive = cursor.at("..=");
        if !cursor.take("..=") && !cursor.take("..") {
            return match start {
                Some(value) => Ok(Pattern::Value(value)),
                None => Err(self.wrong_help(cursor.region(), "expected a pattern", HELP)),
            };
        }
        let end = if cursor.at("|") { None } else { self.bound(cursor)? };
        if inclusive && end.is_none() {
            let help = "write `a..` to have no end, or `a..=b`";
            return Err(self.wrong_help(cursor.region(), "`..=` needs an end", help));
        }
        Ok(Pattern::Range { start, end, inclusive })
    }

    /// One end of a range, or a value; nothing if the cursor is at `..` or at the end.
    fn bound(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Option<Expression>> {
        if cursor.is_empty() || cursor.at("..") {
            return Ok(None);
        }
        self.integer_in_pattern(cursor).map(Some)
    }

    /// `(x, y)`: a pattern for each coordinate. `(value)` is no pair.
    fn pair_pattern(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Option<Pattern>> {
        let Some(token) = cursor.peek().filter(|token| token.is_group(Delimiter::Parenthesis))
        else {
            return Ok(None);
        };
        let mut inside = token.enter();
        let mut first = inside.until(|token| token.is_mark(','));
        if !inside.take(",") {
            return Ok(None);
        }
        cursor.next();
        if !self.grid_known {
            return Err(self.wrong_help(
                token.region(),
                "coordinates need a grid",
                "write `#[p2p_protocol(grid(P, Q))]`, or a pattern for the rank as one number",
            ));
        }
        let x = self.alternatives(&mut first)?;
        self.finished(first, HELP)?;
        let mut second = inside.until(|token| token.is_mark(','));
        inside.take(",");
        let y = self.alternatives(&mut second)?;
        self.finished(second, HELP)?;
        self.finished(inside, "a rank on a grid is `(x, y)`")?;
        Ok(Some(Pattern::Pair(Box::new(x), Box::new(y))))
    }

    /// A new name that stands alone. A known one is a value.
    fn binding(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Option<Name>> {
        let alone = |next: &Token| next.is_mark('|');
        let Some(token) = cursor.peek() else { return Ok(None) };
        let Some(ident) = token.word().filter(|_| cursor.rest.get(1).is_none_or(alone)) else {
            return Ok(None);
        };
        match token.text.as_str() {
            "rank" => {
                cursor.next();
                let help = "write `_` for all ranks, or bind a name of your own: `r if r > 0`";
                Err(self.wrong_help(token.region(), "`rank` is what the pattern is for", help))
            }
            "size" | "true" | "false" => Ok(None),
            word if self.scope.find(word).is_some_and(|entry| {
                matches!(entry.meaning, Meaning::Constant | Meaning::Opaque | Meaning::Extent)
            }) =>
            {
                Ok(None)
            }
            _ => {
                cursor.next();
                Ok(Some(self.declare(ident, Meaning::Bound)))
            }
        }
    }
}
