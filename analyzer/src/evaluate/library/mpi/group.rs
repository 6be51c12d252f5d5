//! Groups of ranks.

use std::rc::Rc;

use super::memory::scalars;
use super::state::{integer, rank};
use crate::evaluate::handle::{Group, Handle};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// A group as a value.
pub(super) fn value(members: Option<Rc<[u32]>>) -> Value {
    Value::Handle(Handle::Group(Group { members, made: None }))
}

/// The group behind an argument.
pub(super) fn of(machine: &mut Machine<'_>, value: &Value, place: Place) -> Group {
    match machine.behind(value, place) {
        Value::Handle(Handle::Group(group)) => group,
        _ => Group { members: None, made: None },
    }
}

/// Methods of `Group`.
pub(super) fn method(machine: &mut Machine<'_>, group: &Group, call: &Call<'_>) -> Option<Outcome> {
    let made =
        match call.name {
            "union" | "intersection" | "difference" => {
                let other = of(machine, call.arguments.first()?, call.place);
                value(
                    group
                        .members
                        .as_ref()
                        .zip(other.members)
                        .map(|(one, two)| combined(call.name, one, &two)),
                )
            }
            "include" | "exclude" => {
                let ranks = ranks(machine, call.arguments.first()?, call.place);
                value(
                    group.members.as_ref().zip(ranks).and_then(|(members, ranks)| {
                        chosen(call.name == "include", members, &ranks)
                    }),
                )
            }
            "compare" => {
                let other = of(machine, call.arguments.first()?, call.place);
                match group.members.as_ref().zip(other.members) {
                    Some((one, two)) => Value::Variant(relation(one, &two), Rc::new(Vec::new())),
                    None => machine.fresh(call.result()),
                }
            }
            "size" | "rank" | "translate_rank" | "translate_ranks" => number(machine, group, call)?,
            _ => return None,
        };
    Some(Ok(made))
}

/// Answers in numbers.
fn number(machine: &mut Machine<'_>, group: &Group, call: &Call<'_>) -> Option<Value> {
    let Some(members) = &group.members else { return Some(machine.fresh(call.result())) };
    Some(match call.name {
        "size" => rank(members.len() as i128),
        "rank" => position(members, machine.rank()),
        "translate_rank" => {
            let asked = machine.behind(call.arguments.first()?, call.place).as_integer();
            let other = of(machine, call.arguments.get(1)?, call.place);
            match asked.zip(other.members) {
                Some((asked, other)) => translated(members, asked, &other),
                None => machine.fresh(call.result()),
            }
        }
        _ => {
            let asked = ranks(machine, call.arguments.first()?, call.place);
            let other = of(machine, call.arguments.get(1)?, call.place);
            match asked.zip(other.members) {
                Some((asked, other)) => {
                    let each = asked.iter().map(|&asked| translated(members, asked, &other));
                    let element =
                        Type::External("Option".to_owned(), vec![Type::Scalar(Scalar::I32)]);
                    let items = Items::Each(Rc::new(each.collect()));
                    Value::Sequence(Sequence { element, items })
                }
                None => machine.fresh(call.result()),
            }
        }
    })
}

/// Some rank in a group, or none.
fn position(members: &[u32], member: u32) -> Value {
    match members.iter().position(|&one| one == member) {
        Some(position) => Value::some(rank(position as i128)),
        None => Value::none(),
    }
}

fn translated(members: &[u32], asked: i128, other: &[u32]) -> Value {
    match usize::try_from(asked).ok().and_then(|asked| members.get(asked)) {
        Some(&member) => position(other, member),
        None => Value::none(),
    }
}

/// The ranks in an array, if all are known.
fn ranks(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Vec<i128>> {
    let content = machine.behind(value, place);
    let Some(numbers) = scalars(&content) else {
        let Value::Sequence(Sequence { items: Items::Each(items), .. }) = content else {
            return None;
        };
        return items.iter().map(Value::as_integer).collect();
    };
    numbers.iter().map(|(_, number)| integer(number)).collect()
}

/// `MPI_Group_union`, `_intersection`, `_difference` (MPI 4.0, 7.3.2): in the order of the first
/// group, then that of the second.
pub(super) fn combined(how: &str, one: &[u32], two: &[u32]) -> Rc<[u32]> {
    match how {
        "union" => one.iter().chain(two.iter().filter(|it| !one.contains(it))).copied().collect(),
        "intersection" => one.iter().filter(|it| two.contains(it)).copied().collect(),
        _ => one.iter().filter(|it| !two.contains(it)).copied().collect(),
    }
}

/// The members of these ranks, in this order; or all others, in theirs.
pub(super) fn chosen(included: bool, members: &[u32], ranks: &[i128]) -> Option<Rc<[u32]>> {
    let member = |&rank: &i128| usize::try_from(rank).ok().and_then(|rank| members.get(rank));
    let named: Vec<u32> =
        ranks.iter().map(member).collect::<Option<Vec<_>>>()?.into_iter().copied().collect();
    Some(match included {
        true => named.into(),
        false => members.iter().filter(|it| !named.contains(it)).copied().collect(),
    })
}

/// How two groups, or the ranks of two communicators, are related.
pub(super) fn relation(one: &[u32], two: &[u32]) -> &'static str {
    let sorted = |members: &[u32]| {
        let mut members = members.to_vec();
        members.sort_unstable();
        members
    };
    if one == two {
        "Identical"
    } else if sorted(one) == sorted(two) {
        "Similar"
    } else {
        "Unequal"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_combined_in_order() {
        let (one, two) = ([3, 1, 0], [0, 2, 3]);
        assert_eq!(*combined("union", &one, &two), [3, 1, 0, 2]);
        assert_eq!(*combined("intersection", &one, &two), [3, 0]);
        assert_eq!(*combined("difference", &one, &two), [1]);
    }

    #[test]
    fn members_are_chosen_by_rank() {
        let members = [4, 2, 6];
        assert_eq!(chosen(true, &members, &[2, 0]).as_deref(), Some(&[6, 4][..]));
        assert_eq!(chosen(false, &members, &[1]).as_deref(), Some(&[4, 6][..]));
        assert_eq!(chosen(true, &members, &[3]), None);
    }

    #[test]
    fn order_makes_the_difference() {
        assert_eq!(relation(&[1, 2], &[1, 2]), "Identical");
        assert_eq!(relation(&[1, 2], &[2, 1]), "Similar");
        assert_eq!(relation(&[1], &[2, 1]), "Unequal");
    }
}
