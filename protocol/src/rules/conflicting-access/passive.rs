//! Accesses of several ranks under locks, and the target's own, that nothing puts in order.

use std::collections::{BTreeMap, BTreeSet};

use super::order::Way;
use super::pairs::{Conflict, How, Use, may_meet};
use crate::engine::epochs::{Visit, visits};
use crate::model::{Action, Peer, Position, Rank, WindowId, WindowStep, World};

/// Of a part with more accesses than this, they are not compared.
const COMPARED: usize = 256;

/// What uses a part of a window, from its step to where it is done at the latest.
struct Stay {
    one: Use,
    done: Position,
    /// Whether the lock of the part that its rank holds is exclusive. `None`: it holds none.
    lock: Option<bool>,
}

/// What all ranks do to each rank's part of each window.
type Parts = BTreeMap<(WindowId, Rank), Vec<Stay>>;

/// The conflicts under locks, at most one for each access.
pub(super) fn conflicts(world: &World) -> Vec<Conflict> {
    let visits = visits(world);
    let is_locked = |visit: &Visit<'_>| {
        matches!(visit.step, WindowStep::Lock { .. } | WindowStep::LockAll)
    };
    if !visits.iter().any(is_locked) {
        return Vec::new();
    }
    // Who calls `MPI_Win_sync` looks at memory until another rank has changed it.
    let looks = |visit: &&Visit<'_>| matches!(visit.step, WindowStep::Sync | WindowStep::Unknown);
    let looked_at: BTreeSet<WindowId> = visits.iter().filter(looks).map(|it| it.window).collect();
    let ways: Vec<Way> = (0..world.size()).map(|rank| Way::of(world, rank)).collect();
    let mut parts = Parts::new();
    for visit in visits.iter().filter(|visit| !looked_at.contains(&visit.window)) {
        let way = &ways[visit.at.0 as usize];
        if let Some((target, stay)) = stay(world, way, visit) {
            parts.entry((visit.window, target)).or_default().push(stay);
        }
    }
    let mut found = Vec::new();
    for ((_, target), stays) in parts.iter().filter(|(_, stays)| stays.len() <= COMPARED) {
        for (index, one) in stays.iter().enumerate() {
            let meets = |other: &&Stay| are_in_conflict(world, &ways, one, other);
            if let Some(other) = stays[index + 1..].iter().find(meets) {
                found.push(Conflict::of(world, *target, &one.one, &other.one, true));
            }
        }
    }
    found
}

/// Whose part a step uses, and how long, if that is known.
fn stay(world: &World, way: &Way, visit: &Visit<'_>) -> Option<(Rank, Stay)> {
    let (rank, here) = visit.at;
    if !way.has(here) {
        return None;
    }
    let (target, range, how) = match visit.step {
        WindowStep::Access(access) => {
            let Peer::Rank(target) = access.target else { return None };
            (Rank::try_from(target).ok()?, access.range?, How::of(access.kind))
        }
        WindowStep::Local { writes, range } => (rank, (*range)?, How::of_local(*writes)),
        _ => return None,
    };
    let peer = Peer::Rank(i32::try_from(target).ok()?);
    let lock = visit.epochs.lock_of(peer);
    let done = match how.is_local() {
        true => here,
        false if lock.is_some() => done(world, way, visit, peer)?,
        false => return None,
    };
    Some((target, Stay { one: Use { at: visit.at, range, how }, done, lock }))
}

/// Where an access is done: its lock is given back, or flushed.
fn done(world: &World, way: &Way, visit: &Visit<'_>, target: Peer) -> Option<Position> {
    let (rank, here) = visit.at;
    let events = &world.behaviours[rank as usize].events;
    way.behind(here).find(|position| {
        let Action::OneSided(it) = &events[*position].action else { return false };
        it.window == visit.window
            && match &it.step {
                WindowStep::Unlock { target: of } => *of == target,
                WindowStep::Flush { target: of, .. } => of.is_none_or(|of| of == target),
                WindowStep::UnlockAll | WindowStep::Freed => true,
                _ => false,
            }
    })
}

fn are_in_conflict(world: &World, ways: &[Way], one: &Stay, other: &Stay) -> bool {
    let [first, second] = [&one.one, &other.one];
    let [way, others] = [first, second].map(|it| &ways[it.at.0 as usize]);
    // What is read of a counter while others add to it is often meant so.
    let is_counter = (first.how == How::Atomic && second.how.is_local())
        || (second.how == How::Atomic && first.how.is_local());
    let keeps_out = one.lock.zip(other.lock).is_some_and(|(one, other)| one || other);
    first.at.0 != second.at.0
        && first.range.overlaps(&second.range)
        && !may_meet(first.how, second.how)
        && !is_counter
        && !keeps_out
        && !way.may_be_before(world, one.done, others, second.at.1)
        && !others.may_be_before(world, other.done, way, first.at.1)
}
