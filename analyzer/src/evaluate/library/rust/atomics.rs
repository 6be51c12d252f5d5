//! Atomics: numbers that threads share. In one thread they are cells.

use std::rc::Rc;

use super::subject::{Subject, argument};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Step, Value};
use crate::program::{Binary, Scalar, Type};

/// The scalar in an atomic of this name: `AtomicI32`.
pub(super) fn scalar(name: &str) -> Option<Scalar> {
    Scalar::from_name(&name.strip_prefix("Atomic")?.to_lowercase())
}

/// An atomic of this name with a value.
pub(super) fn of(machine: &mut Machine<'_>, name: &str, value: &Value) -> Option<Value> {
    let value = machine.cast(value, &Type::Scalar(scalar(name)?));
    Some(Value::Variant("Atomic", Rc::new(vec![value])))
}

/// Calls a method of an atomic. `None`: it has no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    let place = call.place;
    let path = subject.place(machine).child(Step::Field(0));
    if super::threads::have_begun(machine) {
        machine.forget(&Value::Reference(path.clone()), place);
    }
    let before = machine.read(&path, place);
    let operation = match call.name {
        "load" => return Some(Ok(before)),
        "get_mut" | "as_ptr" => return Some(Ok(Value::Reference(path))),
        "into_inner" => return Some(Ok(before)),
        "store" | "swap" => {
            let value = machine.behind(&argument(call, 0), place);
            machine.write(&path, value, place);
            return Some(Ok(if call.name == "swap" { before } else { Value::unit() }));
        }
        "compare_exchange" | "compare_exchange_weak" => {
            return Some(Ok(exchanged(machine, &path, before, call)));
        }
        "fetch_add" => Some(Binary::Add),
        "fetch_sub" => Some(Binary::Subtract),
        "fetch_and" => Some(Binary::BitAnd),
        "fetch_or" => Some(Binary::BitOr),
        "fetch_xor" => Some(Binary::BitXor),
        _ => None,
    };
    let ty = machine.type_of(&before);
    let by = machine.behind(&argument(call, 0), place);
    let after = match operation {
        Some(operation) => machine.binary(operation, &before, &by, &ty, place),
        None => Ok(machine.computed(call.name, &[&before, &by], ty)),
    };
    Some(after.map(|after| {
        machine.write(&path, after, place);
        before
    }))
}

/// `compare_exchange(current, new, ..)`
fn exchanged(
    machine: &mut Machine<'_>,
    path: &crate::evaluate::value::Path,
    before: Value,
    call: &Call<'_>,
) -> Value {
    let (current, new) = (argument(call, 0), argument(call, 1));
    match crate::evaluate::comparison::equal(machine, &before, &current, call.place) {
        Some(true) => {
            machine.write(path, new, call.place);
            Value::ok(before)
        }
        Some(false) => Value::Variant("Err", Rc::new(vec![before])),
        None => {
            let ty = machine.type_of(&before);
            let after = machine.computed("exchanged", &[&before, &current, &new], ty.clone());
            machine.write(path, after, call.place);
            machine.fresh(Type::External("Result".to_owned(), vec![ty.clone(), ty]))
        }
    }
}
