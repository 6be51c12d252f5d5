//! One call of a function of MPI, with what the table says of it: how its arguments are read, how
//! results are written, and how it is said that an argument is not what MPI asks for.

use std::cell::Cell;

use p2p_protocol::model::{Action, Argument, Departure, HandleKind};

use super::super::lost;
use super::table::{self, Function};
use crate::evaluate::handle::Handle;
use crate::evaluate::machine::{Call, Flow, Machine, Outcome};
use crate::evaluate::value::{Path, Value};
use crate::program::Place;

/// The most elements of an array that are read one by one.
const MOST_ELEMENTS: u64 = 4096;

/// What is found in place of a handle where there is a null pointer: `NULL` is no handle in any MPI.
const NULL_POINTER: Handle = Handle::Null(HandleKind::File);

/// A call of a function of MPI.
pub(super) struct Invocation<'c, 'p> {
    /// The call.
    pub(super) call: &'c Call<'p>,
    /// The function's full name, as the program has it.
    pub(super) full_name: &'c str,
    /// The function's name as the table has it.
    pub(super) name: &'c str,
    /// What the table says of it.
    pub(super) function: Function,
    /// It does nothing, and returns the code of an error.
    has_failed: Cell<bool>,
}

impl<'c, 'p> Invocation<'c, 'p> {
    /// A call by the function's full name. `None`: the table lacks it.
    pub(super) fn of(full_name: &'c str, call: &'c Call<'p>) -> Option<Self> {
        let name = table::name(full_name)?;
        let function = table::function(name)?;
        Some(Invocation { call, full_name, name, function, has_failed: Cell::new(false) })
    }

    /// MPI refuses what it is handed, and the program has asked to be told so by the code that a call
    /// returns: if it looks at the code, it does it on purpose. Gives back whether that is so.
    pub(super) fn fails_on_purpose(&self, machine: &Machine<'_>) -> bool {
        let on_purpose = machine.is_c()
            && machine.state.mpi.returns_errors
            && !machine.program.drops_value_at(self.place());
        self.has_failed.set(self.has_failed.get() || on_purpose);
        on_purpose
    }

    /// Whether the call returns the code of an error.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Place {
        self.call.place
    }

    /// An argument as it was handed over.
    pub(super) fn argument(&self, number: usize) -> Option<&'c Value> {
        self.call.arguments.get(number)
    }

    /// The number of the first argument that is this.
    pub(super) fn position(&self, what: &str) -> Option<usize> {
        self.function.arguments.iter().position(|argument| argument.what == what)
    }

    /// A whole number, if it is known.
    pub(super) fn number(&self, machine: &mut Machine<'_>, argument: usize) -> Option<i128> {
        machine.behind(self.argument(argument)?, self.place()).as_integer()
    }

    /// A handle that is handed over, or that a pointer leads to. A null handle of another kind where it
    /// is a null pointer.
    pub(super) fn handle(&self, machine: &mut Machine<'_>, argument: usize) -> Option<Handle> {
        match machine.behind(self.argument(argument)?, self.place()) {
            Value::Handle(handle) => Some(handle),
            Value::Variant("None", _) => Some(NULL_POINTER),
            // An array of which the first element is meant.
            Value::Sequence(_) => {
                let first = self.target(machine, argument)?;
                match machine.peek(&first) {
                    Value::Handle(handle) => Some(handle),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether an argument is a null pointer itself.
    pub(super) fn is_null_pointer(&self, machine: &mut Machine<'_>, number: usize) -> bool {
        let Some(argument) = self.argument(number) else { return false };
        let leads_on = machine.pointer(argument).is_some();
        !leads_on && matches!(machine.behind(argument, self.place()), Value::Variant("None", _))
    }

    /// Where a pointer leads to: its first element.
    pub(super) fn target(&self, machine: &mut Machine<'_>, argument: usize) -> Option<Path> {
        self.element(machine, argument, 0)
    }

    /// Where an element is, counted from where a pointer leads to.
    pub(super) fn element(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        number: u64,
    ) -> Option<Path> {
        let path = machine.pointer(self.argument(argument)?)?;
        Some(machine.element_at(&path, number))
    }

    /// So many elements of an array, if it is known where they are.
    pub(super) fn elements(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        count: i128,
    ) -> Option<Vec<Value>> {
        let count = u64::try_from(count).ok().filter(|count| *count <= MOST_ELEMENTS)?;
        let path = machine.pointer(self.argument(argument)?)?;
        let elements = (0..count).map(|number| {
            let element = machine.element_at(&path, number);
            machine.peek(&element)
        });
        Some(elements.collect())
    }

    /// So many whole numbers of an array, each if it is known.
    pub(super) fn some_numbers(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        count: i128,
    ) -> Option<Vec<Option<i128>>> {
        let elements = self.elements(machine, argument, count)?;
        Some(elements.iter().map(whole).collect())
    }

    /// So many whole numbers of an array, if all are known.
    pub(super) fn numbers(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        count: i128,
    ) -> Option<Vec<i128>> {
        self.some_numbers(machine, argument, count)?.into_iter().collect()
    }

    /// Writes a result where a pointer leads to.
    pub(super) fn put(&self, machine: &mut Machine<'_>, argument: usize, value: Value) {
        self.put_at(machine, argument, 0, value);
    }

    /// Writes an element of an array of results.
    pub(super) fn put_at(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        number: u64,
        value: Value,
    ) {
        let Some(pointer) = self.argument(argument) else { return };
        match self.element(machine, argument, number) {
            Some(path) => machine.write(&path, value, self.place()),
            None => machine.forget(pointer, self.place()),
        }
    }

    /// Nothing is known any more of what a pointer leads to.
    pub(super) fn forget(&self, machine: &mut Machine<'_>, argument: usize) {
        if let Some(pointer) = self.argument(argument) {
            machine.forget(pointer, self.place());
        }
    }

    /// Says what an argument is, where it is not what MPI asks for.
    pub(super) fn fact(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        fact: Argument,
    ) -> Outcome<()> {
        let parameter = self.function.arguments.get(argument).map_or("", |it| it.parameter);
        let (call, parameter) = (machine.call_name(self.full_name), machine.text(parameter));
        machine.emit(Action::Argument { call, parameter, argument: fact }, self.place())
    }

    /// The same, where MPI ends the job for it.
    pub(super) fn fails(
        &self,
        machine: &mut Machine<'_>,
        argument: usize,
        fact: Argument,
    ) -> Outcome<()> {
        self.fact(machine, argument, fact)?;
        Err(self.ends(machine))
    }

    /// MPI ends the job here, unless the program has asked it to go on.
    pub(super) fn ends(&self, machine: &mut Machine<'_>) -> Flow {
        machine.understood(self.place(), crate::evaluate::Understood::Fully);
        match machine.state.mpi.returns_errors {
            true => machine.lost(self.place(), "how it goes on after an error of MPI is not known"),
            false => machine.leave(Departure::Aborted, self.place()),
        }
    }

    /// The call is not understood: of this rank nothing more is known.
    pub(super) fn lost(&self, machine: &mut Machine<'_>, why: &str) -> Flow {
        lost(machine, self.place(), why)
    }
}

/// A whole number, if it is one that is known.
pub(super) fn whole(value: &Value) -> Option<i128> {
    match value.as_bool() {
        Some(flag) => Some(i128::from(flag)),
        None => value.as_integer(),
    }
}
