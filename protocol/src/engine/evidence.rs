//! What a run shows, written down while it runs and judged later.

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
    /// A buffered send started, and its rank has attached no buffer.
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
        } else if let (Some(sent), Some(room)) = (sent.count, room.count)
            && sent > room
        {
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
        (other, call): (At, &Collective),
    ) {
        let data = call.data.as_ref().filter(|_| !may_differ(call.kind));
        let typed = data.filter(|data| data.datatype.is_some()).and_then(|data| {
            let mut known =
                earlier.clone().filter_map(|(at, call)| Some((at, call.data.as_ref()?)));
            let (first, brought) = known.find(|(_, brought)| brought.datatype.is_some())?;
            (!same_signature(world, brought, data)).then_some(first)
        });
        let counted = data.and_then(|data| data.count).filter(|_| one_count(call.kind));
        let counted = counted.and_then(|count| {
            let mut known = earlier.clone().filter_map(|(at, call)| Some((at, call.data?.count?)));
            let (first, brought) = known.next()?;
            (brought != count).then_some(first)
        });
        if let Some(first) = typed {
            self.observations.push(Observation::CollectiveType { first, other });
        } else if let Some(first) = counted {
            self.observations.push(Observation::CollectiveCount { first, other });
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

/// Whether all ranks must bring the same number of elements to a collective (MPI 4.0, 6.4, 6.9 to
/// 6.11).
fn one_count(kind: CollectiveKind) -> bool {
    use CollectiveKind::{AllReduce, Bcast, Exscan, Reduce, ReduceScatterBlock, Scan};
    matches!(kind, Bcast | Reduce | AllReduce | ReduceScatterBlock | Scan | Exscan)
}

/// Whether two datatypes are the same to MPI (MPI 4.0, 3.3.1 "Type Matching Rules").
fn same_signature(world: &World, one: &Data, other: &Data) -> bool {
    let signature = |datatype: DatatypeId| {
        world.datatypes.get(usize::from(datatype)).map(|datatype| &datatype.signature)
    };
    match (one.datatype, other.datatype) {
        (Some(one), Some(other)) => one == other || signature(one) == signature(other),
        _ => true,
    }
}

/// Whether a message may meet a receive: of the same type as far as that is known, and not longer.
pub fn fits(world: &World, sent: &Data, room: &Data) -> bool {
    let longer = sent.count.zip(room.count).is_some_and(|(sent, room)| sent > room);
    same_signature(world, sent, room) && !longer
}
