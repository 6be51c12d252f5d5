//! Iterators: ranges, the elements of sequences, and what adapters make of them.
//!
//! An adapter keeps its closure and is only run when an element is asked for, so that endless ranges
//! and side effects come in the order that Rust has. [`next`] asks for an element; [`each`] runs
//! something on all of them, also where nobody knows how many there are. What the methods of
//! `Iterator` make of all this is in [`super::library`].

mod adapter;
mod backward;
mod general;
mod length;
mod source;

use std::rc::Rc;

pub(super) use backward::next_back;
pub(super) use general::generalize;
pub(super) use length::{Count, length};
pub(super) use source::of;

use super::alike::Elsewhere;
use super::machine::{Machine, Outcome};
use super::value::{Content, Path, Step, Unknown, Value};
use crate::program::{Binary, Place, Scalar, Type};

/// An iterator that has not been asked yet.
#[derive(Clone, Debug)]
pub(super) enum Lazy {
    /// From a number up to before another one, where there is one, in steps of 1.
    Range {
        /// The next number; a scalar.
        next: Value,
        /// One past the last; `None`: endless.
        end: Option<Value>,
    },
    /// These values, one after the other; those from the first number to before the second are left.
    Items(Rc<Vec<Value>>, usize, usize),
    /// References to the elements of a sequence, from the first number to before the second.
    Elements(Path, u64, u64),
    /// References to slices of a sequence: `chunks`, `windows`.
    Pieces(Pieces),
    /// Nobody knows how many, each like this one.
    Unknown {
        /// How many there are.
        count: Unknown,
        /// What each of them is.
        each: Value,
        /// How many were taken.
        taken: u64,
    },
    /// The same value, endlessly. Also any iterator once [`generalize`] has made its elements equal.
    Endless(Value),
    /// A value of the program with a `next` of its own, where it stands.
    Program(Path),
    /// What an adapter makes of other iterators.
    Adapter(Box<Adapter>),
}

/// Slices of a sequence, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    /// The sequence.
    pub of: Path,
    /// Where the next slice starts.
    pub from: u64,
    /// One past the last element.
    pub to: u64,
    /// How long each slice is.
    pub size: u64,
    /// How far the next one starts behind: `size` for chunks, 1 for windows.
    pub step: u64,
    /// Whether a last slice that is shorter is left out.
    pub whole: bool,
}

/// What an adapter makes of other iterators; closures are values that can be called.
#[derive(Clone, Debug)]
pub(super) enum Adapter {
    Map(Lazy, Value),
    Filter(Lazy, Value),
    FilterMap(Lazy, Value),
    Enumerate(Lazy, Value),
    Zip(Lazy, Lazy),
    /// The first one, until it is at its end, and the second one.
    Chain(Option<Lazy>, Lazy),
    Rev(Lazy),
    /// The steps between elements, and how many are passed over before the next one.
    StepBy(Lazy, u64, u64),
    Take(Lazy, u64),
    /// As many of the second one as the first one has.
    Bounded(Lazy, Lazy),
    /// How many are still to be passed over.
    Skip(Lazy, u64),
    /// Whether it is at its end.
    TakeWhile(Lazy, Value, bool),
    /// Whether nothing is passed over any more.
    SkipWhile(Lazy, Value, bool),
    MapWhile(Lazy, Value),
    /// The outer iterator, the closure (`None`: the elements are iterators), the inner iterator.
    Flatten(Lazy, Option<Value>, Option<Lazy>),
    Inspect(Lazy, Value),
    /// The element that was peeked at.
    Peekable(Lazy, Option<Box<Next>>),
    /// What is behind each reference.
    Cloned(Lazy),
    /// The whole, and what is left of this round.
    Cycle(Lazy, Lazy),
    /// The state, where it is kept.
    Scan(Lazy, Path, Value),
    Fuse(Lazy, bool),
    FromFunction(Value),
    RepeatWith(Value),
    /// The next element, and what makes the one after it.
    Successors(Value, Value),
    /// An iterator that is kept elsewhere: `by_ref`.
    Borrowed(Path),
}

/// An answer of an iterator.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// The next element.
    Element(Value),
    /// There is one more if the condition holds, and nobody knows whether it does. The value is the
    /// element, or [`Value::Moved`] where it has not been looked at.
    Perhaps(Unknown, Value),
    /// There are no more.
    End,
}

/// How often something was done with each element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turns {
    /// So often.
    Known(u64),
    /// As often as this number says.
    Unknown(Unknown),
}

/// The most elements that closures which do not communicate are run on one by one.
const MOST_TURNS: u64 = 256;

/// The most elements that are looked at one by one where nothing is run on them.
const MOST_ELEMENTS: u64 = 4096;

/// What is done where it is not known whether there is another element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// Nothing: the answer is [`Next::Perhaps`], and the iterator stays where it is. No closure is
    /// run on an element of which it is not known whether it is there.
    Open,
    /// Uniform conditions are decided for all ranks alike ([`Machine::decide`]): something that is
    /// done with the elements communicates.
    Deciding,
    /// There is one: whoever asks has decided so.
    Granted,
}

/// Asks for the next element.
pub(super) fn next(
    machine: &mut Machine<'_>,
    iterator: &mut Lazy,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    Ok(match iterator {
        Lazy::Range { next, end } => {
            return next_number(machine, next, end.as_ref(), deciding, place);
        }
        Lazy::Items(items, from, to) => {
            if *from >= *to {
                return Ok(Next::End);
            }
            *from += 1;
            Next::Element(items[*from - 1].clone())
        }
        Lazy::Elements(of, from, to) => {
            if *from >= *to {
                return Ok(Next::End);
            }
            *from += 1;
            Next::Element(Value::Reference(of.child(Step::Element(*from - 1))))
        }
        Lazy::Pieces(pieces) => pieces.next(),
        Lazy::Unknown { count, each, taken } => {
            let number = Value::Scalar(Scalar::Usize, Content::Unknown(*count));
            let turn = Value::integer(i128::from(*taken), Scalar::Usize);
            match less(machine, &turn, &number, deciding, place)? {
                Holds::Yes => {
                    *taken += 1;
                    let each = each.clone();
                    Next::Element(element_of(machine, &each, &turn))
                }
                Holds::No => Next::End,
                Holds::Perhaps(condition) => Next::Perhaps(condition, Value::Moved),
            }
        }
        Lazy::Endless(value) => Next::Element(value.clone()),
        Lazy::Program(path) => return next_of_program(machine, path, place),
        Lazy::Adapter(adapter) => return adapter::next_of(machine, adapter, deciding, place),
    })
}

/// Runs `turn` on each element until it answers that it does not want to go on.
///
/// Where nobody knows how many elements there are, or where there are many and nothing communicates,
/// it is run once on an element that stands for all ([`Machine::repeat`]).
pub(super) fn each(
    machine: &mut Machine<'_>,
    iterator: &mut Lazy,
    deciding: bool,
    place: Place,
    turn: &mut dyn FnMut(&mut Machine<'_>, Value) -> Outcome<bool>,
) -> Outcome<Turns> {
    let asking = if deciding { Asking::Deciding } else { Asking::Open };
    let count = length(machine, iterator);
    let most = if runs_closures(iterator) { MOST_TURNS } else { MOST_ELEMENTS };
    let many = matches!(count, Count::Known(number) if number > most);
    if many && !deciding {
        let more = unknown_of(&machine.fresh(Type::Scalar(Scalar::Bool)));
        repeat(machine, iterator, more, place, turn)?;
        return Ok(match count {
            Count::Known(number) => Turns::Known(number),
            _ => Turns::Unknown(more),
        });
    }
    let mut turns = 0;
    loop {
        match next(machine, iterator, asking, place)? {
            Next::End => return Ok(Turns::Known(turns)),
            Next::Element(element) => {
                turns += 1;
                if !turn(machine, element)? {
                    return Ok(Turns::Known(turns));
                }
            }
            Next::Perhaps(condition, _) => {
                repeat(machine, iterator, condition, place, turn)?;
                return Ok(Turns::Unknown(match count {
                    Count::Unknown(number) => number,
                    _ => condition,
                }));
            }
        }
    }
}

/// Runs `turn` as a loop of which nobody knows how often it turns.
fn repeat(
    machine: &mut Machine<'_>,
    iterator: &mut Lazy,
    more: Unknown,
    place: Place,
    turn: &mut dyn FnMut(&mut Machine<'_>, Value) -> Outcome<bool>,
) -> Outcome<()> {
    generalize(machine, iterator);
    let general = iterator.clone();
    // What all ranks know alike was decided before, or is of no interest to them.
    let more = Unknown { uniform: false, ..more };
    machine.repeat(more, place, &mut |machine| {
        let mut iterator = general.clone();
        match next(machine, &mut iterator, Asking::Granted, place)? {
            Next::Element(element) | Next::Perhaps(_, element) => {
                turn(machine, element)?;
            }
            Next::End => {}
        }
        Ok(())
    })
}

/// Whether it is not known how far an iterator goes.
pub(super) fn is_open(iterator: &Lazy) -> bool {
    match iterator {
        Lazy::Range { end: Some(end), .. } => ordinal(end).is_none(),
        Lazy::Unknown { .. } => true,
        Lazy::Adapter(adapter) => adapter.sources().any(is_open),
        _ => false,
    }
}

/// Whether an adapter of the iterator runs something.
fn runs_closures(iterator: &Lazy) -> bool {
    match iterator {
        Lazy::Adapter(adapter) => {
            adapter.closures().next().is_some() || adapter.sources().any(runs_closures)
        }
        Lazy::Program(_) => true,
        _ => false,
    }
}

/// Whether running through the iterator communicates: one of its closures does.
pub(super) fn communicates(machine: &Machine<'_>, iterator: &Lazy) -> bool {
    match iterator {
        Lazy::Adapter(adapter) => {
            adapter.closures().any(|closure| machine.communicates(closure))
                || adapter.sources().any(|source| communicates(machine, source))
        }
        _ => false,
    }
}

/// The next number of a range.
fn next_number(
    machine: &mut Machine<'_>,
    next: &mut Value,
    end: Option<&Value>,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    let within = match end {
        None => Holds::Yes,
        Some(end) => match (ordinal(next), ordinal(end)) {
            (Some(next), Some(end)) if next < end => Holds::Yes,
            (Some(_), Some(_)) => Holds::No,
            _ => less(machine, next, end, deciding, place)?,
        },
    };
    Ok(match within {
        Holds::No => Next::End,
        Holds::Perhaps(condition) => Next::Perhaps(condition, Value::Moved),
        Holds::Yes => {
            let after = successor(machine, next);
            let element = std::mem::replace(next, after);
            // How far it goes is not known: that it comes so far is a guess.
            let is_guess = end.is_some_and(|end| ordinal(end).is_none());
            Next::Element(if is_guess { machine.as_guess(&element) } else { element })
        }
    })
}

/// Asks an iterator of the program's own.
fn next_of_program(machine: &mut Machine<'_>, path: &Path, place: Place) -> Outcome<Next> {
    let receiver = Value::Reference(path.clone());
    let called = machine.call_method(&receiver, "next", Vec::new(), &Type::Unknown, place);
    let Some(outcome) = called else {
        let condition = unknown_of(&machine.fresh(Type::Scalar(Scalar::Bool)));
        return Ok(Next::Perhaps(condition, machine.fresh(Type::Unknown)));
    };
    let answer = outcome?;
    Ok(answer_of(machine, answer))
}

/// What an `Option` says, as an answer of an iterator.
pub(super) fn answer_of(machine: &mut Machine<'_>, option: Value) -> Next {
    match option {
        Value::Variant("Some", held) => {
            Next::Element(held.first().cloned().unwrap_or(Value::Moved))
        }
        Value::Variant("None", _) => Next::End,
        other => {
            let inner = match machine.type_of(&other) {
                Type::External(name, arguments) if name == "Option" => {
                    arguments.into_iter().next().unwrap_or_default()
                }
                _ => Type::Unknown,
            };
            let some = machine.computed("is_some", &[&other], Type::Scalar(Scalar::Bool));
            Next::Perhaps(unknown_of(&some), machine.computed("unwrap", &[&other], inner))
        }
    }
}

/// Whether a condition holds.
enum Holds {
    Yes,
    No,
    Perhaps(Unknown),
}

/// Whether a number is less than another one.
fn less(
    machine: &mut Machine<'_>,
    one: &Value,
    other: &Value,
    asking: Asking,
    place: Place,
) -> Outcome<Holds> {
    let ty = Type::Scalar(Scalar::Bool);
    let condition = machine.binary(Binary::Less, one, other, &ty, place)?;
    whether(machine, &condition, asking, place)
}

/// Whether a condition holds.
fn whether(
    machine: &mut Machine<'_>,
    condition: &Value,
    asking: Asking,
    place: Place,
) -> Outcome<Holds> {
    let unknown = match condition.as_bool() {
        Some(true) => return Ok(Holds::Yes),
        Some(false) => return Ok(Holds::No),
        None => machine.identity(condition),
    };
    let decided = match asking {
        Asking::Granted => return Ok(Holds::Yes),
        Asking::Deciding if unknown.uniform => machine.decide(unknown, place)?,
        _ => None,
    };
    Ok(match decided {
        Some(true) => Holds::Yes,
        Some(false) => Holds::No,
        None => Holds::Perhaps(unknown),
    })
}

/// The number that a range counts with.
pub(super) fn ordinal(value: &Value) -> Option<i128> {
    use super::value::Constant::{Char, Integer};
    match value {
        Value::Scalar(_, Content::Known(Integer(number))) => Some(number.get()),
        Value::Scalar(_, Content::Known(Char(letter))) => Some(i128::from(u32::from(*letter))),
        _ => None,
    }
}

/// The number after this one.
pub(super) fn successor(machine: &mut Machine<'_>, value: &Value) -> Value {
    use super::value::Constant::{Char, Integer};
    match value {
        Value::Scalar(scalar, Content::Known(Integer(number))) => {
            Value::Scalar(*scalar, Content::Known(Integer(number.plus(1))))
        }
        Value::Scalar(scalar, Content::Known(Char(letter))) => {
            let next = char::from_u32(u32::from(*letter) + 1).unwrap_or(char::MAX);
            Value::Scalar(*scalar, Content::Known(Char(next)))
        }
        other => {
            let ty = machine.type_of(other);
            let next = machine.guessed(other);
            if ordinal(&next).is_some() {
                let next = successor(machine, &next);
                return machine.as_guess(&next);
            }
            machine.computed("add", &[other, &Value::integer(1, Scalar::Usize)], ty)
        }
    }
}

/// An element of a sequence whose elements are all like one: the number tells them apart where it
/// is not known what they are.
pub(super) fn element_of(machine: &mut Machine<'_>, each: &Value, number: &Value) -> Value {
    match each {
        Value::Scalar(_, Content::Unknown(_)) | Value::Unknown(..) => {
            let ty = machine.type_of(each);
            machine.computed("element", &[each, number], ty)
        }
        other => other.clone(),
    }
}

/// The identity of a value that is not known.
pub(super) fn unknown_of(value: &Value) -> Unknown {
    match value {
        Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) => *unknown,
        _ => Unknown { identity: 0, uniform: false, elsewhere: Elsewhere::default() },
    }
}

impl Pieces {
    /// The next slice.
    fn next(&mut self) -> Next {
        let end = self.from.saturating_add(self.size);
        if self.from >= self.to || self.size == 0 || (self.whole && end > self.to) {
            return Next::End;
        }
        let slice = Step::Slice(self.from, end.min(self.to));
        self.from = self.from.saturating_add(self.step);
        Next::Element(Value::Reference(self.of.child(slice)))
    }
}
