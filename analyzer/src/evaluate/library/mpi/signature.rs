//! Type signatures (MPI 4.0, 5.1): the scalars that a value is made of, in order.
//!
//! Two signatures are compared as what repeats in them and how often, so that a struct of three
//! `i32` and an array of three agree. What is not known has no signature.

use std::rc::Rc;

use crate::evaluate::handle::Handle;
use crate::evaluate::machine::Machine;
use crate::evaluate::value::Value;
use crate::program::{Definition, DefinitionId, Place, Scalar, Type};

/// The most scalars of one value that are told apart one by one.
const MOST_SCALARS: usize = 256;

/// How deep types may contain each other.
const DEEPEST: u32 = 16;

/// What a value is made of.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evaluate) struct Signature {
    /// The shortest sequence of scalars that the whole repeats.
    unit: Rc<[Scalar]>,
    /// How often it is repeated.
    times: u64,
}

impl Signature {
    /// Of one scalar. What MPI has no type for has none; `usize` travels as `u64`.
    pub(in crate::evaluate) fn of_scalar(scalar: Scalar) -> Option<Signature> {
        let travels = match scalar {
            Scalar::Usize => Scalar::U64,
            Scalar::Isize => Scalar::I64,
            Scalar::Char | Scalar::I128 | Scalar::U128 => return None,
            other => other,
        };
        Some(Signature { unit: Rc::new([travels]), times: 1 })
    }

    /// Of nothing.
    pub(in crate::evaluate) fn empty() -> Signature {
        Signature { unit: Rc::new([]), times: 0 }
    }

    /// This one so many times in a row.
    pub(in crate::evaluate) fn repeated(&self, times: u64) -> Signature {
        match times {
            0 => Signature::empty(),
            _ => Signature { unit: self.unit.clone(), times: self.times.saturating_mul(times) },
        }
    }

    /// This one, and then another one. `None`: too long to be told apart.
    pub(in crate::evaluate) fn followed_by(&self, next: &Signature) -> Option<Signature> {
        if self.times == 0 {
            return Some(next.clone());
        }
        if next.times == 0 {
            return Some(self.clone());
        }
        if self.unit == next.unit {
            return Some(Signature { times: self.times + next.times, ..self.clone() });
        }
        let mut scalars = self.scalars()?;
        scalars.extend(next.scalars()?);
        (scalars.len() <= MOST_SCALARS).then(|| Signature::of_scalars(&scalars))
    }

    /// Every scalar, where they are not too many.
    fn scalars(&self) -> Option<Vec<Scalar>> {
        let times = usize::try_from(self.times).ok()?;
        (times.saturating_mul(self.unit.len()) <= MOST_SCALARS).then(|| self.unit.repeat(times))
    }

    fn of_scalars(scalars: &[Scalar]) -> Signature {
        let length = scalars.len();
        let period = (1..=length)
            .find(|&period| {
                length.is_multiple_of(period)
                    && scalars.chunks(period).all(|part| part == &scalars[..period])
            })
            .unwrap_or(length);
        match period {
            0 => Signature::empty(),
            _ => Signature { unit: scalars[..period].into(), times: (length / period) as u64 },
        }
    }

    /// How often [`Signature::name`] stands in it.
    pub(in crate::evaluate) fn times(&self) -> u64 {
        self.times
    }

    /// What is repeated: `f64`, or `{f64, i32}`; in C `double`. `None`: nothing.
    pub(in crate::evaluate) fn name(&self, in_c: bool) -> Option<String> {
        let name = |scalar: &Scalar| if in_c { c_name(*scalar) } else { scalar.name() };
        match &*self.unit {
            [] => None,
            [scalar] => Some(name(scalar).to_owned()),
            several => {
                let names: Vec<_> = several.iter().map(name).collect();
                Some(format!("{{{}}}", names.join(", ")))
            }
        }
    }

    /// What is repeated, scalar by scalar.
    pub(in crate::evaluate) fn unit(&self) -> &[Scalar] {
        &self.unit
    }

    /// The only scalar that it is made of.
    pub(in crate::evaluate) fn only_scalar(&self) -> Option<Scalar> {
        match *self.unit {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The bytes of what is repeated.
    pub(in crate::evaluate) fn bytes(&self) -> u64 {
        self.unit.iter().map(|scalar| scalar.bytes()).sum()
    }
}

/// What C calls a scalar.
fn c_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned",
        Scalar::I64 => "long",
        Scalar::U64 => "unsigned long",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::Bool => "_Bool",
        other => other.name(),
    }
}

/// The signature of a type's values in C, where structs are made of their members.
pub(in crate::evaluate) fn of_c_type(
    machine: &mut Machine<'_>,
    ty: &Type,
    place: Place,
) -> Option<Signature> {
    let Type::Defined(id, _) = ty else { return of_type(machine, ty, place) };
    let program = machine.program;
    if !program.can_be_taken_apart(ty) {
        return None;
    }
    let [only] = program.definition(*id).variants.as_slice() else { return None };
    let mut whole = Signature::empty();
    for (_, field) in &only.fields {
        let part = match field {
            Type::Array(element, Some(length)) => {
                of_c_type(machine, element, place)?.repeated(*length)
            }
            other => of_c_type(machine, other, place)?,
        };
        whole = whole.followed_by(&part)?;
    }
    Some(whole)
}

/// The signature of a type's values, where every scalar of them is known.
pub(in crate::evaluate) fn of_type(
    machine: &mut Machine<'_>,
    ty: &Type,
    place: Place,
) -> Option<Signature> {
    nested(machine, ty, place, 0)
}

fn nested(machine: &mut Machine<'_>, ty: &Type, place: Place, depth: u32) -> Option<Signature> {
    if depth > DEEPEST {
        return None;
    }
    match ty {
        Type::Scalar(scalar) => Signature::of_scalar(*scalar),
        Type::Array(element, Some(length)) => {
            Some(nested(machine, element, place, depth + 1)?.repeated(*length))
        }
        Type::Tuple(parts) => concatenated(machine, parts.iter(), place, depth),
        Type::Defined(id, arguments) => of_definition(machine, *id, arguments, place, depth),
        Type::External(name, _) => alias(name).and_then(Signature::of_scalar),
        _ => None,
    }
}

/// What rsmpi's and C's names for numbers stand for.
fn alias(name: &str) -> Option<Scalar> {
    Some(match name {
        "Rank" | "Count" | "Tag" | "c_int" => Scalar::I32,
        "Address" | "c_long" | "c_longlong" => Scalar::I64,
        "c_double" => Scalar::F64,
        "c_float" => Scalar::F32,
        "c_uint" => Scalar::U32,
        "c_short" => Scalar::I16,
        "c_ushort" => Scalar::U16,
        "c_ulong" | "c_ulonglong" => Scalar::U64,
        "c_uchar" => Scalar::U8,
        "c_char" | "c_schar" => Scalar::I8,
        _ => return None,
    })
}

fn concatenated<'t>(
    machine: &mut Machine<'_>,
    parts: impl Iterator<Item = &'t Type>,
    place: Place,
    depth: u32,
) -> Option<Signature> {
    let mut whole = Signature::empty();
    for part in parts {
        whole = whole.followed_by(&nested(machine, part, place, depth + 1)?)?;
    }
    Some(whole)
}

/// A struct that derives `Equivalence` is made of its fields; one that implements it says itself
/// what it is made of.
fn of_definition(
    machine: &mut Machine<'_>,
    id: DefinitionId,
    arguments: &[Type],
    place: Place,
    depth: u32,
) -> Option<Signature> {
    let program = machine.program;
    let definition = program.definition(id);
    if let [function] = program.methods.of(Some(id), "equivalent_datatype") {
        let callee = Value::Function(*function, Rc::new([]));
        let answer = machine.call(&callee, Vec::new(), &Type::Unknown, place).ok()?;
        return match machine.behind(&answer, place) {
            Value::Handle(Handle::Datatype(datatype)) => datatype.signature.clone(),
            _ => None,
        };
    }
    let derives = definition.traits.iter().any(|name| name == "Equivalence");
    match definition.variants.as_slice() {
        [only] if derives && !definition.is_enum => {
            let fields: Vec<Type> = only
                .fields
                .iter()
                .map(|(_, ty)| with_arguments(ty, definition, arguments))
                .collect();
            concatenated(machine, fields.iter(), place, depth)
        }
        _ => None,
    }
}

/// A field's type with the struct's parameters replaced.
fn with_arguments(ty: &Type, definition: &Definition, arguments: &[Type]) -> Type {
    match ty {
        Type::Parameter(name) => {
            let position = definition.generics.iter().position(|generic| generic == name);
            position.and_then(|position| arguments.get(position)).cloned().unwrap_or_default()
        }
        Type::Array(element, length) => {
            Type::Array(Box::new(with_arguments(element, definition, arguments)), *length)
        }
        Type::Tuple(parts) => Type::Tuple(
            parts.iter().map(|part| with_arguments(part, definition, arguments)).collect(),
        ),
        Type::Defined(id, parts) => Type::Defined(
            *id,
            parts.iter().map(|part| with_arguments(part, definition, arguments)).collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(scalar: Scalar) -> Signature {
        Signature::of_scalar(scalar).expect("MPI has a type for it")
    }

    #[test]
    fn what_repeats_is_found() {
        let pair = scalar(Scalar::F64).followed_by(&scalar(Scalar::I32)).expect("short");
        assert_eq!(pair.name(false).as_deref(), Some("{f64, i32}"));
        assert_eq!(pair.times(), 1);
        assert_eq!(pair.bytes(), 12);
        let four = pair.followed_by(&pair).and_then(|two| two.followed_by(&two)).expect("short");
        assert_eq!((four.name(false), four.times()), (pair.name(false), 4));
    }

    #[test]
    fn equal_scalars_are_one_type() {
        let three = scalar(Scalar::I32).repeated(3);
        let one_by_one = scalar(Scalar::I32)
            .followed_by(&scalar(Scalar::I32))
            .and_then(|two| two.followed_by(&scalar(Scalar::I32)));
        assert_eq!(Some(three), one_by_one);
    }

    #[test]
    fn nothing_adds_nothing() {
        let one = scalar(Scalar::U8);
        assert_eq!(Signature::empty().followed_by(&one), Some(one.clone()));
        assert_eq!(one.followed_by(&one.repeated(0)), Some(one));
        assert_eq!(Signature::empty().name(false), None);
    }

    #[test]
    fn machine_words_travel_as_what_they_are() {
        assert_eq!(scalar(Scalar::Usize), scalar(Scalar::U64));
        assert_eq!(Signature::of_scalar(Scalar::Char), None);
    }

    #[test]
    fn what_is_too_long_is_not_told_apart() {
        let long = scalar(Scalar::F64).repeated(1 << 40);
        assert_eq!(long.followed_by(&long).map(|twice| twice.times()), Some(1 << 41));
        assert_eq!(long.followed_by(&scalar(Scalar::I32)), None);
    }
}
