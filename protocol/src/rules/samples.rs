//! Worlds made by hand, for the tests of rules that the protocol language cannot break.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::samples::{envelope, receive, send, world};
use crate::engine::{Judge, Options};
use crate::finding::Finding;
use crate::model::{
    AccessKind, Action, Argument, Buffer, Completion, Datatype, Dialect, HandleKind, Mode,
    OneSided, Peer, Window, WindowAccess, WindowRange, WindowStep, World,
};

/// A world as a program on rsmpi makes it: its messages have no names.
pub(super) fn rsmpi(mut ranks: Vec<Vec<Action>>) -> World {
    for action in ranks.iter_mut().flatten() {
        for envelope in action.envelopes_mut() {
            envelope.data.message = None;
        }
    }
    World { dialect: Dialect::Rsmpi, messages: Arc::new([]), ..world(ranks) }
}

/// A world as a program in C makes it.
pub(super) fn c(ranks: Vec<Vec<Action>>) -> World {
    let datatype = |(signature, bytes): (&str, u64)| Datatype {
        signature: signature.to_owned(),
        bytes: Some(bytes),
    };
    let window = Window { name: "window".to_owned(), communicator: 0, is_shared: false };
    World {
        dialect: Dialect::C,
        datatypes: [("MPI_CHAR", 1), ("MPI_FLOAT", 4), ("double", 8), ("MPI_BYTE", 1)]
            .map(datatype)
            .into(),
        operations: Arc::new(["MPI_BAND".to_owned()]),
        calls: ["MPI_Send", "MPI_Comm_dup"].map(str::to_owned).into(),
        texts: ["count", "is odd"].map(str::to_owned).into(),
        windows: Arc::new([window]),
        ..rsmpi(ranks)
    }
}

/// The first call is handed something for its first parameter.
pub(super) fn argument(argument: Argument) -> Action {
    Action::Argument { call: 0, parameter: 0, argument }
}

/// Holds a rule about leaks to what it says, with objects of its kind.
pub(super) fn leaks(rule: &str, kind: HandleKind) {
    let make = |handle| Action::Create { call: 1, kind, handle };
    let free = |handle| Action::Release { handle };
    let found = |actions| found(&c(vec![actions, vec![]]), rule);
    let leak = found(vec![make(0), make(1), free(1)]);
    assert_eq!(leak.len(), 1);
    assert!(leak[0].message.starts_with("rank 0 makes a"), "{}", leak[0].message);
    assert!(leak[0].message.ends_with("with `MPI_Comm_dup` and never frees it (with 2 ranks)"));
    assert!(found(vec![make(0), free(0)]).is_empty());
    // The number of one that is freed is given to the next one.
    assert_eq!(found(vec![make(0), free(0), make(0)]).len(), 1);
    assert!(found(vec![make(0), free(0), make(0), free(0)]).is_empty());
    let branch = Action::Branch { targets: [2, 3].into() };
    let either = vec![make(0), branch, Action::Jump { target: 3 }, free(0), make(0), free(0)];
    assert!(found(either).is_empty());
    // Nobody knows what becomes of it.
    assert!(found(vec![make(0), Action::Opaque]).is_empty());
    // Another kind is for another rule.
    let info = Action::Create { call: 1, kind: HandleKind::Info, handle: 0 };
    assert!(found(vec![info]).is_empty());
}

/// What a rule finds in a world.
pub(super) fn found(world: &World, rule: &str) -> Vec<Finding> {
    let mut findings = all(world);
    findings.retain(|finding| finding.rule == rule);
    findings
}

/// What all rules find in a world.
pub(super) fn all(world: &World) -> Vec<Finding> {
    let mut judge = Judge::new(Options::default());
    judge.judge(world);
    judge.finish().findings
}

/// The same step, with its data in these bytes.
pub(super) fn buffered(mut action: Action, bytes: Range<u64>) -> Action {
    for envelope in action.envelopes_mut() {
        envelope.data.buffer = Some(Buffer { object: 0, start: bytes.start, end: bytes.end });
    }
    action
}

/// The same operation, not waited for.
pub(super) fn started(action: Action, request: u32) -> Action {
    match action {
        Action::Send { mode, envelope } => Action::StartSend { mode, envelope, request },
        Action::Receive { envelope, binds } => Action::StartReceive { envelope, request, binds },
        other => other,
    }
}

/// A wait for all of these.
pub(super) fn wait(requests: &[u32]) -> Action {
    Action::Wait { requests: requests.into(), completion: Completion::All }
}

/// A step on the one window.
pub(super) fn on_window(step: WindowStep) -> Action {
    Action::OneSided(Box::new(OneSided { window: 0, step }))
}

/// A put into these bytes of a rank's part of the one window.
pub(super) fn put(target: i32, bytes: Range<u64>) -> Action {
    on_window(WindowStep::Access(WindowAccess {
        kind: AccessKind::Put,
        target: Peer::Rank(target),
        range: Some(WindowRange { start: bytes.start, end: bytes.end }),
        operation: None,
        origin: None,
        result: None,
        request: None,
        requested: false,
    }))
}

/// A start of one request.
pub(super) fn start(request: u32) -> Action {
    Action::Start { requests: [request].into() }
}

/// Rank 0 prepares a send under request 0 and does this; rank 1 receives what nobody looks at.
pub(super) fn planned(rest: Vec<Action>) -> Vec<Vec<Action>> {
    let envelope = envelope(Peer::Rank(1), 0);
    let plan = Action::PlanSend { mode: Mode::Standard, envelope, request: 0 };
    vec![std::iter::once(plan).chain(rest).collect(), vec![Action::Opaque]]
}

/// Rank 0 starts an operation, does something, and waits; rank 1 does its part.
pub(super) fn one_way(operation: Action, between: Option<Action>, partner: Action) -> World {
    let steps = [started(operation, 0)].into_iter().chain(between).chain([wait(&[0])]);
    rsmpi(vec![steps.collect(), vec![partner]])
}

/// Rank 0 starts two operations and waits for both; rank 1 does its part.
pub(super) fn two_started([one, other]: [Action; 2], partner: Vec<Action>) -> World {
    rsmpi(vec![vec![started(one, 0), started(other, 1), wait(&[0, 1])], partner])
}

/// Rank 0 sends and receives at once, out of these bytes and into those.
pub(super) fn exchange(out: Range<u64>, into: Range<u64>) -> World {
    let (out, into) = (buffered(send(1, 0), out), buffered(receive(1, 0), into));
    let envelope = |action: Action| Box::new(*action.envelopes().next().expect("it has one"));
    let both = Action::SendReceive { send: envelope(out), receive: envelope(into) };
    rsmpi(vec![vec![both], vec![send(0, 0), receive(0, 0)]])
}
