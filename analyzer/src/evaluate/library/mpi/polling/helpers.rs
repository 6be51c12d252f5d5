//! Functions of the program that do nothing but ask: `int ready(MPI_Request *r) { int flag; MPI_Test(r,
//! &flag, MPI_STATUS_IGNORE); return flag; }`. A call of one asks as the call in it does.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::walk::walk;
use super::success::{Success, is_affirmative};
use super::{Around, Polling, Surroundings, Text, asks, calls_that_ask, raw_name};
use crate::program::{Expression, FunctionId, Kind, Place, Program};

/// The functions that do nothing but ask, each with where the call in it stands.
#[derive(Debug, Default)]
pub(super) struct Helpers(FxHashMap<FunctionId, Place>);

impl Helpers {
    /// Those of a program.
    pub(super) fn of(program: &Program, communicating: &FxHashSet<FunctionId>) -> Helpers {
        let text = Text { program, communicating, helpers: &Helpers::default() };
        let functions = (0..).map(FunctionId).zip(&program.functions);
        let helpers = functions.filter_map(|(id, function)| {
            let asked = text.only_question(function.body.as_ref()?)?;
            Some((id, asked))
        });
        Helpers(helpers.collect())
    }

    /// Whether an expression is a call that asks.
    pub(super) fn asks(&self, expression: &Expression) -> bool {
        called(expression).is_some_and(|function| self.0.contains_key(&function))
            || asks(expression)
    }

    /// The call in a function waits if each call of the function does.
    pub(super) fn settle(&self, program: &Program, found: &mut Surroundings) {
        if self.0.is_empty() {
            return;
        }
        let (mut mentions, mut waits) = (Vec::new(), Vec::new());
        for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
            walk(body, &mut |part| {
                if let Kind::Function(function, _) = &part.kind {
                    mentions.push(*function);
                }
                let around = found.get(&part.place);
                if around.is_some_and(|around| around.polling == Polling::Waits) {
                    waits.extend(called(part));
                }
            });
        }
        let count = |of: &[FunctionId], function| of.iter().filter(|it| **it == function).count();
        for (function, place) in &self.0 {
            if count(&waits, *function) == count(&mentions, *function) {
                found.insert(*place, Around { polling: Polling::Waits, drains: false });
            }
        }
    }
}

impl Text<'_> {
    /// Where a function asks whose body does nothing else and gives back the answer.
    fn only_question(&self, body: &Expression) -> Option<Place> {
        let mut asking = Vec::new();
        calls_that_ask(body, self.helpers, false, &mut asking);
        let [asked] = &asking[..] else { return None };
        if !matches!(raw_name(asked.call)?, "MPI_Test" | "MPI_Testall") {
            return None;
        }
        let success = Success::of(body, asked.call, self.helpers);
        let says = |value: &Expression| success.contains(value) && is_affirmative(value);
        let (mut answers, mut is_plain) = (0, true);
        walk(body, &mut |part| match &part.kind {
            Kind::Return(value) => {
                answers += 1;
                is_plain &= value.as_deref().is_some_and(says);
            }
            Kind::While(..) | Kind::Loop(..) | Kind::For { .. } => is_plain = false,
            Kind::Call(..) => {
                is_plain &= part.place == asked.call.place || !self.communicates(part);
            }
            _ => {}
        });
        (is_plain && answers == 1).then_some(asked.call.place)
    }
}

/// The function of the program that an expression calls.
fn called(expression: &Expression) -> Option<FunctionId> {
    let Kind::Call(callee, _) = &expression.kind else { return None };
    match &callee.kind {
        Kind::Function(function, _) => Some(*function),
        _ => None,
    }
}
