//! What a statement that does not communicate does, told from its text: whether it computes at all, and
//! whether everything that it calls is understood.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::super::machine::Machine;
use super::super::value::{Length, Path, Value};
use crate::program::{Binary, Expression, FunctionId, Kind, Literal, Program, Type};

/// Turns of loops in each other from which on they take long.
const LONG: u64 = 1_000;

/// Turns of a loop of which nobody knows how many it has ..
const MANY: u64 = 1 << 20;

/// .. and of one in a function that is called.
const SOME: u64 = 32;

/// Calls in each other that are looked through.
const DEPTH: u32 = 8;

/// Functions of C's library that only compute.
const COMPUTING: [&str; 38] = [
    "abs", "labs", "fabs", "fabsf", "sqrt", "sqrtf", "cbrt", "hypot", "exp", "expf", "exp2", "log",
    "logf", "log2", "log10", "pow", "powf", "sin", "sinf", "cos", "cosf", "tan", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "tanh", "floor", "ceil", "round", "trunc", "fmod", "fmin",
    "fmax", "rand", "memset",
];

/// Methods of Rust's numbers, slices and iterators that only compute.
const METHODS: [&str; 40] = [
    "iter",
    "iter_mut",
    "into_iter",
    "enumerate",
    "zip",
    "rev",
    "skip",
    "take",
    "step_by",
    "chunks",
    "windows",
    "chunks_mut",
    "map",
    "sum",
    "product",
    "fold",
    "len",
    "is_empty",
    "abs",
    "sqrt",
    "powi",
    "powf",
    "sin",
    "cos",
    "exp",
    "ln",
    "min",
    "max",
    "floor",
    "ceil",
    "mul_add",
    "copied",
    "cloned",
    "clone",
    "wrapping_add",
    "wrapping_mul",
    "fill",
    "swap",
    "first",
    "last",
];

/// What a statement does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::evaluate) struct Surveyed {
    /// It has a loop, or what it calls has one.
    pub(super) has_loops: bool,
    /// It calls something.
    has_calls: bool,
    /// It is known what all of that touches.
    pub(super) is_understood: bool,
}

impl Surveyed {
    /// Whether it is done in no time.
    pub(super) fn is_light(self) -> bool {
        !self.has_loops && !self.has_calls
    }
}

/// What statements do, as far as it was asked, by their addresses.
#[derive(Debug, Default)]
pub(in crate::evaluate) struct Known(RefCell<FxHashMap<usize, Surveyed>>);

impl Known {
    /// What a statement does.
    pub(super) fn of(&self, program: &Program, statement: &Expression) -> Surveyed {
        let address = std::ptr::from_ref(statement) as usize;
        if let Some(known) = self.0.borrow().get(&address) {
            return *known;
        }
        let mut surveyed = Surveyed { is_understood: true, ..Surveyed::default() };
        surveyed.take(program, statement, DEPTH);
        self.0.borrow_mut().insert(address, surveyed);
        surveyed
    }
}

impl Surveyed {
    fn take(&mut self, program: &Program, expression: &Expression, depth: u32) {
        match &expression.kind {
            Kind::For { .. } | Kind::While(..) | Kind::Loop(..) => self.has_loops = true,
            Kind::Call(callee, _) => self.take_call(program, callee, depth),
            Kind::Method { name, .. } => {
                self.has_calls = true;
                let is_own = program.methods.has(name);
                self.is_understood &= !is_own && METHODS.contains(&name.as_str());
            }
            Kind::Macro(name, _) => {
                self.has_calls = true;
                self.is_understood &= name == "vec";
            }
            Kind::Unknown(_) => {
                self.has_calls = true;
                self.is_understood = false;
            }
            _ => {}
        }
        expression.for_each_child(&mut |child| self.take(program, child, depth));
    }

    fn take_call(&mut self, program: &Program, callee: &Expression, depth: u32) {
        match &callee.kind {
            Kind::External(path, _) if path.len() > 1 && path[0] == "c" => {
                self.is_understood &= path[1] != "lost";
            }
            Kind::External(path, _) => {
                self.has_calls = true;
                let name = path.last().map_or("", String::as_str);
                self.is_understood &= path.len() == 1 && COMPUTING.contains(&name);
            }
            Kind::Function(function, _) => {
                self.has_calls = true;
                match body_of(program, *function) {
                    Some(body) if depth > 0 => self.take(program, body, depth - 1),
                    _ => self.is_understood = false,
                }
            }
            _ => {
                self.has_calls = true;
                self.is_understood = false;
            }
        }
    }
}

fn body_of(program: &Program, function: FunctionId) -> Option<&Expression> {
    program.functions.get(function.0 as usize)?.body.as_ref()
}

impl Machine<'_> {
    /// Whether a statement computes long enough to be worth while.
    pub(super) fn is_long(&self, statement: &Expression) -> bool {
        self.turns_in(statement, true, DEPTH) >= LONG
    }

    /// How many turns loops have that surely come. `here`: in the call that is going on.
    fn turns_in(&self, expression: &Expression, here: bool, depth: u32) -> u64 {
        match &expression.kind {
            Kind::If { .. } | Kind::Match(..) | Kind::Closure(_) => 0,
            Kind::For { over, body, .. } => {
                let turns = self.turns_over(over, here).unwrap_or(if here { MANY } else { SOME });
                turns.saturating_mul(self.turns_in(body, here, depth).max(1))
            }
            Kind::While(_, _, body) | Kind::Loop(_, body) => {
                let turns = if here { MANY } else { SOME };
                turns.saturating_mul(self.turns_in(body, here, depth).max(1))
            }
            Kind::Call(callee, _) if depth > 0 => match &callee.kind {
                Kind::Function(function, _) => match body_of(self.program, *function) {
                    Some(body) => self.turns_in(body, false, depth - 1),
                    None => 0,
                },
                _ => 0,
            },
            _ => {
                let mut most = 0;
                expression.for_each_child(&mut |child| {
                    most = most.max(self.turns_in(child, here, depth));
                });
                most
            }
        }
    }

    /// How many elements something has that a loop goes over.
    fn turns_over(&self, over: &Expression, here: bool) -> Option<u64> {
        match &over.kind {
            Kind::Range { start, end, .. } => {
                let start = start.as_ref().map_or(Some(0), |it| self.number(it, here))?;
                u64::try_from(self.number(end.as_ref()?, here)? - start).ok().or(Some(0))
            }
            Kind::Method { receiver, .. } => self.turns_over(receiver, here),
            Kind::Index(_, range) if matches!(range.kind, Kind::Range { .. }) => {
                self.turns_over(range, here)
            }
            Kind::Reference { of: inner, .. } | Kind::Cast(inner, _) => {
                self.turns_over(inner, here)
            }
            Kind::Variable(_) | Kind::Global(_) => match self.value_of(over, here)? {
                Value::Sequence(sequence) => match sequence.length() {
                    Length::Known(length) => Some(length),
                    Length::Unknown(_) => None,
                },
                _ => None,
            },
            _ => match &over.ty {
                Type::Array(_, Some(length)) => Some(*length),
                _ => None,
            },
        }
    }

    fn number(&self, expression: &Expression, here: bool) -> Option<i128> {
        match &expression.kind {
            Kind::Literal(Literal::Integer(number)) => Some(*number),
            Kind::Cast(inner, _) => self.number(inner, here),
            Kind::Binary(operation, one, other) => {
                let (one, other) = (self.number(one, here)?, self.number(other, here)?);
                match operation {
                    Binary::Add => one.checked_add(other),
                    Binary::Subtract => one.checked_sub(other),
                    Binary::Multiply => one.checked_mul(other),
                    Binary::Divide => one.checked_div(other),
                    _ => None,
                }
            }
            _ => self.value_of(expression, here)?.as_integer(),
        }
    }

    fn value_of(&self, expression: &Expression, here: bool) -> Option<Value> {
        let name = match &expression.kind {
            Kind::Variable(variable) if here => super::Name::Variable(*variable),
            Kind::Global(global) => super::Name::Global(*global),
            _ => return None,
        };
        let mut value = self.peek_at(&Path::whole(self.object_of(name)?));
        if let Value::Reference(path) = &value {
            value = self.peek_at(path);
        }
        Some(value)
    }
}
