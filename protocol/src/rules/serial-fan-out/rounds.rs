//! Whether the ranks could meet in a collective where one of them serves the others: whatever was sent
//! before that point is also received before it, so that nobody who stands there is waited for by
//! somebody who is still on the way.

use rustc_hash::FxHashMap;

use super::Row;
use crate::engine::envelope;
use crate::model::{
    Action, CommunicatorId, Completion, Envelope, Event, Peer, Position, Rank, Tag, World,
};

/// Messages that are alike: from whom, to whom, with which tag, on which communicator.
type Lane = (Rank, Rank, i32, CommunicatorId);

/// What all ranks have done up to a point.
struct Sum<'w> {
    world: &'w World,
    /// The tag of all messages from one rank to another on a communicator, if they have one only.
    tags: FxHashMap<(Rank, Rank, CommunicatorId), Option<i32>>,
    /// How far each rank has come.
    positions: Vec<Position>,
    /// Of each lane, how many more messages were sent than received.
    travelling: FxHashMap<Lane, i64>,
    /// The collectives of each rank on each communicator.
    collectives: FxHashMap<CommunicatorId, Vec<u32>>,
}

/// The tags of what ranks send to each other.
fn tags(world: &World) -> FxHashMap<(Rank, Rank, CommunicatorId), Option<i32>> {
    let mut tags = FxHashMap::default();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        let sent = behaviour.events.iter().filter_map(|event| envelope(event, true));
        for sent in sent {
            let (Peer::Rank(peer), Tag::Exact(tag)) = (sent.peer, sent.tag) else { continue };
            let Ok(peer) = Rank::try_from(peer) else { continue };
            let only = tags.entry((rank, peer, sent.communicator)).or_insert(Some(tag));
            *only = only.filter(|only| *only == tag);
        }
    }
    tags
}

/// Whether all ranks could meet in each of these rows of one rank.
pub(super) fn meet(world: &World, root: Rank, rows: &[Row]) -> bool {
    let mut sum = Sum {
        world,
        tags: tags(world),
        positions: vec![0; world.behaviours.len()],
        travelling: FxHashMap::default(),
        collectives: FxHashMap::default(),
    };
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| row.steps[0]);
    rows.into_iter().all(|row| sum.meets(root, row).is_some())
}

impl Sum<'_> {
    /// Goes on to where a row would be a collective, and past it; `None` where the ranks cannot meet.
    fn meets(&mut self, root: Rank, row: &Row) -> Option<()> {
        self.go_to(root, row.steps[0])?;
        let events = &self.world.behaviours[root as usize].events;
        let mut only = None;
        for step in &row.steps {
            let served = envelope(&events[*step], row.sending)?;
            // A tag of its own for each would tell something that a collective does not.
            let (.., tag, _) = self.lane(root, served, row.sending)?;
            if *only.get_or_insert(tag) != tag {
                return None;
            }
            let Peer::Rank(peer) = served.peer else { return None };
            let peer = Rank::try_from(peer).ok()?;
            let position = self.other_end(root, peer, served, row.sending)?;
            self.go_to(peer, position)?;
        }
        let is_even = self.travelling.values().all(|count| *count == 0);
        let agree = |counts: &Vec<u32>| counts.windows(2).all(|pair| pair[0] == pair[1]);
        if !is_even || !self.collectives.values().all(agree) {
            return None;
        }
        for (rank, position) in (0..).zip(self.positions.clone()) {
            let behind = if rank == root { row.steps[row.steps.len() - 1] } else { position };
            self.go_to(rank, behind + 1)?;
        }
        Some(())
    }

    /// Where a rank does its part of a message of a row, blocking and by itself.
    fn other_end(
        &self,
        root: Rank,
        peer: Rank,
        served: &Envelope,
        sending: bool,
    ) -> Option<Position> {
        let events = &self.world.behaviours[peer as usize].events;
        let from = self.positions[peer as usize];
        let lane = self.lane(root, served, sending)?;
        let is_part = |event: &Event| {
            envelope(event, !sending).is_some_and(|it| self.lane(peer, it, !sending) == Some(lane))
        };
        let position = from + events.get(from..)?.iter().position(is_part)?;
        let part = envelope(&events[position], !sending)?;
        let is_alike =
            (part.data.count, part.data.datatype) == (served.data.count, served.data.datatype);
        let blocks = match events[position].action {
            Action::Receive { .. } => sending,
            Action::Send { .. } => !sending,
            _ => false,
        };
        (blocks && is_alike).then_some(position)
    }

    /// Goes on with a rank up to a step; `None` where it cannot be told what it does before.
    fn go_to(&mut self, rank: Rank, position: Position) -> Option<()> {
        let from = self.positions[rank as usize];
        let events = self.world.behaviours[rank as usize].events.get(from..position)?;
        for event in events {
            self.take(rank, &event.action)?;
        }
        self.positions[rank as usize] = position;
        Some(())
    }

    fn take(&mut self, rank: Rank, action: &Action) -> Option<()> {
        match action {
            Action::Send { envelope, .. } | Action::StartSend { envelope, .. } => {
                self.count(rank, envelope, true)
            }
            Action::Receive { envelope, .. } | Action::StartReceive { envelope, .. } => {
                self.count(rank, envelope, false)
            }
            Action::SendReceive { send, receive } => {
                self.count(rank, send, true)?;
                self.count(rank, receive, false)
            }
            Action::Collective(collective) | Action::StartCollective { collective, .. } => {
                let size = self.world.behaviours.len();
                let counts = self.collectives.entry(collective.communicator);
                let counts = counts.or_insert_with(|| vec![0; size]);
                counts[rank as usize] += 1;
                Some(())
            }
            Action::Wait { completion: Completion::All, .. } => Some(()),
            action => action.moves_nothing().then_some(()),
        }
    }

    fn count(&mut self, rank: Rank, envelope: &Envelope, sending: bool) -> Option<()> {
        if envelope.peer != Peer::Null {
            let lane = self.lane(rank, envelope, sending)?;
            *self.travelling.entry(lane).or_insert(0) += if sending { 1 } else { -1 };
        }
        Some(())
    }

    /// On which lane a rank sends or receives; `None` where it may be another one.
    fn lane(&self, rank: Rank, envelope: &Envelope, sending: bool) -> Option<Lane> {
        let Peer::Rank(peer) = envelope.peer else { return None };
        let peer = Rank::try_from(peer).ok()?;
        let (from, to) = if sending { (rank, peer) } else { (peer, rank) };
        let tag = match envelope.tag {
            Tag::Exact(tag) => tag,
            Tag::Any => (*self.tags.get(&(from, to, envelope.communicator))?)?,
        };
        Some((from, to, tag, envelope.communicator))
    }
}
