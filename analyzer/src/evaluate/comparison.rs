//! Whether two values are equal, and which one is the greater, as far as that is known. What is left
//! of two values where two ways come together is in `join`.

use std::cmp::Ordering;

use super::machine::Machine;
use super::value::{Constant, Content, Items, Length, Sequence, Value};
use crate::program::Place;

/// Whether two values are equal, where that is known.
pub(super) fn equal(
    machine: &mut Machine<'_>,
    one: &Value,
    other: &Value,
    place: Place,
) -> Option<bool> {
    match (one, other) {
        (Value::Reference(one), Value::Reference(other)) if one == other => Some(true),
        (Value::Reference(_), _) | (_, Value::Reference(_)) => {
            let (one, other) = (machine.behind(one, place), machine.behind(other, place));
            match (&one, &other) {
                (Value::Reference(_), _) | (_, Value::Reference(_)) => None,
                _ => equal(machine, &one, &other, place),
            }
        }
        // A number with a fraction may not even be equal to itself.
        (Value::Scalar(scalar, Content::Unknown(_)), _) if scalar.is_float() => None,
        (Value::Scalar(_, one), Value::Scalar(_, other)) => equal_contents(*one, *other),
        (Value::Unknown(one, _), Value::Unknown(other, _)) => (one == other).then_some(true),
        (Value::Text(Some(one)), Value::Text(Some(other))) => Some(one == other),
        (Value::Tuple(one), Value::Tuple(other)) => equal_all(machine, one, other, place),
        (Value::Variant(name, one), Value::Variant(as_well, other)) => match name == as_well {
            true => equal_all(machine, one, other, place),
            false => Some(false),
        },
        (
            Value::Defined { definition, variant, fields },
            Value::Defined { definition: other, variant: as_well, fields: others },
        ) if definition == other && !machine.has_method(*definition, "eq") => {
            match variant == as_well {
                true => equal_all(machine, fields, others, place),
                false => Some(false),
            }
        }
        (Value::Sequence(one), Value::Sequence(other)) => {
            equal_sequences(machine, one, other, place)
        }
        (Value::Handle(one), Value::Handle(other)) => match one.is_same(other) {
            true => Some(true),
            false => one.differs(other).then_some(false),
        },
        _ => None,
    }
}

fn equal_contents(one: Content, other: Content) -> Option<bool> {
    match (one, other) {
        (Content::Known(one), Content::Known(other)) => Some(one == other),
        (Content::Unknown(one), Content::Unknown(other)) => (one == other).then_some(true),
        _ => None,
    }
}

/// Whether all are equal: one pair that is not settles it.
fn equal_all(
    machine: &mut Machine<'_>,
    one: &[Value],
    other: &[Value],
    place: Place,
) -> Option<bool> {
    if one.len() != other.len() {
        return Some(false);
    }
    let mut all = Some(true);
    for (one, other) in one.iter().zip(other) {
        match equal(machine, one, other, place) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

fn equal_sequences(
    machine: &mut Machine<'_>,
    one: &Sequence,
    other: &Sequence,
    place: Place,
) -> Option<bool> {
    match (&one.items, &other.items) {
        (Items::Each(one), Items::Each(other)) => equal_all(machine, one, other, place),
        (Items::Alike(one, length), Items::Alike(other, as_long)) if length == as_long => {
            // Elements that are not known may differ by their numbers.
            match is_known(one) {
                true => equal(machine, one, other, place),
                false => None,
            }
        }
        _ => match (one.length(), other.length()) {
            (Length::Known(one), Length::Known(other)) if one != other => Some(false),
            _ => None,
        },
    }
}

/// Whether everything in a value is known.
pub(super) fn is_known(value: &Value) -> bool {
    match value {
        Value::Scalar(_, Content::Known(_)) | Value::Text(Some(_)) => true,
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().all(is_known)
        }
        Value::Sequence(sequence) => match &sequence.items {
            Items::Each(items) => items.iter().all(is_known),
            Items::Alike(each, Length::Known(_)) => is_known(each),
            Items::Alike(_, Length::Unknown(_)) => false,
        },
        _ => false,
    }
}

/// Which of two values is the greater one, where that is known.
pub(super) fn order(
    machine: &mut Machine<'_>,
    one: &Value,
    other: &Value,
    place: Place,
) -> Option<Ordering> {
    let (one, other) = (machine.behind(one, place), machine.behind(other, place));
    match (&one, &other) {
        (Value::Scalar(_, Content::Known(one)), Value::Scalar(_, Content::Known(other))) => {
            order_constants(*one, *other)
        }
        (Value::Text(Some(one)), Value::Text(Some(other))) => Some(one.cmp(other)),
        (Value::Tuple(one), Value::Tuple(other)) => order_all(machine, one, other, place),
        (Value::Variant(name, one), Value::Variant(as_well, other)) => {
            if name == as_well {
                if *name == "Reverse" {
                    return order_all(machine, other, one, place);
                }
                return order_all(machine, one, other, place);
            }
            let rank = |name: &str| {
                ["Less", "Equal", "Greater", "None", "Some", "Ok", "Err"]
                    .iter()
                    .position(|known| *known == name)
            };
            Some(rank(name)?.cmp(&rank(as_well)?))
        }
        (
            Value::Defined { definition, variant, fields },
            Value::Defined { definition: other, variant: as_well, fields: others },
        ) if definition == other => match variant.cmp(as_well) {
            Ordering::Equal => order_all(machine, fields, others, place),
            different => Some(different),
        },
        (Value::Sequence(one), Value::Sequence(other)) => match (&one.items, &other.items) {
            (Items::Each(one), Items::Each(other)) => order_all(machine, one, other, place),
            _ => None,
        },
        _ => match equal(machine, &one, &other, place) {
            Some(true) => Some(Ordering::Equal),
            _ => None,
        },
    }
}

fn order_constants(one: Constant, other: Constant) -> Option<Ordering> {
    match (one, other) {
        (Constant::Integer(one), Constant::Integer(other)) => Some(one.cmp(&other)),
        (Constant::Float(one), Constant::Float(other)) => one.partial_cmp(&other),
        (Constant::Bool(one), Constant::Bool(other)) => Some(one.cmp(&other)),
        (Constant::Char(one), Constant::Char(other)) => Some(one.cmp(&other)),
        _ => None,
    }
}

/// The first pair that is not equal decides, then the length.
fn order_all(
    machine: &mut Machine<'_>,
    one: &[Value],
    other: &[Value],
    place: Place,
) -> Option<Ordering> {
    for (one, other) in one.iter().zip(other) {
        match order(machine, one, other, place)? {
            Ordering::Equal => {}
            different => return Some(different),
        }
    }
    Some(one.len().cmp(&other.len()))
}
