//! Functions of Rust's own library by their paths: `Vec::new`, `std::mem::swap`, `std::env::args`.
//!
//! Paths are as `use` tells them, so that only the last two segments can be relied on: the type or
//! module, and the name.

use std::rc::Rc;

use super::subject::{USIZE, argument, behind, computed, computed_of_all, run, type_argument};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
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
        .or_else(|| super::pointers::function(machine, owner, name, call))
        .or_else(|| of_module(machine, owner, name, call))
        .or_else(|| super::surroundings::function(machine, path, owner, name, call))
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
            "Vec" | "VecDeque" | "BinaryHeap" | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet"
            | "String",
            "from",
        ) => {
            let ty = match &*call.ty {
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
        (_, "default") if super::atomics::scalar(owner).is_some() => {
            let ty = Type::External(owner.to_owned(), Vec::new());
            super::defaults::default_of(machine, &ty, call.place)
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
            let ty = match &*call.ty {
                Type::External(inferred, _) if inferred == owner => call.result(),
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
pub(super) fn wanted(call: &Call<'_>, otherwise: &Type) -> Type {
    match call.generics.last() {
        Some(ty) if *ty != Type::Unknown => ty.clone(),
        _ => otherwise.clone(),
    }
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

/// Functions of a type or a trait that are methods, or conversions, of what they are called with.
fn by_type(machine: &mut Machine<'_>, owner: &str, name: &str, call: &Call<'_>) -> Option<Outcome> {
    // A derived function of one of the program's types gives one, whatever inference knows of it.
    let own = call.generics.iter().find(|ty| matches!(ty, Type::Defined(..)));
    let made = if *call.ty == Type::Unknown { own.unwrap_or(&call.ty) } else { &call.ty };
    if matches!(name, "parse" | "from_args" | "parse_from" | "try_parse" | "from_args_safe") {
        let parsed = super::unknown::parsed_arguments(machine, own.unwrap_or(made));
        if let Some(arguments) = parsed {
            let may_fail = matches!(name, "try_parse" | "from_args_safe");
            return Some(Ok(if may_fail { Value::ok(arguments) } else { arguments }));
        }
    }
    if name == "default" && call.arguments.is_empty() {
        return Some(super::defaults::called(machine, made, call.place));
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
