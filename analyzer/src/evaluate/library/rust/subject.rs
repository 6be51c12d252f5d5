//! What a method is called on, and the small things that all methods need: arguments, results that
//! are not known, panics.

use p2p_protocol::model::Departure;

use crate::evaluate::machine::{Call, Flow, Machine, Outcome};
use crate::evaluate::value::{Path, Step, Value};
use crate::program::{Place, Scalar, Type};

/// What a method is called on, behind all references.
pub(super) struct Subject {
    /// Where it stands; `None` for a value that was made on the spot.
    pub(super) path: Option<Path>,
    /// What it is. Looking at it is no access.
    pub(super) value: Value,
    /// Where the method is called.
    place: Place,
}

impl Subject {
    /// What a receiver refers to.
    pub(super) fn of(machine: &mut Machine<'_>, receiver: &Value, place: Place) -> Subject {
        let mut subject = Subject { path: None, value: receiver.clone(), place };
        // References in circles do not exist in Rust, but may in what is made of unknown memory.
        for _ in 0..16 {
            let Value::Reference(path) = &subject.value else { break };
            let path = path.clone();
            subject.value = machine.peek(&path);
            subject.path = Some(path);
        }
        subject
    }

    /// Where it stands; a value that was made on the spot gets a place.
    pub(super) fn place(&self, machine: &mut Machine<'_>) -> Path {
        match &self.path {
            Some(path) => path.clone(),
            None => machine.allocate(self.value.clone()),
        }
    }

    /// A reference to a part of it.
    pub(super) fn part(&self, machine: &mut Machine<'_>, step: Step) -> Value {
        Value::Reference(self.place(machine).child(step))
    }

    /// A reference to it.
    pub(super) fn reference(&self, machine: &mut Machine<'_>) -> Value {
        Value::Reference(self.place(machine))
    }

    /// Its value where the program reads it, which is an access.
    pub(super) fn read(&self, machine: &mut Machine<'_>, place: Place) -> Value {
        match &self.path {
            Some(path) => machine.read(path, place),
            None => self.value.clone(),
        }
    }

    /// Its value where the method takes it: what must not be there twice is moved out.
    pub(super) fn take(&self, machine: &mut Machine<'_>) -> Value {
        match &self.path {
            Some(path) => machine.take(path, self.place),
            None => self.value.clone(),
        }
    }

    /// Gives it another value.
    pub(super) fn write(&self, machine: &mut Machine<'_>, value: Value, place: Place) {
        if let Some(path) = &self.path {
            machine.write(path, value, place);
        }
    }
}

/// An argument as it was passed.
pub(super) fn argument(call: &Call<'_>, index: usize) -> Value {
    call.arguments.get(index).cloned().unwrap_or(Value::Moved)
}

/// An argument behind all references.
pub(super) fn behind(machine: &mut Machine<'_>, call: &Call<'_>, index: usize) -> Value {
    match call.arguments.get(index) {
        Some(value @ Value::Reference(_)) => machine.behind(&value.clone(), call.place),
        Some(value) => value.clone(),
        None => Value::Moved,
    }
}

/// All arguments behind all references.
pub(super) fn all_behind(machine: &mut Machine<'_>, call: &Call<'_>) -> Vec<Value> {
    (0..call.arguments.len()).map(|index| behind(machine, call, index)).collect()
}

/// An argument that is a known number that counts something.
pub(super) fn count(machine: &mut Machine<'_>, call: &Call<'_>, index: usize) -> Option<u64> {
    behind(machine, call, index).as_integer().and_then(|number| u64::try_from(number).ok())
}

/// What a call computes of these inputs, where that is not known. `ty` is its type as the method
/// says it; where that leaves something open, inference's is better.
pub(super) fn computed(
    machine: &mut Machine<'_>,
    call: &Call<'_>,
    inputs: &[&Value],
    ty: Type,
) -> Value {
    let ty = if is_open(&ty) && *call.ty != Type::Unknown { call.result() } else { ty };
    machine.computed(call.name, inputs, ty)
}

/// What a call computes of its subject and all its arguments, where that is not known.
pub(super) fn computed_of_all(
    machine: &mut Machine<'_>,
    call: &Call<'_>,
    subject: &Value,
    ty: Type,
) -> Value {
    let arguments = all_behind(machine, call);
    let inputs: Vec<&Value> = std::iter::once(subject).chain(&arguments).collect();
    computed(machine, call, &inputs, ty)
}

/// Whether a type leaves something open.
pub(super) fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Unknown | Type::Variable(_) => true,
        Type::Tuple(parts) | Type::External(_, parts) => parts.iter().any(is_open),
        Type::Array(inner, _) | Type::Slice(inner) | Type::Reference(inner) => is_open(inner),
        _ => false,
    }
}

/// The rank panics here.
pub(super) fn panic(machine: &mut Machine<'_>, place: Place) -> Flow {
    machine.leave(Departure::Panicked, place)
}

/// The type's argument: of `Option<f64>` the first is `f64`.
pub(super) fn type_argument(ty: &Type, index: usize) -> Type {
    match ty {
        Type::External(_, arguments) => arguments.get(index).cloned().unwrap_or_default(),
        Type::Reference(inner) => type_argument(inner, index),
        _ => Type::Unknown,
    }
}

/// `Option<ty>`
pub(super) fn option_of(ty: Type) -> Type {
    Type::External("Option".to_owned(), vec![ty])
}

/// The type of counts.
pub(super) const USIZE: Type = Type::Scalar(Scalar::Usize);

/// The type of truth values.
pub(super) const BOOL: Type = Type::Scalar(Scalar::Bool);

/// A count as a value.
pub(super) fn size(number: u64) -> Value {
    Value::integer(i128::from(number), Scalar::Usize)
}

/// Calls a closure, whose result may be of any type.
pub(super) fn run(
    machine: &mut Machine<'_>,
    closure: &Value,
    arguments: Vec<Value>,
    place: Place,
) -> Outcome {
    machine.call(closure, arguments, &Type::Unknown, place)
}

/// `(first, second)`
pub(super) fn pair(first: Value, second: Value) -> Value {
    Value::Tuple(std::rc::Rc::new(vec![first, second]))
}
