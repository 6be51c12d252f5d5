//! What holds a value and passes it on: `Box`, `Rc`, `Cell`, `RefCell`, `Mutex`, `OnceLock`.
//!
//! A `Box`, a `Cow`, a `LazyLock` is the value itself. An `Rc` or `Arc` is a reference to memory
//! that all its clones share. Cells and locks stand around their value where it is.

use std::rc::Rc;

use super::subject::{Subject, argument, run};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Step, Value};
use crate::program::Place;

/// The kind of cell or lock by its name.
pub(super) fn cell(name: &str) -> Option<&'static str> {
    ["Cell", "RefCell", "Mutex", "RwLock", "OnceCell", "OnceLock", "UnsafeCell", "Reverse"]
        .into_iter()
        .find(|known| *known == name)
}

/// Calls a method of a cell or a lock, which `kind` names. `None`: it has no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    kind: &str,
    call: &Call<'_>,
) -> Option<Outcome> {
    if kind.starts_with("Once") {
        return once_method(machine, subject, call);
    }
    let place = call.place;
    if matches!(kind, "Mutex" | "RwLock") && super::threads::have_begun(machine) {
        let inside = subject.part(machine, Step::Field(0));
        machine.forget(&inside, place);
    }
    let inside = |machine: &mut Machine<'_>| subject.part(machine, Step::Field(0));
    let value = |machine: &mut Machine<'_>| match inside(machine) {
        Value::Reference(path) => machine.read(&path, place),
        other => other,
    };
    let set = |machine: &mut Machine<'_>, value: Value| {
        if let Value::Reference(path) = inside(machine) {
            machine.write(&path, value, place);
        }
    };
    Some(Ok(match (call.name, kind) {
        ("borrow" | "borrow_mut" | "as_ptr", _) | ("get", "UnsafeCell") => inside(machine),
        ("get_mut", "Mutex" | "RwLock") => Value::ok(inside(machine)),
        ("get_mut" | "as_mut" | "as_ref", _) => inside(machine),
        ("lock" | "read" | "write" | "try_borrow" | "try_borrow_mut" | "try_lock", _) => {
            Value::ok(inside(machine))
        }
        ("get", _) => value(machine),
        ("set", _) => {
            set(machine, argument(call, 0));
            Value::unit()
        }
        ("replace", _) => {
            let before = taken(machine, subject, place);
            set(machine, argument(call, 0));
            before
        }
        ("take", _) => {
            let before = taken(machine, subject, place);
            let ty = machine.type_of(&before);
            let left = super::defaults::default_of(machine, &ty, place);
            set(machine, left);
            before
        }
        ("swap", _) => {
            let Value::Reference(other) = argument(call, 0) else { return None };
            let other = other.child(Step::Field(0));
            let theirs = machine.take(&other, place);
            let mine = taken(machine, subject, place);
            machine.write(&other, mine, place);
            set(machine, theirs);
            Value::unit()
        }
        ("update", _) => {
            let before = value(machine);
            match run(machine, &argument(call, 0), vec![before], place) {
                Ok(after) => set(machine, after),
                Err(flow) => return Some(Err(flow)),
            }
            Value::unit()
        }
        ("into_inner", "Mutex" | "RwLock") => Value::ok(taken(machine, subject, place)),
        ("into_inner", _) => taken(machine, subject, place),
        _ => return None,
    }))
}

/// What a cell holds, moved out.
fn taken(machine: &mut Machine<'_>, subject: &Subject, place: Place) -> Value {
    match subject.part(machine, Step::Field(0)) {
        Value::Reference(path) => machine.take(&path, place),
        other => other,
    }
}

/// The methods of cells that are set once: they hold an `Option`.
fn once_method(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Option<Outcome> {
    let place = call.place;
    let option = subject.place(machine).child(Step::Field(0));
    let held = Value::Reference(option.child(Step::Field(0)));
    let is_set = match machine.peek(&option) {
        Value::Variant("Some", _) => true,
        Value::Variant("None", _) => false,
        _ => return None,
    };
    Some(Ok(match call.name {
        "get" | "get_mut" if is_set => Value::some(held),
        "get" | "get_mut" => Value::none(),
        "set" if is_set => Value::Variant("Err", Rc::new(vec![argument(call, 0)])),
        "set" => {
            machine.write(&option, Value::some(argument(call, 0)), place);
            Value::ok(Value::unit())
        }
        "get_or_init" if is_set => held,
        "get_or_init" => match run(machine, &argument(call, 0), Vec::new(), place) {
            Ok(value) => {
                machine.write(&option, Value::some(value), place);
                held
            }
            Err(flow) => return Some(Err(flow)),
        },
        "take" | "into_inner" => {
            let before = machine.take(&option, place);
            machine.write(&option, Value::none(), place);
            before
        }
        _ => return None,
    }))
}

/// `Box::new(value)` and the other ways to wrap a value. `None`: not one of these.
pub(super) fn wrap(machine: &mut Machine<'_>, kind: &str, value: Value) -> Option<Value> {
    Some(match kind {
        "Box" | "Cow" | "MaybeUninit" | "ManuallyDrop" | "Pin" | "AssertUnwindSafe"
        | "CachePadded" => value,
        "Rc" | "Arc" => super::copies::share(machine, kind, value),
        _ if kind.starts_with("Atomic") => super::atomics::of(machine, kind, &value)?,
        _ => Value::Variant(cell(kind)?, Rc::new(vec![value])),
    })
}
