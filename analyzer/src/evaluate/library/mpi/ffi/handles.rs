//! Objects of MPI that a program makes and frees, and what is the matter with the handles that calls
//! are handed.

use std::collections::BTreeSet;
use std::rc::Rc;

use p2p_protocol::model::{Action, Argument, HandleId, HandleKind, HandleState};

use super::invocation::Invocation;
use super::table::Effect;
use crate::evaluate::handle::Handle;
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::Place;

/// The objects of one rank.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Handles {
    live: Rc<BTreeSet<HandleId>>,
    /// Datatypes that were not committed.
    uncommitted: Rc<BTreeSet<HandleId>>,
    /// Objects that may have been freed where it was not known which one was.
    doubtful: Rc<BTreeSet<HandleId>>,
}

impl Handles {
    /// Whether an object was made and not freed.
    pub(super) fn is_live(&self, handle: HandleId) -> bool {
        self.live.contains(&handle)
    }

    /// Whether a datatype was not committed.
    pub(super) fn is_uncommitted(&self, handle: HandleId) -> bool {
        self.uncommitted.contains(&handle)
    }

    /// A datatype is committed.
    pub(super) fn commit(&mut self, handle: HandleId) {
        if self.is_uncommitted(handle) {
            Rc::make_mut(&mut self.uncommitted).remove(&handle);
        }
    }

    /// The lowest number that no object has: what is made and freed again in each turn of a loop has
    /// the same one each time.
    fn make(&mut self, is_committed: bool) -> HandleId {
        let live = Rc::make_mut(&mut self.live);
        let count = live.len() as HandleId;
        let has_gap = live.last().is_some_and(|last| *last >= count);
        let gap = || (0..).zip(live.iter()).find(|(number, used)| number != *used);
        let free = if has_gap { gap().map_or(count, |(number, _)| number) } else { count };
        live.insert(free);
        if self.doubtful.contains(&free) {
            Rc::make_mut(&mut self.doubtful).remove(&free);
        }
        if !is_committed {
            Rc::make_mut(&mut self.uncommitted).insert(free);
        }
        free
    }

    fn free(&mut self, handle: HandleId) {
        Rc::make_mut(&mut self.live).remove(&handle);
        self.commit(handle);
    }

    /// One of the objects is freed, and it is not known which: those of which this is news.
    fn free_any(&mut self) -> Vec<HandleId> {
        let news: Vec<_> = self.live.difference(&self.doubtful).copied().collect();
        if !news.is_empty() {
            Rc::make_mut(&mut self.doubtful).extend(news.iter().copied());
        }
        news
    }

    /// Where two ways come together: what may be there is, and what may be ready is.
    pub(in super::super) fn join(&mut self, other: &Handles) {
        if !Rc::ptr_eq(&self.live, &other.live) && self.live != other.live {
            Rc::make_mut(&mut self.live).extend(other.live.iter());
        }
        if self.uncommitted != other.uncommitted {
            Rc::make_mut(&mut self.uncommitted).retain(|it| other.uncommitted.contains(it));
        }
        if self.doubtful != other.doubtful {
            Rc::make_mut(&mut self.doubtful).retain(|it| other.doubtful.contains(it));
        }
    }
}

/// An object comes to be.
pub(super) fn create(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    kind: HandleKind,
) -> Outcome<HandleId> {
    let handle = machine.state.mpi.handles.make(kind != HandleKind::Datatype);
    // What Rust makes of it may be freed where it is dropped.
    if machine.is_c() {
        let call = machine.call_name(asked.full_name);
        machine.emit(Action::Create { call, kind, handle }, asked.place())?;
    }
    Ok(handle)
}

/// `MPI_Comm_free` and kin: the object is gone, and the variable holds the null handle.
pub(super) fn release(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    kind: HandleKind,
) -> Outcome<()> {
    if let Some(handle) = asked.handle(machine, 0) {
        match made(&handle) {
            Some(made) => {
                if machine.is_c() {
                    machine.emit(Action::Release { handle: made }, asked.place())?;
                }
                machine.state.mpi.handles.free(made);
            }
            None if is_predefined(machine, &handle) => {
                asked.fails(machine, 0, Argument::Handle { kind, state: HandleState::Unfit })?;
            }
            None => {}
        }
    } else {
        may_free_any(machine, asked.place())?;
    }
    asked.put(machine, 0, Value::Handle(Handle::Null(kind)));
    Ok(())
}

/// Objects are freed, and it is not known which: none of those that are there is said to be left.
pub(in crate::evaluate) fn may_free_any(machine: &mut Machine<'_>, place: Place) -> Outcome<()> {
    if machine.is_c() {
        for handle in machine.state.mpi.handles.free_any() {
            machine.emit(Action::Release { handle }, place)?;
        }
    }
    Ok(())
}

/// Whether a handle stands for something that is there from the start, and must not be freed.
fn is_predefined(machine: &Machine<'_>, handle: &Handle) -> bool {
    match handle {
        // A function that is looked at by itself may be handed any other one in its place.
        Handle::Communicator(communicator) => {
            let is_world = communicator.known.as_ref().is_some_and(|known| known.id == 0);
            is_world && machine.state.mpi.in_main || &*communicator.name == "self"
        }
        Handle::Datatype(datatype) => datatype.signature.is_some() && datatype.layout.is_some(),
        Handle::Operation(Some(_)) => true,
        _ => false,
    }
}

/// The number of the object that a handle stands for, where the program has made it.
fn made(handle: &Handle) -> Option<HandleId> {
    match handle {
        Handle::Communicator(communicator) => communicator.made,
        Handle::Datatype(datatype) => datatype.made,
        Handle::Group(group) => group.made,
        Handle::Window(window) => Some(window.made),
        Handle::Object(_, made) => *made,
        _ => None,
    }
}

/// The handle in a variable of this type that was never set.
pub(in crate::evaluate) fn never_set(ty: &str) -> Option<Handle> {
    let name = match ty {
        "MPI_Comm" => "MPI_Comm",
        "MPI_Datatype" => "MPI_Datatype",
        "MPI_Group" => "MPI_Group",
        "MPI_Message" => "MPI_Message",
        "MPI_Op" => "MPI_Op",
        "MPI_Request" => "MPI_Request",
        "MPI_Win" => "MPI_Win",
        _ => return None,
    };
    Some(Handle::Other(name))
}

/// Whether a handle comes from a variable that was never set.
pub(super) fn was_never_set(handle: &Handle) -> bool {
    matches!(handle, Handle::Other(name) if never_set(name).is_some())
}

/// The kind of handle that an argument is.
fn kind(what: &str) -> Option<HandleKind> {
    Some(match what {
        "comm" => HandleKind::Communicator,
        "datatype" => HandleKind::Datatype,
        "op" => HandleKind::Operation,
        "win" => HandleKind::Window,
        "group" => HandleKind::Group,
        "info" => HandleKind::Info,
        "errhandler" => HandleKind::ErrorHandler,
        _ => return None,
    })
}

/// Looks at the handles that a call is handed, and at where it is to put new ones. MPI ends the job where
/// one of them stands for nothing.
pub(super) fn check(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    for (number, argument) in asked.function.arguments.iter().enumerate() {
        let is_kept = argument.what == "request" || kind(argument.what).is_some();
        let is_result = argument.is_written && (is_kept || argument.parameter == "flag");
        if is_result && machine.is_c() && asked.is_null_pointer(machine, number) {
            asked.fails(machine, number, Argument::NullBuffer)?;
        }
        let Some(kind) = kind(argument.what).filter(|_| argument.is_read) else { continue };
        let Some(handle) = asked.handle(machine, number) else { continue };
        let state = match &handle {
            Handle::Null(null)
                if *null == kind && !may_be_null(asked, kind, argument.parameter) =>
            {
                HandleState::Null
            }
            unset if was_never_set(unset) && !may_be_null(asked, kind, argument.parameter) => {
                HandleState::Uninitialized
            }
            Handle::Null(null) if *null != kind && may_be_null(asked, kind, argument.parameter) => {
                continue;
            }
            // Another null handle is no handle of this kind either.
            Handle::Null(null) if *null != kind => HandleState::Unfit,
            other => match made(other) {
                Some(made) if !machine.state.mpi.handles.is_live(made) => HandleState::Freed,
                _ => continue,
            },
        };
        asked.fails(machine, number, Argument::Handle { kind, state })?;
    }
    Ok(())
}

/// Whether a call takes the null handle.
fn may_be_null(asked: &Invocation<'_, '_>, kind: HandleKind, parameter: &str) -> bool {
    match kind {
        HandleKind::Info => !asked.name.starts_with("Info_"),
        // What matters only at some ranks is looked at there.
        HandleKind::Datatype => {
            asked.function.effect != Effect::Local
                || asked.name.starts_with("Pack")
                || asked.name.starts_with("Unpack")
                || asked.name.starts_with("Get_")
        }
        HandleKind::Operation => asked.function.effect != Effect::Local,
        HandleKind::Communicator => {
            matches!(parameter, "peer_comm") || matches!(asked.name, "Abort" | "Comm_disconnect")
        }
        HandleKind::ErrorHandler => false,
        HandleKind::Group | HandleKind::Window => false,
        _ => true,
    }
}
