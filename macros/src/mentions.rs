//! Which names a piece of a role mentions.

use p2p_protocol::grammar::syntax::{MessageName, Name, RequestTarget, Statement, StatementKind};

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
    for expression in statement.kind.expressions() {
        expression.visit(see);
    }
    for name in names(&statement.kind) {
        see(name);
    }
    for block in statement.kind.blocks() {
        for statement in &block.statements {
            visit(statement, see);
        }
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
