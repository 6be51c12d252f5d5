//! Wildcards that take whatever there is, in whatever order, with the same result.
//!
//! A rank that collects one message from each of many others has as many orders as there are
//! permutations. Where it takes all of them by equal receives, asks for nothing but the data, and
//! nobody sends anything more before it goes on, all orders lead to the same state, and one of them
//! is enough.

use super::matching::Completes;
use super::options::{Choice, FutureSends};
use super::{Machine, Schedule, Settled, Status, envelope};
use crate::engine::evidence::At;
use crate::engine::wait_for::Stuck;
use crate::model::{Action, Envelope, Position, Rank};

/// Receives in a row, of which it does not matter which takes which message.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Sweep {
    rank: Rank,
    /// Where the last of them stands.
    last: Position,
    /// Which receive can take which message, in some order; only where the sweep begins.
    pub(in crate::engine) takes: Vec<Take>,
}

/// A message that a receive can take.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Take {
    pub(in crate::engine) receive: At,
    pub(in crate::engine) send: At,
    /// Whether others compete for the receive.
    pub(in crate::engine) race: bool,
}

/// At most so many receives in a row are looked at.
const RECEIVES: usize = 4_096;

/// Of at most so many receives in a row it is told which of them can take what.
const TOLD: usize = 512;

impl Machine<'_> {
    /// Whether the options are those of a rank that takes all messages in whatever order: then the
    /// first of them is enough. What all of them take is told where the sweep begins.
    pub(in crate::engine) fn sweep(
        &mut self,
        choices: &[Choice],
        future: &FutureSends,
    ) -> Option<Sweep> {
        let rank = self.one_wildcard(choices)?;
        if choices.len() < 2 {
            return None;
        }
        if let Some(sweep) = self.sweep.as_ref().filter(|sweep| sweep.rank == rank) {
            return Some(sweep.clone());
        }
        let sweep = self.begin_sweep(rank, future)?;
        self.sweep = Some(Sweep { takes: Vec::new(), ..sweep });
        Some(sweep)
    }

    /// A rank goes on: past the last receive of a sweep, or back to where it was before, the sweep
    /// is over.
    pub(super) fn end_sweep(&mut self, rank: Rank, from: Position, to: Position) {
        let over = |sweep: &Sweep| sweep.rank == rank && (to <= from || to > sweep.last);
        self.sweep = self.sweep.take().filter(|sweep| !over(sweep));
    }

    /// The rank whose one wildcard all options match, if it has posted nothing else and waits.
    fn one_wildcard(&self, choices: &[Choice]) -> Option<Rank> {
        let Choice::Match { wildcard: first, .. } = *choices.first()? else { return None };
        let one = |choice: &Choice| matches!(choice, Choice::Match { wildcard, .. } if *wildcard == first);
        let (rank, _) = self.posted_at(first);
        let state = self.state(rank);
        let alone = self.are_alike(&state.wildcards) && state.posted == 0;
        (alone && choices.iter().all(one) && matches!(state.status, Status::Waiting(_)))
            .then_some(rank)
    }

    /// Lets the rank take all that it can, and looks whether that was all there is.
    fn begin_sweep(&self, rank: Rank, future: &FutureSends) -> Option<Sweep> {
        let receives = self.equal_receives(rank);
        let (first, _) = receives.split_first()?;
        let mut ahead = self.clone();
        ahead.evidence.take();
        ahead.recording = None;
        let mut senders: Vec<Rank> = Vec::new();
        let mut taken = 0;
        while taken < receives.len() {
            let Some(&wildcard) = ahead.state(rank).wildcards.first() else { break };
            let Some(&message) = ahead.candidates(wildcard).first() else { break };
            senders.push(ahead.pending[message as usize].rank);
            ahead.match_wildcard(message, wildcard);
            taken += 1;
            if taken == receives.len() {
                // What the rank does next is no part of it.
                ahead.schedule = Schedule::Delay(rank);
            }
            if ahead.settle() != Settled::Quiet || !ahead.evidence.take().is_empty() {
                return None;
            }
        }
        let frozen = ahead.frozen_without(rank);
        let all_in = taken > 0
            && !ahead.has_message_for(rank, *first)
            && (0..self.world.size()).filter(|&other| other != rank).all(|other| {
                let position = ahead.state(other).position as Position;
                frozen[other as usize] || !future.may_send(other, position, rank)
            });
        let receives = &receives[..taken];
        let last = receives.last()?.1.max(self.state(rank).position as Position);
        all_in.then(|| Sweep { rank, last, takes: self.takes(receives, &senders) })
    }

    /// Which of the receives can take which of the messages that are there when the first of them
    /// waits: those of one sender in their order, between those of the others in any.
    fn takes(&self, receives: &[At], senders: &[Rank]) -> Vec<Take> {
        let mut takes = Vec::new();
        if receives.len() > TOLD {
            return takes;
        }
        let mut sources = senders.to_vec();
        sources.sort_unstable();
        sources.dedup();
        for source in sources {
            let others = senders.iter().filter(|&&other| other != source).count();
            for (number, send) in self.messages_for(receives[0], source).into_iter().enumerate() {
                let possible = receives.iter().enumerate().skip(number).take(others + 1);
                takes.extend(possible.map(|(index, &receive)| Take {
                    receive,
                    send,
                    race: index + 1 < receives.len(),
                }));
            }
        }
        takes
    }

    /// The messages of a source that a receive could take one after the other.
    fn messages_for(&self, (rank, position): At, source: Rank) -> Vec<At> {
        let event = &self.world.behaviours[rank as usize].events[position];
        envelope(event, false).map_or_else(Vec::new, |envelope| {
            self.messages(source, rank, envelope.communicator, envelope.tag)
        })
    }

    /// The receives that a rank makes one after the other from where it is, equal to the one that it
    /// is in, and without a trace of whom they met.
    fn equal_receives(&self, rank: Rank) -> Vec<At> {
        let events = &self.world.behaviours[rank as usize].events;
        let mut position = self.state(rank).position as Position;
        let wanted = match events.get(position).map(|event| &event.action) {
            Some(Action::Wait { .. }) => return self.posted_receives(rank),
            Some(Action::Receive { envelope, .. }) if self.state(rank).wildcards.len() == 1 => {
                essence(envelope)
            }
            _ => return Vec::new(),
        };
        let mut receives = Vec::new();
        while let Some(event) = events.get(position)
            && receives.len() < RECEIVES
        {
            match &event.action {
                Action::Receive { envelope, binds } => {
                    let next = u32::try_from(position + 1).expect("fewer than 2^32 events");
                    let keeps = binds
                        .is_some_and(|slot| self.liveness.matters(rank, next, usize::from(slot)));
                    if essence(envelope) != wanted || keeps {
                        break;
                    }
                    receives.push((rank, position));
                    position += 1;
                }
                action if action.moves_nothing() => position += 1,
                Action::Jump { target } if *target > position => position = *target,
                _ => break,
            }
        }
        receives
    }

    /// The receives that a rank has posted and waits for, if they are equal and keep no trace of
    /// whom they met.
    fn posted_receives(&self, rank: Rank) -> Vec<At> {
        let state = self.state(rank);
        let posted = state.wildcards.iter().map(|&id| self.posted_at(id));
        let posted: Vec<At> = posted.collect();
        let event = |&(_, position): &At| &self.world.behaviours[rank as usize].events[position];
        let plain = |at: &At| match &event(at).action {
            Action::StartReceive { envelope, binds: None, .. } => Some(essence(envelope)),
            _ => None,
        };
        let equal = posted.windows(2).all(|pair| plain(&pair[0]) == plain(&pair[1]));
        let first = posted.first().and_then(plain);
        let awaited = state.wildcards.iter().all(|&id| match self.pending[id as usize].completes {
            Completes::Request(id, _) => self.request(rank, id).awaited,
            _ => false,
        });
        if equal && awaited && first.is_some() { posted } else { Vec::new() }
    }

    /// Whether a message is there that a receive would take.
    fn has_message_for(&self, rank: Rank, (_, position): At) -> bool {
        let event = &self.world.behaviours[rank as usize].events[position];
        envelope(event, false).is_some_and(|envelope| {
            self.sources(envelope.peer, envelope.communicator)
                .any(|source| self.available(rank, source, envelope).is_some())
        })
    }

    /// The ranks that cannot take a step before `rank` does: they have ended, or wait for it, or for
    /// one that cannot.
    fn frozen_without(&self, rank: Rank) -> Vec<bool> {
        let stuck = Stuck::of(self);
        let mut frozen: Vec<bool> = (0..self.world.size())
            .map(|other| {
                let state = self.state(other);
                match state.status {
                    Status::Ended => true,
                    Status::Waiting(_) | Status::Probing => state.wildcards.is_empty(),
                    _ => false,
                }
            })
            .collect();
        frozen[rank as usize] = true;
        loop {
            let before = frozen.clone();
            for blocked in stuck.blocked.iter().filter(|blocked| blocked.rank != rank) {
                let mut needed = blocked.waits_for.iter().map(|&other| before[other as usize]);
                let held = !blocked.any && needed.any(|frozen| frozen);
                frozen[blocked.rank as usize] &= held;
            }
            if frozen == before {
                return frozen;
            }
        }
    }
}

/// What a receive takes, and what it compares with what comes.
fn essence(envelope: &Envelope) -> impl PartialEq + use<> {
    let data = &envelope.data;
    (envelope.peer, envelope.tag, envelope.communicator, data.datatype, data.count)
}

#[cfg(test)]
mod tests {
    use crate::engine::samples::{receive, receive_any, send, world};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, Collective, CollectiveKind};

    const RANKS: u32 = 64;

    fn barrier() -> Action {
        let kind = CollectiveKind::Barrier;
        let data = None;
        Action::Collective(Collective { data, ..Collective::of(kind, 0) })
    }

    /// What is said of a world besides the race itself, and how many states that took.
    fn judged(ranks: Vec<Vec<Action>>) -> (Vec<&'static str>, usize) {
        let mut judge = Judge::new(Options::default());
        assert!(judge.judge(&world(ranks)), "not everything was followed");
        let states = judge.states();
        let findings = judge.finish().findings;
        let rules = findings.iter().map(|one| one.rule).filter(|rule| *rule != "message-race");
        (rules.collect(), states)
    }

    #[test]
    fn a_farm_is_followed_in_one_order() {
        let turn = |actions: Vec<Action>| [actions, vec![barrier()]].concat();
        let takes = || (1..RANKS).map(|_| receive_any(1, RANKS)).collect::<Vec<Action>>();
        let root = [turn(takes()), turn(takes())].concat();
        let worker = || [turn(vec![send(0, 0)]), turn(vec![send(0, 0)])].concat();
        let ranks = std::iter::once(root).chain((1..RANKS).map(|_| worker())).collect();
        let (rules, states) = judged(ranks);
        assert_eq!(rules, [""; 0]);
        assert!(states < 600, "{states} states");
    }

    #[test]
    fn a_farm_that_takes_too_little_is_not_right() {
        let root = [vec![receive_any(1, 4)], vec![receive_any(1, 4)], vec![receive(3, 0)]].concat();
        let worker = || vec![send(0, 0)];
        let (rules, _) = judged(vec![root, worker(), worker(), worker()]);
        assert_eq!(rules, ["deadlock-by-race"]);
    }
}
