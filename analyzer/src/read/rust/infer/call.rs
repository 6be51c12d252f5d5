//! Calls: of methods by what they are called on, of functions of the program, of values.

use std::sync::Arc;

use super::coerce::DEREFERENCES;
use super::convert::Instance;
use super::library::{Signature, Template, library};
use super::question::Answer;
use super::term::{Kind, Parts, Shape, TermId, View};
use super::{Inference, Letters};
use crate::program::{DefinitionId, FunctionId, Type};

/// A call of a method, as far as its types are known.
#[derive(Clone, Debug)]
pub(super) struct MethodCall {
    /// What it is called on.
    pub(super) receiver: TermId,
    /// Its name.
    pub(super) name: String,
    /// The types in its turbofish.
    pub(super) generics: Vec<TermId>,
    /// The arguments.
    pub(super) arguments: Vec<TermId>,
    /// What it gives.
    pub(super) result: TermId,
}

/// Traits of rsmpi that a generic parameter may have.
const TRAITS: [&str; 4] = ["Communicator", "Source", "Destination", "Root"];

/// Methods that rsmpi's traits have and, by all experience, nothing else.
const UNMISTAKABLE: [&str; 12] = [
    "process_at_rank",
    "any_process",
    "this_process",
    "receive_vec",
    "receive_vec_with_tag",
    "receive_into",
    "receive_into_with_tag",
    "receive_with_tag",
    "matched_probe",
    "matched_probe_with_tag",
    "split_by_color",
    "split_by_color_with_key",
];

impl<'p> Inference<'p> {
    pub(super) fn method(&mut self, call: &MethodCall) -> Answer {
        if self.universal(call) {
            return Answer::Done;
        }
        let mut at = call.receiver;
        for _ in 0..DEREFERENCES {
            let (shape, parts) = match self.terms.view(at) {
                View::Open(Kind::Any) if self.unmistakable(call, at) => return Answer::Done,
                View::Open(Kind::Any) => return Answer::Wait(at),
                View::Open(kind) => {
                    let sections: &[&str] = if kind == Kind::Integer {
                        &["integer", "number"]
                    } else {
                        &["float", "number"]
                    };
                    if self.find_in(sections, at, call) {
                        return Answer::Done;
                    }
                    break;
                }
                View::Conflict => break,
                View::Known(shape, parts) => (shape, parts),
            };
            if self.method_of(&shape, &parts, at, call) {
                return Answer::Done;
            }
            match self.dereferenced(at) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        if self.for_any(call) || self.find_in(&["any"], call.receiver, call) {
            return Answer::Done;
        }
        self.give_up_call(call)
    }

    fn give_up_call(&mut self, call: &MethodCall) -> Answer {
        self.terms.doubt(call.result);
        self.give_up(&call.arguments)
    }

    /// A method that exactly this type has.
    fn method_of(&mut self, shape: &Shape, parts: &Parts, at: TermId, call: &MethodCall) -> bool {
        if let Shape::Defined(definition) = shape {
            if let Some(candidates) = self.methods(Some(*definition), &call.name) {
                match candidates {
                    [only] => self.call_method(*only, at, call),
                    _ => _ = self.give_up_call(call),
                }
                return true;
            }
            let Some(item) = self.next_of(at) else { return false };
            let iterator = self.terms.external("Iterator", &[item]);
            return self.of_iterator(item, call) || self.find_in(&["Iterator"], iterator, call);
        }
        let integer = matches!(shape, Shape::Scalar(scalar) if scalar.is_integer());
        match shape {
            Shape::Scalar(scalar) => {
                let kind = if integer { "integer" } else { "float" };
                let sections = [scalar.name(), kind, "number"];
                let known = if integer || scalar.is_float() { 3 } else { 1 };
                self.find_in(&sections[..known], at, call)
            }
            Shape::Text => self.find_in(&["str"], at, call),
            Shape::Tuple => self.find_in(&["tuple"], at, call),
            Shape::Array(_) | Shape::Slice => {
                self.of_slice(parts[0], call) || self.find_in(&["[]"], at, call)
            }
            Shape::External(name) => {
                if library().is_a(name, "Iterator") {
                    let item = parts.first().copied();
                    let item = item.unwrap_or_else(|| self.terms.doubtful());
                    if self.of_iterator(item, call) {
                        return true;
                    }
                }
                self.of_container(name, at, call) || self.find_in(&[name], at, call)
            }
            Shape::Trait(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let names: Vec<&str> =
                    names.into_iter().filter(|name| *name != "Iterator").collect();
                self.methods(None, &call.name).is_none() && self.find_in(&names, at, call)
            }
            Shape::Parameter(name) => {
                let traits = match self.bound_of(name) {
                    Some(Type::Trait(traits)) => traits.as_slice(),
                    _ => &[],
                };
                let traits: Vec<&str> = traits.iter().map(String::as_str).collect();
                (self.methods(None, &call.name).is_none() && self.find_in(&traits, at, call))
                    || self.unmistakable(call, at)
            }
            _ => false,
        }
    }

    /// A method of rsmpi on something of unknown type.
    fn unmistakable(&mut self, call: &MethodCall, at: TermId) -> bool {
        UNMISTAKABLE.contains(&call.name.as_str())
            && self.methods(None, &call.name).is_none()
            && self.find_in(&TRAITS, at, call)
    }

    fn find_in(&mut self, sections: &[&str], at: TermId, call: &MethodCall) -> bool {
        let name = call.name.strip_prefix("r#").unwrap_or(&call.name);
        let Some(signature) = sections.iter().find_map(|section| library().find(section, name))
        else {
            return false;
        };
        self.apply(&signature, at, &call.generics, &call.arguments, call.result);
        true
    }

    /// A method of a trait of the program for types of libraries, if there is only one.
    fn for_any(&mut self, call: &MethodCall) -> bool {
        match self.methods(None, &call.name) {
            Some([only]) => {
                self.call_method(*only, call.receiver, call);
                true
            }
            Some(_) => {
                self.give_up_call(call);
                true
            }
            None => false,
        }
    }

    /// What the letters of a signature stand for where it is used on this type.
    pub(super) fn letters(&mut self, signature: &Signature, at: TermId) -> Letters {
        let mut letters: Letters = [None; 26];
        let wanted: &[Template] = match &*signature.of {
            Template::External(_, parts) => parts,
            Template::Slice(element) => std::slice::from_ref(element),
            _ => return letters,
        };
        let parts = self.terms.shape(at).map(|(_, parts)| parts);
        for (number, template) in wanted.iter().enumerate() {
            let expected = self.template(template, at, &mut letters);
            match parts.as_ref().and_then(|parts| parts.get(number)) {
                Some(part) => self.terms.unify(expected, *part),
                None => self.terms.doubt(expected),
            }
        }
        letters
    }

    /// A call of what a library's signature describes.
    pub(super) fn apply(
        &mut self,
        signature: &Arc<Signature>,
        itself: TermId,
        generics: &[TermId],
        arguments: &[TermId],
        result: TermId,
    ) {
        if arguments.len() != signature.parameters.len() {
            self.terms.doubt(result);
            self.give_up(arguments);
            return;
        }
        let mut letters = self.letters(signature, itself);
        for (letter, given) in signature.generics.iter().zip(generics) {
            letters[usize::from(*letter)] = Some(*given);
        }
        for (template, argument) in signature.parameters.iter().zip(arguments) {
            let expected = self.template(template, itself, &mut letters);
            self.coerce(*argument, expected);
            if *template == Template::Unknown {
                self.terms.doubt(*argument);
            }
        }
        // An argument that is not understood may decide what is open.
        if signature.parameters.contains(&Template::Unknown) {
            for letter in letters.iter().flatten() {
                if self.terms.is_open(*letter) {
                    self.terms.doubt(*letter);
                }
            }
        }
        if signature.result == Template::Never {
            self.terms.never(result);
        } else {
            let given = self.template(&signature.result, itself, &mut letters);
            self.terms.unify(given, result);
        }
    }

    /// The functions of the program that a method may be.
    pub(super) fn methods(&self, of: Option<DefinitionId>, name: &str) -> Option<&[FunctionId]> {
        Some(self.program.methods.of(of, name)).filter(|functions| !functions.is_empty())
    }

    /// The one method of this name that a type of the program has.
    pub(super) fn only_method(&self, of: DefinitionId, name: &str) -> Option<FunctionId> {
        match self.methods(Some(of), name)? {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// A method's signature where it is called on this.
    pub(super) fn method_instance(
        &mut self,
        id: FunctionId,
        receiver: TermId,
        turbofish: &[TermId],
    ) -> Instance {
        let instance = self.instance(id, turbofish);
        if let Some(itself) = instance.parameters.first() {
            let (itself, receiver) = (self.owner(*itself), self.terms.behind_references(receiver));
            self.terms.unify(receiver, itself);
        }
        instance
    }

    /// The type that a parameter `self` belongs to.
    fn owner(&mut self, itself: TermId) -> TermId {
        let mut at = self.terms.behind_references(itself);
        while let Some((Shape::External(name), parts)) = self.terms.shape(at) {
            if !matches!(name.as_ref(), "Box" | "Rc" | "Arc" | "Pin") || parts.len() != 1 {
                break;
            }
            at = self.terms.behind_references(parts[0]);
        }
        at
    }

    fn call_method(&mut self, id: FunctionId, receiver: TermId, call: &MethodCall) {
        let instance = self.method_instance(id, receiver, &call.generics);
        let parameters = instance.parameters.get(1..).unwrap_or_default().to_vec();
        self.pass(&instance, &parameters, &call.arguments, call.result);
    }

    /// Arguments go to the parameters of a function of the program.
    pub(super) fn pass(
        &mut self,
        instance: &Instance,
        parameters: &[TermId],
        arguments: &[TermId],
        result: TermId,
    ) {
        if parameters.len() != arguments.len() {
            self.terms.doubt(result);
            self.give_up(arguments);
            return;
        }
        for (argument, parameter) in arguments.iter().zip(parameters) {
            self.coerce(*argument, *parameter);
        }
        self.meet_bounds(instance);
        if self.terms.is_never(instance.result) {
            self.terms.never(result);
        } else {
            self.terms.unify(instance.result, result);
        }
    }

    /// What is given for a generic parameter does what its bound says, as far as that is understood.
    fn meet_bounds(&mut self, instance: &Instance) {
        let mut decided = Vec::new();
        for (generic, bound) in instance.generics.iter().zip(&instance.bounds) {
            let Some(bound) = bound else { continue };
            if let (Some((Shape::Function, _)), Some((Shape::Function, parts))) =
                (self.terms.shape(*generic), self.terms.shape(*bound))
            {
                decided.extend(parts.iter().map(|part| self.terms.find(*part)));
                self.terms.unify(*generic, *bound);
            }
        }
        for generic in &instance.generics {
            let root = self.terms.find(*generic);
            // What is still open may be decided by a bound that is not understood.
            let by_closure = decided.iter().any(|part| self.terms.find(*part) == root);
            if self.terms.is_open(root) && !by_closure {
                self.doubt_unless_number(root);
            }
        }
    }

    /// What a generic parameter of this function must be.
    pub(super) fn bound_of(&self, name: &str) -> Option<&'p Type> {
        let number = self.generics.iter().position(|known| known == name)?;
        self.bounds.get(number)
    }

    /// A number can only be decided by a bound where a trait of the program is for numbers.
    fn doubt_unless_number(&mut self, term: TermId) {
        if self.traits_for_numbers || matches!(self.terms.view(term), View::Open(Kind::Any)) {
            self.terms.doubt(term);
        }
    }

    /// A call of a value: a closure, a pointer to a function.
    pub(super) fn called(
        &mut self,
        callee: TermId,
        arguments: &[TermId],
        result: TermId,
    ) -> Answer {
        let mut at = callee;
        for _ in 0..DEREFERENCES {
            match self.terms.view(at) {
                View::Open(Kind::Any) => return Answer::Wait(at),
                View::Known(Shape::Function, parts) if parts.len() == arguments.len() + 1 => {
                    for (argument, parameter) in arguments.iter().zip(parts.iter()) {
                        self.coerce(*argument, *parameter);
                    }
                    let given = parts[arguments.len()];
                    if self.terms.is_never(given) {
                        self.terms.never(result);
                    } else {
                        self.terms.unify(given, result);
                    }
                    return Answer::Done;
                }
                View::Known(Shape::Parameter(name), _) => match self.bound_of(&name) {
                    Some(bound @ Type::Function(..)) => at = self.written(bound, &[]),
                    _ => break,
                },
                View::Known(..) => match self.dereferenced(at) {
                    Some(inner) => at = inner,
                    None => break,
                },
                View::Open(_) | View::Conflict => break,
            }
        }
        self.terms.doubt(result);
        self.give_up(arguments)
    }
}
