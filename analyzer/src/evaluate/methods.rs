//! Which method of the program a call means, decided by the value that it is called on. How it is
//! called is in `calls`; what the methods of Rust and of rsmpi mean is in the libraries.

use rustc_hash::FxHashMap;

use super::library;
use super::machine::{Call, Machine, Outcome};
use super::places::Target;
use super::types::{bind, element};
use super::value::Value;
use crate::program::{DefinitionId, Expression, FunctionId, Kind, Place, Type};

/// How often a receiver is dereferenced, at most.
const MOST_DEREFS: u32 = 8;

impl Machine<'_> {
    /// Whether a type of the program has a method.
    pub(super) fn has_method(&self, definition: DefinitionId, name: &str) -> bool {
        !self.program.methods.of(Some(definition), name).is_empty()
    }

    /// The method of the program that a call of this name means for a value, if there is one.
    fn find_method(&self, value: &Value, name: &str) -> Option<FunctionId> {
        let definition = match value {
            Value::Defined { definition, .. } => Some(*definition),
            Value::Unknown(_, ty) => match ty.behind_references() {
                Type::Defined(definition, _) => Some(*definition),
                _ => None,
            },
            _ => None,
        };
        let methods = &self.program.methods;
        if definition.is_some() {
            match methods.of(definition, name) {
                [] => {}
                [only] => return Some(*only),
                several => {
                    // Several traits have it: the one with a body that is meant is not known, unless
                    // only one has a body.
                    let mut bodies =
                        several.iter().filter(|it| self.program.function(**it).body.is_some());
                    return match (bodies.next(), bodies.next()) {
                        (Some(only), None) => Some(*only),
                        _ => None,
                    };
                }
            }
        }
        match methods.of(None, name) {
            [] => None,
            [only] => Some(*only),
            several => self.of_type(several, value),
        }
    }

    /// The one among several methods that belongs to exactly the value's type.
    fn of_type(&self, several: &[FunctionId], value: &Value) -> Option<FunctionId> {
        let ty = self.type_of(value);
        let mut fitting = several.iter().filter(|method| {
            let itself = self.program.function(**method).parameters.first();
            itself.is_some_and(|itself| *itself.ty.behind_references() == ty)
        });
        match (fitting.next(), fitting.next()) {
            (Some(only), None) if ty != Type::Unknown => Some(*only),
            _ => None,
        }
    }

    /// The program's own `From::from` that `into` means for a value, if there is one.
    fn find_conversion(&self, value: &Value, ty: &Type) -> Option<FunctionId> {
        let target = match ty {
            Type::Defined(definition, _) => Some(*definition),
            _ => None,
        };
        let candidates = self.program.methods.of(target, "from");
        let from = self.type_of(value);
        let fits = |function: &&FunctionId| {
            let function = self.program.function(**function);
            let parameter = function.parameters.first().map(|parameter| &parameter.ty);
            let takes = match (parameter, &from) {
                (Some(Type::Defined(mine, _)), Type::Defined(theirs, _)) => mine == theirs,
                (Some(parameter), from) => parameter == from,
                (None, _) => false,
            };
            takes && (target.is_some() || *ty == Type::Unknown || function.result == *ty)
        };
        let mut fitting = candidates.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(*only),
            _ => None,
        }
    }

    /// A method of the program called on a value; `None` if the program has none.
    pub(super) fn call_method(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: Vec<Value>,
        ty: &Type,
        place: Place,
    ) -> Option<Outcome> {
        let value = self.behind(receiver, place);
        let function = self.find_method(&value, name)?;
        let receiver = self.receiver_for(function, receiver, place);
        let mut all = vec![receiver];
        all.extend(arguments);
        Some(self.call_function(function, &[], all, ty, place))
    }

    /// An associated function of a type of the program; `None` if it has none.
    pub(super) fn call_associated(
        &mut self,
        definition: DefinitionId,
        name: &str,
        arguments: Vec<Value>,
        ty: &Type,
        place: Place,
    ) -> Option<Outcome> {
        let &[function] = self.program.methods.of(Some(definition), name) else { return None };
        Some(self.call_function(function, &[], arguments, ty, place))
    }

    /// The function of the program that `Trait::name` or `T::name` means in a call: the only one
    /// whose types fit.
    pub(super) fn find_associated(
        &self,
        owner: &str,
        name: &str,
        call: &Call<'_>,
    ) -> Option<FunctionId> {
        let generics = self.function().map_or(&[][..], |function| &function.generics);
        let is_parameter = generics.iter().any(|generic| generic == owner);
        if !is_parameter && !self.program.traits.contains(owner) {
            return None;
        }
        let itself = self.resolve(&Type::Parameter(owner.to_owned()));
        let methods = self.program.methods.named(name);
        let mut fitting: Vec<FunctionId> =
            methods.filter(|function| self.fits(*function, &itself, call)).collect();
        fitting.sort_unstable();
        fitting.dedup();
        match fitting[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether a call of an associated function of a type may mean this one.
    fn fits(&self, function: FunctionId, itself: &Type, call: &Call<'_>) -> bool {
        let function = self.program.function(function);
        if let Type::Scalar(scalar) = itself
            && function.name.rsplit("::").nth(1) != Some(scalar.name())
        {
            return false;
        }
        let takes = |(index, parameter): (usize, &Type)| match &call.arguments[index] {
            Value::Handle(_) => true,
            value => {
                let written = call.expressions.get(index).map(|it| self.resolved(&it.ty));
                agree(parameter, &self.type_of(value))
                    && written.is_none_or(|written| agree(parameter, &written))
            }
        };
        let parameters = function.parameters.iter().map(|parameter| &parameter.ty);
        !function.is_method
            && function.parameters.len() == call.arguments.len()
            && parameters.enumerate().all(takes)
            && agree(&function.result, &call.ty)
    }

    /// The receiver as a method wants it: the value, or a reference to it.
    fn receiver_for(&mut self, function: FunctionId, receiver: &Value, place: Place) -> Value {
        let parameter = self.program.function(function).parameters.first();
        let by_value =
            parameter.is_some_and(|it| !matches!(it.ty, Type::Reference(_) | Type::Unknown));
        match (receiver, by_value) {
            (Value::Reference(path), true) => self.take(path, place),
            (Value::Reference(_), false) | (_, true) => receiver.clone(),
            (_, false) => Value::Reference(self.drop_at_end_of_scope(receiver.clone())),
        }
    }

    /// `receiver.name(arguments)`
    pub(super) fn evaluate_method(
        &mut self,
        expression: &Expression,
        receiver: &Expression,
        name: &str,
        generics: &[Type],
        arguments: &[Expression],
    ) -> Outcome {
        let place = expression.place;
        let on = receiver;
        let receiver = self.receiver(on)?;
        let receiver = self.receiver_of(receiver, name, place)?;
        let values = self.evaluate_all(arguments)?;
        for argument in arguments {
            // `.unwrap_or_else(|error| world.abort(1))`
            if let Kind::Closure(closure) = &argument.kind {
                self.spare(&closure.body);
            }
        }
        let generics: Vec<Type> = generics.iter().map(|ty| self.resolve(ty)).collect();
        let of = self.resolved(&on.ty);
        let ty = self.resolved(&expression.ty);
        let value = self.behind(&receiver, place);
        if name == "into"
            && let Some(function) = self.find_conversion(&value, &ty)
        {
            let argument = self.receiver_for(function, &receiver, place);
            return self.call_function(function, &[], vec![argument], &ty, place);
        }
        let is_own = matches!(value, Value::Defined { .. } | Value::Unknown(..));
        if is_own && let Some(function) = self.find_method(&value, name) {
            let generics = self.with_numbers(function, generics, &of);
            let receiver = self.receiver_for(function, &receiver, place);
            let all = std::iter::once(receiver).chain(values).collect();
            return self.call_function(function, &generics, all, &ty, place);
        }
        // Nobody else may hold what a library changes in place.
        drop(value);
        let call = Call { name, generics, arguments: values, expressions: arguments, ty, place };
        if let Some(outcome) = library::method(self, &receiver, &call) {
            return outcome;
        }
        let value = self.behind(&receiver, place);
        if let Some(function) = self.find_method(&value, name) {
            let Call { arguments, ty, generics, .. } = call;
            let receiver = self.receiver_for(function, &receiver, place);
            let all = std::iter::once(receiver).chain(arguments).collect();
            return self.call_function(function, &generics, all, &ty, place);
        }
        // One of several methods of the program: which one is not known.
        let may_be_own = match &value {
            Value::Unknown(_, ty) => !matches!(ty.behind_references(), Type::External(..)),
            _ => false,
        };
        if may_be_own && self.effects.method_communicates(name) {
            return Err(self.lost(place, &format!("which `{name}` is called is not known")));
        }
        library::not_known(self, &receiver, &call)
    }

    /// The generic arguments of a method, with the numbers among those of the type that it is called
    /// on: a value does not tell them.
    fn with_numbers(&self, function: FunctionId, generics: Vec<Type>, of: &Type) -> Vec<Type> {
        let Type::Defined(_, arguments) = of.behind_references() else { return generics };
        if !generics.is_empty() || !arguments.iter().any(|it| matches!(it, Type::Number(_))) {
            return generics;
        }
        let function = self.program.function(function);
        let Some(itself) = function.parameters.first() else { return generics };
        let mut bindings = FxHashMap::default();
        bind(itself.ty.behind_references(), of.behind_references(), &mut bindings);
        let all = function.generics.iter();
        all.map(|generic| bindings.remove(generic).unwrap_or_default()).collect()
    }

    /// What has a method, where the program's own `Deref` leads from what it is called on to that.
    fn receiver_of(&mut self, receiver: Value, name: &str, place: Place) -> Outcome {
        let mut receiver = receiver;
        for _ in 0..MOST_DEREFS {
            let Value::Defined { definition, .. } = self.behind(&receiver, place) else { break };
            let leads_on = self.has_method(definition, "deref")
                && !self.has_method(definition, name)
                && !self.is_of_trait(definition, name);
            if !leads_on {
                break;
            }
            let target = match receiver {
                Value::Reference(path) => Target::Path(self.end_of(path)),
                value => Target::Value(value),
            };
            receiver = match self.dereference(target, place)? {
                Target::Path(path) => Value::Reference(self.end_of(path)),
                Target::Value(value) => value,
            };
        }
        Ok(receiver)
    }

    /// Whether a method of Rust's own traits is a type's, by what it derives or implements.
    fn is_of_trait(&self, definition: DefinitionId, name: &str) -> bool {
        let of = match name {
            "clone" | "clone_from" | "to_owned" => "Clone",
            "eq" | "ne" => "PartialEq",
            "partial_cmp" | "lt" | "le" | "gt" | "ge" => "PartialOrd",
            "cmp" | "max" | "min" | "clamp" => "Ord",
            "to_string" => "Display",
            "hash" => "Hash",
            "into" | "try_into" | "type_id" | "deref" | "deref_mut" => return true,
            // Those of an iterator are more than can be listed.
            _ => return self.has_method(definition, "next"),
        };
        self.program.definition(definition).traits.iter().any(|it| it == of)
    }

    /// What a method is called on: a reference to where it is, if it is somewhere.
    fn receiver(&mut self, expression: &Expression) -> Outcome {
        let target = self.locate(expression)?;
        match self.deref_all(target) {
            Target::Path(path) => Ok(Value::Reference(path)),
            Target::Value(value) => Ok(value),
        }
    }
}

/// Whether a value of a type may be meant where another one is written.
fn agree(written: &Type, actual: &Type) -> bool {
    let all = |written: &[Type], actual: &[Type]| {
        written.iter().zip(actual).all(|(written, actual)| agree(written, actual))
    };
    let is_open = |ty: &Type| {
        matches!(
            ty,
            Type::Unknown
                | Type::Variable(_)
                | Type::Parameter(_)
                | Type::Trait(_)
                | Type::Never
                | Type::Function(..)
        )
    };
    let (written, actual) = (written.behind_references(), actual.behind_references());
    if is_open(written) || is_open(actual) {
        return true;
    }
    match (written, actual) {
        (Type::Tuple(one), Type::Tuple(other)) => one.len() == other.len() && all(one, other),
        (Type::Defined(one, parts), Type::Defined(other, others)) => {
            one == other && all(parts, others)
        }
        (one, other) => match (element(one), element(other)) {
            (Some(one), Some(other)) => agree(one, other),
            _ => match (one, other) {
                (Type::External(one, parts), Type::External(other, others)) => {
                    one == other && all(parts, others)
                }
                (one, other) => one == other,
            },
        },
    }
}
