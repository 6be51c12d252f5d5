//! Names that are used as values: functions and constants of libraries, functions of the program.

use std::sync::Arc;

use super::convert::Instance;
use super::library::{Signature, Template, library};
use super::term::{Shape, TermId};
use super::{Inference, Letters};
use crate::program::{FunctionId, Scalar, Type};

impl Inference<'_> {
    /// A call of a function of a library.
    pub(super) fn call_external(
        &mut self,
        path: &[String],
        generics: &[TermId],
        arguments: &[TermId],
        result: TermId,
    ) {
        let Some(name) = path.last() else { return };
        match (name.as_str(), arguments) {
            ("Some", [value]) => {
                let option = self.terms.external("Option", &[*value]);
                self.terms.unify(option, result);
            }
            ("Ok" | "Err", [value]) => {
                let other = self.open();
                let parts = if name == "Ok" { [*value, other] } else { [other, *value] };
                let whole = self.terms.external("Result", &parts);
                self.terms.unify(whole, result);
            }
            ("vec", [elements]) => {
                let element = self.open();
                let array = self.terms.known(Shape::Array(None), &[element]);
                self.terms.unify(*elements, array);
                let whole = self.terms.external("Vec", &[element]);
                self.terms.unify(whole, result);
            }
            _ => match self.signature(path) {
                Some((signature, owner)) => {
                    let (itself, generics) = self.owner_of(&signature, owner, generics);
                    self.apply(&signature, itself, &generics, arguments, result);
                }
                None if self.default_of(path, generics, result) => {}
                None if self.one_of_several(name, generics, arguments, result) => {}
                None => {
                    self.terms.doubt(result);
                    self.give_up(arguments);
                }
            },
        }
    }

    /// One of several functions of this name that a type of the program has, such as `from`.
    fn one_of_several(
        &mut self,
        name: &str,
        generics: &[TermId],
        arguments: &[TermId],
        result: TermId,
    ) -> bool {
        let Some((Shape::Defined(definition), _)) =
            generics.first().and_then(|of| self.terms.shape(*of))
        else {
            return false;
        };
        let Some(&[first, _, ..]) = self.methods(Some(definition), name) else { return false };
        let of_all = self.ambiguous.get(&first).and_then(Option::as_ref);
        let given = match of_all {
            Some(of_all) => self.written(of_all, &[]),
            None => self.terms.doubtful(),
        };
        self.terms.unify(given, result);
        self.give_up(arguments);
        true
    }

    /// The signature of a function of a library, and the type that it belongs to.
    fn signature<'n>(&self, path: &'n [String]) -> Option<(Arc<Signature>, &'n str)> {
        let function = format!("::{}", path.last()?);
        let owner = path.len().checked_sub(2).map_or("mem", |at| path[at].as_str());
        let find = |section: &str| library().find(section, &function);
        let found = match Scalar::from_name(owner) {
            Some(scalar) => find(owner)
                .or_else(|| scalar.is_integer().then(|| find("integer"))?)
                .or_else(|| (scalar.is_integer() || scalar.is_float()).then(|| find("number"))?),
            None if owner == "String" => find(owner).or_else(|| find("str")),
            None => find(owner),
        };
        found.or_else(|| find(path.first().filter(|root| *root == "mpi")?)).map(|one| (one, owner))
    }

    /// The type that a function belongs to, and the generic arguments that are the function's own.
    fn owner_of(
        &mut self,
        signature: &Signature,
        owner: &str,
        generics: &[TermId],
    ) -> (TermId, Vec<TermId>) {
        if let Some(scalar) = Scalar::from_name(owner) {
            return (self.terms.scalar(scalar), generics.to_vec());
        }
        if matches!(owner, "str" | "String") {
            return (self.terms.known(Shape::Text, &[]), generics.to_vec());
        }
        let arity = match &*signature.of {
            Template::External(_, parts) => parts.len(),
            _ => 0,
        };
        let own = generics.len().saturating_sub(signature.generics.len()).min(arity);
        let mut parts: Vec<TermId> = generics[..own].to_vec();
        parts.extend((own..arity).map(|_| self.open()));
        (self.terms.external(owner, &parts), generics[own..].to_vec())
    }

    /// `Default::default()`, `T::default()`, `i32::default()`, `Vec::default()`.
    fn default_of(&mut self, path: &[String], generics: &[TermId], result: TermId) -> bool {
        let [.., owner, name] = path else { return false };
        if name != "default" {
            return false;
        }
        // A type of the program stands first among the generic arguments.
        if let [of] = generics
            && let Some((Shape::Defined(_), _)) = self.terms.shape(*of)
        {
            self.terms.unify(*of, result);
            return true;
        }
        if owner == "Default" {
            return true;
        }
        self.is_parameter(owner) && {
            let parameter = self.terms.known(Shape::Parameter(owner.as_str().into()), &[]);
            self.terms.unify(parameter, result);
            true
        }
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.generics.iter().any(|known| known == name)
    }

    /// A constant of a library, or one of its functions as a value.
    pub(super) fn external_value(&mut self, path: &[String], generics: &[TermId]) -> TermId {
        let Some(name) = path.last() else { return self.terms.doubtful() };
        let owner = |back: usize| path.len().checked_sub(back).map(|at| path[at].as_str());
        let scalar = |name: Option<&str>| Scalar::from_name(name.unwrap_or_default());
        match name.as_str() {
            "None" => {
                let value = self.open();
                return self.terms.external("Option", &[value]);
            }
            "Some" | "Ok" | "Err" => {
                let (value, result) = (self.open(), self.open());
                self.call_external(path, generics, &[value], result);
                return self.terms.known(Shape::Function, &[value, result]);
            }
            _ => {}
        }
        if owner(2) == Some("consts")
            && let Some(scalar) = scalar(owner(3))
        {
            return self.terms.scalar(scalar);
        }
        let is_constant = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        match (scalar(owner(2)), name.as_str()) {
            (Some(_), "BITS" | "DIGITS" | "RADIX" | "MANTISSA_DIGITS") => {
                return self.terms.scalar(Scalar::U32);
            }
            (Some(scalar), _) if is_constant => return self.terms.scalar(scalar),
            _ => {}
        }
        let Some((signature, of)) = self.signature(path) else { return self.terms.doubtful() };
        let (itself, generics) = self.owner_of(&signature, of, generics);
        let mut letters: Letters = self.letters(&signature, itself);
        for (letter, given) in signature.generics.iter().zip(generics) {
            letters[usize::from(*letter)] = Some(given);
        }
        let mut parts: Vec<TermId> = Vec::new();
        for template in signature.parameters.iter().chain([&signature.result]) {
            parts.push(self.template(template, itself, &mut letters));
        }
        self.terms.known(Shape::Function, &parts)
    }

    /// A function of the program where it is named; all its generic arguments are noted there.
    pub(super) fn used(&mut self, id: FunctionId, generics: &mut Vec<Type>) -> Instance {
        // The type that a function belongs to may be written without its arguments.
        let given: Vec<TermId> = generics
            .iter()
            .map(|ty| if *ty == Type::Unknown { self.open() } else { self.written(ty, &[]) })
            .collect();
        let instance = match self.ambiguous.get(&id) {
            Some(result) => self.any_of(id, result.as_ref()),
            None => self.instance(id, &given),
        };
        *generics = instance.generics.iter().map(|term| Type::Variable(term.0)).collect();
        instance
    }

    /// One of several functions of the same name, which at most give the same.
    fn any_of(&mut self, id: FunctionId, result: Option<&Type>) -> Instance {
        let function = self.program.function(id);
        let parameters = function.parameters.iter().map(|_| self.terms.doubtful()).collect();
        let result = match result {
            Some(result) => self.written(result, &[]),
            None => self.terms.doubtful(),
        };
        let generics = function.generics.iter().map(|_| self.terms.doubtful()).collect();
        Instance { parameters, result, generics, bounds: Vec::new() }
    }

    /// The types of a turbofish, which are replaced by their terms.
    pub(super) fn turbofish(&mut self, types: &mut [Type]) -> Vec<TermId> {
        types.iter_mut().map(|ty| self.note(ty)).collect()
    }

    /// The term of a written type, which stands in its place until it is filled in.
    pub(super) fn note(&mut self, ty: &mut Type) -> TermId {
        let term = self.written(ty, &[]);
        *ty = Type::Variable(term.0);
        term
    }
}
