//! What `std::mem`, `std::ptr`, `std::slice` and `std::array` do with values and pointers to them.

use std::rc::Rc;

use super::functions::wanted;
use super::subject::{USIZE, argument, behind, computed, count, run, size};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Path, Sequence, Step, Value};
use crate::program::{Kind, Type};

/// Calls one of these functions. `None`: it is none of them.
pub(super) fn function(
    machine: &mut Machine<'_>,
    owner: &str,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    match owner {
        "mem" | "ptr" | "slice" | "" | "array" | "intrinsics" | "hint" | "MaybeUninit" => {
            of_values(machine, owner, name, call)
                .or_else(|| of_pointers(machine, owner, name, call))
        }
        _ => None,
    }
}

/// `std::mem`: exchanging values, and what is known of their bytes.
fn of_values(
    machine: &mut Machine<'_>,
    owner: &str,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let place = call.place;
    Some(Ok(match (owner, name) {
        ("mem" | "ptr" | "", "swap") => {
            let (Value::Reference(one), Value::Reference(other)) =
                (argument(call, 0), argument(call, 1))
            else {
                return None;
            };
            let (mine, theirs) = (machine.read(&one, place), machine.read(&other, place));
            machine.write(&one, theirs, place);
            machine.write(&other, mine, place);
            Value::unit()
        }
        ("mem" | "ptr" | "", "replace") | ("mem" | "", "take") => {
            let Value::Reference(path) = argument(call, 0) else { return None };
            let before = machine.read(&path, place);
            let after = match name {
                "replace" => argument(call, 1),
                _ => {
                    let ty = machine.type_of(&before);
                    super::defaults::default_of(machine, &ty, place)
                }
            };
            machine.write(&path, after, place);
            before
        }
        ("mem" | "", "drop") => {
            return Some(machine.drop_value(argument(call, 0), place).map(|()| Value::unit()));
        }
        ("mem" | "", "forget") => Value::unit(),
        ("mem" | "", "size_of" | "align_of") => {
            size_of(machine, &wanted(call, &Type::Unknown), name)
        }
        ("mem" | "", "size_of_val") => {
            let value = behind(machine, call, 0);
            let ty = machine.type_of(&value);
            size_of_value(machine, &value, &ty)
        }
        ("mem", "zeroed") => {
            let ty = wanted(call, &call.ty);
            match &ty {
                Type::Scalar(_) | Type::Array(..) | Type::Tuple(_) => {
                    super::defaults::default_of(machine, &ty, place)
                }
                _ => machine.fresh(ty),
            }
        }
        ("mem", "transmute" | "transmute_copy" | "uninitialized") => machine.fresh(call.result()),
        ("mem", "discriminant") => {
            let value = behind(machine, call, 0);
            match value {
                Value::Variant(name, _) => Value::Variant(name, Rc::default()),
                Value::Defined { definition, variant, .. } => {
                    Value::Defined { definition, variant, fields: Rc::default() }
                }
                other => computed(machine, call, &[&other], Type::Unknown),
            }
        }
        _ => return None,
    }))
}

/// `std::ptr`, `std::slice`, `std::array`, `std::hint`.
fn of_pointers(
    machine: &mut Machine<'_>,
    owner: &str,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let place = call.place;
    Some(Ok(match (owner, name) {
        ("ptr", "null" | "null_mut") => Value::none(),
        ("ptr", "read" | "read_volatile" | "read_unaligned") => {
            let Value::Reference(path) = argument(call, 0) else { return None };
            machine.read(&path, place)
        }
        ("ptr", "write" | "write_volatile") => {
            let Value::Reference(path) = argument(call, 0) else { return None };
            machine.write(&path, argument(call, 1), place);
            Value::unit()
        }
        ("ptr", "addr_of" | "addr_of_mut" | "from_ref" | "from_mut") => argument(call, 0),
        ("slice", "from_raw_parts" | "from_raw_parts_mut") => from_raw_parts(machine, call),
        ("slice", "from_ref" | "from_mut") => from_one(machine, call),
        ("array", "from_fn") => return Some(array_from_function(machine, call)),
        ("hint", "black_box") => argument(call, 0),
        ("hint", "spin_loop") => Value::unit(),
        _ => return None,
    }))
}

/// The size of a type in bytes.
fn size_of(machine: &mut Machine<'_>, ty: &Type, name: &str) -> Value {
    match bytes_of(ty) {
        Some(bytes) if name == "size_of" => size(bytes),
        _ => machine.uniform(&format!("{name} {ty:?}"), USIZE),
    }
}

/// How many bytes a type takes, where the language says so.
fn bytes_of(ty: &Type) -> Option<u64> {
    match ty {
        Type::Scalar(scalar) => Some(scalar.bytes()),
        Type::Array(inner, Some(length)) => Some(bytes_of(inner)? * length),
        Type::Tuple(parts) if parts.is_empty() => Some(0),
        Type::External(name, parts) if name == "MaybeUninit" && parts.len() == 1 => {
            bytes_of(&parts[0])
        }
        _ => None,
    }
}

/// The size of a value in bytes: `size_of_val`.
fn size_of_value(machine: &mut Machine<'_>, value: &Value, ty: &Type) -> Value {
    if let Value::Sequence(sequence) = value
        && let (Some(bytes), Length::Known(length)) =
            (bytes_of(&sequence.element), sequence.length())
        && !matches!(ty, Type::External(..))
    {
        return size(bytes * length);
    }
    match bytes_of(ty) {
        Some(bytes) => size(bytes),
        None => machine.computed("size_of_val", &[value], USIZE),
    }
}

/// `slice::from_raw_parts(pointer, length)`: the elements from where the pointer leads.
fn from_raw_parts(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let pointer = argument(call, 0);
    let length = count(machine, call, 1);
    let Value::Reference(path) = &pointer else {
        return machine.fresh(call.result());
    };
    if let Some(element) = other_element(machine, path, call) {
        let length = match length {
            Some(length) => Length::Known(length),
            None => {
                let length = behind(machine, call, 1);
                Length::Unknown(machine.identity(&length))
            }
        };
        let items = Items::Alike(Rc::new(machine.fresh(element.clone())), length);
        return Value::Reference(machine.allocate(Value::Sequence(Sequence { element, items })));
    }
    match (path.steps.last(), length) {
        (Some(Step::Slice(first, last)), Some(length)) if first + length <= *last => {
            Value::Reference(path.child(Step::Slice(0, length)))
        }
        (Some(Step::Element(first)), Some(length)) => {
            let steps = &path.steps[..path.steps.len() - 1];
            let whole = Path { object: path.object, steps: steps.into() };
            Value::Reference(whole.child(Step::Slice(*first, first + length)))
        }
        (_, Some(length)) => match machine.peek(path) {
            Value::Sequence(_) => Value::Reference(path.child(Step::Slice(0, length))),
            _ if length == 1 => Value::Reference(path.clone()),
            _ => machine.fresh(call.result()),
        },
        (_, None) => match machine.peek(path) {
            Value::Sequence(_) => {
                let length = behind(machine, call, 1);
                let length = Length::Unknown(machine.identity(&length));
                Value::Reference(path.child(Step::Part(length)))
            }
            _ => machine.fresh(call.result()),
        },
    }
}

/// The type of the elements that a pointer is said to lead to, where it is another one than what is
/// there.
fn other_element(machine: &mut Machine<'_>, path: &Path, call: &Call<'_>) -> Option<Type> {
    let said = match (call.ty.behind_references(), call.expressions.first()) {
        (Type::Slice(element), _) if **element != Type::Unknown => (**element).clone(),
        (_, Some(pointer)) => match &pointer.kind {
            Kind::Method { name, generics, .. } if name == "cast" => generics.first()?.clone(),
            _ => pointer.ty.behind_references().clone(),
        },
        _ => return None,
    };
    let there = match machine.peek(path) {
        Value::Sequence(sequence) => sequence.element,
        other => machine.type_of(&other),
    };
    match (&said, &there) {
        (Type::Scalar(said_scalar), Type::Scalar(there)) => (said_scalar != there).then_some(said),
        (Type::Scalar(_), Type::Unknown | Type::Parameter(_)) | (_, Type::Scalar(_)) => None,
        (Type::Scalar(_), _) => Some(said),
        _ => None,
    }
}

/// `slice::from_ref(&value)`: a slice of one; a value is sent alike alone and as a slice of one.
fn from_one(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let reference = argument(call, 0);
    match &reference {
        Value::Reference(path) => match path.steps.last() {
            Some(Step::Element(index)) => {
                let steps = &path.steps[..path.steps.len() - 1];
                let whole = Path { object: path.object, steps: steps.into() };
                Value::Reference(whole.child(Step::Slice(*index, index + 1)))
            }
            _ => reference,
        },
        other => {
            let element = machine.type_of(other);
            let items = Items::Each(Rc::new(vec![other.clone()]));
            Value::Reference(machine.allocate(Value::Sequence(Sequence { element, items })))
        }
    }
}

/// `array::from_fn(|index| ..)`
fn array_from_function(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let Type::Array(element, Some(length)) = &*call.ty else {
        return Ok(machine.fresh(call.result()));
    };
    let mut items = Vec::new();
    for index in 0..(*length).min(256) {
        items.push(run(machine, &argument(call, 0), vec![size(index)], call.place)?);
    }
    let element = (**element).clone();
    Ok(if items.len() as u64 == *length {
        Value::Sequence(Sequence { element, items: Items::Each(Rc::new(items)) })
    } else {
        let any = machine.fresh(element.clone());
        let items = Items::Alike(Rc::new(any), Length::Known(*length));
        Value::Sequence(Sequence { element, items })
    })
}
