//! The last element of an iterator instead of its next: `rev`, `next_back`.

use super::{Adapter, Asking, Count, Lazy, Next, Pieces, generalize, length, next, ordinal};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Content, Step, Value};
use crate::program::{Place, Scalar};

/// Asks for the last element. Like [`next`] in all else.
///
/// Where the number of elements is not known, they are taken to be alike.
pub(in crate::evaluate) fn next_back(
    machine: &mut Machine<'_>,
    iterator: &mut Lazy,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    match iterator {
        Lazy::Range { next, end: Some(end) } => {
            if let (Some(first), Some(last)) = (ordinal(next), ordinal(end)) {
                if first >= last {
                    return Ok(Next::End);
                }
                *end = predecessor(end);
                return Ok(Next::Element(end.clone()));
            }
        }
        Lazy::Items(items, from, to) => {
            if *from >= *to {
                return Ok(Next::End);
            }
            *to -= 1;
            return Ok(Next::Element(items[*to].clone()));
        }
        Lazy::Elements(of, from, to) => {
            if *from >= *to {
                return Ok(Next::End);
            }
            *to -= 1;
            return Ok(Next::Element(Value::Reference(of.child(Step::Element(*to)))));
        }
        Lazy::Pieces(pieces) => return Ok(pieces.next_back()),
        // Alike from either end.
        Lazy::Unknown { .. } => return next(machine, iterator, deciding, place),
        Lazy::Adapter(adapter) => return last_of(machine, adapter, deciding, place),
        _ => {}
    }
    general(machine, iterator, deciding, place)
}

/// An element of an iterator of which it is not known where it ends.
fn general(
    machine: &mut Machine<'_>,
    iterator: &mut Lazy,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    match length(machine, iterator) {
        Count::Unknown(count) => {
            generalize(machine, iterator);
            let Next::Element(each) = next(machine, iterator, deciding, place)? else {
                return Ok(Next::End);
            };
            *iterator = Lazy::Unknown { count, each, taken: 0 };
            next(machine, iterator, deciding, place)
        }
        _ => {
            let more = machine.fresh(crate::program::Type::Scalar(Scalar::Bool));
            generalize(machine, iterator);
            Ok(Next::Perhaps(super::unknown_of(&more), Value::Moved))
        }
    }
}

/// Asks an adapter for its last element.
fn last_of(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    match adapter {
        Adapter::Map(source, _)
        | Adapter::Inspect(source, _)
        | Adapter::Filter(source, _)
        | Adapter::FilterMap(source, _)
        | Adapter::Cloned(source) => {
            // The adapter runs forward over what its source has at the end: one element at a time.
            reversed(source);
            let answer = super::adapter::next_of(machine, adapter, deciding, place);
            if let Adapter::Map(source, _)
            | Adapter::Inspect(source, _)
            | Adapter::Filter(source, _)
            | Adapter::FilterMap(source, _)
            | Adapter::Cloned(source) = adapter
            {
                reversed(source);
            }
            answer
        }
        Adapter::Rev(source) => next(machine, source, deciding, place),
        Adapter::Chain(first, second) => match next_back(machine, second, deciding, place)? {
            Next::End => match first {
                Some(first) => next_back(machine, first, deciding, place),
                None => Ok(Next::End),
            },
            answer => Ok(answer),
        },
        _ => {
            let mut whole = Lazy::Adapter(Box::new(adapter.clone()));
            let Count::Known(count) = length(machine, &whole) else {
                let answer = general(machine, &mut whole, deciding, place)?;
                replace(adapter, whole);
                return Ok(answer);
            };
            let mut items = Vec::new();
            for _ in 0..count {
                match next(machine, &mut whole, deciding, place)? {
                    Next::Element(element) => items.push(element),
                    answer @ Next::Perhaps(..) => return Ok(answer),
                    Next::End => break,
                }
            }
            let count = items.len();
            let mut items = Lazy::Items(std::rc::Rc::new(items), 0, count);
            let answer = next_back(machine, &mut items, deciding, place)?;
            replace(adapter, items);
            Ok(answer)
        }
    }
}

/// Makes an adapter one that only passes on what an iterator has.
fn replace(adapter: &mut Adapter, iterator: Lazy) {
    *adapter = match iterator {
        Lazy::Adapter(inner) => *inner,
        other => Adapter::Chain(None, other),
    };
}

/// Turns an iterator round, or back again.
fn reversed(iterator: &mut Lazy) {
    let whole = std::mem::replace(iterator, Lazy::Endless(Value::Moved));
    *iterator = match whole {
        Lazy::Adapter(adapter) => match *adapter {
            Adapter::Rev(source) => source,
            other => Lazy::Adapter(Box::new(Adapter::Rev(Lazy::Adapter(Box::new(other))))),
        },
        other => Lazy::Adapter(Box::new(Adapter::Rev(other))),
    };
}

/// The number before this one.
fn predecessor(value: &Value) -> Value {
    use crate::evaluate::value::Constant::{Char, Integer};
    match value {
        Value::Scalar(scalar, Content::Known(Integer(number))) => {
            Value::Scalar(*scalar, Content::Known(Integer(number.plus(-1))))
        }
        Value::Scalar(scalar, Content::Known(Char(letter))) => {
            let before = char::from_u32(u32::from(*letter).saturating_sub(1)).unwrap_or('\0');
            Value::Scalar(*scalar, Content::Known(Char(before)))
        }
        other => other.clone(),
    }
}

impl Pieces {
    /// The last slice.
    fn next_back(&mut self) -> Next {
        let left = self.to.saturating_sub(self.from);
        if left == 0 || self.size == 0 || self.step == 0 || (self.whole && left < self.size) {
            return Next::End;
        }
        if self.step == self.size {
            let last = match left % self.size {
                0 => self.size,
                rest if self.whole => {
                    self.to -= rest;
                    self.size
                }
                rest => rest,
            };
            self.to -= last;
            return Next::Element(Value::Reference(
                self.of.child(Step::Slice(self.to, self.to + last)),
            ));
        }
        let slice = Step::Slice(self.to - self.size, self.to);
        self.to -= 1;
        Next::Element(Value::Reference(self.of.child(slice)))
    }
}
