//! Worlds made by hand, for the tests of rules that the protocol language cannot break.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::samples::{receive, send, world};
use crate::engine::{Judge, Options};
use crate::finding::Finding;
use crate::model::{Action, Buffer, Completion, Dialect, World};

/// A world as a program on rsmpi makes it: its messages have no names.
pub(super) fn rsmpi(mut ranks: Vec<Vec<Action>>) -> World {
    for action in ranks.iter_mut().flatten() {
        for envelope in action.envelopes_mut() {
            envelope.data.message = None;
        }
    }
    World { dialect: Dialect::Rsmpi, messages: Arc::new([]), ..world(ranks) }
}

/// What a rule finds in a world.
pub(super) fn found(world: &World, rule: &str) -> Vec<Finding> {
    let mut judge = Judge::new(Options::default());
    judge.judge(world);
    let mut findings = judge.finish().findings;
    findings.retain(|finding| finding.rule == rule);
    findings
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
