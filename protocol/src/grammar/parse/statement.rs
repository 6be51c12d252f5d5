//! Statements: blocks, loops, conditions.

use proc_macro2::Delimiter;

use super::operation::{Call, usage};
use super::{Parsed, Parser, Reported};
use crate::grammar::scope::Meaning;
use crate::grammar::syntax::{Block, Expression, Name, Range, Statement, StatementKind};
use crate::grammar::text;
use crate::grammar::tokens::{Cursor, Region, Token, region_of};

/// How many statements may stand inside each other, `else if` included.
const DEEPEST: usize = 64;

/// A statement's kind with the part of it that names it: its head, for a block.
pub(super) type Headed = (StatementKind, Region);

impl Parser {
    /// The statements of a block, each on its own: a wrong one is left out.
    pub(super) fn block(&mut self, mut cursor: Cursor<'_>) -> Block {
        let mark = self.scope.open();
        let mut block = Block::default();
        while !cursor.is_empty() {
            if cursor.take(";") {
                continue;
            }
            let before = cursor;
            let read = match self.value_binding(&mut cursor) {
                Some(named) => named.map(|()| None),
                None => self.statement(&mut cursor).map(Some),
            };
            match read {
                Ok(statement) => block.statements.extend(statement),
                Err(Reported) => {
                    self.left_out += 1;
                    cursor = before;
                    skip_statement(&mut cursor);
                }
            }
        }
        self.scope.close(mark);
        block
    }

    fn statement(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Statement> {
        let before = *cursor;
        if self.nesting == DEEPEST {
            let message = "this is nested too deep to be checked";
            return Err(self.wrong(cursor.region(), message));
        }
        self.nesting += 1;
        let headed = self.statement_kind(cursor);
        self.nesting -= 1;
        let (kind, region) = headed?;
        let written = before.rest;
        let head = match &kind {
            StatementKind::For { .. }
            | StatementKind::If(..)
            | StatementKind::Loop(..)
            | StatementKind::Test(..)
            | StatementKind::Choose(..)
            | StatementKind::Offer(..)
            | StatementKind::WaitAny(..) => {
                let length = written.iter().position(|token| token.is_group(Delimiter::Brace));
                &written[..length.unwrap_or(written.len())]
            }
            _ => cursor.since(before),
        };
        let text = match head {
            [line @ .., last] if last.is_mark(';') => text::line(line),
            line => text::line(line),
        };
        Ok(Statement { kind, place: self.place(region), text })
    }

    fn statement_kind(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Headed> {
        let region = cursor.region();
        let label = self.label(cursor)?;
        let Some(first) = cursor.peek() else {
            return Err(self.wrong(region, "expected a loop after its label"));
        };
        let word = first.text.as_str();
        if label.is_some() && !matches!(word, "for" | "loop") {
            let help = "only `for` and `loop` have labels";
            return Err(self.wrong_help(region, "a label without a loop", help));
        }
        match word {
            "for" => self.for_loop(cursor, label),
            "loop" => self.endless_loop(cursor, label),
            "if" => self.condition_statement(cursor),
            "match" => self.decision(cursor),
            "let" => {
                cursor.next();
                let mut line = cursor.until(|token| token.is_mark(';'));
                let region = region.to(line.remainder());
                let kind = self.binding_statement(&mut line)?;
                self.semicolon(cursor)?;
                Ok((kind, region))
            }
            "break" | "continue" => {
                cursor.next();
                let label = self.label_use(cursor)?;
                self.semicolon(cursor)?;
                let kind = match word {
                    "break" => StatementKind::Break(label),
                    _ => StatementKind::Continue(label),
                };
                Ok((kind, region))
            }
            _ => self.line(cursor),
        }
    }

    /// A statement that is one operation.
    fn line(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Headed> {
        if let Some(kind) = self.push(&mut cursor.clone()) {
            let mut line = cursor.until(|token| token.is_mark(';'));
            let region = line.remainder();
            let kind = kind?;
            line.rest = line.rest.get(4..).unwrap_or(&[]);
            self.finished(line, "end the statement with `;`")?;
            self.semicolon(cursor)?;
            return Ok((kind, region));
        }
        match self.call(cursor) {
            Some(call) => {
                let region = call.region;
                self.ended_before(&call, cursor)?;
                let kind = self.operation(call)?;
                self.semicolon(cursor)?;
                Ok((kind, region))
            }
            None => Err(self.not_a_statement(*cursor)),
        }
    }

    /// After an operation there is a semicolon or the end of the block.
    fn ended_before(&mut self, call: &Call<'_>, cursor: &Cursor<'_>) -> Parsed<()> {
        if cursor.is_empty() || cursor.at(";") {
            return Ok(());
        }
        if usage(call.verb).is_empty() {
            return Err(self.unknown_verb(call));
        }
        Err(self.wrong_help(call.region, "expected `;` after this", call.help()))
    }

    fn not_a_statement(&mut self, cursor: Cursor<'_>) -> Reported {
        let region = cursor.region();
        let word = cursor.peek().map_or("", |token| token.text.as_str());
        let (message, help) = match word {
            "while" => (
                "`while` is not part of the language",
                "write `loop { if test(request) { break; } }` or `for step in 0..steps { .. }`",
            ),
            "return" => (
                "a role does not return early",
                "put the rest under an `if`, or leave a loop with `break`",
            ),
            "unsafe" | "async" | "const" | "fn" | "use" | "struct" | "static" | "type" => {
                ("this does not belong in a role", "items stand in the module, beside the roles")
            }
            _ if cursor.at("#") => ("a statement has no attributes", "leave the attribute away"),
            _ => (
                "this is not an operation",
                "a role is made of operations such as `send(peer, Message);`, of `for`, `if`, \
                 `loop` and `match`",
            ),
        };
        self.wrong_help(region, message, help)
    }

    fn semicolon(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        if cursor.is_empty() || cursor.take(";") {
            return Ok(());
        }
        Err(self.wrong(cursor.region(), "expected `;` before this"))
    }

    /// `'name:` in front of a loop.
    fn label(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Option<syn::Lifetime>> {
        let label = self.label_use(cursor)?;
        if label.is_some() && !cursor.take(":") {
            return Err(self.wrong(cursor.region(), "expected `:` after the label"));
        }
        Ok(label)
    }

    /// `'name`
    fn label_use(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Option<syn::Lifetime>> {
        let region = cursor.region();
        if !cursor.take("'") {
            return Ok(None);
        }
        match cursor.next().and_then(Token::word) {
            Some(ident) => {
                Ok(Some(syn::Lifetime { apostrophe: region.first, ident: ident.clone() }))
            }
            None => Err(self.wrong(region, "expected a label")),
        }
    }

    /// Splits a block statement into its head and its body.
    pub(super) fn head<'t>(
        &mut self,
        cursor: &mut Cursor<'t>,
        help: &str,
    ) -> Parsed<(Cursor<'t>, &'t Token, Region)> {
        let start = cursor.region();
        cursor.next();
        let head = cursor.until(|token| token.is_group(Delimiter::Brace) || token.is_mark(';'));
        let region = region_of(head.rest).map_or(start, |rest| start.to(rest));
        match cursor.take_group(Delimiter::Brace) {
            Some(body) => Ok((head, body, region)),
            None => Err(self.wrong_help(cursor.region(), "expected `{ .. }`", help)),
        }
    }

    fn for_loop(
        &mut self,
        cursor: &mut Cursor<'_>,
        label: Option<syn::Lifetime>,
    ) -> Parsed<Headed> {
        let help = "write `for dest in 1..size { .. }`";
        let (mut head, body, region) = self.head(cursor, help)?;
        let mark = self.scope.open();
        let parts = self.for_head(&mut head, help);
        let body = self.block(body.enter());
        self.scope.close(mark);
        let (variable, range) = parts?;
        Ok((StatementKind::For { label, variable, range, body }, region))
    }

    fn for_head(&mut self, head: &mut Cursor<'_>, help: &str) -> Parsed<(Name, Range)> {
        let region = head.region();
        let variable = head.next().and_then(Token::word);
        let (Some(variable), true) = (variable, head.take_word("in")) else {
            return Err(self.wrong_help(region, "this is not how a loop is written", help));
        };
        let range = self.range(head);
        let name = self.declare(variable, Meaning::LoopVariable);
        Ok((name, range?))
    }

    /// `a..b`, `(a..b).rev()`, `(a..b).step_by(k)`.
    fn range(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Range> {
        let help = "loops run over ranges: `a..b`, `a..=b`, `(a..b).rev()`, `(a..b).step_by(k)`";
        let in_brackets = cursor.peek().is_some_and(|token| {
            token.is_group(Delimiter::Parenthesis)
                && token.inside.windows(2).any(|pair| pair[0].is_mark('.') && pair[1].is_mark('.'))
        });
        if !in_brackets {
            let range = self.plain_range(cursor, help)?;
            self.finished(*cursor, help)?;
            return Ok(range);
        }
        let mut inside = cursor.next().map_or(*cursor, Token::enter);
        let mut range = self.plain_range(&mut inside, help)?;
        self.finished(inside, help)?;
        while cursor.take(".") {
            let region = cursor.region();
            match self.call(cursor) {
                Some(call) if call.verb == "rev" && call.arguments.is_empty() => {
                    range.reversed = !range.reversed;
                }
                Some(mut call) if call.verb == "step_by" && range.step.is_none() => {
                    let step = self.integer(&mut call.arguments)?;
                    self.finished(call.arguments, help)?;
                    range.step = Some(step);
                    range.step_from_end = range.reversed;
                }
                _ => return Err(self.wrong_help(region, "this cannot be done to a range", help)),
            }
        }
        self.finished(*cursor, help)?;
        Ok(range)
    }

    fn plain_range(&mut self, cursor: &mut Cursor<'_>, help: &str) -> Parsed<Range> {
        let start = self.integer(cursor)?;
        let inclusive = cursor.at("..=");
        if !cursor.take("..=") && !cursor.take("..") {
            return Err(self.wrong_help(cursor.region(), "expected `..`", help));
        }
        if cursor.is_empty() {
            return Err(self.wrong_help(cursor.region(), "a loop needs an end", help));
        }
        let end = self.integer(cursor)?;
        Ok(Range { start, end, inclusive, reversed: false, step_from_end: false, step: None })
    }

    fn endless_loop(
        &mut self,
        cursor: &mut Cursor<'_>,
        label: Option<syn::Lifetime>,
    ) -> Parsed<Headed> {
        let help = "write `loop { .. }`, and leave it with `break`";
        let (head, body, region) = self.head(cursor, help)?;
        let body = self.block(body.enter());
        self.finished(head, help)?;
        Ok((StatementKind::Loop(label, body), region))
    }

    /// `if` on a value, or on a request's completion.
    fn condition_statement(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Headed> {
        let help = "write `if rank > 0 { .. } else { .. }`";
        let (mut head, body, region) = self.head(cursor, help)?;
        let negated = head.at("!") && head.rest.get(1).is_some_and(|token| token.is_word("test"));
        if negated && head.rest.len() == 3 {
            head.take("!");
        }
        let test = if head.rest.len() == 2 && head.at_word("test") {
            self.call(&mut head).map(|mut call| self.named_request(&mut call))
        } else {
            None
        };
        let condition = match test {
            Some(_) => None,
            None => Some(self.condition_of(&mut head, help)),
        };
        let then = self.block(body.enter());
        let otherwise = self.otherwise(cursor, help)?;
        match (test, condition) {
            (Some(request), _) if negated => {
                Ok((StatementKind::Test(request?, otherwise, then), region))
            }
            (Some(request), _) => Ok((StatementKind::Test(request?, then, otherwise), region)),
            (None, condition) => {
                let condition = condition.unwrap_or(Err(Reported))?;
                Ok((StatementKind::If(condition, then, otherwise), region))
            }
        }
    }

    fn condition_of(&mut self, head: &mut Cursor<'_>, help: &str) -> Parsed<Expression> {
        if head.is_empty() {
            return Err(self.wrong_help(head.end, "expected a condition", help));
        }
        if head.at_word("let") {
            let message = "`if let` is not part of the language";
            return Err(self.wrong_help(head.remainder(), message, help));
        }
        if head.rest.iter().any(|token| token.is_word("test")) {
            let help = "ask alone: `if test(request) { .. } else { .. }`";
            let message = "`test` cannot be a part of a condition";
            return Err(self.wrong_help(head.remainder(), message, help));
        }
        let condition = self.condition(head)?;
        self.finished(*head, help)?;
        Ok(condition)
    }

    /// What follows `else`, if it is there.
    fn otherwise(&mut self, cursor: &mut Cursor<'_>, help: &str) -> Parsed<Block> {
        if !cursor.take_word("else") {
            return Ok(Block::default());
        }
        if cursor.at_word("if") {
            let statement = self.statement(cursor)?;
            return Ok(Block { statements: vec![statement] });
        }
        match cursor.take_group(Delimiter::Brace) {
            Some(body) => Ok(self.block(body.enter())),
            None => Err(self.wrong_help(cursor.region(), "expected `{ .. }` after `else`", help)),
        }
    }
}

/// Goes on after the next semicolon or block.
fn skip_statement(cursor: &mut Cursor<'_>) {
    loop {
        cursor.until(|token| token.is_mark(';') || token.is_group(Delimiter::Brace));
        cursor.next();
        if !cursor.at_word("else") {
            return;
        }
    }
}
