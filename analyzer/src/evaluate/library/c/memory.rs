//! Memory: what is allocated, given back, copied and filled.

use std::rc::Rc;

use super::{argument, int};
use crate::evaluate::bytes::UNTYPED;
use crate::evaluate::machine::{Call, Machine};
use crate::evaluate::value::{Items, Path, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// Calls one of these functions.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Value> {
    Some(match name {
        "malloc" | "alloca" | "valloc" => allocate(machine, &argument(call, 0), false),
        "aligned_alloc" | "memalign" => allocate(machine, &argument(call, 1), false),
        "calloc" => {
            let [count, size] = [argument(call, 0), argument(call, 1)];
            let ty = Type::Scalar(Scalar::U64);
            let times = crate::program::Binary::Multiply;
            let bytes = machine.binary_exactly(times, &count, &size, &ty, call.place);
            allocate(machine, &bytes.unwrap_or_default(), true)
        }
        "realloc" => reallocate(machine, call),
        "reallocarray" => machine.fresh(call.result()),
        "posix_memalign" => {
            let memory = allocate(machine, &argument(call, 2), false);
            if let Some(path) = machine.pointer(&argument(call, 0)) {
                machine.write(&path, memory, call.place);
            }
            int(0)
        }
        "free" => {
            free(machine, &argument(call, 0), call.place);
            Value::unit()
        }
        "memcpy" | "memmove" => {
            let bytes = argument(call, 2);
            copy(machine, &argument(call, 0), &argument(call, 1), &bytes, call.place);
            argument(call, 0)
        }
        "bcopy" => {
            let bytes = argument(call, 2);
            copy(machine, &argument(call, 1), &argument(call, 0), &bytes, call.place);
            Value::unit()
        }
        "memset" => {
            let is_zero = argument(call, 1).as_integer() == Some(0);
            fill(machine, &argument(call, 0), is_zero, &argument(call, 2), call.place);
            argument(call, 0)
        }
        "bzero" => {
            fill(machine, &argument(call, 0), true, &argument(call, 1), call.place);
            Value::unit()
        }
        "qsort" | "qsort_r" | "heapsort" | "mergesort" => {
            touch(machine, &argument(call, 0), true, call.place);
            machine.forget_behind(&argument(call, 0));
            Value::unit()
        }
        _ => return None,
    })
}

/// New memory of so many bytes, which has no type yet.
fn allocate(machine: &mut Machine<'_>, bytes: &Value, is_zeroed: bool) -> Value {
    let mut parts = vec![bytes.clone()];
    parts.extend(is_zeroed.then(Value::unit));
    Value::Reference(machine.allocate(Value::Variant(UNTYPED, Rc::new(parts))))
}

/// The memory that a pointer leads to is gone: nothing is known of it any more.
fn free(machine: &mut Machine<'_>, pointer: &Value, place: Place) {
    for path in machine.pointees_of(pointer).iter() {
        let whole = Path::whole(path.object);
        if machine.pointer(pointer).is_some() {
            machine.note_access(&whole, true, place);
        }
        machine.forget_there(&whole);
    }
}

/// `realloc(pointer, bytes)`: the same in other memory.
fn reallocate(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let (pointer, bytes) = (argument(call, 0), argument(call, 1));
    let new = allocate(machine, &bytes, false);
    if machine.is_null(&pointer) == Some(true) {
        return new;
    }
    let (Some(old), Value::Reference(path)) = (machine.pointer(&pointer), &new) else {
        machine.forget_behind(&pointer);
        return new;
    };
    let value = machine.peek(&old);
    if let Value::Sequence(sequence) = &value {
        machine.give_type(path, &sequence.element);
        let grown = machine.peek(path);
        if let Value::Sequence(grown) = grown {
            let kept = grown_from(machine, sequence, grown);
            machine.put(path, Value::Sequence(kept));
        }
    }
    free(machine, &pointer, call.place);
    new
}

/// What memory of another length has of what was there before.
fn grown_from(machine: &mut Machine<'_>, old: &Sequence, grown: Sequence) -> Sequence {
    let Sequence { element, items } = grown;
    let items = match (&old.items, items) {
        (Items::Each(old), Items::Each(new)) => {
            let kept = old.iter().chain(new.iter().skip(old.len())).take(new.len());
            Items::Each(Rc::new(kept.cloned().collect()))
        }
        (_, Items::Alike(item, length)) => Items::Alike(item, length),
        (Items::Alike(item, _), Items::Each(new)) => {
            let item = machine.forgotten_in_c(item);
            Items::Each(Rc::new(new.iter().map(|_| item.clone()).collect()))
        }
    };
    Sequence { element, items }
}

/// Copies bytes from where one pointer leads to where another one does.
fn copy(machine: &mut Machine<'_>, to: &Value, from: &Value, bytes: &Value, place: Place) {
    let (Some(target), Some(source)) = (machine.pointer(to), machine.pointer(from)) else {
        touch(machine, from, false, place);
        machine.forget_behind(to);
        return;
    };
    if let (Value::Variant(UNTYPED, _), Value::Sequence(sequence)) =
        (machine.peek(&target), machine.peek(&source))
    {
        let element = sequence.element;
        machine.give_type(&target, &element);
    }
    let regions = (machine.region_of(&target, bytes, 1), machine.region_of(&source, bytes, 1));
    let (Some(target), Some(source)) = (regions.0.clone(), regions.1.clone()) else {
        match &regions.1 {
            Some(source) => machine.note_access(source, false, place),
            None => touch_first(machine, &source, false, place),
        }
        match &regions.0 {
            Some(target) => {
                machine.note_access(target, true, place);
                machine.forget_there(target);
            }
            None => {
                touch_first(machine, &target, true, place);
                let around = around(machine, &target, bytes);
                machine.forget_there(&around);
            }
        }
        return;
    };
    let (new, old) = (machine.read(&source, place), machine.peek(&target));
    match fitting(machine, &new, &old) {
        Some(value) => machine.write(&target, value, place),
        None => {
            machine.note_access(&target, true, place);
            machine.forget_there(&target);
        }
    }
}

/// The value that is left where another one was, of the same shape; `None`: they are too different.
fn fitting(machine: &mut Machine<'_>, new: &Value, old: &Value) -> Option<Value> {
    match (new, old) {
        (Value::Sequence(Sequence { items: Items::Each(items), .. }), old)
            if items.len() == 1 && !matches!(old, Value::Sequence(_)) =>
        {
            fitting(machine, &items[0], old)
        }
        (new, Value::Sequence(Sequence { element, items: Items::Each(items) }))
            if items.len() == 1 && !matches!(new, Value::Sequence(_)) =>
        {
            let item = fitting(machine, new, &items[0])?;
            let items = Items::Each(Rc::new(vec![item]));
            Some(Value::Sequence(Sequence { element: element.clone(), items }))
        }
        (Value::Sequence(mine), Value::Sequence(theirs)) => (mine.element == theirs.element
            && mine.length() == theirs.length())
        .then(|| new.clone()),
        _ => (machine.leaf_type(new) == machine.leaf_type(old)).then(|| new.clone()),
    }
}

/// A path to these bytes and perhaps to more.
fn around(machine: &mut Machine<'_>, path: &Path, bytes: &Value) -> Path {
    let bytes = bytes.as_integer().and_then(|bytes| u64::try_from(bytes).ok());
    match bytes {
        Some(bytes) if bytes > 0 => machine.region_around(path, 0, bytes),
        Some(_) => path.clone(),
        None => Path::whole(path.object),
    }
}

/// Fills bytes, with zeros or with something else.
fn fill(machine: &mut Machine<'_>, to: &Value, is_zero: bool, bytes: &Value, place: Place) {
    let Some(target) = machine.pointer(to) else {
        machine.forget_behind(to);
        return;
    };
    if let Value::Variant(UNTYPED, parts) = machine.peek(&target) {
        if is_zero && target.steps.is_empty() && machine.is_same(&parts[0], bytes) {
            let parts = vec![parts[0].clone(), Value::unit()];
            machine.put(&target, Value::Variant(UNTYPED, Rc::new(parts)));
        }
        return;
    }
    let Some(region) = machine.region_of(&target, bytes, 1) else {
        touch_first(machine, &target, true, place);
        let around = around(machine, &target, bytes);
        machine.forget_there(&around);
        return;
    };
    let old = machine.peek(&region);
    let new = if is_zero { zeroed(machine, &old) } else { machine.forgotten_in_c(&old) };
    machine.write(&region, new, place);
}

/// A value of the same shape all of whose bytes are zero.
fn zeroed(machine: &mut Machine<'_>, old: &Value) -> Value {
    match old {
        Value::Sequence(Sequence { element, items }) => {
            let items = match items {
                Items::Each(items) => {
                    let items = items.iter().map(|item| zeroed(machine, item)).collect();
                    Items::Each(Rc::new(items))
                }
                Items::Alike(item, length) => Items::Alike(Rc::new(zeroed(machine, item)), *length),
            };
            Value::Sequence(Sequence { element: element.clone(), items })
        }
        Value::Reference(_) | Value::Variant("None", _) => Value::none(),
        other => {
            let ty = machine.type_of(other);
            machine.zero(&ty)
        }
    }
}

/// Notes that memory is touched of which it is only known where it begins.
fn touch_first(machine: &mut Machine<'_>, path: &Path, writes: bool, place: Place) {
    let first = match machine.peek(path) {
        Value::Sequence(_) => machine.element_at(path, 0),
        _ => path.clone(),
    };
    machine.note_access(&first, writes, place);
}

/// Notes that what a pointer leads to is touched, at least its first element.
pub(super) fn touch(machine: &mut Machine<'_>, pointer: &Value, writes: bool, place: Place) {
    if let Some(path) = machine.pointer(pointer) {
        touch_first(machine, &path, writes, place);
    }
}
