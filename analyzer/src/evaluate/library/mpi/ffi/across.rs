//! MPI's collective functions on inter-communicators: what one group brings, the other gets (MPI 3.1,
//! 5.2.2 and 5.2.3).

use std::rc::Rc;

use p2p_protocol::model::{Argument, Collective, CollectiveKind, HandleKind, HandleState};

use super::super::collective::{self, Buffers, Entry, Root};
use super::super::exchange::{self, placed};
use super::super::memory::shaped;
use super::between::united;
use super::collectives::{Memories, Side, Used, finish, used};
use super::constants::{PROC_NULL, ROOT};
use super::invocation::Invocation;
use super::operations::operation;
use crate::evaluate::handle::KnownCommunicator;
use crate::evaluate::machine::{Machine, Outcome, Told};
use crate::evaluate::state::Counted;
use crate::evaluate::value::{Path, Value};

/// A rank's part in a collective between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Across {
    /// There is no root: all bring and take.
    All,
    /// It is the root (`MPI_ROOT`).
    Root,
    /// It is in the root's group (`MPI_PROC_NULL`): it neither brings nor takes.
    Nobody,
    /// The root is this one of the world's, of the other group.
    Other(u32),
}

impl Across {
    /// As a number that the others are told.
    fn told(self) -> i128 {
        match self {
            Across::All | Across::Other(_) => 0,
            Across::Root => 1,
            Across::Nobody => 2,
        }
    }
}

/// What all ranks of both groups tell of themselves.
struct AllTold {
    ranks: Rc<[u32]>,
    told: Vec<Told>,
}

impl AllTold {
    /// Who of a group says that it is the root.
    fn root(&self, group: &[u32]) -> Option<u32> {
        let said = self.ranks.iter().zip(&self.told).find(|(rank, told)| {
            let Told::Numbers(told) = told else { return false };
            group.contains(rank) && told.first() == Some(&Some(Across::Root.told()))
        });
        said.map(|(rank, _)| *rank)
    }

    /// The numbers that a rank brings.
    fn brought(&self, kind: CollectiveKind, rank: u32) -> Option<Vec<i128>> {
        let at = self.ranks.iter().position(|other| *other == rank)?;
        let Told::Numbers(told) = self.told.get(at)? else { return None };
        exchange::numbers(kind, Told::Numbers(told.get(1..)?.to_vec()))
    }
}

/// A rank's call of a collective on a communicator of two groups.
pub(super) fn enter(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    (kind, memories): (CollectiveKind, Memories),
    (known, is_immediate): (KnownCommunicator, bool),
) -> Outcome<()> {
    let remote = known.remote.clone().unwrap_or_default();
    check_kind(machine, asked, kind)?;
    let across = part(machine, asked, &remote)?;
    let size = u32::try_from(remote.len()).unwrap_or(u32::MAX);
    let side = Side { kind, root: Root::None, size, here: known.rank, across: Some(across) };
    let mut used = match across {
        Across::Nobody => Used::default(),
        _ => used(machine, asked, memories, &side)?,
    };
    used.is_only_read = kind == CollectiveKind::Bcast && across == Across::Root;
    let operation = operation(machine, asked, used.datatype.as_ref())?;
    let buffers = used.buffers(&side);
    let entry = Entry { kind, communicator: known, root: Root::None };
    collective::understood(machine, &entry, &buffers, asked.place());
    let all = tell(machine, &entry, &buffers, across);
    let Some(all) = all else { return Err(machine.untold(asked.place())) };
    let root = match across {
        Across::All => None,
        Across::Root => Some(machine.rank()),
        Across::Other(root) => Some(root),
        Across::Nobody => match all.root(entry.communicator.members.each()) {
            Some(root) => Some(root),
            None => {
                return Err(asked.lost(machine, "which rank of its group is the root is not known"));
            }
        },
    };
    let entered = Collective {
        root: root.and_then(|root| i32::try_from(root).ok()),
        data: data(machine, kind, &buffers),
        operation: operation.as_deref().map(|name| collective::operation_id(machine, name)),
        ..Collective::of(kind, entry.communicator.id)
    };
    let result = result(machine, &entry, (&buffers, operation.as_deref()), (&all, across));
    used.touch(machine, asked);
    finish(machine, asked, (entered, &used), result, is_immediate)
}

/// MPI ends the job where an operation is for one group only.
fn check_kind(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    kind: CollectiveKind,
) -> Outcome<()> {
    use CollectiveKind as Kind;
    match kind {
        Kind::Scan | Kind::Exscan => {
            let at = asked.position("comm").unwrap_or_default();
            let (kind, state) = (HandleKind::Communicator, HandleState::Unfit);
            asked.fails(machine, at, Argument::Handle { kind, state })
        }
        Kind::Barrier
        | Kind::Bcast
        | Kind::Gather
        | Kind::Gatherv
        | Kind::Scatter
        | Kind::Scatterv
        | Kind::AllGather
        | Kind::AllGatherv
        | Kind::AllToAll
        | Kind::AllToAllv
        | Kind::AllToAllw
        | Kind::Reduce
        | Kind::AllReduce => Ok(()),
        _ => Err(asked.lost(machine, "what it does between two groups is not followed")),
    }
}

/// What the argument `root` makes of this rank.
fn part(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, remote: &[u32]) -> Outcome<Across> {
    let Some(at) = asked.position("root") else { return Ok(Across::All) };
    match asked.number(machine, at) {
        Some(ROOT) => Ok(Across::Root),
        Some(PROC_NULL) => Ok(Across::Nobody),
        Some(root) => {
            let named = usize::try_from(root).ok().and_then(|root| remote.get(root));
            if named.is_none() {
                let root = i32::try_from(root).unwrap_or(-1);
                asked.fails(machine, at, Argument::Root(root))?;
            }
            Ok(named.map_or(Across::Nobody, |root| Across::Other(*root)))
        }
        None => Err(asked.lost(machine, "its root is not known here")),
    }
}

/// Tells both groups what this rank is and brings.
fn tell(
    machine: &mut Machine<'_>,
    entry: &Entry,
    buffers: &Buffers,
    across: Across,
) -> Option<AllTold> {
    use CollectiveKind::{AllReduce, Bcast, Reduce};
    let known = &entry.communicator;
    let ranks = united(known.members.each(), known.remote.as_deref().unwrap_or_default());
    let members = ranks.clone().into();
    let met = KnownCommunicator { members, remote: None, ..known.clone() };
    let brings = buffers.sent.as_ref().filter(|sent| match entry.kind {
        Bcast => true,
        Reduce | AllReduce => exchange::is_exact(machine, sent),
        _ => false,
    });
    let mut mine = vec![Some(across.told())];
    if let Told::Numbers(numbers) = exchange::contribution(machine, entry.kind, brings).told() {
        mine.extend(numbers);
    }
    let told = machine.exchange(&met, Told::Numbers(mine))?;
    Some(AllTold { ranks, told })
}

/// What a rank brings, or has room for, where that is the same for all that do.
fn data(
    machine: &mut Machine<'_>,
    kind: CollectiveKind,
    buffers: &Buffers,
) -> Option<p2p_protocol::model::Data> {
    use CollectiveKind::{AllReduce, Bcast, Reduce};
    let memory = buffers.sent.as_ref().or(buffers.taken.as_ref());
    match kind {
        Bcast | Reduce | AllReduce => Some(memory?.data(machine)),
        _ => None,
    }
}

/// What is in the buffer afterwards.
fn result(
    machine: &mut Machine<'_>,
    entry: &Entry,
    (buffers, operation): (&Buffers, Option<&str>),
    (all, across): (&AllTold, Across),
) -> Option<(Path, Value)> {
    use CollectiveKind::{AllReduce, Bcast, Reduce};
    let known = &entry.communicator;
    let number = machine.count(Counted::Collectives(known.id));
    let taken = buffers.taken.as_ref()?;
    let path = taken.path.clone()?;
    let old = machine.peek(&path);
    if across == Across::Root && entry.kind == Bcast {
        return Some((path, old));
    }
    let remote = known.remote.as_deref()?;
    let numbers = match (entry.kind, across) {
        (Bcast, Across::Other(root)) => all.brought(entry.kind, root),
        (Reduce | AllReduce, _) => {
            let each: Vec<_> = remote.iter().map(|rank| all.brought(entry.kind, *rank)).collect();
            exchange::combined(&each, operation)
        }
        _ => None,
    };
    if let Some(numbers) = numbers.filter(|_| !taken.is_view)
        && let Some(placed) = placed(machine, &old, &numbers)
    {
        return Some((path, placed));
    }
    // All of a group get the same, and who gets it is in one group.
    let is_alike = matches!(entry.kind, Bcast | CollectiveKind::AllGather | AllReduce);
    let from = remote.first().copied().unwrap_or_default();
    let name = number.filter(|_| is_alike).map(|number| {
        format!("{} {number} on communicator {}, from rank {from}", entry.kind.name(), known.id)
    });
    let new = shaped(machine, &old, &mut |machine, position, ty| match &name {
        Some(name) => machine.uniform(&format!("{name}, element {position}"), ty),
        None => machine.fresh(ty),
    });
    Some((path, new))
}
