//! What steps are called: a method is verb and message, a state is named for its method.

use p2p_protocol::grammar::syntax::{MessageName, StatementKind};
use p2p_protocol::model::Mode;
use proc_macro2::Ident;

use crate::names::{camel, plain, snake, trimmed};

/// The name of a state whose next step is this, without its role's.
pub(crate) fn state(kind: &StatementKind) -> String {
    match kind {
        StatementKind::If(..) => "If".to_owned(),
        _ => camel(&method(kind)),
    }
}

/// The method that takes this step. For a loop the one that takes a closure, for a branch the one
/// that every branch has, for a choice the common part of its methods.
pub(crate) fn method(kind: &StatementKind) -> String {
    match kind {
        StatementKind::For { variable, .. } => {
            let variable = snake(&trimmed(variable));
            if variable.is_empty() { "for_each".to_owned() } else { format!("for_each_{variable}") }
        }
        StatementKind::If(..) => "branch".to_owned(),
        StatementKind::SendReceive { sent, received, .. } if sent.index != received.index => {
            format!("sendrecv_{}_{}", message(sent), message(received))
        }
        _ => match subject(kind) {
            Some(subject) => format!("{}_{subject}", verb(kind)),
            None => verb(kind).to_owned(),
        },
    }
}

/// What a verb is about: a message or a request.
fn subject(kind: &StatementKind) -> Option<String> {
    let subject = match kind {
        StatementKind::Send(_, _, name)
        | StatementKind::Receive(_, name, _)
        | StatementKind::SendReceive { sent: name, .. }
        | StatementKind::StartSend(_, _, name, _)
        | StatementKind::StartReceive(_, name, _)
        | StatementKind::PlanSend(_, name, _)
        | StatementKind::PlanReceive(_, name, _)
        | StatementKind::Probe(_, name, _)
        | StatementKind::Put(_, name)
        | StatementKind::Get(_, name)
        | StatementKind::Collective(_, _, Some(name)) => message(name),
        StatementKind::Start(name)
        | StatementKind::Wait(name)
        | StatementKind::WaitAnyOf(name)
        | StatementKind::Test(name, ..) => return named(name),
        StatementKind::WaitAll(names) => match names.as_slice() {
            [one] => return named(one),
            _ => return None,
        },
        _ => return None,
    };
    Some(subject)
}

/// A request's name, if it has letters.
fn named(request: &Ident) -> Option<String> {
    Some(snake(&trimmed(request))).filter(|name| !name.is_empty())
}

fn message(name: &MessageName) -> String {
    snake(&plain(&name.name))
}

/// The verb of an operation, as the specification writes it.
pub(crate) fn verb(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Send(Mode::Standard, ..) => "send",
        StatementKind::Send(Mode::Synchronous, ..) => "ssend",
        StatementKind::Send(Mode::Buffered, ..) => "bsend",
        StatementKind::Send(Mode::Ready, ..) => "rsend",
        StatementKind::Receive(..) => "recv",
        StatementKind::SendReceive { .. } => "sendrecv",
        StatementKind::StartSend(Mode::Standard, ..) => "isend",
        StatementKind::StartSend(Mode::Synchronous, ..) => "issend",
        StatementKind::StartSend(Mode::Buffered, ..) => "ibsend",
        StatementKind::StartSend(Mode::Ready, ..) => "irsend",
        StatementKind::StartReceive(..) => "irecv",
        StatementKind::PlanSend(..) => "send_init",
        StatementKind::PlanReceive(..) => "recv_init",
        StatementKind::Start(..) => "start",
        StatementKind::RequestSet(..) => "requests",
        StatementKind::Wait(..) => "wait",
        StatementKind::WaitAll(..) => "wait_all",
        StatementKind::WaitAnyOf(..) | StatementKind::WaitAny(..) => "wait_any",
        StatementKind::Test(..) => "test",
        StatementKind::Probe(..) => "probe",
        StatementKind::Collective(kind, ..) => kind.name(),
        StatementKind::Put(..) => "put",
        StatementKind::Get(..) => "get",
        StatementKind::For { .. } => "for",
        StatementKind::If(..) => "if",
        StatementKind::Loop(..) => "loop",
        StatementKind::Break(..) => "break",
        StatementKind::Continue(..) => "continue",
        StatementKind::Choose(..) => "choose",
        StatementKind::Offer(..) => "offer",
    }
}
