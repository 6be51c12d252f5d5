//! Computations that come again: what is computed from the same values as before, on another rank, at
//! another size, comes to the same and is not run again.
//!
//! That holds of a call that was handed nothing but plain values, has touched nothing but these, and
//! has asked nothing about those that are not known: who these are is the same for all.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::machine::Machine;
use super::value::{Constant, Content, Items, Length, ObjectId, Sequence, Step, Value};
use crate::program::{FunctionId, Type};

/// Calls of fewer steps are as quickly made as looked up.
const SHORT: u64 = 200;

/// The most values that are kept for all calls.
const VALUES: usize = 1 << 20;

/// The calls of one entry that may come again, over all ranks, sizes and worlds.
#[derive(Debug, Default)]
pub(super) struct Computations {
    /// The functions that take long.
    long: RefCell<FxHashSet<FunctionId>>,
    /// By a hash of what they were handed.
    done: RefCell<FxHashMap<u64, Vec<Computation>>>,
    /// How many values are kept.
    values: Cell<usize>,
    /// The same of loops.
    pub(super) habits: Rc<super::habits::Habits>,
    /// The variables that loops use, by the addresses of their bodies.
    pub(super) used_by_loops: RefCell<FxHashMap<usize, Rc<super::loops::Used>>>,
}

/// A call, and what it came to.
#[derive(Debug)]
struct Computation {
    inputs: Inputs,
    result: Value,
    /// What is different behind the references that it was handed.
    changed: Vec<(ObjectId, Value)>,
    steps: u64,
}

/// What a call is handed.
#[derive(Debug)]
pub(super) struct Inputs {
    function: FunctionId,
    /// Its generic arguments, and the type of its result.
    types: (Vec<Type>, Type),
    arguments: Vec<Value>,
    /// What is behind references.
    objects: Vec<(ObjectId, Value)>,
    hash: u64,
    /// How many values these are.
    values: usize,
}

/// A call that is begun: what it is handed, and what it must leave as it is.
pub(super) struct Begun {
    function: FunctionId,
    inputs: Option<Inputs>,
    surroundings: Surroundings,
    steps: u64,
}

/// What a computation could touch besides what it is handed: how much there is of it, or where it is.
type Surroundings = [usize; 22];

impl Machine<'_> {
    /// Begins a call that only computes: its result, if it is known from before.
    pub(super) fn begin_computation(
        &mut self,
        function: FunctionId,
        generics: &[Type],
        arguments: &[Value],
        ty: &Type,
    ) -> ControlFlow<Value, Begun> {
        let is_long = self.computations.long.borrow().contains(&function);
        let inputs = is_long.then(|| self.handed(function, (generics, ty), arguments)).flatten();
        if let Some(inputs) = &inputs
            && let Some(result) = self.recall(inputs)
        {
            return ControlFlow::Break(result);
        }
        let (surroundings, steps) = (self.surroundings(), self.steps);
        ControlFlow::Continue(Begun { function, inputs, surroundings, steps })
    }

    /// Keeps what a call came to, if it comes to the same whenever it is made with the same.
    pub(super) fn end_computation(&mut self, begun: Begun, result: &Value) {
        let steps = self.steps - begun.steps;
        let computations = Rc::clone(&self.computations);
        if steps < SHORT {
            return;
        }
        computations.long.borrow_mut().insert(begun.function);
        let Some(inputs) = begun.inputs else { return };
        let values = computations.values.get() + 2 * inputs.values;
        if begun.surroundings != self.surroundings() || values > VALUES {
            return;
        }
        let mut outputs = Inputs::of(begun.function);
        let mut changed = Vec::new();
        let mut is_plain = outputs.take(self, result);
        for (object, before) in &inputs.objects {
            let Some(after) = self.state.memory.get(*object) else { return };
            if !is_same(before, after) {
                is_plain &= outputs.take(self, after);
                changed.push((*object, after.clone()));
            }
        }
        if !is_plain {
            return;
        }
        computations.values.set(values);
        let mut done = computations.done.borrow_mut();
        let computation = Computation { result: result.clone(), changed, steps, inputs };
        done.entry(computation.inputs.hash).or_default().push(computation);
    }

    /// Does what a call did that was handed the same.
    fn recall(&mut self, inputs: &Inputs) -> Option<Value> {
        let computations = Rc::clone(&self.computations);
        let done = computations.done.borrow();
        let computation = done.get(&inputs.hash)?.iter().find(|it| it.inputs.are_same(inputs))?;
        if self.steps + computation.steps >= self.limits.steps {
            return None;
        }
        self.steps += computation.steps;
        for (object, value) in &computation.changed {
            *self.state.memory.get_mut(*object)? = value.clone();
        }
        Some(computation.result.clone())
    }

    /// What a call is handed, if all of it is plain.
    fn handed(
        &self,
        function: FunctionId,
        (generics, ty): (&[Type], &Type),
        arguments: &[Value],
    ) -> Option<Inputs> {
        // Accesses to memory that an operation uses are events, and what a number is called may
        // depend on to whom it was sent.
        if !self.state.uses.is_empty() || self.state.mpi.shares_numbers() {
            return None;
        }
        let mut inputs = Inputs::of(function);
        inputs.types = (generics.to_vec(), ty.clone());
        inputs.arguments = arguments.to_vec();
        let mut globals: Vec<ObjectId> = self.state.globals.values().copied().collect();
        globals.sort_unstable();
        let is_plain = arguments.iter().all(|argument| inputs.take(self, argument))
            && globals.into_iter().all(|object| inputs.take_object(self, object));
        is_plain.then_some(inputs)
    }

    fn surroundings(&self) -> Surroundings {
        let state = &self.state;
        [
            self.made as usize,
            self.asked.get() as usize,
            self.graph.total(),
            self.detached.len(),
            self.comparisons.len(),
            self.guesses.len(),
            self.truths.len(),
            self.products.len(),
            self.pointees.borrow().len(),
            self.calls.len(),
            self.gaps.len(),
            self.lost.len(),
            self.cuts.len(),
            state.memory.len(),
            state.kept,
            state.frames.len(),
            state.declared.len(),
            usize::from(state.next_slot),
            Rc::as_ptr(&state.globals).addr(),
            Rc::as_ptr(&state.constants).addr(),
            Rc::as_ptr(&state.uses).addr(),
            Rc::as_ptr(&state.counters).addr(),
        ]
    }
}

impl Inputs {
    fn of(function: FunctionId) -> Self {
        let mut hasher = FxHasher::default();
        function.hash(&mut hasher);
        Inputs {
            function,
            types: (Vec::new(), Type::Unknown),
            arguments: Vec::new(),
            objects: Vec::new(),
            hash: hasher.finish(),
            values: 0,
        }
    }

    fn mix(&mut self, value: impl Hash) {
        let mut hasher = FxHasher::default();
        (self.hash, value).hash(&mut hasher);
        self.hash = hasher.finish();
    }

    /// Takes a value in, and all that it refers to; whether all of it is plain.
    fn take(&mut self, machine: &Machine<'_>, value: &Value) -> bool {
        self.values += 1;
        match value {
            Value::Scalar(_, Content::Known(constant)) => {
                self.mix(bits(*constant));
                true
            }
            Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) => {
                unknown.elsewhere.go_by(unknown.identity);
                self.mix(unknown);
                // Where it may lead to is not looked at.
                !machine.pointees.borrow().contains_key(&unknown.identity)
            }
            Value::Text(Some(text)) => {
                self.mix(text);
                true
            }
            Value::Tuple(parts) | Value::Variant(_, parts) => self.take_all(machine, parts),
            Value::Defined { variant, fields, .. } => {
                self.mix(variant);
                self.take_all(machine, fields)
            }
            Value::Sequence(Sequence { items: Items::Each(items), .. }) => {
                self.take_all(machine, items)
            }
            Value::Sequence(Sequence { items: Items::Alike(item, length), .. }) => {
                match length {
                    Length::Known(length) => self.mix(length),
                    Length::Unknown(unknown) => {
                        unknown.elsewhere.go_by(unknown.identity);
                        self.mix(unknown);
                    }
                }
                self.take(machine, item)
            }
            Value::Reference(path) => {
                let is_known = |step: &Step| {
                    matches!(step, Step::Field(_) | Step::Element(_) | Step::Slice(..))
                };
                path.steps.iter().all(is_known) && self.take_object(machine, path.object)
            }
            _ => false,
        }
    }

    fn take_all(&mut self, machine: &Machine<'_>, parts: &[Value]) -> bool {
        self.mix(parts.len());
        parts.iter().all(|part| self.take(machine, part))
    }

    fn take_object(&mut self, machine: &Machine<'_>, object: ObjectId) -> bool {
        self.mix(object);
        if self.objects.iter().any(|(known, _)| *known == object) {
            return true;
        }
        let Some(value) = machine.state.memory.get(object) else { return false };
        self.objects.push((object, value.clone()));
        self.take(machine, value)
    }

    fn are_same(&self, other: &Inputs) -> bool {
        let same = |(one, other): (&(ObjectId, Value), &(ObjectId, Value))| {
            one.0 == other.0 && is_same(&one.1, &other.1)
        };
        self.function == other.function
            && self.types == other.types
            && are_same(&self.arguments, &other.arguments)
            && self.objects.len() == other.objects.len()
            && self.objects.iter().zip(&other.objects).all(same)
    }
}

/// Whether two values are plain, and the same.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Scalar(one, mine), Value::Scalar(other, theirs)) => {
            one == other
                && match (mine, theirs) {
                    (Content::Known(mine), Content::Known(theirs)) => bits(*mine) == bits(*theirs),
                    (Content::Unknown(mine), Content::Unknown(theirs)) => mine == theirs,
                    _ => false,
                }
        }
        (Value::Unknown(one, ty), Value::Unknown(other, of)) => one == other && ty == of,
        (Value::Text(Some(one)), Value::Text(Some(other))) => one == other,
        (Value::Tuple(one), Value::Tuple(other)) => are_same_parts(one, other),
        (Value::Variant(name, one), Value::Variant(as_well, other)) => {
            name == as_well && are_same_parts(one, other)
        }
        (
            Value::Defined { definition, variant, fields },
            Value::Defined { definition: other, variant: as_well, fields: others },
        ) => definition == other && variant == as_well && are_same_parts(fields, others),
        (Value::Sequence(one), Value::Sequence(other)) => {
            one.element == other.element
                && match (&one.items, &other.items) {
                    (Items::Each(one), Items::Each(other)) => are_same_parts(one, other),
                    (Items::Alike(one, length), Items::Alike(other, as_long)) => {
                        length == as_long && is_same(one, other)
                    }
                    _ => false,
                }
        }
        (Value::Reference(one), Value::Reference(other)) => one == other,
        _ => false,
    }
}

fn are_same_parts(one: &Rc<Vec<Value>>, other: &Rc<Vec<Value>>) -> bool {
    Rc::ptr_eq(one, other) || are_same(one, other)
}

fn are_same(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

/// A constant as a number, and of which kind it is.
fn bits(constant: Constant) -> (u8, i128) {
    match constant {
        Constant::Integer(number) => (0, number.get()),
        Constant::Float(number) => (1, number.bits().get()),
        Constant::Bool(value) => (2, i128::from(value)),
        Constant::Char(value) => (3, i128::from(u32::from(value))),
    }
}
