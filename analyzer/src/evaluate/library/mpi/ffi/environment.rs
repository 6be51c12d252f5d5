//! MPI's functions for its own start and end, its memory, and what it tells of itself.

use std::rc::Rc;

use p2p_protocol::model::{Action, Argument, Departure, HandleKind, Phase};

use super::super::state;
use super::constants::{ERRORS_RETURN, is_predefined_attribute};
use super::handles::{create, release};
use super::invocation::Invocation;
use super::messages::truth;
use super::span;
use super::topology::forget_results;
use crate::evaluate::Understood;
use crate::evaluate::bytes::UNTYPED;
use crate::evaluate::handle::{Datatype, Group, Handle};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Path, Value};
use crate::program::{Scalar, Type};

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Init" | "Init_thread" => initialize(machine, asked),
        "Finalize" => finalize(machine, asked),
        "Initialized" => {
            let answer = match (machine.state.mpi.is_initialized, machine.state.mpi.in_main) {
                (true, _) => truth(true),
                (false, true) => truth(false),
                // A library's function may be called at any time; most of all in between.
                (false, false) => truth(true),
            };
            asked.put(machine, 0, answer);
            Ok(())
        }
        "Finalized" => {
            let answer = truth(machine.state.mpi.is_finalized);
            asked.put(machine, 0, answer);
            Ok(())
        }
        "Abort" => Err(machine.leave(Departure::Aborted, asked.place())),
        "Buffer_attach" => attach(machine, asked),
        "Buffer_detach" => detach(machine, asked),
        "Comm_set_errhandler" | "Errhandler_set" => {
            if matches!(asked.handle(machine, 1), Some(Handle::Other(ERRORS_RETURN))) {
                machine.state.mpi.returns_errors = true;
            }
            Ok(())
        }
        "Comm_get_attr" | "Attr_get" | "Win_get_attr" => attribute(machine, asked),
        "Op_create" => {
            let kind = HandleKind::Operation;
            create(machine, asked, kind).map(|made| {
                asked.put(machine, 2, Value::Handle(Handle::Object(kind, Some(made))));
            })
        }
        "Op_free" => release(machine, asked, HandleKind::Operation),
        "Info_free" => {
            asked.put(machine, 0, Value::Handle(Handle::Null(HandleKind::Info)));
            Ok(())
        }
        "Errhandler_free" => {
            asked.put(machine, 0, Value::Handle(Handle::Null(HandleKind::ErrorHandler)));
            Ok(())
        }
        "Alloc_mem" => {
            if let Some(size) = asked.argument(0) {
                allocate(machine, asked, size, 2);
            }
            Ok(())
        }
        "Free_mem" => Ok(()),
        "Group_from_session_pset" => {
            let made = Handle::Group(Group { members: None, made: None });
            asked.put(machine, 2, Value::Handle(made));
            Ok(())
        }
        _ => return None,
    };
    Some(outcome)
}

/// Memory of so many bytes, whose address is put where an argument leads to. Gives where it is.
pub(super) fn allocate(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    size: &Value,
    argument: usize,
) -> Path {
    let memory = Value::Variant(UNTYPED, Rc::new(vec![size.clone()]));
    let path = machine.allocate(memory);
    let target = asked.target(machine, argument).map(|target| machine.peek(&target));
    if let Some(Type::Reference(element)) = target.map(|old| machine.type_of(&old))
        && *element != Type::Unknown
    {
        machine.give_type(&path, &element);
    }
    asked.put(machine, argument, Value::Reference(path.clone()));
    path
}

/// What a call writes is not known, but what kind of thing it is.
pub(super) fn write_unknown(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) {
    for (number, argument) in asked.function.arguments.iter().enumerate() {
        if !argument.is_written {
            continue;
        }
        let handle = match argument.what {
            "info" => Handle::Object(HandleKind::Info, None),
            "errhandler" => Handle::Object(HandleKind::ErrorHandler, None),
            "file" => Handle::Object(HandleKind::File, None),
            "datatype" => Handle::Datatype(Datatype::of(None)),
            _ => {
                asked.forget(machine, number);
                continue;
            }
        };
        asked.put(machine, number, Value::Handle(handle));
    }
}

/// What a call returns.
pub(super) fn returned(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Value {
    let number = |machine: &mut Machine<'_>, argument| asked.number(machine, argument);
    match asked.name {
        "Wtime" | "Wtick" => machine.fresh(Type::Scalar(Scalar::F64)),
        "Aint_add" | "Aint_diff" => {
            let sign = if asked.name == "Aint_add" { 1 } else { -1 };
            match number(machine, 0).zip(number(machine, 1)) {
                Some((one, two)) => Value::integer(one + sign * two, Scalar::I64),
                None => machine.fresh(Type::Scalar(Scalar::I64)),
            }
        }
        name if name.ends_with("_f2c") && name != "Status_f2c" => machine.fresh(Type::Unknown),
        name if name.ends_with("_c2f") && name != "Status_c2f" => {
            machine.fresh(Type::Scalar(Scalar::I32))
        }
        _ if asked.has_failed() => state::rank(ERROR),
        _ => state::rank(0),
    }
}

/// The code of an error: any but `MPI_SUCCESS` would do.
const ERROR: i128 = 6;

/// `(argc, argv[, required, provided])`: MPI is taken to provide what is asked for.
fn initialize(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    machine.state.mpi.is_initialized = true;
    machine.state.mpi.is_surely_initialized = true;
    let program = machine.program;
    let is_seen = || *machine.effects.end_is_seen.get_or_init(|| span::end_is_seen(program));
    if machine.is_c() && is_seen() {
        machine.emit(Action::Initialize, asked.place())?;
    }
    if asked.name == "Init_thread" {
        let provided = match asked.number(machine, 2) {
            Some(required) => state::rank(required),
            None => machine.fresh(Type::Scalar(Scalar::I32)),
        };
        asked.put(machine, 3, provided);
    }
    Ok(())
}

fn finalize(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    machine.state.mpi.is_finalized = true;
    match machine.is_c() {
        true => machine.emit(Action::Finalize, asked.place()),
        false => Ok(()),
    }
}

/// Says it where a call is made before MPI begins or after it has ended. MPI ends the job there.
pub(super) fn check_time(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let mpi = &machine.state.mpi;
    if !machine.is_c() || is_always_allowed(asked.name) {
        return Ok(());
    }
    let is_init = asked.name.starts_with("Init");
    let phase = match (mpi.is_initialized, mpi.is_finalized) {
        (_, true) => Phase::AfterFinalize,
        (false, false) if mpi.in_main && !is_init && span::beginning_is_seen(machine.program) => {
            Phase::BeforeInitialize
        }
        (true, false) if is_init && mpi.is_surely_initialized => Phase::Again,
        _ => return Ok(()),
    };
    let call = machine.call_name(asked.full_name);
    machine.emit(Action::Outside { call, phase }, asked.place())?;
    machine.understood(asked.place(), Understood::Fully);
    Err(machine.leave(Departure::Aborted, asked.place()))
}

/// Whether a call may be made at any time (MPI 4.0, 11.4.1).
fn is_always_allowed(name: &str) -> bool {
    matches!(name, "Initialized" | "Finalized" | "Get_version" | "Get_library_version" | "Pcontrol")
        || name.starts_with("Info_")
        || name.starts_with("Session_")
        || name.starts_with("T_")
        || name.contains("rrhandler")
        || name.starts_with("Error_")
        || name.starts_with("Add_error")
        || matches!(name, "Wtime" | "Wtick")
}

/// `(buffer, bytes)`
fn attach(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let bytes = asked.number(machine, 1);
    machine.understood(asked.place(), Understood::Fully);
    if let Some(negative) = bytes.filter(|bytes| *bytes < 0) {
        let negative = i64::try_from(negative).unwrap_or(i64::MIN);
        asked.fails(machine, 1, Argument::Count(negative))?;
    }
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    let path = asked.argument(0).and_then(|pointer| machine.pointer(pointer));
    let has = path.and_then(|path| machine.room(&path).bytes);
    if let (Some(needs), Some(has), true) = (bytes, has, machine.is_c())
        && needs > has
    {
        asked.fact(machine, 0, Argument::Room { needs, has })?;
    }
    machine.emit(Action::AttachBuffer { bytes }, asked.place())
}

fn detach(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    machine.understood(asked.place(), Understood::Fully);
    machine.emit(Action::DetachBuffer, asked.place())?;
    forget_results(machine, asked);
    Ok(())
}

/// `(object, key, where the value's address is put, whether there is one)`: MPI's own attributes are
/// numbers, the same on every rank.
fn attribute(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let key = asked.number(machine, 1).filter(|key| is_predefined_attribute(*key));
    let Some(key) = key.filter(|_| asked.name != "Win_get_attr") else {
        forget_results(machine, asked);
        return Ok(());
    };
    let name = format!("attribute {key} of MPI");
    let value = machine.uniform(&name, Type::Scalar(Scalar::I32));
    let memory = Value::Reference(machine.allocate(value));
    asked.put(machine, 2, memory);
    asked.put(machine, 3, truth(true));
    Ok(())
}
