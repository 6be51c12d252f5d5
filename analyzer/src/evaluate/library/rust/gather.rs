//! All elements of an iterator together, for the methods that need them all: `collect`, `extend`.

use std::rc::Rc;

use crate::evaluate::iterator::{self, Count, Lazy, Turns};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Items, Length, MOST_ITEMS, Sequence, Value};
use crate::program::{Place, Type};

/// The elements of an iterator.
pub(super) enum Gathered {
    /// One by one.
    Each(Vec<Value>),
    /// What they have in common, and how many they are. The value is [`Value::Moved`] where not even
    /// one could be looked at.
    Alike(Value, Length),
}

/// Asks for all elements.
pub(super) fn gather(
    machine: &mut Machine<'_>,
    iterator: &mut Lazy,
    place: Place,
) -> Outcome<Gathered> {
    let deciding = iterator::communicates(machine, iterator);
    let count = iterator::length(machine, iterator);
    let mut items = Vec::new();
    let turns = iterator::each(machine, iterator, deciding, place, &mut |_, element| {
        items.push(element);
        Ok(items.len() <= MOST_ITEMS)
    })?;
    if let (Turns::Known(number), Count::Known(_) | Count::Open) = (turns, count)
        && number == items.len() as u64
        && items.len() <= MOST_ITEMS
    {
        return Ok(Gathered::Each(items));
    }
    let length = match (count, turns) {
        (Count::Known(number), _) => Length::Known(number),
        (Count::Unknown(count), _) | (_, Turns::Unknown(count)) => Length::Unknown(count),
        _ => {
            let length = machine.fresh(super::subject::USIZE);
            Length::Unknown(iterator::unknown_of(&length))
        }
    };
    let any = items.iter().fold(Value::Moved, |any, item| machine.united(&any, item));
    Ok(Gathered::Alike(any, length))
}

impl Gathered {
    /// The elements as a sequence; the type of its elements where the elements do not tell it.
    pub(super) fn sequence(self, machine: &mut Machine<'_>, element: Type) -> Sequence {
        match self {
            Gathered::Each(items) => {
                let element = match (&element, items.first()) {
                    (Type::Unknown, Some(first)) => machine.type_of(first),
                    _ => element,
                };
                Sequence { element, items: Items::Each(Rc::new(items)) }
            }
            Gathered::Alike(any, length) => {
                let any = match any {
                    Value::Moved => machine.fresh(element.clone()),
                    any => any,
                };
                let element = match element {
                    Type::Unknown => machine.type_of(&any),
                    known => known,
                };
                Sequence { element, items: Items::Alike(Rc::new(any), length) }
            }
        }
    }
}
