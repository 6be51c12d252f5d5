//! How many elements an iterator still has, without asking for them.

use super::{Adapter, Lazy, ordinal, unknown_of};
use crate::evaluate::machine::Machine;
use crate::evaluate::value::{Content, Unknown, Value};
use crate::program::{Scalar, Type};

/// How many elements there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::evaluate) enum Count {
    /// So many.
    Known(u64),
    /// As many as this number says, which is not known.
    Unknown(Unknown),
    /// Only asking tells.
    Open,
    /// It never ends.
    Endless,
}

/// How many elements the iterator still has.
pub(in crate::evaluate) fn length(machine: &mut Machine<'_>, iterator: &Lazy) -> Count {
    match iterator {
        Lazy::Range { next, end: Some(end) } => between(machine, next, end),
        Lazy::Range { end: None, .. } | Lazy::Endless(_) => Count::Endless,
        Lazy::Items(_, from, to) => Count::Known((to.saturating_sub(*from)) as u64),
        Lazy::Elements(_, from, to) => Count::Known(to.saturating_sub(*from)),
        Lazy::Pieces(pieces) => Count::Known(pieces.count()),
        Lazy::Unknown { count, taken: 0, .. } => Count::Unknown(*count),
        Lazy::Unknown { .. } | Lazy::Program(_) => Count::Open,
        Lazy::Adapter(adapter) => length_of(machine, adapter),
    }
}

/// How many elements an adapter makes of its sources.
fn length_of(machine: &mut Machine<'_>, adapter: &Adapter) -> Count {
    match adapter {
        Adapter::Map(source, _)
        | Adapter::Enumerate(source, _)
        | Adapter::Rev(source)
        | Adapter::Inspect(source, _)
        | Adapter::Peekable(source, None)
        | Adapter::Cloned(source)
        | Adapter::Fuse(source, false) => length(machine, source),
        Adapter::Zip(one, other) | Adapter::Bounded(one, other) => {
            let (one, other) = (length(machine, one), length(machine, other));
            shorter(machine, one, other)
        }
        Adapter::Chain(None, second) => length(machine, second),
        Adapter::Chain(Some(first), second) => {
            match (length(machine, first), length(machine, second)) {
                (Count::Known(first), Count::Known(second)) => Count::Known(first + second),
                (Count::Unknown(count), Count::Known(0))
                | (Count::Known(0), Count::Unknown(count)) => Count::Unknown(count),
                (first @ (Count::Known(_) | Count::Unknown(_)), second @ Count::Unknown(_))
                | (first @ Count::Unknown(_), second @ Count::Known(_)) => {
                    together(machine, "add", first, second)
                }
                (Count::Endless, _) | (_, Count::Endless) => Count::Endless,
                _ => Count::Open,
            }
        }
        Adapter::StepBy(source, step, ahead) => match length(machine, source) {
            Count::Known(count) => {
                Count::Known(count.saturating_sub(*ahead).div_ceil((*step).max(1)))
            }
            Count::Endless => Count::Endless,
            _ => Count::Open,
        },
        Adapter::Take(source, most) => {
            let source = length(machine, source);
            shorter(machine, source, Count::Known(*most))
        }
        Adapter::Skip(source, ahead) => match length(machine, source) {
            Count::Known(count) => Count::Known(count.saturating_sub(*ahead)),
            Count::Unknown(count) if *ahead > 0 => {
                together(machine, "saturating_sub", Count::Unknown(count), Count::Known(*ahead))
            }
            other => other,
        },
        Adapter::Cycle(..) | Adapter::RepeatWith(_) => Count::Endless,
        _ => Count::Open,
    }
}

/// How many numbers there are from one to before another.
fn between(machine: &mut Machine<'_>, start: &Value, end: &Value) -> Count {
    match (ordinal(start), ordinal(end)) {
        (Some(start), Some(end)) => {
            Count::Known(u64::try_from(end.saturating_sub(start)).unwrap_or(0))
        }
        (Some(0), None) if matches!(end, Value::Scalar(..)) => Count::Unknown(unknown_of(end)),
        _ => {
            let count = machine.computed("subtract", &[end, start], Type::Scalar(Scalar::Usize));
            Count::Unknown(unknown_of(&count))
        }
    }
}

/// The smaller one of two counts.
fn shorter(machine: &mut Machine<'_>, one: Count, other: Count) -> Count {
    match (one, other) {
        (Count::Endless, count) | (count, Count::Endless) => count,
        (Count::Open, _) | (_, Count::Open) => Count::Open,
        (Count::Known(one), Count::Known(other)) => Count::Known(one.min(other)),
        (Count::Known(0), _) | (_, Count::Known(0)) => Count::Known(0),
        (one, other) if one == other => one,
        (one, other) => together(machine, "min", one, other),
    }
}

/// A count that is computed of two others.
fn together(machine: &mut Machine<'_>, what: &str, one: Count, other: Count) -> Count {
    let (one, other) = (number_of(one), number_of(other));
    let count = machine.computed(what, &[&one, &other], Type::Scalar(Scalar::Usize));
    Count::Unknown(unknown_of(&count))
}

/// A count as a value.
fn number_of(count: Count) -> Value {
    match count {
        Count::Unknown(unknown) => Value::Scalar(Scalar::Usize, Content::Unknown(unknown)),
        Count::Known(number) => Value::integer(i128::from(number), Scalar::Usize),
        Count::Open | Count::Endless => Value::integer(i128::from(u64::MAX), Scalar::Usize),
    }
}

impl super::Pieces {
    /// How many slices are left.
    fn count(&self) -> u64 {
        let left = self.to.saturating_sub(self.from);
        match (self.size, self.step) {
            (0, _) | (_, 0) => 0,
            (size, step) if self.whole => {
                if left < size {
                    0
                } else {
                    (left - size) / step + 1
                }
            }
            (_, step) => left.div_ceil(step),
        }
    }
}
