//! Communicators: what they tell of themselves, and how others are made of them.

use std::rc::Rc;

use p2p_protocol::model::{Action, Collective, CollectiveKind, Departure};

use super::memory::Memory;
use super::state::{self, integer, rank};
use super::{collective, group, process, skipped, topology};
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, Grid, Handle, KnownCommunicator};
use crate::evaluate::machine::{Call, Machine, Outcome, Told};
use crate::evaluate::state::Counted;
use crate::evaluate::value::Value;
use crate::program::{Place, Scalar, Type};

/// The world's communicator.
pub(super) fn world(machine: &mut Machine<'_>) -> Rc<Communicator> {
    machine.world()
}

/// The communicator of this rank alone.
pub(super) fn self_comm(machine: &mut Machine<'_>) -> Rc<Communicator> {
    let members: Rc<[u32]> = Rc::new([machine.rank()]);
    let made_by = format!("rank {} alone", machine.rank());
    let id = machine.communicator(&made_by, "self", &members);
    let (members, rank) = (members.into(), 0.into());
    let known = KnownCommunicator { id, members, rank, grid: None, neighbors: None, remote: None };
    Rc::new(Communicator { known: Some(known), name: "self".into(), made: None })
}

/// Associated functions of communicators, colors and groups.
pub(super) fn function(machine: &mut Machine<'_>, owner: &str, call: &Call<'_>) -> Option<Outcome> {
    let value = match (owner, call.name) {
        ("Color", "undefined") => Value::Handle(Handle::Color(None)),
        ("Color", "with_value") => {
            let value = machine.behind(call.arguments.first()?, call.place);
            match state::content(&value) {
                Some(color) => Value::Handle(Handle::Color(Some(color))),
                None => machine.fresh(call.result()),
            }
        }
        ("SystemGroup", "empty") => group::value(Some(Rc::new([]))),
        (_, "world") => state::communicator(world(machine)),
        (_, "self_comm") => state::communicator(self_comm(machine)),
        (_, "from_raw" | "try_from_raw") => {
            match machine.behind(call.arguments.first()?, call.place) {
                communicator @ Value::Handle(Handle::Communicator(_)) => match call.name {
                    "try_from_raw" => Value::some(communicator),
                    _ => communicator,
                },
                _ => state::communicator(Communicator::unknown("a raw communicator")),
            }
        }
        _ => return None,
    };
    Some(Ok(value))
}

/// Whether a method of this name makes a communicator together with other ranks.
pub(super) fn makes_communicator(name: &str) -> bool {
    matches!(
        name,
        "duplicate"
            | "split_by_color"
            | "split_by_color_with_key"
            | "split_shared"
            | "split_by_subgroup_collective"
            | "split_by_subgroup"
            | "split_by_subgroup_with_tag"
            | "create_cartesian_communicator"
            | "subgroup"
            | "subgroup_unchecked"
            | "merge"
    )
}

/// Methods of communicators.
pub(super) fn method(
    machine: &mut Machine<'_>,
    communicator: &Rc<Communicator>,
    call: &Call<'_>,
) -> Option<Outcome> {
    match call.name {
        "process_at_rank" => return Some(process::at_rank(machine, communicator, call)),
        "any_process" => return Some(Ok(process::any(communicator))),
        "this_process" => {
            return Some(Ok(match process::this(communicator) {
                Some(process) => process,
                None => machine.fresh(call.result()),
            }));
        }
        "abort" => return Some(Err(machine.leave(Departure::Aborted, call.place))),
        name if collective::is_symmetric(name) => {
            return Some(collective::symmetric(machine, communicator, call));
        }
        name if makes_communicator(name) => {
            return Some(match communicator.known.clone() {
                Some(known) => make(machine, communicator, &known, call),
                None => skipped(machine, call),
            });
        }
        _ => {}
    }
    if let Some(answer) = local(machine, communicator, call) {
        return Some(Ok(answer));
    }
    topology::method(machine, communicator, call)
}

/// What a communicator tells without asking others.
fn local(
    machine: &mut Machine<'_>,
    communicator: &Rc<Communicator>,
    call: &Call<'_>,
) -> Option<Value> {
    let known = communicator.known.as_ref();
    Some(match call.name {
        "size" | "target_size" => match known {
            Some(known) => rank(known.members.size()),
            None => machine.fresh(Type::Scalar(Scalar::I32)),
        },
        "rank" => match known {
            Some(known) => rank(known.rank),
            None => machine.fresh(Type::Scalar(Scalar::I32)),
        },
        "group" => group::value(known.map(|known| known.members.each().clone())),
        "remote_group" => group::value(None),
        "compare" => compare(machine, known, call)?,
        "test_inter" => Value::bool(false),
        "parent" => Value::none(),
        "set_name" => {
            let name = machine.behind(call.arguments.first()?, call.place);
            if let (Some(known), Value::Text(Some(name))) = (known, name) {
                machine.state.mpi.set_name(known.id, name);
            }
            Value::unit()
        }
        "get_name" => match known.map(|known| machine.state.mpi.name(known.id)) {
            Some(Some(name)) => Value::Text(Some(name)),
            Some(None) if communicator.name.as_ref() == "world" => {
                Value::Text(Some("MPI_COMM_WORLD".into()))
            }
            _ => Value::Text(None),
        },
        "get_attr" | "pack_size" | "remote_size" => machine.fresh(call.result()),
        "set_attr" => Value::unit(),
        "pack" => {
            let bytes = Type::Scalar(Scalar::U8);
            machine.fresh(Type::External("Vec".to_owned(), vec![bytes]))
        }
        "pack_into" | "unpack_into" => {
            let target = Memory::of(machine, call.arguments.get(1)?, call.place);
            if let Some(written) = target.arriving(machine) {
                machine.write(&written.0, written.1.clone(), call.place);
            }
            machine.fresh(Type::Scalar(Scalar::I32))
        }
        _ => return None,
    })
}

fn compare(
    machine: &mut Machine<'_>,
    known: Option<&KnownCommunicator>,
    call: &Call<'_>,
) -> Option<Value> {
    let other = match machine.behind(call.arguments.first()?, call.place) {
        Value::Handle(Handle::Communicator(other)) => other.known.clone(),
        Value::Handle(Handle::Process(process)) => process.communicator.known.clone(),
        _ => None,
    };
    let relation = match known.zip(other.as_ref()) {
        Some((one, two)) if one.id == two.id => "Identical",
        Some((one, two)) => match group::relation(one.members.each(), two.members.each()) {
            "Identical" => "Congruent",
            other => other,
        },
        None => return Some(machine.fresh(call.result())),
    };
    Some(Value::Variant(relation, Rc::new(Vec::new())))
}

/// Makes a communicator of another one.
fn make(
    machine: &mut Machine<'_>,
    communicator: &Rc<Communicator>,
    known: &KnownCommunicator,
    call: &Call<'_>,
) -> Outcome {
    machine.understood(call.place, Understood::Fully);
    let argument = call.arguments.first();
    match call.name {
        "duplicate" => duplicate(machine, communicator, known, call.place),
        "split_by_color" | "split_by_color_with_key" => {
            let told = told_color(machine, call);
            split(machine, communicator, known, told, call.place)
        }
        "split_by_subgroup_collective" => {
            let (number, _) = collective::make(machine, known, Told::Nothing, call.place)?;
            let members = argument.and_then(|group| group::of(machine, group, call.place).members);
            Ok(of_group(machine, communicator, known, number, members, call.place))
        }
        "split_by_subgroup" | "split_by_subgroup_with_tag" => {
            let members = argument.and_then(|group| group::of(machine, group, call.place).members);
            let tag = call.arguments.get(1).and_then(Value::as_integer).unwrap_or(0);
            subgroup(machine, communicator, known, members, (tag, call.place))
        }
        "create_cartesian_communicator" => topology::create(machine, communicator, known, call),
        "subgroup" | "subgroup_unchecked" => topology::subgroup(machine, communicator, known, call),
        _ => {
            let key = argument.and_then(Value::as_integer);
            let told = vec![Some(1), Some(0), key];
            match of_node(machine, communicator, known, told, call.place)? {
                Some(node) => Ok(state::communicator(node)),
                None => Ok(machine.fresh(call.result())),
            }
        }
    }
}

/// `duplicate`: the same ranks, in the same order.
pub(super) fn duplicate(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    place: Place,
) -> Outcome {
    let (number, _) = collective::make(machine, known, Told::Nothing, place)?;
    let made = Made { number, what: "duplicate".to_owned(), members: known.members.each().clone() };
    let grid = known.grid.clone();
    Ok(state::communicator(made.communicator(machine, of, known, grid)))
}

/// A communicator that is made of another one.
pub(super) struct Made {
    /// The number of the collective that makes it, on the other one.
    pub(super) number: Option<u64>,
    /// What it is, such as `color 1`.
    pub(super) what: String,
    /// The world's ranks of its members, in order.
    pub(super) members: Rc<[u32]>,
}

impl Made {
    /// As this rank holds it, which is one of the members.
    pub(super) fn communicator(
        &self,
        machine: &mut Machine<'_>,
        of: &Communicator,
        known: &KnownCommunicator,
        grid: Option<Rc<Grid>>,
    ) -> Rc<Communicator> {
        let name = format!("{}, {}", of.name, self.what);
        let rank = self.members.iter().position(|&member| member == machine.rank());
        let (Some(number), Some(rank)) = (self.number, rank) else {
            return Communicator::unknown(name);
        };
        let made_by = format!("{} by collective {number} of {}", self.what, known.id);
        let id = machine.communicator(&made_by, &name, &self.members);
        let rank = i128::try_from(rank).expect("a world has fewer than 2^32 ranks").into();
        let members = self.members.clone().into();
        let known = KnownCommunicator { id, members, rank, grid, neighbors: None, remote: None };
        Rc::new(Communicator { known: Some(known), name: name.into(), made: None })
    }
}

/// A communicator of a group's members: `None` for all others.
pub(super) fn of_group(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    number: Option<u64>,
    members: Option<Rc<[u32]>>,
    place: Place,
) -> Value {
    match members {
        Some(members) if !members.contains(&machine.rank()) => Value::none(),
        Some(members) => {
            let made = Made { number, what: format!("group {members:?}"), members };
            Value::some(state::communicator(made.communicator(machine, of, known, None)))
        }
        None => {
            unknown_group(machine, place);
            Value::some(state::communicator(Communicator::unknown(format!("part of {}", of.name))))
        }
    }
}

fn unknown_group(machine: &mut Machine<'_>, place: Place) {
    let why = "which ranks its group has is not known";
    machine.understood(place, Understood::Partly(why.to_owned()));
}

/// `MPI_Comm_create_group`: only the group's members come together.
pub(super) fn subgroup(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    members: Option<Rc<[u32]>>,
    (tag, place): (i128, Place),
) -> Outcome {
    let Some(members) = members else {
        let why = "which ranks its group has is not known";
        return Err(super::lost(machine, place, why));
    };
    if !members.contains(&machine.rank()) {
        return Ok(Value::none());
    }
    let meeting = format!("members {members:?} of {} with tag {tag}", known.id);
    let name = format!("{}, group {members:?}", of.name);
    let id = machine.communicator(&meeting, &name, &members);
    let number = machine.count(Counted::Meetings(id));
    let collective = Collective::of(CollectiveKind::MakeCommunicator, id);
    machine.emit(Action::Collective(collective), place)?;
    let met = KnownCommunicator { id, ..known.clone() };
    Ok(of_group(machine, of, &met, number, Some(members), place))
}

/// What a rank says of its color: whether it has one, which, and its key.
fn told_color(machine: &mut Machine<'_>, call: &Call<'_>) -> Vec<Option<i128>> {
    let color = call.arguments.first().map(|color| machine.behind(color, call.place));
    let key = match call.arguments.get(1) {
        Some(key) => machine.behind(key, call.place).as_integer(),
        None => Some(0),
    };
    match color {
        Some(Value::Handle(Handle::Color(None))) => vec![Some(0), Some(0), key],
        Some(Value::Handle(Handle::Color(Some(color)))) => vec![Some(1), integer(&color), key],
        _ => vec![None, None, key],
    }
}

/// `split_by_color`: ranks of one color come together, ordered by their keys. `mine`: whether this
/// rank has a color, which, and its key.
pub(super) fn split(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    mine: Vec<Option<i128>>,
    place: Place,
) -> Outcome {
    let (has_color, color) = (mine[0], mine[1]);
    let (number, all) = collective::make(machine, known, Told::Numbers(mine), place)?;
    let Some(all) = all else { return Err(machine.untold(place)) };
    if has_color == Some(0) {
        return Ok(Value::none());
    }
    let communicator = match color.zip(members_of_color(known, &all, color)) {
        Some((color, members)) => {
            let made = Made { number, what: format!("color {color}"), members };
            made.communicator(machine, of, known, None)
        }
        None => {
            let why = "the colors that all ranks give are not known";
            machine.understood(place, Understood::Partly(why.to_owned()));
            Communicator::unknown(format!("part of {}", of.name))
        }
    };
    Ok(Value::some(state::communicator(communicator)))
}

/// `MPI_Comm_split_type`: which ranks share a node is only known when the program runs. That all do is
/// one of the ways it may be, as on any machine of one's own: nothing is said that is wrong then.
pub(super) fn of_node(
    machine: &mut Machine<'_>,
    of: &Communicator,
    known: &KnownCommunicator,
    mine: Vec<Option<i128>>,
    place: Place,
) -> Outcome<Option<Rc<Communicator>>> {
    let (has_kind, kind) = (mine[0], mine[1]);
    let (number, all) = collective::make(machine, known, Told::Numbers(mine), place)?;
    let Some(all) = all else { return Err(machine.untold(place)) };
    if has_kind == Some(0) {
        return Ok(None);
    }
    let why = "which ranks share a node is not known before the program runs: all are taken to";
    machine.understood(place, Understood::Partly(why.to_owned()));
    Ok(Some(match members_of_color(known, &all, kind) {
        Some(members) => {
            let made = Made { number, what: "node".to_owned(), members };
            made.communicator(machine, of, known, None)
        }
        None => Communicator::unknown(format!("part of {}", of.name)),
    }))
}

/// The world's ranks of all that gave this color, by key and then by rank.
fn members_of_color(
    known: &KnownCommunicator,
    all: &[Told],
    color: Option<i128>,
) -> Option<Rc<[u32]>> {
    let color = color?;
    let mut members = Vec::new();
    for (told, &member) in all.iter().zip(known.members.each().iter()) {
        let Told::Numbers(told) = told else { return None };
        let [Some(has_color), theirs, key] = told.as_slice() else { return None };
        if *has_color == 0 {
            continue;
        }
        if (*theirs)? == color {
            members.push(((*key)?, member));
        }
    }
    members.sort_by_key(|&(key, _)| key);
    Some(members.into_iter().map(|(_, member)| member).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::handle::Members;

    fn told(has_color: i128, color: i128, key: i128) -> Told {
        Told::Numbers(vec![Some(has_color), Some(color), Some(key)])
    }

    fn world() -> KnownCommunicator {
        KnownCommunicator {
            id: 0,
            members: Members::of_world(4.into()),
            rank: 0.into(),
            grid: None,
            neighbors: None,
            remote: None,
        }
    }

    #[test]
    fn keys_order_the_ranks_of_a_color() {
        let all = [told(1, 0, 5), told(1, 1, 0), told(1, 0, 1), told(1, 0, 5)];
        assert_eq!(members_of_color(&world(), &all, Some(0)).as_deref(), Some(&[2, 0, 3][..]));
        assert_eq!(members_of_color(&world(), &all, Some(1)).as_deref(), Some(&[1][..]));
    }

    #[test]
    fn ranks_without_a_color_are_left_out() {
        let all = [told(1, 0, 0), told(0, 0, 0), told(1, 0, 0), told(1, 2, 0)];
        assert_eq!(members_of_color(&world(), &all, Some(0)).as_deref(), Some(&[0, 2][..]));
    }

    #[test]
    fn one_unknown_color_leaves_all_unknown() {
        let unknown = Told::Numbers(vec![Some(1), None, Some(0)]);
        let all = [told(1, 0, 0), unknown, told(1, 0, 0), told(1, 0, 0)];
        assert_eq!(members_of_color(&world(), &all, Some(0)), None);
        assert_eq!(members_of_color(&world(), &all, None), None);
    }
}
