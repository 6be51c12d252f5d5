//! A rank that waits for itself to receive.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{Case, Circle, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Action;

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
    member.waits_for == [member.rank] && member.open.iter().any(sends)
}

fn check(case: &Case<'_>) -> Vec<Finding> {
    let circles = case.circles.iter().filter(|circle| is_send_to_self(case, circle));
    let at = |circle: &&Circle| (circle.members[0].rank, circle.members[0].position);
    by_place(case, circles, at).iter().map(|(_, circles)| report(case, circles)).collect()
}

fn report(case: &Case<'_>, circles: &[&Circle]) -> Finding {
    let (world, circle) = (case.world, circles[0]);
    let member = &circle.members[0];
    let at = (member.rank, member.position);
    let message = format!(
        "{} sends to itself and waits for its own receive, which comes later",
        player(world, member.rank)
    );
    RULE.finding(world, at, message, "waits for this rank itself")
        .ranks(circles.iter().map(|circle| circle.members[0].rank).collect())
        .waits(world, &circle.waits)
        .trace(&circle.trace)
        .note("Open MPI buffers messages to oneself up to 968 bytes, MPICH none at all")
        .help("leave out the rank itself (`if peer != rank`), or use `sendrecv`, or post `irecv` first")
}
