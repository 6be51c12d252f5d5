//! Calls.

use tree_sitter::Node;

use super::super::library;
use super::super::parse::children;
use super::super::scope::Named;
use super::Lowering;
use super::convert::{convert, is_true, promote};
use super::operator::without_parentheses;
use crate::evaluate::is_mpi_communication;
use crate::program::{CallSite, Expression, Kind, Place, Type};

impl<'u> Lowering<'u> {
    /// `function(arguments)`
    pub(super) fn call(&mut self, node: Node<'u>) -> Expression {
        let function = node.child_by_field_name("function");
        let arguments = node.child_by_field_name("arguments");
        let (Some(function), Some(arguments)) = (function, arguments) else {
            return self.unreadable(node);
        };
        let written = children(arguments, &mut arguments.walk());
        if written.iter().any(|argument| argument.is_error() || argument.is_missing()) {
            return self.unreadable(node);
        }
        if let Some(expression) = self.cast_in_call(function, &written, node) {
            return expression;
        }
        if let Some(expression) = self.call_of_cpp(function, &written, node) {
            return expression;
        }
        let place = self.place(node);
        let inner = without_parentheses(function);
        let inner = super::cpp::last_name(inner).unwrap_or(inner);
        if inner.kind() != "identifier" {
            let callee = self.value(function);
            return self.call_of(callee, &written, "", place);
        }
        let name = self.text(inner);
        if let Some(expression) = self.special_call(name, &written, node) {
            return expression;
        }
        let mut callee = self.named(inner);
        if name.starts_with("MPI_") && !library::is_function_of_mpi(name) {
            // A macro of a header that is not there: `MPI_CHECK(MPI_Send(..))`.
            if let Kind::External(path, _) = &mut callee.kind {
                *path = vec![name.to_owned()].into();
                callee.ty = Type::Unknown;
            }
        }
        if self.is_elsewhere(name, &callee) {
            let why = format!("`{name}` is in no file that was given, and may communicate");
            self.program.calls.push(CallSite { place, name: name.to_owned(), is_certain: true });
            return self.lost(&why, node);
        }
        self.note_call(name, place);
        self.call_of(callee, &written, name, place)
    }

    /// Whether a function is the program's own, and stands in a file that was not given: this file
    /// declares it, or a header of the program that was not found may do so. Functions of libraries are
    /// declared by headers of the system; those of Fortran, by hand, and they compute.
    fn is_elsewhere(&self, name: &str, callee: &Expression) -> bool {
        let is_own = match self.scopes.name(name) {
            Some(Named::Declared(ty)) => matches!(ty, Type::Function(..)),
            Some(_) => false,
            None => !self.unit.expanded.missing.is_empty(),
        };
        let is_in_library = name.starts_with("MPI_")
            || name.starts_with("PMPI_")
            || library::result_of(name) != Type::Unknown;
        let is_open = matches!(&callee.kind, Kind::External(path, _) if path.len() == 1);
        is_own && is_open && !is_in_library && !name.starts_with("__") && !name.ends_with('_')
    }

    /// A call of a callee.
    pub(super) fn call_of(
        &mut self,
        callee: Expression,
        written: &[Node<'u>],
        name: &str,
        place: Place,
    ) -> Expression {
        let is_assertion = name == "assert";
        let (parameters, result) = match &callee.ty {
            Type::Function(parameters, result) => (parameters.clone(), (**result).clone()),
            _ => (Vec::new(), library::result_of(name)),
        };
        let mut arguments = Vec::new();
        for (number, argument) in written.iter().enumerate() {
            if let Some(ty) = parameters.get(number)
                && self.is_taken_by_reference(&callee, number)
            {
                let argument = self.by_reference(*argument, ty);
                arguments.push(argument);
                continue;
            }
            let value = self.value(*argument);
            arguments.push(match parameters.get(number) {
                Some(ty) => convert(value, ty),
                None if is_assertion => is_true(value),
                None => promote(value),
            });
        }
        Expression { kind: Kind::Call(Box::new(callee), arguments), place, ty: result }
    }

    /// What looks like a call and is none.
    fn special_call(
        &mut self,
        name: &str,
        written: &[Node<'u>],
        node: Node<'u>,
    ) -> Option<Expression> {
        match (name, written) {
            ("__builtin_expect", [value, _]) => Some(self.value(*value)),
            ("offsetof" | "__builtin_offsetof", [ty, member]) => {
                let named = self.named_type(self.text(*ty));
                Some(self.offset_in(named, self.text(*member), node))
            }
            _ => None,
        }
    }

    /// Notes a call that communicates.
    pub(super) fn note_call(&mut self, name: &str, place: Place) {
        let plain = name.strip_prefix('P').filter(|plain| plain.starts_with("MPI_"));
        let name = plain.unwrap_or(name);
        if library::is_function_of_mpi(name) && is_mpi_communication(name) && name != "MPI_Abort" {
            let name = name.to_owned();
            self.program.calls.push(CallSite { place, name, is_certain: true });
        }
    }
}
