//! Iterators: ranges, the elements of sequences, and what adapters make of them.
//!
//! An adapter keeps its closure and is only run when an element is asked for, so that endless ranges
//! and side effects come in the order that Rust has.

use std::rc::Rc;

use super::machine::{Machine, Outcome};
use super::value::{Items, Sequence, Unknown, Value};
use crate::program::{Binary, Place, Type};

/// An iterator that has not been asked yet.
#[derive(Clone, Debug)]
pub enum Lazy {
    /// From a number up to before another one, where there is one, in steps of 1.
    Range {
        /// The next number; a scalar.
        next: Value,
        /// One past the last; `None`: endless.
        end: Option<Value>,
    },
    /// These values, one after the other; those from the second number on are left.
    Items(Rc<Vec<Value>>, usize),
    /// Nobody knows how many, each of this type.
    Unknown(Unknown, Type),
    /// An adapter: `map`, `filter`, `zip`, `enumerate`, .. over iterators, with its other arguments.
    Adapter(&'static str, Vec<Lazy>, Vec<Value>),
}

/// What an iterator gives.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// This.
    Element(Value),
    /// This, if the condition holds; else nothing more.
    Perhaps(Unknown, Value),
    /// Nothing more.
    End,
}

/// What a loop over a value goes over.
pub(super) fn of(machine: &mut Machine<'_>, value: Value, place: Place) -> Outcome<Lazy> {
    let behind = machine.behind(&value, place);
    Ok(match behind {
        Value::Iterator(lazy) => (*lazy).clone(),
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => Lazy::Items(items, 0),
        other => {
            let unknown = machine.identity(&other);
            Lazy::Unknown(unknown, Type::Unknown)
        }
    })
}

/// The next element.
pub(super) fn next(machine: &mut Machine<'_>, lazy: &mut Lazy, place: Place) -> Outcome<Next> {
    match lazy {
        Lazy::Range { next, end } => {
            let current = next.clone();
            let ty = machine.type_of(&current);
            let one = Value::integer(1, super::identity::SOME_INTEGER);
            *next = machine.binary(Binary::Add, &current, &one, &ty, place)?;
            let Some(end) = end else { return Ok(Next::Element(current)) };
            let more = machine.binary(Binary::Less, &current, &end.clone(), &ty, place)?;
            Ok(match more.as_bool() {
                Some(true) => Next::Element(current),
                Some(false) => Next::End,
                None => Next::Perhaps(machine.identity(&more), current),
            })
        }
        Lazy::Items(items, from) => {
            let item = items.get(*from).cloned();
            *from += 1;
            Ok(item.map_or(Next::End, Next::Element))
        }
        Lazy::Unknown(_, ty) => {
            let more = machine.fresh_unknown();
            let ty = ty.clone();
            Ok(Next::Perhaps(more, machine.fresh(ty)))
        }
        Lazy::Adapter(..) => Ok(Next::End),
    }
}

/// From here on each element stands for any.
pub(super) fn generalize(machine: &mut Machine<'_>, lazy: &mut Lazy) {
    let unknown = machine.fresh_unknown();
    let ty = match lazy {
        Lazy::Range { next, .. } => machine.type_of(next),
        _ => Type::Unknown,
    };
    *lazy = Lazy::Unknown(unknown, ty);
}
