//! A world while it runs: where every rank stands, which messages travel, which receives wait.
//!
//! The machine makes every step that has only one outcome ([`Machine::settle`]) and lists the
//! others as options ([`options`]) that the exploration follows one by one. It knows how things
//! move (docs/semantics.md) and writes down what it sees ([`Evidence`]); what is wrong is not
//! decided here.

mod channel;
mod collective;
mod encode;
mod events;
mod executed;
mod liveness;
mod matching;
mod memory;
mod opaque;
pub(super) mod options;
mod request;
mod steps;
mod sweep;
mod symmetry;
mod unmatched;
mod windows;

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::channel::Channels;
use self::collective::CommunicatorState;
pub(crate) use self::events::envelope;
pub(super) use self::events::{bytes, receiving_peer};
pub(super) use self::executed::Executed;
use self::liveness::Liveness;
pub(crate) use self::matching::accepts;
use self::matching::{Pending, PendingId};
use self::memory::Clashing;
pub(super) use self::request::{Met, Request, RequestStatus};
pub(super) use self::sweep::Sweep;
use self::symmetry::Symmetry;
pub use self::unmatched::Unmatched;
use self::windows::Exposure;
use super::evidence::{At, Evidence};
use super::trace::Deed;
use crate::model::{
    Action, Behaviour, Data, Departure, Event, LabelId, Mode, Peer, Position, Rank, RequestId,
    WindowId, World,
};

/// When a standard send completes, and whether rooted collectives wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The least that MPI promises: it waits for its receive, unless it is known to carry at most
    /// this many bytes and the limit is not 0.
    Rendezvous {
        /// The largest message, in bytes, that is taken to be buffered.
        eager_limit: u64,
    },
    /// It never waits.
    Buffered,
}

/// How the ranks that can move take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schedule {
    /// Each goes as far as it can.
    Eager,
    /// This rank moves only when no other can: whatever can happen before its steps does.
    Delay(Rank),
    /// Nothing waits for anything: every operation is posted, and what finds a partner then would
    /// find one in any order. Only for finding out what has none.
    Unordered,
}

/// How a phase of forced steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Nobody can move without a choice.
    Quiet,
    /// Some ranks go round for ever, and messages move.
    Endless,
    /// Some ranks go round for ever, and nothing moves.
    Circling,
    /// The run met a collective or a decision that does not fit, and is over.
    Mismatch,
    /// A rank has aborted the job.
    Aborted,
    /// More steps than the limit.
    TooLong,
}

/// What a rank is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// About to take the step at its position.
    Ready,
    /// Inside the step at its position, which needs this many more completions.
    Waiting(u32),
    /// Inside a probe for one source, until a message is there; or at the end of an epoch between
    /// named ranks, until they have come.
    Probing,
    /// At a step whose outcome is open.
    Parked,
    /// Jumping in a circle without doing anything.
    Spinning,
    /// Past its last step, or gone before.
    Ended,
    /// At a step from which on nothing is known of it.
    Opaque,
}

/// Where one rank stands.
#[derive(Clone)]
pub(super) struct RankState {
    pub(super) position: u32,
    pub(super) status: Status,
    queued: bool,
    /// Whom the blocking receive at the present position has met, and what it announced.
    met: Option<(Met, Option<LabelId>)>,
    pub(super) requests: Box<[Request]>,
    sources: Box<[Option<Met>]>,
    /// Whether it has attached a buffer, and how many messages are in it.
    attached: bool,
    buffered: u32,
    /// How many collectives it has entered, by communicator.
    collectives: Box<[u32]>,
    /// What has been sent to it or is awaited by it, and is unmatched.
    channels: Channels,
    /// Its posted wildcard receives, in order.
    wildcards: Vec<PendingId>,
    /// How many receives for one source it has posted.
    posted: u32,
    exposure: Exposure,
}

/// A world while it runs.
#[derive(Clone)]
pub(super) struct Machine<'w> {
    pub(super) world: &'w World,
    pub(super) semantics: Semantics,
    schedule: Schedule,
    /// Shared with the machines that this one was copied to, until a rank moves.
    ranks: Vec<Rc<RankState>>,
    pending: Vec<Pending>,
    free: Vec<PendingId>,
    sequence: u64,
    communicators: Vec<CommunicatorState>,
    runnable: VecDeque<Rank>,
    /// Steps that are passed over, because it is known already that they find no partner.
    skipped: Option<&'w FxHashSet<At>>,
    mismatch: bool,
    aborted: bool,
    /// How many ranks are opaque.
    opaque: u32,
    /// Whether the program attaches the buffers for its buffered sends.
    attaches: bool,
    /// The windows of which not all epochs are known.
    unforeseen: Rc<FxHashSet<WindowId>>,
    /// The rank whose ready send is to start now.
    ready: Option<Rank>,
    /// Whether a rank has gone back in its behaviour in this round.
    turned: bool,
    /// How many operations may be unmatched at once. Without loops there can be no more.
    room: usize,
    liveness: Rc<Liveness>,
    clashing: Rc<Clashing>,
    symmetry: Rc<Symmetry>,
    /// Grows whenever something moves between ranks: an operation starts or is matched, a rank
    /// comes to a collective, a rank ends.
    pub(super) moved: u64,
    pub(super) evidence: Evidence,
    /// The operations that were matched since this was last emptied, where somebody wants to know.
    pub(super) matched: Option<Vec<At>>,
    /// The receives in a row that the run is in.
    sweep: Option<Sweep>,
    /// The steps that were taken since this was last emptied, where somebody wants to know.
    pub(super) executed: Option<Executed>,
    /// What happened, in order, where somebody wants to know.
    pub(super) recording: Option<Vec<(At, Deed)>>,
}

/// How often ranks may go round their loops in one phase before it is given up.
const TURNS: usize = 2_000;

impl<'w> Machine<'w> {
    /// All ranks at their first step.
    pub(super) fn new(world: &'w World, semantics: Semantics, schedule: Schedule) -> Self {
        let communicators = events::communicator_count(world);
        let rank = |behaviour: &Behaviour| RankState {
            position: 0,
            status: Status::Ready,
            queued: true,
            met: None,
            requests: vec![Request::NEW; behaviour.requests as usize].into(),
            sources: vec![None; usize::from(behaviour.sources)].into(),
            attached: false,
            buffered: 0,
            collectives: vec![0; communicators].into(),
            channels: Channels::default(),
            wildcards: Vec::new(),
            posted: 0,
            exposure: Exposure::default(),
        };
        Machine {
            world,
            semantics,
            schedule,
            ranks: world.behaviours.iter().map(rank).map(Rc::new).collect(),
            pending: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            communicators: vec![CommunicatorState::default(); communicators],
            runnable: (0..world.size()).collect(),
            skipped: None,
            mismatch: false,
            aborted: false,
            opaque: 0,
            attaches: events::attaches(world),
            unforeseen: Rc::new(windows::unforeseen(world)),
            ready: None,
            turned: false,
            room: 2 * world.event_count() + 2,
            liveness: Rc::new(Liveness::of(world)),
            clashing: Rc::new(Clashing::of(world)),
            symmetry: Rc::default(),
            moved: 0,
            evidence: Evidence::default(),
            matched: None,
            sweep: None,
            executed: None,
            recording: None,
        }
    }

    fn trace(&mut self, at: At, deed: Deed) {
        if let Some(recording) = &mut self.recording {
            recording.push((at, deed));
        }
    }

    /// The same, knowing which ranks may change places.
    pub(super) fn with_symmetry(mut self) -> Self {
        self.symmetry = Rc::new(Symmetry::of(self.world));
        self
    }

    /// The same, passing over the steps given.
    pub(super) fn skipping(mut self, skipped: &'w FxHashSet<At>) -> Self {
        self.skipped = Some(skipped);
        self
    }

    /// Goes on from here without waiting for anything but decisions, without which nobody knows how
    /// to go on.
    pub(super) fn continue_unordered(&mut self) {
        self.schedule = Schedule::Unordered;
        self.forget_waiting();
        self.complete_nothing();
        for rank in 0..self.world.size() {
            let offer = self.awaits_decision(rank);
            match self.state(rank).status {
                Status::Waiting(_) | Status::Probing if !offer => {
                    self.release(rank);
                }
                Status::Parked if !offer => {
                    self.state_mut(rank).status = Status::Ready;
                    self.queue(rank);
                }
                _ => {}
            }
        }
    }

    fn awaits_decision(&self, rank: Rank) -> bool {
        self.event(rank).is_some_and(|event| {
            matches!(
                event.action,
                Action::Offer { .. } | Action::Choose { .. } | Action::Branch { .. }
            )
        })
    }

    pub(super) fn state(&self, rank: Rank) -> &RankState {
        &self.ranks[rank as usize]
    }

    fn state_mut(&mut self, rank: Rank) -> &mut RankState {
        Rc::make_mut(&mut self.ranks[rank as usize])
    }

    /// The step at which a rank has left before its end, without meaning to.
    pub(super) fn left(&self, rank: Rank) -> Option<At> {
        let unmeant = matches!(
            self.event(rank)?.action,
            Action::Leave { departure: Departure::Panicked | Departure::Exited }
        );
        let ended = self.state(rank).status == Status::Ended;
        (unmeant && ended).then(|| (rank, self.state(rank).position as Position))
    }

    /// The step that a rank is at; `None` past its last.
    pub(super) fn event(&self, rank: Rank) -> Option<&'w Event> {
        self.world.behaviours[rank as usize].events.get(self.state(rank).position as usize)
    }

    /// Whether all ranks have ended.
    pub(super) fn ended(&self) -> bool {
        self.ranks.iter().all(|rank| matches!(rank.status, Status::Ended | Status::Opaque))
    }

    /// The delayed rank, if it could take a step: where it is in the queue.
    fn delayed(&self) -> Option<usize> {
        let Schedule::Delay(delayed) = self.schedule else { return None };
        self.runnable.iter().position(|&rank| rank == delayed)
    }

    /// Whether the delayed rank could take a step.
    pub(super) fn delayed_can_move(&self) -> bool {
        self.delayed().is_some()
    }

    fn queue(&mut self, rank: Rank) {
        if !self.state(rank).queued {
            self.state_mut(rank).queued = true;
            self.runnable.push_back(rank);
        }
    }

    /// A rank has had its turn; it stays marked as queued during the turn, so that what it does to
    /// itself does not queue it again.
    fn dequeue(&mut self, rank: Rank) {
        self.state_mut(rank).queued = false;
        if self.state(rank).status == Status::Ready {
            self.queue(rank);
        }
    }

    /// Makes every step that has only one outcome. A delayed rank makes none.
    pub(super) fn settle(&mut self) -> Settled {
        let mut seen: FxHashMap<Box<[u32]>, u64> = FxHashMap::default();
        // Rounds without a turn come to an end by themselves: every step is taken once.
        while seen.len() < TURNS && self.unmatched_count() <= self.room {
            self.turned = false;
            for _ in 0..self.runnable.len() {
                let Some(rank) = self.runnable.pop_front() else { break };
                if self.schedule == Schedule::Delay(rank) {
                    self.runnable.push_back(rank);
                    continue;
                }
                self.advance(rank);
                self.dequeue(rank);
                if self.mismatch {
                    return Settled::Mismatch;
                }
                if self.aborted {
                    return Settled::Aborted;
                }
            }
            if self.only_delayed_left() {
                return Settled::Quiet;
            }
            if self.turned
                && let Some(moved) = seen.insert(self.encode(), self.moved)
            {
                return if moved == self.moved { Settled::Circling } else { Settled::Endless };
            }
        }
        Settled::TooLong
    }

    fn only_delayed_left(&self) -> bool {
        match (self.schedule, self.runnable.len()) {
            (_, 0) => true,
            (Schedule::Delay(rank), 1) => self.runnable.front() == Some(&rank),
            _ => false,
        }
    }

    /// Whether a request is started and not complete.
    pub(super) fn request_is_open(&self, rank: Rank, id: RequestId) -> bool {
        self.state(rank).requests[id as usize].status == RequestStatus::Active
    }

    /// Lets the delayed rank take one step.
    pub(super) fn step_delayed(&mut self) -> Settled {
        let delayed = self.delayed().and_then(|at| self.runnable.remove(at));
        let Some(rank) = delayed else { return Settled::Quiet };
        if self.state(rank).status == Status::Ready {
            self.step(rank);
        }
        self.probe_again(rank);
        self.dequeue(rank);
        match (self.mismatch, self.aborted) {
            (true, _) => Settled::Mismatch,
            (_, true) => Settled::Aborted,
            _ => Settled::Quiet,
        }
    }

    /// Moves one rank as far as it can, or to the end of a loop's turn.
    fn advance(&mut self, rank: Rank) {
        while self.state(rank).status == Status::Ready && !self.mismatch {
            let before = self.state(rank).position;
            self.step(rank);
            if self.state(rank).position <= before && self.state(rank).status == Status::Ready {
                return;
            }
        }
        self.probe_again(rank);
    }

    /// A probe may find its message now.
    fn probe_again(&mut self, rank: Rank) {
        if self.state(rank).status == Status::Probing && self.probe_now(rank) {
            self.release(rank);
        }
    }

    /// The operation at the present position is complete: goes on behind it.
    fn release(&mut self, rank: Rank) {
        self.state_mut(rank).status = Status::Ready;
        self.leave_operation(rank);
        self.queue(rank);
    }

    fn go_to(&mut self, rank: Rank, position: Position) {
        let position = u32::try_from(position).expect("a behaviour has fewer than 2^32 events");
        let from = self.state(rank).position;
        self.turned |= position <= from;
        if self.sweep.is_some() {
            self.end_sweep(rank, from as Position, position as Position);
        }
        self.state_mut(rank).position = position;
    }

    /// How large this is: ranks, and room for operations.
    pub(super) fn extent(&self) -> usize {
        self.ranks.len() + self.pending.len()
    }

    /// How many operations wait for a partner.
    fn unmatched_count(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    /// The rank that a peer means now; `None` where there is nobody (null, out of range, unbound).
    pub(super) fn resolve(&self, rank: Rank, peer: Peer) -> Option<Rank> {
        match peer {
            Peer::Rank(other) => {
                Rank::try_from(other).ok().filter(|&other| other < self.world.size())
            }
            Peer::Source(slot) => self.state(rank).sources[usize::from(slot)].map(|met| met.source),
            Peer::Any { .. } | Peer::Outside(_) | Peer::Null => None,
        }
    }

    /// Whether a send in this mode waits for its receive.
    fn waits(&self, mode: Mode, data: &Data) -> bool {
        match (mode, self.semantics) {
            (Mode::Synchronous, _) => true,
            (Mode::Buffered, _) | (_, Semantics::Buffered) => false,
            (_, Semantics::Rendezvous { eager_limit: 0 }) => true,
            (_, Semantics::Rendezvous { eager_limit }) => {
                bytes(self.world, data).is_none_or(|bytes| bytes > eager_limit)
            }
        }
    }
}
