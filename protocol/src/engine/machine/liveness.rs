//! Which source slots still matter at which step.
//!
//! Who was met by a receive long answered makes no difference any more; states that differ only in
//! that are one (liveness, as compilers know it).

use crate::model::{Action, Behaviour, Peer, Position, SourceId, World};

/// For each rank and step, the slots that may be used before they are bound anew, as bits.
#[derive(Debug)]
pub(super) struct Liveness {
    live: Vec<Box<[u64]>>,
    /// Whether the tags of slots matter anywhere.
    pub(super) tags: bool,
}

/// Slots from this one on are always taken to matter.
const TOLD_APART: u16 = 64;

impl Liveness {
    pub(super) fn of(world: &World) -> Self {
        let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
        let tags = events.any(|event| matches!(event.action, Action::BranchOnTag { .. }));
        Liveness { live: world.behaviours.iter().map(live).collect(), tags }
    }

    pub(super) fn matters(&self, rank: u32, position: u32, slot: usize) -> bool {
        let live = self.live[rank as usize].get(position as usize);
        slot >= usize::from(TOLD_APART) || live.is_some_and(|live| live & (1 << slot) != 0)
    }
}

fn live(behaviour: &Behaviour) -> Box<[u64]> {
    if behaviour.sources == 0 {
        return Box::default();
    }
    // A plan's peer is looked up whenever it is started.
    let plans = behaviour.events.iter().filter(|event| {
        matches!(event.action, Action::PlanSend { .. } | Action::PlanReceive { .. })
    });
    let planned = plans.map(|event| used(&event.action)).fold(0, |all, one| all | one);
    let mut live = vec![0; behaviour.events.len() + 1];
    loop {
        let mut changed = false;
        for (position, event) in behaviour.events.iter().enumerate().rev() {
            let after = |at: Position| live.get(at).copied().unwrap_or(0);
            let next = if event.action.falls_through() { after(position + 1) } else { 0 };
            let out =
                event.action.targets().into_iter().map(after).fold(next, |all, one| all | one);
            let starts = matches!(event.action, Action::Start { .. });
            let needed = used(&event.action) | if starts { planned } else { 0 };
            let now = (out & !bound(&event.action)) | needed;
            changed |= live[position] != now;
            live[position] = now;
        }
        if !changed {
            return live.into();
        }
    }
}

/// The slots that a step certainly binds.
fn bound(action: &Action) -> u64 {
    match action {
        Action::Receive { binds: Some(slot), .. } | Action::Probe { binds: Some(slot), .. }
            if *slot < TOLD_APART =>
        {
            1 << slot
        }
        _ => 0,
    }
}

/// The slots that a step needs.
fn used(action: &Action) -> u64 {
    let slot = |slot: SourceId| if slot < TOLD_APART { 1_u64 << slot } else { 0 };
    let peers = action.peers().map(|peer| match peer {
        Peer::Source(source) => slot(source),
        _ => 0,
    });
    let asked = match action {
        Action::BranchOnTag { slot: source, .. } => slot(*source),
        Action::Measured { told, taken } => slot(*told) | slot(*taken),
        _ => 0,
    };
    peers.fold(asked, |all, one| all | one)
}
