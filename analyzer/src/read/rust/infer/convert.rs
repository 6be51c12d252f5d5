//! Written types and signatures as terms.

use super::library::Template;
use super::term::{Kind, Shape, TermId};
use super::{Inference, Letters};
use crate::program::{Function, FunctionId, Type};

/// What generic parameters stand for at one use.
pub(super) type Generics<'g> = [(&'g str, TermId)];

/// A function's signature, with terms of its own for its generic parameters.
pub(super) struct Instance {
    /// The parameters, `self` included.
    pub(super) parameters: Vec<TermId>,
    /// The result.
    pub(super) result: TermId,
    /// What the generic parameters stand for, in their order.
    pub(super) generics: Vec<TermId>,
    /// What they must be able to be called as, where they must.
    pub(super) bounds: Vec<Option<TermId>>,
}

impl Inference<'_> {
    /// Whether nothing of a written type is left to find out.
    pub(super) fn is_complete(&self, ty: &Type) -> bool {
        let all = |types: &[Type]| types.iter().all(|one| self.is_complete(one));
        match ty {
            Type::Unknown | Type::Variable(_) => false,
            Type::Tuple(parts) => all(parts),
            Type::Defined(definition, parts) => {
                self.program.definition(*definition).generics.len() == parts.len() && all(parts)
            }
            Type::External(name, parts) => name != "?" && all(parts),
            Type::Array(inner, _) | Type::Slice(inner) | Type::Reference(inner) => {
                self.is_complete(inner)
            }
            Type::Function(parameters, result) => all(parameters) && self.is_complete(result),
            Type::Scalar(_)
            | Type::Text
            | Type::Never
            | Type::Parameter(_)
            | Type::Number(_)
            | Type::Trait(_) => true,
        }
    }

    /// A term for a written type. A hole (`_`) may become anything, what could not be read is
    /// doubtful.
    pub(super) fn written(&mut self, ty: &Type, generics: &Generics<'_>) -> TermId {
        match ty {
            Type::Unknown => self.terms.doubtful(),
            Type::Variable(_) => self.terms.open(Kind::Any),
            Type::Scalar(scalar) => self.terms.scalar(*scalar),
            Type::Text => self.terms.known(Shape::Text, &[]),
            Type::Never => self.terms.known(Shape::Never, &[]),
            Type::Number(number) => self.terms.known(Shape::Number(*number), &[]),
            Type::Tuple(parts) => self.written_all(Shape::Tuple, parts, generics),
            Type::Array(element, length) => {
                self.written_all(Shape::Array(*length), std::slice::from_ref(element), generics)
            }
            Type::Slice(element) => {
                self.written_all(Shape::Slice, std::slice::from_ref(element), generics)
            }
            Type::Reference(inner) => {
                self.written_all(Shape::Reference, std::slice::from_ref(inner), generics)
            }
            Type::Defined(definition, arguments) => {
                let term = self.written_all(Shape::Defined(*definition), arguments, generics);
                let missing = self
                    .program
                    .definition(*definition)
                    .generics
                    .len()
                    .saturating_sub(arguments.len());
                if missing == 0 { term } else { self.padded(term, missing) }
            }
            Type::External(name, arguments) => self.external(name, arguments, generics),
            Type::Parameter(name) => match generics.iter().find(|(known, _)| known == name) {
                Some((_, term)) => *term,
                None => self.terms.known(Shape::Parameter(name.as_str().into()), &[]),
            },
            Type::Trait(names) => self.terms.known(Shape::Trait(names.as_slice().into()), &[]),
            Type::Function(parameters, result) => {
                let mut parts: Vec<TermId> =
                    parameters.iter().map(|part| self.written(part, generics)).collect();
                parts.push(self.written(result, generics));
                self.terms.known(Shape::Function, &parts)
            }
        }
    }

    fn written_all<T: std::borrow::Borrow<Type>>(
        &mut self,
        shape: Shape,
        parts: &[T],
        generics: &Generics<'_>,
    ) -> TermId {
        let parts: Vec<TermId> =
            parts.iter().map(|part| self.written(part.borrow(), generics)).collect();
        self.terms.known(shape, &parts)
    }

    /// The same with as many more arguments, which are not written and may be defaults.
    fn padded(&mut self, term: TermId, missing: usize) -> TermId {
        let Some((shape, parts)) = self.terms.shape(term) else { return term };
        let mut parts = parts.to_vec();
        parts.extend((0..missing).map(|_| self.terms.doubtful()));
        self.terms.known(shape, &parts)
    }

    fn external(&mut self, name: &str, arguments: &[Type], generics: &Generics<'_>) -> TermId {
        match (name, arguments) {
            ("?", _) => self.terms.doubtful(),
            ("String" | "str", []) => self.terms.known(Shape::Text, &[]),
            ("Iter" | "IterMut", [element]) => {
                let element = self.written(element, generics);
                let item = self.terms.reference(element);
                self.terms.external("Iterator", &[item])
            }
            ("IntoIter" | "Drain", [element]) => {
                let item = self.written(element, generics);
                self.terms.external("Iterator", &[item])
            }
            _ => self.written_all(Shape::External(name.into()), arguments, generics),
        }
    }

    /// A function of the program with fresh terms for its generic parameters, of which a turbofish
    /// gives the last ones.
    pub(super) fn instance(&mut self, id: FunctionId, turbofish: &[TermId]) -> Instance {
        let function: &Function = self.program.function(id);
        let names = &function.generics;
        let before = names.len().saturating_sub(turbofish.len());
        let mut terms = Vec::with_capacity(names.len());
        for at in 0..names.len() {
            let given = at.checked_sub(before).and_then(|at| turbofish.get(at));
            terms.push(given.copied().unwrap_or_else(|| self.terms.open(Kind::Any)));
        }
        let generics: Vec<(&str, TermId)> =
            names.iter().map(String::as_str).zip(terms.iter().copied()).collect();
        let parameters =
            function.parameters.iter().map(|one| self.written(&one.ty, &generics)).collect();
        let result = self.written(&function.result, &generics);
        let bounds = function
            .bounds
            .iter()
            .map(|bound| {
                matches!(bound, Type::Function(..)).then(|| self.written(bound, &generics))
            })
            .collect();
        Instance { parameters, result, generics: terms, bounds }
    }

    /// A term for a type in a library's signature.
    pub(super) fn template(
        &mut self,
        template: &Template,
        itself: TermId,
        letters: &mut Letters,
    ) -> TermId {
        match template {
            Template::Unknown => self.terms.doubtful(),
            Template::Any => self.terms.open(Kind::Any),
            Template::Itself => itself,
            Template::Letter(letter) => {
                let slot = &mut letters[usize::from(*letter)];
                *slot.get_or_insert_with(|| self.terms.open(Kind::Any))
            }
            Template::Each(element) => {
                let item = self.template(element, itself, letters);
                let over = self.terms.open(Kind::Any);
                self.ask(super::question::Question::Iterate { over, item });
                over
            }
            Template::Scalar(scalar) => self.terms.scalar(*scalar),
            Template::Text => self.terms.known(Shape::Text, &[]),
            Template::Never => self.terms.known(Shape::Never, &[]),
            Template::Tuple(parts) => self.templates(Shape::Tuple, parts, itself, letters),
            Template::Function(parts) => self.templates(Shape::Function, parts, itself, letters),
            Template::External(name, parts) => {
                self.templates(Shape::External(name.clone()), parts, itself, letters)
            }
            Template::Array(element) => {
                let element = self.template(element, itself, letters);
                self.terms.known(Shape::Array(None), &[element])
            }
            Template::Slice(element) => {
                let element = self.template(element, itself, letters);
                self.terms.known(Shape::Slice, &[element])
            }
            Template::Reference(inner) => {
                let inner = self.template(inner, itself, letters);
                self.terms.reference(inner)
            }
        }
    }

    fn templates(
        &mut self,
        shape: Shape,
        parts: &[Template],
        itself: TermId,
        letters: &mut Letters,
    ) -> TermId {
        let parts: Vec<TermId> =
            parts.iter().map(|part| self.template(part, itself, letters)).collect();
        self.terms.known(shape, &parts)
    }
}
