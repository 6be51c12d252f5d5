//! MPI's collective functions.

use std::rc::Rc;

use p2p_protocol::model::{Action, Argument, Collective, CollectiveKind};

use super::super::collective::{self, Buffers, Entry, Root};
use super::super::memory::Memory;
use super::super::process::unknown_rank;
use super::super::state;
use super::across::{self, Across};
use super::buffer::{self, At, Region, place, region};
use super::communicator;
use super::invocation::Invocation;
use super::operations::operation;
use super::parts::{self, Parts};
use super::requests;
use crate::evaluate::alike::Number;
use crate::evaluate::handle::{Datatype, KnownCommunicator, Request};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Content, Path, Value};

/// How a collective's memory is handed over.
#[derive(Clone, Copy)]
pub(super) enum Memories {
    /// None.
    None,
    /// One, which the root sends and the others receive into.
    Both,
    /// Two, each with its count and its datatype.
    Two,
    /// Two of one count and one datatype.
    Combined,
    /// The same, with a count for each rank.
    CombinedParts,
    /// What is brought is in one piece, what is taken has a part for each rank.
    TakesParts,
    /// What is brought has a part for each rank, what is taken is in one piece.
    BringsParts,
    /// Both have a part for each rank; whether each has a datatype of its own.
    Parts(bool),
}

fn shape(name: &str) -> Option<(CollectiveKind, Memories)> {
    use CollectiveKind as Kind;
    Some(match name {
        "Barrier" => (Kind::Barrier, Memories::None),
        "Bcast" => (Kind::Bcast, Memories::Both),
        "Gather" => (Kind::Gather, Memories::Two),
        "Scatter" => (Kind::Scatter, Memories::Two),
        "Allgather" => (Kind::AllGather, Memories::Two),
        "Alltoall" => (Kind::AllToAll, Memories::Two),
        "Gatherv" => (Kind::Gatherv, Memories::TakesParts),
        "Allgatherv" => (Kind::AllGatherv, Memories::TakesParts),
        "Scatterv" => (Kind::Scatterv, Memories::BringsParts),
        "Alltoallv" => (Kind::AllToAllv, Memories::Parts(false)),
        "Alltoallw" => (Kind::AllToAllw, Memories::Parts(true)),
        "Reduce" => (Kind::Reduce, Memories::Combined),
        "Allreduce" => (Kind::AllReduce, Memories::Combined),
        "Scan" => (Kind::Scan, Memories::Combined),
        "Exscan" => (Kind::Exscan, Memories::Combined),
        "Reduce_scatter_block" => (Kind::ReduceScatterBlock, Memories::Combined),
        "Reduce_scatter" => (Kind::ReduceScatter, Memories::CombinedParts),
        "Neighbor_allgather" => (Kind::NeighborAllGather, Memories::Two),
        "Neighbor_alltoall" => (Kind::NeighborAllToAll, Memories::Two),
        "Neighbor_allgatherv" => (Kind::NeighborAllGatherv, Memories::TakesParts),
        "Neighbor_alltoallv" => (Kind::NeighborAllToAllv, Memories::Parts(false)),
        "Neighbor_alltoallw" => (Kind::NeighborAllToAllw, Memories::Parts(true)),
        _ => return None,
    })
}

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let lowered = asked.name.strip_prefix('I').map(capitalized);
    let ((kind, memories), is_immediate) = match (shape(asked.name), lowered) {
        (Some(shape), _) => (shape, false),
        (None, Some(name)) => (shape(&name)?, true),
        (None, None) => return None,
    };
    Some(enter(machine, asked, (kind, memories), is_immediate))
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn enter(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (kind, memories): (CollectiveKind, Memories),
    is_immediate: bool,
) -> Outcome<()> {
    let at = asked.position("comm").expect("every collective has a communicator");
    let (_, known) = communicator::known(machine, asked, at)?;
    if known.remote.is_some() {
        return across::enter(machine, asked, (kind, memories), (known, is_immediate));
    }
    let root = root(machine, asked, &known)?;
    let side = Side { kind, root, size: known.size(), here: known.rank, across: None };
    let mut used = used(machine, asked, memories, &side)?;
    used.is_only_read = kind == CollectiveKind::Bcast && side.is_root();
    let operation = operation(machine, asked, used.datatype.as_ref())?;
    let entry = Entry { kind, communicator: known, root };
    let buffers = used.buffers(&side);
    collective::understood(machine, &entry, &buffers, asked.place());
    let mut entered = collective::collective(machine, &entry, &buffers, operation.as_deref());
    used.correct(machine, &side, &mut entered);
    let result = collective::result(machine, &entry, &buffers, operation.as_deref());
    used.touch(machine, asked);
    finish(machine, asked, (entered, &used), result, is_immediate)
}

/// Enters it, and says what is where afterwards.
pub(super) fn finish(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (entered, used): (Collective, &Used),
    result: Option<(Path, Value)>,
    is_immediate: bool,
) -> Outcome<()> {
    if !is_immediate {
        machine.emit(Action::Collective(entered), asked.place())?;
        match (result, &used.taken) {
            (Some((path, value)), _) => machine.put(&path, value),
            (None, Some((taken, pointer))) => taken.arrive(machine, asked.argument(*pointer)),
            (None, None) => {}
        }
        return Ok(());
    }
    let at = asked.function.arguments.len() - 1;
    requests::overwrite(machine, asked, at)?;
    let id = machine.new_request();
    Rc::make_mut(&mut machine.state.uses).is_no_message(id);
    machine.emit(Action::StartCollective { collective: entered, request: id }, asked.place())?;
    let buffer = used.taken.as_ref().and_then(|(taken, _)| taken.memory.path.clone());
    let started = Request::started(id, asked.place(), buffer);
    let request = Request { arrives: result.map(Rc::new), ..started };
    let mut regions: Vec<(&Region, bool)> = Vec::new();
    regions.extend(used.sent.iter().filter(|_| !used.is_in_place).map(|sent| (sent, false)));
    regions.extend(used.taken.iter().map(|(taken, _)| (taken, !used.is_only_read)));
    requests::keep(machine, asked, at, request, &regions, false);
    Ok(())
}

/// Where this rank stands in a collective.
pub(super) struct Side {
    pub(super) kind: CollectiveKind,
    pub(super) root: Root,
    /// How many ranks it exchanges something with.
    pub(super) size: u32,
    pub(super) here: Number,
    /// Its part in one between two groups.
    pub(super) across: Option<Across>,
}

impl Side {
    /// Whether this rank is the root, or there is none.
    pub(super) fn is_root(&self) -> bool {
        match (self.across, self.root) {
            (Some(across), _) => matches!(across, Across::All | Across::Root),
            (None, Root::None) => true,
            (None, Root::Uniform) => false,
            (None, Root::Known(root)) => self.here == Number::from(root),
        }
    }

    /// Whether this rank brings something.
    pub(super) fn brings(&self) -> bool {
        use CollectiveKind::{Gather, Gatherv, Reduce, Scatter, Scatterv};
        match self.kind {
            Scatter | Scatterv => self.is_root(),
            Gather | Gatherv | Reduce => self.across != Some(Across::Root),
            _ => true,
        }
    }

    /// Whether something arrives at this rank.
    fn takes(&self) -> bool {
        use CollectiveKind::{Gather, Gatherv, Reduce, Scatter, Scatterv};
        match self.kind {
            Gather | Gatherv | Reduce => self.is_root(),
            Scatter | Scatterv => self.across != Some(Across::Root),
            _ => true,
        }
    }

    /// Whether the counts are those of one rank each, of as many as there are.
    fn counts_for_each(&self) -> bool {
        use CollectiveKind::{AllGather, AllToAll, Gather, Scatter};
        matches!(self.kind, AllGather | AllToAll | Gather | Scatter)
    }

    fn is_of_neighbors(&self) -> bool {
        use CollectiveKind as Kind;
        matches!(
            self.kind,
            Kind::NeighborAllGather
                | Kind::NeighborAllGatherv
                | Kind::NeighborAllToAll
                | Kind::NeighborAllToAllv
                | Kind::NeighborAllToAllw
        )
    }
}

/// The memory that a call uses.
#[derive(Default)]
pub(super) struct Used {
    pub(super) sent: Option<Region>,
    /// With the argument that points there.
    pub(super) taken: Option<(Region, usize)>,
    /// What is brought lies where it is taken.
    is_in_place: bool,
    /// This rank is the root of a broadcast: what lies where others take it is sent.
    pub(super) is_only_read: bool,
    pub(super) datatype: Option<Datatype>,
}

impl Used {
    /// What the rank brings and takes, for who computes with it.
    pub(super) fn buffers(&self, side: &Side) -> Buffers {
        let brought = self.sent.as_ref().map(|sent| sent.memory.clone());
        let taken = self.taken.as_ref().map(|(taken, _)| taken.memory.clone());
        if side.is_of_neighbors() {
            // Of these, each rank may have something of its own with each neighbour.
            let typeless = |memory: Memory| Memory { signature: None, count: None, ..memory };
            return Buffers { sent: None, taken: taken.map(typeless) };
        }
        match side.kind {
            CollectiveKind::Bcast => {
                Buffers { sent: taken.clone().filter(|_| side.is_root()), taken }
            }
            _ => Buffers { sent: brought, taken },
        }
    }

    /// Of what is brought in place, the part of this rank counts.
    fn correct(&self, machine: &mut Machine<'_>, side: &Side, entered: &mut Collective) {
        if side.is_of_neighbors() {
            (entered.data, entered.room) = (None, None);
        }
        if self.is_in_place && side.counts_for_each() {
            let taken = self.taken.as_ref().map(|(taken, _)| &taken.memory);
            let all = taken.or(self.sent.as_ref().map(|sent| &sent.memory));
            entered.data = all.map(|all| all.share(machine, side.size));
            entered.room = None;
        }
        if side.kind == CollectiveKind::Bcast {
            entered.room = None;
        }
        let only = |region: &Region| match region.pieces.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let sent = self.sent.as_ref().filter(|_| !self.is_in_place).and_then(only);
        let taken = self.taken.as_ref().and_then(|(taken, _)| only(taken));
        if let (Some(data), true) = (&mut entered.data, machine.is_c()) {
            data.buffer = sent;
        }
        if let (Some(room), true) = (&mut entered.room, machine.is_c()) {
            room.buffer = taken;
        }
    }

    /// Notes what the call reads and writes.
    pub(super) fn touch(&self, machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) {
        if let Some(sent) = self.sent.as_ref().filter(|_| !self.is_in_place) {
            sent.touch(machine, false, asked.place());
        }
        if let Some((taken, _)) = &self.taken {
            taken.touch(machine, !self.is_only_read, asked.place());
        }
    }
}

/// The memory that this rank's call uses.
pub(super) fn used(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    memories: Memories,
    side: &Side,
) -> Outcome<Used> {
    match memories {
        Memories::None => Ok(Used::default()),
        Memories::Both => {
            let region = region(machine, asked, [0, 1, 2], 1)?;
            Ok(Used { taken: Some((region, 0)), ..Used::default() })
        }
        Memories::Two => two(machine, asked, side),
        Memories::Combined => combined(machine, asked, side),
        Memories::CombinedParts => combined_parts(machine, asked, side),
        Memories::TakesParts => {
            let parts =
                Parts { pointer: 3, counts: 4, starts: 5, datatypes: 6, each_has_one: false };
            one_piece_and_parts(machine, asked, ([0, 1, 2], parts), side)
        }
        Memories::BringsParts => {
            let parts =
                Parts { pointer: 0, counts: 1, starts: 2, datatypes: 3, each_has_one: false };
            parts_and_one_piece(machine, asked, (parts, [4, 5, 6]), side)
        }
        Memories::Parts(each_has_one) => {
            let brings = Parts { pointer: 0, counts: 1, starts: 2, datatypes: 3, each_has_one };
            let takes = Parts { pointer: 4, counts: 5, starts: 6, datatypes: 7, each_has_one };
            let ranks = (!side.is_of_neighbors()).then_some(side.size);
            let is_in_place = buffer::is_in_place(machine, asked, 0);
            let sent = match is_in_place {
                true => None,
                false => Some(parts::region(machine, asked, brings, ranks)?),
            };
            let taken = parts::region(machine, asked, takes, ranks)?;
            Ok(Used { sent, taken: Some((taken, 4)), is_in_place, ..Used::default() })
        }
    }
}

/// The buffer that is sent, and the one that is received into, each of a count for each rank or for all.
fn two(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, side: &Side) -> Outcome<Used> {
    use CollectiveKind::{AllGather, AllToAll, Gather, Scatter};
    let all = u64::from(side.size);
    let sent_times = if matches!(side.kind, Scatter | AllToAll) { all } else { 1 };
    let taken_times = if matches!(side.kind, Gather | AllGather | AllToAll) { all } else { 1 };
    let mut used = Used::default();
    if side.takes() {
        let taken = region(machine, asked, [3, 4, 5], taken_times)?;
        used.is_in_place = taken.is_in_place;
        used.taken = (!taken.is_in_place).then_some((taken, 3));
    }
    if side.brings() {
        let sent = region(machine, asked, [0, 1, 2], sent_times)?;
        if sent.is_in_place {
            used.is_in_place = true;
            used.sent = own_part(machine, asked, side)?;
        } else {
            used.sent = Some(sent);
        }
    }
    Ok(used)
}

/// What a rank brings in place: its own part of the buffer that is received into.
fn own_part(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    side: &Side,
) -> Outcome<Option<Region>> {
    if !matches!(side.kind, CollectiveKind::AllGather | CollectiveKind::Gather) {
        return Ok(None);
    }
    let datatype = buffer::datatype(machine, asked, 5)?;
    let count = asked.number(machine, 4).and_then(|count| u64::try_from(count).ok());
    let known = Memory { signature: datatype.signature.clone(), count, ..Memory::default() };
    let bytes = datatype.layout.as_ref().filter(|layout| layout.is_dense()).zip(count);
    let bytes = bytes.and_then(|(layout, count)| layout.size.checked_mul(count));
    let here = u64::try_from(side.here.get()).unwrap_or(0);
    let path = asked.argument(3).and_then(|pointer| machine.pointer(pointer));
    let path = path.zip(bytes).and_then(|(path, bytes)| {
        machine.region(&path, here.checked_mul(bytes)?, (here + 1).checked_mul(bytes)?)
    });
    let memory = Memory { is_view: path.is_none(), path, ..known };
    Ok(Some(Region { memory, ..Region::default() }))
}

/// `(sent, taken, count, datatype, ..)`
fn combined(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, side: &Side) -> Outcome<Used> {
    let is_block = side.kind == CollectiveKind::ReduceScatterBlock;
    let times = if is_block { u64::from(side.size) } else { 1 };
    let sent = match side.brings() {
        true => region(machine, asked, [0, 2, 3], times)?,
        false => Region::default(),
    };
    let mut used = Used {
        datatype: Some(buffer::datatype(machine, asked, 3)?),
        is_in_place: sent.is_in_place,
        ..Used::default()
    };
    if side.takes() {
        let taken = region(machine, asked, [1, 2, 3], 1)?;
        used.taken = Some((taken, 1));
    }
    used.sent = match used.is_in_place {
        false => side.brings().then_some(sent),
        true => used.taken.as_ref().map(|(taken, _)| taken.clone()),
    };
    Ok(used)
}

/// `MPI_Reduce_scatter(sent, taken, counts, datatype, ..)`
fn combined_parts(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    side: &Side,
) -> Outcome<Used> {
    let datatype = buffer::datatype(machine, asked, 3)?;
    let counts = asked.numbers(machine, 2, i128::from(side.size));
    if let Some(negative) = counts.iter().flatten().find(|count| **count < 0) {
        let negative = i64::try_from(*negative).unwrap_or(i64::MIN);
        asked.fails(machine, 2, Argument::Count(negative))?;
    }
    let number = |count: i128| u64::try_from(count).ok();
    let all = counts.as_ref().and_then(|counts| number(counts.iter().sum()));
    let here = usize::try_from(side.here.get()).unwrap_or(0);
    let mine = counts.as_ref().and_then(|counts| number(*counts.get(here)?));
    let is_in_place = buffer::is_in_place(machine, asked, 0);
    let sent = match is_in_place {
        true => None,
        false => Some(place(machine, asked, 0, &datatype, (all, None))?),
    };
    let room = if is_in_place { all } else { mine };
    let taken = place(machine, asked, 1, &datatype, (room, None))?;
    let (taken, datatype) = (Some((taken, 1)), Some(datatype));
    Ok(Used { sent, taken, is_in_place, datatype, ..Used::default() })
}

fn one_piece_and_parts(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (one, parts): (At, Parts),
    side: &Side,
) -> Outcome<Used> {
    let sent = match side.brings() {
        true => Some(region(machine, asked, one, 1)?),
        false => None,
    };
    let is_in_place = sent.as_ref().is_some_and(|sent| sent.is_in_place);
    let ranks = (!side.is_of_neighbors()).then_some(side.size);
    let taken = match side.takes() {
        true => Some((parts::region(machine, asked, parts, ranks)?, parts.pointer)),
        false => None,
    };
    let sent = sent.filter(|_| !is_in_place);
    Ok(Used { sent, taken, is_in_place, ..Used::default() })
}

fn parts_and_one_piece(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (parts, one): (Parts, At),
    side: &Side,
) -> Outcome<Used> {
    let sent = match side.brings() {
        true => Some(parts::region(machine, asked, parts, Some(side.size))?),
        false => None,
    };
    let taken = match side.takes() {
        true => Some(region(machine, asked, one, 1)?),
        false => None,
    };
    let is_in_place = taken.as_ref().is_some_and(|taken| taken.is_in_place);
    let taken = taken.filter(|_| !is_in_place).map(|taken| (taken, one[0]));
    Ok(Used { sent, taken, is_in_place, ..Used::default() })
}

/// The root, as its communicator counts. MPI ends the job where it has no such rank.
fn root(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    known: &KnownCommunicator,
) -> Outcome<Root> {
    let Some(at) = asked.position("root") else { return Ok(Root::None) };
    let value = asked.argument(at).map(|root| machine.behind(root, asked.place()));
    match value.as_ref().and_then(state::content) {
        Some(Content::Unknown(unknown)) if unknown.uniform => Ok(Root::Uniform),
        Some(content) => match state::integer(&content) {
            Some(root) if known.member(root.into()).is_none() => {
                let root = i32::try_from(root).unwrap_or(-1);
                asked.fails(machine, at, Argument::Root(root))?;
                Ok(Root::Uniform)
            }
            Some(root) => Ok(Root::Known(root)),
            None => Err(asked.lost(machine, &unknown_rank("has as its root", &content))),
        },
        None => Err(asked.lost(machine, "its root is not known here")),
    }
}
