//! Calls: of functions of the program, of closures, of libraries. Which method a call means is
//! decided in `methods`.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::library;
use super::machine::{Call, Flow, Machine, Outcome};
use super::state::Frame;
use super::value::{FrameId, Path, Value};
use crate::program::{
    Closure, Expression, Function, FunctionId, Kind, Pattern, Place, Statement, Type, VariableId,
};

/// Steps that a function may take which cannot communicate; what takes longer is not run.
const COMPUTATION: u64 = 20_000;

impl<'p> Machine<'p> {
    /// Calls a closure, a function of the program, or one of a library. `ty`: the result's type.
    pub(super) fn call(
        &mut self,
        callee: &Value,
        arguments: Vec<Value>,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        self.call_with(callee, arguments, &[], ty, place)
    }

    /// The same, with the expressions that the arguments come from.
    pub(super) fn call_with(
        &mut self,
        callee: &Value,
        arguments: Vec<Value>,
        expressions: &[Expression],
        ty: &Type,
        place: Place,
    ) -> Outcome {
        match self.behind(callee, place) {
            Value::Closure(closure, frame) => self.call_closure(&closure, frame, arguments, place),
            Value::Function(function, generics) => {
                self.call_function(function, &generics, arguments, ty, place)
            }
            Value::External(path, generics) => {
                let generics = generics.to_vec();
                let name = path.last().map_or("", String::as_str);
                let ty = Cow::Borrowed(ty);
                let call = Call { name, generics, arguments, expressions, ty, place };
                self.call_external(&path, call)
            }
            _ => self.call_unknown("a function that is not known", &arguments, ty, place),
        }
    }

    fn call_external(&mut self, path: &[String], call: Call<'_>) -> Outcome {
        if self.is_c() {
            return match library::function_of_c(self, path, &call) {
                Some(outcome) => outcome,
                None => self.call_unknown(call.name, &call.arguments, &call.ty, call.place),
            };
        }
        if let [parameter, name] = path
            && let Type::Defined(definition, _) = self.resolve(&Type::Parameter(parameter.clone()))
        {
            let Call { arguments, ty, place, .. } = &call;
            let called = self.call_associated(definition, name, arguments.clone(), ty, *place);
            if let Some(outcome) = called {
                return outcome;
            }
        }
        if let [owner, name] = path
            && let Some(function) = self.find_associated(owner, name, &call)
        {
            return self.call_function(function, &[], call.arguments, &call.ty, call.place);
        }
        match path.last().map(String::as_str) {
            Some(name @ ("Some" | "Ok" | "Err")) => {
                let name = ["Some", "Ok", "Err"].into_iter().find(|it| *it == name);
                return Ok(Value::Variant(name.unwrap_or("Some"), Rc::new(call.arguments)));
            }
            // A trait's method by its path: `Communicator::rank(&world)`, `Trait::method(self)`.
            Some(name) if path.len() > 1 && !call.arguments.is_empty() => {
                if let Some(outcome) = library::function(self, path, &call) {
                    return outcome;
                }
                let Call { mut arguments, ty, place, .. } = call;
                let receiver = arguments.remove(0);
                return match self.call_method(&receiver, name, arguments.clone(), &ty, place) {
                    Some(outcome) => outcome,
                    None => {
                        arguments.insert(0, receiver);
                        self.call_unknown(name, &arguments, &ty, place)
                    }
                };
            }
            _ => {}
        }
        match library::function(self, path, &call) {
            Some(outcome) => outcome,
            None => self.call_unknown(call.name, &call.arguments, &call.ty, call.place),
        }
    }

    /// A call of which nothing is known. What it is handed may be changed; if it is handed something
    /// to communicate with, it may communicate.
    pub(super) fn call_unknown(
        &mut self,
        name: &str,
        arguments: &[Value],
        ty: &Type,
        place: Place,
    ) -> Outcome {
        for argument in arguments {
            if self.can_communicate_with(argument, 6) {
                let why = format!("`{name}` is not known, and may communicate");
                return Err(self.lost(place, &why));
            }
        }
        if arguments.iter().any(|it| matches!(it, Value::Closure(..) | Value::Function(..))) {
            library::begin_threads(self);
        }
        for argument in arguments {
            self.forget(argument, place);
        }
        if self.is_c() {
            self.forget_globals();
        }
        // Nobody knows where it takes its result from.
        Ok(self.fresh(ty.clone()))
    }

    /// Whether a value has something of MPI in it that a call could communicate with.
    pub(super) fn can_communicate_with(&self, value: &Value, depth: u32) -> bool {
        use super::handle::Handle;
        if depth == 0 {
            return false;
        }
        match value {
            Value::Handle(handle) => !matches!(
                handle,
                Handle::Status(_) | Handle::Datatype(_) | Handle::Operation(_) | Handle::Color(_)
            ),
            Value::Tuple(parts)
            | Value::Variant(_, parts)
            | Value::Defined { fields: parts, .. } => {
                parts.iter().any(|part| self.can_communicate_with(part, depth - 1))
            }
            Value::Sequence(sequence) => match &sequence.items {
                super::value::Items::Each(items) => {
                    items.first().is_some_and(|item| self.can_communicate_with(item, depth - 1))
                }
                super::value::Items::Alike(item, _) => self.can_communicate_with(item, depth - 1),
            },
            Value::Reference(path) => self.can_communicate_with(&self.peek_at(path), depth - 1),
            Value::Closure(..) | Value::Function(..) => self.communicates(value),
            _ => false,
        }
    }

    /// Whether calling a closure or a function may communicate.
    pub(super) fn communicates(&self, callee: &Value) -> bool {
        match callee {
            Value::Closure(closure, _) => self.effects.get(&closure.body).communicates,
            Value::Function(function, _) => self.effects.function_communicates(*function),
            Value::Reference(path) => self.communicates(&self.peek_at(path)),
            Value::External(path, _) => {
                path.last().is_some_and(|name| super::effects::is_communication(name))
            }
            _ => false,
        }
    }

    /// Calls a function of the program.
    pub(super) fn call_function(
        &mut self,
        function: FunctionId,
        generics: &[Type],
        arguments: Vec<Value>,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        let communicates = self.effects.function_communicates(function)
            || arguments.iter().any(|argument| self.communicates(argument));
        if communicates || self.budget < self.limits.steps {
            return self.run_function(function, generics, arguments, ty, place);
        }
        let begun = match self.begin_computation(function, generics, &arguments, ty) {
            ControlFlow::Continue(begun) => begun,
            ControlFlow::Break(result) => return Ok(result),
        };
        let (state, mark) = (self.state.clone(), self.graph.mark());
        let detached = self.detached.len();
        self.budget = (self.steps + COMPUTATION).min(self.limits.steps);
        let quiet = std::mem::replace(&mut self.quiet, true);
        let since = self.quiet_since;
        self.quiet_since = since.or(Some(self.steps));
        let outcome = self.run_function(function, generics, arguments.clone(), ty, place);
        (self.quiet, self.quiet_since) = (quiet, since);
        let is_over = self.is_given_up();
        self.budget = self.limits.steps;
        if !is_over {
            if let Ok(result) = &outcome {
                self.end_computation(begun, result);
            }
            return outcome;
        }
        self.state = state;
        self.graph.back_to(mark);
        self.detached.truncate(detached);
        self.given_up(function, &arguments, ty, place)
    }

    /// The result of a computation that takes too long: made of what it is given.
    fn given_up(
        &mut self,
        function: FunctionId,
        arguments: &[Value],
        ty: &Type,
        place: Place,
    ) -> Outcome {
        let inputs: Vec<&Value> = arguments.iter().collect();
        let name = &self.program.function(function).name;
        let result = self.computed(name, &inputs, ty.clone());
        // Whether a reference may be written through is not in its type.
        for argument in arguments {
            self.forget(argument, place);
        }
        if self.is_c() {
            self.forget_globals_of(function);
        }
        Ok(result)
    }

    fn run_function(
        &mut self,
        id: FunctionId,
        generics: &[Type],
        arguments: Vec<Value>,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        let program = self.program;
        let function = program.function(id);
        let Some(body) = &function.body else {
            return self.call_unknown(&function.name, &arguments, ty, place);
        };
        if self.state.depth >= self.limits.depth {
            if self.effects.function_communicates(id) {
                return Err(self.lost(place, "calls are nested too deeply to be followed"));
            }
            return self.given_up(id, &arguments, ty, place);
        }
        let bindings = self.bindings(function, generics, &arguments, ty);
        let caller = self.enter(Frame { function: Some(id), bindings, ..Frame::default() });
        let (detached, mark) = (self.detached.len(), self.graph.mark());
        let scope = self.open_scope();
        let patterns = function.parameters.iter().map(|parameter| &parameter.pattern);
        let bound = self.bind_parameters(patterns, arguments, place);
        let turns = std::mem::take(&mut self.turns);
        let chain = chain_of(self.graph.chain, place);
        let around = std::mem::replace(&mut self.graph.chain, chain);
        let outcome = bound.and_then(|()| self.evaluate(body));
        (self.turns, self.graph.chain) = (turns, around);
        let outcome = self.close_scope(scope, outcome, body.place);
        let outcome = self.arrive(outcome, (detached, mark), place, returned);
        if outcome.is_ok() {
            self.end_variables(end_of(body));
        }
        self.leave_frame(caller, detached, outcome.as_ref().ok());
        outcome
    }

    pub(super) fn bind_parameters<'a>(
        &mut self,
        patterns: impl Iterator<Item = &'a Pattern>,
        arguments: Vec<Value>,
        place: Place,
    ) -> Outcome<()> {
        for (pattern, argument) in patterns.zip(arguments) {
            self.bind_always(pattern, argument, place)?;
        }
        Ok(())
    }

    /// The function whose variables are meant.
    pub(super) fn function(&self) -> Option<&'p Function> {
        let frame = self.state.frames.get(self.state.frame.0 as usize)?;
        frame.function.map(|function| self.program.function(function))
    }

    /// Begins a call; where to return to.
    pub(super) fn enter(&mut self, frame: Frame) -> Caller {
        let caller = Caller {
            frame: self.state.frame,
            frames: self.state.frames.len(),
            objects: self.state.memory.len(),
        };
        self.state.frame = FrameId(caller.frames as u32);
        self.state.frames.push(Rc::new(frame));
        self.state.depth += 1;
        caller
    }

    /// Ends a call, on all ways. Its memory is used again, unless its result refers to it.
    pub(super) fn leave_frame(&mut self, caller: Caller, detached: usize, result: Option<&Value>) {
        let back = |machine: &mut Self| {
            machine.state.frame = caller.frame;
            machine.state.depth = machine.state.depth.saturating_sub(1);
        };
        self.on_detached(detached, |machine| {
            back(machine);
            Ok(())
        });
        back(self);
        let Some(result) = result else { return };
        if self.is_c() && !self.state.uses.is_empty() {
            // An operation may still use what is gone, which nothing else must take the place of.
            self.state.kept = self.state.memory.len();
        }
        let objects = caller.objects.max(self.state.kept);
        if !mentions(result, caller.frames, caller.objects) {
            self.state.memory.truncate(objects);
            if self.state.kept <= caller.objects {
                self.state.frames.truncate(caller.frames);
            }
        }
    }

    /// Calls a closure: its variables are in the frame where it was made.
    fn call_closure(
        &mut self,
        closure: &Closure,
        frame: FrameId,
        arguments: Vec<Value>,
        place: Place,
    ) -> Outcome {
        if self.state.depth >= self.limits.depth || frame.0 as usize >= self.state.frames.len() {
            return Err(self.lost(place, "calls are nested too deeply to be followed"));
        }
        let caller = std::mem::replace(&mut self.state.frame, frame);
        self.state.depth += 1;
        let (detached, mark) = (self.detached.len(), self.graph.mark());
        let scope = self.open_scope();
        let patterns = closure.parameters.iter().map(|(pattern, _)| pattern);
        let bound = self.bind_parameters(patterns, arguments, place);
        let turns = std::mem::take(&mut self.turns);
        let outcome = bound.and_then(|()| self.evaluate(&closure.body));
        self.turns = turns;
        let outcome = self.close_scope(scope, outcome, closure.body.place);
        let outcome = self.arrive(outcome, (detached, mark), place, returned);
        let back = |machine: &mut Self| {
            machine.state.frame = caller;
            machine.state.depth = machine.state.depth.saturating_sub(1);
        };
        self.on_detached(detached, |machine| {
            back(machine);
            Ok(())
        });
        back(self);
        outcome
    }

    /// A closure as a value. One that moves what it uses has variables of its own.
    pub(super) fn make_closure(&mut self, closure: &Arc<Closure>) -> Value {
        let outer = self.state.frame;
        if !closure.moves {
            return Value::Closure(closure.clone(), outer);
        }
        let mut used = Vec::new();
        mentioned(&closure.body, &mut used);
        let mut frame = Frame::clone(&self.state.frames[outer.0 as usize]);
        for variable in used {
            let index = variable.0 as usize;
            if let Some(Some(object)) = frame.variables.get(index).copied() {
                let value = self.take(&Path::whole(object), closure.body.place);
                let path = self.allocate(value);
                frame.variables[index] = Some(path.object);
            }
        }
        self.state.frames.push(Rc::new(frame));
        self.state.kept = self.state.memory.len();
        Value::Closure(closure.clone(), FrameId(self.state.frames.len() as u32 - 1))
    }
}

/// The number of a chain of calls with one call more.
fn chain_of(around: u32, call: Place) -> u32 {
    let mut hasher = FxHasher::default();
    (around, call).hash(&mut hasher);
    hasher.finish() as u32
}

/// Where a function ends: its last statement.
fn end_of(body: &Expression) -> Place {
    let Kind::Block(block) = &body.kind else { return body.place };
    match (&block.value, block.statements.last()) {
        (Some(value), _) => value.place,
        (None, Some(Statement::Expression(last))) => last.place,
        _ => body.place,
    }
}

/// Where a call returns to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    frame: FrameId,
    frames: usize,
    objects: usize,
}

/// The value that a `return` brings.
fn returned(flow: &Flow) -> Option<Value> {
    match flow {
        Flow::Return(value) => Some(value.clone()),
        _ => None,
    }
}

/// Whether a value refers to frames or objects from these numbers on.
fn mentions(value: &Value, frames: usize, objects: usize) -> bool {
    let all = |parts: &[Value]| parts.iter().any(|part| mentions(part, frames, objects));
    match value {
        Value::Reference(path) => path.object.0 as usize >= objects,
        Value::Closure(_, frame) => frame.0 as usize >= frames,
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            all(parts)
        }
        Value::Sequence(sequence) => match &sequence.items {
            super::value::Items::Each(items) => {
                !matches!(items.first(), Some(Value::Scalar(..)) | None) && all(items)
            }
            super::value::Items::Alike(item, _) => mentions(item, frames, objects),
        },
        Value::Iterator(lazy) => {
            let mut values = Vec::new();
            super::identity::values_of(lazy, &mut values);
            let mut found = values.into_iter().any(|value| mentions(value, frames, objects));
            lazy.for_each_path(&mut |path| found |= path.object.0 as usize >= objects);
            found
        }
        // Handles refer to memory that is made to stay, or to what is borrowed from outside.
        Value::Handle(super::handle::Handle::View { of, .. }) => mentions(of, frames, objects),
        Value::Scalar(..)
        | Value::Text(_)
        | Value::Function(..)
        | Value::External(..)
        | Value::Handle(_)
        | Value::Unknown(..)
        | Value::Moved => false,
        #[allow(unreachable_patterns)]
        _ => true,
    }
}

/// The variables that an expression mentions.
pub(super) fn mentioned(expression: &Expression, found: &mut Vec<VariableId>) {
    if let Kind::Variable(variable) = &expression.kind
        && !found.contains(variable)
    {
        found.push(*variable);
    }
    expression.for_each_child(&mut |child| mentioned(child, found));
}
