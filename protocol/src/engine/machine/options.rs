//! The steps with more than one outcome, and which of them must be followed now.
//!
//! Where everything that a rank could ever choose from is there already, and nothing that others
//! do can take any of it away or add to it, following this rank's options alone loses nothing (a
//! persistent set, Godefroid 1996).

use rustc_hash::FxHashMap;

use super::matching::{Pending, PendingId};
use super::{Machine, Met, RequestStatus, Settled, Status, receiving_peer};
use crate::engine::trace::Deed;
use crate::model::{
    Action, Behaviour, CommunicatorId, Completion, Event, Peer, Position, Rank, RequestId, World,
};

/// One outcome of a step that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Choice {
    /// A posted wildcard receive takes a message.
    Match { message: PendingId, wildcard: PendingId },
    /// A probe sees a message of this source.
    Probe { rank: Rank, source: Rank },
    /// A wait for any returns the request at this index of its list.
    Any { rank: Rank, index: usize },
    /// A wait for some returns these of its complete requests, as bits in their order; `ALL` of
    /// them if there are more than can be told apart.
    Some { rank: Rank, subset: u64 },
    /// A test finds its request complete.
    Complete { rank: Rank },
    /// A test finds its request pending.
    Pending { rank: Rank },
    /// A decision.
    Arm { rank: Rank, index: usize },
    /// A way on that data decide.
    Way { rank: Rank, index: usize },
    /// A ready send starts.
    Ready { rank: Rank },
    /// The delayed rank takes a step.
    Delayed,
}

/// What can be done, and whether that is all there will ever be.
struct Options {
    choices: Vec<Choice>,
    closed: bool,
}

/// To whom each rank may still send from which position on.
#[derive(Default)]
pub(in crate::engine) struct FutureSends {
    /// The last position at which a rank sends to another.
    last: FxHashMap<(Rank, Rank), Position>,
    /// The last position at which a rank sends to a source it has met, whoever that is.
    last_to_source: FxHashMap<Rank, Position>,
    /// The ranks of which nothing may be known at some time, so that they may send anything.
    unforeseen: Vec<bool>,
}

/// At most this many requests of one wait-some are looked at in all their subsets.
const SUBSETS: usize = 10;

/// The subset of all complete requests, where not every subset is looked at.
pub(in crate::engine) const ALL: u64 = u64::MAX;

impl FutureSends {
    pub(in crate::engine) fn of(world: &World) -> Self {
        let mut future = FutureSends { unforeseen: unforeseen(world), ..FutureSends::default() };
        for (rank, behaviour) in (0..).zip(&world.behaviours) {
            let until = until(&behaviour.events);
            for (position, event) in behaviour.events.iter().enumerate() {
                let until = until[position];
                for peer in destinations(&event.action, &behaviour.events) {
                    let last = match peer {
                        Peer::Rank(other) => {
                            let Ok(other) = Rank::try_from(other) else { continue };
                            future.last.entry((rank, other)).or_default()
                        }
                        Peer::Source(_) => future.last_to_source.entry(rank).or_default(),
                        Peer::Any { .. } | Peer::Outside(_) | Peer::Null => continue,
                    };
                    *last = until.max(*last);
                }
            }
        }
        future
    }

    /// Whether `rank`, being at `position`, may yet start a message to `other`.
    pub(super) fn may_send(&self, rank: Rank, position: Position, other: Rank) -> bool {
        let later = |last: Option<&Position>| last.is_some_and(|&last| last > position);
        later(self.last.get(&(rank, other)))
            || later(self.last_to_source.get(&rank))
            || self.unforeseen[rank as usize]
    }
}

/// Which ranks may come to a step from which on nothing is known of them, or may be misled by such
/// a rank's messages.
fn unforeseen(world: &World) -> Vec<bool> {
    let some = |behaviour: &Behaviour, is: fn(&Action) -> bool| {
        behaviour.events.iter().any(|event| is(&event.action))
    };
    let opaque = |action: &Action| matches!(action, Action::Opaque | Action::Cancel { .. });
    let spreads = world.behaviours.iter().any(|behaviour| some(behaviour, opaque));
    let wildcard = |action: &Action| matches!(receiving_peer(action), Some(Peer::Any { .. }));
    let may = |behaviour| spreads && (some(behaviour, opaque) || some(behaviour, wildcard));
    world.behaviours.iter().map(may).collect()
}

/// For each step, the last position from which it may still happen: what stands in a loop may
/// happen again as long as the loop's end is not behind.
pub(super) fn until(events: &[Event]) -> Vec<Position> {
    let loops = loops(events);
    let last = |position: Position| {
        let inside = loops.iter().filter(|(head, end)| (*head..=*end).contains(&position));
        inside.map(|&(_, end)| end + 1).max().unwrap_or(position)
    };
    (0..events.len()).map(last).collect()
}

/// Head and end of every loop: what a jump back spans, widened where loops overlap.
fn loops(events: &[Event]) -> Vec<(Position, Position)> {
    let mut loops = Vec::new();
    for (position, event) in events.iter().enumerate() {
        for target in event.action.targets() {
            if target <= position {
                loops.push((target, position));
            }
        }
    }
    loop {
        let before = loops.clone();
        for one in 0..loops.len() {
            for other in 0..loops.len() {
                let ((head, end), (other_head, other_end)) = (loops[one], loops[other]);
                if head <= other_end && other_head <= end {
                    loops[one] = (head.min(other_head), end.max(other_end));
                }
            }
        }
        if loops == before {
            return loops;
        }
    }
}

/// To whom a step starts a message.
fn destinations(action: &Action, events: &[Event]) -> Vec<Peer> {
    match action {
        Action::Send { envelope, .. } | Action::StartSend { envelope, .. } => vec![envelope.peer],
        Action::SendReceive { send, .. } => vec![send.peer],
        Action::Start { requests } => events
            .iter()
            .filter_map(|event| match &event.action {
                Action::PlanSend { envelope, request, .. } if requests.contains(request) => {
                    Some(envelope.peer)
                }
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

impl<'w> Machine<'w> {
    /// What can happen next. With `future`, only as much as must be followed now.
    pub(in crate::engine) fn options(&self, future: Option<&FutureSends>) -> Vec<Choice> {
        let mut all = Vec::new();
        for rank in 0..self.world.size() {
            let options = self.options_of(rank, future);
            if future.is_some() && options.closed && !options.choices.is_empty() {
                return options.choices;
            }
            all.extend(options.choices);
        }
        if self.delayed_can_move() {
            all.push(Choice::Delayed);
        }
        all
    }

    fn options_of(&self, rank: Rank, future: Option<&FutureSends>) -> Options {
        let mut options = self.parked_options(rank, future);
        let wildcards = &self.state(rank).wildcards;
        if wildcards.is_empty() {
            return options;
        }
        for &wildcard in wildcards {
            let candidates = self.candidates(wildcard);
            let Pending { peer, communicator, .. } = self.pending[wildcard as usize];
            let senders: Vec<Rank> =
                candidates.iter().map(|&message| self.pending[message as usize].rank).collect();
            options.closed = self.are_alike(wildcards)
                && matches!(self.state(rank).status, Status::Waiting(_))
                && self.all_there(rank, (peer, communicator), &senders, future);
            let choice = |message| Choice::Match { message, wildcard };
            options.choices.extend(candidates.into_iter().map(choice));
        }
        options
    }

    /// Whether posted wildcards accept the same messages, so that the first bars all others.
    pub(super) fn are_alike(&self, wildcards: &[PendingId]) -> bool {
        let accepts = |&id: &PendingId| {
            let Pending { peer, tag, communicator, .. } = self.pending[id as usize];
            (peer, tag, communicator)
        };
        wildcards.windows(2).all(|pair| accepts(&pair[0]) == accepts(&pair[1]))
    }

    /// Whether no source of a wildcard besides those that are there can send any more.
    fn all_there(
        &self,
        rank: Rank,
        (peer, communicator): (Peer, CommunicatorId),
        there: &[Rank],
        future: Option<&FutureSends>,
    ) -> bool {
        let Some(future) = future else { return false };
        self.sources(peer, communicator).all(|source| {
            there.contains(&source)
                || self.state(source).status == Status::Ended
                || !future.may_send(source, self.state(source).position as Position, rank)
        })
    }

    /// The options of a rank that is at a step with several outcomes.
    fn parked_options(&self, rank: Rank, future: Option<&FutureSends>) -> Options {
        let (Status::Parked, Some(event)) = (self.state(rank).status, self.event(rank)) else {
            return Options { choices: Vec::new(), closed: false };
        };
        let status = |id: u32| self.state(rank).requests[id as usize].status;
        match &event.action {
            Action::Choose { arms } => Options {
                choices: (0..arms.len()).map(|index| Choice::Arm { rank, index }).collect(),
                closed: true,
            },
            Action::Branch { targets } => Options {
                choices: (0..targets.len()).map(|index| Choice::Way { rank, index }).collect(),
                closed: true,
            },
            Action::Test { request, .. } => match status(*request) {
                RequestStatus::Complete(_) => Options {
                    choices: vec![Choice::Complete { rank }, Choice::Pending { rank }],
                    closed: true,
                },
                _ => Options { choices: vec![Choice::Pending { rank }], closed: false },
            },
            Action::Probe { envelope, .. } => {
                let there: Vec<Rank> = self
                    .sources(envelope.peer, envelope.communicator)
                    .filter(|&source| self.available(rank, source, envelope).is_some())
                    .collect();
                Options {
                    closed: self.state(rank).wildcards.is_empty()
                        && self.all_there(
                            rank,
                            (envelope.peer, envelope.communicator),
                            &there,
                            future,
                        ),
                    choices: there.iter().map(|&source| Choice::Probe { rank, source }).collect(),
                }
            }
            Action::Wait { requests, completion } => {
                let done = self.complete_indices(rank, requests);
                let closed = requests.iter().all(|&id| status(id) != RequestStatus::Active)
                    && self.state(rank).wildcards.is_empty();
                let choices = match completion {
                    Completion::Some => subsets(done.len())
                        .into_iter()
                        .map(|subset| Choice::Some { rank, subset })
                        .collect(),
                    _ => done.iter().map(|&index| Choice::Any { rank, index }).collect(),
                };
                Options { choices, closed }
            }
            Action::Send { .. } | Action::StartSend { .. } | Action::Start { .. } => {
                Options { choices: vec![Choice::Ready { rank }], closed: false }
            }
            _ => Options { choices: Vec::new(), closed: false },
        }
    }

    /// Which requests of a list are complete, and not waited for yet.
    fn complete_indices(&self, rank: Rank, requests: &[RequestId]) -> Vec<usize> {
        let status = |id: RequestId| self.state(rank).requests[id as usize].status;
        let complete =
            |&index: &usize| matches!(status(requests[index]), RequestStatus::Complete(_));
        (0..requests.len()).filter(complete).collect()
    }

    /// Follows one option; the forced steps after it are not made yet.
    pub(in crate::engine) fn apply(&mut self, choice: Choice) -> Settled {
        match choice {
            Choice::Match { message, wildcard } => self.match_wildcard(message, wildcard),
            Choice::Delayed => return self.step_delayed(),
            Choice::Ready { rank } => {
                self.ready = Some(rank);
                self.state_mut(rank).status = Status::Ready;
                self.queue(rank);
            }
            Choice::Probe { rank, source } => {
                if let Some(Action::Probe { binds, envelope }) = self.action(rank) {
                    let met = self.available(rank, source, envelope);
                    self.bind(rank, *binds, met.or(Some(Met::of(source, envelope.tag))));
                }
                self.unpark(rank, None);
            }
            Choice::Any { rank, index } => {
                let Some(Action::Wait { requests, completion }) = self.action(rank) else {
                    unreachable!("a wait's option is followed at the wait")
                };
                self.return_request(rank, requests[index]);
                let target = match completion {
                    Completion::Any(Some(targets)) => Some(targets[index]),
                    _ => None,
                };
                self.unpark(rank, target);
            }
            Choice::Some { rank, subset } => {
                let Some(Action::Wait { requests, .. }) = self.action(rank) else {
                    unreachable!("a wait's option is followed at the wait")
                };
                for (bit, index) in self.complete_indices(rank, requests).into_iter().enumerate() {
                    if subset == ALL || subset & (1 << bit) != 0 {
                        self.return_request(rank, requests[index]);
                    }
                }
                self.unpark(rank, None);
            }
            Choice::Complete { rank } => {
                if let Some(Action::Test { request, .. }) = self.action(rank) {
                    self.return_request(rank, *request);
                }
                self.unpark(rank, None);
            }
            Choice::Pending { rank } => {
                let mut target = None;
                if let Some(Action::Test { request, pending }) = self.action(rank) {
                    let start = self.state(rank).requests[*request as usize].described as Position;
                    let at = (rank, self.state(rank).position as Position);
                    self.trace(at, Deed::Pending { start });
                    target = Some(*pending);
                }
                self.unpark(rank, target);
            }
            Choice::Way { rank, index } => {
                if let Some(Action::Branch { targets }) = self.action(rank) {
                    self.state_mut(rank).status = Status::Ready;
                    self.jump(rank, targets[index]);
                    self.queue(rank);
                }
            }
            Choice::Arm { rank, index } => {
                let arm = match self.action(rank) {
                    Some(Action::Choose { arms }) => Some(arms[index]),
                    _ => None,
                };
                if let Some(arm) = arm {
                    let at = (rank, self.state(rank).position as Position);
                    self.trace(at, Deed::Chooses { label: arm.label });
                }
                let target = arm.map(|arm| arm.target);
                self.unpark(rank, target);
            }
        }
        Settled::Quiet
    }

    /// A wait for any or some returns a request.
    fn return_request(&mut self, rank: Rank, id: RequestId) {
        let start = self.state(rank).requests[id as usize].described as Position;
        let at = (rank, self.state(rank).position as Position);
        self.trace(at, Deed::Completes { start });
        self.complete_request(rank, id);
    }

    fn action(&self, rank: Rank) -> Option<&'w Action> {
        self.event(rank).map(|event| &event.action)
    }

    fn unpark(&mut self, rank: Rank, target: Option<Position>) {
        let next = self.state(rank).position as Position + 1;
        self.go_to(rank, target.unwrap_or(next));
        self.state_mut(rank).status = Status::Ready;
        self.queue(rank);
    }

    /// The rank that wildcard matching concerns, and the step that posted it.
    pub(in crate::engine) fn posted_at(&self, pending: PendingId) -> (Rank, Position) {
        let pending = &self.pending[pending as usize];
        (pending.rank, pending.position as Position)
    }
}

/// The non-empty subsets of so many requests, as bits; of more than [`SUBSETS`] only the whole.
fn subsets(count: usize) -> Vec<u64> {
    match count {
        0 => Vec::new(),
        1..=SUBSETS => (1..(1 << count)).collect(),
        _ => vec![ALL],
    }
}
