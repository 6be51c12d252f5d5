//! Every run of a world, one state after the other, by the rules of `docs/semantics.md`.
//!
//! This is what the engine is held against, so it takes no short cut: each state's every possible
//! next step is taken, whoever makes it, and the states already seen are kept whole. The engine
//! must find the same answers with a small part of the states.

use rustc_hash::FxHashSet as HashSet;
use std::fmt::{self, Display, Formatter};

use p2p_protocol::model::{Action, Departure, Rank, World};

use crate::state::{Progress, RankState, Request, State};

/// How a standard send completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// When it is matched, unless it has at most so many bytes.
    Rendezvous { eager_limit: u64 },
    /// At once.
    Buffered,
}

/// What can happen in some run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Truth {
    pub(crate) can_finish: bool,
    /// Every rank ends and a message is left over.
    pub(crate) can_finish_unclean: bool,
    pub(crate) can_hang: bool,
    /// A ready send starts before its receive is posted.
    pub(crate) unposted_ready: bool,
    /// A rank ends, or starts a request again, while the request is active.
    pub(crate) missing_wait: bool,
    /// An offer takes a message for which it has no arm, or collective calls differ.
    pub(crate) mismatch: bool,
    /// A rank aborts the job.
    pub(crate) can_abort: bool,
    /// A message meets a receive of another datatype.
    pub(crate) type_mismatch: bool,
    /// A message is known to be longer than its receive.
    pub(crate) truncation: bool,
}

impl Truth {
    /// Without what is left open where a run can be over at once: what else happens before, and if
    /// both a mismatch and an abort can come, which of them does.
    pub(crate) fn that_is_settled(self) -> Truth {
        let goes_on = !self.mismatch && !self.can_abort;
        Truth {
            unposted_ready: self.unposted_ready && goes_on,
            missing_wait: self.missing_wait && goes_on,
            type_mismatch: self.type_mismatch && goes_on,
            truncation: self.truncation && goes_on,
            mismatch: !goes_on,
            can_abort: !goes_on,
            ..self
        }
    }
}

impl Display for Truth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = [
            (self.can_finish, "can finish"),
            (self.can_finish_unclean, "can finish unclean"),
            (self.can_hang, "can hang"),
            (self.unposted_ready, "unposted ready"),
            (self.missing_wait, "missing wait"),
            (self.mismatch, "mismatch"),
            (self.can_abort, "can abort"),
            (self.type_mismatch, "type mismatch"),
            (self.truncation, "truncation"),
        ];
        let words: Vec<&str> = all.iter().filter(|(is, _)| *is).map(|(_, words)| *words).collect();
        if words.is_empty() { f.write_str("nothing") } else { f.write_str(&words.join(", ")) }
    }
}

/// What a step leads to.
pub(crate) enum Next {
    State(State),
    /// A mismatch or an abort: the run is over.
    Over,
}

/// Unmatched operations in one state; more than that pile up without end.
const UNMATCHED: usize = 24;

/// All runs of `world`; `None` if there are more than `limit` states, or no end of them.
pub(crate) fn explore(world: &World, reading: Reading, limit: usize) -> Option<Truth> {
    let mut explorer = Explorer { world, reading, truth: Truth::default() };
    let start = explorer.start();
    let mut seen = HashSet::from_iter([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        if seen.len() > limit || state.unmatched() > UNMATCHED {
            return None;
        }
        let next = explorer.next(&state);
        explorer.judge(&state, &next);
        for next in next {
            if let Next::State(next) = next
                && !seen.contains(&next)
            {
                seen.insert(next.clone());
                open.push(next);
            }
        }
    }
    Some(explorer.truth)
}

pub(crate) struct Explorer<'world> {
    pub(crate) world: &'world World,
    pub(crate) reading: Reading,
    pub(crate) truth: Truth,
}

impl Explorer<'_> {
    fn start(&self) -> State {
        let ranks = self.world.behaviours.iter().map(|behaviour| RankState {
            position: 0,
            progress: Progress::Before,
            requests: vec![Request::default(); behaviour.requests as usize],
            sources: vec![None; usize::from(behaviour.sources)],
        });
        State {
            ranks: ranks.collect(),
            messages: Default::default(),
            receives: vec![Vec::new(); self.world.behaviours.len()],
            gatherings: vec![Vec::new(); self.world.communicators.len()],
        }
    }

    pub(crate) fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        0..self.world.size()
    }

    pub(crate) fn has_ended(&self, state: &State, rank: Rank) -> bool {
        let rank = rank as usize;
        state.ranks[rank].progress == Progress::Left
            || state.ranks[rank].position >= self.world.behaviours[rank].events.len()
    }

    /// Notes the outcome of a run that has come to `state` and may stop there.
    fn judge(&mut self, state: &State, next: &[Next]) {
        if self.all_have_ended(state) {
            self.truth.can_finish = true;
            if next.is_empty() && self.leaves_a_message(state) {
                self.truth.can_finish_unclean = true;
            }
        } else if !next.iter().any(|next| moves(state, next)) && self.hangs(state) {
            self.truth.can_hang = true;
        }
    }

    /// Is there a message to a rank that has not left against its will?
    fn leaves_a_message(&self, state: &State) -> bool {
        state.messages.keys().any(|channel| {
            let destination = &state.ranks[channel.destination as usize];
            let events = &self.world.behaviours[channel.destination as usize].events;
            let event = events.get(destination.position).map(|event| &event.action);
            let unmeant = matches!(
                event,
                Some(Action::Leave { departure: Departure::Panicked | Departure::Exited })
            );
            destination.progress != Progress::Left || !unmeant
        })
    }

    fn all_have_ended(&self, state: &State) -> bool {
        self.ranks().all(|rank| self.has_ended(state, rank))
    }

    /// Can nothing ever move again? Every state that may follow is looked at.
    fn hangs(&mut self, state: &State) -> bool {
        let mut seen = HashSet::from_iter([state.clone()]);
        let mut open = vec![state.clone()];
        while let Some(state) = open.pop() {
            let next = self.next(&state);
            if self.all_have_ended(&state) || next.iter().any(|next| moves(&state, next)) {
                return false;
            }
            for next in next {
                if let Next::State(next) = next
                    && seen.insert(next.clone())
                {
                    open.push(next);
                }
            }
        }
        true
    }

    /// Every step that may come next.
    fn next(&mut self, state: &State) -> Vec<Next> {
        let mut next = Vec::new();
        for rank in self.ranks() {
            if !self.has_ended(state, rank) {
                self.rank_steps(state, rank, &mut next);
            }
            self.request_steps(state, rank, &mut next);
        }
        for found in state.matches() {
            next.push(self.match_up(state, found));
        }
        next
    }
}

/// Does a step change anything between ranks, or end the run?
fn moves(before: &State, next: &Next) -> bool {
    match next {
        Next::Over => true,
        Next::State(after) => after.moved_from(before),
    }
}
