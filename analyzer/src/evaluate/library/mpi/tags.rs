//! Tags that nobody knows before the job runs, and that are the same wherever they come from the same
//! values: what may be said of them once it is known what all ranks do.
//!
//! Such a tag may be equal to any other one. Where a message and a receive name the same values, they
//! fit; where one of them has no counterpart but in other tags, nothing is known of its rank.
//!
//! Also tags that came with a message and go back with the answer: the answer has any of the tags
//! that are sent, whichever the message has.

use std::collections::{BTreeMap, BTreeSet};

use p2p_protocol::model::{
    Action, Behaviour, CommunicatorId, Envelope, Event, Peer, Place, SourceId, Tag,
};

use super::lost;
use crate::evaluate::branches::Arm;
use crate::evaluate::graph::Next;
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::Unknown;

/// The tags that are sent on each communicator, as far as they are known.
pub(in crate::evaluate) type Sent = BTreeMap<CommunicatorId, BTreeSet<i32>>;

/// With more tags than this, it is not followed which of them comes back.
const MOST_TAGS: usize = 16;

/// The tags that these ranks send.
pub(in crate::evaluate) fn sent<'b>(behaviours: impl Iterator<Item = &'b Behaviour>) -> Sent {
    let mut sent = Sent::new();
    for event in behaviours.flat_map(|behaviour| &behaviour.events) {
        for (envelope, is_sent) in envelopes(&event.action) {
            if let (Some(tag), true) = (envelope.tag.number(), is_sent) {
                sent.entry(envelope.communicator).or_default().insert(tag);
            }
        }
    }
    sent
}

/// Goes on with the tag of the message that a slot keeps, on a way of its own for each tag that it
/// may be. `tag`: the number that it is to the program.
pub(super) fn with_the_one_that_came<'p>(
    machine: &mut Machine<'p>,
    (slot, tag): (SourceId, Unknown),
    communicator: CommunicatorId,
    place: Place,
    then: impl Fn(&mut Machine<'p>, Tag) -> Outcome,
) -> Outcome {
    let tags = machine.tags_sent(communicator);
    if tags.is_empty() || tags.len() > MOST_TAGS {
        return Err(lost(machine, place, "which tags may come is not known"));
    }
    let then = &then;
    let arm = |tag: i32| -> Arm<'_, 'p> {
        Box::new(move |machine: &mut Machine<'p>| then(machine, Tag::Exact(tag)))
    };
    let mut arms: Vec<Arm<'_, 'p>> = tags.iter().map(|tag| arm(*tag)).collect();
    arms.push(Box::new(move |machine: &mut Machine<'p>| {
        Err(machine.lost(place, "which tag came is not known"))
    }));
    machine.fork_as(tag, arms, place, |heads| {
        let otherwise = heads[tags.len()];
        Next::BranchOnTag(place, slot, tags.into_iter().zip(heads).collect(), otherwise)
    })
}

/// The tags of one communicator, or of what is between two ranks on it.
#[derive(Default)]
struct Used {
    sent: BTreeSet<i32>,
    taken: BTreeSet<i32>,
    /// A receive takes any tag.
    any: bool,
    /// Between two ranks: what the one takes from anybody, and so perhaps from the other.
    taken_perhaps: BTreeSet<i32>,
}

impl Used {
    /// Sent, and nobody takes it.
    fn only_sent(&self, tag: i32) -> bool {
        let is_taken = self.taken.contains(&tag) || self.taken_perhaps.contains(&tag) || self.any;
        self.sent.contains(&tag) && !is_taken
    }

    /// Taken, and nobody sends it.
    fn only_taken(&self, tag: i32) -> bool {
        self.taken.contains(&tag) && !self.sent.contains(&tag)
    }

    /// The unknown tags that may have to be another one.
    fn doubtful(&self) -> BTreeSet<i32> {
        let somebody_lacks = self.taken.iter().any(|&tag| self.only_taken(tag));
        let something_is_left = self.sent.iter().any(|&tag| self.only_sent(tag));
        let is_doubtful = |tag: &i32| {
            Tag::UNKNOWN.contains(tag)
                && (self.sent.contains(tag) && somebody_lacks
                    || self.taken.contains(tag) && something_is_left
                    || self.only_sent(*tag)
                    || self.only_taken(*tag))
        };
        self.sent.union(&self.taken).copied().filter(is_doubtful).collect()
    }
}

/// Makes nothing known of the ranks that use a tag which may have to be another one, from there on.
/// Gives where they do.
pub(in crate::evaluate) fn settle(behaviours: &mut [Behaviour]) -> Vec<Place> {
    let mut used: BTreeMap<CommunicatorId, Used> = BTreeMap::new();
    for event in behaviours.iter().flat_map(|behaviour| &behaviour.events) {
        for (envelope, is_sent) in envelopes(&event.action) {
            let here = used.entry(envelope.communicator).or_default();
            match (envelope.tag, is_sent) {
                (Tag::Exact(tag), true) => _ = here.sent.insert(tag),
                (Tag::Exact(tag), false) => _ = here.taken.insert(tag),
                (Tag::Any, _) => here.any |= !matches!(event.action, Action::Probe { .. }),
            }
        }
    }
    let is_unknown = |tag: &i32| Tag::UNKNOWN.contains(tag);
    if !used.values().any(|used| used.sent.iter().chain(&used.taken).any(is_unknown)) {
        return Vec::new();
    }
    let mut doubtful: BTreeMap<CommunicatorId, BTreeSet<i32>> =
        used.iter().map(|(communicator, used)| (*communicator, used.doubtful())).collect();
    for ((communicator, ..), used) in between_two(behaviours) {
        doubtful.entry(communicator).or_default().extend(used.doubtful());
    }
    if doubtful.values().all(BTreeSet::is_empty) {
        return Vec::new();
    }
    let is_doubtful = |envelope: &Envelope| match envelope.tag {
        Tag::Exact(tag) => doubtful[&envelope.communicator].contains(&tag),
        Tag::Any => false,
    };
    let mut places = Vec::new();
    for event in behaviours.iter_mut().flat_map(|behaviour| &mut behaviour.events) {
        if envelopes(&event.action).any(|(envelope, _)| is_doubtful(envelope)) {
            event.action = Action::Opaque;
            places.push(event.place);
        }
    }
    places
}

/// The tags between each two ranks, from the first to the second. One rank may have the number where
/// another one only knows that it is the same everywhere.
fn between_two<'b>(behaviours: &'b [Behaviour]) -> BTreeMap<(CommunicatorId, usize, usize), Used> {
    let mut between: BTreeMap<(CommunicatorId, usize, usize), Used> = BTreeMap::new();
    let takes = |event: &&Event| {
        // To look at any message takes none.
        !matches!(&event.action, Action::Probe { envelope, .. } if envelope.tag == Tag::Any)
    };
    let each = |are_named: bool| {
        let of_rank = move |(rank, behaviour): (usize, &'b Behaviour)| {
            let envelopes =
                behaviour.events.iter().filter(takes).flat_map(|it| envelopes(&it.action));
            envelopes.map(move |it| (rank, it))
        };
        behaviours.iter().enumerate().flat_map(of_rank).filter(move |(_, (envelope, _))| {
            match envelope.peer {
                Peer::Rank(_) => are_named,
                Peer::Any { .. } | Peer::Source(_) => !are_named,
                Peer::Outside(_) | Peer::Null => false,
            }
        })
    };
    for (rank, (envelope, is_sent)) in each(true) {
        let Peer::Rank(peer) = envelope.peer else { continue };
        let Ok(peer) = usize::try_from(peer) else { continue };
        let (from, to) = if is_sent { (rank, peer) } else { (peer, rank) };
        let here = between.entry((envelope.communicator, from, to)).or_default();
        match (envelope.tag, is_sent) {
            (Tag::Exact(tag), true) => _ = here.sent.insert(tag),
            (Tag::Exact(tag), false) => _ = here.taken.insert(tag),
            (Tag::Any, _) => here.any = true,
        }
    }
    for (rank, (envelope, is_sent)) in each(false) {
        let here = between.iter_mut().filter(|((communicator, from, to), _)| {
            *communicator == envelope.communicator && rank == if is_sent { *from } else { *to }
        });
        for (_, used) in here {
            match (envelope.tag, is_sent) {
                (Tag::Exact(tag), false) => _ = used.taken_perhaps.insert(tag),
                (Tag::Exact(tag), true) => _ = used.sent.insert(tag),
                (Tag::Any, _) => used.any = true,
            }
        }
    }
    between
}

/// What an action sends, and what it waits for; whether it is sent.
fn envelopes(action: &Action) -> impl Iterator<Item = (&Envelope, bool)> {
    let (sent, taken) = match action {
        Action::Send { envelope, .. }
        | Action::StartSend { envelope, .. }
        | Action::PlanSend { envelope, .. } => (Some(envelope), None),
        Action::Receive { envelope, .. }
        | Action::StartReceive { envelope, .. }
        | Action::PlanReceive { envelope, .. }
        | Action::Probe { envelope, .. } => (None, Some(envelope)),
        Action::SendReceive { send, receive } => (Some(&**send), Some(&**receive)),
        _ => (None, None),
    };
    sent.map(|envelope| (envelope, true)).into_iter().chain(taken.map(|it| (it, false)))
}
