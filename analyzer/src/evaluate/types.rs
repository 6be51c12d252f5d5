//! Types of values, and what generic parameters stand for.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use p2p_protocol::model::HandleKind;

use super::handle::Handle;
use super::machine::Machine;
use super::value::{Sequence, Value};
use crate::program::{Scalar, Type};

impl Machine<'_> {
    /// The type of a value, as far as it is known. Arrays and slices are a `Vec` too.
    pub(super) fn type_of(&self, value: &Value) -> Type {
        self.type_at(value, 8)
    }

    fn type_at(&self, value: &Value, depth: u32) -> Type {
        if depth == 0 {
            return Type::Unknown;
        }
        match value {
            Value::Unknown(_, ty) => ty.clone(),
            Value::Scalar(scalar, _) if *scalar == super::identity::SOME_INTEGER => Type::Unknown,
            Value::Scalar(scalar, _) => Type::Scalar(*scalar),
            Value::Text(_) => Type::Text,
            Value::Tuple(parts) => {
                Type::Tuple(parts.iter().map(|part| self.type_at(part, depth - 1)).collect())
            }
            Value::Defined { definition, variant, fields } => {
                let defined = self.program.definition(*definition);
                let mut bindings = FxHashMap::default();
                if !defined.generics.is_empty()
                    && let Some(variant) = defined.variants.get(*variant as usize)
                {
                    for ((_, ty), field) in variant.fields.iter().zip(&**fields) {
                        bind(ty, &self.type_at(field, depth - 1), &mut bindings);
                    }
                }
                let arguments = defined.generics.iter();
                let arguments = arguments.map(|name| bindings.remove(name).unwrap_or_default());
                Type::Defined(*definition, arguments.collect())
            }
            Value::Variant("Some", parts) => option(self.type_at(&parts[0], depth - 1)),
            Value::Variant("None", _) => option(Type::Unknown),
            Value::Variant("Ok", parts) => {
                let ok = parts.first().map(|part| self.type_at(part, depth - 1));
                Type::External("Result".into(), vec![ok.unwrap_or_default(), Type::Unknown])
            }
            Value::Variant("Err", parts) => {
                let error = parts.first().map(|part| self.type_at(part, depth - 1));
                Type::External("Result".into(), vec![Type::Unknown, error.unwrap_or_default()])
            }
            Value::Sequence(Sequence { element, items }) => {
                let mut element = element.clone();
                if element == Type::Unknown {
                    let first = match items {
                        super::value::Items::Each(items) => items.first(),
                        super::value::Items::Alike(item, _) => Some(&**item),
                    };
                    element = first.map(|it| self.type_at(it, depth - 1)).unwrap_or_default();
                }
                Type::External("Vec".into(), vec![element])
            }
            Value::Reference(path) => {
                Type::Reference(Box::new(self.type_at(&self.peek_at(path), depth - 1)))
            }
            Value::Handle(handle) => handle_type(handle),
            Value::Map(map) => map.ty(),
            Value::Iterator(_) => Type::External("Iterator".into(), vec![Type::Unknown]),
            Value::Variant("Less" | "Equal" | "Greater", _) => {
                Type::External("Ordering".into(), Vec::new())
            }
            Value::Variant("BinaryHeap", parts) => {
                let row = parts.first().map(|row| self.type_at(row, depth - 1));
                let element = row.as_ref().and_then(element).cloned().unwrap_or_default();
                Type::External("BinaryHeap".into(), vec![element])
            }
            Value::Variant("Atomic", parts) => match parts.first() {
                Some(Value::Scalar(scalar, _)) => {
                    let mut name = scalar.name().to_owned();
                    name[..1].make_ascii_uppercase();
                    Type::External(format!("Atomic{name}"), Vec::new())
                }
                _ => Type::Unknown,
            },
            Value::Variant(name, parts) => {
                let parts = parts.iter().map(|part| self.type_at(part, depth - 1));
                Type::External((*name).into(), parts.collect())
            }
            Value::Closure(closure, _) => {
                let parameters = closure.parameters.iter().map(|(_, ty)| ty.clone()).collect();
                Type::Function(parameters, Box::new(closure.body.ty.clone()))
            }
            _ => Type::Unknown,
        }
    }

    /// A type with the current call's generic parameters replaced.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        self.resolved(ty).into_owned()
    }

    /// The same, where it is only looked at.
    pub(super) fn resolved<'t>(&self, ty: &'t Type) -> Cow<'t, Type> {
        let frame = self.state.frames.get(self.state.frame.0 as usize);
        match frame {
            Some(frame) if !frame.bindings.is_empty() => Cow::Owned(replaced(ty, &frame.bindings)),
            _ => Cow::Borrowed(ty),
        }
    }

    /// The number that a generic parameter of the current call stands for; `None`: it is none.
    pub(super) fn generic_number(&mut self, path: &[String]) -> Option<Value> {
        let [parameter] = path else { return None };
        match self.resolve(&Type::Parameter(parameter.to_owned())) {
            Type::Number(number) => Some(Value::integer(number, super::identity::SOME_INTEGER)),
            _ => {
                let generics = &self.function()?.generics;
                let is_own = generics.iter().any(|generic| generic == parameter);
                is_own.then(|| self.fresh(Type::Unknown))
            }
        }
    }

    /// What a function's generic parameters stand for in a call.
    pub(super) fn bindings(
        &self,
        function: &crate::program::Function,
        turbofish: &[Type],
        arguments: &[Value],
        expected: &Type,
    ) -> Rc<FxHashMap<String, Type>> {
        let mut bindings = FxHashMap::default();
        if function.generics.is_empty() {
            return Rc::default();
        }
        // The parameters of the `impl` come first, and a turbofish is of the function's own.
        let own = function.generics.iter().rev().zip(turbofish.iter().rev());
        for (name, ty) in own.filter(|(_, ty)| **ty != Type::Unknown) {
            bindings.insert(name.clone(), ty.clone());
        }
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            bind(&parameter.ty, &self.type_of(argument), &mut bindings);
        }
        bind(&function.result, expected, &mut bindings);
        Rc::new(bindings)
    }
}

fn option(inner: Type) -> Type {
    Type::External("Option".into(), vec![inner])
}

fn handle_type(handle: &Handle) -> Type {
    let name = match handle {
        Handle::Universe => "Universe",
        Handle::Communicator(_) => "SimpleCommunicator",
        Handle::Process(process) if process.rank.is_none() => "AnyProcess",
        Handle::Process(_) => "Process",
        Handle::Group(_) => "UserGroup",
        Handle::Status(_) => "Status",
        Handle::Request(_) => "Request",
        Handle::Guard { cancels: true, .. } => "CancelGuard",
        Handle::Guard { .. } => "WaitGuard",
        Handle::Scope => "LocalScope",
        Handle::Collection(_) | Handle::Requests(_) => "RequestCollection",
        Handle::Future(..) => "ReceiveFuture",
        Handle::Message(_) => "Message",
        Handle::Datatype(_) => "UserDatatype",
        Handle::View { .. } => "View",
        Handle::Partition { .. } => "Partition",
        Handle::Operation(_) => "SystemOperation",
        Handle::Color(_) => "Color",
        Handle::Window(_) => "MPI_Win",
        Handle::Object(kind, _) | Handle::Null(kind) => raw_name(*kind),
        Handle::Other(name) => name,
    };
    Type::External(name.to_owned(), Vec::new())
}

/// What C calls the type of a handle.
fn raw_name(kind: HandleKind) -> &'static str {
    match kind {
        HandleKind::Communicator => "MPI_Comm",
        HandleKind::Datatype => "MPI_Datatype",
        HandleKind::Operation => "MPI_Op",
        HandleKind::Window => "MPI_Win",
        HandleKind::Group => "MPI_Group",
        HandleKind::Request => "MPI_Request",
        HandleKind::Info => "MPI_Info",
        HandleKind::ErrorHandler => "MPI_Errhandler",
        HandleKind::Message => "MPI_Message",
        HandleKind::File => "MPI_File",
    }
}

/// A type with generic parameters replaced by what they stand for.
pub(super) fn replaced(ty: &Type, bindings: &FxHashMap<String, Type>) -> Type {
    let all = |types: &[Type]| types.iter().map(|ty| replaced(ty, bindings)).collect();
    let boxed = |ty: &Type| Box::new(replaced(ty, bindings));
    match ty {
        Type::Parameter(name) => bindings.get(name).cloned().unwrap_or_else(|| ty.clone()),
        Type::Tuple(parts) => Type::Tuple(all(parts)),
        Type::Array(element, length) => Type::Array(boxed(element), *length),
        Type::Slice(element) => Type::Slice(boxed(element)),
        Type::Reference(inner) => Type::Reference(boxed(inner)),
        Type::Defined(definition, arguments) => Type::Defined(*definition, all(arguments)),
        Type::External(name, arguments) => Type::External(name.clone(), all(arguments)),
        Type::Function(parameters, result) => Type::Function(all(parameters), boxed(result)),
        other => other.clone(),
    }
}

/// Finds what the parameters in a type stand for, where a value of another type is meant.
pub(super) fn bind(pattern: &Type, ty: &Type, bindings: &mut FxHashMap<String, Type>) {
    let all = |patterns: &[Type], types: &[Type], bindings: &mut FxHashMap<String, Type>| {
        for (pattern, ty) in patterns.iter().zip(types) {
            bind(pattern, ty, bindings);
        }
    };
    match (pattern, ty) {
        (_, Type::Unknown | Type::Variable(_)) => {}
        (Type::Parameter(name), ty) => {
            if !matches!(ty, Type::Parameter(_)) {
                bindings.entry(name.clone()).or_insert_with(|| ty.clone());
            }
        }
        (Type::Reference(pattern), Type::Reference(ty)) => bind(pattern, ty, bindings),
        (Type::Reference(pattern), ty) => bind(pattern, ty, bindings),
        (pattern, Type::Reference(ty)) => bind(pattern, ty, bindings),
        (Type::Tuple(patterns), Type::Tuple(types))
        | (Type::Defined(_, patterns), Type::Defined(_, types)) => all(patterns, types, bindings),
        (Type::Function(patterns, result), Type::Function(types, ty)) => {
            all(patterns, types, bindings);
            bind(result, ty, bindings);
        }
        (Type::External(name, patterns), Type::External(other, types)) if name == other => {
            all(patterns, types, bindings);
        }
        (pattern, ty) => {
            if let (Some(pattern), Some(ty)) = (element(pattern), element(ty)) {
                bind(pattern, ty, bindings);
            }
        }
    }
}

/// The type of the elements of arrays, slices and vectors.
pub(super) fn element(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(element, _) | Type::Slice(element) => Some(element),
        Type::External(name, arguments) if matches!(&**name, "Vec" | "VecDeque") => {
            arguments.first()
        }
        _ => None,
    }
}

/// The scalar that a type is.
pub(super) fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) => Some(*scalar),
        _ => None,
    }
}
