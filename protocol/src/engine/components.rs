//! Ranks that have nothing to do with each other: a world falls into parts that can be run each by
//! itself, and what there is to follow is added up instead of multiplied.

use std::collections::BTreeSet;

use super::machine::envelope;
use crate::model::{Action, Behaviour, CommunicatorId, Event, Peer, World};

/// The parts of a world of which each can be run without the others: the same world, in which the
/// ranks of other parts do nothing. Ranks that do nothing are no part. `None`: it is one part.
pub(super) fn of(world: &World) -> Option<Vec<World>> {
    if is_everybody_concerned(world) {
        return None;
    }
    let mut parts = Parts { of: (0..world.behaviours.len()).collect() };
    let mut met = BTreeSet::new();
    for (rank, behaviour) in world.behaviours.iter().enumerate() {
        for event in &behaviour.events {
            let inside = |other: &usize| *other < world.behaviours.len();
            peers(event).filter(inside).for_each(|other| parts.unite(rank, other));
            if let Some(communicator) = event.action.collective().map(|it| it.communicator)
                && met.insert((rank, communicator))
            {
                members(world, communicator).into_iter().for_each(|one| parts.unite(rank, one));
            }
        }
    }
    let busy = |rank: &usize| !world.behaviours[*rank].events.is_empty();
    let ranks = (0..world.behaviours.len()).filter(busy);
    let heads: BTreeSet<usize> = ranks.map(|rank| parts.head(rank)).collect();
    if heads.len() < 2 {
        return None;
    }
    let part = |head: usize| {
        let behaviours = world.behaviours.iter().enumerate().map(|(rank, behaviour)| {
            if parts.head(rank) == head {
                behaviour.clone()
            } else {
                Behaviour { events: Vec::new(), ..behaviour.clone() }
            }
        });
        World { behaviours: behaviours.collect(), ..world.clone() }
    };
    Some(heads.into_iter().map(part).collect())
}

/// Whether some rank may do anything, to anybody, or a step is for all ranks.
fn is_everybody_concerned(world: &World) -> bool {
    let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    events.any(|event| {
        matches!(
            &event.action,
            Action::Opaque
                | Action::Leave { .. }
                | Action::Put { .. }
                | Action::Get { .. }
                | Action::OneSided(_)
                | Action::Offer { .. }
                | Action::AttachBuffer { .. }
        )
    })
}

/// The other ends that a step names. Who receives from any hears of it through the senders.
fn peers(event: &Event) -> impl Iterator<Item = usize> {
    let ends = [envelope(event, true), envelope(event, false)].into_iter().flatten();
    ends.filter_map(|envelope| match envelope.peer {
        Peer::Rank(other) => usize::try_from(other).ok(),
        _ => None,
    })
}

/// The members of a communicator.
fn members(world: &World, communicator: CommunicatorId) -> Vec<usize> {
    match &world.communicators[usize::from(communicator)].members {
        Some(members) => members.iter().map(|member| *member as usize).collect(),
        None => (0..world.behaviours.len()).collect(),
    }
}

/// Which part each rank is in, as a chain that ends at the part's head.
struct Parts {
    of: Vec<usize>,
}

impl Parts {
    fn head(&self, mut rank: usize) -> usize {
        while self.of[rank] != rank {
            rank = self.of[rank];
        }
        rank
    }

    fn unite(&mut self, one: usize, other: usize) {
        let [one, other] = [self.head(one), self.head(other)];
        self.of[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::samples::{receive, receive_any, send, world};

    /// The ranks that do something in each part.
    fn parts(ranks: Vec<Vec<Action>>) -> Option<Vec<Vec<usize>>> {
        let parts = of(&world(ranks))?;
        let busy = |world: &World| {
            let ranks = world.behaviours.iter().enumerate();
            ranks.filter(|(_, one)| !one.events.is_empty()).map(|(rank, _)| rank).collect()
        };
        Some(parts.iter().map(busy).collect())
    }

    #[test]
    fn ranks_that_talk_to_themselves_are_parts() {
        let alone = |rank| vec![send(rank, 0), receive_any(0, 3)];
        assert_eq!(
            parts(vec![alone(0), alone(1), alone(2)]),
            Some(vec![vec![0], vec![1], vec![2]])
        );
    }

    #[test]
    fn who_is_named_belongs_together() {
        let ranks = vec![vec![send(2, 0)], vec![], vec![receive_any(0, 4)], vec![receive(3, 0)]];
        assert_eq!(parts(ranks), Some(vec![vec![0, 2], vec![3]]));
        assert_eq!(parts(vec![vec![send(1, 0)], vec![receive(0, 0)]]), None);
        assert_eq!(parts(vec![vec![send(0, 0)], vec![Action::Opaque]]), None);
    }
}
