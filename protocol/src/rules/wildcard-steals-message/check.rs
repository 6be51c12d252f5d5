//! A wildcard that can take what is meant for another receive.
//!
//! What is meant shows in one of three ways: by what fits ([`misfits`]); where everything fits, by the
//! order in which sends and receives are written ([`phases`]); and by a length that a message before has
//! told ([`lengths`]).

#[path = "lengths.rs"]
mod lengths;
#[path = "phases.rs"]
mod phases;

use super::draft::{all_is_known, by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Reading, Seen, accepts, describe, envelope, fits};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Envelope, Peer, Place, Rank, Tag, World};

pub(super) const RULE: Rule = Rule {
    name: "wildcard-steals-message",
    group: Group::Race,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = misfits(case);
    for finding in lengths::mixed(case).into_iter().chain(phases::mixed(case)) {
        if !findings.iter().any(|known| known.primary.place == finding.primary.place) {
            findings.push(finding);
        }
    }
    findings
}

/// A receive, the message that it takes in the wrong run, and the two that fit better.
struct Theft {
    receive: At,
    stolen: At,
    /// What the receive takes in another run.
    fitting: At,
    /// Where the stolen message would have fitted.
    owner: At,
}

/// Whether a message and a receive that do not fit have only met because of who was first: others
/// fit both.
pub(super) fn is_stolen(case: &Case<'_>, send: At, receive: At) -> bool {
    theft(case, send, receive).is_some() || follows_race(case, send, receive)
}

/// Whether what a receive takes may have been shifted by a race that has been reported: the same rank
/// sends what fits the receive, and what it takes fits another.
fn follows_race(case: &Case<'_>, send: At, receive: At) -> bool {
    let world = case.world;
    let races = case.circles.iter().any(|circle| circle.by_race && circle.reading == Reading::Any);
    let Some((sent, room)) = sent(world, send).zip(received(world, receive)) else {
        return false;
    };
    let mut others = steps(world, send.0).filter(|&other| other != send);
    races
        && owner(world, (send, sent), receive).is_some()
        && others.any(|other| {
            self::sent(world, other).is_some_and(|meant| {
                meant.peer == sent.peer
                    && could_meet(other, meant, room)
                    && fits(world, &meant.data, &room.data)
            })
        })
}

fn theft(case: &Case<'_>, stolen: At, receive: At) -> Option<Theft> {
    let world = case.world;
    let (sent, room) = (sent(world, stolen)?, received(world, receive)?);
    let fitting = case.taken.get(&receive)?.iter().copied().find(|&other| {
        other != stolen
            && self::sent(world, other).is_some_and(|other| fits(world, &other.data, &room.data))
    })?;
    let owner = owner(world, (stolen, sent), receive)?;
    Some(Theft { receive, stolen, fitting, owner })
}

/// The steps of a rank.
fn steps(world: &World, rank: Rank) -> impl Iterator<Item = At> {
    (0..world.behaviours[rank as usize].events.len()).map(move |position| (rank, position))
}

/// Another receive on the same rank, which a message that one has taken would have fitted.
fn owner(world: &World, (send, sent): (At, &Envelope), receive: At) -> Option<At> {
    steps(world, receive.0).find(|&other| {
        other != receive
            && received(world, other).is_some_and(|room| {
                could_meet(send, sent, room) && fits(world, &sent.data, &room.data)
            })
    })
}

/// Whether a receive accepts a message.
fn could_meet(send: At, sent: &Envelope, room: &Envelope) -> bool {
    let peers = matches!(room.peer, Peer::Source(_)) || accepts(room.peer, send.0);
    let tags = room.tag == Tag::Any || room.tag == sent.tag;
    peers && tags && room.communicator == sent.communicator
}

fn sent(world: &World, at: At) -> Option<&Envelope> {
    envelope(describe::event(world, at), true)
}

fn received(world: &World, at: At) -> Option<&Envelope> {
    let event = describe::event(world, at);
    envelope(event, false).filter(|_| !matches!(event.action, Action::Probe { .. }))
}

/// Messages that met a receive which they do not fit, and would not have had another been first.
fn misfits(case: &Case<'_>) -> Vec<Finding> {
    let thefts = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::TypeMismatch { send, receive } | Observation::Truncation { send, receive } => {
            Some((theft(case, send, receive)?, seen))
        }
        _ => None,
    });
    let mut thefts: Vec<(Theft, &Seen)> = thefts.collect();
    thefts.sort_by_key(|(theft, _)| theft.receive);
    // Once one receive has taken what is another's, that one takes what is left: one fault.
    let mut known: Vec<[Place; 2]> = Vec::new();
    let places = by_place(case, thefts, |(theft, _)| theft.receive);
    let first = places.iter().filter(|(place, thefts)| {
        let owner = describe::place(case.world, thefts[0].0.owner);
        let new = !known.iter().any(|pair| pair.contains(place) && pair.contains(&owner));
        known.push([*place, owner]);
        new
    });
    first.map(|(_, thefts)| misfit(case.world, thefts)).collect()
}

fn misfit(world: &World, thefts: &[(Theft, &Seen)]) -> Finding {
    let (Theft { receive, stolen, fitting, owner }, seen) = &thefts[0];
    let message = format!(
        "{} waits in `{}` for `{}`, and can take `{}` of {}, which is meant for another receive",
        player(world, receive.0),
        describe::operation(world, *receive),
        describe::type_sent(world, *fitting),
        describe::type_sent(world, *stolen),
        player(world, stolen.0)
    );
    stealing(world, *receive, message)
        .other_end(world, *stolen, "can be taken instead")
        .other_end(world, *fitting, "is what it waits for")
        .other_end(
            world,
            *owner,
            format!("`{}` is meant for this receive", describe::type_sent(world, *stolen)),
        )
        .ranks(thefts.iter().flat_map(|(theft, _)| [theft.receive.0, theft.stolen.0]).collect())
        .trace(&seen.trace)
}

/// What every finding of this rule says.
fn stealing(world: &World, receive: At, message: String) -> Finding {
    RULE.finding(world, receive, message, "takes whichever comes first")
        .note("messages of different ranks overtake each other: which one a wildcard takes differs from run to run")
        .help(world.dialect.words(
            "receive the first message from any rank and what belongs to it from the rank that it came from; or give each kind of message a tag of its own",
            "receive the first message from any process, and what belongs to it from `process_at_rank(status.source_rank())`; or give each kind of message a tag and receive `with_tag`",
            "receive the first message from `MPI_ANY_SOURCE`, and what belongs to it from `status.MPI_SOURCE`; or give each kind of message a tag of its own",
        ))
}
