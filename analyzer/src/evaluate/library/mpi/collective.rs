//! Collective operations, blocking and immediate. The halves that rsmpi splits rooted ones into are
//! one operation.

use std::rc::Rc;

use p2p_protocol::model::{Action, Collective, CollectiveKind, Data, Departure, Shares};

use super::exchange::{self, Gets};
use super::memory::{Memory, shaped};
use super::process::unknown_rank;
use super::state::integer;
use super::{lost, skipped};
use crate::evaluate::Understood;
use crate::evaluate::alike::Number;
use crate::evaluate::handle::{Communicator, Handle, KnownCommunicator, Process, Request};
use crate::evaluate::machine::{Call, Machine, Outcome, Told};
use crate::evaluate::state::Counted;
use crate::evaluate::value::{Content, Items, Path, Value};
use crate::program::Place;

/// One rank's call of a collective operation.
pub(super) struct Entry {
    pub(super) kind: CollectiveKind,
    pub(super) communicator: KnownCommunicator,
    pub(super) root: Root,
}

/// What a method is handed besides.
struct Given<'c> {
    sends: Option<&'c Value>,
    takes: Option<&'c Value>,
    operation: Option<&'c Value>,
}

/// The root of a rooted collective, by its rank in the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// There is none.
    None,
    /// The same on every rank, but not known.
    Uniform,
    /// This one.
    Known(i128),
}

impl Root {
    /// Whether it is known to be this rank, which is all that the run goes on by.
    fn is_here(self, known: &KnownCommunicator) -> bool {
        matches!(self, Root::Known(root) if known.rank == root.into())
    }
}

/// A name without what says that it is immediate.
fn bare(name: &str) -> &str {
    name.strip_prefix("immediate_").unwrap_or(name)
}

/// Whether a method of this name is a collective without a root.
pub(super) fn is_symmetric(name: &str) -> bool {
    symmetric_kind(bare(name)).is_some()
}

/// Whether a method of this name is a collective with a root.
pub(super) fn is_rooted(name: &str) -> bool {
    rooted_kind(bare(name)).is_some()
}

fn symmetric_kind(name: &str) -> Option<CollectiveKind> {
    Some(match name {
        "barrier" => CollectiveKind::Barrier,
        "all_gather_into" => CollectiveKind::AllGather,
        "all_gather_varcount_into" => CollectiveKind::AllGatherv,
        "all_to_all_into" => CollectiveKind::AllToAll,
        "all_to_all_varcount_into" => CollectiveKind::AllToAllv,
        "all_reduce_into" => CollectiveKind::AllReduce,
        "reduce_scatter_block_into" => CollectiveKind::ReduceScatterBlock,
        "scan_into" => CollectiveKind::Scan,
        "exclusive_scan_into" => CollectiveKind::Exscan,
        _ => return None,
    })
}

fn rooted_kind(name: &str) -> Option<CollectiveKind> {
    Some(match name.strip_suffix("_root").unwrap_or(name) {
        "broadcast_into" => CollectiveKind::Bcast,
        "gather_into" => CollectiveKind::Gather,
        "gather_varcount_into" => CollectiveKind::Gatherv,
        "scatter_into" => CollectiveKind::Scatter,
        "scatter_varcount_into" => CollectiveKind::Scatterv,
        "reduce_into" => CollectiveKind::Reduce,
        "spawn" | "spawn_multiple" => CollectiveKind::Spawn,
        _ => return None,
    })
}

/// The buffers of a call: all but the scope and the operation.
fn buffers<'c>(call: &'c Call<'_>, has_operation: bool) -> (&'c [Value], Option<&'c Value>) {
    let scoped = call.name.starts_with("immediate_") && call.name != "immediate_barrier";
    let rest = call.arguments.get(usize::from(scoped)..).unwrap_or_default();
    match (has_operation, rest.split_last()) {
        (true, Some((operation, buffers))) => (buffers, Some(operation)),
        _ => (rest, None),
    }
}

pub(super) fn has_operation(kind: CollectiveKind) -> bool {
    use CollectiveKind::{AllReduce, Exscan, Reduce, ReduceScatterBlock, Scan};
    matches!(kind, AllReduce | Exscan | Reduce | ReduceScatterBlock | Scan)
}

/// A collective without a root.
pub(super) fn symmetric(
    machine: &mut Machine<'_>,
    communicator: &Rc<Communicator>,
    call: &Call<'_>,
) -> Outcome {
    let kind = symmetric_kind(bare(call.name)).expect("only called for these");
    let Some(known) = communicator.known.clone() else { return skipped(machine, call) };
    let (buffers, operation) = buffers(call, has_operation(kind));
    let entry = Entry { kind, communicator: known, root: Root::None };
    let given = Given { sends: buffers.first(), takes: buffers.get(1), operation };
    enter(machine, &entry, &given, call)
}

/// A collective with a root, or one of its halves.
pub(super) fn rooted(machine: &mut Machine<'_>, process: &Process, call: &Call<'_>) -> Outcome {
    let name = bare(call.name);
    let kind = rooted_kind(name).expect("only called for these");
    let Some(known) = process.communicator.known.clone() else { return skipped(machine, call) };
    let root = match &process.rank {
        Some(rank) => match (integer(rank), rank) {
            (Some(rank), _) => Root::Known(rank),
            (None, Content::Unknown(unknown)) if unknown.uniform => Root::Uniform,
            (None, rank) => {
                return Err(lost(machine, call.place, &unknown_rank("has as its root", rank)));
            }
        },
        None => return Err(lost(machine, call.place, "it has no root")),
    };
    if kind == CollectiveKind::Spawn {
        return spawn(machine, known, root, call);
    }
    if matches!(root, Root::Known(_))
        && kind != CollectiveKind::Bcast
        && root.is_here(&known) != name.ends_with("_root")
    {
        // Both halves assert that they are called on the right side.
        machine.understood(call.place, Understood::Fully);
        return Err(machine.leave(Departure::Panicked, call.place));
    }
    let (buffers, operation) = buffers(call, has_operation(kind));
    let takes_only = matches!(kind, CollectiveKind::Scatter | CollectiveKind::Scatterv)
        && !name.ends_with("_root");
    let entry = Entry { kind, communicator: known, root };
    let given = Given {
        sends: buffers.first().filter(|_| !takes_only),
        takes: match kind {
            CollectiveKind::Bcast => buffers.first(),
            _ if takes_only => buffers.first(),
            _ => buffers.get(1),
        },
        operation,
    };
    enter(machine, &entry, &given, call)
}

/// What one rank's call is made of, once its buffers are known.
#[derive(Default)]
pub(super) struct Buffers {
    /// What it brings.
    pub(super) sent: Option<Memory>,
    /// What it has room for.
    pub(super) taken: Option<Memory>,
}

fn enter(machine: &mut Machine<'_>, entry: &Entry, given: &Given<'_>, call: &Call<'_>) -> Outcome {
    let mut memory =
        |value: Option<&Value>| value.map(|value| Memory::of(machine, value, call.place));
    let buffers = Buffers { sent: memory(given.sends), taken: memory(given.takes) };
    let operation = given.operation.and_then(|value| operation_name(machine, value, call.place));
    understood(machine, entry, &buffers, call.place);
    let collective = collective(machine, entry, &buffers, operation.as_deref());
    let result = result(machine, entry, &buffers, operation.as_deref());
    if !call.name.starts_with("immediate_") {
        machine.emit(Action::Collective(collective), call.place)?;
        if let Some(result) = result {
            machine.put(&result.0, result.1);
        }
        return Ok(Value::unit());
    }
    start(machine, collective, &buffers, result, call.place)
}

/// What a rank enters.
pub(super) fn collective(
    machine: &mut Machine<'_>,
    entry: &Entry,
    buffers: &Buffers,
    operation: Option<&str>,
) -> Collective {
    Collective {
        root: world_root(&entry.communicator, entry.root),
        data: data(machine, entry, buffers),
        room: room(machine, entry, buffers),
        operation: operation.map(|name| operation_id(machine, name)),
        shares: shares(machine, buffers),
        ..Collective::of(entry.kind, entry.communicator.id)
    }
}

/// An operation in the world's table, by the name that the program's language has for it.
pub(super) fn operation_id(machine: &mut Machine<'_>, name: &str) -> u16 {
    let in_c = match name {
        "sum" => "MPI_SUM",
        "product" => "MPI_PROD",
        "max" => "MPI_MAX",
        "min" => "MPI_MIN",
        "logical_and" => "MPI_LAND",
        "logical_or" => "MPI_LOR",
        "logical_xor" => "MPI_LXOR",
        "bitwise_and" => "MPI_BAND",
        "bitwise_or" => "MPI_BOR",
        "bitwise_xor" => "MPI_BXOR",
        "max_loc" => "MPI_MAXLOC",
        "min_loc" => "MPI_MINLOC",
        "replace" => "MPI_REPLACE",
        "no_op" => "MPI_NO_OP",
        other => other,
    };
    let name = if machine.is_c() { in_c } else { name };
    machine.operation(name)
}

fn start(
    machine: &mut Machine<'_>,
    collective: Collective,
    buffers: &Buffers,
    result: Option<(Path, Value)>,
    place: Place,
) -> Outcome {
    let id = machine.new_request();
    machine.emit(Action::StartCollective { collective, request: id }, place)?;
    let taken = buffers.taken.as_ref().and_then(|memory| memory.path.clone());
    let sent = buffers.sent.as_ref().and_then(|memory| memory.path.clone());
    if let Some(path) = sent.filter(|path| Some(path) != taken.as_ref()) {
        machine.begin_use(id, &path, false);
    }
    if let Some(path) = &taken {
        machine.begin_use(id, path, true);
    }
    let arrives = result.map(Rc::new);
    let request = Request { arrives, ..Request::started(id, place, taken) };
    Ok(Value::Handle(Handle::Request(Box::new(request))))
}

pub(super) fn understood(
    machine: &mut Machine<'_>,
    entry: &Entry,
    buffers: &Buffers,
    place: Place,
) {
    let both = [buffers.sent.as_ref(), buffers.taken.as_ref()];
    let gap = both.into_iter().flatten().find_map(|memory| memory.gap(memory.partition.is_none()));
    let how = match (gap, entry.root) {
        (Some(gap), _) => Understood::Partly(gap.to_owned()),
        (None, Root::Uniform) => {
            Understood::Partly("its root is only given when the program runs".to_owned())
        }
        (None, _) => Understood::Fully,
    };
    machine.understood(place, how);
}

/// The root's rank in the world.
fn world_root(known: &KnownCommunicator, root: Root) -> Option<i32> {
    match root {
        Root::Known(rank) => {
            i32::try_from(known.member(rank.into()).map_or(rank, Number::get)).ok()
        }
        Root::None | Root::Uniform => None,
    }
}

/// What the rank brings, or makes room for if it brings nothing: of scatter and all-to-all what goes to
/// one rank.
fn data(machine: &mut Machine<'_>, entry: &Entry, buffers: &Buffers) -> Option<Data> {
    use CollectiveKind::{
        AllGatherv, AllToAll, AllToAllv, Gatherv, ReduceScatterBlock, Scatter, Scatterv,
    };
    let ranks = || entry.communicator.size();
    let (sent, taken) = (buffers.sent.as_ref(), buffers.taken.as_ref());
    Some(match entry.kind {
        Scatter => match sent {
            Some(sent) => sent.share(machine, ranks()),
            None => taken?.data(machine),
        },
        AllToAll => sent?.share(machine, ranks()),
        ReduceScatterBlock => taken.or(sent)?.data(machine),
        AllGatherv | AllToAllv | Gatherv | Scatterv => sent.or(taken)?.whole(machine),
        _ => sent.or(taken)?.data(machine),
    })
}

/// What a rank that brings something has room for: of gathers and all-to-all, from one rank.
fn room(machine: &mut Machine<'_>, entry: &Entry, buffers: &Buffers) -> Option<Data> {
    use CollectiveKind::{
        AllGather, AllGatherv, AllReduce, AllToAll, AllToAllv, Exscan, Gather, Gatherv, Reduce,
        Scan, Scatter, Scatterv,
    };
    let (Some(_), Some(taken)) = (&buffers.sent, &buffers.taken) else { return None };
    match entry.kind {
        Gather | AllGather | AllToAll => Some(taken.share(machine, entry.communicator.size())),
        Scatter | Reduce | AllReduce | Scan | Exscan => Some(taken.amount(machine, taken.count)),
        Gatherv | AllGatherv | AllToAllv | Scatterv => Some(taken.whole(machine)),
        _ => None,
    }
}

/// How much of what it brings, and of what it has room for, belongs to each rank, where the call says
/// so.
fn shares(machine: &mut Machine<'_>, buffers: &Buffers) -> Option<u32> {
    let counts = |memory: &Option<Memory>| memory.as_ref().and_then(Memory::parts);
    let (brings, takes) = (counts(&buffers.sent), counts(&buffers.taken));
    if brings.is_none() && takes.is_none() {
        return None;
    }
    let (brings, takes) = (brings.unwrap_or_default(), takes.unwrap_or_default());
    Some(machine.shares(Shares { brings, takes }))
}

/// Which part of what all bring a rank gets.
fn gets(entry: &Entry) -> Gets {
    let root = match entry.root {
        Root::Known(rank) => u32::try_from(rank).ok(),
        Root::None | Root::Uniform => None,
    };
    match entry.kind {
        CollectiveKind::Bcast => root.map_or(Gets::Nothing, Gets::Of),
        CollectiveKind::Scatter => root.map_or(Gets::Nothing, Gets::ShareOf),
        CollectiveKind::Gather | CollectiveKind::AllGather => Gets::AllOf,
        CollectiveKind::AllToAll => Gets::ShareOfEach,
        CollectiveKind::Reduce | CollectiveKind::AllReduce => Gets::Combined,
        CollectiveKind::Scan => Gets::CombinedUpToHere,
        CollectiveKind::Exscan => Gets::CombinedBefore,
        CollectiveKind::ReduceScatterBlock => Gets::ShareOfCombined,
        _ => Gets::Nothing,
    }
}

/// What is in the buffer afterwards: numbers, if what every rank brings is known; else something
/// that is the same on every rank, where it is; else something.
pub(super) fn result(
    machine: &mut Machine<'_>,
    entry: &Entry,
    buffers: &Buffers,
    operation: Option<&str>,
) -> Option<(Path, Value)> {
    use CollectiveKind::{AllGather, AllGatherv, AllReduce, Bcast};
    let known = &entry.communicator;
    let number = machine.count(Counted::Collectives(known.id));
    let brings = match (has_operation(entry.kind), &buffers.sent) {
        (true, Some(sent)) if !exchange::is_exact(machine, sent) => None,
        (_, sent) => sent.as_ref(),
    };
    let numbers = exchange::exchange(machine, known, entry.kind, brings, gets(entry), operation);
    let taken = buffers.taken.as_ref()?;
    let path = taken.path.clone()?;
    let old = machine.peek(&path);
    if let Some(numbers) = numbers.filter(|_| !taken.is_view)
        && let Some(placed) = exchange::placed(machine, &old, &numbers)
    {
        return Some((path, placed));
    }
    let is_uniform = matches!(entry.kind, Bcast | AllGather | AllGatherv | AllReduce);
    let name = number
        .filter(|_| is_uniform)
        .map(|number| format!("{} {number} on communicator {}", entry.kind.name(), known.id));
    let new = shaped(machine, &old, &mut |machine, position, ty| match &name {
        Some(name) => machine.uniform(&format!("{name}, element {position}"), ty),
        None => machine.fresh(ty),
    });
    if entry.kind == Bcast && entry.root.is_here(known) {
        shared(machine, &old, &new);
    }
    Some((path, new))
}

/// All ranks have what the root has sent them: the same, wherever the root has it from.
fn shared(machine: &mut Machine<'_>, sent: &Value, received: &Value) {
    match (sent, received) {
        (Value::Sequence(sent), Value::Sequence(received)) => {
            match (&sent.items, &received.items) {
                (Items::Each(sent), Items::Each(received)) => {
                    sent.iter()
                        .zip(&**received)
                        .for_each(|(one, other)| shared(machine, one, other));
                }
                (Items::Alike(one, _), Items::Alike(other, _)) => shared(machine, one, other),
                _ => {}
            }
        }
        (Value::Defined { fields: sent, .. }, Value::Defined { fields: received, .. }) => {
            sent.iter().zip(&**received).for_each(|(one, other)| shared(machine, one, other));
        }
        _ => machine.state.mpi.share(sent, received),
    }
}

/// `SystemOperation::sum()`, `UserOperation::commutative(..)`
pub(super) fn operation(owner: &str, name: &str) -> Value {
    let name = (owner == "SystemOperation").then(|| name.into());
    Value::Handle(Handle::Operation(name))
}

fn operation_name(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Rc<str>> {
    match machine.behind(value, place) {
        Value::Handle(Handle::Operation(name)) => name,
        _ => None,
    }
}

/// `reduce_local_into`: between two buffers of one rank.
pub(super) fn reduce_local(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    let memory = Memory::of(machine, call.arguments.get(1)?, call.place);
    if let Some(result) = memory.arriving(machine) {
        machine.write(&result.0, result.1.clone(), call.place);
    }
    Some(Ok(Value::unit()))
}

/// Enters a collective that makes something of the communicator, such as another communicator.
/// Gives its number there, and what all ranks tell, once they have.
pub(super) fn make(
    machine: &mut Machine<'_>,
    known: &KnownCommunicator,
    told: Told,
    place: Place,
) -> Outcome<(Option<u64>, Option<Vec<Told>>)> {
    let collective = Collective::of(CollectiveKind::MakeCommunicator, known.id);
    machine.emit(Action::Collective(collective), place)?;
    let number = machine.count(Counted::Collectives(known.id));
    Ok((number, machine.exchange(known, told)))
}

/// `spawn`: the processes that it starts have a program of their own.
fn spawn(
    machine: &mut Machine<'_>,
    known: KnownCommunicator,
    root: Root,
    call: &Call<'_>,
) -> Outcome {
    let why = "what the processes that it starts do is not looked at";
    machine.understood(call.place, Understood::Partly(why.to_owned()));
    let collective = Collective {
        root: world_root(&known, root),
        ..Collective::of(CollectiveKind::Spawn, known.id)
    };
    machine.emit(Action::Collective(collective), call.place)?;
    machine.count(Counted::Collectives(known.id));
    exchange::exchange(machine, &known, CollectiveKind::Spawn, None, Gets::Nothing, None);
    let communicator = Communicator::unknown("the processes that were started");
    Ok(Value::ok(super::state::communicator(communicator)))
}
