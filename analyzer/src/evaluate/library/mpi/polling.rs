//! What the loop around a call does besides: `test` and `immediate_probe` only wait if all that
//! their loop does is to ask again, and waiting for any request is waiting for all of them if the
//! loop takes one after the other and does nothing else.
//!
//! This is told from the program's text alone, once for each program.

mod helpers;
mod success;

use rustc_hash::{FxHashMap, FxHashSet};

use self::helpers::Helpers;
use self::success::Success;
use super::walk::{parts, walk};
use super::{is_communication as is_mpi_communication, process};
use crate::evaluate::machine::Machine;
use crate::program::{Expression, Function, FunctionId, Kind, Place, Program, VariableId};

/// What becomes of the answer of a call that only asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluate) enum Polling {
    /// It is asked again until the answer is yes, and nothing else is done meanwhile.
    Waits,
    /// It is asked once.
    Once,
    /// It is asked again and again, between other things.
    Works,
}

/// What surrounds a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluate) struct Around {
    /// What becomes of its answer.
    pub(in crate::evaluate) polling: Polling,
    /// Whether its loop takes one request after the other until none is left, and does nothing that
    /// others could see.
    pub(in crate::evaluate) drains: bool,
}

/// What surrounds the calls that ask, by their places.
pub(in crate::evaluate) type Surroundings = FxHashMap<Place, Around>;

impl Machine<'_> {
    /// What surrounds a call.
    pub(super) fn around(&mut self, place: Place) -> Around {
        let program = self.program;
        let known = self.state.mpi.surroundings.get_or_insert_with(|| surroundings(program).into());
        let nothing = Around { polling: Polling::Once, drains: false };
        known.get(&place).copied().unwrap_or(nothing)
    }

    /// What becomes of the answer of a call that only asks.
    pub(super) fn polling(&mut self, place: Place) -> Polling {
        let polling = self.around(place).polling;
        if matches!(polling, Polling::Waits) {
            self.note_loose_wait(place);
        }
        polling
    }
}

/// Looks at every loop of a program.
fn surroundings(program: &Program) -> Surroundings {
    let communicating = communicating(program);
    let helpers = Helpers::of(program, &communicating);
    let text = Text { program, communicating: &communicating, helpers: &helpers };
    let mut found = Surroundings::default();
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        walk(body, &mut |expression| {
            if is_waiting_loop(expression) {
                text.look_at(expression, &mut found);
            } else if matches!(expression.kind, Kind::For { .. }) {
                text.look_at_counted(expression, &mut found);
            }
        });
    }
    helpers.settle(program, &mut found);
    found
}

fn is_waiting_loop(expression: &Expression) -> bool {
    matches!(expression.kind, Kind::Loop(..) | Kind::While(..))
}

/// The functions that communicate, themselves or through others.
fn communicating(program: &Program) -> FxHashSet<FunctionId> {
    let mut found = FxHashSet::default();
    loop {
        let before = found.len();
        for (id, function) in (0..).map(FunctionId).zip(&program.functions) {
            if !found.contains(&id) && function_communicates(program, function, &found) {
                found.insert(id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn function_communicates(
    program: &Program,
    function: &Function,
    communicating: &FxHashSet<FunctionId>,
) -> bool {
    let text = Text { program, communicating, helpers: &Helpers::default() };
    function.body.as_ref().is_some_and(|body| text.any_communication(body))
}

/// The program, as far as this module reads it.
struct Text<'p> {
    program: &'p Program,
    communicating: &'p FxHashSet<FunctionId>,
    /// Its functions that do nothing but ask.
    helpers: &'p Helpers,
}

impl Text<'_> {
    fn any_communication(&self, expression: &Expression) -> bool {
        let mut any = false;
        walk(expression, &mut |part| any |= self.communicates(part));
        any
    }

    /// Whether a call itself, without its arguments, communicates.
    fn communicates(&self, call: &Expression) -> bool {
        match &call.kind {
            Kind::Method { name, .. } => {
                let methods = &self.program.methods;
                match methods.has(name) {
                    true => methods.named(name).any(|it| self.communicating.contains(&it)),
                    false => process::communicates(name),
                }
            }
            Kind::Call(callee, _) => match &callee.kind {
                Kind::Function(function, _) => self.communicating.contains(function),
                Kind::External(path, _) => path.last().is_some_and(|name| {
                    is_mpi_communication(name)
                        || name.starts_with("send_receive")
                        || process::communicates(name)
                }),
                _ => false,
            },
            _ => false,
        }
    }

    /// Looks at the calls that ask in one loop; those of loops inside are left to them.
    fn look_at(&self, whole: &Expression, found: &mut Surroundings) {
        let mut asking = Vec::new();
        calls_that_ask(whole, self.helpers, false, &mut asking);
        for asked in &asking {
            let around = self.around(whole, asked, asking.len());
            found.insert(asked.call.place, around);
        }
    }

    /// Looks at the calls in a loop that turns as often as is known before: its requests may be taken
    /// one after the other, one in each turn.
    fn look_at_counted(&self, whole: &Expression, found: &mut Surroundings) {
        let Kind::For { body, .. } = &whole.kind else { return };
        let mut asking = Vec::new();
        calls_that_ask(body, self.helpers, false, &mut asking);
        for asked in asking.iter().filter(|asked| asked.is_wait()) {
            let around = self.around(whole, asked, asking.len());
            found.insert(asked.call.place, Around { polling: Polling::Once, ..around });
        }
    }

    fn around(&self, whole: &Expression, asked: &Asked<'_>, together: usize) -> Around {
        let success = Success::of(whole, asked.call, self.helpers);
        let mut others = Region::default();
        self.collect(whole, asked.call, &success, false, &mut others);
        let alone = together == 1 || (asked.is_request() && others.in_success.is_empty());
        let only_asks = others.in_failure.is_empty() || self.all_ask(&others.in_failure);
        let probes_several = asked.in_for && !asked.is_request();
        let waits = alone
            && only_asks
            && !probes_several
            && !others.leaves_in_failure
            && !others.steered_in_failure;
        let drains = others.in_failure.is_empty()
            && others.in_success.is_empty()
            && !others.leaves_in_success
            && !asked.in_for;
        Around { polling: if waits { Polling::Waits } else { Polling::Works }, drains }
    }

    fn all_ask(&self, calls: &[&Expression]) -> bool {
        calls.iter().all(|call| match &call.kind {
            Kind::Method { name, .. } => is_test(name),
            _ => raw_name(call).is_some_and(|name| name.starts_with("MPI_Test")),
        })
    }

    /// What else is in the loop, by whether it is only reached once the answer was yes.
    fn collect<'e>(
        &self,
        expression: &'e Expression,
        asked: &Expression,
        success: &Success<'_>,
        succeeded: bool,
        region: &mut Region<'e>,
    ) {
        if expression.place == asked.place && self.helpers.asks(expression) {
            return;
        }
        if self.communicates(expression) {
            match succeeded {
                true => region.in_success.push(expression),
                false => region.in_failure.push(expression),
            }
        }
        if matches!(expression.kind, Kind::Break(..) | Kind::Return(_)) {
            match succeeded {
                true => region.leaves_in_success = true,
                false => region.leaves_in_failure = true,
            }
        }
        let changed = changed_variable(expression);
        let steers = changed.is_some_and(|changed| success.steering.contains(&changed));
        if steers && !succeeded && !success.holds(expression) {
            region.steered_in_failure = true;
        }
        for (part, only_after_yes) in success.parts(expression) {
            self.collect(part, asked, success, succeeded || only_after_yes, region);
        }
    }
}

/// What stands in a loop besides the call that asks.
#[derive(Default)]
struct Region<'e> {
    in_success: Vec<&'e Expression>,
    in_failure: Vec<&'e Expression>,
    leaves_in_success: bool,
    leaves_in_failure: bool,
    /// A variable that the loop's condition looks at is changed though the answer was no.
    steered_in_failure: bool,
}

/// A call that asks.
struct Asked<'e> {
    call: &'e Expression,
    /// Whether a loop over something stands between it and the loop that asks again.
    in_for: bool,
}

impl Asked<'_> {
    fn is_request(&self) -> bool {
        match &self.call.kind {
            Kind::Method { name, .. } => is_test(name),
            _ => raw_name(self.call).is_none_or(|name| name.starts_with("MPI_Test")),
        }
    }

    /// Whether it waits for one or some of many.
    fn is_wait(&self) -> bool {
        raw_name(self.call).is_some_and(|name| name.starts_with("MPI_Wait"))
    }
}

fn is_test(name: &str) -> bool {
    matches!(name, "test" | "test_with_data" | "try" | "test_any" | "test_some" | "test_all")
}

fn asks(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Method { name, .. } => {
            is_test(name)
                || (name.starts_with("immediate_") && name.contains("probe"))
                || matches!(name.as_str(), "wait_any" | "wait_some")
        }
        Kind::Call(..) => raw_name(expression).is_some_and(|name| {
            matches!(name, "wait_any" | "MPI_Waitany" | "MPI_Waitsome" | "MPI_Request_get_status")
                || answer_argument(name).is_some()
        }),
        _ => false,
    }
}

/// The last name of a function of a library that is called.
fn raw_name(call: &Expression) -> Option<&str> {
    match &call.kind {
        Kind::Call(callee, _) => match &callee.kind {
            Kind::External(path, _) => path.last().map(String::as_str),
            _ => None,
        },
        _ => None,
    }
}

/// Which argument of one of MPI's own functions is told the answer.
fn answer_argument(name: &str) -> Option<usize> {
    match name {
        "MPI_Test" | "MPI_Request_get_status" | "MPI_Win_test" => Some(1),
        "MPI_Testall" | "MPI_Testsome" => Some(2),
        "MPI_Testany" | "MPI_Iprobe" | "MPI_Improbe" => Some(3),
        _ => None,
    }
}

/// The variable that one of MPI's own functions writes its answer to.
fn answered_variable(call: &Expression) -> Option<VariableId> {
    let Kind::Call(_, arguments) = &call.kind else { return None };
    let argument = arguments.get(answer_argument(raw_name(call)?)?)?;
    let mut argument = argument;
    loop {
        argument = match &argument.kind {
            Kind::Reference { of, .. } => of,
            Kind::Cast(of, _) => of,
            Kind::Variable(variable) => return Some(*variable),
            _ => return None,
        };
    }
}

fn calls_that_ask<'e>(
    expression: &'e Expression,
    helpers: &Helpers,
    in_for: bool,
    found: &mut Vec<Asked<'e>>,
) {
    if helpers.asks(expression) {
        found.push(Asked { call: expression, in_for });
    }
    let in_for = in_for || matches!(expression.kind, Kind::For { .. });
    for part in parts(expression) {
        if !is_waiting_loop(part) {
            calls_that_ask(part, helpers, in_for, found);
        }
    }
}

/// The variable that an expression changes, as far as its text shows it.
fn changed_variable(expression: &Expression) -> Option<VariableId> {
    let mut target = match &expression.kind {
        Kind::Assign(target, _) | Kind::AssignWith(_, target, _) => target,
        Kind::Method { receiver, .. } => receiver,
        Kind::Reference { of, mutable: true } => of,
        _ => return None,
    };
    loop {
        target = match &target.kind {
            Kind::Variable(variable) => return Some(*variable),
            Kind::Field(of, _) | Kind::Index(of, _) | Kind::Dereference(of) => of,
            _ => return None,
        };
    }
}
