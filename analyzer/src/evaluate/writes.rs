//! What a loop of C may write, told from its text: which variables, which fields, elements of which
//! types. A loop that only computes and has taken long is not run any more: all that it may write is
//! made unknown.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::access::references;
use super::bytes::leaf;
use super::machine::Machine;
use super::value::{Items, ObjectId, Path, Sequence, Value};
use crate::program::{
    DefinitionId, Expression, FunctionId, GlobalId, Kind, Program, Scalar, Statement, Type,
    VariableId,
};

/// Steps that a loop may take in all the times that it comes, before it is not run any more.
const AFFORDABLE: u64 = 1_500;

/// So many times as much is affordable while operations are pending: a loop may touch what they use.
const WHILE_PENDING: u64 = 4;

/// Objects that are looked through for what pointers lead to, at most.
pub(super) const MOST_OBJECTS: usize = 512;

/// What an expression may write.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// Variables that are set as a whole.
    variables: BTreeSet<VariableId>,
    /// Variables into which is written by parts, or which pointers lead to.
    exposed: BTreeSet<VariableId>,
    /// The same of variables outside of functions.
    globals: BTreeSet<GlobalId>,
    fields: BTreeSet<(DefinitionId, String)>,
    /// What is written by pointers and into arrays.
    elements: FxHashSet<Type>,
    /// Whatever there is.
    everything: bool,
    /// It may go on elsewhere than behind it: a `return`, or a jump to a label that is not in it.
    leaves: bool,
    /// The labels in it, and those that are jumped to.
    labels: (BTreeSet<String>, BTreeSet<String>),
    calls: BTreeSet<FunctionId>,
}

/// What loops and functions write, as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct Known {
    functions: RefCell<FxHashMap<FunctionId, Rc<Writes>>>,
    loops: RefCell<FxHashMap<usize, Rc<Writes>>>,
}

impl Known {
    /// What a loop with these parts writes.
    fn of_loop(&self, program: &Program, label: Option<&str>, parts: &[&Expression]) -> Rc<Writes> {
        let Some(first) = parts.first() else { return Rc::default() };
        let address = std::ptr::from_ref(*first) as usize;
        if let Some(known) = self.loops.borrow().get(&address) {
            return known.clone();
        }
        let mut writes = Writes::default();
        writes.labels.0.extend(label.map(str::to_owned));
        parts.iter().for_each(|part| writes.collect(part));
        let (defined, used) = &writes.labels;
        writes.leaves |= !used.is_subset(defined);
        self.close(program, &mut writes);
        let writes = Rc::new(writes);
        self.loops.borrow_mut().insert(address, writes.clone());
        writes
    }

    /// Takes in what is written by functions that are called, and by those that they call.
    fn close(&self, program: &Program, writes: &mut Writes) {
        let mut open: Vec<FunctionId> = writes.calls.iter().copied().collect();
        let mut seen: BTreeSet<FunctionId> = writes.calls.clone();
        while let Some(function) = open.pop() {
            let theirs = self.of_function(program, function);
            writes.globals.extend(theirs.globals.iter().copied());
            writes.fields.extend(theirs.fields.iter().cloned());
            writes.elements.extend(theirs.elements.iter().cloned());
            writes.everything |= theirs.everything;
            open.extend(theirs.calls.iter().copied().filter(|it| seen.insert(*it)));
        }
    }

    /// What a function writes itself.
    fn of_function(&self, program: &Program, function: FunctionId) -> Rc<Writes> {
        if let Some(known) = self.functions.borrow().get(&function) {
            return known.clone();
        }
        let mut writes = Writes::default();
        match &program.function(function).body {
            Some(body) => writes.collect(body),
            None => writes.everything = true,
        }
        let writes = Rc::new(writes);
        self.functions.borrow_mut().insert(function, writes.clone());
        writes
    }
}

impl Writes {
    fn collect(&mut self, expression: &Expression) {
        match &expression.kind {
            Kind::Assign(target, _) | Kind::AssignWith(_, target, _) => self.target(target),
            Kind::Reference { of, .. } => self.exposed(of),
            Kind::Function(function, _) => _ = self.calls.insert(*function),
            Kind::Return(_) => self.leaves = true,
            Kind::Break(Some(label), _) | Kind::Continue(Some(label)) => {
                self.labels.1.insert(label.clone());
            }
            Kind::Loop(Some(label), _) | Kind::While(Some(label), ..) => {
                self.labels.0.insert(label.clone());
            }
            Kind::For { pattern, label, .. } => {
                self.labels.0.extend(label.clone());
                pattern.for_each_variable(&mut |variable| _ = self.variables.insert(variable));
            }
            Kind::Block(block) => {
                self.labels.0.extend(block.label.clone());
                for statement in &block.statements {
                    if let Statement::Let { pattern, .. } = statement {
                        pattern.for_each_variable(&mut |it| _ = self.variables.insert(it));
                    }
                }
            }
            Kind::Call(callee, arguments) if matches!(callee.kind, Kind::External(..)) => {
                self.call(callee, arguments);
            }
            Kind::Unknown(_) => self.everything = true,
            _ => {}
        }
        expression.for_each_child(&mut |child| self.collect(child));
    }

    fn target(&mut self, target: &Expression) {
        match &target.kind {
            Kind::Variable(variable) => _ = self.variables.insert(*variable),
            Kind::Global(global) => _ = self.globals.insert(*global),
            Kind::Field(of, name) => {
                match &of.ty {
                    Type::Defined(definition, _) => {
                        self.fields.insert((*definition, name.clone()));
                    }
                    _ => _ = self.elements.insert(leaf(&target.ty).clone()),
                }
                self.root(of);
            }
            Kind::Index(of, _) | Kind::Dereference(of) => {
                self.elements.insert(class(&target.ty));
                self.root(of);
            }
            _ => self.everything = true,
        }
    }

    /// The variable that a place is a part of.
    fn root(&mut self, place: &Expression) {
        match &place.kind {
            Kind::Variable(variable) if !matches!(place.ty, Type::Reference(_)) => {
                self.exposed.insert(*variable);
            }
            Kind::Global(global) => _ = self.globals.insert(*global),
            Kind::Field(of, _) | Kind::Index(of, _) => self.root(of),
            _ => {}
        }
    }

    /// What a pointer is made to.
    fn exposed(&mut self, of: &Expression) {
        match &of.kind {
            Kind::Variable(variable) => _ = self.exposed.insert(*variable),
            Kind::Field(inner, name) => {
                // Arrays in structs are told by their elements.
                if let (Type::Defined(definition, _), false) =
                    (&inner.ty, matches!(of.ty, Type::Array(..)))
                {
                    self.fields.insert((*definition, name.clone()));
                }
                self.root(inner);
            }
            _ => self.root(of),
        }
    }

    /// A function of a library may write what it is handed a pointer to.
    fn call(&mut self, callee: &Expression, arguments: &[Expression]) {
        let Kind::External(path, _) = &callee.kind else { return };
        let name = path.last().map_or("", String::as_str);
        const READING: [&str; 12] = [
            "offset",
            "difference",
            "printf",
            "fprintf",
            "puts",
            "fputs",
            "free",
            "strlen",
            "strcmp",
            "atoi",
            "assert",
            "perror",
        ];
        if READING.contains(&name) {
            return;
        }
        for argument in arguments {
            let mut pointer = argument;
            while let Kind::Cast(inner, Type::Reference(_)) = &pointer.kind {
                pointer = inner;
            }
            match &pointer.ty {
                Type::Reference(to) if **to == Type::Unknown => self.everything = true,
                Type::Reference(to) => _ = self.elements.insert(class(to)),
                _ => {}
            }
        }
    }

    fn has(&self, ty: &Type) -> bool {
        self.everything || self.elements.contains(&class(ty))
    }
}

/// What pointers to a type may lead to: signs make no difference, and all pointers are one.
fn class(ty: &Type) -> Type {
    match leaf(ty) {
        Type::Reference(_) | Type::Function(..) => Type::Reference(Box::new(Type::Unknown)),
        Type::External(..) => Type::External("MPI".into(), Vec::new()),
        Type::Scalar(scalar) => Type::Scalar(match scalar {
            Scalar::U8 | Scalar::Bool => Scalar::I8,
            Scalar::U16 => Scalar::I16,
            Scalar::U32 => Scalar::I32,
            Scalar::U64 | Scalar::Usize | Scalar::Isize => Scalar::I64,
            other => *other,
        }),
        other => other.clone(),
    }
}

impl Machine<'_> {
    /// Makes unknown what a loop may write that has taken too long in all; whether it has.
    pub(super) fn forgets_loop(
        &mut self,
        place: crate::program::Place,
        (label, parts): (Option<&str>, &[&Expression]),
        (variables, globals): (&[VariableId], &[GlobalId]),
    ) -> bool {
        let affordable = match self.state.uses.is_empty() {
            true => AFFORDABLE,
            false => AFFORDABLE * WHILE_PENDING,
        };
        if self.costs.get(&place).is_none_or(|cost| *cost < affordable) {
            return false;
        }
        let effects = Rc::clone(&self.effects);
        let writes = effects.writes.of_loop(self.program, label, parts);
        if writes.everything || writes.leaves {
            return false;
        }
        let frame = Rc::clone(&self.state.frames[self.state.frame.0 as usize]);
        let object =
            |variable: &VariableId| frame.variables.get(variable.0 as usize).copied().flatten();
        let mut reached = BTreeSet::new();
        for variable in variables {
            let Some(object) = object(variable) else { continue };
            self.reach(object, &mut reached);
            if !writes.exposed.contains(variable) {
                reached.remove(&object);
            }
        }
        for global in globals {
            if let Some(object) = self.state.globals.get(global).copied() {
                self.reach(object, &mut reached);
            }
        }
        for object in reached {
            let path = Path::whole(object);
            let value = self.peek_at(&path);
            let value = match value {
                // A variable that a pointer leads to.
                Value::Scalar(..) | Value::Unknown(..) | Value::Reference(_)
                    if !writes.has(&self.type_of(&value)) =>
                {
                    continue;
                }
                value => self.perhaps_written(&value, &writes),
            };
            self.put(&path, value);
        }
        let set = writes.variables.iter().filter_map(object);
        let outside = writes.globals.iter().filter_map(|it| self.state.globals.get(it).copied());
        let whole: Vec<ObjectId> = set.chain(outside).collect();
        for object in whole {
            let path = Path::whole(object);
            match self.peek_at(&path) {
                Value::Sequence(_) | Value::Defined { .. } | Value::Iterator(_) => {}
                _ => self.forget_there(&path),
            }
        }
        true
    }

    /// Finds the objects that can be reached from one, itself included.
    pub(super) fn reach(&self, object: ObjectId, reached: &mut BTreeSet<ObjectId>) {
        if reached.len() >= MOST_OBJECTS || !reached.insert(object) {
            return;
        }
        let Some(value) = self.state.memory.get(object) else { return };
        let mut paths = Vec::new();
        references(value, &mut paths);
        self.pointees_inside(value, &mut paths);
        paths.iter().for_each(|path| self.reach(path.object, reached));
    }

    fn pointees_inside(&self, value: &Value, paths: &mut Vec<Path>) {
        match value {
            Value::Unknown(..) => paths.extend(self.pointees_of(value).iter().cloned()),
            Value::Defined { fields, .. } => {
                fields.iter().for_each(|field| self.pointees_inside(field, paths));
            }
            Value::Sequence(Sequence { items: Items::Each(items), .. })
                if !matches!(items.first(), Some(Value::Scalar(..)) | None) =>
            {
                items.iter().for_each(|item| self.pointees_inside(item, paths));
            }
            Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => {
                self.pointees_inside(item, paths);
            }
            _ => {}
        }
    }

    /// A value of which parts may have been written.
    fn perhaps_written(&mut self, value: &Value, writes: &Writes) -> Value {
        match value {
            Value::Sequence(Sequence { element, items }) => {
                let all = match element {
                    Type::Array(..) => false,
                    element => writes.has(element),
                };
                let made = |machine: &mut Self, item: &Value| match all {
                    true => machine.forgotten_in_c(item),
                    false => match item {
                        Value::Sequence(_) | Value::Defined { .. } => {
                            machine.perhaps_written(item, writes)
                        }
                        other => other.clone(),
                    },
                };
                let items = match items {
                    Items::Each(items) => {
                        let items = items.iter().map(|item| made(self, item)).collect();
                        Items::Each(Rc::new(items))
                    }
                    Items::Alike(item, length) => Items::Alike(Rc::new(made(self, item)), *length),
                };
                Value::Sequence(Sequence { element: element.clone(), items })
            }
            Value::Defined { definition, variant, fields } => {
                let program = self.program;
                let names = &program.definition(*definition).variants[*variant as usize].fields;
                let whole = writes.elements.contains(&Type::Defined(*definition, Vec::new()));
                let mut made = Vec::with_capacity(fields.len());
                for (field, (name, _)) in fields.iter().zip(names) {
                    let is_set = whole || writes.fields.contains(&(*definition, name.clone()));
                    made.push(match field {
                        field if is_set => self.forgotten_in_c(field),
                        Value::Sequence(_) | Value::Defined { .. } => {
                            self.perhaps_written(field, writes)
                        }
                        other => other.clone(),
                    });
                }
                Value::Defined { definition: *definition, variant: *variant, fields: Rc::new(made) }
            }
            other => self.forgotten_in_c(other),
        }
    }
}
