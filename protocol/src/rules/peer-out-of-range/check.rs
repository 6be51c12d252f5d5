//! A peer that does not exist.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe, envelope};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Dialect, Envelope, Peer, World};

pub(super) const RULE: Rule = Rule {
    name: "peer-out-of-range",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut outside: Vec<(At, i32)> = Vec::new();
    for (rank, behaviour) in (0..).zip(&case.world.behaviours) {
        for (position, event) in behaviour.events.iter().enumerate() {
            let missing = missing(case.world, &event.action);
            outside.extend(missing.map(|peer| ((rank, position), peer)));
        }
    }
    let places = by_place(case, outside, |(at, _)| *at);
    places.iter().map(|(_, outside)| report(case, outside)).collect()
}

/// The rank that a step names and that does not exist.
fn missing(world: &World, action: &Action) -> Option<i32> {
    peers(action).find_map(|peer| match peer {
        Peer::Outside(rank) => Some(rank),
        Peer::Rank(rank) if !world.has(rank) => Some(rank),
        _ => None,
    })
}

/// Whether a rank leaves at a step because of a peer that does not exist: `process_at_rank` panics.
pub(super) fn stops(world: &World, (rank, position): At) -> bool {
    let events = &world.behaviours[rank as usize].events;
    let before = position.checked_sub(1).and_then(|before| events.get(before));
    before.is_some_and(|before| {
        before.place == events[position].place && missing(world, &before.action).is_some()
    })
}

/// The ranks that a step names.
fn peers(action: &Action) -> impl Iterator<Item = Peer> {
    let (one, other): (Option<&Envelope>, Option<&Envelope>) = match action {
        Action::Send { envelope, .. }
        | Action::Receive { envelope, .. }
        | Action::StartSend { envelope, .. }
        | Action::StartReceive { envelope, .. }
        | Action::PlanSend { envelope, .. }
        | Action::PlanReceive { envelope, .. }
        | Action::Probe { envelope, .. }
        | Action::Put { envelope }
        | Action::Get { envelope }
        | Action::Offer { envelope, .. } => (Some(envelope), None),
        Action::SendReceive { send, receive } => (Some(send), Some(receive)),
        _ => (None, None),
    };
    let root = match action {
        Action::Collective(collective) => collective.root,
        _ => None,
    };
    let peer = |envelope: &Envelope| envelope.peer;
    one.into_iter().chain(other).map(peer).chain(root.map(Peer::Rank))
}

/// How many ranks the communicator has on which a step names another rank.
fn size(world: &World, at: At) -> u32 {
    let event = describe::event(world, at);
    let envelope = envelope(event, false).or(envelope(event, true));
    let communicator =
        envelope.and_then(|it| world.communicators.get(usize::from(it.communicator)));
    let members = communicator.and_then(|communicator| communicator.members.as_ref());
    members.map_or(world.size(), |members| u32::try_from(members.len()).unwrap_or(u32::MAX))
}

fn report(case: &Case<'_>, outside: &[(At, i32)]) -> Finding {
    let (at, peer) = outside[0];
    let world = case.world;
    let last = size(world, at) - 1;
    let asserted = world.dialect == Dialect::Rsmpi
        && matches!(describe::event(world, at).action, Action::Probe { .. });
    let operation = match asserted {
        true => format!("process_at_rank({peer})"),
        false => describe::operation(world, at),
    };
    let message = format!(
        "{} names rank {peer} in `{operation}`, but the ranks are 0 to {last}",
        player(world, at.0),
    );
    RULE.finding(world, at, message, format!("rank {peer} does not exist"))
        .ranks(outside.iter().map(|(at, _)| at.0).collect())
        .note(if asserted {
            "`process_at_rank` asserts that the rank exists: this rank panics, the panic ends in MPI_Finalize, and the job hangs there"
        } else {
            "MPI ends the job with MPI_ERR_RANK"
        })
        .help(format!(
            "leave the operation out where there is no such neighbour (`if {}`), or close the ring with `% size`",
            if peer < 0 { "rank > 0" } else { "rank + 1 < size" }
        ))
}
