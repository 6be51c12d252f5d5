//! What a run shows, written down while it runs and judged later.

use std::option;

use super::machine::bytes;
use super::shares;
use crate::model::{Collective, CollectiveKind, Data, DatatypeId, LabelId, Position, Rank, World};

/// A step of a rank.
pub type At = (Rank, Position);

/// Something that a run showed, and that is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observation {
    /// A message met a receive of another datatype.
    TypeMismatch {
        /// The send.
        send: At,
        /// The receive.
        receive: At,
    },
    /// A message was longer than the room that its receive had.
    Truncation {
        /// The send.
        send: At,
        /// The receive.
        receive: At,
    },
    /// A request was started and never completed.
    LostRequest {
        /// The start.
        start: At,
    },
    /// The only handle of a request was overwritten or lost while its operation was active.
    Overwritten {
        /// The start of the operation.
        start: At,
        /// The step that overwrites it.
        by: At,
    },
    /// A ready send started before its receive was posted.
    UnpostedReady {
        /// The send.
        send: At,
        /// To whom.
        destination: Rank,
    },
    /// The n-th collectives of two ranks are not the same operation.
    CollectiveMismatch {
        /// Who came first.
        first: At,
        /// Who called another operation, or named another root.
        other: At,
    },
    /// Two ranks bring data of different types to one collective.
    CollectiveType {
        /// Who came first.
        first: At,
        /// Who brings another type.
        other: At,
    },
    /// Two ranks bring different amounts of data to one collective that needs equal ones.
    CollectiveCount {
        /// Who came first.
        first: At,
        /// Who brings another amount.
        other: At,
    },
    /// Two ranks combine the data of one collective with different operations.
    CollectiveOperation {
        /// Who came first.
        first: At,
        /// Who names another operation.
        other: At,
    },
    /// A buffered send started, and its rank has attached no buffer, or none that is large enough.
    NoBuffer {
        /// The send.
        send: At,
    },
    /// Memory was touched while an operation that uses it was active: written to during any, or
    /// read during a receive.
    Access {
        /// The step that touches it.
        access: At,
        /// The start of the operation.
        start: At,
        /// Whether it was written to.
        writes: bool,
    },
    /// An operation started whose memory overlaps that of an active one, and one of them receives.
    /// The two halves of one send-receive are the same step.
    Overlap {
        /// The start of the operation that was active.
        first: At,
        /// The operation that started.
        second: At,
    },
    /// A message of one rank is read as one of another has told.
    Mixed {
        /// The step that says so; the receive is the one before.
        at: At,
        /// Whose message has told the length.
        told: Rank,
        /// Whose message was taken.
        taken: Rank,
    },
    /// A decision arrived that its offer has no arm for.
    WrongDecision {
        /// The offer.
        offer: At,
        /// Who decided.
        source: Option<Rank>,
        /// What was announced.
        label: Option<LabelId>,
    },
}

/// Everything a run has shown since it was last asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    observations: Vec<Observation>,
}

impl Evidence {
    /// The observations so far, which are forgotten here.
    pub(super) fn take(&mut self) -> Vec<Observation> {
        std::mem::take(&mut self.observations)
    }

    pub(super) fn note(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    pub(super) fn matched(
        &mut self,
        world: &World,
        (send, receive): (At, At),
        sent: &Data,
        room: &Data,
    ) {
        if !same_signature(world, sent, room) {
            self.observations.push(Observation::TypeMismatch { send, receive });
        } else if is_longer(world, sent, room) {
            self.observations.push(Observation::Truncation { send, receive });
        }
    }

    pub(super) fn lost_request(&mut self, rank: Rank, started: Position) {
        self.observations.push(Observation::LostRequest { start: (rank, started) });
    }

    pub(super) fn unposted_ready(&mut self, rank: Rank, position: Position, destination: Rank) {
        self.observations.push(Observation::UnpostedReady { send: (rank, position), destination });
    }

    pub(super) fn collective_mismatch(&mut self, first: At, other: At) {
        self.observations.push(Observation::CollectiveMismatch { first, other });
    }

    /// A rank has come to the same collective as others before, with what it brings or makes room
    /// for; what is not known agrees with all.
    pub(super) fn met_in_collective<'w>(
        &mut self,
        world: &'w World,
        mut earlier: impl Iterator<Item = (At, &'w Collective)> + Clone,
        (other, call): (At, &'w Collective),
    ) {
        let known = |parts: fn(&'w Collective) -> Parts<'w>, has: fn(&Data) -> bool| {
            let mut calls = earlier.clone().chain([(other, call)]);
            calls.find_map(|(at, call)| Some((at, parts(call).find(|data| has(data))?)))
        };
        let typed = known(typed_parts, |data| data.datatype.is_some())
            .filter(|(_, first)| typed_parts(call).any(|data| !same_signature(world, first, data)));
        let counted = known(counted_parts, |data| data.count.is_some())
            .filter(|(_, first)| counted_parts(call).any(|data| counts_differ(world, first, data)));
        if let Some((first, _)) = typed {
            self.observations.push(Observation::CollectiveType { first, other });
        } else if let Some((first, _)) = counted {
            self.observations.push(Observation::CollectiveCount { first, other });
        } else if lacks_room(world, call) {
            self.observations.push(Observation::CollectiveCount { first: other, other });
        } else if call.shares.is_some() || earlier.clone().any(|(_, it)| it.shares.is_some()) {
            let mut calls = earlier.clone().chain([(other, call)]);
            let overflows = |&first: &(At, &Collective)| {
                shares::overflow(world, first, (other, call)).is_some()
            };
            if let Some((first, _)) = calls.find(overflows) {
                self.observations.push(Observation::CollectiveCount { first, other });
            }
        }
        let Some(operation) = call.operation else { return };
        let known = earlier.find_map(|(at, call)| Some((at, call.operation?)));
        if let Some((first, known)) = known
            && known != operation
        {
            self.observations.push(Observation::CollectiveOperation { first, other });
        }
    }

    pub(super) fn wrong_decision(
        &mut self,
        rank: Rank,
        position: Position,
        source: Option<Rank>,
        label: Option<LabelId>,
    ) {
        let offer = (rank, position);
        self.observations.push(Observation::WrongDecision { offer, source, label });
    }
}

/// Whether ranks may bring different types to a collective: those that name a type for each pair of
/// ranks (MPI 4.0, 6.8 and 8.6).
fn may_differ(kind: CollectiveKind) -> bool {
    matches!(kind, CollectiveKind::AllToAllw | CollectiveKind::NeighborAllToAllw)
}

/// What a rank brings to a collective, and what it has room for.
type Parts<'w> = std::iter::Chain<option::IntoIter<&'w Data>, option::IntoIter<&'w Data>>;

/// That of which the types must agree between all ranks.
fn typed_parts(call: &Collective) -> Parts<'_> {
    let compared = !may_differ(call.kind);
    let (data, room) = (call.data.as_ref(), call.room.as_ref());
    data.filter(|_| compared).into_iter().chain(room.filter(|_| compared))
}

/// Whether all ranks bring the same amount (MPI 4.0, 6.4 to 6.6, 6.8 to 6.11).
fn is_counted(kind: CollectiveKind) -> bool {
    use CollectiveKind::{AllGather, AllToAll, Bcast, Gather, ReduceScatterBlock, Scatter};
    matches!(kind, Bcast | Gather | Scatter | AllGather | AllToAll | ReduceScatterBlock)
        || reduces(kind)
}

/// That of which the amounts must agree between all ranks.
fn counted_parts(call: &Collective) -> Parts<'_> {
    let brings = is_counted(call.kind);
    let takes = brings && !reduces(call.kind);
    let (data, room) = (call.data.as_ref(), call.room.as_ref());
    data.filter(|_| brings).into_iter().chain(room.filter(|_| takes))
}

/// Whether as many elements come back from a collective as each rank brings.
fn reduces(kind: CollectiveKind) -> bool {
    use CollectiveKind::{AllReduce, Exscan, Reduce, Scan};
    matches!(kind, Reduce | AllReduce | Scan | Exscan)
}

/// Whether a reduction writes past the end of the room for its result.
fn lacks_room(world: &World, call: &Collective) -> bool {
    let known = call.data.zip(call.room).filter(|_| reduces(call.kind));
    known.is_some_and(|(data, room)| is_longer(world, &data, &room))
}

/// Whether two parts of a collective agree, as far as they are known.
pub(crate) fn alike(world: &World, kind: CollectiveKind, one: &Data, other: &Data) -> bool {
    same_signature(world, one, other) && !(is_counted(kind) && counts_differ(world, one, other))
}

fn counts_differ(world: &World, one: &Data, other: &Data) -> bool {
    amounts(world, one, other).is_some_and(|(one, other)| one != other)
}

/// Whether a message is longer than the room for it.
pub(super) fn is_longer(world: &World, sent: &Data, room: &Data) -> bool {
    amounts(world, sent, room).is_some_and(|(sent, room)| sent > room)
}

/// How much two parts are, to be compared: elements, or bytes where one of them has no type.
fn amounts(world: &World, one: &Data, other: &Data) -> Option<(u64, u64)> {
    if is_untyped(world, one) == is_untyped(world, other) {
        return one.count.zip(other.count);
    }
    bytes(world, one).zip(bytes(world, other))
}

/// Whether data are bytes of whatever type: `MPI_PACKED` goes with every type (MPI 4.0, 3.3.1). So
/// does `MPI_BYTE` in every MPI, though the standard wants it on both ends.
fn is_untyped(world: &World, data: &Data) -> bool {
    let datatype = data.datatype.and_then(|datatype| world.datatypes.get(usize::from(datatype)));
    datatype.is_some_and(|it| matches!(&*it.signature, "MPI_BYTE" | "MPI_PACKED"))
}

/// Whether two datatypes are the same to MPI (MPI 4.0, 3.3.1 "Type Matching Rules").
pub(super) fn same_signature(world: &World, one: &Data, other: &Data) -> bool {
    let signature = |datatype: DatatypeId| {
        world.datatypes.get(usize::from(datatype)).map(|datatype| &datatype.signature)
    };
    match (one.datatype, other.datatype) {
        (Some(first), Some(second)) => {
            first == second
                || signature(first) == signature(second)
                || is_untyped(world, one)
                || is_untyped(world, other)
        }
        _ => true,
    }
}

/// Whether a message may meet a receive: of the same type as far as that is known, and not longer.
pub fn fits(world: &World, sent: &Data, room: &Data) -> bool {
    same_signature(world, sent, room) && !is_longer(world, sent, room)
}
