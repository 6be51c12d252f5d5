//! What stands around a program: its arguments and its environment, its process, other threads, time,
//! files, chance, and bytes that stand for values.

use std::rc::Rc;

use p2p_protocol::model::Departure;

use super::subject::{
    USIZE, all_behind, argument, behind, computed, computed_of_all, option_of, panic, run,
    type_argument,
};
use crate::evaluate::iterator::{Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::Value;
use crate::program::{Kind, Scalar, Type};

/// Libraries that make bytes or text of values, and values of those.
const SERIALIZERS: [&str; 15] = [
    "bincode",
    "bitcode",
    "borsh",
    "bson",
    "ciborium",
    "flexbuffers",
    "postcard",
    "rkyv",
    "rmp_serde",
    "ron",
    "serde_cbor",
    "serde_json",
    "serde_pickle",
    "serde_yaml",
    "toml",
];

/// What stands around a program: its arguments, its process, time, files, threads.
pub(super) fn function(
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
                "var_os" => Ok(machine.computed("variable", &[&text], option_of(Type::Text))),
                _ => Ok(machine.computed("variable", &[&text], call.result())),
            }
        }
        ("process", "exit") => Err(machine.leave(Departure::Exited, call.place)),
        // A process that is killed by a signal takes the whole job with it.
        ("process", "abort") => Err(machine.leave(Departure::Aborted, call.place)),
        ("process", "id") => Ok(machine.fresh(Type::Scalar(Scalar::U32))),
        ("thread", "sleep" | "yield_now" | "park") | ("", "sleep") => Ok(Value::unit()),
        ("thread" | "Builder", "spawn") => super::threads::spawn(machine, call),
        ("thread" | "crossbeam" | "crossbeam_utils" | "rayon", "scope" | "in_place_scope") => {
            let is_result = path[0].starts_with("crossbeam");
            let outcome = super::threads::scope(machine, call);
            outcome.map(|value| if is_result { Value::ok(value) } else { value })
        }
        ("rayon", "join") => joined(machine, call),
        ("panic", "catch_unwind") => {
            run(machine, &argument(call, 0), Vec::new(), call.place).map(Value::ok)
        }
        ("panic", "set_hook" | "take_hook") => Ok(Value::unit()),
        ("panic", "resume_unwind" | "panic_any") => Err(panic(machine, call.place)),
        _ if path.iter().any(|segment| SERIALIZERS.contains(&segment.as_str())) => {
            Ok(serialized(machine, name, call))
        }
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
    if name.starts_with("de") || name.starts_with("from") {
        return machine.computed(name, &inputs, call.result());
    }
    if name.contains("into") || name.ends_with("writer") || name.ends_with("slice") {
        // Into what it is handed.
        for (argument, written) in call.arguments.iter().zip(call.expressions) {
            if !matches!(written.kind, Kind::Reference { mutable: false, .. }) {
                machine.forget(argument, call.place);
            }
        }
        return machine.computed(name, &inputs, call.result());
    }
    let is_open = match &*call.ty {
        Type::External(result, parts) if result == "Result" => {
            parts.first().is_none_or(|inner| *inner == Type::Unknown)
        }
        ty => *ty == Type::Unknown,
    };
    if is_open && let Some(made) = made_of(machine, name, &inputs) {
        return Value::ok(made);
    }
    match &*call.ty {
        Type::Text => machine.computed(name, &inputs, Type::Text),
        Type::External(result, parts)
            if result == "Result" && parts.first() == Some(&Type::Text) =>
        {
            Value::ok(machine.computed(name, &inputs, Type::Text))
        }
        Type::External(result, _) if result == "Result" => {
            Value::ok(super::text::unknown_bytes(machine, name, &inputs))
        }
        _ if name == "serialized_size" => computed(machine, call, &inputs, call.result()),
        Type::External(vector, _) if vector == "Vec" => {
            super::text::unknown_bytes(machine, name, &inputs)
        }
        ty => machine.computed(name, &inputs, ty.clone()),
    }
}

/// What the functions of these names give in all of these libraries, within a `Result`.
fn made_of(machine: &mut Machine<'_>, name: &str, inputs: &[&Value]) -> Option<Value> {
    match name {
        "serialize" | "encode_to_vec" | "encode" | "to_vec" | "to_vec_named" | "to_vec_packed"
        | "to_allocvec" | "to_stdvec" | "to_bytes" => {
            Some(super::text::unknown_bytes(machine, name, inputs))
        }
        "to_string" | "to_string_pretty" => Some(machine.computed(name, inputs, Type::Text)),
        _ => None,
    }
}

/// Something of time, files or chance: nobody knows it, and it differs from rank to rank.
fn unrelated(machine: &mut Machine<'_>, path: &[String], name: &str, call: &Call<'_>) -> Value {
    // A duration that is written down is the same everywhere.
    if path.iter().any(|segment| segment == "Duration") {
        return computed_of_all(machine, call, &Value::Text(Some(name.into())), call.result());
    }
    for argument in call.arguments.clone() {
        machine.forget(&argument, call.place);
    }
    match &*call.ty {
        Type::External(result, parts) if result == "Result" => {
            let inner = parts.first().cloned().unwrap_or_default();
            Value::ok(machine.fresh(inner))
        }
        Type::Unknown if name == "read" && path.iter().any(|segment| segment == "fs") => {
            let bytes = Type::External("Vec".to_owned(), vec![Type::Scalar(Scalar::U8)]);
            Value::ok(machine.fresh(bytes))
        }
        Type::Unknown if name == "read_to_string" => Value::ok(machine.fresh(Type::Text)),
        ty => machine.fresh(ty.clone()),
    }
}

/// `rayon::join(one, other)`: nobody knows in which order.
fn joined(machine: &mut Machine<'_>, call: &Call<'_>) -> Outcome {
    let both = [argument(call, 0), argument(call, 1)];
    if both.iter().all(|closure| machine.communicates(closure)) {
        return Err(machine.lost(call.place, "two threads communicate at once"));
    }
    let one = run(machine, &both[0], Vec::new(), call.place)?;
    let other = run(machine, &both[1], Vec::new(), call.place)?;
    Ok(Value::Tuple(Rc::new(vec![one, other])))
}
