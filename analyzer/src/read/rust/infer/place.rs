//! Parts of values: fields, elements, what is behind a pointer, what is in an `Option`.

use super::Inference;
use super::coerce::DEREFERENCES;
use super::library::library;
use super::question::Answer;
use super::term::{Kind, Parts, Shape, TermId, View};
use crate::program::{DefinitionId, Scalar};

impl Inference<'_> {
    pub(super) fn field(&mut self, of: TermId, name: &str, result: TermId) -> Answer {
        let mut at = of;
        for _ in 0..DEREFERENCES {
            let (shape, parts) = match self.terms.view(at) {
                View::Open(Kind::Any) => return Answer::Wait(at),
                View::Open(_) | View::Conflict => break,
                View::Known(shape, parts) => (shape, parts),
            };
            let found = match &shape {
                Shape::Tuple => name.parse().ok().and_then(|at: usize| parts.get(at).copied()),
                Shape::Defined(definition) => self.member(*definition, 0, name, &parts),
                Shape::External(external) => {
                    library().find(external, &format!(".{name}")).map(|signature| {
                        let mut letters = self.letters(&signature, at);
                        self.template(&signature.result, at, &mut letters)
                    })
                }
                _ => None,
            };
            if let Some(found) = found {
                self.terms.unify(found, result);
                return Answer::Done;
            }
            match self.dereferenced(at) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        self.give_up(&[result])
    }

    /// A field of a struct or a variant with these generic arguments.
    pub(super) fn member(
        &mut self,
        definition: DefinitionId,
        variant: u32,
        name: &str,
        arguments: &Parts,
    ) -> Option<TermId> {
        let definition = self.program.definition(definition);
        let variant = definition.variants.get(variant as usize)?;
        let (_, ty) = variant.fields.iter().find(|(field, _)| field == name)?;
        let generics: Vec<(&str, TermId)> =
            definition.generics.iter().map(String::as_str).zip(arguments.iter().copied()).collect();
        Some(self.written(ty, &generics))
    }

    pub(super) fn indexed(&mut self, base: TermId, index: TermId, result: TermId) -> Answer {
        let mut at = base;
        for _ in 0..DEREFERENCES {
            let (shape, parts) = match self.terms.view(at) {
                View::Open(Kind::Any) => return Answer::Wait(at),
                View::Open(_) | View::Conflict => break,
                View::Known(shape, parts) => (shape, parts),
            };
            match &shape {
                Shape::Slice => return self.element(parts[0], index, result),
                Shape::External(name) if library().is_a(name, "HashMap") && parts.len() >= 2 => {
                    self.terms.unify(parts[1], result);
                    return Answer::Done;
                }
                Shape::Text => {
                    self.terms.unify(at, result);
                    return Answer::Done;
                }
                Shape::Defined(definition) => {
                    if let Some(id) = self.only_method(*definition, "index") {
                        let instance = self.method_instance(id, at, &[]);
                        if let Some(parameter) = instance.parameters.get(1) {
                            self.coerce(index, *parameter);
                        }
                        if let Some(element) = self.terms.referent(instance.result) {
                            self.terms.unify(element, result);
                            return Answer::Done;
                        }
                    }
                }
                _ => {}
            }
            match self.dereferenced(at) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        self.give_up(&[base, index, result])
    }

    /// What an index into a slice gives: an element, or, for a range, a slice.
    fn element(&mut self, element: TermId, index: TermId, result: TermId) -> Answer {
        match self.terms.view(index) {
            View::Open(Kind::Any) => return Answer::Wait(index),
            View::Known(Shape::External(name), bounds) if name.starts_with("Range") => {
                for bound in bounds.iter() {
                    let position = self.terms.scalar(Scalar::Usize);
                    self.terms.unify(*bound, position);
                }
                let slice = self.terms.known(Shape::Slice, &[element]);
                self.terms.unify(slice, result);
            }
            View::Open(_) | View::Known(Shape::Scalar(_), _) => {
                let position = self.terms.scalar(Scalar::Usize);
                self.terms.unify(index, position);
                self.terms.unify(element, result);
            }
            View::Known(..) | View::Conflict => return self.give_up(&[index, result]),
        }
        Answer::Done
    }

    pub(super) fn dereference(&mut self, of: TermId, result: TermId) -> Answer {
        if self.terms.is_open(of) {
            return Answer::Wait(of);
        }
        let is_whole = !matches!(self.terms.shape(of), Some((Shape::Array(_) | Shape::Slice, _)));
        match self.dereferenced(of) {
            Some(inner) if is_whole => {
                self.terms.unify(inner, result);
                Answer::Done
            }
            _ => self.give_up(&[result]),
        }
    }

    pub(super) fn tried(&mut self, of: TermId, result: TermId) -> Answer {
        match self.terms.view(of) {
            View::Open(Kind::Any) => Answer::Wait(of),
            View::Known(Shape::External(name), parts)
                if matches!(name.as_ref(), "Option" | "Result") && !parts.is_empty() =>
            {
                self.terms.unify(parts[0], result);
                Answer::Done
            }
            _ => self.give_up(&[of, result]),
        }
    }
}
