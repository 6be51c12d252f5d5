//! A peer that does not exist.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe, envelope};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Dialect, Event, Peer, World};

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

/// Whether a rank leaves at a step because of a peer that does not exist: `process_at_rank` panics. What
/// the panic unwinds may wait in between.
pub(super) fn stops(world: &World, (rank, position): At) -> bool {
    let (before, rest) = world.behaviours[rank as usize].events.split_at(position);
    let here = |event: &&Event| rest.first().is_some_and(|leave| leave.place == event.place);
    let last = before.iter().rev().find(here);
    last.is_some_and(|event| missing(world, &event.action).is_some())
}

/// The ranks that a step names.
fn peers(action: &Action) -> impl Iterator<Item = Peer> {
    let root = match action {
        Action::Collective(collective) => collective.root,
        _ => None,
    };
    action.peers().chain(root.map(Peer::Rank))
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
        .help(help(world, outside, last))
}

/// What to write instead: of a neighbour, or of a rank that is named by its number.
fn help(world: &World, outside: &[(At, i32)], last: u32) -> String {
    let ((rank, _), peer) = outside[0];
    // The ranks of a part of the world are not numbered like those of the world.
    let is_of_all = last + 1 == world.size();
    let distance = if is_of_all { peer - rank.cast_signed() } else { peer.signum() };
    let is_number = distance.abs() > 1 && outside.iter().all(|(_, other)| *other == peer);
    if is_number && peer < 0 {
        return format!("name a rank that exists: 0 to {last}");
    }
    if is_number {
        let enough = world.dialect.words(
            format!("`#[p2p_protocol(ranks = {}..)]`", peer + 1),
            format!("`assert!(world.size() > {peer})`"),
            format!("a check that there are more than {peer}"),
        );
        return format!("name a rank that exists, or ask for as many ranks as it needs: {enough}");
    }
    let exists = match distance {
        -1 => "rank > 0".to_owned(),
        ..0 => format!("rank >= {}", -distance),
        0.. => format!("rank + {distance} < size"),
    };
    format!(
        "leave the operation out where there is no such neighbour (`if {exists}`), or close the ring with `% size`"
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi, started, wait};
    use crate::engine::samples::{receive, send};
    use crate::model::{Action, Collective, CollectiveKind, Departure, Place, World};

    fn help(ranks: Vec<Vec<Action>>) -> String {
        found(&rsmpi(ranks), "peer-out-of-range")[0].help[0].clone()
    }

    #[test]
    fn a_rank_that_is_named_by_its_number_is_no_neighbour() {
        let named = help(vec![vec![send(9, 0)], vec![send(9, 0)]]);
        assert_eq!(
            named,
            "name a rank that exists, or ask for as many ranks as it needs: `assert!(world.size() > 9)`"
        );
        assert_eq!(help(vec![vec![send(-7, 0)], vec![]]), "name a rank that exists: 0 to 1");
        let barrier = || Action::Collective(Collective::of(CollectiveKind::Barrier, 0));
        for (ranks, exists) in [
            (vec![vec![receive(-1, 0)], vec![]], "`if rank > 0`"),
            (vec![vec![], vec![send(2, 0)]], "`if rank + 1 < size`"),
            (
                vec![vec![barrier(), send(2, 0)], vec![barrier(), send(3, 0)]],
                "`if rank + 2 < size`",
            ),
        ] {
            // All ranks run the same line.
            let mut world = rsmpi(ranks);
            let events = world.behaviours.iter_mut().flat_map(|behaviour| &mut behaviour.events);
            events.for_each(|event| event.place = Place(0));
            let found = found(&world, "peer-out-of-range");
            assert!(found[0].help[0].contains(exists), "{:?}", found[0].help);
        }
    }

    #[test]
    fn who_waits_for_a_rank_that_panics_for_want_of_a_peer_is_not_told_again() {
        // Rank 1 asks for rank 2; the panic unwinds a guard, which waits.
        let gone = Action::Leave { departure: Departure::Panicked };
        let one = vec![started(send(0, 0), 0), receive(2, 0), wait(&[0]), gone];
        let mut world: World = rsmpi(vec![vec![receive(1, 0), receive(1, 0)], one]);
        let place = world.behaviours[1].events[1].place;
        world.behaviours[1].events[3].place = place;
        assert_eq!(found(&world, "peer-out-of-range").len(), 1);
        assert!(found(&world, "rank-left-waiting").is_empty());
    }
}
