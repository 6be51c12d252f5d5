//! A probe of one message, and the receive of another.

use std::collections::BTreeSet;

use super::draft::{all_is_known, by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, describe, envelope};
use crate::finding::{Finding, Group, Level, ranks};
use crate::model::{Action, Behaviour, Event, Peer, Position, Rank, SourceId, Tag, World};

pub(super) const RULE: Rule = Rule {
    name: "probe-then-receive-other",
    group: Group::Race,
    level: Level::Warn,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// A probe, the receive after it, and where the program goes by what the probe has said.
struct Confusion {
    probe: At,
    receive: At,
    relies: Relies,
}

/// What of a probe the program goes by.
enum Relies {
    /// It sends to, or receives from, the rank that the probe has met.
    Source(At),
    /// It has looked at the tag, and found this one.
    Tag(i32),
    /// It has asked how long the message is, and for nothing else.
    Length,
}

fn check(case: &Case<'_>) -> Vec<Finding> {
    if !all_is_known(case.world) {
        return Vec::new();
    }
    let mut confusions = Vec::new();
    for (rank, behaviour) in (0..).zip(&case.world.behaviours) {
        for (position, event) in behaviour.events.iter().enumerate() {
            if let Action::Probe { binds: Some(slot), .. } = &event.action {
                confusions.extend(confusion(case, rank, position, *slot));
            }
        }
    }
    let places = by_place(case, confusions, |confusion| confusion.receive);
    places.iter().map(|(_, confusions)| report(case, &confusions[0])).collect()
}

fn confusion(case: &Case<'_>, rank: Rank, probe: Position, slot: SourceId) -> Option<Confusion> {
    let behaviour = &case.world.behaviours[rank as usize];
    next_receives(behaviour, probe + 1, slot).into_iter().find_map(|(position, tag)| {
        let receive = (rank, position);
        let room = envelope(describe::event(case.world, receive), false)?;
        let sends = case.races.get(&receive).filter(|_| matches!(room.peer, Peer::Any { .. }))?;
        let other_tag = |tag: i32| {
            room.tag == Tag::Any
                && sends.iter().any(|&send| {
                    let sent = envelope(describe::event(case.world, send), true);
                    sent.is_some_and(|sent| sent.tag != Tag::Exact(tag))
                })
        };
        let on_source = || answered(behaviour, position, slot).map(|at| Relies::Source((rank, at)));
        let on_tag = tag.filter(|&tag| other_tag(tag)).map(Relies::Tag);
        let on_length = || {
            let else_asked = behaviour.events.iter().any(|event| {
                names(event, slot) || matches!(event.action, Action::BranchOnTag { slot: asked, .. } if asked == slot)
            });
            let may_differ = room.data.count.is_none() && lengths_differ(case.world, sends);
            (may_differ && !else_asked).then_some(Relies::Length)
        };
        let relies = on_tag.or_else(on_source).or_else(on_length)?;
        Some(Confusion { probe: (rank, probe), receive, relies })
    })
}

/// The first receives that follow on each way from a position, with the tag that the probe must
/// have met on this way, where the program has asked.
fn next_receives(
    behaviour: &Behaviour,
    from: Position,
    probed: SourceId,
) -> Vec<(Position, Option<i32>)> {
    let (mut found, mut seen) = (Vec::new(), vec![false; behaviour.events.len()]);
    let mut open = vec![(from, None)];
    while let Some((position, tag)) = open.pop() {
        let Some(event) = behaviour.events.get(position) else { continue };
        if std::mem::replace(&mut seen[position], true) {
            continue;
        }
        match &event.action {
            Action::Probe { .. } | Action::Leave { .. } | Action::Opaque => {}
            Action::Jump { target } => open.push((*target, tag)),
            Action::Branch { targets } => open.extend(targets.iter().map(|&to| (to, tag))),
            Action::BranchOnTag { slot, arms, otherwise } => {
                let known = |arm: i32| if *slot == probed { Some(arm) } else { tag };
                open.extend(arms.iter().map(|&(arm, target)| (target, known(arm))));
                open.push((*otherwise, tag));
            }
            _ if envelope(event, false).is_some() => found.push((position, tag)),
            _ => open.push((position + 1, tag)),
        }
    }
    found.sort_unstable();
    found
}

/// The step after a receive that goes by the source of the probe, unless the receive is what it
/// goes by.
fn answered(behaviour: &Behaviour, receive: Position, probed: SourceId) -> Option<Position> {
    let binds = |event: &Event| match event.action {
        Action::Receive { binds, .. }
        | Action::StartReceive { binds, .. }
        | Action::Probe { binds, .. } => binds == Some(probed),
        _ => false,
    };
    let after = behaviour.events.iter().enumerate().skip(receive);
    let mut after = after.take_while(|(_, event)| !binds(event));
    after.find(|(_, event)| names(event, probed)).map(|(position, _)| position)
}

/// Whether a step sends to, or receives from, the rank that a slot is bound to.
fn names(event: &Event, slot: SourceId) -> bool {
    let ends = [envelope(event, true), envelope(event, false)];
    ends.into_iter().flatten().any(|end| end.peer == Peer::Source(slot))
}

/// Whether messages are not all known to be of one length.
fn lengths_differ(world: &World, sends: &BTreeSet<At>) -> bool {
    let lengths: BTreeSet<Option<u64>> = (sends.iter())
        .map(|&send| envelope(describe::event(world, send), true)?.data.count)
        .collect();
    lengths.len() > 1 || lengths.contains(&None)
}

fn report(case: &Case<'_>, confusion: &Confusion) -> Finding {
    let (world, Confusion { probe, receive, relies }) = (case.world, confusion);
    let senders: Vec<Rank> = sources(case, *receive);
    let message = format!(
        "{} looks at a message with `{}` and may take another one in `{}`: {} can both be there",
        player(world, probe.0),
        describe::operation(world, *probe),
        describe::operation(world, *receive),
        messages_of(&senders)
    );
    let finding = RULE
        .finding(world, *receive, message, "takes any of the messages that are there")
        .other_end(world, *probe, "looks at one of them");
    let finding = match relies {
        Relies::Source(at) => finding.other_end(world, *at, "goes by the rank that was probed"),
        Relies::Tag(tag) => finding.note(format!(
            "the program has found tag {tag} in the probed message, and the receive takes any tag"
        )),
        Relies::Length => finding
            .note("the program has asked how long the probed message is; another may be longer"),
    };
    finding
        .ranks(senders.into_iter().chain([receive.0]).collect())
        .note("a probe reserves nothing: a receive with a wildcard may take a message of another rank (MPI 4.0, 3.8.1)")
        .help(advice(world))
}

/// The ranks whose messages compete for a receive.
fn sources(case: &Case<'_>, receive: At) -> Vec<Rank> {
    let mut senders: Vec<Rank> =
        case.races.get(&receive).into_iter().flatten().map(|send| send.0).collect();
    senders.dedup();
    senders
}

/// "messages of ranks 1 and 2".
fn messages_of(senders: &[Rank]) -> String {
    format!("messages of {}", ranks(senders))
}

fn advice(world: &World) -> &'static str {
    world.dialect.words(
        "receive from the rank that the probe has given, with its message",
        "receive from `process_at_rank(status.source_rank())` with `status.tag()`, or use `matched_probe`, which takes the message it has found",
        "receive from `status.MPI_SOURCE` with `status.MPI_TAG`, or use `MPI_Mprobe`, which takes the message it has found",
    )
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::samples::{found, rsmpi};
    use crate::engine::samples::{envelope, receive, send};
    use crate::finding::Finding;
    use crate::model::{Action, Envelope, Mode, Peer, Tag};

    const ANY: Peer = Peer::Any { first: 1, end: 3 };

    fn untagged(peer: Peer) -> Envelope {
        Envelope { tag: Tag::Any, ..envelope(peer, 0) }
    }

    fn probe(slot: u16) -> Action {
        Action::Probe { envelope: untagged(ANY), binds: Some(slot) }
    }

    fn take(peer: Peer) -> Action {
        Action::Receive { envelope: untagged(peer), binds: None }
    }

    fn answer(slot: u16) -> Action {
        Action::Send { mode: Mode::Standard, envelope: envelope(Peer::Source(slot), 0) }
    }

    fn judged(root: Vec<Action>, worker: &[Action]) -> Vec<Finding> {
        let world = rsmpi(vec![root, worker.to_vec(), worker.to_vec()]);
        found(&world, "probe-then-receive-other")
    }

    fn server(received: Peer) -> Vec<Action> {
        let turn = |slot: u16| {
            let received = match received {
                Peer::Source(_) => Peer::Source(slot),
                other => other,
            };
            vec![probe(slot), take(received), answer(slot)]
        };
        Range { start: 0, end: 2 }.flat_map(turn).collect()
    }

    #[test]
    fn the_rank_that_was_probed_is_received_from() {
        let worker = [send(0, 0), receive(0, 0)];
        let wrong = judged(server(ANY), &worker);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!(wrong[0].secondary.len(), 2);
        assert!(judged(server(Peer::Source(0)), &worker).is_empty());
    }

    #[test]
    fn room_made_for_one_message_may_be_too_short_for_another() {
        let sent = |count| match send(0, 0) {
            Action::Send { mode, mut envelope } => {
                envelope.data.count = Some(count);
                Action::Send { mode, envelope }
            }
            other => other,
        };
        let room = |peer| match take(peer) {
            Action::Receive { mut envelope, binds } => {
                envelope.data.count = None;
                Action::Receive { envelope, binds }
            }
            other => other,
        };
        let judged = |lengths: [u64; 2]| {
            let root = vec![probe(0), room(ANY), probe(1), room(ANY)];
            let workers = lengths.map(|length| vec![sent(length)]);
            let world = rsmpi([vec![root], workers.to_vec()].concat());
            found(&world, "probe-then-receive-other").len()
        };
        assert_eq!(judged([4, 8]), 1);
        assert_eq!(judged([4, 4]), 0);
    }

    #[test]
    fn who_goes_by_nothing_of_the_probe_may_receive_any() {
        let root = vec![probe(0), take(ANY), probe(1), take(ANY)];
        assert!(judged(root, &[send(0, 0)]).is_empty());
    }
}
