//! Memory that operations use: buffers that overlap, accesses while an operation is active
//! (MPI 4.0, 3.7.2), and the buffer that is attached for buffered sends (3.6).

use super::matching::Completes;
use super::{Machine, Schedule, Status, envelope};
use crate::engine::describe;
use crate::engine::evidence::{At, Observation};
use crate::model::{
    Action, Behaviour, Buffer, Collective, Data, Envelope, Event, Mode, Peer, Position, Rank,
    RequestId, World,
};

/// Of a rank with more requests than this, overlaps are not looked for.
const COMPARED: usize = 1_024;

impl<'w> Machine<'w> {
    /// Takes down what a step touches that an active operation uses: nothing may write there, and
    /// nothing may read there while a receive is active.
    pub(super) fn access(&mut self, rank: Rank, requests: &[RequestId], writes: bool) {
        let access: At = (rank, self.state(rank).position as Position);
        for &id in requests {
            let request = self.request(rank, id);
            if !request.is_active() {
                continue;
            }
            let start = (rank, request.started as Position);
            let event = self.described(rank, id);
            if (writes || changes_memory(event)) && !goes_nowhere(event) {
                self.evidence.note(Observation::Access { access, start, writes });
            }
        }
    }

    /// Takes down the active operations whose memory overlaps that of one that starts now.
    pub(super) fn compare_buffers(
        &mut self,
        rank: Rank,
        position: Position,
        id: Option<RequestId>,
    ) {
        let world = self.world;
        let event = &world.behaviours[rank as usize].events[position];
        let second: At = (rank, self.state(rank).position as Position);
        let starts = buffers(event);
        if let [Some((sent, _)), Some((received, _))] = starts
            && sent.overlaps(&received)
        {
            self.evidence.note(Observation::Overlap { first: second, second });
        }
        let requests = &self.state(rank).requests;
        if !self.clashing.contains(rank, position) || requests.len() > COMPARED {
            return;
        }
        let mut overlapping = Vec::new();
        for (other, request) in (0..).zip(requests) {
            if !request.is_active() || id == Some(other) {
                continue;
            }
            let active = buffers(self.described(rank, other));
            if starts
                .iter()
                .flatten()
                .any(|start| active.iter().flatten().any(|one| clash(start, one)))
            {
                overlapping.push((rank, request.started as Position));
            }
        }
        for first in overlapping {
            self.evidence.note(Observation::Overlap { first, second });
        }
    }

    /// Takes down a collective that writes what comes to where it reads what it brings.
    pub(super) fn compare_collective(&mut self, at: At, collective: &Collective) {
        let buffer = |data: Option<Data>| data.and_then(|data| data.buffer);
        let (brings, takes) = (buffer(collective.data), buffer(collective.room));
        if brings.zip(takes).is_some_and(|(brings, takes)| brings.overlaps(&takes)) {
            self.evidence.note(Observation::Overlap { first: at, second: at });
        }
    }

    /// The event that describes what a request does.
    fn described(&self, rank: Rank, id: RequestId) -> &'w Event {
        let described = self.request(rank, id).described as Position;
        &self.world.behaviours[rank as usize].events[described]
    }

    pub(super) fn detach_buffer(&mut self, rank: Rank) {
        let state = self.state_mut(rank);
        state.attached = false;
        let left = state.buffered;
        let position = state.position as Position;
        if left == 0 || self.schedule == Schedule::Unordered {
            self.go_to(rank, position + 1);
        } else {
            self.state_mut(rank).status = Status::Waiting(left);
        }
    }

    pub(super) fn is_detaching(&self, rank: Rank) -> bool {
        matches!(self.state(rank).status, Status::Waiting(_))
            && self.event(rank).is_some_and(|event| event.action == Action::DetachBuffer)
    }

    /// What is completed when a message matches whose send is complete at once: under a reading
    /// that buffers nothing by itself, it stays in the attached buffer until then.
    pub(super) fn kept_in_buffer(&mut self, rank: Rank, mode: Mode, data: &Data) -> Completes {
        if mode != Mode::Buffered || !self.waits(Mode::Standard, data) {
            return Completes::Nothing;
        }
        self.state_mut(rank).buffered += 1;
        Completes::Buffered
    }

    /// A buffered send needs a buffer that is attached, and that its message fits into.
    pub(super) fn need_buffer(&mut self, rank: Rank) {
        if !self.attaches {
            return;
        }
        let send = (rank, self.state(rank).position as Position);
        let is_longer = || {
            let bytes = describe::bytes_sent(self.world, send).flatten();
            bytes
                .zip(describe::largest_buffer(self.world, rank))
                .is_some_and(|(it, room)| it > room)
        };
        if !self.state(rank).attached || is_longer() {
            self.evidence.note(Observation::NoBuffer { send });
        }
    }

    /// The steps whose messages are in a rank's attached buffer.
    pub(in crate::engine) fn in_buffer(&self, rank: Rank) -> Vec<Position> {
        let pending = self.pending.iter().filter(|pending| {
            pending.live && pending.rank == rank && pending.completes == Completes::Buffered
        });
        pending.map(|pending| pending.position as Position).collect()
    }
}

/// The events whose memory overlaps that of another event of the same rank, one of them writing: only
/// of these it matters which operations are active.
#[derive(Debug)]
pub(super) struct Clashing {
    /// By rank, the positions in order.
    positions: Vec<Vec<u32>>,
}

impl Clashing {
    /// Compares the events of each rank of a world.
    pub(super) fn of(world: &World) -> Self {
        Clashing { positions: world.behaviours.iter().map(clashing).collect() }
    }

    fn contains(&self, rank: Rank, position: Position) -> bool {
        let positions = &self.positions[rank as usize];
        u32::try_from(position).is_ok_and(|position| positions.binary_search(&position).is_ok())
    }
}

fn clashing(behaviour: &Behaviour) -> Vec<u32> {
    let mut parts: Vec<(Buffer, bool, u32)> = Vec::new();
    for (position, event) in (0..).zip(&behaviour.events) {
        let buffers = buffers(event).into_iter().flatten();
        parts.extend(buffers.map(|(buffer, writes)| (buffer, writes, position)));
    }
    parts.sort_unstable_by_key(|(buffer, ..)| (buffer.object, buffer.start));
    let mut found = Vec::new();
    for parts in parts.chunk_by(|(one, ..), (other, ..)| one.object == other.object) {
        // How far those reach that begin before, and where the first one begins behind.
        let (mut all, mut written) = (0, 0);
        for (buffer, writes, position) in parts {
            if buffer.start < if *writes { all } else { written } {
                found.push(*position);
            }
            all = all.max(buffer.end);
            written = if *writes { written.max(buffer.end) } else { written };
        }
        let (mut all, mut written) = (u64::MAX, u64::MAX);
        for (buffer, writes, position) in parts.iter().rev() {
            if buffer.end > if *writes { all } else { written } {
                found.push(*position);
            }
            all = buffer.start;
            written = if *writes { buffer.start } else { written };
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The memory that an operation sends from and that it receives into, with whether it is written.
fn buffers(event: &Event) -> [Option<(Buffer, bool)>; 2] {
    let buffer = |envelope: &Envelope| envelope.data.buffer;
    [
        envelope(event, true).and_then(buffer).map(|buffer| (buffer, false)),
        envelope(event, false).and_then(buffer).map(|buffer| (buffer, true)),
    ]
}

/// Whether an operation writes to memory of its rank while it is active. Of a collective, only what it
/// writes is said to be read.
fn changes_memory(event: &Event) -> bool {
    let returns = match &event.action {
        Action::OneSided(it) => it.access().is_some_and(|access| access.kind.returns()),
        Action::StartCollective { .. } => true,
        _ => false,
    };
    returns || envelope(event, false).is_some()
}

/// Whether an operation moves nothing, for its other end is `MPI_PROC_NULL`.
fn goes_nowhere(event: &Event) -> bool {
    event.action.envelopes().any(|envelope| envelope.peer == Peer::Null)
}

fn clash(one: &(Buffer, bool), other: &(Buffer, bool)) -> bool {
    (one.1 || other.1) && one.0.overlaps(&other.0)
}

#[cfg(test)]
mod tests {
    use crate::engine::evidence::Observation;
    use crate::engine::exploration::{Limits, Plan, explore};
    use crate::engine::machine::{Schedule, Semantics};
    use crate::engine::samples::{envelope, world};
    use crate::model::{Action, Buffer, Completion, Data, Envelope, Mode, Peer};

    fn seen(ranks: Vec<Vec<Action>>) -> Vec<Observation> {
        let semantics = Semantics::Rendezvous { eager_limit: 0 };
        let plan = Plan { semantics, schedule: Schedule::Eager, skipped: None, told: false };
        let world = world(ranks);
        let explored = explore(&world, plan, Limits { states: 10 });
        assert!(explored.hangs.is_empty());
        explored.observations.into_iter().map(|(observation, _)| observation).collect()
    }

    fn with(peer: i32, start: u64, end: u64) -> Envelope {
        let envelope = envelope(Peer::Rank(peer), 0);
        let buffer = Some(Buffer { object: 3, start, end });
        Envelope { data: Data { buffer, ..envelope.data }, ..envelope }
    }

    fn start_send(peer: i32, request: u32, start: u64, end: u64) -> Action {
        Action::StartSend { mode: Mode::Standard, envelope: with(peer, start, end), request }
    }

    fn start_receive(peer: i32, request: u32, start: u64, end: u64) -> Action {
        Action::StartReceive { envelope: with(peer, start, end), request, binds: None }
    }

    fn wait(requests: impl Into<Box<[u32]>>) -> Action {
        Action::Wait { requests: requests.into(), completion: Completion::All }
    }

    fn access(writes: bool) -> Action {
        Action::Access { requests: [0].into(), writes }
    }

    #[test]
    fn memory_in_use_is_left_alone() {
        let other = || vec![start_receive(0, 0, 0, 1), wait([0])];
        let sends = |access| vec![start_send(1, 0, 0, 1), access, wait([0])];
        let written = Observation::Access { access: (0, 1), start: (0, 0), writes: true };
        assert_eq!(seen(vec![sends(access(true)), other()]), [written]);
        assert_eq!(seen(vec![sends(access(false)), other()]), []);
        let other = vec![start_send(0, 0, 0, 1), wait([0])];
        let receives = vec![start_receive(1, 0, 0, 1), access(false), wait([0]), access(false)];
        let read = Observation::Access { access: (0, 1), start: (0, 0), writes: false };
        assert_eq!(seen(vec![receives, other]), [read]);
    }

    #[test]
    fn what_goes_nowhere_uses_no_memory() {
        let envelope = Envelope { peer: Peer::Null, ..with(1, 0, 1) };
        let start = Action::StartSend { mode: Mode::Standard, envelope, request: 0 };
        assert_eq!(seen(vec![vec![start, access(true), wait([0])], vec![]]), []);
    }

    #[test]
    fn what_is_received_into_overlaps_nothing() {
        let two = |start| {
            let second = start_receive(1, 1, start, start + 4);
            vec![start_receive(1, 0, 0, 4), second, wait([0, 1])]
        };
        let other = || vec![start_send(0, 0, 0, 4), start_send(0, 1, 2, 6), wait([0, 1])];
        let overlap = Observation::Overlap { first: (0, 0), second: (0, 1) };
        assert_eq!(seen(vec![two(3), other()]), [overlap]);
        assert_eq!(seen(vec![two(4), other()]), []);
    }

    #[test]
    fn only_what_may_clash_is_compared() {
        let clashing = |actions: Vec<Action>| super::clashing(&world(vec![actions]).behaviours[0]);
        let send = |start, end| start_send(0, 0, start, end);
        let receive = |start, end| start_receive(0, 0, start, end);
        assert_eq!(clashing(vec![send(0, 8), send(0, 8), receive(8, 9)]), []);
        assert_eq!(clashing(vec![send(0, 8), send(20, 28), receive(4, 5)]), [0, 2]);
        assert_eq!(clashing(vec![receive(0, 30), send(1, 2), send(8, 9), send(30, 31)]), [0, 1, 2]);
        assert_eq!(clashing(vec![receive(4, 8), send(0, 1), receive(7, 9)]), [0, 2]);
    }

    #[test]
    fn a_buffered_send_needs_a_buffer() {
        let send = || Action::Send { mode: Mode::Buffered, envelope: with(1, 0, 1) };
        let attach = || Action::AttachBuffer { bytes: None };
        let other = || vec![Action::Receive { envelope: with(0, 0, 1), binds: None }];
        let late = vec![send(), attach(), Action::DetachBuffer];
        assert_eq!(seen(vec![late, other()]), [Observation::NoBuffer { send: (0, 0) }]);
        let right = vec![attach(), send(), Action::DetachBuffer];
        assert_eq!(seen(vec![right, other()]), []);
        let small = vec![Action::AttachBuffer { bytes: Some(0) }, send(), Action::DetachBuffer];
        assert_eq!(seen(vec![small, other()]), [Observation::NoBuffer { send: (0, 1) }]);
        // The protocol language attaches what it needs.
        assert_eq!(seen(vec![vec![send()], other()]), []);
    }
}
