//! Operations that find no partner, in whatever order things happen.
//!
//! From a state in which nothing moves, every rank goes on without waiting for anything: each
//! operation is posted, and meets its partner if there is one anywhere. What is unmatched at the
//! end has none; what is matched was only kept from it by the order of things.

use rustc_hash::FxHashMap;

use super::describe;
use super::evidence::{At, Observation, fits};
use super::machine::options::Choice;
use super::machine::{Machine, Status, Unmatched, accepts, envelope};
use super::trace::Deed;
use crate::model::{Action, Behaviour, Event, Peer, Position, Rank, Tag, World};

/// What keeps an operation from having a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is none; perhaps one that was meant, but names another rank.
    Nobody {
        /// An operation without partner that agrees in all but the rank.
        near: Option<At>,
    },
    /// The other end names another tag.
    Tag(At),
    /// The other end is on another communicator.
    Communicator(At),
    /// The other end would be there had its rank not ended on this path.
    Ended,
    /// The other end's rank has left before its end, at this step: a panic, an exit.
    Left(At),
}

/// What an unordered run leaves.
pub(super) struct Faults {
    /// Operations without a partner.
    pub(super) unmatched: Vec<Unmatched>,
    /// Collectives that some ranks enter and others never do.
    pub(super) missing: Vec<(Vec<At>, Vec<Rank>)>,
    /// Where ranks have left before their end.
    left: Vec<At>,
    /// What was seen on the way.
    pub(super) observations: Vec<Observation>,
    /// Whether every rank came to its end: otherwise there may be partners behind.
    pub(super) all_ended: bool,
}

/// Goes on from a stuck state without any order.
pub(super) fn faults(mut machine: Machine<'_>) -> Faults {
    let (stuck, probes) = (machine.unmatched(), stuck_probes(&machine));
    if !probes.is_empty() {
        machine.recording = Some(Vec::new());
    }
    machine.continue_unordered();
    machine.settle();
    while let Some(choice) =
        machine.options(None).into_iter().find(|choice| matches!(choice, Choice::Match { .. }))
    {
        machine.apply(choice);
        machine.settle();
    }
    let mut unmatched = machine.unmatched();
    put_in_order(&mut unmatched, &stuck);
    let sent = machine.recording.take().unwrap_or_default();
    let comes = |probe: &Unmatched| {
        sent.iter().any(|&(at, deed)| {
            matches!(deed, Deed::Sends { to } if to == probe.at.0)
                && accepts(probe.peer, at.0)
                && machine.sends_for(at, probe)
        })
    };
    unmatched.extend(probes.into_iter().filter(|probe| !comes(probe)));
    let mut observations = observations(&mut machine);
    observations.retain(|seen| !is_shifted(machine.world, seen, &mut unmatched));
    Faults {
        missing: missing_ranks(&machine),
        left: (0..machine.world.size()).filter_map(|rank| machine.left(rank)).collect(),
        unmatched,
        all_ended: machine.ended(),
        observations,
    }
}

/// Without an order, a message meets a receive that was meant for one before it, whose tag is wrong,
/// and it is the next receive that finds nothing. As long as order counted, the first was the one that
/// both waited for: it takes the place of the later one. The same the other way round.
fn put_in_order(unmatched: &mut [Unmatched], stuck: &[Unmatched]) {
    let waited = |one: &Unmatched| stuck.iter().any(|other| key(other) == key(one));
    let left: Vec<Unmatched> = unmatched.iter().filter(|one| waited(one)).copied().collect();
    let missed = |one: &Unmatched| {
        left.iter().any(|other| {
            other.sending != one.sending
                && other.communicator == one.communicator
                && other.tag != one.tag
                && accepts(one.peer, other.at.0)
                && accepts(other.peer, one.at.0)
        })
    };
    for number in 0..unmatched.len() {
        let later = unmatched[number];
        let stands_for = |one: &&Unmatched| {
            let (position, after) = (one.at.1, later.at.1);
            let same = Unmatched { at: later.at, ..**one } == later;
            same && one.at.0 == later.at.0 && position < after && !unmatched.contains(one)
        };
        if !waited(&later) && missed(&later) {
            let first = stuck.iter().find(stands_for).copied();
            unmatched[number] = first.unwrap_or(later);
        }
    }
}

impl Faults {
    /// Where those of some ranks have left that left before their end.
    pub(super) fn left_of(&self, ranks: &[Rank]) -> Vec<At> {
        self.left.iter().copied().filter(|(rank, _)| ranks.contains(rank)).collect()
    }

    /// Why an operation has no partner; if nobody is meant by it, perhaps because the rank that it
    /// counts on has left.
    pub(super) fn cause(&self, partners: &Partners, operation: &Unmatched, world: &World) -> Cause {
        let counts_on = |&&(rank, _): &&At| {
            accepts(operation.peer, rank) && world.belongs(operation.communicator, rank)
        };
        match (partners.cause(operation), self.left.iter().find(counts_on)) {
            (Cause::Nobody { .. }, Some(&left)) => Cause::Left(left),
            (cause, _) => cause,
        }
    }
}

/// The probes that ranks are stuck in, as receives.
fn stuck_probes(machine: &Machine<'_>) -> Vec<Unmatched> {
    let probe = |rank: Rank| {
        let state = machine.state(rank);
        if !matches!(state.status, Status::Probing | Status::Parked) {
            return None;
        }
        let Action::Probe { envelope, .. } = &machine.event(rank)?.action else { return None };
        let peer = match machine.resolve(rank, envelope.peer) {
            Some(source) => Peer::Rank(source.cast_signed()),
            None => envelope.peer,
        };
        Some(Unmatched {
            at: (rank, state.position as Position),
            sending: false,
            peer,
            tag: envelope.tag,
            communicator: envelope.communicator,
            decision: false,
        })
    };
    (0..machine.world.size()).filter_map(probe).collect()
}

/// The collectives that some ranks have entered, and the ranks that have ended without.
fn missing_ranks(machine: &Machine<'_>) -> Vec<(Vec<At>, Vec<Rank>)> {
    let ended = |rank: &Rank| machine.state(*rank).status == Status::Ended;
    let missing = machine.open_collectives().into_iter().map(|(arrivals, mut absent)| {
        absent.retain(ended);
        (arrivals, absent)
    });
    missing.filter(|(_, missing)| !missing.is_empty()).collect()
}

/// What was seen on the way. Requests are not waited for in such a run, nor is anything posted in
/// time.
fn observations(machine: &mut Machine<'_>) -> Vec<Observation> {
    let mut seen = machine.evidence.take();
    seen.retain(|seen| {
        !matches!(
            seen,
            Observation::LostRequest { .. }
                | Observation::UnpostedReady { .. }
                | Observation::Access { .. }
                | Observation::Mixed { .. }
                | Observation::Overlap { .. }
        )
    });
    seen
}

/// Whether a message and a receive that do not fit have only met because others between the same two
/// ranks have not. Where the message is among those that the receive was meant for, it takes the
/// other's place there.
pub(super) fn is_shifted(world: &World, seen: &Observation, unmatched: &mut [Unmatched]) -> bool {
    let (Observation::TypeMismatch { send, receive } | Observation::Truncation { send, receive }) =
        *seen
    else {
        return false;
    };
    let ends = |at: At, sending| envelope(describe::event(world, at), sending);
    let Some((sent, room)) = ends(send, true).zip(ends(receive, false)) else { return false };
    let agree = |takes: Tag, tag: Tag| takes == Tag::Any || takes == tag;
    let between = |one: &Unmatched| {
        one.communicator == sent.communicator
            && match one.sending {
                true => {
                    one.at.0 == send.0 && accepts(one.peer, receive.0) && agree(room.tag, one.tag)
                }
                false => {
                    one.at.0 == receive.0 && accepts(one.peer, send.0) && agree(one.tag, sent.tag)
                }
            }
    };
    let meant = |one: &Unmatched| {
        one.sending
            && between(one)
            && ends(one.at, true).is_some_and(|left| fits(world, &left.data, &room.data))
    };
    if !unmatched.iter().any(between) {
        return false;
    }
    if let Some(left) = unmatched.iter_mut().find(|one| meant(one)) {
        *left = Unmatched { at: send, tag: sent.tag, ..*left };
    }
    true
}

/// Up to so many operations without a partner are compared with each other.
const NAMED: usize = 1_000;

/// Why each of some unmatched operations has no partner.
pub(super) struct Partners {
    causes: FxHashMap<(At, bool), Cause>,
}

impl Partners {
    /// Looks for what each could have been meant for.
    pub(super) fn of(world: &World, unmatched: &[Unmatched]) -> Self {
        let mut partners = Partners { causes: FxHashMap::default() };
        partners.pair(unmatched, |send, receive| {
            send.communicator == receive.communicator && send.tag != receive.tag
        });
        partners.pair(unmatched, |send, receive| send.communicator != receive.communicator);
        let alone = partners.alone(unmatched);
        partners.pair_as_written(world, &alone);
        let alone = partners.alone(unmatched);
        // Every operation is compared with every other; of many, none is worth being named.
        let few = &alone[..if alone.len() > NAMED { 0 } else { alone.len() }];
        for one in &alone {
            let near = few.iter().find(|other| nearly(one, other)).map(|other| other.at);
            partners.causes.insert(key(one), Cause::Nobody { near });
        }
        partners
    }

    /// Those that were brought together with none.
    fn alone<'u>(&self, unmatched: &'u [Unmatched]) -> Vec<&'u Unmatched> {
        unmatched.iter().filter(|one| !self.causes.contains_key(&key(one))).collect()
    }

    /// Brings together sends and receives that would meet if one of them were on the other's
    /// communicator, with the numbers of ranks as they are written.
    fn pair_as_written(&mut self, world: &World, alone: &[&Unmatched]) {
        if alone.len() > NAMED {
            return;
        }
        for send in alone.iter().filter(|one| one.sending) {
            let receive = alone.iter().find(|receive| {
                !receive.sending
                    && !self.causes.contains_key(&key(receive))
                    && meet_as_written(world, send, receive)
            });
            if let Some(receive) = receive {
                self.causes.insert(key(send), Cause::Communicator(receive.at));
                self.causes.insert(key(receive), Cause::Communicator(send.at));
            }
        }
    }

    pub(super) fn cause(&self, operation: &Unmatched) -> Cause {
        self.causes.get(&key(operation)).copied().unwrap_or(Cause::Nobody { near: None })
    }

    /// Brings together sends and receives of the same two ranks, in order, that `differ`.
    fn pair(&mut self, unmatched: &[Unmatched], differ: impl Fn(&Unmatched, &Unmatched) -> bool) {
        let mut receives: FxHashMap<Rank, Vec<&Unmatched>> = FxHashMap::default();
        for receive in unmatched.iter().filter(|one| !one.sending) {
            receives.entry(receive.at.0).or_default().push(receive);
        }
        for send in unmatched.iter().filter(|one| one.sending) {
            let Peer::Rank(destination) = send.peer else { continue };
            let Some(there) = receives.get(&destination.unsigned_abs()) else { continue };
            let free = |one: &Unmatched| !self.causes.contains_key(&key(one));
            let receive = there.iter().find(|receive| {
                accepts(receive.peer, send.at.0)
                    && send.decision == receive.decision
                    && differ(send, receive)
                    && free(receive)
            });
            let Some(receive) = receive.filter(|_| free(send)) else { continue };
            let cause = |other: &Unmatched| {
                if send.communicator == receive.communicator {
                    Cause::Tag(other.at)
                } else {
                    Cause::Communicator(other.at)
                }
            };
            self.causes.insert(key(send), cause(receive));
            self.causes.insert(key(receive), cause(send));
        }
    }
}

fn key(operation: &Unmatched) -> (At, bool) {
    (operation.at, operation.sending)
}

/// Whether a send and a receive on different communicators would meet on one of these.
fn meet_as_written(world: &World, send: &Unmatched, receive: &Unmatched) -> bool {
    let tags = send.tag == receive.tag || receive.tag == Tag::Any;
    if send.communicator == receive.communicator || send.decision != receive.decision || !tags {
        return false;
    }
    // The rank of the world that a peer would be with its number on another communicator.
    let moved = |one: &Unmatched, other: &Unmatched| {
        let peer = one.peer;
        let mut members = world.members(one.communicator);
        let number = members.position(|rank| peer == Peer::Rank(rank.cast_signed()))?;
        world.members(other.communicator).nth(number)
    };
    let names =
        |one: &Unmatched, other: &Unmatched| one.peer == Peer::Rank(other.at.0.cast_signed());
    (names(send, receive) && moved(receive, send) == Some(send.at.0))
        || (names(receive, send) && moved(send, receive) == Some(receive.at.0))
}

/// Whether two operations agree in all but a rank: a send that a receive of the same tag waits for
/// from somebody else, or that was meant for another rank.
fn nearly(one: &Unmatched, other: &Unmatched) -> bool {
    let tags = one.tag == other.tag || one.tag == Tag::Any || other.tag == Tag::Any;
    if one.sending == other.sending
        || one.decision != other.decision
        || one.communicator != other.communicator
        || !tags
    {
        return false;
    }
    let rank = |at: At| Peer::Rank(i32::try_from(at.0).unwrap_or(i32::MAX));
    one.peer == rank(other.at) || other.peer == rank(one.at)
}

/// Whether some step of `partner`, on whatever path, could be the other end of an operation.
pub fn could_serve(world: &World, operation: &Unmatched, partner: Rank) -> bool {
    let (rank, _) = operation.at;
    let behaviour = &world.behaviours[partner as usize];
    behaviour.events.iter().any(|event| {
        if event.action == Action::Opaque {
            return true;
        }
        let Some(other) = envelope(event, !operation.sending) else { return false };
        if matches!(event.action, Action::Probe { .. }) || is_never_started(behaviour, event) {
            return false;
        }
        let names = match other.peer {
            Peer::Source(_) => true,
            peer => accepts(peer, rank) && world.belongs(other.communicator, rank),
        };
        let tags = other.tag == operation.tag || other.tag == Tag::Any || operation.tag == Tag::Any;
        names && tags && other.communicator == operation.communicator
    })
}

/// Whether a step only plans an operation, and no step starts it.
fn is_never_started(behaviour: &Behaviour, event: &Event) -> bool {
    let (Action::PlanSend { request, .. } | Action::PlanReceive { request, .. }) = &event.action
    else {
        return false;
    };
    !behaviour.events.iter().any(
        |event| matches!(&event.action, Action::Start { requests } if requests.contains(request)),
    )
}

/// Whether a rank decides anything by itself.
pub(super) fn decides(behaviour: &Behaviour) -> bool {
    behaviour.events.iter().any(|event| matches!(event.action, Action::Choose { .. }))
}

#[cfg(test)]
mod tests {
    use crate::engine::samples::{envelope, receive, send, world};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, Completion, Mode, Peer, Place};

    fn found(ranks: Vec<Vec<Action>>) -> Vec<(&'static str, Place)> {
        let mut judge = Judge::new(Options::default());
        judge.judge(&world(ranks));
        judge.finish().findings.iter().map(|one| (one.rule, one.primary.place)).collect()
    }

    fn of_many(mut action: Action) -> Action {
        if let Action::Send { envelope, .. } | Action::Receive { envelope, .. } = &mut action {
            envelope.data.count = Some(512);
        }
        action
    }

    #[test]
    fn of_two_messages_with_one_tag_the_one_that_does_not_fit_is_wrong() {
        let gives = vec![of_many(send(1, 11)), send(1, 11)];
        let takes = vec![of_many(receive(0, 10)), receive(0, 11)];
        assert_eq!(found(vec![gives, takes]), [("tag-mismatch", Place(1))]);
    }

    #[test]
    fn of_two_receives_with_one_tag_the_one_that_is_waited_in_misses_its_message() {
        let mut judge = Judge::new(Options::default());
        let takes = vec![receive(1, 7), receive(1, 7)];
        judge.judge(&world(vec![takes, vec![send(0, 8), send(0, 7)]]));
        let findings = judge.finish().findings;
        let places = findings.iter().map(|one| (one.rule, one.primary.place, one.secondary.len()));
        assert_eq!(places.collect::<Vec<_>>(), [("tag-mismatch", Place(3), 1)]);
        assert_eq!(findings[0].secondary[0].place, Place(1), "{findings:?}");
        // Nor is it another one if the second message goes its way at first.
        let takes = vec![receive(1, 7), receive(1, 7)];
        let faults = found(vec![takes, vec![send(0, 7), send(0, 8)]]);
        assert_eq!(faults, [("tag-mismatch", Place(4))]);
    }

    #[test]
    fn what_does_not_fit_behind_a_fault_is_found_as_well() {
        let gives = vec![receive(2, 7), of_many(send(1, 0))];
        let faults = found(vec![gives, vec![receive(0, 0)], vec![]]);
        assert_eq!(faults, [("unmatched-receive", Place(1)), ("truncation", Place(3))]);
    }

    #[test]
    fn a_plan_that_is_never_started_serves_nobody() {
        let rank = |peer| {
            let envelope = envelope(Peer::Rank(peer), 5);
            vec![
                Action::PlanReceive { envelope, request: 0 },
                Action::PlanSend { mode: Mode::Standard, envelope, request: 1 },
                Action::Start { requests: [0].into() },
                Action::Branch { targets: [4, 4].into() },
                Action::Wait { requests: [0].into(), completion: Completion::All },
            ]
        };
        let faults = found(vec![rank(1), rank(0)]);
        assert_eq!(faults, [("unmatched-receive", Place(1))]);
    }
}
