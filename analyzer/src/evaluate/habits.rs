//! Loops of C that only compute and come again, step after step of a simulation: what such a loop
//! changes is known from the time before, if all by which it goes is the same. It is not run again:
//! what it had made of data that nobody knows is made of the data that are there now.
//!
//! It goes by what is known, by what is the same on every rank, and by where pointers lead; data that
//! nobody knows are only computed with.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::identity::Identity;
use super::machine::Machine;
use super::value::{
    Constant, Content, Items, Length, ObjectId, Path, Sequence, Step, Unknown, Value,
};
use crate::program::{GlobalId, Place, Type, VariableId};

/// Loops of fewer steps are as quickly run as looked up.
const SHORT: u64 = 150;

/// The most values of which it is looked at by what a loop goes.
const MOST_VALUES: usize = 2_000;

/// Steps that count for a loop that is not run again.
const STEPS: u64 = 20;

/// The most that is kept of all loops.
const MOST_HABITS: usize = 4_096;

/// What loops have done, over all ranks, sizes and worlds of one entry.
#[derive(Debug, Default)]
pub(super) struct Habits {
    /// Where loops stand that take long.
    long: RefCell<FxHashSet<Place>>,
    known: RefCell<FxHashMap<u64, Rc<Habit>>>,
    count: Cell<usize>,
}

/// What a loop has changed: objects, as they were and as they are.
#[derive(Debug)]
struct Habit {
    changed: Vec<(ObjectId, Value, Value)>,
}

/// A loop that is begun.
pub(super) struct Beginning(Box<Begun>);

/// What was there when it began.
struct Begun {
    key: u64,
    memory: super::memory::Memory,
    surroundings: [usize; 11],
}

/// By what a loop goes.
struct Key<'m, 'p> {
    machine: &'m Machine<'p>,
    hasher: FxHasher,
    objects: Vec<ObjectId>,
    /// Values that nobody knows, in the order in which they were met: which are the same, matters.
    unknown: FxHashMap<u64, usize>,
    values: usize,
}

impl Machine<'_> {
    /// Does what a loop did when all by which it goes was the same; `Err`: it is not known, and must
    /// be run. `made_of`: who its inputs are.
    pub(super) fn repeat_habit(
        &mut self,
        place: Place,
        (variables, globals, iterator): (&[VariableId], &[GlobalId], Option<&Path>),
        made_of: impl FnOnce(&Self) -> Unknown,
    ) -> Result<(), Option<Beginning>> {
        let habits = Rc::clone(&self.computations.habits);
        if !habits.long.borrow().contains(&place) {
            return Err(None);
        }
        let Some(key) = self.key_of_loop(place, variables, globals, iterator) else {
            return Err(None);
        };
        let Some(habit) = habits.known.borrow().get(&key).cloned() else {
            let (memory, surroundings) = (self.state.memory.clone(), self.surroundings_of_loop());
            return Err(Some(Beginning(Box::new(Begun { key, memory, surroundings }))));
        };
        let made_of = made_of(self);
        let mut number = 0;
        for (object, before, after) in &habit.changed {
            let Some(now) = self.state.memory.get(*object).cloned() else { continue };
            let value = self.made_again((before, after, &now), made_of, &mut number);
            if let Some(kept) = self.state.memory.get_mut(*object) {
                *kept = value;
            }
        }
        self.steps += STEPS;
        Ok(())
    }

    /// A loop has come to its end after so many steps: keeps what it has changed, if that is all it did.
    pub(super) fn keep_habit(
        &mut self,
        (place, iterator): (Place, Option<&Path>),
        begun: Option<Beginning>,
        steps: u64,
    ) {
        if steps < SHORT {
            return;
        }
        let habits = Rc::clone(&self.computations.habits);
        habits.long.borrow_mut().insert(place);
        let Some(Beginning(begun)) = begun else { return };
        let Begun { key, memory, surroundings } = *begun;
        if surroundings != self.surroundings_of_loop() || habits.count.get() >= MOST_HABITS {
            return;
        }
        let mut changed = Vec::new();
        for object in self.state.memory.differing(&memory) {
            if iterator.is_some_and(|iterator| iterator.object == object) {
                continue;
            }
            let (Some(before), Some(after)) = (memory.get(object), self.state.memory.get(object))
            else {
                return;
            };
            if !self.is_same(before, after) {
                changed.push((object, before.clone(), after.clone()));
            }
        }
        if !changed.iter().all(|(_, _, after)| is_plain(after)) {
            return;
        }
        habits.count.set(habits.count.get() + 1);
        habits.known.borrow_mut().insert(key, Rc::new(Habit { changed }));
    }

    /// What a loop must leave as it is but for the values of objects.
    fn surroundings_of_loop(&self) -> [usize; 11] {
        let state = &self.state;
        [
            self.graph.total(),
            self.detached.len(),
            self.calls.len(),
            self.lost.len(),
            self.cuts.len(),
            state.kept,
            state.frames.len(),
            Rc::as_ptr(&state.constants).addr(),
            Rc::as_ptr(&state.uses).addr(),
            Rc::as_ptr(&state.counters).addr(),
            // What MPI answers is in none of the values.
            state.mpi.called as usize,
        ]
    }

    fn key_of_loop(
        &self,
        place: Place,
        variables: &[VariableId],
        globals: &[GlobalId],
        iterator: Option<&Path>,
    ) -> Option<u64> {
        let mut key = Key {
            machine: self,
            hasher: FxHasher::default(),
            objects: Vec::new(),
            unknown: FxHashMap::default(),
            values: 0,
        };
        place.hash(&mut key.hasher);
        self.state.frame.hash(&mut key.hasher);
        let frame = &self.state.frames[self.state.frame.0 as usize];
        for variable in variables {
            let object = frame.variables.get(variable.0 as usize).copied().flatten();
            object.hash(&mut key.hasher);
            key.take_object(object)?;
        }
        for global in globals {
            key.take_object(self.state.globals.get(global).copied())?;
        }
        // What it touches of memory that operations use is events, of which it has none if there was
        // none before.
        for object in &key.objects {
            for used in self.state.uses.bytes_of(*object) {
                (object, used).hash(&mut key.hasher);
            }
        }
        if let Some(path) = iterator {
            let over = self.identity(&self.peek_at(path));
            over.elsewhere.go_by(over.identity);
            over.identity.hash(&mut key.hasher);
        }
        Some(key.hasher.finish())
    }

    /// The value that is there now, as a loop changes it that has made one value of another.
    fn made_again(
        &mut self,
        (before, after, now): (&Value, &Value, &Value),
        made_of: Unknown,
        number: &mut u64,
    ) -> Value {
        if self.is_same(before, after) {
            return now.clone();
        }
        match (before, after, now) {
            (_, Value::Scalar(scalar, Content::Known(constant)), _) => {
                Value::Scalar(*scalar, Content::Known(plain(*constant)))
            }
            (_, Value::Scalar(scalar, Content::Unknown(unknown)), _) => {
                Value::Scalar(*scalar, Content::Unknown(self.again(*unknown, made_of, number)))
            }
            (_, Value::Unknown(unknown, ty), _) => {
                Value::Unknown(self.again(*unknown, made_of, number), ty.clone())
            }
            (before, Value::Defined { definition, variant, fields }, now) => {
                let all = (parts(before), &fields[..], parts(now));
                let fields = Rc::new(self.all_made_again(all, made_of, number));
                Value::Defined { definition: *definition, variant: *variant, fields }
            }
            (before, Value::Sequence(Sequence { items, element }), now) => {
                let items = match items {
                    Items::Each(items) => {
                        let all = (parts(before), &items[..], parts(now));
                        Items::Each(Rc::new(self.all_made_again(all, made_of, number)))
                    }
                    Items::Alike(item, length) => {
                        let none = Value::Moved;
                        let item = self.made_again((&none, item, &none), made_of, number);
                        Items::Alike(Rc::new(item), *length)
                    }
                };
                Value::Sequence(Sequence { element: element.clone(), items })
            }
            (_, after, _) => after.clone(),
        }
    }

    fn all_made_again(
        &mut self,
        (before, after, now): (&[Value], &[Value], &[Value]),
        made_of: Unknown,
        number: &mut u64,
    ) -> Vec<Value> {
        let has_parts = before.len() == after.len() && now.len() == after.len();
        let none = Value::Moved;
        let mut made = Vec::with_capacity(after.len());
        for (index, after) in after.iter().enumerate() {
            let (before, now) =
                if has_parts { (&before[index], &now[index]) } else { (&none, &none) };
            made.push(self.made_again((before, after, now), made_of, number));
        }
        made
    }

    /// Who a value is that a loop makes again of what nobody knows.
    fn again(&mut self, unknown: Unknown, made_of: Unknown, number: &mut u64) -> Unknown {
        if !unknown.uniform {
            return self.fresh_unknown();
        }
        *number += 1;
        let mut identity = Identity::of("again");
        identity.number(*number);
        identity.unknown(made_of);
        identity.finish()
    }
}

/// The parts of a value that has some.
fn parts(value: &Value) -> &[Value] {
    match value {
        Value::Defined { fields, .. } => fields,
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => items,
        _ => &[],
    }
}

impl Key<'_, '_> {
    fn take_object(&mut self, object: Option<ObjectId>) -> Option<()> {
        let Some(object) = object else { return Some(()) };
        object.hash(&mut self.hasher);
        if self.objects.contains(&object) {
            return Some(());
        }
        self.objects.push(object);
        let machine = self.machine;
        self.take(machine.state.memory.get(object)?)
    }

    /// Takes in of a value what a loop may go by; `None` where that is too much, or not told.
    fn take(&mut self, value: &Value) -> Option<()> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return None;
        }
        std::mem::discriminant(value).hash(&mut self.hasher);
        match value {
            Value::Scalar(scalar, content) => {
                scalar.hash(&mut self.hasher);
                match self.machine.settled(Value::Scalar(*scalar, *content)) {
                    Value::Scalar(_, Content::Known(constant)) => self.constant(constant),
                    Value::Scalar(_, Content::Unknown(unknown)) => self.unknown(unknown),
                    _ => return None,
                }
            }
            Value::Unknown(unknown, ty) => {
                ty.hash(&mut self.hasher);
                self.unknown(*unknown);
                for path in self.machine.pointees_of(value).iter() {
                    self.path(path)?;
                }
            }
            Value::Tuple(parts) | Value::Variant(_, parts) => {
                if let Value::Variant(name, _) = value {
                    name.hash(&mut self.hasher);
                }
                parts.iter().try_for_each(|part| self.take(part))?;
            }
            Value::Defined { definition, variant, fields } => {
                (definition, variant).hash(&mut self.hasher);
                fields.iter().try_for_each(|field| self.take(field))?;
            }
            Value::Sequence(Sequence { items, .. }) => match items {
                Items::Each(items) => {
                    items.len().hash(&mut self.hasher);
                    items.iter().try_for_each(|item| self.take(item))?;
                }
                Items::Alike(item, length) => {
                    match length {
                        Length::Known(length) => length.hash(&mut self.hasher),
                        Length::Unknown(unknown) => {
                            unknown.elsewhere.go_by(unknown.identity);
                            unknown.identity.hash(&mut self.hasher);
                        }
                    }
                    self.take(item)?;
                }
            },
            Value::Reference(path) => self.path(path)?,
            Value::Function(function, _) => function.hash(&mut self.hasher),
            Value::External(path, _) => path.hash(&mut self.hasher),
            Value::Moved | Value::Text(_) => {}
            Value::Handle(_) => {
                let unknown = self.machine.identity(value);
                unknown.elsewhere.go_by(unknown.identity);
                unknown.identity.hash(&mut self.hasher);
            }
            // Iterators of loops around, and what C does not have.
            Value::Iterator(_) | Value::Map(_) | Value::Closure(..) => return None,
        }
        Some(())
    }

    fn path(&mut self, path: &Path) -> Option<()> {
        // Which elements are meant is part of it.
        path.steps.len().hash(&mut self.hasher);
        for step in &*path.steps {
            if let Step::Part(Length::Unknown(unknown)) = step {
                unknown.elsewhere.go_by(unknown.identity);
            }
            step.hash(&mut self.hasher);
        }
        self.take_object(Some(path.object))
    }

    fn constant(&mut self, constant: Constant) {
        match constant {
            Constant::Integer(number) => number.get().hash(&mut self.hasher),
            Constant::Float(number) => number.bits().get().hash(&mut self.hasher),
            Constant::Bool(value) => value.hash(&mut self.hasher),
            Constant::Char(value) => value.hash(&mut self.hasher),
        }
    }

    /// What nobody knows is only told apart if it is the same on every rank.
    fn unknown(&mut self, unknown: Unknown) {
        unknown.uniform.hash(&mut self.hasher);
        if unknown.uniform {
            unknown.elsewhere.go_by(unknown.identity);
            unknown.identity.hash(&mut self.hasher);
        }
        let next = self.unknown.len();
        let number = *self.unknown.entry(unknown.identity & !1).or_insert(next);
        (number, unknown.identity & 1).hash(&mut self.hasher);
    }
}

/// A constant that is the same on other ranks that do the same.
fn plain(constant: Constant) -> Constant {
    match constant {
        Constant::Integer(number) => Constant::Integer(number.get().into()),
        other => other,
    }
}

/// Whether a value refers to nothing: it can stand for itself wherever the loop comes again.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Scalar(..) | Value::Moved => true,
        Value::Unknown(_, ty) => !matches!(ty, Type::Reference(_) | Type::Unknown),
        Value::Defined { fields, .. } => fields.iter().all(is_plain),
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => items.iter().all(is_plain),
        Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => is_plain(item),
        _ => false,
    }
}
