//! The accesses of one epoch, and which two of them use the same memory.

use std::collections::BTreeMap;

use super::passive;
use crate::engine::epochs::{Opened, Visit, visits};
use crate::engine::{At, describe};
use crate::model::{AccessKind, Action, Peer, Rank, WindowId, WindowRange, WindowStep, World};

/// Of an epoch with more accesses of one part than this, they are not compared.
const COMPARED: usize = 4_096;

/// Two accesses that must not be in one epoch.
#[derive(Clone, Copy)]
pub(super) struct Conflict {
    pub(super) first: At,
    pub(super) second: At,
    /// Whose part of the window.
    pub(super) target: Rank,
    /// The bytes that both use.
    pub(super) both: WindowRange,
    /// Whether both are under locks, or one is the target's own, and nothing puts them in order.
    pub(super) is_unordered: bool,
}

impl Conflict {
    pub(super) fn of(
        world: &World,
        target: Rank,
        one: &Use,
        other: &Use,
        is_unordered: bool,
    ) -> Self {
        // The target's own access is what is easily mended; else the later one in the source.
        let written = |one: &Use| (one.how.is_local(), describe::place(world, one.at), one.at);
        let [first, second] =
            if written(one) < written(other) { [one, other] } else { [other, one] };
        let both = WindowRange {
            start: one.range.start.max(other.range.start),
            end: one.range.end.min(other.range.end),
        };
        Conflict { first: first.at, second: second.at, target, both, is_unordered }
    }
}

/// What uses a part of a window.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub(super) at: At,
    pub(super) range: WindowRange,
    pub(super) how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Read,
    Write,
    /// Element by element, in one step each.
    Atomic,
    LocalRead,
    LocalWrite,
}

impl How {
    pub(super) fn of(kind: AccessKind) -> Self {
        match (kind.is_atomic(), kind.writes()) {
            (true, _) => How::Atomic,
            (false, true) => How::Write,
            (false, false) => How::Read,
        }
    }

    pub(super) fn of_local(writes: bool) -> Self {
        if writes { How::LocalWrite } else { How::LocalRead }
    }

    pub(super) fn is_local(self) -> bool {
        matches!(self, How::LocalRead | How::LocalWrite)
    }
}

/// Who can meet: a window, whose part of it, the epoch, and the rank where it is that one's own.
type Epoch = (WindowId, Rank, Opened, Option<Rank>);

/// All conflicts of a world, at most one for each access.
pub(super) fn conflicts(world: &World) -> Vec<Conflict> {
    let mut epochs: BTreeMap<Epoch, Vec<Use>> = BTreeMap::new();
    for visit in visits(world) {
        if let Some((epoch, one)) = used(&visit) {
            epochs.entry(epoch).or_default().push(one);
        }
    }
    let mut conflicts = Vec::new();
    for ((_, target, ..), uses) in epochs {
        if uses.len() <= COMPARED {
            compare(world, target, uses, &mut conflicts);
        }
    }
    conflicts.extend(passive::conflicts(world));
    conflicts.sort_by_key(|conflict| (conflict.second, conflict.first));
    conflicts
}

/// What a step uses of whose part, and in which epoch.
fn used(visit: &Visit<'_>) -> Option<(Epoch, Use)> {
    let (rank, _) = visit.at;
    let (target, opened, range, how) = match visit.step {
        WindowStep::Access(access) => {
            let Peer::Rank(target) = access.target else { return None };
            let opened = visit.epochs.epoch_of(access)?;
            (Rank::try_from(target).ok()?, opened, access.range?, How::of(access.kind))
        }
        WindowStep::Local { writes, range } => {
            (rank, Opened::Fence(visit.epochs.fences), (*range)?, How::of_local(*writes))
        }
        _ => return None,
    };
    let own = matches!(opened, Opened::Own(_)).then_some(rank);
    Some(((visit.window, target, opened, own), Use { at: visit.at, range, how }))
}

/// Compares what uses one part in one epoch.
fn compare(world: &World, target: Rank, mut uses: Vec<Use>, conflicts: &mut Vec<Conflict>) {
    uses.sort_by_key(|one| (one.range.start, one.range.end, one.at));
    for (index, one) in uses.iter().enumerate() {
        let behind = uses[index + 1..].iter().take_while(|other| other.range.start < one.range.end);
        let mut meets = behind.filter(|other| {
            one.range.overlaps(&other.range)
                && !may_meet(one.how, other.how)
                && !is_over_before(world, one.at, other.at)
        });
        if let Some(other) = meets.next() {
            conflicts.push(Conflict::of(world, target, one, other, false));
        }
    }
}

/// Whether one of two steps is an `MPI_Rget` or `MPI_Rget_accumulate` that its rank has waited for by the
/// time of the other: what was read has arrived, so it was read. (Of one that only writes, a wait says
/// that the memory at its own rank is free, and no more.)
fn is_over_before(world: &World, one: At, other: At) -> bool {
    let (first, second) = if one < other { (one, other) } else { (other, one) };
    let Action::OneSided(it) = &describe::event(world, first).action else { return false };
    let WindowStep::Access(access) = &it.step else { return false };
    let Some(request) = access.request.filter(|_| access.requested) else { return false };
    let brings = matches!(access.kind, AccessKind::Get | AccessKind::GetAccumulate);
    if first.0 != second.0 || !brings {
        return false;
    }
    let between = &world.behaviours[first.0 as usize].events[first.1..second.1];
    between.iter().any(|event| match &event.action {
        Action::Wait { requests, .. } => requests.contains(&request),
        _ => false,
    })
}

/// Whether two uses of the same memory may be in one epoch.
pub(super) fn may_meet(one: How, other: How) -> bool {
    let reads = |how| matches!(how, How::Read | How::LocalRead);
    (reads(one) && reads(other))
        || (one == How::Atomic && other == How::Atomic)
        || (one.is_local() && other.is_local())
}
