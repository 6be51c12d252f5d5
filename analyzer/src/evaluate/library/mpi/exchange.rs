//! What collectives hand from rank to rank, where it is known: each rank tells what it contributes,
//! and once all have, what each of them gets is computed here.

use super::memory::{Memory, scalars, shaped};
use super::state::integer;
use crate::evaluate::alike::Number;
use crate::evaluate::handle::KnownCommunicator;
use crate::evaluate::machine::{Machine, Told};
use crate::evaluate::shared::Telling;
use crate::evaluate::value::{Constant, Content, Value};
use crate::program::{Scalar, Type};
use p2p_protocol::model::CollectiveKind;

/// Which part of what all contribute a rank gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gets {
    /// Nothing.
    Nothing,
    /// What the rank of this number contributes.
    Of(u32),
    /// Its share of what the rank of this number contributes.
    ShareOf(u32),
    /// What all contribute, one after the other.
    AllOf,
    /// Its share of what each contributes.
    ShareOfEach,
    /// All contributions combined, element by element.
    Combined,
    /// The contributions of the ranks before it and its own, combined.
    CombinedUpToHere,
    /// The contributions of the ranks before it, combined.
    CombinedBefore,
    /// Its share of all contributions combined.
    ShareOfCombined,
}

/// Tells the others what this rank contributes; the numbers that it gets, if all are known.
pub(super) fn exchange(
    machine: &mut Machine<'_>,
    known: &KnownCommunicator,
    kind: CollectiveKind,
    sent: Option<&Memory>,
    gets: Gets,
    operation: Option<&str>,
) -> Option<Vec<i128>> {
    let contribution = contribution(machine, kind, sent);
    if gets == Gets::Nothing {
        machine.tell(known.id, contribution);
        return None;
    }
    let told = machine.exchange_numbers(known, contribution)?;
    let all: Vec<Option<Vec<i128>>> = told.into_iter().map(|told| numbers(kind, told)).collect();
    received(&all, known, gets, operation)
}

/// What a rank tells of its buffer: the collective, so that nothing is taken from another one, and
/// the numbers in it.
pub(super) fn contribution(
    machine: &mut Machine<'_>,
    kind: CollectiveKind,
    sent: Option<&Memory>,
) -> Telling {
    let path = sent.filter(|memory| !memory.is_view).and_then(|memory| memory.path.as_ref());
    let Some(values) = path.and_then(|path| scalars(&machine.peek(path))) else {
        return Telling::Nothing;
    };
    let mut numbers = vec![Some((kind as i128).into())];
    for (_, content) in &values {
        match number(content) {
            Some(number) => numbers.push(Some(number)),
            // Only whole buffers are of use.
            None => return Telling::Nothing,
        }
    }
    Telling::Numbers(numbers)
}

/// A scalar as a number.
fn number(content: &Content) -> Option<Number> {
    match content {
        Content::Known(Constant::Integer(number)) => Some(*number),
        Content::Known(Constant::Bool(value)) => Some(i128::from(*value).into()),
        Content::Known(Constant::Float(number)) => Some(number.bits()),
        Content::Known(Constant::Char(_)) | Content::Unknown(_) => None,
    }
}

/// A number as a scalar.
fn value(number: i128, scalar: Scalar) -> Option<Value> {
    let constant = match scalar {
        Scalar::Bool => Constant::Bool(number != 0),
        Scalar::F32 | Scalar::F64 => {
            Constant::Float(f64::from_bits(u64::try_from(number).ok()?).into())
        }
        Scalar::Char => return None,
        _ => Constant::Integer(number.into()),
    };
    Some(Value::Scalar(scalar, Content::Known(constant)))
}

pub(super) fn numbers(kind: CollectiveKind, told: Told) -> Option<Vec<i128>> {
    match told {
        Told::Numbers(numbers) if numbers.first() == Some(&Some(kind as i128)) => {
            numbers.into_iter().skip(1).collect()
        }
        _ => None,
    }
}

fn received(
    all: &[Option<Vec<i128>>],
    known: &KnownCommunicator,
    gets: Gets,
    operation: Option<&str>,
) -> Option<Vec<i128>> {
    // Asked only where it matters: ranks that get the same do the same.
    let here = || usize::try_from(known.rank()).expect("ranks fit anywhere");
    let share = |numbers: &[i128]| -> Option<Vec<i128>> {
        let length = numbers.len() / all.len();
        numbers.chunks(length.max(1)).nth(here()).map(<[i128]>::to_vec)
    };
    let of = |rank: u32| all.get(usize::try_from(rank).ok()?)?.as_ref();
    match gets {
        Gets::Nothing => None,
        Gets::Of(rank) => of(rank).cloned(),
        Gets::ShareOf(rank) => share(of(rank)?),
        Gets::AllOf => all.iter().cloned().collect::<Option<Vec<_>>>().map(|all| all.concat()),
        Gets::ShareOfEach => all
            .iter()
            .map(|numbers| share(numbers.as_ref()?))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.concat()),
        Gets::Combined => combined(all, operation),
        Gets::CombinedUpToHere => combined(&all[..=here()], operation),
        Gets::CombinedBefore => combined(&all[..here()], operation),
        Gets::ShareOfCombined => share(&combined(all, operation)?),
    }
}

pub(super) fn combined(all: &[Option<Vec<i128>>], operation: Option<&str>) -> Option<Vec<i128>> {
    let operation = operation?;
    let mut rest = all.iter();
    let mut result = rest.next()?.clone()?;
    for numbers in rest {
        let numbers = numbers.as_ref()?;
        if numbers.len() != result.len() {
            return None;
        }
        for (one, &two) in result.iter_mut().zip(numbers) {
            *one = combine(operation, *one, two)?;
        }
    }
    Some(result)
}

/// Two whole numbers combined, by the name that rsmpi gives the operation.
fn combine(operation: &str, one: i128, two: i128) -> Option<i128> {
    Some(match operation {
        "sum" => one.checked_add(two)?,
        "product" => one.checked_mul(two)?,
        "max" => one.max(two),
        "min" => one.min(two),
        "logical_and" => i128::from(one != 0 && two != 0),
        "logical_or" => i128::from(one != 0 || two != 0),
        "logical_xor" => i128::from((one != 0) != (two != 0)),
        "bitwise_and" => one & two,
        "bitwise_or" => one | two,
        "bitwise_xor" => one ^ two,
        _ => return None,
    })
}

/// The numbers in the shape of a buffer; `None` where they do not fit.
pub(super) fn placed(machine: &mut Machine<'_>, old: &Value, numbers: &[i128]) -> Option<Value> {
    if scalars(old)?.len() != numbers.len() {
        return None;
    }
    let mut all_fit = true;
    let placed = shaped(machine, old, &mut |machine, position, ty| {
        let made = match (&ty, numbers.get(position)) {
            (Type::Scalar(scalar), Some(&number)) if fits(number, *scalar) => {
                value(number, *scalar)
            }
            _ => None,
        };
        all_fit &= made.is_some();
        made.unwrap_or_else(|| machine.fresh(ty))
    });
    all_fit.then_some(placed)
}

/// Whether a whole number is one of a type's: what overflows is not computed here.
fn fits(number: i128, scalar: Scalar) -> bool {
    if !scalar.is_integer() {
        return true;
    }
    let bits = u32::try_from(scalar.bytes() * 8).expect("a scalar has few bits");
    let is_signed = scalar.name().starts_with('i');
    match (is_signed, bits) {
        (_, 128) => true,
        (true, bits) => (-(1_i128 << (bits - 1))..1_i128 << (bits - 1)).contains(&number),
        (false, bits) => (0..1_i128 << bits).contains(&number),
    }
}

/// Whether what is combined can be computed exactly: not sums of floating-point numbers, whose
/// order MPI leaves open.
pub(super) fn is_exact(machine: &mut Machine<'_>, memory: &Memory) -> bool {
    let values = memory.path.as_ref().and_then(|path| scalars(&machine.peek(path)));
    values.is_some_and(|values| {
        values.iter().all(|(scalar, content)| {
            !scalar.is_float() && (integer(content).is_some() || *scalar == Scalar::Bool)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::handle::Members;

    fn world(rank: u32) -> KnownCommunicator {
        KnownCommunicator {
            id: 0,
            members: Members::of_world(3.into()),
            rank: i128::from(rank).into(),
            grid: None,
            neighbors: None,
            remote: None,
        }
    }

    fn gets(rank: u32, gets: Gets, contributions: &[&[i128]]) -> Option<Vec<i128>> {
        let all: Vec<_> = contributions.iter().map(|numbers| Some(numbers.to_vec())).collect();
        received(&all, &world(rank), gets, Some("sum"))
    }

    #[test]
    fn each_gets_its_part() {
        let rows: [&[i128]; 3] = [&[1, 2, 3], &[4, 5, 6], &[7, 8, 9]];
        assert_eq!(gets(1, Gets::Of(2), &rows), Some(vec![7, 8, 9]));
        assert_eq!(gets(1, Gets::ShareOf(0), &rows), Some(vec![2]));
        assert_eq!(gets(1, Gets::ShareOfEach, &rows), Some(vec![2, 5, 8]));
        assert_eq!(gets(0, Gets::AllOf, &rows), Some((1..=9).collect()));
        assert_eq!(gets(0, Gets::Combined, &rows), Some(vec![12, 15, 18]));
        assert_eq!(gets(1, Gets::CombinedUpToHere, &rows), Some(vec![5, 7, 9]));
        assert_eq!(gets(2, Gets::CombinedBefore, &rows), Some(vec![5, 7, 9]));
        assert_eq!(gets(0, Gets::CombinedBefore, &rows), None);
        assert_eq!(gets(2, Gets::ShareOfCombined, &rows), Some(vec![18]));
    }

    #[test]
    fn one_that_is_not_known_leaves_all_unknown() {
        let all = [Some(vec![1]), None, Some(vec![3])];
        assert_eq!(received(&all, &world(0), Gets::Combined, Some("sum")), None);
        assert_eq!(received(&all, &world(0), Gets::AllOf, None), None);
        assert_eq!(received(&all, &world(0), Gets::Of(2), None), Some(vec![3]));
        assert_eq!(received(&all, &world(0), Gets::Of(1), None), None);
    }

    #[test]
    fn what_overflows_does_not_fit() {
        assert!(fits(255, Scalar::U8));
        assert!(!fits(256, Scalar::U8));
        assert!(!fits(-1, Scalar::U8));
        assert!(fits(-128, Scalar::I8));
        assert!(!fits(128, Scalar::I8));
    }
}
