//! Datatypes that are built at run time.

use super::signature::{self, Signature};
use crate::evaluate::handle::{Datatype, Handle};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// A datatype as a value.
fn value(signature: Option<Signature>) -> Value {
    Value::Handle(Handle::Datatype(Datatype::of(signature)))
}

/// Methods of datatypes.
pub(super) fn method(_: &mut Machine<'_>, datatype: &Datatype, call: &Call<'_>) -> Option<Outcome> {
    match call.name {
        "commit" | "dup" => Some(Ok(value(datatype.signature.clone()))),
        _ => None,
    }
}

/// `T::equivalent_datatype()`
pub(super) fn equivalent(machine: &mut Machine<'_>, owner: &str, call: &Call<'_>) -> Value {
    let written = match Scalar::from_name(owner) {
        Some(scalar) => Type::Scalar(scalar),
        None => Type::External(owner.to_owned(), Vec::new()),
    };
    let ty = match (&written, call.generics.as_slice()) {
        (Type::External(..), [only]) => only.clone(),
        _ => written,
    };
    value(signature::of_type(machine, &ty, call.place))
}

/// `UserDatatype::contiguous(..)` and the other makers. How elements lie in memory is no part of
/// what is sent.
pub(super) fn function(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Outcome> {
    let arguments = &call.arguments;
    let signature = match call.name {
        "contiguous" => {
            let [count, of] = arguments.as_slice() else { return None };
            repeated(machine, of, amount(count), call.place)
        }
        "vector" | "heterogeneous_vector" => {
            let [count, block, _, of] = arguments.as_slice() else { return None };
            let times =
                amount(count).zip(amount(block)).and_then(|(n, block)| n.checked_mul(block));
            repeated(machine, of, times, call.place)
        }
        "indexed" | "heterogeneous_indexed" => {
            let [blocks, _, of] = arguments.as_slice() else { return None };
            let times = amounts(machine, blocks, call.place)
                .and_then(|blocks| blocks.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n)));
            repeated(machine, of, times, call.place)
        }
        "indexed_block" | "heterogeneous_indexed_block" => {
            let [block, displacements, of] = arguments.as_slice() else { return None };
            let blocks = length(machine, displacements, call.place);
            let times = amount(block).zip(blocks).and_then(|(block, n)| block.checked_mul(n));
            repeated(machine, of, times, call.place)
        }
        "structured" => {
            let [blocks, _, types] = arguments.as_slice() else { return None };
            structured(machine, blocks, types, call.place)
        }
        _ => return None,
    };
    Some(Ok(value(signature)))
}

fn amount(value: &Value) -> Option<u64> {
    value.as_integer().and_then(|number| u64::try_from(number).ok())
}

/// The elements of an array.
fn items(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Vec<Value>> {
    match machine.behind(value, place) {
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => Some(items.to_vec()),
        Value::Sequence(Sequence { items: Items::Alike(item, Length::Known(length)), .. })
            if length <= 256 =>
        {
            let length = usize::try_from(length).expect("256 fits anywhere");
            Some(vec![(*item).clone(); length])
        }
        _ => None,
    }
}

fn amounts(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Vec<u64>> {
    items(machine, value, place)?.iter().map(amount).collect()
}

fn length(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<u64> {
    match machine.behind(value, place) {
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => Some(items.len() as u64),
        Value::Sequence(Sequence { items: Items::Alike(_, Length::Known(length)), .. }) => {
            Some(length)
        }
        _ => None,
    }
}

fn signature_of(machine: &mut Machine<'_>, value: &Value, place: Place) -> Option<Signature> {
    match machine.behind(value, place) {
        Value::Handle(Handle::Datatype(datatype)) => datatype.signature,
        _ => None,
    }
}

fn repeated(
    machine: &mut Machine<'_>,
    of: &Value,
    times: Option<u64>,
    place: Place,
) -> Option<Signature> {
    Some(signature_of(machine, of, place)?.repeated(times?))
}

fn structured(
    machine: &mut Machine<'_>,
    blocks: &Value,
    types: &Value,
    place: Place,
) -> Option<Signature> {
    let blocks = amounts(machine, blocks, place)?;
    let types = items(machine, types, place)?;
    let mut whole = Signature::empty();
    for (&block, ty) in blocks.iter().zip(&types) {
        let part = signature_of(machine, ty, place)?.repeated(block);
        whole = whole.followed_by(&part)?;
    }
    (blocks.len() == types.len()).then_some(whole)
}
