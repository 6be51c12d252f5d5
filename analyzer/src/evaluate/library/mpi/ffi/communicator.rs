//! MPI's functions for communicators: those that make them, and what they tell of themselves.

use std::rc::Rc;

use p2p_protocol::model::{Action, Argument, Collective, CollectiveKind, HandleKind};

use super::super::communicator::{self as made, Made};
use super::super::state::{self, rank};
use super::super::{collective, group};
use super::constants::{CONGRUENT, IDENTICAL, SHARED, SIMILAR, UNDEFINED, UNEQUAL};
use super::handles::{create, release};
use super::invocation::Invocation;
use super::messages::truth;
use super::topology;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, Handle, KnownCommunicator, Request};
use crate::evaluate::machine::{Machine, Outcome, Told};
use crate::evaluate::state::Counted;
use crate::evaluate::value::Value;
use crate::program::{Scalar, Type};

/// A communicator with what is known of it.
pub(super) type Known = (Rc<Communicator>, KnownCommunicator);

/// The communicator that is handed over.
pub(super) fn handed(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Rc<Communicator> {
    match asked.handle(machine, argument) {
        Some(Handle::Communicator(communicator)) => communicator,
        Some(Handle::Process(process)) => process.communicator,
        _ => Communicator::unknown("a raw communicator"),
    }
}

/// Whether a call is made on a communicator, or a window, of which it is not known which ranks it has,
/// and known that it is none of the others.
pub(super) fn is_elsewhere(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> bool {
    let at = asked.function.arguments.iter().position(|it| matches!(it.what, "comm" | "win"));
    match at.and_then(|at| asked.handle(machine, at)) {
        Some(Handle::Communicator(communicator)) => communicator.known.is_none() && machine.is_c(),
        Some(Handle::Object(HandleKind::Window, None)) => true,
        _ => false,
    }
}

/// The communicator that is handed over, which must be known.
pub(super) fn known(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Outcome<Known> {
    let communicator = handed(machine, asked, argument);
    match communicator.known.clone() {
        Some(known) => Ok((communicator, known)),
        None => Err(asked.lost(machine, "its communicator is not known here")),
    }
}

/// The same, where an inter-communicator will not do.
pub(super) fn known_intra(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
) -> Outcome<Known> {
    let (communicator, known) = known(machine, asked, argument)?;
    match known.remote {
        None => Ok((communicator, known)),
        Some(_) => Err(asked.lost(machine, "what it does between two groups is not followed")),
    }
}

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
) -> Option<Outcome<()>> {
    let outcome = match asked.name {
        "Comm_rank" | "Comm_size" | "Comm_remote_size" => number(machine, asked),
        "Comm_group" | "Comm_remote_group" => of_ranks(machine, asked),
        "Comm_test_inter" => test_inter(machine, asked),
        "Comm_compare" => compare(machine, asked),
        "Comm_get_parent" => {
            asked.put(machine, 0, Value::Handle(Handle::Null(HandleKind::Communicator)));
            Ok(())
        }
        "Comm_free" | "Comm_disconnect" => free(machine, asked),
        "Comm_dup" | "Comm_dup_with_info" => {
            let at = asked.function.arguments.len() - 1;
            duplicate(machine, asked, at).map(|_| ())
        }
        "Comm_idup" | "Comm_idup_with_info" => start_duplicate(machine, asked),
        "Comm_split" => split(machine, asked),
        "Comm_create" | "Comm_create_group" => of_group(machine, asked),
        "Comm_split_type" => by_kind(machine, asked),
        "Intercomm_create" => super::between::create(machine, asked),
        "Intercomm_merge" => super::between::merge(machine, asked),
        _ => return topology::function(machine, asked),
    };
    Some(outcome)
}

/// Puts a communicator that a call has made where the program keeps it; the null handle on ranks that
/// do not belong to it.
pub(super) fn keep(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    argument: usize,
    made: Option<Rc<Communicator>>,
) -> Outcome<()> {
    let value = match made {
        None => Value::Handle(Handle::Null(HandleKind::Communicator)),
        Some(made) => {
            let handle = create(machine, asked, HandleKind::Communicator)?;
            let made = Communicator { made: Some(handle), ..(*made).clone() };
            state::communicator(Rc::new(made))
        }
    };
    asked.put(machine, argument, value);
    Ok(())
}

/// The communicator in a value that a call of rsmpi's kind has made.
fn in_value(value: Value) -> Option<Rc<Communicator>> {
    match value {
        Value::Handle(Handle::Communicator(communicator)) => Some(communicator),
        Value::Variant("Some", held) => held.first().cloned().and_then(in_value),
        _ => None,
    }
}

/// Says that the communicator that is made is not known, and why.
pub(super) fn unclear(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>, why: &str) {
    machine.understood(asked.place(), Understood::Partly(why.to_owned()));
}

fn number(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = handed(machine, asked, 0);
    let answer = match (&communicator.known, asked.name) {
        (Some(known), "Comm_rank") => rank(known.rank),
        (Some(known), "Comm_size") => rank(known.members.size()),
        (Some(KnownCommunicator { remote: Some(remote), .. }), _) => rank(remote.len() as i128),
        // No MPI that was tried minds being asked for a group that is not there.
        (_, _) => machine.fresh(Type::Scalar(Scalar::I32)),
    };
    asked.put(machine, 1, answer);
    Ok(())
}

fn of_ranks(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = handed(machine, asked, 0);
    let members = communicator.known.as_ref().and_then(|known| match asked.name {
        "Comm_group" => Some(known.members.each().clone()),
        _ => known.remote.clone(),
    });
    super::group::keep(machine, asked, 1, members)
}

fn test_inter(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let communicator = handed(machine, asked, 0);
    let answer = match &communicator.known {
        Some(known) => truth(known.remote.is_some()),
        None => machine.fresh(Type::Scalar(Scalar::I32)),
    };
    asked.put(machine, 1, answer);
    Ok(())
}

fn compare(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (one, two) = (handed(machine, asked, 0), handed(machine, asked, 1));
    let answer = match one.known.as_ref().zip(two.known.as_ref()) {
        Some((one, two)) if one.id == two.id => rank(IDENTICAL),
        Some((one, two)) => rank(match group::relation(one.members.each(), two.members.each()) {
            "Identical" => CONGRUENT,
            "Similar" => SIMILAR,
            _ => UNEQUAL,
        }),
        None => machine.fresh(Type::Scalar(Scalar::I32)),
    };
    asked.put(machine, 2, answer);
    Ok(())
}

/// `MPI_Comm_free`, `MPI_Comm_disconnect`: collective, and may return at once.
fn free(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    machine.understood(asked.place(), Understood::Fully);
    release(machine, asked, HandleKind::Communicator)
}

/// `(communicator[, info], new communicator)`
fn duplicate(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    at: usize,
) -> Outcome<Rc<Communicator>> {
    let (of, known) = known(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let copy = made::duplicate(machine, &of, &known, asked.place())?;
    let copy = in_value(copy).map(|copy| with_surroundings(copy, &known));
    keep(machine, asked, at, copy.clone())?;
    Ok(copy.unwrap_or(of))
}

/// A copy of a communicator has the same graph and the same other group.
fn with_surroundings(copy: Rc<Communicator>, of: &KnownCommunicator) -> Rc<Communicator> {
    if of.neighbors.is_none() && of.remote.is_none() {
        return copy;
    }
    let known = copy.known.clone().map(|known| KnownCommunicator {
        neighbors: of.neighbors.clone(),
        remote: of.remote.clone(),
        members: of.members.clone(),
        rank: of.rank,
        ..known
    });
    Rc::new(Communicator { known, ..(*copy).clone() })
}

/// `(communicator[, info], new communicator, request)`: no rank waits here. The communicator may be
/// used once the request is complete.
fn start_duplicate(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let at = asked.function.arguments.len() - 1;
    let id = machine.new_request();
    let collective = Collective::of(CollectiveKind::MakeCommunicator, known.id);
    machine.emit(Action::StartCollective { collective, request: id }, asked.place())?;
    let number = machine.count(Counted::Collectives(known.id));
    machine.exchange(&known, Told::Nothing);
    let members = known.members.each().clone();
    let copy = Made { number, what: "duplicate".to_owned(), members };
    let copy = copy.communicator(machine, &of, &known, known.grid.clone());
    keep(machine, asked, at - 1, Some(with_surroundings(copy, &known)))?;
    let request = Request::started(id, asked.place(), None);
    super::requests::keep(machine, asked, at, request, &[], false);
    Ok(())
}

/// `(communicator, color, key, new communicator)`
fn split(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known_intra(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let color = asked.number(machine, 1);
    let key = asked.number(machine, 2);
    if color.is_some_and(|color| color < 0 && color != UNDEFINED) {
        let words = machine.text("is negative");
        asked.fails(machine, 1, Argument::Other(words))?;
    }
    let told = match color {
        Some(UNDEFINED) => vec![Some(0), Some(0), key],
        color => vec![color.map(|_| 1), color, key],
    };
    let made = made::split(machine, &of, &known, told, asked.place())?;
    keep(machine, asked, 3, in_value(made))
}

/// `MPI_Comm_create(communicator, group, new communicator)`, on which all of the communicator come
/// together, and `MPI_Comm_create_group(communicator, group, tag, new communicator)`, on which only
/// those of the group do.
fn of_group(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known_intra(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let members = super::group::members(machine, asked, 1);
    let made = if asked.name == "Comm_create" {
        let (number, _) = collective::make(machine, &known, Told::Nothing, asked.place())?;
        made::of_group(machine, &of, &known, number, members, asked.place())
    } else {
        let tag = asked.number(machine, 2).unwrap_or(0);
        made::subgroup(machine, &of, &known, members, (tag, asked.place()))?
    };
    keep(machine, asked, asked.function.arguments.len() - 1, in_value(made))
}

/// `MPI_Comm_split_type(communicator, kind, key, info, new communicator)`
fn by_kind(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, known) = known_intra(machine, asked, 0)?;
    machine.understood(asked.place(), Understood::Fully);
    let key = asked.number(machine, 2);
    let told = match asked.number(machine, 1) {
        Some(UNDEFINED) => vec![Some(0), Some(0), key],
        kind => vec![Some(1), kind.filter(|kind| *kind == SHARED), key],
    };
    let made = made::of_node(machine, &of, &known, told, asked.place())?;
    keep(machine, asked, 4, made)
}
