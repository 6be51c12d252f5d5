//! Functions of Rust's own library by their paths: `Vec::new`, `std::mem::swap`, `std::env::args`.
//!
//! Paths are as `use` tells them, so that only the last two segments can be relied on: the type or
//! module, and the name.

use std::rc::Rc;

use p2p_protocol::model::Departure;

use super::subject::{
    USIZE, all_behind, argument, behind, computed, computed_of_all, count, panic, run, size,
    type_argument,
};
use crate::evaluate::iterator::{Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Sequence, Step, Value};
use crate::program::{Scalar, Type};

/// Calls a function by its path. `None`: not one of Rust's own.
pub(in crate::evaluate) fn function(
    machine: &mut Machine<'_>,
    path: &[String],
    call: &Call<'_>,
) -> Option<Outcome> {
    let name = path.last()?.as_str();
    let owner = path.len().checked_sub(2).map_or("", |index| path[index].as_str());
    if let Some(scalar) = Scalar::from_name(owner)
        && let Some(value) = super::conversions::of_scalar(machine, scalar, name, call)
    {
        return Some(Ok(value));
    }
    constructor(machine, owner, name, call)
        .map(Ok)
        .or_else(|| memory(machine, owner, name, call))
        .or_else(|| of_module(machine, owner, name, call))
        .or_else(|| surroundings(machine, path, owner, name, call))
        .or_else(|| by_type(machine, owner, name, call))
}

/// Functions that make a value of the type that they belong to.
fn constructor(
    machine: &mut Machine<'_>,
    owner: &str,
    name: &str,
    call: &Call<'_>,
) -> Option<Value> {
    let first = || argument(call, 0);
    Some(match (owner, name) {
        (_, "Some") => Value::some(first()),
        (_, "Ok") => Value::ok(first()),
        (_, "Err") => Value::Variant("Err", Rc::new(vec![first()])),
        ("", "Box") | ("cmp" | "", "Reverse") => super::wrappers::wrap(machine, name, first())?,
        ("Rc" | "Arc", "clone") => {
            let shared = first();
            super::copies::shared(machine, &shared, &Type::Unknown).unwrap_or(shared)
        }
        ("Rc" | "Arc", "ptr_eq") => {
            let (one, other) = (argument(call, 0), argument(call, 1));
            match (one, other) {
                (Value::Reference(one), Value::Reference(other)) => Value::bool(one == other),
                (one, other) => {
                    computed(machine, call, &[&one, &other], Type::Scalar(Scalar::Bool))
                }
            }
        }
        ("Rc" | "Arc", "get_mut") => Value::some(first()),
        ("Rc" | "Arc", "make_mut") => first(),
        ("Rc" | "Arc", "try_unwrap") => Value::ok(machine.behind(&first(), call.place)),
        ("Rc" | "Arc", "strong_count" | "weak_count") => machine.fresh(USIZE),
        ("MaybeUninit", "uninit" | "zeroed") => {
            machine.fresh(wanted(call, &type_argument(&call.ty, 0)))
        }
        ("LazyLock" | "LazyCell" | "Lazy", "new") => {
            return run(machine, &first(), Vec::new(), call.place).ok();
        }
        (
            "Vec" | "VecDeque" | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet" | "String",
            "from",
        ) => {
            let ty = match &call.ty {
                Type::Unknown => Type::External(owner.to_owned(), Vec::new()),
                _ if owner == "String" => Type::Text,
                known => known.clone(),
            };
            let ty = if owner == "String" { Type::Text } else { ty };
            super::conversions::into(machine, &first(), &ty, call)
        }
        ("String", "from_utf8" | "from_utf8_lossy" | "from_utf8_unchecked")
        | ("str", "from_utf8") => {
            let bytes = behind(machine, call, 0);
            let text = machine.computed("text", &[&bytes], Type::Text);
            if name == "from_utf8" { Value::ok(text) } else { text }
        }
        ("PathBuf" | "Path" | "OsString" | "OsStr" | "CString" | "CStr", _) => {
            computed_of_all(machine, call, &Value::unit(), Type::Text)
        }
        (
            _,
            "new"
            | "with_capacity"
            | "default"
            | "with_hasher"
            | "with_capacity_and_hasher"
            | "const_new",
        ) => {
            let ty = match &call.ty {
                Type::External(inferred, _) if inferred == owner => call.ty.clone(),
                _ => Type::External(owner.to_owned(), call.generics.clone()),
            };
            match super::defaults::empty(owner, &ty) {
                Some(empty) => empty,
                None if name == "new" && !call.arguments.is_empty() => {
                    super::wrappers::wrap(machine, owner, first())?
                }
                None => return None,
            }
        }
        (_, "from" | "pin") => super::wrappers::wrap(machine, owner, first())?,
        _ => return None,
    })
}

/// The type in the turbofish, or else another one.
fn wanted(call: &Call<'_>, otherwise: &Type) -> Type {
    match call.generics.last() {
        Some(ty) if *ty != Type::Unknown => ty.clone(),
        _ => otherwise.clone(),
    }
}

/// `std::mem`, `std::ptr`, `std::slice`.
fn memory(machine: &mut Machine<'_>, owner: &str, name: &str, call: &Call<'_>) -> Option<Outcome> {
    let place = call.place;
    if !matches!(
        owner,
        "mem" | "ptr" | "slice" | "" | "array" | "intrinsics" | "hint" | "MaybeUninit"
    ) {
        return None;
    }
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
        ("mem", "transmute" | "transmute_copy" | "uninitialized") => machine.fresh(call.ty.clone()),
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
        return machine.fresh(call.ty.clone());
    };
    match (path.steps.last(), length) {
        (Some(Step::Slice(first, last)), Some(length)) if first + length <= *last => {
            Value::Reference(path.child(Step::Slice(0, length)))
        }
        (Some(Step::Element(first)), Some(length)) => {
            let steps = &path.steps[..path.steps.len() - 1];
            let whole = crate::evaluate::value::Path { object: path.object, steps: steps.into() };
            Value::Reference(whole.child(Step::Slice(*first, first + length)))
        }
        (_, Some(length)) => match machine.peek(path) {
            Value::Sequence(_) => Value::Reference(path.child(Step::Slice(0, length))),
            _ if length == 1 => Value::Reference(path.clone()),
            _ => machine.fresh(call.ty.clone()),
        },
        (_, None) => match machine.peek(path) {
            Value::Sequence(_) => {
                let length = behind(machine, call, 1);
                let length = Length::Unknown(machine.identity(&length));
                Value::Reference(path.child(Step::Part(length)))
            }
            _ => machine.fresh(call.ty.clone()),
        },
    }
}

/// `slice::from_ref(&value)`: a slice of one; a value is sent alike alone and as a slice of one.
fn from_one(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let reference = argument(call, 0);
    match &reference {
        Value::Reference(path) => match path.steps.last() {
            Some(Step::Element(index)) => {
                let steps = &path.steps[..path.steps.len() - 1];
                let whole =
                    crate::evaluate::value::Path { object: path.object, steps: steps.into() };
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
    let Type::Array(element, Some(length)) = &call.ty else {
        return Ok(machine.fresh(call.ty.clone()));
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

/// `std::cmp`, `std::iter`, `std::convert`.
fn of_module(
    machine: &mut Machine<'_>,
    owner: &str,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    match (owner, name) {
        ("cmp" | "", "min" | "max") | ("Ord", "min" | "max" | "cmp") => {
            let receiver = argument(call, 0);
            method_of_first(machine, &receiver, name, call)
        }
        ("iter", _) | ("", "repeat_n" | "successors" | "from_fn" | "repeat_with" | "once") => {
            super::adapters::function(machine, name, call)
        }
        ("convert", "identity") => Some(Ok(argument(call, 0))),
        ("convert", "From") => None,
        _ => None,
    }
}

/// Calls a method that is written as a function: `Ord::min(a, b)`, `f64::sqrt(x)`, `Vec::len(&v)`.
fn method_of_first(
    machine: &mut Machine<'_>,
    receiver: &Value,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let call = Call {
        name,
        generics: call.generics.clone(),
        arguments: call.arguments.get(1..)?.to_vec(),
        expressions: call.expressions.get(1..).unwrap_or(&[]),
        ty: call.ty.clone(),
        place: call.place,
    };
    super::method(machine, receiver, &call)
}

/// What stands around a program: its arguments, its process, time, files, threads.
fn surroundings(
    machine: &mut Machine<'_>,
    path: &[String],
    owner: &str,
    name: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    Some(match (owner, name) {
        ("env", "args" | "args_os") => {
            let count = unknown_of(&machine.uniform("number of arguments", USIZE));
            let each = machine.uniform("argument", Type::Text);
            Ok(super::adapters::value_of(Lazy::Unknown { count, each, taken: 0 }))
        }
        ("env", "var" | "var_os" | "vars" | "current_dir" | "temp_dir") => {
            let name = behind(machine, call, 0);
            let whole = machine.uniform(&format!("env::{}", call.name), Type::Text);
            let text = machine.computed("of the environment", &[&whole, &name], Type::Text);
            match call.name {
                "var" | "current_dir" => {
                    let error = type_argument(&call.ty, 1);
                    let ty = Type::External("Result".to_owned(), vec![Type::Text, error]);
                    Ok(machine.computed("variable", &[&text], ty))
                }
                "var_os" => Ok(machine.computed(
                    "variable",
                    &[&text],
                    super::subject::option_of(Type::Text),
                )),
                _ => Ok(machine.computed("variable", &[&text], call.ty.clone())),
            }
        }
        ("process", "exit") => Err(machine.leave(Departure::Exited, call.place)),
        // A process that is killed by a signal takes the whole job with it.
        ("process", "abort") => Err(machine.leave(Departure::Aborted, call.place)),
        ("process", "id") => Ok(machine.fresh(Type::Scalar(Scalar::U32))),
        ("thread", "sleep" | "yield_now" | "park") | ("", "sleep") => Ok(Value::unit()),
        ("thread" | "Builder", "spawn" | "scope") => spawned(machine, call),
        ("panic", "catch_unwind") => {
            run(machine, &argument(call, 0), Vec::new(), call.place).map(Value::ok)
        }
        ("panic", "set_hook" | "take_hook") => Ok(Value::unit()),
        ("panic", "resume_unwind" | "panic_any") => Err(panic(machine, call.place)),
        (
            "bincode" | "serde_json" | "rmp_serde" | "postcard" | "ciborium" | "rkyv"
            | "serde_cbor" | "bson" | "toml" | "ron",
            _,
        ) => Ok(serialized(machine, name, call)),
        (
            "Duration" | "Instant" | "SystemTime" | "Utc" | "Local" | "File" | "fs" | "io" | "rand",
            _,
        ) => Ok(unrelated(machine, path, name, call)),
        _ => return None,
    })
}

/// Bytes, or a value out of bytes: the same for the same input.
fn serialized(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Value {
    let arguments = all_behind(machine, call);
    let inputs: Vec<&Value> = arguments.iter().collect();
    if name.starts_with("de") || name.starts_with("from") || name == "decode_from_slice" {
        return machine.computed(name, &inputs, call.ty.clone());
    }
    match &call.ty {
        Type::Text => machine.computed(name, &inputs, Type::Text),
        Type::External(result, parts)
            if result == "Result" && parts.first() == Some(&Type::Text) =>
        {
            Value::ok(machine.computed(name, &inputs, Type::Text))
        }
        Type::External(result, _) if result == "Result" => {
            Value::ok(super::text::unknown_bytes(machine, name, &inputs))
        }
        _ if name == "serialized_size" => computed(machine, call, &inputs, call.ty.clone()),
        Type::Unknown => machine.computed(name, &inputs, Type::Unknown),
        _ => super::text::unknown_bytes(machine, name, &inputs),
    }
}

/// Something of time, files or chance: nobody knows it, and it differs from rank to rank.
fn unrelated(machine: &mut Machine<'_>, path: &[String], name: &str, call: &Call<'_>) -> Value {
    // A duration that is written down is the same everywhere.
    if path.iter().any(|segment| segment == "Duration") {
        return computed_of_all(machine, call, &Value::Text(Some(name.into())), call.ty.clone());
    }
    for argument in call.arguments.clone() {
        machine.forget(&argument, call.place);
    }
    match &call.ty {
        Type::External(result, parts) if result == "Result" => {
            let inner = parts.first().cloned().unwrap_or_default();
            Value::ok(machine.fresh(inner))
        }
        ty => machine.fresh(ty.clone()),
    }
}

/// `thread::spawn`: what another thread does is not followed; it may do it at any time.
fn spawned(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let closure = argument(call, 0);
    if machine.communicates(&closure) {
        return Err(machine.lost(call.place, "another thread communicates"));
    }
    machine.forget(&closure, call.place);
    Ok(machine.fresh(call.ty.clone()))
}

/// Functions of a type or a trait that are methods, or conversions, of what they are called with.
fn by_type(machine: &mut Machine<'_>, owner: &str, name: &str, call: &Call<'_>) -> Option<Outcome> {
    if matches!(name, "parse" | "from_args" | "parse_from")
        && let Some(arguments) = super::unknown::parsed_arguments(machine, &call.ty)
    {
        return Some(Ok(arguments));
    }
    if name == "default" && call.arguments.is_empty() {
        return Some(super::defaults::called(machine, &call.ty, call.place));
    }
    if matches!((owner, name), ("From", "from") | ("Into", "into")) {
        let value = argument(call, 0);
        return Some(Ok(super::conversions::into(machine, &value, &call.ty, call)));
    }
    if matches!((owner, name), ("TryFrom", "try_from") | ("TryInto", "try_into")) {
        let value = argument(call, 0);
        let target = super::conversions::target_of_result(call);
        return Some(Ok(super::conversions::try_into(machine, &value, &target, call)));
    }
    let is_type = Scalar::from_name(owner).is_some()
        || matches!(
            owner,
            "Vec"
                | "VecDeque"
                | "HashMap"
                | "HashSet"
                | "BTreeMap"
                | "BTreeSet"
                | "Option"
                | "Result"
                | "String"
                | "str"
                | "slice"
                | "Iterator"
                | "IntoIterator"
                | "Clone"
                | "PartialEq"
                | "PartialOrd"
                | "Ord"
                | "AsRef"
                | "AsMut"
                | "Borrow"
                | "ToOwned"
                | "ToString"
                | "Cell"
                | "RefCell"
                | "Mutex"
                | "RwLock"
                | "Deref"
                | "DerefMut"
        );
    if !is_type {
        return None;
    }
    let receiver = call.arguments.first()?.clone();
    let receiver = match &receiver {
        // A value that is passed is a place of its own for what changes it.
        Value::Sequence(_) | Value::Map(_) | Value::Iterator(_) => {
            Value::Reference(machine.allocate(receiver.clone()))
        }
        other => other.clone(),
    };
    method_of_first(machine, &receiver, name, call)
}
