//! Requests: their names, the sets that they are collected in, and the waits for them.

use proc_macro2::Ident;

use super::operation::{Call, usage};
use super::payload::is_integer_type;
use super::{Parsed, Parser};
use crate::grammar::scope::{Direction, Held, Meaning};
use crate::grammar::syntax::{MessageName, Name, RequestTarget, StatementKind};
use crate::grammar::tokens::{Cursor, Region, Token};
use crate::model::Mode;

impl Parser {
    /// `let name = ..`, without its semicolon.
    pub(super) fn binding_statement(&mut self, cursor: &mut Cursor<'_>) -> Parsed<StatementKind> {
        let help = "write `let request = isend(peer, Message);`";
        let region = cursor.region();
        if cursor.take_word("mut") {
            self.wrong_help(region, "`mut` means nothing here", "leave it away");
        }
        let Some(ident) = cursor.next().and_then(Token::word) else {
            return Err(self.wrong_help(region, "expected a name", help));
        };
        if cursor.at(":") {
            self.wrong_help(cursor.region(), "the type is known", "write `let name = ..`");
            cursor.until(|token| token.is_mark('='));
        }
        let kind = self.bound_operation(ident, cursor, help);
        if kind.is_err() {
            self.scope.declare(ident, Meaning::Unknown);
        }
        kind
    }

    /// `let name = value;`, if that follows. It is no statement: the value stands wherever the name
    /// does.
    pub(super) fn value_binding(&mut self, cursor: &mut Cursor<'_>) -> Option<Parsed<()>> {
        let mut ahead = *cursor;
        if !ahead.take_word("let") {
            return None;
        }
        let region = ahead.region();
        let changes = ahead.take_word("mut");
        let ident = ahead.next().and_then(Token::word)?;
        if ahead.take(":") {
            let ty = ahead.until(|token| token.is_mark('=') || token.is_mark(';'));
            let is_bool = matches!(ty.rest, [word] if word.is_word("bool"));
            if !is_bool && !is_integer_type(ty.rest) {
                return None;
            }
        }
        if !ahead.take("=") || self.call(&mut ahead.clone()).is_some() || ahead.at(";") {
            return None;
        }
        let mut line = ahead.until(|token| token.is_mark(';'));
        ahead.take(";");
        *cursor = ahead;
        if changes {
            self.wrong_help(region, "`mut` means nothing here", "a value never changes");
        }
        let value = self.value(&mut line).and_then(|value| {
            self.finished(line, "a value that has a name: `let right = (rank + 1) % size;`")?;
            Ok(value)
        });
        let meaning = match &value {
            Ok(value) => Meaning::Value(Box::new(value.clone())),
            Err(_) => Meaning::Unknown,
        };
        self.declare(ident, meaning);
        Some(value.map(|_| ()))
    }

    fn bound_operation(
        &mut self,
        ident: &Ident,
        cursor: &mut Cursor<'_>,
        help: &str,
    ) -> Parsed<StatementKind> {
        let region = cursor.region();
        if !cursor.take("=") {
            return Err(self.wrong_help(region, "expected `=`", help));
        }
        let region = cursor.remainder();
        let Some(mut call) = self.call(cursor) else {
            let help = "`let` names a request, a set of requests, a source, or a value: \
                        `let right = (rank + 1) % size;`";
            return Err(self.wrong_help(region, "expected an operation", help));
        };
        self.finished(*cursor, help)?;
        let call = &mut call;
        match call.verb {
            "requests" => {
                self.end_of(call)?;
                Ok(StatementKind::RequestSet(self.declare(ident, Meaning::Set(None))))
            }
            "recv" | "probe" => self.bound_source(ident, call),
            "send_init" => {
                let (peer, message) = self.peer_and_message(call)?;
                let name = self.declare(ident, Meaning::Request { persistent: true });
                Ok(StatementKind::PlanSend(peer, message, name))
            }
            "recv_init" => {
                let (from, message) = self.origin_and_message(call)?;
                let name = self.declare(ident, Meaning::Request { persistent: true });
                Ok(StatementKind::PlanReceive(from, message, name))
            }
            verb if starts(verb) => self.started(call, |parser, _, _| {
                let name = parser.declare(ident, Meaning::Request { persistent: false });
                Ok(RequestTarget::Named(name))
            }),
            verb if usage(verb).is_empty() => Err(self.unknown_verb(call)),
            verb => {
                let message = format!("`{verb}` gives nothing that could be named");
                Err(self.wrong_help(call.region, message, call.help()))
            }
        }
    }

    fn bound_source(&mut self, ident: &Ident, call: &mut Call<'_>) -> Parsed<StatementKind> {
        let verb = call.verb;
        let (from, message) = self.origin_and_message(call)?;
        if matches!(from, crate::grammar::syntax::From::Peer(_)) {
            let help = format!("write `{}` without `let`, or `{verb}(any(..), ..)`", usage(verb));
            let message = "who it is from is known already: there is no source to name";
            return Err(self.wrong_help(call.region, message, help));
        }
        let name = Some(self.declare(ident, Meaning::Source));
        Ok(match verb {
            "recv" => StatementKind::Receive(from, message, name),
            _ => StatementKind::Probe(from, message, name),
        })
    }

    /// A non-blocking operation, whose request goes where the last argument says.
    fn started(
        &mut self,
        call: &mut Call<'_>,
        target: impl FnOnce(&mut Parser, Direction, &MessageName) -> Parsed<RequestTarget>,
    ) -> Parsed<StatementKind> {
        let mode = match call.verb {
            "isend" => Mode::Standard,
            "issend" => Mode::Synchronous,
            "ibsend" => Mode::Buffered,
            "irsend" => Mode::Ready,
            _ => {
                let (from, message) = self.origin_and_message(call)?;
                let target = target(self, Direction::In, &message)?;
                return Ok(StatementKind::StartReceive(from, message, target));
            }
        };
        let (peer, message) = self.peer_and_message(call)?;
        let target = target(self, Direction::Out, &message)?;
        Ok(StatementKind::StartSend(mode, peer, message, target))
    }

    /// `set.push(isend(..))`, if that follows.
    pub(super) fn push<'t>(&mut self, cursor: &mut Cursor<'t>) -> Option<Parsed<StatementKind>> {
        let [set, dot, ..] = cursor.rest else { return None };
        if set.word().is_none() || !dot.is_mark('.') {
            return None;
        }
        cursor.rest = &cursor.rest[2..];
        Some(self.pushed(set, cursor))
    }

    fn pushed(&mut self, set: &Token, cursor: &mut Cursor<'_>) -> Parsed<StatementKind> {
        let help = format!("write `{}`", usage("push"));
        let Some(push) = self.call(cursor).filter(|call| call.verb == "push") else {
            return Err(self.wrong_help(set.region().to(cursor.region()), "expected `push`", help));
        };
        let mut inside = push.arguments;
        let Some(mut call) = self.call(&mut inside).filter(|call| starts(call.verb)) else {
            let message = "only a request that starts here can be pushed";
            return Err(self.wrong_help(push.region, message, help));
        };
        self.finished(inside, &help)?;
        let region = call.region;
        self.started(&mut call, |parser, direction, message| {
            parser.held(set, direction, message, region).map(RequestTarget::Set)
        })
    }

    /// Makes sure that a set holds one kind of request.
    fn held(
        &mut self,
        set: &Token,
        direction: Direction,
        message: &MessageName,
        region: Region,
    ) -> Parsed<Name> {
        let name =
            self.find_name(set, "a set of requests", |meaning| matches!(meaning, Meaning::Set(_)))?;
        let Some(entry) = self.scope.find_mut(&set.text) else { return Ok(name) };
        let Meaning::Set(held) = &mut entry.meaning else { return Ok(name) };
        let Some(first) = *held else {
            *held = Some(Held { direction, message: message.index });
            return Ok(name);
        };
        let payload = |index: usize| self.messages.get(index).map(|head| head.payload.as_str());
        let help = "make a set for each: `let others = requests();`";
        if first.direction != direction {
            let text = format!(
                "`{}` holds {}, this is one of the {}",
                set.text,
                first.direction.noun(),
                direction.noun()
            );
            return Err(self.wrong_help(region, text, help));
        }
        if payload(first.message) != payload(message.index) {
            let text = format!(
                "`{}` holds messages of `{}`, this one carries `{}`",
                set.text,
                payload(first.message).unwrap_or_default(),
                payload(message.index).unwrap_or_default()
            );
            return Err(self.wrong_help(region, text, help));
        }
        Ok(name)
    }

    /// The one request that a call names.
    pub(super) fn named_request(&mut self, call: &mut Call<'_>) -> Parsed<Name> {
        let (verb, help) = (call.verb, call.help());
        let name = self.argument(call, |parser, cursor| parser.request(cursor, verb, &help))?;
        self.end_of(call)?;
        Ok(name)
    }

    fn request(&mut self, cursor: &mut Cursor<'_>, verb: &str, help: &str) -> Parsed<Name> {
        let region = cursor.region();
        let Some(token) = cursor.next().filter(|token| token.word().is_some()) else {
            return Err(self.wrong_help(region, "expected the name of a request", help));
        };
        let name = self
            .find_name(token, "a request", |meaning| matches!(meaning, Meaning::Request { .. }))?;
        let persistent = self
            .scope
            .find(&token.text)
            .is_some_and(|entry| matches!(entry.meaning, Meaning::Request { persistent: true }));
        if verb == "start" && !persistent {
            let help = "only what `send_init` or `recv_init` has made is started";
            let message = format!("`{name}` was started where it was made");
            return Err(self.wrong_help(region, message, help));
        }
        Ok(name)
    }

    /// A name of the kind that is needed here.
    fn find_name(
        &mut self,
        token: &Token,
        noun: &str,
        meant: impl Fn(&Meaning) -> bool,
    ) -> Parsed<Name> {
        let (word, region) = (&token.text, token.region());
        match (self.scope.find(word), token.word()) {
            (Some(entry), Some(ident)) if meant(&entry.meaning) => {
                Ok(Name { ident: ident.clone(), id: entry.id })
            }
            (Some(entry), _) if matches!(entry.meaning, Meaning::Unknown) => Err(super::Reported),
            (Some(entry), _) => {
                let help = match entry.meaning {
                    Meaning::Set(_) => "a set is waited for with `wait_all` or `wait_any`",
                    Meaning::Request { .. } => "a request that has a name is in no set",
                    _ => "requests are named where they start: `let name = isend(peer, Message);`",
                };
                let message = format!("`{word}` is {}, not {noun}", entry.meaning.noun());
                Err(self.wrong_help(region, message, help))
            }
            (None, _) => {
                let help = match self.scope.nearest(word, &meant) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "a name is known from its `let` to the end of that block; what is \
                             started in a block and completed after it goes into a set"
                        .to_owned(),
                };
                Err(self.wrong_help(
                    region,
                    format!("there is no {} `{word}` here", &noun[2..]),
                    help,
                ))
            }
        }
    }

    /// Whether the name is a source's.
    pub(super) fn is_source(&self, name: &Name) -> bool {
        self.scope
            .find(&name.to_string())
            .is_some_and(|entry| matches!(entry.meaning, Meaning::Source))
    }

    /// The set that a call names alone, if it does.
    fn lone_set(&mut self, call: &Call<'_>) -> Option<Name> {
        let [token] = call.arguments.rest else { return None };
        let entry = self.scope.find(&token.text)?;
        let ident = token.word().filter(|_| matches!(entry.meaning, Meaning::Set(_)))?;
        Some(Name { ident: ident.clone(), id: entry.id })
    }

    /// The requests that a call names, each once.
    pub(super) fn named_requests(&mut self, call: &mut Call<'_>) -> Parsed<Vec<Name>> {
        let (verb, help) = (call.verb, call.help());
        let mut names: Vec<Name> = Vec::new();
        loop {
            let region = call.arguments.region();
            let name = self.argument(call, |parser, cursor| parser.request(cursor, verb, &help))?;
            if names.iter().any(|other| other.id == name.id) {
                return Err(self.wrong(region, format!("`{name}` is there twice")));
            }
            names.push(name);
            if !call.arguments.take(",") || call.arguments.is_empty() {
                self.finished(call.arguments, &help)?;
                return Ok(names);
            }
        }
    }

    /// `wait_all(set)` or `wait_all(a, b)`.
    pub(super) fn wait_all(&mut self, call: &mut Call<'_>) -> Parsed<StatementKind> {
        match self.lone_set(call) {
            Some(set) => Ok(StatementKind::WaitAll(vec![set])),
            None => self.named_requests(call).map(StatementKind::WaitAll),
        }
    }

    /// `wait_any(set)`.
    pub(super) fn wait_any_of(&mut self, call: &mut Call<'_>) -> Parsed<StatementKind> {
        if let Some(set) = self.lone_set(call) {
            return Ok(StatementKind::WaitAnyOf(set));
        }
        self.named_requests(call)?;
        let help = format!("with names it decides how to go on: `{}`", usage("wait_any"));
        Err(self.wrong_help(call.region, "which of them it was would be lost here", help))
    }
}

/// Whether the verb starts a request.
fn starts(verb: &str) -> bool {
    matches!(verb, "isend" | "issend" | "ibsend" | "irsend" | "irecv")
}
