//! Which names a piece of a role mentions.

use p2p_protocol::grammar::syntax::{
    Block, Expression, ExpressionKind, From, MessageName, Name, Peers, Range, RequestTarget,
    Statement, StatementKind,
};

/// Whether the declaration `id` is mentioned in any of these statements.
pub(crate) fn mentions(statements: &[Statement], id: u32) -> bool {
    let mut found = false;
    for statement in statements {
        visit(statement, &mut |name| found |= name.id == id);
    }
    found
}

/// Calls `see` with every name that a statement uses or declares, its blocks included.
pub(crate) fn visit<'p>(statement: &'p Statement, see: &mut dyn FnMut(&'p Name)) {
    for expression in expressions(&statement.kind) {
        visit_expression(expression, see);
    }
    for name in names(&statement.kind) {
        see(name);
    }
    for block in blocks(&statement.kind) {
        for statement in &block.statements {
            visit(statement, see);
        }
    }
}

/// The blocks directly inside a statement.
pub(crate) fn blocks(kind: &StatementKind) -> Vec<&Block> {
    match kind {
        StatementKind::For { body, .. } | StatementKind::Loop(_, body) => vec![body],
        StatementKind::If(_, then, otherwise) | StatementKind::Test(_, then, otherwise) => {
            vec![then, otherwise]
        }
        StatementKind::WaitAny(arms) => arms.iter().map(|(_, body)| body).collect(),
        StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
            arms.iter().map(|arm| &arm.body).collect()
        }
        _ => Vec::new(),
    }
}

/// The messages directly in a statement.
pub(crate) fn messages(kind: &StatementKind) -> Vec<&MessageName> {
    match kind {
        StatementKind::Send(_, _, message)
        | StatementKind::Receive(_, message, _)
        | StatementKind::StartSend(_, _, message, _)
        | StatementKind::StartReceive(_, message, _)
        | StatementKind::PlanSend(_, message, _)
        | StatementKind::PlanReceive(_, message, _)
        | StatementKind::Probe(_, message, _)
        | StatementKind::Put(_, message)
        | StatementKind::Get(_, message)
        | StatementKind::Collective(_, _, Some(message)) => vec![message],
        StatementKind::SendReceive { sent, received, .. } => vec![sent, received],
        _ => Vec::new(),
    }
}

/// The names directly in a statement, outside expressions.
fn names(kind: &StatementKind) -> Vec<&Name> {
    match kind {
        StatementKind::Receive(_, _, binds) | StatementKind::Probe(_, _, binds) => {
            binds.iter().collect()
        }
        StatementKind::StartSend(_, _, _, target) | StatementKind::StartReceive(_, _, target) => {
            match target {
                RequestTarget::Named(name) | RequestTarget::Set(name) => vec![name],
            }
        }
        StatementKind::PlanSend(_, _, name)
        | StatementKind::PlanReceive(_, _, name)
        | StatementKind::Start(name)
        | StatementKind::RequestSet(name)
        | StatementKind::Wait(name)
        | StatementKind::WaitAnyOf(name)
        | StatementKind::Test(name, ..) => vec![name],
        StatementKind::For { variable, .. } => vec![variable],
        StatementKind::WaitAll(names) => names.iter().collect(),
        StatementKind::WaitAny(arms) => arms.iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// The expressions directly in a statement.
fn expressions(kind: &StatementKind) -> Vec<&Expression> {
    match kind {
        StatementKind::Send(_, peer, _)
        | StatementKind::StartSend(_, peer, _, _)
        | StatementKind::PlanSend(peer, _, _)
        | StatementKind::Put(peer, _)
        | StatementKind::Get(peer, _)
        | StatementKind::Offer(peer, _)
        | StatementKind::If(peer, _, _) => vec![peer],
        StatementKind::Receive(from, _, _)
        | StatementKind::StartReceive(from, _, _)
        | StatementKind::PlanReceive(from, _, _)
        | StatementKind::Probe(from, _, _) => from_expressions(from),
        StatementKind::SendReceive { destination, source, .. } => {
            let mut both = vec![destination];
            both.extend(from_expressions(source));
            both
        }
        StatementKind::Collective(_, root, _) => root.iter().collect(),
        StatementKind::For { range: Range { start, end, step, .. }, .. } => {
            [start, end].into_iter().chain(step).collect()
        }
        StatementKind::Choose(peers, _) => match peers {
            Peers::One(peer) => vec![peer],
            Peers::Range(start, end) => vec![start, end],
            Peers::Several(peers) => peers.iter().collect(),
            Peers::Nobody => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn from_expressions(from: &From) -> Vec<&Expression> {
    match from {
        From::Peer(peer) => vec![peer],
        From::Any { start, end } => vec![start, end],
    }
}

fn visit_expression<'p>(expression: &'p Expression, see: &mut dyn FnMut(&'p Name)) {
    match &expression.kind {
        ExpressionKind::Variable(name) => see(name),
        ExpressionKind::Unary(_, inner) => visit_expression(inner, see),
        ExpressionKind::Pair(left, right) | ExpressionKind::Binary(_, left, right) => {
            visit_expression(left, see);
            visit_expression(right, see);
        }
        ExpressionKind::Method(_, receiver, argument) => {
            visit_expression(receiver, see);
            if let Some(argument) = argument {
                visit_expression(argument, see);
            }
        }
        ExpressionKind::Conditional(condition, then, otherwise) => {
            for part in [condition, then, otherwise] {
                visit_expression(part, see);
            }
        }
        ExpressionKind::Integer(_)
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Rank
        | ExpressionKind::Size => {}
    }
}
