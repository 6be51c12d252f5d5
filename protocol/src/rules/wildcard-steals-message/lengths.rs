//! A message that is received from whoever is first, with the length that the message of another rank
//! has told.

use super::{by_place, could_meet, player, received, sent, stealing, steps};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::Finding;
use crate::model::{Peer, Rank, World};

/// A receive, the message that it takes, and the one whose length it has been told.
struct Mixed {
    receive: At,
    taken: At,
    meant: At,
}

/// The receives that take a message of another length than they have been told in some run.
pub(super) fn mixed(case: &Case<'_>) -> Vec<Finding> {
    let all = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::Mixed { at, told, taken } => {
            Some((found(case.world, at, [told, taken])?, seen))
        }
        _ => None,
    });
    let all: Vec<(Mixed, &Seen)> = all.collect();
    let places = by_place(case, all, |(mixed, _)| mixed.receive);
    places.iter().map(|(_, all)| report(case.world, all)).collect()
}

/// `None`: the lengths do not differ, or one of them is not known.
fn found(world: &World, (rank, position): At, sources: [Rank; 2]) -> Option<Mixed> {
    let receive = (rank, position.checked_sub(1)?);
    let room = received(world, receive)?;
    let [meant, taken] = sources.map(|source| {
        steps(world, source).find(|&send| {
            sent(world, send).is_some_and(|sent| {
                sent.peer == Peer::Rank(rank.cast_signed()) && could_meet(send, sent, room)
            })
        })
    });
    let mixed = Mixed { receive, taken: taken?, meant: meant? };
    let length = |at: At| sent(world, at).and_then(|sent| sent.data.count);
    (length(mixed.taken)? != length(mixed.meant)?).then_some(mixed)
}

fn report(world: &World, all: &[(Mixed, &Seen)]) -> Finding {
    let (Mixed { receive, taken, meant }, seen) = &all[0];
    let message = format!(
        "{} waits in `{}` for as much as {} has announced, and can take `{}` of {}",
        player(world, receive.0),
        describe::operation(world, *receive),
        player(world, meant.0),
        describe::sent(world, *taken),
        player(world, taken.0)
    );
    stealing(world, *receive, message)
        .other_end(world, *taken, "can be taken instead")
        .other_end(world, *meant, "has the length that was announced")
        .ranks(all.iter().flat_map(|(mixed, _)| [mixed.receive.0, mixed.taken.0]).collect())
        .trace(&seen.trace)
}
