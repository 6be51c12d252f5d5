//! The next element of an adapter: what it asks its sources, and when it runs its closure.

use super::{Adapter, Asking, Holds, Lazy, Next, answer_of, next, of, successor, whether};
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::{Path, Value};
use crate::program::{Place, Scalar, Type};

/// Takes the element out of an answer; anything else is the answer of the whole.
macro_rules! element {
    ($answer:expr) => {
        match $answer? {
            Next::Element(element) => element,
            other => return Ok(other),
        }
    };
}

/// Asks an adapter for its next element.
pub(super) fn next_of(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    let ask = |machine: &mut Machine<'_>, source: &mut Lazy| next(machine, source, deciding, place);
    Ok(match adapter {
        Adapter::Map(source, closure) => {
            let element = element!(ask(machine, source));
            Next::Element(call(machine, closure, vec![element], place)?)
        }
        Adapter::Inspect(source, closure) => {
            let element = element!(ask(machine, source));
            let shown = shown(machine, &element);
            call(machine, closure, vec![shown], place)?;
            Next::Element(element)
        }
        Adapter::Filter(..) | Adapter::FilterMap(..) => {
            return filtered(machine, adapter, deciding, place);
        }
        Adapter::TakeWhile(..) | Adapter::SkipWhile(..) | Adapter::MapWhile(..) => {
            return while_it_holds(machine, adapter, deciding, place);
        }
        Adapter::Enumerate(source, index) => {
            let element = element!(ask(machine, source));
            let after = successor(machine, index);
            let number = std::mem::replace(index, after);
            let number = if super::is_open(source) { machine.as_guess(&number) } else { number };
            Next::Element(pair(number, element))
        }
        Adapter::Zip(one, other) => {
            let first = element!(ask(machine, one));
            let second = element!(ask(machine, other));
            let both = pair(first, second);
            let is_guess = super::is_open(one) || super::is_open(other);
            Next::Element(if is_guess { machine.as_guess(&both) } else { both })
        }
        Adapter::Chain(first, second) => {
            if let Some(source) = first {
                match ask(machine, source)? {
                    Next::End => *first = None,
                    answer => return Ok(answer),
                }
            }
            return ask(machine, second);
        }
        Adapter::Rev(source) => return super::next_back(machine, source, deciding, place),
        Adapter::StepBy(..) | Adapter::Take(..) | Adapter::Bounded(..) | Adapter::Skip(..) => {
            return counted(machine, adapter, deciding, place);
        }
        Adapter::Flatten(..) => return flattened(machine, adapter, deciding, place),
        Adapter::Peekable(source, peeked) => match peeked.take() {
            Some(answer) => *answer,
            None => return ask(machine, source),
        },
        Adapter::Cloned(source) => {
            let element = element!(ask(machine, source));
            Next::Element(machine.behind(&element, place))
        }
        Adapter::Cycle(whole, left) => match ask(machine, left)? {
            Next::End => {
                *left = whole.clone();
                return ask(machine, left);
            }
            answer => answer,
        },
        Adapter::Fuse(source, ended) => {
            if *ended {
                return Ok(Next::End);
            }
            let answer = ask(machine, source)?;
            *ended = matches!(answer, Next::End);
            answer
        }
        Adapter::Scan(..)
        | Adapter::FromFunction(_)
        | Adapter::RepeatWith(_)
        | Adapter::Successors(..) => return made(machine, adapter, deciding, place),
        Adapter::Borrowed(path) => return borrowed(machine, &path.clone(), deciding, place),
    })
}

/// Calls a closure whose result's type is not known beforehand.
fn call(
    machine: &mut Machine<'_>,
    closure: &Value,
    arguments: Vec<Value>,
    place: Place,
) -> Outcome {
    machine.call(closure, arguments, &Type::Unknown, place)
}

/// `(first, second)`
fn pair(first: Value, second: Value) -> Value {
    Value::Tuple(std::rc::Rc::new(vec![first, second]))
}

/// An element as a closure gets it that only looks at it. A number is shown as it is: nobody can
/// change it through a shared reference.
fn shown(machine: &mut Machine<'_>, element: &Value) -> Value {
    match element {
        Value::Scalar(..) | Value::Reference(_) => element.clone(),
        other => Value::Reference(machine.allocate(other.clone())),
    }
}

/// Passes over elements that need not be made to be passed over.
fn pass_over(source: &mut Lazy, ahead: &mut u64) {
    match source {
        Lazy::Elements(_, from, to) => {
            *from = from.saturating_add(*ahead).min(*to);
            *ahead = 0;
        }
        Lazy::Items(_, from, to) => {
            *from = from.saturating_add(usize::try_from(*ahead).unwrap_or(usize::MAX)).min(*to);
            *ahead = 0;
        }
        _ => {}
    }
}

/// `step_by`, `take`, `skip`, and a source that gives as many as another one: what counts elements.
fn counted(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    let source = match adapter {
        Adapter::StepBy(source, step, ahead) => {
            for _ in 0..*ahead {
                element!(next(machine, source, deciding, place));
            }
            *ahead = step.saturating_sub(1);
            source
        }
        Adapter::Take(source, left) => {
            if *left == 0 {
                return Ok(Next::End);
            }
            *left -= 1;
            source
        }
        Adapter::Bounded(bound, source) => {
            element!(next(machine, bound, deciding, place));
            source
        }
        Adapter::Skip(source, ahead) => {
            pass_over(source, ahead);
            while *ahead > 0 {
                element!(next(machine, source, deciding, place));
                *ahead -= 1;
            }
            source
        }
        _ => return Ok(Next::End),
    };
    next(machine, source, deciding, place)
}

/// `scan`, `from_fn`, `repeat_with`, `successors`: elements that a closure makes.
fn made(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    Ok(match adapter {
        Adapter::Scan(source, state, closure) => {
            let element = element!(next(machine, source, deciding, place));
            let state = Value::Reference(state.clone());
            let answer = call(machine, closure, vec![state, element], place)?;
            answer_of(machine, answer)
        }
        Adapter::FromFunction(closure) => {
            let answer = call(machine, closure, Vec::new(), place)?;
            answer_of(machine, answer)
        }
        Adapter::RepeatWith(closure) => Next::Element(call(machine, closure, Vec::new(), place)?),
        Adapter::Successors(upcoming, closure) => {
            let answer = answer_of(machine, upcoming.clone());
            if let Next::Element(element) = &answer {
                let shown = shown(machine, element);
                *upcoming = call(machine, closure, vec![shown], place)?;
            }
            answer
        }
        _ => Next::End,
    })
}

/// `filter`, `filter_map`: asks on until the closure wants an element.
fn filtered(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    loop {
        machine.step_on(place)?;
        match adapter {
            Adapter::Filter(source, closure) => {
                let element = element!(next(machine, source, deciding, place));
                match verdict(machine, closure, &element, deciding, place)? {
                    Holds::Yes => return Ok(Next::Element(element)),
                    Holds::No => {}
                    Holds::Perhaps(condition) => return Ok(Next::Perhaps(condition, element)),
                }
            }
            Adapter::FilterMap(source, closure) => {
                let element = element!(next(machine, source, deciding, place));
                let answer = call(machine, closure, vec![element], place)?;
                match answer_of(machine, answer) {
                    Next::End => {}
                    answer => return Ok(answer),
                }
            }
            _ => return Ok(Next::End),
        }
    }
}

/// `take_while`, `skip_while`, `map_while`.
fn while_it_holds(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    match adapter {
        Adapter::TakeWhile(source, closure, ended) => {
            if *ended {
                return Ok(Next::End);
            }
            let element = element!(next(machine, source, deciding, place));
            Ok(match verdict(machine, closure, &element, deciding, place)? {
                Holds::Yes => Next::Element(element),
                Holds::No => {
                    *ended = true;
                    Next::End
                }
                Holds::Perhaps(condition) => Next::Perhaps(condition, element),
            })
        }
        Adapter::SkipWhile(source, closure, started) => loop {
            let element = element!(next(machine, source, deciding, place));
            if *started {
                return Ok(Next::Element(element));
            }
            match verdict(machine, closure, &element, deciding, place)? {
                Holds::Yes => {}
                Holds::No => {
                    *started = true;
                    return Ok(Next::Element(element));
                }
                Holds::Perhaps(condition) => return Ok(Next::Perhaps(condition, element)),
            }
        },
        Adapter::MapWhile(source, closure) => {
            let element = element!(next(machine, source, deciding, place));
            let answer = call(machine, closure, vec![element], place)?;
            Ok(answer_of(machine, answer))
        }
        _ => Ok(Next::End),
    }
}

/// Shows an element to a closure that answers a truth value.
fn verdict(
    machine: &mut Machine<'_>,
    closure: &Value,
    element: &Value,
    deciding: Asking,
    place: Place,
) -> Outcome<Holds> {
    let shown = shown(machine, element);
    let answer = machine.call(closure, vec![shown], &Type::Scalar(Scalar::Bool), place)?;
    let answer = machine.behind(&answer, place);
    whether(machine, &answer, deciding, place)
}

/// `flatten`, `flat_map`: one inner iterator after the other.
fn flattened(
    machine: &mut Machine<'_>,
    adapter: &mut Adapter,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    let Adapter::Flatten(outer, closure, inner) = adapter else { return Ok(Next::End) };
    loop {
        machine.step_on(place)?;
        if let Some(current) = inner {
            match next(machine, current, deciding, place)? {
                // One for all of them, which are not all empty.
                Next::End if matches!(outer, Lazy::Endless(_)) => {
                    return Ok(Next::Element(machine.fresh(Type::Unknown)));
                }
                Next::End => *inner = None,
                answer => return Ok(answer),
            }
        }
        let element = element!(next(machine, outer, deciding, place));
        let whole = match closure {
            Some(closure) => call(machine, closure, vec![element], place)?,
            None => element,
        };
        *inner = Some(of(machine, &whole, place)?);
    }
}

/// Asks an iterator that is kept elsewhere, and leaves it there.
fn borrowed(
    machine: &mut Machine<'_>,
    path: &Path,
    deciding: Asking,
    place: Place,
) -> Outcome<Next> {
    let value = machine.peek(path);
    let mut iterator = of(machine, &value, place)?;
    let answer = next(machine, &mut iterator, deciding, place)?;
    machine.put(path, Value::Iterator(std::rc::Rc::new(iterator)));
    Ok(answer)
}

impl Adapter {
    /// The closures that it runs.
    pub(super) fn closures(&self) -> impl Iterator<Item = &Value> {
        match self {
            Adapter::Map(_, closure)
            | Adapter::Filter(_, closure)
            | Adapter::FilterMap(_, closure)
            | Adapter::TakeWhile(_, closure, _)
            | Adapter::SkipWhile(_, closure, _)
            | Adapter::MapWhile(_, closure)
            | Adapter::Inspect(_, closure)
            | Adapter::Scan(_, _, closure)
            | Adapter::FromFunction(closure)
            | Adapter::RepeatWith(closure)
            | Adapter::Successors(_, closure) => Some(closure),
            Adapter::Flatten(_, closure, _) => closure.as_ref(),
            _ => None,
        }
        .into_iter()
    }

    /// The iterators that it asks.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Lazy> {
        match self {
            Adapter::Map(source, _)
            | Adapter::Filter(source, _)
            | Adapter::FilterMap(source, _)
            | Adapter::Enumerate(source, _)
            | Adapter::Rev(source)
            | Adapter::StepBy(source, ..)
            | Adapter::Take(source, _)
            | Adapter::Skip(source, _)
            | Adapter::TakeWhile(source, ..)
            | Adapter::SkipWhile(source, ..)
            | Adapter::MapWhile(source, _)
            | Adapter::Inspect(source, _)
            | Adapter::Peekable(source, _)
            | Adapter::Cloned(source)
            | Adapter::Scan(source, ..)
            | Adapter::Fuse(source, _) => [Some(source), None],
            Adapter::Zip(one, other)
            | Adapter::Bounded(one, other)
            | Adapter::Cycle(one, other) => [Some(one), Some(other)],
            Adapter::Chain(first, second) => [first.as_ref(), Some(second)],
            Adapter::Flatten(outer, _, inner) => [Some(outer), inner.as_ref()],
            Adapter::FromFunction(_)
            | Adapter::RepeatWith(_)
            | Adapter::Successors(..)
            | Adapter::Borrowed(_) => [None, None],
        }
        .into_iter()
        .flatten()
    }
}

impl Lazy {
    /// Shows all values that it holds: the closures and elements of adapters, references to what
    /// it goes over.
    pub(in crate::evaluate) fn for_each_value<'v>(&'v self, show: &mut dyn FnMut(&'v Value)) {
        match self {
            Lazy::Range { next, end } => {
                show(next);
                end.iter().for_each(show);
            }
            Lazy::Items(items, from, to) => {
                items.iter().take(*to).skip(*from).for_each(show);
            }
            Lazy::Unknown { each, .. } | Lazy::Endless(each) => show(each),
            Lazy::Elements(..) | Lazy::Pieces(_) | Lazy::Program(_) => {}
            Lazy::Adapter(adapter) => {
                adapter.closures().for_each(&mut *show);
                adapter.sources().for_each(|source| source.for_each_value(show));
                match &**adapter {
                    Adapter::Successors(value, _) | Adapter::Enumerate(_, value) => show(value),
                    Adapter::Peekable(_, Some(peeked)) => {
                        if let Next::Element(value) | Next::Perhaps(_, value) = &**peeked {
                            show(value);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The places that it goes over.
    pub(in crate::evaluate) fn for_each_path<'v>(&'v self, show: &mut dyn FnMut(&'v Path)) {
        match self {
            Lazy::Elements(path, ..) | Lazy::Program(path) => show(path),
            Lazy::Pieces(pieces) => show(&pieces.of),
            Lazy::Adapter(adapter) => {
                adapter.sources().for_each(|source| source.for_each_path(show));
                match &**adapter {
                    Adapter::Scan(_, path, _) | Adapter::Borrowed(path) => show(path),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
