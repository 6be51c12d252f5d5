//! What an iterator gives where nobody knows which of its elements it is: one that stands for all.

use super::{Adapter, Lazy};
use crate::evaluate::machine::Machine;
use crate::evaluate::value::{Length, Step, Value};
use crate::program::{Scalar, Type};

/// Makes the iterator an endless one each of whose elements may be any that it had. Closures of its
/// adapters still run on each.
pub(in crate::evaluate) fn generalize(machine: &mut Machine<'_>, iterator: &mut Lazy) {
    match iterator {
        Lazy::Range { next, end } => {
            let ty = machine.type_of(next);
            let any = match end {
                Some(end) => {
                    let any = machine.computed("any of", &[next, end], ty);
                    if machine.is_c() {
                        keep_bounds(machine, &any, next, end);
                    }
                    any
                }
                None => machine.computed("any from", &[next], ty),
            };
            *iterator = Lazy::Endless(any);
        }
        Lazy::Items(items, _, to) => {
            // Those that were taken too: an adapter may still be at one of them.
            let mut all = items.iter().take(*to);
            let first = all.next().cloned().unwrap_or(Value::Moved);
            let any = all.fold(first, |any, item| machine.united(&any, item));
            *iterator = Lazy::Endless(any);
        }
        Lazy::Elements(of, ..) => {
            *iterator = Lazy::Endless(Value::Reference(of.child(Step::Somewhere)));
        }
        Lazy::Pieces(pieces) => {
            let length = match pieces.whole {
                true => Length::Known(pieces.size),
                false => Length::Unknown(machine.fresh_unknown()),
            };
            *iterator = Lazy::Endless(Value::Reference(pieces.of.child(Step::Part(length))));
        }
        Lazy::Unknown { each, .. } => {
            let each = each.clone();
            *iterator = Lazy::Endless(each);
        }
        Lazy::Endless(_) | Lazy::Program(_) => {}
        Lazy::Adapter(adapter) => {
            if let Some(without) = generalize_adapter(machine, adapter) {
                *iterator = without;
            }
        }
    }
}

/// Keeps between which numbers any number of a range is.
fn keep_bounds(machine: &mut Machine<'_>, any: &Value, next: &Value, end: &Value) {
    if let (Some(first), Some(end)) = (next.as_integer(), end.as_integer())
        && first < end
    {
        let identity = machine.identity(any).identity;
        machine.ranges.insert(identity, (first, end - 1));
    }
}

/// Makes the sources of an adapter general. What only counts elements falls away.
fn generalize_adapter(machine: &mut Machine<'_>, adapter: &mut Adapter) -> Option<Lazy> {
    match adapter {
        Adapter::Map(source, _)
        | Adapter::Filter(source, _)
        | Adapter::FilterMap(source, _)
        | Adapter::TakeWhile(source, ..)
        | Adapter::SkipWhile(source, ..)
        | Adapter::MapWhile(source, _)
        | Adapter::Inspect(source, _)
        | Adapter::Cloned(source)
        | Adapter::Scan(source, ..) => generalize(machine, source),
        Adapter::Enumerate(source, index) => {
            *index = machine.computed("any from", &[index], Type::Scalar(Scalar::Usize));
            generalize(machine, source);
        }
        Adapter::Zip(one, other) | Adapter::Bounded(one, other) => {
            generalize(machine, one);
            generalize(machine, other);
        }
        Adapter::Chain(first, second) => {
            generalize(machine, second);
            if let (Some(Lazy::Endless(one)), Lazy::Endless(other)) = (
                first.as_mut().map(|first| {
                    generalize(machine, first);
                    &*first
                }),
                &*second,
            ) {
                return Some(Lazy::Endless(machine.united(one, other)));
            }
        }
        Adapter::Rev(source)
        | Adapter::StepBy(source, ..)
        | Adapter::Take(source, _)
        | Adapter::Skip(source, _)
        | Adapter::Peekable(source, _)
        | Adapter::Fuse(source, _)
        | Adapter::Cycle(source, _) => {
            generalize(machine, source);
            return Some(source.clone());
        }
        Adapter::Flatten(outer, _, inner) => {
            generalize(machine, outer);
            *inner = None;
        }
        Adapter::FromFunction(_) | Adapter::RepeatWith(_) => {}
        Adapter::Successors(upcoming, _) => {
            let ty = machine.type_of(upcoming);
            *upcoming = machine.fresh(ty);
        }
        Adapter::Borrowed(path) => {
            let path = path.clone();
            let value = machine.peek(&path);
            if let Value::Iterator(kept) = value {
                let mut kept = (*kept).clone();
                generalize(machine, &mut kept);
                machine.put(&path, Value::Iterator(std::rc::Rc::new(kept)));
            }
        }
    }
    None
}
