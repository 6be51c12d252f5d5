//! Loops of C of which a few turns show what all later ones do: what is known is the same as two turns
//! before, and the counter does nothing but count. Such turns are left out.
//!
//! Two turns, since programs take two fields in turns. What nobody knows may be another thing in each
//! turn: no turn goes by what it is.

use p2p_protocol::model::Event;

use super::super::handle::Handle;
use super::super::iterator::Lazy;
use super::super::library::prints_only;
use super::super::machine::Machine;
use super::super::memory::Memory;
use super::super::state::Frame;
use super::super::steady::comparable;
use super::super::value::{Content, Items, ObjectId, Sequence, Value};
use super::Loop;
use crate::program::{Expression, Kind, Pattern, Place, Statement, VariableId};

/// A loop of fewer turns is run.
const WORTHWHILE: u64 = 10;

/// The turns after which it is asked: all ranks leave out the same ones, though some come to do the
/// same in each turn sooner than others.
const ASKED: [u64; 2] = [6, 12];

/// What is known of a loop while its first turns are run.
pub(super) struct Proof {
    /// Where what only counts is kept.
    counters: Vec<ObjectId>,
    /// What the last turn has done, and how many before it have done the same.
    last: Option<Vec<Event>>,
    alike: u32,
    /// How things stood at the ends of the last turns.
    ends: [Option<End>; 2],
}

/// How things stand at the end of a turn.
struct End {
    memory: Memory,
    frames: Vec<std::rc::Rc<Frame>>,
    /// How much there is of what a turn must leave as it is.
    extent: [usize; 6],
}

impl Proof {
    /// Takes note of a turn; whether all that follow do the same.
    fn note(&mut self, machine: &Machine<'_>, events: Option<&[Event]>) -> bool {
        let events = events.map(comparable);
        self.alike = if events.is_some() && events == self.last { self.alike + 1 } else { 0 };
        self.last = events;
        let end = End {
            memory: machine.state.memory.clone(),
            frames: machine.state.frames.clone(),
            extent: extent(machine),
        };
        let before = self.ends[0].take();
        let is_same = self.alike >= 2
            && machine.state.uses.is_empty()
            && before.is_some_and(|before| machine.is_as_before(&before, &end, &self.counters));
        self.ends = [self.ends[1].take(), Some(end)];
        is_same
    }
}

fn extent(machine: &Machine<'_>) -> [usize; 6] {
    let state = &machine.state;
    [
        machine.shared.oracle.learnt(),
        machine.detached.len(),
        machine.lost.len(),
        state.globals.len(),
        state.threads.len(),
        state.frame.0 as usize,
    ]
}

impl Machine<'_> {
    /// What is to be known of a loop so that turns can be left out, where that is possible.
    pub(super) fn proof_of(&mut self, kind: &Loop<'_>) -> Option<Proof> {
        let is_long = kind.turns.is_some_and(|turns| turns >= WORTHWHILE);
        if !self.limits.proves || !self.is_c() || !kind.communicates || !is_long {
            return None;
        }
        let mut counters = vec![kind.iterator?.object];
        for variable in kind.counters? {
            counters.push(self.state.variable(*variable));
        }
        Some(Proof { counters, last: None, alike: 0, ends: [None, None] })
    }

    /// Whether all turns after this one do the same. Asked no more, it is gone.
    pub(super) fn is_proven(
        &self,
        proof: &mut Option<Proof>,
        turns: u64,
        events: Option<&[Event]>,
    ) -> bool {
        let is_given = proof.as_mut().is_some_and(|proof| proof.note(self, events));
        let is_over = ASKED.last().is_some_and(|last| turns >= *last);
        let is_asked = ASKED.contains(&turns) && is_given;
        if is_asked || is_over {
            *proof = None;
        }
        is_asked
    }

    /// Goes on with the last turns of a loop: an even number of them is left out.
    pub(super) fn leave_turns_out(&mut self, kind: &Loop<'_>, done: u64) {
        let left = kind.turns.unwrap_or(0).saturating_sub(done) / 2 * 2;
        let Some(path) = kind.iterator else { return };
        if let Some(Value::Iterator(lazy)) = self.state.memory.get_mut(path.object)
            && let Lazy::Range { next: Value::Scalar(_, Content::Known(next)), .. } =
                std::rc::Rc::make_mut(lazy)
            && let super::super::value::Constant::Integer(next) = next
        {
            *next = next.plus(i128::from(left));
            self.cuts.push((kind.place, left));
        }
    }

    /// Whether everything that is known is the same at the ends of two turns, but for what counts.
    fn is_as_before(&self, before: &End, now: &End, counters: &[ObjectId]) -> bool {
        let are_same_frames = before.frames.len() == now.frames.len()
            && before.frames.iter().zip(&now.frames).all(|(mine, theirs)| {
                std::rc::Rc::ptr_eq(mine, theirs) || mine.variables == theirs.variables
            });
        are_same_frames
            && before.extent == now.extent
            && now.memory.differing(&before.memory).into_iter().all(|object| {
                counters.contains(&object)
                    || match (before.memory.get(object), now.memory.get(object)) {
                        (Some(one), Some(other)) => self.is_same_as_known(one, other),
                        _ => false,
                    }
            })
    }

    /// Whether two values are the same, as far as they are known.
    fn is_same_as_known(&self, one: &Value, other: &Value) -> bool {
        match (one, other) {
            (
                Value::Scalar(scalar, Content::Unknown(mine)),
                Value::Scalar(same, Content::Unknown(theirs)),
            ) => scalar == same && mine.uniform == theirs.uniform,
            (Value::Unknown(mine, ty), Value::Unknown(theirs, same)) => {
                ty == same
                    && mine.uniform == theirs.uniform
                    && self.pointees_of(one) == self.pointees_of(other)
            }
            (
                Value::Defined { definition, variant, fields },
                Value::Defined { definition: same, variant: alike, fields: others },
            ) => {
                let fields = || fields.iter().zip(others.iter());
                (definition, variant) == (same, alike)
                    && fields().all(|(one, other)| self.is_same_as_known(one, other))
            }
            (Value::Sequence(mine), Value::Sequence(theirs)) => self.is_same_row(mine, theirs),
            // Of which message it is, no turn after this one asks.
            (Value::Handle(Handle::Status(_)), Value::Handle(Handle::Status(_))) => true,
            _ => self.is_same(one, other),
        }
    }

    fn is_same_row(&self, one: &Sequence, other: &Sequence) -> bool {
        match (&one.items, &other.items) {
            (Items::Each(mine), Items::Each(theirs)) => {
                std::rc::Rc::ptr_eq(mine, theirs)
                    || mine.len() == theirs.len()
                        && mine
                            .iter()
                            .zip(theirs.iter())
                            .all(|(one, other)| self.is_same_as_known(one, other))
            }
            (Items::Alike(mine, length), Items::Alike(theirs, same)) => {
                length == same && self.is_same_as_known(mine, theirs)
            }
            _ => false,
        }
    }
}

/// The variables of a loop that do nothing but count, if they do: they are only printed.
pub(super) fn counters(pattern: &Pattern, body: &Expression) -> Option<Vec<VariableId>> {
    let Pattern::Variable(counter, None) = pattern else { return None };
    let mut found = vec![*counter];
    if let Kind::Block(block) = &body.kind
        && let Some(Statement::Expression(first)) = block.statements.first()
        && let Kind::Assign(target, value) = &first.kind
        && let (Kind::Variable(outside), Kind::Variable(inside)) = (&target.kind, &value.kind)
        && inside == counter
    {
        // The counter is declared outside of the loop.
        found.push(*outside);
        return (!uses_after(body, first.place, &found)).then_some(found);
    }
    (!uses(body, &found)).then_some(found)
}

/// Whether a block uses variables after its first statement.
fn uses_after(block: &Expression, first: Place, variables: &[VariableId]) -> bool {
    let mut found = false;
    block.for_each_child(&mut |child| {
        let is_first = child.place == first && matches!(child.kind, Kind::Assign(..));
        found |= !is_first && uses(child, variables);
    });
    found
}

/// Whether an expression uses variables for anything but to print them.
fn uses(expression: &Expression, variables: &[VariableId]) -> bool {
    let is_printed = |argument: &Expression| {
        let mut argument = argument;
        while let Kind::Cast(inner, _) = &argument.kind {
            argument = inner;
        }
        matches!(argument.kind, Kind::Variable(_))
    };
    match &expression.kind {
        Kind::Variable(variable) => variables.contains(variable),
        Kind::Call(callee, arguments) if prints(callee) => {
            arguments.iter().any(|argument| !is_printed(argument) && uses(argument, variables))
        }
        _ => {
            let mut found = false;
            expression.for_each_child(&mut |child| found = found || uses(child, variables));
            found
        }
    }
}

fn prints(callee: &Expression) -> bool {
    matches!(&callee.kind, Kind::External(path, _) if prints_only(path))
}
