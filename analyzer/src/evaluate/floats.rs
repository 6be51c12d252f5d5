//! Loops of C that only compute with floats, or only print: their text says that nothing else is changed
//! by them. Such a loop is not run if it is not short: what it computes is unknown, and made of all that
//! it goes by. The same holds for one that fills arrays of whole numbers, if it is so long that it would
//! not be run to its end.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::calls::mentioned;
use super::identity::Identity;
use super::library::{computes_only, prints_only};
use super::loops::COMPUTED_STEPS;
use super::machine::{Machine, Outcome};
use super::value::{Content, Items, Length, ObjectId, Path, Sequence, Unknown, Value};
use crate::program::{
    Block, Expression, FunctionId, GlobalId, Kind, Pattern, Place, Program, Statement, Type,
    VariableId,
};

/// Turns of a loop that is run.
const FEW_TURNS: u64 = 8;

/// Turns of a loop with others in it that is run.
const FEW_ROWS: u64 = 4;

/// Floats that are told apart where they are made unknown.
const TOLD_APART: usize = 16;

/// The loops of which it was asked, by the addresses of their bodies.
#[derive(Debug, Default)]
pub(super) struct Known(RefCell<FxHashMap<usize, Option<Rc<Computed>>>>);

/// What a loop that only computes with floats changes, and what it goes by.
#[derive(Clone, Debug, Default)]
struct Computed {
    /// Floats and arrays of floats.
    variables: BTreeSet<VariableId>,
    /// The same outside of functions.
    globals: BTreeSet<GlobalId>,
    /// Pointers to what is written.
    pointers: Vec<Expression>,
    /// What is done with counters that are declared outside.
    counters: Vec<(VariableId, Expression)>,
    mentioned: Vec<VariableId>,
    touched: Vec<GlobalId>,
    has_loops: bool,
    /// It writes whole numbers too.
    has_integers: bool,
    /// How many expressions are in it.
    weight: u64,
}

/// Reads a loop's text, or that of a function that is called there.
struct Reader<'p> {
    program: &'p Program,
    computed: Computed,
    /// Variables that are declared in what is read.
    own: BTreeSet<VariableId>,
    labels: BTreeSet<String>,
    /// Whether it may be left early.
    leaves: bool,
    in_function: bool,
    /// Functions that are being read.
    calls: Vec<FunctionId>,
}

impl<'p> Reader<'p> {
    fn new(program: &'p Program, calls: Vec<FunctionId>) -> Self {
        let in_function = !calls.is_empty();
        Reader {
            program,
            computed: Computed::default(),
            own: BTreeSet::new(),
            labels: BTreeSet::new(),
            leaves: false,
            in_function,
            calls,
        }
    }

    /// Reads an expression; `None` if it does anything else. `always`: it is come by in every turn.
    fn read(&mut self, expression: &Expression, always: bool) -> Option<()> {
        let mut all = true;
        self.computed.weight += 1;
        match &expression.kind {
            Kind::Literal(_) | Kind::Variable(_) | Kind::Global(_) | Kind::External(..) => {}
            Kind::Unary(..)
            | Kind::Binary(..)
            | Kind::Cast(..)
            | Kind::Field(..)
            | Kind::Index(..)
            | Kind::Range { .. }
            | Kind::Tuple(_) => {
                expression.for_each_child(&mut |child| all &= self.read(child, always).is_some());
            }
            Kind::If { .. } => {
                expression.for_each_child(&mut |child| all &= self.read(child, false).is_some());
            }
            Kind::Assign(target, value) | Kind::AssignWith(_, target, value) => {
                self.read(value, always)?;
                self.target(target, expression, always)?;
            }
            Kind::Block(block) => self.block(block, always)?,
            Kind::Call(callee, arguments) => self.call(callee, arguments, always)?,
            Kind::Loop(label, _) | Kind::While(label, ..) => {
                self.computed.has_loops = true;
                self.labels.extend(label.clone());
                expression.for_each_child(&mut |child| all &= self.read(child, false).is_some());
            }
            Kind::For { label, pattern, over, body } => {
                self.computed.has_loops = true;
                self.labels.extend(label.clone());
                self.declare(pattern)?;
                self.read(over, always)?;
                self.read(body, false)?;
            }
            Kind::Break(None, None) | Kind::Continue(None) => self.leaves = true,
            Kind::Break(Some(label), None) | Kind::Continue(Some(label)) => {
                self.leaves = true;
                all = self.labels.contains(label);
            }
            Kind::Return(value) if self.in_function => {
                value.iter().try_for_each(|value| self.read(value, always))?;
            }
            _ => return None,
        }
        all.then_some(())
    }

    fn block(&mut self, block: &Block, always: bool) -> Option<()> {
        self.labels.extend(block.label.clone());
        for statement in &block.statements {
            match statement {
                Statement::Let { pattern, value, otherwise: None, .. } => {
                    value.iter().try_for_each(|value| self.read(value, always))?;
                    self.declare(pattern)?;
                }
                Statement::Let { .. } => return None,
                Statement::Expression(expression) => self.read(expression, always)?,
            }
        }
        block.value.iter().try_for_each(|value| self.read(value, always))
    }

    fn declare(&mut self, pattern: &Pattern) -> Option<()> {
        let Pattern::Variable(variable, None) = pattern else { return None };
        self.own.insert(*variable);
        Some(())
    }

    fn call(&mut self, callee: &Expression, arguments: &[Expression], always: bool) -> Option<()> {
        arguments.iter().try_for_each(|argument| self.read(argument, always))?;
        match &callee.kind {
            Kind::External(path, _) => (computes_only(path) || prints_only(path)).then_some(()),
            Kind::Function(function, _) if !self.calls.contains(function) => {
                let called = self.program.function(*function);
                let calls = self.calls.iter().copied().chain([*function]).collect();
                let mut reader = Reader::new(self.program, calls);
                for parameter in &called.parameters {
                    reader.declare(&parameter.pattern)?;
                }
                reader.read(called.body.as_ref()?, false)
            }
            _ => None,
        }
    }

    /// What is written; `whole`: the assignment.
    fn target(&mut self, target: &Expression, whole: &Expression, always: bool) -> Option<()> {
        match &target.kind {
            Kind::Variable(variable) if self.own.contains(variable) => {
                // Where a pointer of its own leads, is not followed.
                matches!(target.ty, Type::Scalar(_)).then_some(())
            }
            _ if self.in_function && !self.is_own(target) => None,
            Kind::Variable(variable) if is_float(&target.ty) => {
                self.computed.variables.insert(*variable);
                Some(())
            }
            Kind::Variable(variable) if always && matches!(target.ty, Type::Scalar(_)) => {
                matches!(whole.kind, Kind::Assign(..)).then_some(())?;
                self.computed.counters.push((*variable, whole.clone()));
                Some(())
            }
            Kind::Global(global) if is_float(&target.ty) => {
                self.computed.globals.insert(*global);
                Some(())
            }
            Kind::Index(of, index) if matches!(target.ty, Type::Scalar(_)) => {
                self.computed.has_integers |= !is_float(&target.ty);
                self.read(index, always)?;
                self.elements(of, always)
            }
            _ => None,
        }
    }

    /// Elements of an array, or behind a pointer, are written.
    fn elements(&mut self, of: &Expression, always: bool) -> Option<()> {
        match (&of.kind, &of.ty) {
            (Kind::Index(of, index), Type::Array(..)) => {
                self.read(index, always)?;
                self.elements(of, always)
            }
            (Kind::Variable(variable), Type::Array(..)) => {
                if !self.own.contains(variable) {
                    self.computed.variables.insert(*variable);
                }
                Some(())
            }
            (Kind::Global(global), Type::Array(..)) => {
                self.computed.globals.insert(*global);
                Some(())
            }
            (_, Type::Reference(_)) if self.stays(of) => {
                self.computed.pointers.push(of.clone());
                Some(())
            }
            _ => None,
        }
    }

    /// Whether a place is part of an array that is declared in what is read.
    fn is_own(&self, place: &Expression) -> bool {
        match (&place.kind, &place.ty) {
            (Kind::Variable(variable), Type::Array(..)) => self.own.contains(variable),
            (Kind::Index(of, _), _) => self.is_own(of),
            _ => false,
        }
    }

    /// Whether a pointer is the same in every turn: where it is kept is not written by such a loop.
    fn stays(&self, pointer: &Expression) -> bool {
        match &pointer.kind {
            Kind::Variable(variable) => !self.own.contains(variable),
            Kind::Global(_) => true,
            Kind::Field(of, _) => self.stays(of),
            Kind::Index(of, index) => matches!(index.kind, Kind::Literal(_)) && self.stays(of),
            _ => false,
        }
    }

    /// Whether the counters are at the end what is assigned to them once.
    fn counts_plainly(&self) -> bool {
        let counters = &self.computed.counters;
        let is_plain = |whole: &Expression| {
            let Kind::Assign(_, value) = &whole.kind else { return false };
            let mut used = Vec::new();
            mentioned(value, &mut used);
            used.iter().all(|variable| {
                let is_counter = counters.iter().any(|(counter, _)| counter == variable);
                let is_changed = self.computed.variables.contains(variable);
                !is_counter && !is_changed && !self.own.contains(variable)
            }) && is_simple(value)
        };
        counters.is_empty() || !self.leaves && counters.iter().all(|(_, whole)| is_plain(whole))
    }
}

/// Whether a value is made of variables that have no parts.
fn is_simple(value: &Expression) -> bool {
    let mut all = !matches!(value.kind, Kind::Index(..) | Kind::Call(..));
    value.for_each_child(&mut |child| all &= is_simple(child));
    all
}

fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if scalar.is_float())
}

/// Whether there is nothing in a value but numbers: floats, unless whole ones are meant as well.
fn has_only_numbers(value: &Value, whole_ones: bool) -> bool {
    match value {
        Value::Scalar(scalar, _) => whole_ones || scalar.is_float(),
        Value::Unknown(_, ty) => is_float(ty) || whole_ones && matches!(ty, Type::Scalar(_)),
        Value::Sequence(Sequence { items: Items::Each(items), element }) => {
            is_float(element) || items.iter().all(|item| has_only_numbers(item, whole_ones))
        }
        Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => {
            has_only_numbers(item, whole_ones)
        }
        _ => false,
    }
}

/// Floats in the same shape that a loop has made of something.
fn computed(value: &Value, made_of: Unknown, number: &mut u64) -> Value {
    let next = |number: &mut u64| {
        *number += 1;
        let mut identity = Identity::of("computed");
        identity.unknown(made_of);
        identity.number(*number);
        identity.finish()
    };
    match value {
        Value::Scalar(scalar, _) => Value::Scalar(*scalar, Content::Unknown(next(number))),
        Value::Unknown(_, ty) => Value::Unknown(next(number), ty.clone()),
        Value::Sequence(Sequence { element, items }) => {
            let items = match items {
                Items::Each(items) if items.len() > TOLD_APART => {
                    let item = Rc::new(computed(&items[0], made_of, number));
                    Items::Alike(item, Length::Known(items.len() as u64))
                }
                Items::Each(items) => {
                    let all = items.iter().map(|item| computed(item, made_of, number)).collect();
                    Items::Each(Rc::new(all))
                }
                Items::Alike(item, length) => {
                    Items::Alike(Rc::new(computed(item, made_of, number)), *length)
                }
            };
            Value::Sequence(Sequence { element: element.clone(), items })
        }
        other => other.clone(),
    }
}

impl Machine<'_> {
    /// Does at once what a loop does that only computes with floats; whether it is such a one.
    /// `turns`: how many it has, where that is known.
    pub(super) fn computes_floats(
        &mut self,
        body: &Expression,
        (iterator, turns, place): (&Path, Option<u64>, Place),
    ) -> Outcome<bool> {
        let is_in_use = !self.state.uses.is_empty() || self.state.mpi.has_windows();
        if is_in_use || turns.is_none_or(|turns| turns <= FEW_ROWS) {
            return Ok(false);
        }
        let Some(loops) = self.read_computation(body) else { return Ok(false) };
        let turns = turns.unwrap_or(u64::MAX);
        let is_short = match loops.has_integers {
            true => turns.saturating_mul(loops.weight) <= COMPUTED_STEPS || loops.has_loops,
            false => turns <= FEW_TURNS && !loops.has_loops,
        };
        if is_short {
            return Ok(false);
        }
        let Some(objects) = self.written_objects(&loops)? else { return Ok(false) };
        if !objects.is_empty() {
            let made_of = self.inputs_of(&loops, iterator, place);
            let mut number = 0;
            for object in objects {
                let path = Path::whole(object);
                let value = computed(&self.peek_at(&path), made_of, &mut number);
                self.put(&path, value);
            }
        }
        for (_, assignment) in &loops.counters {
            self.evaluate(assignment)?;
        }
        self.step_on(place)?;
        Ok(true)
    }

    fn read_computation(&self, body: &Expression) -> Option<Rc<Computed>> {
        let address = std::ptr::from_ref(body) as usize;
        let effects = Rc::clone(&self.effects);
        if let Some(known) = effects.floats.0.borrow().get(&address) {
            return known.clone();
        }
        let mut reader = Reader::new(self.program, Vec::new());
        let is_read = !self.program.has_classes && reader.read(body, true).is_some();
        let found = (is_read && reader.counts_plainly()).then(|| {
            let mut computed = reader.computed;
            mentioned(body, &mut computed.mentioned);
            computed.touched = effects.globals_in(self.program, body);
            Rc::new(computed)
        });
        effects.floats.0.borrow_mut().insert(address, found.clone());
        found
    }

    /// The objects that a loop writes; `None` if that is not told, or if they are no numbers.
    fn written_objects(&mut self, loops: &Computed) -> Outcome<Option<BTreeSet<ObjectId>>> {
        let frame = Rc::clone(&self.state.frames[self.state.frame.0 as usize]);
        let mut objects = BTreeSet::new();
        for variable in &loops.variables {
            let object = frame.variables.get(variable.0 as usize).copied().flatten();
            let Some(object) = object else { return Ok(None) };
            objects.insert(object);
        }
        for global in &loops.globals {
            let Some(object) = self.state.globals.get(global) else { return Ok(None) };
            objects.insert(*object);
        }
        for pointer in &loops.pointers {
            let Value::Reference(path) = self.evaluate(pointer)? else { return Ok(None) };
            objects.insert(path.object);
        }
        let are_numbers = objects.iter().all(|object| {
            let value = self.state.memory.get(*object);
            value.is_some_and(|value| has_only_numbers(value, loops.has_integers))
        });
        Ok(are_numbers.then_some(objects))
    }

    /// All that a loop goes by.
    fn inputs_of(&self, loops: &Computed, iterator: &Path, place: Place) -> Unknown {
        let mut identity = Identity::of("floats");
        identity.number(u64::from(place.0));
        identity.unknown(self.identity(&self.peek_at(iterator)));
        let frame = &self.state.frames[self.state.frame.0 as usize];
        let inside = loops.mentioned.iter();
        let inside = inside.filter_map(|it| frame.variables.get(it.0 as usize).copied().flatten());
        let outside = loops.touched.iter().filter_map(|it| self.state.globals.get(it).copied());
        for object in inside.chain(outside) {
            identity.unknown(self.identity(&Value::Reference(Path::whole(object))));
        }
        identity.finish()
    }
}
