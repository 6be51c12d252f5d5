//! Buffers: which memory an operation uses, how many elements of which type are there, and what
//! becomes of it when a message arrives.
//!
//! Also views and partitions, which give memory another datatype, or parts of it to ranks.

use std::rc::Rc;

use p2p_protocol::model::Data;

use super::signature::{self, Signature};
use super::state;
use crate::evaluate::handle::{Datatype, Handle};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Content, Items, Length, Path, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// The most elements that get values of their own when a message arrives.
const MOST_ARRIVING: usize = 64;

/// What an operation sends from or receives into.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// What one element is made of, where it is known.
    pub(super) signature: Option<Signature>,
    /// How many elements, where it is known.
    pub(super) count: Option<u64>,
    /// Where it is; `None` for a value that is nowhere else.
    pub(super) path: Option<Path>,
    /// Whether it has a layout of its own, so that not all bytes of it need be used.
    pub(super) is_view: bool,
    /// How many elements belong to each rank, for a partition.
    pub(super) partition: Option<Option<Rc<[Option<u64>]>>>,
}

impl Memory {
    /// The memory that a buffer argument stands for.
    pub(super) fn of(machine: &mut Machine<'_>, value: &Value, place: Place) -> Memory {
        match value {
            Value::Reference(path) => match machine.peek(path) {
                inner @ Value::Reference(_) => Memory::of(machine, &inner, place),
                Value::Handle(handle) => Memory::of_handle(machine, &handle, place),
                content => Memory {
                    path: Some(path.clone()),
                    ..Memory::of_content(machine, &content, place)
                },
            },
            Value::Handle(handle) => Memory::of_handle(machine, handle, place),
            content => Memory::of_content(machine, content, place),
        }
    }

    /// One element of a type, in memory of its own.
    pub(super) fn one(machine: &mut Machine<'_>, ty: &Type, place: Place) -> Memory {
        let signature = signature::of_type(machine, ty, place);
        Memory { signature, count: Some(1), ..Memory::default() }
    }

    /// As many elements of a type as come.
    pub(super) fn any_number(machine: &mut Machine<'_>, ty: &Type, place: Place) -> Memory {
        Memory { count: None, ..Memory::one(machine, ty, place) }
    }

    fn of_handle(machine: &mut Machine<'_>, handle: &Handle, place: Place) -> Memory {
        match handle {
            Handle::View { of, layout } => {
                let inside = Memory::of(machine, of, place);
                match layout.as_deref() {
                    None => inside,
                    Some((count, datatype)) => Memory {
                        signature: datatype.signature.clone(),
                        count: *count,
                        is_view: true,
                        ..inside
                    },
                }
            }
            Handle::Partition { of, counts } => {
                let inside = Memory::of(machine, of, place);
                Memory { is_view: true, partition: Some(counts.clone()), ..inside }
            }
            _ => Memory::default(),
        }
    }

    fn of_content(machine: &mut Machine<'_>, content: &Value, place: Place) -> Memory {
        let (element, count) = elements(machine, content);
        let signature = signature::of_type(machine, &element, place);
        Memory { signature, count, ..Memory::default() }
    }

    /// What of it travels: its datatype, how many of it, and where they are.
    pub(super) fn data(&self, machine: &mut Machine<'_>) -> Data {
        let buffer = match (&self.path, self.is_view) {
            (Some(path), false) => machine.buffer(path),
            _ => None,
        };
        Data { buffer, ..self.amount(machine, self.count) }
    }

    /// So many elements of it, nowhere in particular.
    pub(super) fn amount(&self, machine: &mut Machine<'_>, elements: Option<u64>) -> Data {
        let (datatype, count) = match &self.signature {
            Some(signature) => {
                let name = signature.name(machine.is_c());
                let datatype = name.map(|name| machine.datatype(&name, Some(signature.bytes())));
                (datatype, elements.map(|elements| elements.saturating_mul(signature.times())))
            }
            None => (None, None),
        };
        Data { datatype, count, message: None, label: None, buffer: None }
    }

    /// The part of it that belongs to each of so many ranks, as an even split gives it.
    pub(super) fn share(&self, machine: &mut Machine<'_>, ranks: u32) -> Data {
        let each = self.count.map(|count| count / u64::from(ranks.max(1)));
        self.amount(machine, each)
    }

    /// All of it; of memory that is divided, the type alone.
    pub(super) fn whole(&self, machine: &mut Machine<'_>) -> Data {
        let count = if self.partition.is_some() { None } else { self.count };
        self.amount(machine, count)
    }

    /// How much of it belongs to each rank, in the datatype's elements, where it is divided and that is
    /// known.
    pub(super) fn parts(&self) -> Option<Vec<Option<u64>>> {
        let counts = self.partition.as_ref()?.as_ref()?;
        let times = self.signature.as_ref()?.times();
        Some(counts.iter().map(|count| count.map(|it| it.saturating_mul(times))).collect())
    }

    /// What of it is not known, for coverage; `needs_count`: whether it has a length of its own.
    pub(super) fn gap(&self, needs_count: bool) -> Option<&'static str> {
        match (&self.signature, self.count) {
            (None, _) => Some("the type of its elements is not known"),
            (_, None) if needs_count => Some("its length is not known"),
            _ => None,
        }
    }

    /// What is in it once a message has arrived that nobody knows: values of the same shape.
    pub(super) fn arriving(&self, machine: &mut Machine<'_>) -> Option<Rc<(Path, Value)>> {
        let path = self.path.clone()?;
        let old = machine.peek(&path);
        let new = shaped(machine, &old, &mut |machine, _, ty| machine.fresh(ty));
        Some(Rc::new((path, new)))
    }
}

/// The type of the elements in a buffer, and how many it has.
fn elements(machine: &mut Machine<'_>, content: &Value) -> (Type, Option<u64>) {
    match content {
        Value::Scalar(scalar, _) => (Type::Scalar(*scalar), Some(1)),
        Value::Sequence(sequence) => (element_type(machine, sequence), length(sequence)),
        Value::Unknown(_, ty) => match ty.behind_references() {
            Type::Array(element, length) => ((**element).clone(), *length),
            Type::Slice(element) => ((**element).clone(), None),
            Type::External(name, arguments) if name == "Vec" => {
                (arguments.first().cloned().unwrap_or_default(), None)
            }
            Type::Unknown | Type::Parameter(_) | Type::Trait(_) => (Type::Unknown, None),
            one => (one.clone(), Some(1)),
        },
        Value::Text(_) => (Type::Scalar(Scalar::U8), None),
        other => (machine.type_of(other), Some(1)),
    }
}

/// The type of a sequence's elements: what it says, or what its first one has.
pub(super) fn element_type(machine: &mut Machine<'_>, sequence: &Sequence) -> Type {
    let first = match &sequence.items {
        Items::Each(items) => items.first().cloned(),
        Items::Alike(item, _) => Some((**item).clone()),
    };
    match (&sequence.element, first) {
        (Type::Scalar(_), _) | (_, None) => sequence.element.clone(),
        (Type::Array(..), Some(Value::Sequence(row))) => {
            Type::Array(Box::new(element_type(machine, &row)), length(&row))
        }
        (_, Some(first)) => match machine.type_of(&first) {
            Type::Unknown => sequence.element.clone(),
            known => known,
        },
    }
}

fn length(sequence: &Sequence) -> Option<u64> {
    match &sequence.items {
        Items::Each(items) => Some(items.len() as u64),
        Items::Alike(_, Length::Known(length)) => Some(*length),
        Items::Alike(_, Length::Unknown(_)) => None,
    }
}

/// A value of the same shape as an old one, made by `make` from each element's number and type.
/// Elements that are no scalars are made as a whole; of many elements, one stands for all.
pub(super) fn shaped(
    machine: &mut Machine<'_>,
    old: &Value,
    make: &mut dyn FnMut(&mut Machine<'_>, usize, Type) -> Value,
) -> Value {
    let mut next = 0;
    shaped_from(machine, old, &mut |machine, ty| {
        next += 1;
        make(machine, next - 1, ty)
    })
}

fn shaped_from(
    machine: &mut Machine<'_>,
    old: &Value,
    make: &mut dyn FnMut(&mut Machine<'_>, Type) -> Value,
) -> Value {
    match old {
        Value::Sequence(sequence) => {
            let element = element_type(machine, sequence);
            let items = match &sequence.items {
                Items::Each(items) if items.len() <= MOST_ARRIVING => {
                    let made = items.iter().map(|_| make(machine, element.clone()));
                    Items::Each(Rc::new(made.collect()))
                }
                Items::Each(items) => {
                    let length = Length::Known(items.len() as u64);
                    Items::Alike(Rc::new(make(machine, element.clone())), length)
                }
                Items::Alike(_, length) => {
                    Items::Alike(Rc::new(make(machine, element.clone())), *length)
                }
            };
            Value::Sequence(Sequence { element, items })
        }
        Value::Defined { definition, variant: 0, fields } => {
            let changed = fields.iter().map(|field| shaped_from(machine, field, make)).collect();
            Value::Defined { definition: *definition, variant: 0, fields: Rc::new(changed) }
        }
        other => {
            let ty = machine.type_of(other);
            make(machine, ty)
        }
    }
}

/// The scalars in a value, one by one, if they are not too many and all of them are known scalars.
pub(super) fn scalars(content: &Value) -> Option<Vec<(Scalar, Content)>> {
    let scalar = |value: &Value| match value {
        Value::Scalar(scalar, content) => Some((*scalar, *content)),
        _ => None,
    };
    match content {
        Value::Scalar(..) => Some(vec![scalar(content)?]),
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => {
            (items.len() <= MOST_ARRIVING).then(|| items.iter().map(scalar).collect())?
        }
        Value::Sequence(Sequence { items: Items::Alike(item, Length::Known(length)), .. }) => {
            let length = usize::try_from(*length).ok().filter(|&length| length <= MOST_ARRIVING)?;
            Some(vec![scalar(item)?; length])
        }
        _ => None,
    }
}

/// How many elements a buffer has.
pub(super) fn count(machine: &mut Machine<'_>, buffer: &Value, call: &Call<'_>) -> Option<Outcome> {
    let memory = Memory::of(machine, buffer, call.place);
    Some(Ok(match memory.count {
        Some(count) => Value::integer(i128::from(count), Scalar::I32),
        None => machine.fresh(Type::Scalar(Scalar::I32)),
    }))
}

/// The number of elements, and other methods of views.
pub(super) fn method(
    machine: &mut Machine<'_>,
    handle: &Handle,
    call: &Call<'_>,
) -> Option<Outcome> {
    let memory = Memory::of_handle(machine, handle, call.place);
    match call.name {
        "count" => count(machine, &Value::Handle(handle.clone()), call),
        "len" => Some(Ok(match memory.count {
            Some(count) => Value::integer(i128::from(count), Scalar::Usize),
            None => machine.fresh(Type::Scalar(Scalar::Usize)),
        })),
        "counts" => match handle {
            Handle::Partition { counts, .. } => Some(Ok(numbers(machine, counts.as_deref()))),
            _ => None,
        },
        "displs" => Some(Ok(numbers(machine, None))),
        "downcast" => Some(Ok(match (handle, memory.path) {
            (Handle::View { .. }, Some(path)) => Value::some(Value::Reference(path)),
            _ => machine.fresh(call.result()),
        })),
        "reborrow" | "reborrow_mut" | "downgrade" => Some(Ok(Value::Handle(handle.clone()))),
        _ => None,
    }
}

/// How many elements each rank has.
fn numbers(machine: &mut Machine<'_>, counts: Option<&[Option<u64>]>) -> Value {
    let ty = Type::Scalar(Scalar::I32);
    let items = match counts {
        Some(counts) => {
            let number = |count: &Option<u64>| match count {
                Some(count) => Value::integer(i128::from(*count), Scalar::I32),
                None => machine.fresh(ty.clone()),
            };
            Items::Each(Rc::new(counts.iter().map(number).collect()))
        }
        None => {
            let length = Length::Unknown(machine.fresh_unknown());
            Items::Alike(Rc::new(machine.fresh(ty.clone())), length)
        }
    };
    Value::Reference(machine.allocate(Value::Sequence(Sequence { element: ty, items })))
}

/// Makes views and partitions.
pub(super) fn function(machine: &mut Machine<'_>, owner: &str, call: &Call<'_>) -> Option<Outcome> {
    let of = Box::new(call.arguments.first()?.clone());
    let handle = match (owner, call.name) {
        ("Partition" | "PartitionMut", "new") => {
            let counts = counts(machine, call.arguments.get(1)?, call.place);
            Handle::Partition { of, counts }
        }
        ("DynBuffer" | "DynBufferMut", "new") => Handle::View { of, layout: None },
        (_, "with_count_and_datatype" | "from_raw") => {
            let count = call.arguments.get(1)?.as_integer().and_then(|n| u64::try_from(n).ok());
            let datatype = match machine.behind(call.arguments.get(2)?, call.place) {
                Value::Handle(Handle::Datatype(datatype)) => datatype,
                _ => Datatype::of(None),
            };
            Handle::View { of, layout: Some(Box::new((count, datatype))) }
        }
        _ => return None,
    };
    Some(Ok(Value::Handle(handle)))
}

/// Numbers of elements for each rank.
pub(super) fn counts(
    machine: &mut Machine<'_>,
    value: &Value,
    place: Place,
) -> Option<Rc<[Option<u64>]>> {
    let content = machine.behind(value, place);
    let counts = scalars(&content)?;
    let number = |(_, content): &(Scalar, Content)| {
        state::integer(content).and_then(|number| u64::try_from(number).ok())
    };
    Some(counts.iter().map(number).collect())
}
