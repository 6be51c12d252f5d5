//! Operations: a verb with its arguments, `send(dest, Block)`.

use proc_macro2::Delimiter;

use super::{Parsed, Parser};
use crate::grammar::suggest;
use crate::grammar::syntax::{
    BinaryOperator, Expression, ExpressionKind, From, MessageName, Peers, StatementKind,
};
use crate::grammar::tokens::{Cursor, Region, Token};
use crate::model::{CollectiveKind, Mode};

/// Every verb with the way to write it.
const VERBS: [(&str, &str); 35] = [
    ("send", "send(peer, Message);"),
    ("ssend", "ssend(peer, Message);"),
    ("bsend", "bsend(peer, Message);"),
    ("rsend", "rsend(peer, Message);"),
    ("recv", "recv(peer, Message);"),
    ("isend", "let request = isend(peer, Message);"),
    ("issend", "let request = issend(peer, Message);"),
    ("ibsend", "let request = ibsend(peer, Message);"),
    ("irsend", "let request = irsend(peer, Message);"),
    ("irecv", "let request = irecv(peer, Message);"),
    ("send_init", "let request = send_init(peer, Message);"),
    ("recv_init", "let request = recv_init(peer, Message);"),
    ("requests", "let pending = requests();"),
    ("push", "pending.push(isend(peer, Message));"),
    ("start", "start(request);"),
    ("wait", "wait(request);"),
    ("wait_all", "wait_all(first, second);"),
    ("wait_any", "match wait_any(first, second) { first => {} second => {} }"),
    ("test", "if test(request) { .. } else { .. }"),
    ("sendrecv", "sendrecv(to, Message, from, Message);"),
    ("probe", "probe(peer, Message);"),
    ("put", "put(peer, Message);"),
    ("get", "get(peer, Message);"),
    ("fence", "fence();"),
    ("barrier", "barrier();"),
    ("bcast", "bcast(root, Message);"),
    ("scatter", "scatter(root, Message);"),
    ("gather", "gather(root, Message);"),
    ("all_gather", "all_gather(Message);"),
    ("reduce", "reduce(root, Message);"),
    ("all_reduce", "all_reduce(Message);"),
    ("all_to_all", "all_to_all(Message);"),
    ("choose", "match choose(peer) { Go => {} Stop => {} }"),
    ("offer", "match offer(peer) { Go => {} Stop => {} }"),
    ("any", "let from = recv(any(1..size), Message);"),
];

/// How a verb is written; empty for an unknown one.
pub(super) fn usage(verb: &str) -> &'static str {
    VERBS.iter().find(|(known, _)| *known == verb).map_or("", |(_, usage)| usage)
}

/// A verb with its arguments, not yet looked at.
pub(super) struct Call<'t> {
    pub(super) verb: &'t str,
    pub(super) region: Region,
    pub(super) arguments: Cursor<'t>,
}

impl Call<'_> {
    /// How to write it.
    pub(super) fn help(&self) -> String {
        format!("write `{}`", usage(self.verb))
    }
}

impl Parser {
    /// `verb(..)`, if that follows.
    pub(super) fn call<'t>(&mut self, cursor: &mut Cursor<'t>) -> Option<Call<'t>> {
        let [verb, arguments, ..] = cursor.rest else { return None };
        if verb.word().is_none() || !arguments.is_group(Delimiter::Parenthesis) {
            return None;
        }
        cursor.rest = &cursor.rest[2..];
        Some(Call {
            verb: &verb.text,
            region: verb.region().to(arguments.region()),
            arguments: arguments.enter(),
        })
    }

    /// An operation that stands alone as a statement.
    pub(super) fn operation(&mut self, mut call: Call<'_>) -> Parsed<StatementKind> {
        use CollectiveKind::{
            AllGather, AllReduce, AllToAll, Barrier, Bcast, Fence, Gather, Reduce, Scatter,
        };
        let call = &mut call;
        match call.verb {
            "send" => self.send(call, Mode::Standard),
            "ssend" => self.send(call, Mode::Synchronous),
            "bsend" => self.send(call, Mode::Buffered),
            "rsend" => self.send(call, Mode::Ready),
            "recv" => {
                let (from, message) = self.origin_and_message(call)?;
                Ok(StatementKind::Receive(from, message, None))
            }
            "probe" => {
                let (from, message) = self.origin_and_message(call)?;
                Ok(StatementKind::Probe(from, message, None))
            }
            "sendrecv" => self.send_receive(call),
            "put" => {
                let (peer, message) = self.peer_and_message(call)?;
                Ok(StatementKind::Put(peer, message))
            }
            "get" => {
                let (peer, message) = self.peer_and_message(call)?;
                Ok(StatementKind::Get(peer, message))
            }
            "fence" => self.collective(call, Fence, false, false),
            "barrier" => self.collective(call, Barrier, false, false),
            "bcast" => self.collective(call, Bcast, true, true),
            "scatter" => self.collective(call, Scatter, true, true),
            "gather" => self.collective(call, Gather, true, true),
            "reduce" => self.collective(call, Reduce, true, true),
            "all_gather" => self.collective(call, AllGather, false, true),
            "all_reduce" => self.collective(call, AllReduce, false, true),
            "all_to_all" => self.collective(call, AllToAll, false, true),
            "start" => self.named_request(call).map(StatementKind::Start),
            "wait" => self.named_request(call).map(StatementKind::Wait),
            "wait_all" => self.wait_all(call),
            "wait_any" => self.wait_any_of(call),
            _ => Err(self.not_alone(call)),
        }
    }

    /// A verb that is unknown, or that does not stand alone.
    fn not_alone(&mut self, call: &Call<'_>) -> super::Reported {
        if !usage(call.verb).is_empty() {
            let message = format!("`{}` does not stand alone", call.verb);
            return self.wrong_help(call.region, message, call.help());
        }
        self.unknown_verb(call)
    }

    /// A verb that is unknown.
    pub(super) fn unknown_verb(&mut self, call: &Call<'_>) -> super::Reported {
        let near = suggest::nearest(call.verb, VERBS.map(|(verb, _)| verb));
        let help = match near {
            Some(near) => format!("did you mean `{near}`, as in `{}`?", usage(near)),
            None => {
                "a role is made of operations such as `send(peer, Message);`; what it computes \
                     does not belong here"
                    .to_owned()
            }
        };
        self.wrong_help(call.region, format!("unknown operation `{}`", call.verb), help)
    }

    fn send(&mut self, call: &mut Call<'_>, mode: Mode) -> Parsed<StatementKind> {
        let (peer, message) = self.peer_and_message(call)?;
        Ok(StatementKind::Send(mode, peer, message))
    }

    fn send_receive(&mut self, call: &mut Call<'_>) -> Parsed<StatementKind> {
        let destination = self.peer(&mut call.arguments)?;
        self.comma(call)?;
        let sent = self.message_name(call)?;
        self.comma(call)?;
        let source = self.origin(call)?;
        self.comma(call)?;
        let received = self.message_name(call)?;
        self.end_of(call)?;
        Ok(StatementKind::SendReceive { destination, sent, source, received })
    }

    fn collective(
        &mut self,
        call: &mut Call<'_>,
        kind: CollectiveKind,
        rooted: bool,
        carries: bool,
    ) -> Parsed<StatementKind> {
        let mut root = None;
        if rooted {
            root = Some(self.integer_or_pair(call)?);
            self.comma(call)?;
        }
        let message = if carries { Some(self.message_name(call)?) } else { None };
        self.end_of(call)?;
        Ok(StatementKind::Collective(kind, root, message))
    }

    /// A root: known to every rank, so never a source.
    fn integer_or_pair(&mut self, call: &mut Call<'_>) -> Parsed<Expression> {
        let region = call.arguments.region();
        let root = self.argument(call, Parser::peer)?;
        if let ExpressionKind::Variable(name) = &root.kind
            && self.is_source(name)
        {
            let help = "every rank must name the same root; write it as a number";
            return Err(self.wrong_help(region, "a source cannot be the root", help));
        }
        Ok(root)
    }

    /// `peer, Message`, and nothing more.
    pub(super) fn peer_and_message(
        &mut self,
        call: &mut Call<'_>,
    ) -> Parsed<(Expression, MessageName)> {
        if call.arguments.at_word("any")
            && call.arguments.rest.get(1).is_some_and(|next| next.is_group(Delimiter::Parenthesis))
        {
            let help = "only a receive or a probe may leave open who the other is";
            return Err(self.wrong_help(
                call.region,
                format!("`{}` needs one rank, not `any(..)`", call.verb),
                help,
            ));
        }
        let peer = self.argument(call, Parser::peer)?;
        self.comma(call)?;
        let message = self.message_name(call)?;
        self.end_of(call)?;
        Ok((peer, message))
    }

    /// `peer, Message` or `any(..), Message`, and nothing more.
    pub(super) fn origin_and_message(
        &mut self,
        call: &mut Call<'_>,
    ) -> Parsed<(From, MessageName)> {
        let from = self.origin(call)?;
        self.comma(call)?;
        let message = self.message_name(call)?;
        self.end_of(call)?;
        Ok((from, message))
    }

    fn origin(&mut self, call: &mut Call<'_>) -> Parsed<From> {
        let start = call.arguments;
        match self.call(&mut call.arguments) {
            Some(any) if any.verb == "any" => {
                let mut range = any.arguments;
                let (start, end) = self.range_of_ranks(&mut range, any.region)?;
                Ok(From::Any { start, end })
            }
            _ => {
                call.arguments = start;
                self.argument(call, Parser::peer).map(From::Peer)
            }
        }
    }

    /// `a..b`, `a..=b`, `a..`, `..`, up to the end; as a first and one past the last.
    fn range_of_ranks(
        &mut self,
        cursor: &mut Cursor<'_>,
        region: Region,
    ) -> Parsed<(Expression, Expression)> {
        let help = "ranks are given as a range: `1..size`, `..`";
        let whole = |kind| Expression::at(region, kind);
        let start = if cursor.at("..") {
            whole(ExpressionKind::Integer(0))
        } else if cursor.is_empty() {
            return Err(self.wrong_help(region, "which ranks?", help));
        } else {
            self.integer(cursor)?
        };
        let inclusive = cursor.at("..=");
        if !cursor.take("..=") && !cursor.take("..") {
            return Err(self.wrong_help(region, "this is not a range of ranks", help));
        }
        if cursor.is_empty() {
            return Ok((start, whole(ExpressionKind::Size)));
        }
        let end = self.integer(cursor)?;
        self.finished(*cursor, help)?;
        if !inclusive {
            return Ok((start, end));
        }
        let (at, one) = (end.region(), whole(ExpressionKind::Integer(1)));
        let kind = ExpressionKind::Binary(BinaryOperator::Add, Box::new(end), Box::new(one));
        Ok((start, Expression::at(at, kind)))
    }

    /// Whom a decision is told: nobody, one, a range, or several.
    pub(super) fn peers(&mut self, call: &mut Call<'_>) -> Parsed<Peers> {
        if call.arguments.is_empty() {
            return Ok(Peers::Nobody);
        }
        if let [token] = call.arguments.rest
            && token.is_group(Delimiter::Bracket)
        {
            let mut inside = token.enter();
            let mut peers = Vec::new();
            while !inside.is_empty() {
                peers.push(self.peer(&mut inside)?);
                if !inside.take(",") {
                    self.finished(inside, &call.help())?;
                }
            }
            return Ok(Peers::Several(peers));
        }
        let marks = call.arguments.rest.windows(2);
        if marks.into_iter().any(|pair| pair[0].is_mark('.') && pair[1].is_mark('.')) {
            let mut range = call.arguments;
            let (start, end) = self.range_of_ranks(&mut range, call.region)?;
            return Ok(Peers::Range(start, end));
        }
        let peer = self.argument(call, Parser::peer)?;
        self.end_of(call)?;
        Ok(Peers::One(peer))
    }

    /// One argument; its absence is reported with the way to write the call.
    pub(super) fn argument<T>(
        &mut self,
        call: &mut Call<'_>,
        read: impl FnOnce(&mut Parser, &mut Cursor<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        if call.arguments.is_empty() {
            let message = format!("`{}` needs more than this", call.verb);
            return Err(self.wrong_help(call.region, message, call.help()));
        }
        read(self, &mut call.arguments)
    }

    pub(super) fn comma(&mut self, call: &mut Call<'_>) -> Parsed<()> {
        if call.arguments.is_empty() {
            let message = format!("`{}` needs more than this", call.verb);
            return Err(self.wrong_help(call.region, message, call.help()));
        }
        if call.arguments.take(",") {
            return Ok(());
        }
        Err(self.wrong_help(call.arguments.remainder(), "expected `,`", call.help()))
    }

    /// Nothing may follow but one comma.
    pub(super) fn end_of(&mut self, call: &mut Call<'_>) -> Parsed<()> {
        call.arguments.take(",");
        self.finished(call.arguments, &call.help())
    }

    /// The name of a message.
    fn message_name(&mut self, call: &mut Call<'_>) -> Parsed<MessageName> {
        let help = call.help();
        let Some(token) = call.arguments.next() else {
            let message = format!("`{}` needs a message", call.verb);
            return Err(self.wrong_help(call.region, message, help));
        };
        let Some(ident) = token.word() else {
            return Err(self.wrong_help(token.region(), "expected the name of a message", help));
        };
        match self.messages.iter().position(|message| message.text == token.text) {
            Some(index) => Ok(MessageName { name: ident.clone(), index }),
            None => Err(self.unknown_message(token)),
        }
    }

    fn unknown_message(&mut self, token: &Token) -> super::Reported {
        let names: Vec<&str> = self.messages.iter().map(|message| message.text.as_str()).collect();
        let help = match suggest::nearest(&token.text, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it in this module: `pub type {} = [f32];`", token.text),
        };
        self.wrong_help(token.region(), format!("unknown message `{}`", token.text), help)
    }
}
