//! Methods that no signature can describe: what they give depends on what is asked for, on what they
//! are given, or on what is in what they are called on.

use super::Inference;
use super::call::MethodCall;
use super::library::library;
use super::question::Question;
use super::term::{Kind, Shape, TermId, View};
use crate::program::{DefinitionId, Scalar};

impl Inference<'_> {
    /// Methods that are for every type, and look at references themselves.
    pub(super) fn universal(&mut self, call: &MethodCall) -> bool {
        match (call.name.as_str(), call.arguments.len()) {
            ("clone" | "to_owned", 0) => {
                if matches!(self.terms.view(call.receiver), View::Open(Kind::Any)) {
                    return false;
                }
                let inner = self.terms.referent(call.receiver).unwrap_or(call.receiver);
                let cloned = match self.terms.shape(inner) {
                    Some((Shape::Slice, parts)) if call.name == "to_owned" => {
                        self.terms.external("Vec", &parts)
                    }
                    Some((Shape::Slice | Shape::Trait(_), _)) => call.receiver,
                    Some((Shape::Defined(definition), _)) if !self.is_clone(definition) => {
                        call.receiver
                    }
                    _ => inner,
                };
                self.terms.unify(cloned, call.result);
                true
            }
            ("into_iter", 0) => {
                if let Some((Shape::Defined(definition), _)) = self.terms.shape(call.receiver)
                    && self.methods(Some(definition), "into_iter").is_some()
                {
                    return false;
                }
                let item = self.open();
                self.ask(Question::Iterate { over: call.receiver, item });
                let iterator = self.terms.external("Iterator", &[item]);
                self.terms.unify(iterator, call.result);
                true
            }
            _ => false,
        }
    }

    fn is_clone(&self, definition: DefinitionId) -> bool {
        let traits = &self.program.definition(definition).traits;
        traits.iter().any(|name| name == "Clone")
            || self.methods(Some(definition), "clone").is_some()
    }

    /// Methods of iterators whose results are whatever is asked for.
    pub(super) fn of_iterator(&mut self, item: TermId, call: &MethodCall) -> bool {
        let asked = call.generics.first().copied();
        match (call.name.as_str(), call.arguments.as_slice()) {
            ("collect", []) => {
                let into = asked.unwrap_or(call.result);
                self.terms.unify(into, call.result);
                self.ask(Question::Collect { item, into });
            }
            ("sum" | "product", []) => {
                let into = asked.unwrap_or(call.result);
                self.terms.unify(into, call.result);
                self.ask(Question::Sum { item, into });
            }
            ("unzip", []) => {
                let (a, b, into_a, into_b) = (self.open(), self.open(), self.open(), self.open());
                let pair = self.terms.known(Shape::Tuple, &[a, b]);
                self.terms.unify(item, pair);
                let both = self.terms.known(Shape::Tuple, &[into_a, into_b]);
                self.terms.unify(both, call.result);
                self.ask(Question::Collect { item: a, into: into_a });
                self.ask(Question::Collect { item: b, into: into_b });
            }
            ("partition", [decides]) => {
                let reference = self.terms.reference(item);
                let truth = self.terms.scalar(Scalar::Bool);
                let wanted = self.terms.known(Shape::Function, &[reference, truth]);
                self.coerce(*decides, wanted);
                let into = self.open();
                let both = self.terms.known(Shape::Tuple, &[into, into]);
                self.terms.unify(both, call.result);
                self.ask(Question::Collect { item, into });
            }
            _ => return false,
        }
        true
    }

    /// Methods of slices that depend on what they are given or on what is in them.
    pub(super) fn of_slice(&mut self, element: TermId, call: &MethodCall) -> bool {
        match (call.name.as_str(), call.arguments.as_slice()) {
            ("get" | "get_mut" | "get_unchecked" | "get_unchecked_mut", [index]) => {
                let found = self.open();
                let slice = self.terms.known(Shape::Slice, &[element]);
                self.ask(Question::Index { base: slice, index: *index, result: found });
                let reference = self.terms.reference(found);
                let result = if call.name.contains("unchecked") {
                    reference
                } else {
                    self.terms.external("Option", &[reference])
                };
                self.terms.unify(result, call.result);
            }
            ("concat", []) => match self.terms.shape(element) {
                Some((Shape::Text, _)) => self.terms.unify(element, call.result),
                Some((Shape::Array(_), parts)) => {
                    let whole = self.terms.external("Vec", &parts);
                    self.terms.unify(whole, call.result);
                }
                Some((Shape::External(name), parts)) if name.as_ref() == "Vec" => {
                    let whole = self.terms.external("Vec", &parts);
                    self.terms.unify(whole, call.result);
                }
                _ => self.terms.doubt(call.result),
            },
            ("join", [_]) => {
                let element = self.terms.behind_references(element);
                match self.terms.shape(element) {
                    Some((Shape::Text, _)) => self.terms.unify(element, call.result),
                    _ => self.terms.doubt(call.result),
                }
            }
            _ => return false,
        }
        true
    }

    pub(super) fn of_container(&mut self, name: &str, at: TermId, call: &MethodCall) -> bool {
        let ("extend", [elements]) = (call.name.as_str(), call.arguments.as_slice()) else {
            return false;
        };
        if !library().is_a(name, "Sequence") && !library().is_a(name, "HashMap") {
            return false;
        }
        let item = self.open();
        self.ask(Question::Iterate { over: *elements, item });
        self.ask(Question::Extend { item, into: at });
        let unit = self.terms.unit();
        self.terms.unify(unit, call.result);
        true
    }
}
