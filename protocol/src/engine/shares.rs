//! Collectives in which each rank has a count of its own: whether what one rank brings for another
//! fits into the room that is kept for it there. What all ranks bring alike is compared where they
//! meet, in the evidence.

use super::evidence::{At, is_longer, same_signature};
use crate::model::{Collective, CollectiveKind, Data, Rank, Shares, World};

/// A part that is longer than the room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Who brings it.
    pub from: Rank,
    /// Who takes it.
    pub to: Rank,
    /// What is brought.
    pub brought: Data,
    /// What there is room for.
    pub room: Data,
}

/// What of two ranks' calls of one collective does not fit, either way. Less than there is room for
/// does no harm, though MPI asks for the same (MPI 4.0, 6.5 to 6.8).
pub fn overflow(
    world: &World,
    one: (At, &Collective),
    other: (At, &Collective),
) -> Option<Overflow> {
    [(one, other), (other, one)].into_iter().find_map(|((from, brings), (to, takes))| {
        let brought = brought(world, from.0, brings, to.0)?;
        let room = room(world, to.0, takes, from.0)?;
        let is_longer = is_longer(world, &brought, &room);
        (is_longer && same_signature(world, &brought, &room)).then_some(Overflow {
            from: from.0,
            to: to.0,
            brought,
            room,
        })
    })
}

/// What a rank brings for another, where that is known.
fn brought(world: &World, rank: Rank, call: &Collective, to: Rank) -> Option<Data> {
    match call.kind {
        CollectiveKind::Gatherv if is_root(call, to) => call.data,
        CollectiveKind::AllGatherv => call.data,
        CollectiveKind::Scatterv if !is_root(call, rank) => None,
        CollectiveKind::Scatterv | CollectiveKind::AllToAllv => {
            let shares = shares(world, call)?;
            part(world, call, call.data?, &shares.brings, to)
        }
        _ => None,
    }
}

/// What a rank has room for from another, where that is known.
fn room(world: &World, rank: Rank, call: &Collective, from: Rank) -> Option<Data> {
    match call.kind {
        CollectiveKind::Gatherv if !is_root(call, rank) => None,
        CollectiveKind::Gatherv | CollectiveKind::AllGatherv | CollectiveKind::AllToAllv => {
            let shares = shares(world, call)?;
            part(world, call, call.room?, &shares.takes, from)
        }
        CollectiveKind::Scatterv if is_root(call, from) => call.room.or(call.data),
        _ => None,
    }
}

fn is_root(call: &Collective, rank: Rank) -> bool {
    call.root.is_some_and(|root| Rank::try_from(root) == Ok(rank))
}

fn shares<'w>(world: &'w World, call: &Collective) -> Option<&'w Shares> {
    world.shares.get(usize::try_from(call.shares?).ok()?)
}

/// What of `whole` belongs to one rank.
fn part(
    world: &World,
    call: &Collective,
    whole: Data,
    counts: &[Option<u64>],
    rank: Rank,
) -> Option<Data> {
    let index = world.members(call.communicator).position(|member| member == rank)?;
    Some(Data { count: counts.get(index).copied()?, ..whole })
}
