//! A rank that waits for itself to receive.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Blocked, Case, Circle, Unpaired, describe};
use crate::finding::{Finding, Group, Level, Step};
use crate::model::{Action, Mode, Peer};

pub(super) const RULE: Rule = Rule {
    name: "send-to-self",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// Whether a circle is one rank in a send to itself.
pub(super) fn is_send_to_self(case: &Case<'_>, circle: &Circle) -> bool {
    let [member] = circle.members.as_slice() else { return false };
    let sends = |&position: &usize| {
        let action = &describe::event(case.world, (member.rank, position)).action;
        matches!(action, Action::Send { .. } | Action::StartSend { .. } | Action::PlanSend { .. })
    };
    !circle.by_race && member.waits_for == [member.rank] && member.open.iter().any(sends)
}

/// Whether an operation without a partner is a blocking send of a rank to itself.
pub(super) fn is_lone_send_to_self(case: &Case<'_>, unpaired: &Unpaired) -> bool {
    let operation = &unpaired.operation;
    let action = &describe::event(case.world, operation.at).action;
    let blocks = matches!(action, Action::Send { mode, .. } if *mode != Mode::Buffered);
    blocks && operation.sending && operation.peer == Peer::Rank(operation.at.0.cast_signed())
}

fn check(case: &Case<'_>) -> Vec<Finding> {
    let circles = case.circles.iter().filter(|circle| is_send_to_self(case, circle));
    let waiting = circles.map(|circle| Waiting {
        at: (circle.members[0].rank, circle.members[0].position),
        receives: "comes later",
        waits: &circle.waits,
        trace: &circle.trace,
    });
    let lone = case.unpaired.iter().filter(|unpaired| is_lone_send_to_self(case, unpaired));
    let waiting = waiting.chain(lone.map(|unpaired| Waiting {
        at: unpaired.operation.at,
        receives: "never comes",
        waits: &unpaired.waits,
        trace: &unpaired.trace,
    }));
    let places = by_place(case, waiting, |waiting| waiting.at);
    places.iter().map(|(_, waiting)| report(case, waiting)).collect()
}

/// A rank in a send to itself.
struct Waiting<'c> {
    at: At,
    /// What its own receive does.
    receives: &'static str,
    waits: &'c [Blocked],
    trace: &'c [Step],
}

fn report(case: &Case<'_>, all: &[Waiting<'_>]) -> Finding {
    let (world, first) = (case.world, &all[0]);
    let message = format!(
        "{} sends to itself and waits for its own receive, which {}",
        player(world, first.at.0),
        first.receives
    );
    RULE.finding(world, first.at, message, "waits for this rank itself")
        .ranks(all.iter().map(|waiting| waiting.at.0).collect())
        .between(first.at.0, Peer::Null)
        .waits(world, first.waits)
        .trace(first.trace)
        .note("Open MPI buffers messages to oneself up to 968 bytes, MPICH none at all")
        .help(world.dialect.words(
            "leave out the rank itself (`if peer != rank`), or use `sendrecv`, or post `irecv` first",
            "leave out the rank itself (`if peer != rank`), or use `mpi::point_to_point::send_receive_into`, or `immediate_receive_into` first",
            "leave out the rank itself (`if (peer != rank)`), or use `MPI_Sendrecv`, or post `MPI_Irecv` first",
        ))
}
