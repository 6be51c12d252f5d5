//! Patterns: what their variables are, given the type of what they take apart.

use super::Inference;
use super::term::{Kind, Shape, TermId, View};
use crate::program::{DefinitionId, FieldPattern, Pattern};

impl Inference<'_> {
    /// A value of this type is taken apart.
    pub(super) fn bind(&mut self, pattern: &mut Pattern, of: TermId) {
        self.bind_through(pattern, of, false);
    }

    /// The same, and whether the value is reached through a reference, so that variables borrow.
    fn bind_through(&mut self, pattern: &mut Pattern, of: TermId, borrowed: bool) {
        match pattern {
            Pattern::Wildcard | Pattern::Rest | Pattern::Unknown => {}
            Pattern::Variable(variable, inner) => {
                let term = self.variable(*variable);
                let bound = if borrowed { self.terms.reference(of) } else { of };
                self.coerce(bound, term);
                if let Some(inner) = inner
                    && !matches!(**inner, Pattern::Rest)
                {
                    self.bind_through(inner, of, borrowed);
                }
            }
            Pattern::Value(value) => {
                let term = self.expression(value);
                self.ask(super::question::Question::Compare { left: of, right: term });
            }
            Pattern::Range(start, end, _) => {
                for bound in [start, end].into_iter().flatten() {
                    let term = self.expression(bound);
                    self.ask(super::question::Question::Compare { left: of, right: term });
                }
            }
            Pattern::Reference(inner) => match self.terms.view(of) {
                View::Known(Shape::Reference, parts) => {
                    self.bind_through(inner, parts[0], false);
                }
                View::Open(Kind::Any) if !self.terms.is_doubtful(of) => {
                    let to = self.open();
                    let reference = self.terms.reference(to);
                    self.terms.unify(of, reference);
                    self.bind_through(inner, to, false);
                }
                _ => self.bind_unknown(inner),
            },
            Pattern::Or(alternatives) => {
                for alternative in alternatives {
                    self.bind_through(alternative, of, borrowed);
                }
            }
            Pattern::Tuple(..)
            | Pattern::Slice(..)
            | Pattern::Defined { .. }
            | Pattern::External(..) => self.bind_parts(pattern, of, borrowed),
        }
    }

    fn bind_parts(&mut self, pattern: &mut Pattern, of: TermId, borrowed: bool) {
        let inside = self.terms.behind_references(of);
        let borrowed = borrowed || self.terms.referent(of).is_some();
        match pattern {
            Pattern::Tuple(patterns) => self.bind_tuple(patterns, inside, borrowed),
            Pattern::Slice(patterns) => self.bind_slice(patterns, inside, borrowed),
            Pattern::Defined { definition, variant, fields } => {
                self.bind_defined((*definition, *variant), fields, inside, borrowed);
            }
            Pattern::External(name, patterns) => {
                self.bind_external(name, patterns, inside, borrowed);
            }
            _ => {}
        }
    }

    fn bind_tuple(&mut self, patterns: &mut [Pattern], of: TermId, borrowed: bool) {
        let rest = patterns.iter().position(|one| matches!(one, Pattern::Rest));
        if let (View::Open(Kind::Any), None) = (self.terms.view(of), rest)
            && !self.terms.is_doubtful(of)
        {
            let parts: Vec<TermId> = patterns.iter().map(|_| self.open()).collect();
            let tuple = self.terms.known(Shape::Tuple, &parts);
            self.terms.unify(of, tuple);
        }
        let Some((Shape::Tuple, parts)) = self.terms.shape(of) else {
            return patterns.iter_mut().for_each(|one| self.bind_unknown(one));
        };
        let count = patterns.len();
        let fits = rest.map_or(parts.len() == count, |_| parts.len() + 1 >= count);
        for (at, pattern) in patterns.iter_mut().enumerate() {
            let from_end = rest.is_some_and(|rest| at > rest);
            let at = if from_end { (parts.len() + at).checked_sub(count) } else { Some(at) };
            match at.and_then(|at| parts.get(at)).filter(|_| fits) {
                Some(part) => self.bind_through(pattern, *part, borrowed),
                None => self.bind_unknown(pattern),
            }
        }
    }

    fn bind_slice(&mut self, patterns: &mut [Pattern], of: TermId, borrowed: bool) {
        let Some((Shape::Array(_) | Shape::Slice, parts)) = self.terms.shape(of) else {
            return patterns.iter_mut().for_each(|one| self.bind_unknown(one));
        };
        for pattern in patterns {
            match pattern {
                Pattern::Variable(variable, Some(inner)) if matches!(**inner, Pattern::Rest) => {
                    let slice = self.terms.known(Shape::Slice, &[parts[0]]);
                    let rest = if borrowed { self.terms.reference(slice) } else { self.open() };
                    let term = self.variable(*variable);
                    self.coerce(rest, term);
                }
                _ => self.bind_through(pattern, parts[0], borrowed),
            }
        }
    }

    fn bind_defined(
        &mut self,
        (definition, variant): (DefinitionId, u32),
        fields: &mut [FieldPattern],
        of: TermId,
        borrowed: bool,
    ) {
        if self.may_be_reference(of) {
            return fields.iter_mut().for_each(|one| self.bind_unknown(&mut one.pattern));
        }
        let whole = self.defined(definition);
        self.terms.unify(of, whole);
        let arguments = match self.terms.shape(whole) {
            Some((Shape::Defined(_), parts)) => parts,
            _ => [].into(),
        };
        for field in fields {
            match self.member(definition, variant, &field.name, &arguments) {
                Some(term) => self.bind_through(&mut field.pattern, term, borrowed),
                None => self.bind_unknown(&mut field.pattern),
            }
        }
    }

    fn bind_external(&mut self, name: &str, patterns: &mut [Pattern], of: TermId, borrowed: bool) {
        let last = name.rsplit("::").next().unwrap_or(name);
        let (whole, count, which) = match last {
            "Some" | "None" => ("Option", 1, 0),
            "Ok" => ("Result", 2, 0),
            "Err" => ("Result", 2, 1),
            _ => return patterns.iter_mut().for_each(|one| self.bind_unknown(one)),
        };
        let parts: Vec<TermId> = (0..count).map(|_| self.open()).collect();
        let expected = self.terms.external(whole, &parts);
        if self.may_be_reference(of) {
            return patterns.iter_mut().for_each(|one| self.bind_unknown(one));
        }
        self.terms.unify(of, expected);
        for pattern in patterns {
            self.bind_through(pattern, parts[which], borrowed);
        }
    }

    fn may_be_reference(&mut self, of: TermId) -> bool {
        self.terms.is_open(of) && self.terms.is_doubtful(of)
    }

    /// Nothing is known of what is taken apart.
    fn bind_unknown(&mut self, pattern: &mut Pattern) {
        let unknown = self.terms.doubtful();
        self.bind_through(pattern, unknown, false);
    }

    /// A struct or an enum with arguments that are still to be found.
    pub(super) fn defined(&mut self, definition: DefinitionId) -> TermId {
        let count = self.program.definition(definition).generics.len();
        let arguments: Vec<TermId> = (0..count).map(|_| self.open()).collect();
        self.terms.known(Shape::Defined(definition), &arguments)
    }
}
