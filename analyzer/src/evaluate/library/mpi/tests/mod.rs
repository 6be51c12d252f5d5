//! From the text of a program to what each rank does: every row of rsmpi's interface.
//!
//! Events are written in a short form of their own, so that a test reads like what it is about:
//! `send 1 #0 3 i32` is a standard send of three `i32` with tag 0 to rank 1.

mod c;
mod collectives;
mod communicators;
mod datatypes;
mod examples;
mod ffi;
mod messages;
mod requests;

use p2p_protocol::model::{Action, Collective, Completion, Data, Envelope, Mode, Peer, Tag, World};

use crate::evaluate::{Evaluated, Limits, Understood, evaluate};
use crate::program::{EntryKind, Program};

/// A program around the statements of its `main`, in which `world`, `rank` and `size` are known.
fn program(statements: &str) -> String {
    format!(
        "use mpi::traits::*;
         use mpi::point_to_point as p2p;
         use mpi::request::{{CancelGuard, WaitGuard}};
         use mpi::collective::SystemOperation;
         use mpi::datatype::{{MutView, Partition, PartitionMut, UserDatatype, View}};
         use mpi::topology::{{Color, SystemGroup}};
         use mpi::ffi;
         fn main() {{
             let mut universe = mpi::initialize().unwrap();
             let world = universe.world();
             let rank = world.rank();
             let size = world.size();
             {statements}
         }}"
    )
}

fn read(text: &str) -> Program {
    crate::read::rust::from_text(text).unwrap_or_else(|failure| panic!("{failure:?}\n{text}"))
}

/// What becomes of a program's `main` on so many ranks.
fn evaluated(text: &str, size: u32) -> Evaluated {
    let program = read(text);
    let main = program.entries.iter().find(|entry| entry.kind == EntryKind::Main);
    evaluate(&program, main.expect("there is a main"), size, Limits::default())
}

/// What every rank does, if the statements stand in `main`.
fn events(statements: &str, size: u32) -> Vec<Vec<String>> {
    ranks(&evaluated(&program(statements), size))
}

fn ranks(evaluated: &Evaluated) -> Vec<Vec<String>> {
    let (world, _) = evaluated.worlds.first().expect("there is a world");
    let line = |event: &p2p_protocol::model::Event| written(world, &event.action);
    world.behaviours.iter().map(|behaviour| behaviour.events.iter().map(line).collect()).collect()
}

/// What was not fully understood.
fn gaps(evaluated: &Evaluated) -> Vec<&str> {
    let why = evaluated.calls.iter().filter_map(|(_, understood)| match understood {
        Understood::Fully => None,
        Understood::Partly(why) | Understood::Not(why) => Some(why.as_str()),
    });
    why.collect()
}

/// Asserts what one rank does, and that all of it was understood.
#[track_caller]
fn does(statements: &str, size: u32, rank: usize, expected: &[&str]) {
    let evaluated = evaluated(&program(statements), size);
    assert_eq!(ranks(&evaluated)[rank], expected, "{statements}\n{:?}", evaluated.gaps);
    assert_eq!(gaps(&evaluated), Vec::<&str>::new(), "{statements}");
}

/// Asserts what every rank does.
#[track_caller]
fn all_do(statements: &str, expected: &[&[&str]]) {
    let size = u32::try_from(expected.len()).expect("few");
    assert_eq!(events(statements, size), expected, "{statements}");
}

fn written(world: &World, action: &Action) -> String {
    match action {
        Action::Send { mode, envelope } => format!("{} {}", sends(*mode), message(world, envelope)),
        Action::StartSend { mode, envelope, request } => {
            format!("i{} {} -> {request}", sends(*mode), message(world, envelope))
        }
        Action::PlanSend { mode, envelope, request } => {
            format!("plan {} {} -> {request}", sends(*mode), message(world, envelope))
        }
        Action::Receive { envelope, binds } => {
            format!("receive {}{}", message(world, envelope), bound(*binds))
        }
        Action::StartReceive { envelope, request, binds } => {
            format!("ireceive {}{} -> {request}", message(world, envelope), bound(*binds))
        }
        Action::PlanReceive { envelope, request } => {
            format!("plan receive {} -> {request}", message(world, envelope))
        }
        Action::Probe { envelope, binds } => {
            format!("probe {}{}", message(world, envelope), bound(*binds))
        }
        Action::SendReceive { send, receive } => {
            format!("send {} and receive {}", message(world, send), message(world, receive))
        }
        Action::Wait { requests, completion } => {
            let how = match completion {
                Completion::All => "all",
                Completion::Any(_) => "any",
                Completion::Some => "some",
            };
            format!("wait {how} {requests:?}")
        }
        Action::Collective(collective) => enters(world, collective),
        Action::StartCollective { collective, request } => {
            format!("i{} -> {request}", enters(world, collective))
        }
        Action::Start { requests } => format!("start {requests:?}"),
        Action::Cancel { request } => format!("cancel {request}"),
        Action::Free { request } => format!("free {request}"),
        Action::Access { requests, writes } => {
            format!("{} {requests:?}", if *writes { "write" } else { "read" })
        }
        Action::AttachBuffer { bytes: Some(bytes) } => format!("attach {bytes}"),
        Action::DetachBuffer => "detach".to_owned(),
        Action::Leave { departure } => format!("leave {departure:?}"),
        Action::Opaque => "opaque".to_owned(),
        other => format!("{other:?}"),
    }
}

fn sends(mode: Mode) -> &'static str {
    match mode {
        Mode::Standard => "send",
        Mode::Synchronous => "ssend",
        Mode::Buffered => "bsend",
        Mode::Ready => "rsend",
    }
}

fn bound(slot: Option<u16>) -> String {
    slot.map_or_else(String::new, |slot| format!(" as {slot}"))
}

fn message(world: &World, envelope: &Envelope) -> String {
    let peer = match envelope.peer {
        Peer::Rank(rank) => rank.to_string(),
        Peer::Any { .. } => "any".to_owned(),
        Peer::Source(slot) => format!("source {slot}"),
        Peer::Outside(rank) => rank.to_string(),
        Peer::Null => "nobody".to_owned(),
    };
    let tag = match envelope.tag {
        Tag::Exact(tag) if Tag::UNKNOWN.contains(&tag) => " #some".to_owned(),
        Tag::Exact(tag) => format!(" #{tag}"),
        Tag::Any => String::new(),
    };
    let on = match envelope.communicator {
        0 => String::new(),
        other => format!(" on {}", world.communicators[usize::from(other)].name),
    };
    format!("{peer}{tag}{}{on}", amount(world, &envelope.data))
}

fn amount(world: &World, data: &Data) -> String {
    let datatype = data.datatype.map(|datatype| &world.datatypes[usize::from(datatype)].signature);
    match (data.count, datatype) {
        (Some(count), Some(datatype)) => format!(" {count} {datatype}"),
        (None, Some(datatype)) => format!(" n {datatype}"),
        (Some(count), None) => format!(" {count}"),
        (None, None) => String::new(),
    }
}

fn enters(world: &World, collective: &Collective) -> String {
    let root = collective.root.map_or_else(String::new, |root| format!(" at {root}"));
    let data = collective.data.as_ref().map_or_else(String::new, |data| amount(world, data));
    let operation = collective.operation.map_or_else(String::new, |operation| {
        format!(" by {}", world.operations[usize::from(operation)])
    });
    let on = match collective.communicator {
        0 => String::new(),
        other => format!(" on {}", world.communicators[usize::from(other)].name),
    };
    format!("{}{root}{data}{operation}{on}", collective.kind.name())
}
