//! What expressions can do at all, told from the text: whether they can communicate, whether they
//! can leave what is around them. More is found possible than is, never less, except that code of
//! other crates is taken not to communicate unless it is handed something of MPI.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::library::mpi::is_communication as is_mpi_communication;
use crate::program::{Expression, FunctionId, GlobalId, Kind, Program, Statement, Type};

/// Which functions and methods of a program can communicate.
#[derive(Debug)]
pub struct Communicating<'p> {
    functions: Vec<bool>,
    /// The same for all methods of a name.
    methods: FxHashMap<&'p str, bool>,
}

impl<'p> Communicating<'p> {
    /// Looks through a program.
    pub fn of(program: &'p Program) -> Self {
        let methods = program.methods.all().map(|(_, name, _)| (name, false)).collect();
        let functions = vec![false; program.functions.len()];
        let mut communicating = Communicating { functions, methods };
        while communicating.look_again(program) {}
        communicating
    }

    /// One more round of "communicates what calls what communicates"; whether it found something.
    fn look_again(&mut self, program: &'p Program) -> bool {
        let mut found = false;
        for (index, function) in program.functions.iter().enumerate() {
            let is_new = !self.functions[index];
            if is_new && function.body.as_ref().is_some_and(|body| self.is_in(body)) {
                self.functions[index] = true;
                found = true;
            }
        }
        for (_, name, candidates) in program.methods.all() {
            let communicates = candidates.iter().any(|it| self.functions[it.0 as usize]);
            if communicates && self.methods.insert(name, true) == Some(false) {
                found = true;
            }
        }
        found
    }

    /// Whether something in an expression communicates.
    fn is_in(&self, expression: &Expression) -> bool {
        let mut found = self.is_call(expression);
        expression.for_each_child(&mut |child| found = found || self.is_in(child));
        found
    }

    /// Whether an expression names what communicates, without what stands in it.
    fn is_call(&self, expression: &Expression) -> bool {
        match &expression.kind {
            Kind::Function(function, _) => self.has_function(*function),
            Kind::External(path, _) => {
                let name = path.last().map_or("", String::as_str);
                let guard = path.iter().any(|part| part == "WaitGuard" || part == "CancelGuard");
                guard
                    || matches!(&path[..], [dialect, name] if dialect == "c" && name == "lost")
                    || is_mpi_communication(name)
                    || name.starts_with("send_receive")
                    || path.iter().any(|part| part == "mpi") && is_communication(name)
                    || self.has_method(name)
            }
            Kind::Method { name, receiver, .. } => {
                is_communication(name)
                    || self.has_method(name)
                    || name == "get" && names_future(&receiver.ty)
            }
            _ => false,
        }
    }

    fn has_function(&self, function: FunctionId) -> bool {
        self.functions.get(function.0 as usize).copied().unwrap_or(true)
    }

    fn has_method(&self, name: &str) -> bool {
        self.methods.get(name).copied().unwrap_or(false)
    }
}

/// What is known of a program's expressions.
pub(super) struct Effects<'p> {
    communicating: Arc<Communicating<'p>>,
    /// Answers, by the expressions' addresses.
    known: RefCell<FxHashMap<usize, Effect>>,
    /// The variables outside of functions that each function touches, by itself or by what it calls.
    globals: RefCell<Vec<Rc<[GlobalId]>>>,
    /// What loops and functions may write.
    pub(super) writes: super::writes::Known,
    /// What statements do that do not communicate.
    pub(super) surveys: super::work::Known,
    /// Which loops only compute with floats.
    pub(super) floats: super::floats::Known,
    /// Whether it can be told that MPI is never ended, once that was asked.
    pub(super) end_is_seen: OnceCell<bool>,
}

/// What an expression can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Whether other ranks may see it.
    pub(super) communicates: bool,
    /// Whether it may go on elsewhere: `return`, `?`, and `break` or `continue` of a loop around it.
    pub(super) leaves: bool,
}

impl<'p> Effects<'p> {
    /// Of the program of which it is known what communicates.
    pub(super) fn of(communicating: Arc<Communicating<'p>>) -> Self {
        Effects {
            communicating,
            known: RefCell::default(),
            globals: RefCell::default(),
            writes: super::writes::Known::default(),
            surveys: super::work::Known::default(),
            floats: super::floats::Known::default(),
            end_is_seen: OnceCell::new(),
        }
    }

    /// The variables outside of functions that a function touches, by itself or by what it calls.
    pub(super) fn globals_of(&self, program: &Program, function: FunctionId) -> Rc<[GlobalId]> {
        if self.globals.borrow().is_empty() {
            *self.globals.borrow_mut() = globals_touched(program);
        }
        self.globals.borrow().get(function.0 as usize).cloned().unwrap_or_default()
    }

    /// The variables outside of functions that an expression touches.
    pub(super) fn globals_in(&self, program: &Program, expression: &Expression) -> Vec<GlobalId> {
        let (mut globals, mut calls) = (BTreeSet::new(), BTreeSet::new());
        touched_in(expression, &mut globals, &mut calls);
        for function in calls {
            globals.extend(self.globals_of(program, function).iter().copied());
        }
        globals.into_iter().collect()
    }

    /// Whether a function can communicate.
    pub(super) fn function_communicates(&self, function: FunctionId) -> bool {
        self.communicating.has_function(function)
    }

    /// Whether some method of this name that the program has can communicate.
    pub(super) fn method_communicates(&self, name: &str) -> bool {
        self.communicating.has_method(name)
    }

    /// What an expression can do.
    pub(super) fn get(&self, expression: &Expression) -> Effect {
        let address = std::ptr::from_ref(expression) as usize;
        if let Some(effect) = self.known.borrow().get(&address) {
            return *effect;
        }
        let mut inner = Effect::default();
        expression.for_each_child(&mut |child| {
            let child = self.get(child);
            inner.communicates |= child.communicates;
            inner.leaves |= child.leaves;
        });
        let communicates = inner.communicates || self.communicating.is_call(expression);
        let leaves = match &expression.kind {
            Kind::Return(_) | Kind::Break(..) | Kind::Continue(_) | Kind::Try(_) => true,
            Kind::Closure(_) => false,
            Kind::Loop(label, body)
            | Kind::While(label, _, body)
            | Kind::For { label, body, .. } => leaves_loop(body, label.as_deref()),
            _ => inner.leaves,
        };
        let effect = Effect { communicates, leaves };
        self.known.borrow_mut().insert(address, effect);
        effect
    }
}

/// The variables outside of functions that each function touches.
fn globals_touched(program: &Program) -> Vec<Rc<[GlobalId]>> {
    let mut touched: Vec<(BTreeSet<GlobalId>, BTreeSet<FunctionId>)> = Vec::new();
    for function in &program.functions {
        let (mut globals, mut calls) = (BTreeSet::new(), BTreeSet::new());
        if let Some(body) = &function.body {
            touched_in(body, &mut globals, &mut calls);
        }
        touched.push((globals, calls));
    }
    loop {
        let mut has_changed = false;
        for index in 0..touched.len() {
            let (mut globals, calls) = std::mem::take(&mut touched[index]);
            let before = globals.len();
            for callee in &calls {
                if let Some((theirs, _)) = touched.get(callee.0 as usize) {
                    globals.extend(theirs.iter().copied());
                }
            }
            has_changed |= globals.len() > before;
            touched[index] = (globals, calls);
        }
        if !has_changed {
            break;
        }
    }
    touched.into_iter().map(|(globals, _)| globals.into_iter().collect()).collect()
}

fn touched_in(
    expression: &Expression,
    globals: &mut BTreeSet<GlobalId>,
    calls: &mut BTreeSet<FunctionId>,
) {
    match &expression.kind {
        Kind::Global(global) => _ = globals.insert(*global),
        Kind::Function(function, _) => _ = calls.insert(*function),
        _ => {}
    }
    expression.for_each_child(&mut |child| touched_in(child, globals, calls));
}

fn names_future(ty: &Type) -> bool {
    matches!(ty.behind_references(), Type::External(name, _) if name == "ReceiveFuture")
}

/// Whether something in a loop's body leaves more than the loop: `return`, `?`, a label around it.
fn leaves_loop(expression: &Expression, label: Option<&str>) -> bool {
    let mut leaves = match &expression.kind {
        Kind::Return(_) | Kind::Try(_) => true,
        // Without a label it leaves this loop, or one inside.
        Kind::Break(Some(target), _) | Kind::Continue(Some(target)) => {
            Some(target.as_str()) != label
        }
        Kind::Closure(_) => return false,
        _ => false,
    };
    expression.for_each_child(&mut |child| leaves = leaves || leaves_loop(child, label));
    leaves
}

/// Whether a method of this name communicates in rsmpi.
pub(super) fn is_communication(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "send",
        "receive",
        "probe",
        "barrier",
        "wait",
        "test",
        "cancel",
        "duplicate",
        "abort",
        "disconnect",
        "merge",
        "detach_buffer",
    ];
    const BEGINNINGS: [&str; 24] = [
        "send_",
        "receive_",
        "synchronous_send",
        "buffered_send",
        "ready_send",
        "matched_",
        "probe_",
        "broadcast_into",
        "gather_",
        "scatter_",
        "reduce_into",
        "reduce_scatter",
        "all_gather",
        "all_reduce",
        "all_to_all",
        "scan_into",
        "exclusive_scan",
        "wait_",
        "test_",
        "split_by",
        "split_shared",
        "create_cartesian",
        "subgroup",
        "spawn",
    ];
    let name = name.strip_prefix("immediate_").unwrap_or(name);
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether an arm does nothing but fail: it panics, exits, or returns an error. Under a condition
/// that nobody knows it is taken not to happen.
pub(super) fn only_fails(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Macro(name, _) => {
            matches!(&**name, "panic" | "unreachable" | "todo" | "unimplemented" | "bail")
        }
        Kind::Call(callee, _) => match &callee.kind {
            Kind::External(path, _) => {
                matches!(
                    path.last().map(String::as_str),
                    Some("exit" | "abort" | "panic_any" | "MPI_Abort")
                )
            }
            _ => expression.ty == Type::Never,
        },
        Kind::Method { name, .. } => name == "abort" || expression.ty == Type::Never,
        Kind::Return(Some(value)) => is_error(value),
        Kind::Block(block) => {
            let last = match (&block.value, block.statements.last()) {
                (Some(value), _) => Some(&**value),
                (None, Some(Statement::Expression(expression))) => Some(expression),
                _ => None,
            };
            last.is_some_and(only_fails)
        }
        _ => false,
    }
}

fn is_error(value: &Expression) -> bool {
    match &value.kind {
        Kind::Call(callee, _) => {
            matches!(&callee.kind, Kind::External(path, _) if path.last().is_some_and(|it| it == "Err"))
        }
        _ => false,
    }
}
