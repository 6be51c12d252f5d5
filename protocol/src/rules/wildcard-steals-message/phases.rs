//! Two kinds of message that are told apart by nothing but their order.
//!
//! Ranks that all send one message here and then one there, to a rank that receives as many here
//! and then as many there: the first are meant for the first receive, the second for the second.
//! Where every count agrees, there is no other way to read the program; where one does not,
//! nothing is said.

use std::collections::{BTreeMap, BTreeSet};

use super::{all_is_known, could_meet, player, received, sent, stealing};
use crate::engine::{At, Case, describe, fits};
use crate::finding::Finding;
use crate::model::{Action, Behaviour, Peer, Place, Rank, Tag, World};

/// The steps at one place, on all ranks concerned; where functions are told apart by who calls them,
/// with the chain of calls.
type Phase = (Kind, Vec<At>);

/// A place, and a chain of calls.
type Kind = (Place, u32);

/// The receives of each rank that take a message of another phase in some run.
pub(super) fn mixed(case: &Case<'_>) -> Vec<Finding> {
    // What makes ranks hang has been reported for that.
    if case.circles.iter().any(|circle| circle.by_race) || !all_is_known(case.world) {
        return Vec::new();
    }
    let receivers: BTreeSet<Rank> = case.taken.keys().map(|&(rank, _)| rank).collect();
    receivers.into_iter().filter_map(|rank| mixed_on(case, rank)).collect()
}

fn mixed_on(case: &Case<'_>, rank: Rank) -> Option<Finding> {
    let (receives, sends) = (receives(case, rank)?, sends(case.world, rank)?);
    let by_place = |&at: &At| Some((describe::place(case.world, at), 0));
    let receiving = phases(receives.clone(), by_place)?;
    if receiving.len() > 1 {
        return mixed_phases(case, &receiving, &sending_phases(&sends, by_place)?);
    }
    // One function receives in all phases: then the tags tell them apart, at which it does not look.
    let by_call = |&at: &At| Some((describe::place(case.world, at), chain(case.world, at)?));
    let takes_any = |at: &At| received(case.world, *at).is_some_and(|it| it.tag == Tag::Any);
    let sending = sending_phases(&sends, by_call)?;
    if !receives.iter().all(takes_any) || !differ_in_tags(case.world, &sending) {
        return None;
    }
    mixed_phases(case, &phases(receives, by_call)?, &sending)
}

/// The chain of calls by which a step was come to.
fn chain(world: &World, (rank, position): At) -> Option<u32> {
    let chains = &world.behaviours[rank as usize].chains;
    let found = chains.binary_search_by_key(&position, |(position, _)| *position);
    found.ok().map(|found| chains[found].1)
}

/// Whether the messages of each phase have one tag, and those of no other have it.
fn differ_in_tags(world: &World, phases: &[Phase]) -> bool {
    let tag = |at: &At| sent(world, *at).and_then(|sent| sent.tag.number());
    let tags = phases.iter().map(|(_, sends)| {
        let first = tag(sends.first()?)?;
        sends.iter().all(|send| tag(send) == Some(first)).then_some(first)
    });
    let tags: Option<BTreeSet<i32>> = tags.collect();
    tags.is_some_and(|tags| tags.len() == phases.len())
}

/// A receive that takes what is sent in another phase.
fn mixed_phases(case: &Case<'_>, receives: &[Phase], sends: &[Phase]) -> Option<Finding> {
    let world = case.world;
    let same_turns = receives.len() == sends.len()
        && receives.iter().zip(sends).all(|(receive, send)| {
            receive.1.len() == send.1.len() && all_fit(world, &send.1, &receive.1)
        });
    if receives.len() < 2 || !same_turns {
        return None;
    }
    let mut thefts: Vec<(At, At, At)> = Vec::new();
    for (phase, ((_, receives), (_, meant))) in receives.iter().zip(sends).enumerate() {
        let of_another = |send: &At| {
            let of = sends.iter().position(|(_, sends)| sends.contains(send));
            of.is_some_and(|of| of != phase) && !same_name(world, *send, meant[0])
        };
        for receive in receives {
            let stolen = case.taken.get(receive)?.iter().copied().find(of_another);
            thefts.extend(stolen.map(|stolen| (*receive, stolen, meant[0])));
        }
    }
    let (receive, stolen, meant) = thefts.into_iter().min()?;
    Some(report(world, receive, stolen, meant))
}

/// The wildcard receives of a rank, in order; `None` if not all that it does is known, or receives that
/// name their source compete with them.
fn receives(case: &Case<'_>, rank: Rank) -> Option<Vec<At>> {
    let behaviour = &case.world.behaviours[rank as usize];
    if !is_straight(behaviour) {
        return None;
    }
    let mut wildcards = Vec::new();
    for position in 0..behaviour.events.len() {
        let at = (rank, position);
        match received(case.world, at).map(|envelope| envelope.peer) {
            Some(Peer::Any { .. }) => wildcards.push(at),
            Some(Peer::Rank(_) | Peer::Source(_)) => return None,
            Some(Peer::Outside(_) | Peer::Null) | None => {}
        }
    }
    let all = wildcards.iter().all(|at| case.taken.contains_key(at));
    all.then_some(wildcards)
}

/// What each rank sends to a rank, in order; `None` if not all that they do is known.
fn sends(world: &World, to: Rank) -> Option<Vec<Vec<At>>> {
    let mut senders = Vec::new();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        let positions = (0..behaviour.events.len()).map(|position| (rank, position));
        let mut sends = Vec::new();
        for at in positions {
            match sent(world, at).map(|envelope| envelope.peer) {
                Some(Peer::Rank(peer)) if Rank::try_from(peer) == Ok(to) => sends.push(at),
                Some(Peer::Source(_)) => return None,
                _ => {}
            }
        }
        if sends.is_empty() {
            continue;
        }
        if !is_straight(behaviour) {
            return None;
        }
        senders.push(sends);
    }
    Some(senders)
}

/// What is sent to a rank by its kind, in order; `None` unless several ranks send all of it, each the
/// same number of times in the same order.
fn sending_phases(
    senders: &[Vec<At>],
    kind: impl Fn(&At) -> Option<Kind> + Copy,
) -> Option<Vec<Phase>> {
    let senders = senders.iter().map(|sends| phases(sends.clone(), kind));
    let senders: Vec<Vec<Phase>> = senders.collect::<Option<_>>()?;
    let shape = |phases: &Vec<Phase>| -> Vec<(Kind, usize)> {
        phases.iter().map(|(kind, steps)| (*kind, steps.len())).collect()
    };
    let (first, others) = senders.split_first()?;
    if others.is_empty() || others.iter().any(|other| shape(other) != shape(first)) {
        return None;
    }
    let mut all = first.clone();
    for other in others {
        for ((_, steps), (_, more)) in all.iter_mut().zip(other) {
            steps.extend(more);
        }
    }
    Some(all)
}

/// Steps of one rank by their kind, in the order of their first; `None` if one has none.
fn phases(steps: Vec<At>, kind: impl Fn(&At) -> Option<Kind>) -> Option<Vec<Phase>> {
    let mut numbers: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut phases: Vec<Phase> = Vec::new();
    for at in steps {
        let kind = kind(&at)?;
        let number = *numbers.entry(kind).or_insert(phases.len());
        if number == phases.len() {
            phases.push((kind, Vec::new()));
        }
        phases[number].1.push(at);
    }
    Some(phases)
}

/// Whether a rank does the same in every run, step by step.
fn is_straight(behaviour: &Behaviour) -> bool {
    behaviour.events.iter().all(|event| match &event.action {
        Action::Send { .. }
        | Action::Receive { .. }
        | Action::SendReceive { .. }
        | Action::StartSend { .. }
        | Action::StartReceive { .. }
        | Action::Probe { .. }
        | Action::Collective(_)
        | Action::StartCollective { .. }
        | Action::AttachBuffer { .. }
        | Action::DetachBuffer => true,
        Action::Wait { completion, .. } => *completion == crate::model::Completion::All,
        action => action.moves_nothing(),
    })
}

/// Whether each receive of a phase takes every message of a phase.
fn all_fit(world: &World, sends: &[At], receives: &[At]) -> bool {
    sends.iter().all(|&send| {
        receives.iter().all(|&receive| {
            let ends = sent(world, send).zip(received(world, receive));
            ends.is_some_and(|(sent, room)| {
                could_meet(send, sent, room) && fits(world, &sent.data, &room.data)
            })
        })
    })
}

/// Whether two messages bear the same name: then they are of one kind, wherever they are sent.
fn same_name(world: &World, one: At, other: At) -> bool {
    let name = |at: At| sent(world, at).and_then(|envelope| envelope.data.message);
    name(one).is_some() && name(one) == name(other)
}

fn report(world: &World, receive: At, stolen: At, meant: At) -> Finding {
    let message = format!(
        "{} can take in `{}` what {} sends for another receive",
        player(world, receive.0),
        describe::operation(world, receive),
        player(world, stolen.0)
    );
    stealing(world, receive, message)
        .other_end(world, stolen, "can be taken instead")
        .other_end(world, meant, "is what it waits for: there are as many of these as the receive has turns")
        .ranks(vec![receive.0, stolen.0, meant.0])
        .note("nothing but the order tells the two kinds of message apart, and they are not ordered between ranks")
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{found, rsmpi};
    use crate::engine::samples::{receive_any, send};
    use crate::model::{Action, Behaviour, Event, Place, Rank, Tag, World};

    const RULE: &str = "wildcard-steals-message";

    /// A world in which a step's place is the number beside it.
    fn placed(ranks: Vec<Vec<(Action, u32)>>) -> World {
        let places: Vec<Vec<u32>> =
            ranks.iter().map(|steps| steps.iter().map(|(_, place)| *place).collect()).collect();
        let actions = ranks.into_iter();
        let mut world = rsmpi(
            actions.map(|steps| steps.into_iter().map(|(action, _)| action).collect()).collect(),
        );
        let all = world.behaviours.iter_mut().zip(places);
        for (Behaviour { events, .. }, places) in all {
            for (Event { place, .. }, number) in events.iter_mut().zip(places) {
                *place = Place(number);
            }
        }
        world
    }

    fn any() -> Action {
        receive_any(1, 3)
    }

    /// Rank 0 receives at these places; ranks 1 and 2 send at those.
    fn farm(receives: &[u32], sends: [&[u32]; 2]) -> World {
        let worker = |places: &[u32]| places.iter().map(|place| (send(0, 0), *place)).collect();
        let root = receives.iter().map(|place| (any(), *place)).collect();
        placed(vec![root, worker(sends[0]), worker(sends[1])])
    }

    #[test]
    fn a_fast_rank_is_in_its_second_phase() {
        let wrong = found(&farm(&[1, 1, 2, 2], [&[11, 12], &[11, 12]]), RULE);
        assert_eq!(wrong.len(), 1);
        assert_eq!(wrong[0].primary.place, Place(1));
        assert_eq!(
            wrong[0].message,
            "rank 0 can take in `receive of 1 u8 from ranks 1 and 2 (tag 0)` what rank 1 sends for another receive (with 3 ranks)"
                .replace("from ranks", "from any of ranks")
        );
    }

    #[test]
    fn first_and_second_message_in_turn() {
        let wrong = found(&farm(&[1, 2, 1, 2], [&[11, 12], &[11, 12]]), RULE);
        assert_eq!(wrong.len(), 1);
        assert_eq!(wrong[0].primary.place, Place(2));
    }

    #[test]
    fn one_kind_of_message_is_taken_wherever() {
        let same_send = farm(&[1, 1, 2, 2], [&[11, 11], &[11, 11]]);
        assert!(found(&same_send, RULE).is_empty());
        let same_receive = farm(&[1, 1, 1, 1], [&[11, 12], &[11, 12]]);
        assert!(found(&same_receive, RULE).is_empty());
        let first_and_rest = farm(&[1, 2, 2, 2], [&[11, 12], &[11, 12]]);
        assert!(found(&first_and_rest, RULE).is_empty());
        let one_each = farm(&[1, 2], [&[11], &[12]]);
        assert!(found(&one_each, RULE).is_empty());
    }

    #[test]
    fn one_function_receives_in_both_phases() {
        let called_twice = |tags: [i32; 2]| {
            let worker = || vec![(send(0, tags[0]), 11), (send(0, tags[1]), 12)];
            let takes_any = || {
                let mut action = any();
                if let Action::Receive { envelope, .. } = &mut action {
                    envelope.tag = Tag::Any;
                }
                (action, 1)
            };
            let root = (0..4).map(|_| takes_any()).collect();
            let mut world = placed(vec![root, worker(), worker()]);
            let chains = [vec![1, 1, 2, 2], vec![0, 0], vec![0, 0]];
            for (behaviour, chains) in world.behaviours.iter_mut().zip(chains) {
                behaviour.chains = chains.into_iter().enumerate().collect();
            }
            world
        };
        assert_eq!(found(&called_twice([1, 2]), RULE).len(), 1);
        // One kind of message may be sent in two places.
        assert!(found(&called_twice([1, 1]), RULE).is_empty());
        // Nobody knows who calls, or the program looks at the tags.
        let mut unknown = called_twice([1, 2]);
        unknown.behaviours[0].chains.clear();
        assert!(found(&unknown, RULE).is_empty());
    }

    #[test]
    fn what_is_not_known_may_keep_the_phases_apart() {
        let mut unknown = farm(&[1, 1, 2, 2], [&[11, 12], &[11, 12]]);
        let event = Event { action: Action::Opaque, place: Place(40) };
        unknown.behaviours.push(Behaviour { events: vec![event], ..Behaviour::default() });
        assert!(found(&unknown, RULE).is_empty());
    }

    #[test]
    fn an_answer_between_the_phases_keeps_them_apart() {
        let answer = |rank: Rank| (send(rank.cast_signed(), 1), 3);
        let root = vec![(any(), 1), (any(), 1), answer(1), answer(2), (any(), 2), (any(), 2)];
        let next = || (crate::engine::samples::receive(0, 1), 13);
        let worker = || vec![(send(0, 0), 11), next(), (send(0, 0), 12)];
        assert!(found(&placed(vec![root, worker(), worker()]), RULE).is_empty());
    }
}
