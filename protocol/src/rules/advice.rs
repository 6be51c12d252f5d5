//! What the rules about performance share: what is said of a place only if it holds whenever a rank
//! comes there, and what a rank does between the start of an operation and the wait for it.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Advised;
use crate::engine::{At, describe};
use crate::finding::Finding;
use crate::model::{
    Action, Behaviour, Completion, Envelope, Peer, Place, Position, RequestId, World,
};

/// Something that a rank does, as a rule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It could be done better.
    Better,
    /// It neither speaks for the advice nor against it.
    Nothing,
    /// It has to be as it is.
    Needed,
}

/// For each place what is said of it: of the first step there that could be done better, if none there
/// has to be as it is.
pub(super) fn by_place(
    world: &World,
    seen: impl IntoIterator<Item = (At, Seen)>,
    say: impl Fn(At) -> Finding,
) -> Vec<Advised> {
    let mut places: BTreeMap<Place, Option<At>> = BTreeMap::new();
    let mut needed: FxHashSet<Place> = FxHashSet::default();
    for (at, seen) in seen {
        let place = describe::place(world, at);
        match seen {
            Seen::Better => _ = places.entry(place).or_insert(Some(at)),
            Seen::Needed => _ = needed.insert(place),
            Seen::Nothing => {}
        }
    }
    places.retain(|place, _| !needed.contains(place));
    places.extend(needed.into_iter().map(|place| (place, None)));
    let advised = |(place, at): (Place, Option<At>)| Advised {
        place,
        finding: at.map(&say),
        is_everywhere: true,
    };
    places.into_iter().map(advised).collect()
}

/// The message of an operation that is started and waited for later, with its request.
pub(super) fn started(action: &Action) -> Option<(&Envelope, RequestId)> {
    match action {
        Action::StartSend { envelope, request, .. }
        | Action::StartReceive { envelope, request, .. } => Some((envelope, *request)),
        _ => None,
    }
}

/// The step that comes behind another one, whatever happens. Facts are passed over.
pub(super) fn next(behaviour: &Behaviour, position: Position) -> Option<Position> {
    let mut at = position + 1;
    for _ in 0..=behaviour.events.len() {
        match &behaviour.events.get(at)?.action {
            Action::Jump { target } => at = *target,
            Action::Compute { .. } | Action::Access { .. } => return Some(at),
            action if action.moves_nothing() => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// The requests of a wait for all that it names.
pub(super) fn waited_for(action: &Action) -> Option<&[RequestId]> {
    match action {
        Action::Wait { requests, completion: Completion::All } => Some(requests),
        _ => None,
    }
}

/// What is computed behind a wait, with other waits at most between, though it needs nothing of what
/// the wait is for.
pub(super) fn needless_wait(behaviour: &Behaviour, wait: Position) -> Option<Position> {
    let requests = waited_for(&behaviour.events[wait].action)?;
    let mut at = wait;
    for _ in 0..behaviour.events.len() {
        at = next(behaviour, at)?;
        match &behaviour.events[at].action {
            Action::Compute { apart } => {
                let is_apart = requests.iter().all(|request| apart.contains(request));
                return (is_apart && !requests.is_empty()).then_some(at);
            }
            action => _ = waited_for(action)?,
        }
    }
    None
}

/// Whether a message has another end.
pub(super) fn is_to_somebody(envelope: &Envelope) -> bool {
    envelope.peer != Peer::Null
}
