//! What nobody knows: methods and functions of other libraries.
//!
//! What a method gives is computed of what it is called on, so that what all ranks compute alike of
//! their arguments stays alike. What a function gives is not: it may read a file or ask the clock.

use std::rc::Rc;

use super::subject::argument;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Items, Length, Path, Sequence, Value};
use crate::program::{Kind, Place, Type};

/// Calls a method that is not known. What communicates and is handed to it may do so at any time:
/// nothing more can be known of the rank then.
pub(in crate::evaluate) fn not_known(
    machine: &mut Machine<'_>,
    receiver: &Value,
    call: &Call<'_>,
) -> Outcome {
    for argument in std::iter::once(receiver).chain(&call.arguments) {
        if machine.can_communicate_with(argument, 6) {
            let why = match call.name {
                "spawn" => "another thread communicates".to_owned(),
                name => format!("`{name}` is not known, and may communicate"),
            };
            return Err(machine.lost(call.place, &why));
        }
    }
    if call.arguments.iter().any(is_callable) {
        super::threads::begin(machine);
    }
    let result = result(machine, receiver, call);
    forget(machine, receiver, call);
    Ok(result)
}

fn is_callable(value: &Value) -> bool {
    matches!(value, Value::Closure(..) | Value::Function(..))
}

/// What the call gives.
fn result(machine: &mut Machine<'_>, receiver: &Value, call: &Call<'_>) -> Value {
    if let Type::Tuple(parts) = &*call.ty
        && parts.is_empty()
    {
        return Value::unit();
    }
    if call.name == "get_matches" {
        return machine.uniform("the program's arguments", call.result());
    }
    let receiver = machine.behind(receiver, call.place);
    let arguments: Vec<Value> = (0..call.arguments.len())
        .map(|index| machine.behind(&argument(call, index), call.place))
        .collect();
    let plain = |value: &Value| {
        matches!(value, Value::Scalar(..) | Value::Text(Some(_)) | Value::Unknown(..))
    };
    if matches!(receiver, Value::Unknown(..)) && arguments.iter().all(plain) {
        let inputs: Vec<&Value> = std::iter::once(&receiver).chain(&arguments).collect();
        return machine.computed(call.name, &inputs, call.result());
    }
    machine.fresh(call.result())
}

/// Forgets what the call may change: what it is called on, and what is lent to it to be changed.
fn forget(machine: &mut Machine<'_>, receiver: &Value, call: &Call<'_>) {
    for (index, argument) in call.arguments.iter().enumerate() {
        let only_looks = matches!(
            call.expressions.get(index).map(|expression| &expression.kind),
            Some(Kind::Reference { mutable: false, .. })
        );
        if !only_looks {
            machine.forget(argument, call.place);
        }
    }
    let Value::Reference(path) = receiver else { return };
    if only_looks(call.name) {
        return;
    }
    if let ("resize", [length, item]) = (call.name, call.arguments.as_slice()) {
        let resized = resized(machine, path, length, item, call.place);
        machine.write(path, resized, call.place);
        return;
    }
    match machine.peek(path) {
        // A number is copied, a text that is changed has a method of its own.
        Value::Scalar(..) | Value::Text(_) => {}
        before @ Value::Unknown(..) => {
            // Whoever changes the same in the same way has the same afterwards.
            let ty = machine.type_of(&before);
            let inputs = call.arguments.iter().filter(|argument| !is_callable(argument));
            let inputs: Vec<&Value> = std::iter::once(&before).chain(inputs).collect();
            let after = machine.computed(&format!("after {}", call.name), &inputs, ty);
            machine.write(path, after, call.place);
        }
        _ => machine.forget(&Value::Reference(path.clone()), call.place),
    }
}

/// What has this length from now on: a vector, whatever it was before.
fn resized(
    machine: &mut Machine<'_>,
    path: &Path,
    length: &Value,
    item: &Value,
    place: Place,
) -> Value {
    let before = machine.peek(path);
    let item = machine.behind(item, place);
    let element = machine.type_of(&item);
    let any = machine.computed("after resize", &[&before, &item], element.clone());
    let length = machine.behind(length, place);
    let length = match length.as_integer().and_then(|length| u64::try_from(length).ok()) {
        Some(length) => Length::Known(length),
        None => Length::Unknown(machine.identity(&length)),
    };
    Value::Sequence(Sequence { element, items: Items::Alike(Rc::new(any), length) })
}

/// Whether a method of this name leaves what it is called on as it is, by the names that Rust has for
/// such methods everywhere (Rust API Guidelines, C-CONV and C-GETTER).
fn only_looks(name: &str) -> bool {
    let conversion = ["as_", "to_", "is_", "has_", "contains"];
    conversion.iter().any(|start| name.starts_with(start)) && !name.ends_with("_mut")
        || matches!(
            name,
            "len"
                | "get"
                | "first"
                | "last"
                | "iter"
                | "keys"
                | "values"
                | "chars"
                | "bytes"
                | "lines"
                | "trim"
                | "clone"
                | "count"
                | "capacity"
                | "nrows"
                | "ncols"
                | "shape"
                | "dim"
                | "eq"
                | "ne"
                | "cmp"
                | "partial_cmp"
                | "min"
                | "max"
                | "sum"
                | "abs"
                | "starts_with"
                | "ends_with"
        )
}

/// The program's arguments as a struct that derives them: the same on every rank. `None`: another
/// type.
pub(super) fn parsed_arguments(machine: &mut Machine<'_>, ty: &Type) -> Option<Value> {
    let Type::Defined(definition, _) = ty else { return None };
    let program = machine.program;
    let defined = program.definition(*definition);
    let derived = defined
        .traits
        .iter()
        .any(|name| matches!(name.as_str(), "Parser" | "StructOpt" | "Args" | "FromArgs"));
    let [only] = defined.variants.as_slice() else {
        return derived.then(|| machine.uniform("the program's arguments", ty.clone()));
    };
    if !derived || defined.is_enum {
        return None;
    }
    let fields = only
        .fields
        .iter()
        .map(|(name, field)| machine.uniform(&format!("argument {name}"), field.clone()))
        .collect();
    Some(Value::Defined { definition: *definition, variant: 0, fields: Rc::new(fields) })
}
