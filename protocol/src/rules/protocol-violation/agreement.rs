//! Whether two operations are the same, as far as both are known.

use super::rounds::Move;
use crate::engine::envelope;
use crate::model::{Behaviour, Collective, CollectiveKind, Data, Peer, Position, Rank, World};
use crate::rules::Conformance;

/// Whether a move goes to, or takes from, whom it should. Who takes from anybody takes from the
/// rank that is meant as well.
pub(super) fn same_ends(does: &Move, should: &Move) -> bool {
    does.mode.is_some() == should.mode.is_some()
        && peers_fit(does.envelope.peer, should.envelope.peer)
}

fn peers_fit(does: Peer, should: Peer) -> bool {
    let within = |rank: i32, first: Rank, end: Rank| {
        Rank::try_from(rank).is_ok_and(|rank| (first..end).contains(&rank))
    };
    match (does, should) {
        (Peer::Rank(does), Peer::Rank(should)) => does == should,
        (Peer::Any { first, end }, Peer::Rank(rank))
        | (Peer::Rank(rank), Peer::Any { first, end }) => within(rank, first, end),
        (Peer::Any { first, end }, Peer::Any { first: from, end: to }) => {
            first <= from && to <= end
        }
        (Peer::Source(_), _) | (_, Peer::Source(_)) => true,
        (Peer::Outside(_) | Peer::Null, _) | (_, Peer::Outside(_) | Peer::Null) => false,
    }
}

/// Whether two steps are the same operation with the same other end.
pub(super) fn same_step(
    one: &Behaviour,
    does: Position,
    other: &Behaviour,
    should: Position,
) -> bool {
    let (Some(does), Some(should)) = (one.events.get(does), other.events.get(should)) else {
        return false;
    };
    let ends = |sending: bool| match (envelope(does, sending), envelope(should, sending)) {
        (Some(does), Some(should)) => Some(peers_fit(does.peer, should.peer)),
        (None, None) => None,
        _ => Some(false),
    };
    match (ends(true), ends(false)) {
        (None, None) => {
            let kind = |collective: &Collective| collective.kind;
            let kinds = (does.action.collective().map(kind), should.action.collective().map(kind));
            kinds.0.is_some() && kinds.0 == kinds.1
        }
        (sends, receives) => sends != Some(false) && receives != Some(false),
    }
}

/// In what a message is not what it should be.
pub(super) fn messages_differ(
    both: &Conformance<'_>,
    does: &Move,
    should: &Move,
) -> Option<String> {
    if does.mode != should.mode {
        return Some("the modes differ".to_owned());
    }
    let (one, other) = (&does.envelope, &should.envelope);
    // How a decision is written down is not for the protocol to say.
    if other.data.label.is_some() || is_decision(both.expected, &other.data) {
        return None;
    }
    // A tag that is known at run time only, or any, may be the one that is meant.
    if let (Some(does), Some(should)) = (one.tag.number(), other.tag.number())
        && does != should
    {
        return Some(format!("tag {does} instead of tag {should}"));
    }
    types_differ(both, &one.data, &other.data).or_else(|| {
        let (counted, expected) = known_counts(both, &one.data, &other.data)?;
        match does.mode {
            Some(_) if counted != expected => {
                Some(format!("{} instead of {expected}", elements(counted)))
            }
            None if counted < expected => {
                Some(format!("room for {}, and {expected} come", elements(counted)))
            }
            _ => None,
        }
    })
}

fn elements(count: u64) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}

/// Whether it announces a decision, or awaits one.
fn is_decision(world: &World, data: &Data) -> bool {
    data.message.is_none() && signature(world, data) == Some("decision")
}

fn signature<'w>(world: &'w World, data: &Data) -> Option<&'w str> {
    let datatype = world.datatypes.get(usize::from(data.datatype?))?;
    Some(&datatype.signature)
}

/// A scalar's type by its size and kind. What a struct is made of is not compared.
fn scalar<'w>(world: &'w World, data: &Data) -> Option<&'w str> {
    match signature(world, data)? {
        "usize" => Some("u64"),
        "isize" => Some("i64"),
        signature => SCALARS.contains(&signature).then_some(signature),
    }
}

/// The types that mean the same in the protocol language and on rsmpi.
const SCALARS: [&str; 11] =
    ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool"];

fn types_differ(both: &Conformance<'_>, does: &Data, should: &Data) -> Option<String> {
    let (does, should) = (scalar(both.actual, does)?, scalar(both.expected, should)?);
    (does != should).then(|| format!("{does} instead of {should}"))
}

/// How many elements of one type there are and should be.
fn known_counts(both: &Conformance<'_>, does: &Data, should: &Data) -> Option<(u64, u64)> {
    scalar(both.actual, does).zip(scalar(both.expected, should))?;
    does.count.zip(should.count)
}

/// In what a collective is not what it should be.
pub(super) fn collectives_differ(
    both: &Conformance<'_>,
    does: &Collective,
    should: &Collective,
) -> Option<String> {
    if does.kind != should.kind {
        return Some("the collectives differ".to_owned());
    }
    if let (Some(does), Some(should)) = (does.root, should.root)
        && does != should
    {
        return Some(format!("root {does} instead of root {should}"));
    }
    let (one, other) = (does.data.as_ref()?, should.data.as_ref()?);
    types_differ(both, one, other).or_else(|| {
        use CollectiveKind::{AllReduce, Bcast, Reduce};
        // Of the others, some count what one rank has and some what all have.
        let counts = known_counts(both, one, other);
        let (does, should) = counts.filter(|_| matches!(does.kind, Bcast | Reduce | AllReduce))?;
        (does != should).then(|| format!("{} instead of {should}", elements(does)))
    })
}
