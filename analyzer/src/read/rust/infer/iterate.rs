//! What a loop sees of a value, and what can be made of elements.

use super::Inference;
use super::coerce::is_pointer;
use super::library::library;
use super::question::{Answer, Question};
use super::term::{Kind, Parts, Shape, TermId, View};

/// What a library's type is to a loop.
enum Container {
    /// Its first argument is the element.
    Sequence,
    /// Its first two are key and value.
    Map,
    /// Its first argument is the element, also behind a reference.
    Iterator,
}

fn container(name: &str) -> Option<Container> {
    let library = library();
    if name == "Option" || library.is_a(name, "Sequence") {
        Some(Container::Sequence)
    } else if library.is_a(name, "HashMap") {
        Some(Container::Map)
    } else if library.is_a(name, "Iterator") {
        Some(Container::Iterator)
    } else {
        None
    }
}

impl Inference<'_> {
    pub(super) fn iterate(&mut self, over: TermId, item: TermId) -> Answer {
        let mut at = over;
        let mut borrowed = false;
        for _ in 0..3 {
            let (shape, parts) = match self.terms.view(at) {
                View::Open(Kind::Any) => return Answer::Wait(at),
                View::Open(_) | View::Conflict => break,
                View::Known(shape, parts) => (shape, parts),
            };
            if let Some(element) = self.element_of(&shape, &parts, at, borrowed) {
                self.terms.unify(element, item);
                return Answer::Done;
            }
            if matches!(shape, Shape::Reference) && !borrowed {
                borrowed = true;
            } else if !is_pointer(&shape) {
                break;
            }
            let Some(inner) = parts.first() else { break };
            at = *inner;
        }
        self.give_up(&[over, item])
    }

    fn element_of(
        &mut self,
        shape: &Shape,
        parts: &Parts,
        of: TermId,
        borrowed: bool,
    ) -> Option<TermId> {
        let part = |inference: &mut Self, at: usize| match parts.get(at) {
            Some(part) if borrowed => inference.terms.reference(*part),
            Some(part) => *part,
            None => inference.terms.doubtful(),
        };
        match shape {
            Shape::Array(_) => Some(part(self, 0)),
            Shape::Slice if borrowed => Some(part(self, 0)),
            Shape::External(name) => match container(name)? {
                Container::Sequence => Some(part(self, 0)),
                Container::Iterator => parts.first().copied(),
                Container::Map => {
                    let (key, value) = (part(self, 0), part(self, 1));
                    Some(self.terms.known(Shape::Tuple, &[key, value]))
                }
            },
            Shape::Defined(_) => self.next_of(of),
            _ => None,
        }
    }

    /// The elements of an iterator that the program defines itself.
    pub(super) fn next_of(&mut self, of: TermId) -> Option<TermId> {
        let (Shape::Defined(definition), _) = self.terms.shape(of)? else { return None };
        let id = self.only_method(definition, "next")?;
        let instance = self.method_instance(id, of, &[]);
        match self.terms.shape(instance.result)? {
            (Shape::External(name), parts) if name.as_ref() == "Option" => parts.first().copied(),
            _ => None,
        }
    }

    pub(super) fn collect(&mut self, item: TermId, into: TermId) -> Answer {
        let (shape, parts) = match self.terms.view(into) {
            View::Open(Kind::Any) => return Answer::Wait(into),
            View::Known(shape, parts) => (shape, parts),
            View::Open(_) | View::Conflict => return self.give_up(&[item, into]),
        };
        match &shape {
            Shape::Text => {}
            Shape::External(name) if matches!(name.as_ref(), "Option" | "Result") => {
                let element = self.open();
                let mut inner = vec![element];
                inner.extend(parts.iter().skip(1));
                let wrapped = self.terms.known(shape.clone(), &inner);
                self.terms.unify(item, wrapped);
                if let Some(collection) = parts.first() {
                    self.ask(Question::Collect { item: element, into: *collection });
                }
            }
            Shape::External(name) if name.as_ref() == "Box" => {
                if let Some((Shape::Slice, element)) =
                    parts.first().and_then(|inner| self.terms.shape(*inner))
                {
                    self.terms.unify(element[0], item);
                }
            }
            Shape::External(name) => match container(name) {
                Some(Container::Sequence) if !parts.is_empty() => self.terms.unify(parts[0], item),
                Some(Container::Map) if parts.len() >= 2 => {
                    let pair = self.terms.known(Shape::Tuple, &parts[..2]);
                    self.terms.unify(pair, item);
                }
                _ => return self.give_up(&[item, into]),
            },
            _ => return self.give_up(&[item, into]),
        }
        Answer::Done
    }

    /// Like [`Self::collect`], but numbers may also be given by reference.
    pub(super) fn extend(&mut self, item: TermId, into: TermId) -> Answer {
        let (Some((Shape::External(name), parts)), Some(inner)) =
            (self.terms.shape(into), self.terms.referent(item))
        else {
            return match self.terms.view(item) {
                View::Open(Kind::Any) => Answer::Wait(item),
                _ => self.collect(item, into),
            };
        };
        let (Some(Container::Sequence), Some(element)) = (container(&name), parts.first()) else {
            return self.collect(item, into);
        };
        match self.terms.view(*element) {
            View::Open(Kind::Any) => Answer::Wait(*element),
            View::Known(Shape::Reference, _) => self.collect(item, into),
            _ => {
                self.terms.unify(*element, inner);
                Answer::Done
            }
        }
    }

    pub(super) fn sum(&mut self, item: TermId, into: TermId) -> Answer {
        let element = self.terms.behind_references(item);
        match (self.terms.view(into), self.terms.view(element)) {
            (View::Open(Kind::Any), _) => Answer::Wait(into),
            (View::Known(Shape::Scalar(_), _), View::Open(Kind::Any)) => Answer::Wait(element),
            (View::Open(_), View::Open(_)) => Answer::Wait(into),
            (
                View::Known(Shape::Scalar(_), _),
                View::Open(_) | View::Known(Shape::Scalar(_), _),
            )
            | (View::Open(_), View::Known(Shape::Scalar(_), _)) => {
                self.terms.unify(element, into);
                Answer::Done
            }
            _ => self.give_up(&[item, into]),
        }
    }
}
