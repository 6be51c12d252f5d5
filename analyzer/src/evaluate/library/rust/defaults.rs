//! `Default` and `zeroed`: the value that a type has before anything is known of it.

use std::rc::Rc;

use super::subject::type_argument;
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::map::Map;
use crate::evaluate::value::{Constant, Content, Items, Length, MOST_ITEMS, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// The default value of a type; not known for types of the program whose `default` cannot be called.
pub(super) fn default_of(machine: &mut Machine<'_>, ty: &Type, place: Place) -> Value {
    match ty {
        Type::Scalar(scalar) => zero(*scalar),
        Type::Text => Value::Text(Some("".into())),
        Type::Tuple(parts) => {
            let parts: Vec<Value> =
                parts.iter().map(|part| default_of(machine, part, place)).collect();
            Value::Tuple(Rc::new(parts))
        }
        Type::Array(inner, Some(length)) => {
            let each = default_of(machine, inner, place);
            Value::Sequence(repeated(machine, (**inner).clone(), &each, Length::Known(*length)))
        }
        Type::Defined(definition, _) => default_of_program(machine, *definition, ty, place),
        Type::External(name, _) => match empty(name, ty) {
            Some(value) => value,
            None => match name.as_str() {
                "Box" | "Cow" | "Wrapping" => default_of(machine, &type_argument(ty, 0), place),
                "Rc" | "Arc" => {
                    let inner = default_of(machine, &type_argument(ty, 0), place);
                    super::copies::share(machine, name, inner)
                }
                _ if super::atomics::scalar(name).is_some() => {
                    let zero = super::atomics::scalar(name).map_or(Value::Moved, zero);
                    Value::Variant("Atomic", Rc::new(vec![zero]))
                }
                _ => match super::wrappers::cell(name) {
                    Some(cell) => {
                        let inner = default_of(machine, &type_argument(ty, 0), place);
                        Value::Variant(cell, Rc::new(vec![inner]))
                    }
                    None => machine.fresh(ty.clone()),
                },
            },
        },
        _ => machine.fresh(ty.clone()),
    }
}

/// The number 0 of a type, or what stands for it.
pub(super) fn zero(scalar: Scalar) -> Value {
    let constant = match scalar {
        Scalar::F32 | Scalar::F64 => Constant::Float(0.0.into()),
        Scalar::Bool => Constant::Bool(false),
        Scalar::Char => Constant::Char('\0'),
        _ => Constant::Integer(0.into()),
    };
    Value::Scalar(scalar, Content::Known(constant))
}

/// An empty value of a type of a library. `None`: it has no empty value.
pub(super) fn empty(name: &str, ty: &Type) -> Option<Value> {
    let map = |sorted, is_set| {
        let value = if is_set { Type::unit() } else { type_argument(ty, 1) };
        Value::Map(Rc::new(Map::new(sorted, is_set, type_argument(ty, 0), value)))
    };
    Some(match name {
        "Vec" | "VecDeque" | "LinkedList" | "SmallVec" | "ArrayVec" => Value::Sequence(Sequence {
            element: type_argument(ty, 0),
            items: Items::Each(Rc::default()),
        }),
        "BinaryHeap" => super::heaps::of(Sequence {
            element: type_argument(ty, 0),
            items: Items::Each(Rc::default()),
        }),
        "Option" => Value::none(),
        "String" | "PathBuf" | "OsString" => Value::Text(Some("".into())),
        "HashMap" | "FxHashMap" | "AHashMap" | "IndexMap" => map(false, false),
        "HashSet" | "FxHashSet" | "AHashSet" | "IndexSet" => map(false, true),
        "BTreeMap" => map(true, false),
        "BTreeSet" => map(true, true),
        "OnceCell" => Value::Variant("OnceCell", Rc::new(vec![Value::none()])),
        "OnceLock" => Value::Variant("OnceLock", Rc::new(vec![Value::none()])),
        "PhantomData" => Value::unit(),
        _ => return None,
    })
}

/// The default of a type of the program: its own, or that of each field where it is derived.
fn default_of_program(
    machine: &mut Machine<'_>,
    definition: crate::program::DefinitionId,
    ty: &Type,
    place: Place,
) -> Value {
    match machine.call_associated(definition, "default", Vec::new(), ty, place) {
        Some(Ok(value)) => return value,
        // It does not return: who asks for a default cannot say so.
        Some(Err(_)) => return machine.fresh(ty.clone()),
        None => {}
    }
    let program = machine.program;
    let defined = program.definition(definition);
    let derived = defined.traits.iter().any(|name| name == "Default");
    let [only] = defined.variants.as_slice() else { return machine.fresh(ty.clone()) };
    if !derived || defined.is_enum {
        return machine.fresh(ty.clone());
    }
    let arguments = match ty {
        Type::Defined(_, arguments) => arguments.as_slice(),
        _ => &[],
    };
    let fields: Vec<Value> = only
        .fields
        .iter()
        .map(|(_, field)| {
            let field = substituted(field, &defined.generics, arguments);
            default_of(machine, &field, place)
        })
        .collect();
    Value::Defined { definition, variant: 0, fields: Rc::new(fields) }
}

/// A type with generic parameters replaced; one without an argument is not known.
pub(super) fn substituted(ty: &Type, generics: &[String], arguments: &[Type]) -> Type {
    let all = |types: &[Type]| -> Vec<Type> {
        types.iter().map(|ty| substituted(ty, generics, arguments)).collect()
    };
    let inside = |ty: &Type| Box::new(substituted(ty, generics, arguments));
    match ty {
        Type::Parameter(name) => generics
            .iter()
            .position(|generic| generic == name)
            .and_then(|index| arguments.get(index))
            .cloned()
            .unwrap_or_default(),
        Type::Tuple(parts) => Type::Tuple(all(parts)),
        Type::External(name, parts) => Type::External(name.clone(), all(parts)),
        Type::Defined(definition, parts) => Type::Defined(*definition, all(parts)),
        Type::Array(inner, length) => Type::Array(inside(inner), *length),
        Type::Slice(inner) => Type::Slice(inside(inner)),
        Type::Reference(inner) => Type::Reference(inside(inner)),
        other => other.clone(),
    }
}

/// A sequence of equal elements: one by one where they are few, so that they can be told apart once
/// they are changed.
pub(in crate::evaluate) fn repeated(
    machine: &mut Machine<'_>,
    element: Type,
    each: &Value,
    length: Length,
) -> Sequence {
    let few = match length {
        Length::Known(length) => {
            usize::try_from(length).ok().filter(|length| *length <= MOST_ITEMS)
        }
        Length::Unknown(_) => None,
    };
    let element = if element == Type::Unknown { machine.type_of(each) } else { element };
    let items = match few {
        Some(length) => {
            let items = (0..length).map(|_| super::copies::copy(machine, each)).collect();
            Items::Each(Rc::new(items))
        }
        None => Items::Alike(Rc::new(each.clone()), length),
    };
    Sequence { element, items }
}

/// `T::default()`, with what may end the rank.
pub(super) fn called(machine: &mut Machine<'_>, ty: &Type, place: Place) -> Outcome {
    if let Type::Defined(definition, _) = ty
        && let Some(outcome) =
            machine.call_associated(*definition, "default", Vec::new(), ty, place)
    {
        return outcome;
    }
    Ok(default_of(machine, ty, place))
}
