//! MPI's collective functions.

use p2p_protocol::model::{Action, Collective, CollectiveKind, Data};

use super::super::memory::Memory;
use super::super::state::integer;
use super::super::{collective, communicator, lost, state};
use super::{UNDEFINED, known, memory, number, put};
use crate::evaluate::Understood;
use crate::evaluate::alike::Number;
use crate::evaluate::handle::{Communicator, Handle, KnownCommunicator, Request};
use crate::evaluate::machine::{Call, Machine, Outcome, Told};
use crate::evaluate::state::Counted;
use crate::evaluate::value::{Content, Value};

/// Where a collective's arguments stand.
struct Shape {
    kind: CollectiveKind,
    communicator: usize,
    root: Option<usize>,
    /// The memory whose type and amount must agree: pointer, count, datatype.
    brought: Option<[usize; 3]>,
    /// The memory that is written.
    taken: Option<[usize; 3]>,
    operation: Option<usize>,
    /// Whether an amount is a number; it is an array where each rank has its own.
    counted: bool,
}

/// Calls one of these functions by its name without `MPI_`. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    operation: &str,
    call: &Call<'_>,
) -> Option<Outcome<()>> {
    if let Some(made) = makes(machine, operation, call) {
        return Some(made);
    }
    let lowered = operation.strip_prefix('I').map(capitalized);
    let (shape, is_immediate) = match (shape(operation), lowered.as_deref().and_then(shape)) {
        (Some(shape), _) => (shape, false),
        (None, Some(shape)) => (shape, true),
        (None, None) => return None,
    };
    Some(enter(machine, &shape, is_immediate, call))
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn shape(operation: &str) -> Option<Shape> {
    use CollectiveKind::{
        AllGather, AllGatherv, AllReduce, AllToAll, AllToAllv, Barrier, Bcast, Exscan, Gather,
        Gatherv, NeighborAllGather, NeighborAllToAll, Reduce, ReduceScatterBlock, Scan, Scatter,
        Scatterv,
    };
    let of = |kind, communicator, root, brought, taken, operation, counted| Shape {
        kind,
        communicator,
        root,
        brought,
        taken,
        operation,
        counted,
    };
    Some(match operation {
        "Barrier" => of(Barrier, 0, None, None, None, None, false),
        "Bcast" => of(Bcast, 4, Some(3), Some([0, 1, 2]), Some([0, 1, 2]), None, true),
        "Gather" => of(Gather, 7, Some(6), Some([0, 1, 2]), Some([3, 4, 5]), None, true),
        "Scatter" => of(Scatter, 7, Some(6), Some([3, 4, 5]), Some([3, 4, 5]), None, true),
        "Gatherv" => of(Gatherv, 8, Some(7), Some([0, 1, 2]), Some([3, 4, 6]), None, false),
        "Scatterv" => of(Scatterv, 8, Some(7), Some([4, 5, 6]), Some([4, 5, 6]), None, false),
        "Allgather" => of(AllGather, 6, None, Some([0, 1, 2]), Some([3, 4, 5]), None, true),
        "Allgatherv" => of(AllGatherv, 7, None, Some([0, 1, 2]), Some([3, 4, 6]), None, false),
        "Alltoall" => of(AllToAll, 6, None, Some([0, 1, 2]), Some([3, 4, 5]), None, true),
        "Alltoallv" => of(AllToAllv, 8, None, Some([0, 1, 3]), Some([4, 5, 7]), None, false),
        "Reduce" => of(Reduce, 6, Some(5), Some([0, 2, 3]), Some([1, 2, 3]), Some(4), true),
        "Allreduce" => of(AllReduce, 5, None, Some([0, 2, 3]), Some([1, 2, 3]), Some(4), true),
        "Scan" => of(Scan, 5, None, Some([0, 2, 3]), Some([1, 2, 3]), Some(4), true),
        "Exscan" => of(Exscan, 5, None, Some([0, 2, 3]), Some([1, 2, 3]), Some(4), true),
        "Reduce_scatter_block" => {
            of(ReduceScatterBlock, 5, None, Some([0, 2, 3]), Some([1, 2, 3]), Some(4), true)
        }
        "Neighbor_allgather" => of(NeighborAllGather, 6, None, None, Some([3, 4, 5]), None, false),
        "Neighbor_alltoall" => of(NeighborAllToAll, 6, None, None, Some([3, 4, 5]), None, false),
        "Neighbor_allgatherv" => {
            of(CollectiveKind::NeighborAllGatherv, 7, None, None, Some([3, 4, 6]), None, false)
        }
        "Neighbor_alltoallv" => {
            of(CollectiveKind::NeighborAllToAllv, 8, None, None, Some([4, 5, 7]), None, false)
        }
        _ => return None,
    })
}

fn part(machine: &mut Machine<'_>, at: Option<[usize; 3]>, call: &Call<'_>) -> Option<Memory> {
    let [pointer, count, datatype] = at?;
    let argument = |number: usize| call.arguments.get(number);
    Some(memory(machine, argument(pointer), argument(count), argument(datatype), call.place))
}

fn enter(
    machine: &mut Machine<'_>,
    shape: &Shape,
    is_immediate: bool,
    call: &Call<'_>,
) -> Outcome<()> {
    let (_, known) = known(machine, call.arguments.get(shape.communicator), call)?;
    let root = root(machine, shape, &known, call)?;
    let brought = part(machine, shape.brought, call);
    let taken = part(machine, shape.taken, call);
    let gap = brought.as_ref().and_then(|memory| memory.gap(shape.counted));
    machine.understood(
        call.place,
        gap.map_or(Understood::Fully, |gap| Understood::Partly(gap.to_owned())),
    );
    let data = match (&brought, shape.counted) {
        // `MPI_IN_PLACE` is no memory, and what is said of it is not looked at.
        (Some(memory), _) if moves_parts(shape.kind) && memory.path.is_none() => None,
        (Some(memory), true) => Some(memory.amount(machine, memory.count)),
        (Some(memory), false) => Some(memory.amount(machine, None)),
        (None, _) => None,
    };
    let room = taken.as_ref().and_then(|taken| room(machine, shape.kind, root, taken));
    let (kind, operation) = (shape.kind, operation(machine, shape, call));
    let collective = Collective { root, data, room, operation, ..Collective::of(kind, known.id) };
    machine.count(Counted::Collectives(known.id));
    machine.tell(known.id, Told::Nothing);
    let arrives = taken.as_ref().and_then(|memory| memory.arriving(machine));
    if !is_immediate {
        machine.emit(Action::Collective(collective), call.place)?;
        if let Some(arrived) = arrives {
            machine.put(&arrived.0, arrived.1.clone());
        }
        return Ok(());
    }
    let id = machine.new_request();
    machine.emit(Action::StartCollective { collective, request: id }, call.place)?;
    let buffer = taken.and_then(|memory| memory.path);
    if let Some(path) = &buffer {
        machine.begin_use(id, path, true);
    }
    let request = Request { arrives, ..Request::started(id, call.place, buffer) };
    if let Some(target) = call.arguments.last() {
        put(machine, target, Value::Handle(Handle::Request(Box::new(request))), call.place);
    }
    Ok(())
}

fn moves_parts(kind: CollectiveKind) -> bool {
    use CollectiveKind::{AllGather, AllToAll, Gather, Scatter};
    matches!(kind, AllGather | AllToAll | Gather | Scatter)
}

/// What a rank has room for from each, where that counts: of a gather, on its root.
fn room(
    machine: &mut Machine<'_>,
    kind: CollectiveKind,
    root: Option<i32>,
    taken: &Memory,
) -> Option<Data> {
    let counts = match kind {
        CollectiveKind::AllGather | CollectiveKind::AllToAll => true,
        CollectiveKind::Gather => root == i32::try_from(machine.rank()).ok(),
        _ => false,
    };
    (counts && taken.path.is_some()).then(|| taken.amount(machine, taken.count))
}

/// The root's rank in the world.
fn root(
    machine: &mut Machine<'_>,
    shape: &Shape,
    known: &KnownCommunicator,
    call: &Call<'_>,
) -> Outcome<Option<i32>> {
    let Some(root) = shape.root.and_then(|root| call.arguments.get(root)) else {
        return Ok(None);
    };
    let value = machine.behind(root, call.place);
    match state::content(&value) {
        Some(Content::Unknown(unknown)) if unknown.uniform => Ok(None),
        Some(content) if integer(&content).is_some() => {
            let rank = integer(&content).expect("asked in the guard");
            Ok(i32::try_from(known.member(rank.into()).map_or(rank, Number::get)).ok())
        }
        _ => Err(lost(machine, call.place, "its root is not known here")),
    }
}

fn operation(machine: &mut Machine<'_>, shape: &Shape, call: &Call<'_>) -> Option<u16> {
    let value = machine.behind(call.arguments.get(shape.operation?)?, call.place);
    match value {
        Value::Handle(Handle::Operation(Some(name))) => Some(machine.operation(&name)),
        _ => None,
    }
}

/// Functions that make communicators. Those that are not followed make one of which nothing is
/// known.
fn makes(machine: &mut Machine<'_>, operation: &str, call: &Call<'_>) -> Option<Outcome<()>> {
    matches!(
        operation,
        "Comm_dup"
            | "Comm_split"
            | "Comm_create"
            | "Comm_split_type"
            | "Cart_create"
            | "Cart_sub"
            | "Dist_graph_create_adjacent"
            | "Dist_graph_create"
            | "Graph_create"
    )
    .then(|| make(machine, operation, call))
}

fn make(machine: &mut Machine<'_>, operation: &str, call: &Call<'_>) -> Outcome<()> {
    let (of, known) = known(machine, call.arguments.first(), call)?;
    machine.understood(call.place, Understood::Fully);
    let made = match operation {
        "Comm_dup" => communicator::duplicate(machine, &of, &known, call.place)?,
        "Comm_split" => {
            let told = told_color(machine, call);
            match communicator::split(machine, &of, &known, told, call.place)? {
                Value::Variant("Some", held) => held[0].clone(),
                _ => Value::Handle(Handle::Other("MPI_Comm")),
            }
        }
        _ => {
            collective::make(machine, &known, Told::Nothing, call.place)?;
            let why = "which ranks the communicator has that it makes is not followed";
            machine.understood(call.place, Understood::Partly(why.to_owned()));
            state::communicator(Communicator::unknown(format!("part of {}", of.name)))
        }
    };
    if let Some(target) = call.arguments.last() {
        put(machine, target, made, call.place);
    }
    Ok(())
}

/// Whether a rank has a color, which, and its key: `(communicator, color, key, made)`.
fn told_color(machine: &mut Machine<'_>, call: &Call<'_>) -> Vec<Option<i128>> {
    let mut argument =
        |at: usize| call.arguments.get(at).and_then(|value| number(machine, value, call.place));
    match argument(1) {
        Some(UNDEFINED) => vec![Some(0), Some(0), argument(2)],
        color => vec![color.map(|_| 1), color, argument(2)],
    }
}
