//! Loops. As long as it is known whether there is another turn, they are run turn by turn. Where it
//! is not, and where they only compute for long, what they change becomes unknown, and one turn
//! stands for all.

mod proof;
mod summary;

use std::rc::Rc;

use p2p_protocol::model::{Action, Event};

use super::calls::mentioned;
use super::choices::{Asked, Choice};
use super::effects::Effect;
use super::guesses::Watch;
use super::habits::Beginning;
use super::iterator::{self, Asking, Lazy, Next};
use super::library::mpi::may_free_any;
use super::machine::{Flow, Machine, Outcome, Turning};
use super::steady::{HASTY, LONGEST, MUCH, PATIENT, Turns};
use super::value::{Path, Unknown, Value};
use crate::program::{Condition, Expression, GlobalId, Kind, Pattern, Place, VariableId};

/// Turns of a loop that only computes; if there are more, it is not run.
const COMPUTED_TURNS: u32 = 64;

/// Turns of a loop by a condition; if there are more, one turn stands for all.
const PATIENCE: u64 = 20_000;

/// The same for a loop without a condition, if its last turns have done the same, or if what they do
/// is decided by what nobody knows.
const ENDLESS_TURNS: u64 = 256;

/// Turns of a loop that are watched from their start, in case that how often it turns is a guess; of
/// the others it is noticed when it is asked.
const WATCHED: u64 = 8;

/// Steps of a computation in C; if it takes more, its loops are not run.
pub(super) const COMPUTED_STEPS: u64 = 600;

/// Turns of a loop by which it is told what all of them cost.
const TRIED: u64 = 2;

/// The variables that a loop mentions, and those outside of functions that it touches.
#[derive(Debug, Default)]
pub(super) struct Used {
    variables: Vec<VariableId>,
    globals: Vec<GlobalId>,
    /// What only counts the turns, where that is so.
    counters: Option<Vec<VariableId>>,
    /// It may end before its time: something in it leaves a loop or a function.
    may_be_left: bool,
}

/// What a turn does: goes on with the next one, or leaves by a flow.
type Turn<'a, 'p> = &'a mut dyn FnMut(&mut Machine<'p>) -> Outcome<()>;

impl<'p> Machine<'p> {
    /// `loop { body }`, `while condition { body }`
    pub(super) fn evaluate_loop(
        &mut self,
        label: Option<&str>,
        condition: Option<&Condition>,
        body: &Expression,
        place: Place,
    ) -> Outcome {
        let effect = self.effects.get(body);
        let mut communicates = effect.communicates;
        if let Some(condition) = condition {
            condition.for_each_child(&mut |child| {
                communicates |= self.effects.get(child).communicates;
            });
        }
        let mut turn = |machine: &mut Self| match condition {
            None => machine.body(label, place, &mut |machine| machine.evaluate(body)),
            Some(condition) => {
                let choice = Choice {
                    then: effect,
                    otherwise: Effect { leaves: true, communicates },
                    at_head: true,
                    asked: Asked::Condition(condition),
                    ..Choice::between(place, effect)
                };
                machine.body(label, place, &mut |machine| {
                    let scope = machine.open_scope();
                    let outcome = machine.when(
                        condition,
                        &choice,
                        &|machine| machine.evaluate(body),
                        &|_| Err(Flow::Break(None, Value::unit())),
                    );
                    machine.close_scope(scope, outcome, body.place)
                })
            }
        };
        let used = self.used_by_loop(body, condition, None);
        let (inputs, globals) = (&used.variables, &used.globals);
        let is_endless = condition.is_none();
        let mut parts = vec![body];
        if let Some(condition) = condition {
            condition.for_each_child(&mut |child| parts.push(child));
        }
        let parts = &parts;
        let kind = Loop {
            label,
            communicates,
            turns: None,
            is_endless,
            iterator: None,
            inputs,
            globals,
            counters: None,
            may_be_left: true,
            parts,
            place,
        };
        self.run_loop(&kind, &mut turn)
    }

    /// `for pattern in over { body }`
    pub(super) fn evaluate_for(
        &mut self,
        label: Option<&str>,
        pattern: &Pattern,
        over: &Expression,
        body: &Expression,
        place: Place,
    ) -> Outcome {
        let scope = self.open_scope();
        let outcome = self.evaluate(over).and_then(|value| {
            let lazy = iterator::of(self, &value, over.place)?;
            let path = self.drop_at_end_of_scope(Value::Iterator(Rc::new(lazy)));
            let effect = self.effects.get(body);
            let communicates = effect.communicates || self.effects.get(over).communicates;
            let choice = Choice {
                then: Effect { communicates, ..effect },
                otherwise: Effect { leaves: true, communicates },
                at_head: true,
                asked: Asked::More(over),
                ..Choice::between(place, effect)
            };
            let mut turn = |machine: &mut Self| {
                machine.body(label, place, &mut |machine| {
                    machine.for_turn(&path, &choice, pattern, body)
                })
            };
            let turns = match self.state.memory.get(path.object) {
                Some(Value::Iterator(lazy)) => known_turns(lazy),
                _ => None,
            };
            let is_asked = self.is_c() && !communicates;
            if is_asked && self.computes_floats(body, (&path, turns, place))? {
                return Ok(Value::unit());
            }
            let used = self.used_by_loop(body, None, Some(pattern));
            let (inputs, globals) = (&used.variables, &used.globals);
            let counters = used.counters.as_deref();
            let iterator = Some(&path);
            let is_endless = false;
            let kind = Loop {
                label,
                communicates,
                turns,
                is_endless,
                iterator,
                inputs,
                globals,
                counters,
                may_be_left: used.may_be_left,
                parts: &[body],
                place,
            };
            self.run_loop(&kind, &mut turn)
        });
        self.close_scope(scope, outcome, place)
    }

    /// One turn over an iterator that is kept at a path.
    fn for_turn(
        &mut self,
        path: &Path,
        choice: &Choice<'_>,
        pattern: &Pattern,
        body: &Expression,
    ) -> Outcome {
        let place = body.place;
        let next = self.next_of(path, choice.place)?;
        let each = |machine: &mut Self, value: Value| {
            let scope = machine.open_scope();
            let bound = machine.bind_always(pattern, value, place);
            let outcome = bound.and_then(|()| machine.evaluate(body));
            machine.close_scope(scope, outcome, place)
        };
        match next {
            Next::End => Err(Flow::Break(None, Value::unit())),
            Next::Element(value) => each(self, value),
            Next::Perhaps(more, value) => self.choose(
                more,
                choice,
                &|machine| {
                    let value = match &value {
                        // Only now it is there to be asked for.
                        Value::Moved => machine.granted(path, choice.place)?,
                        value => value.clone(),
                    };
                    each(machine, value)
                },
                &|_| Err(Flow::Break(None, Value::unit())),
            ),
        }
    }

    /// The next element of an iterator that is kept at a path.
    fn next_of(&mut self, path: &Path, place: Place) -> Outcome<Next> {
        let kept = self.state.memory.get_mut(path.object).map(std::mem::take);
        let Some(Value::Iterator(mut lazy)) = kept else { return Ok(Next::End) };
        let next = iterator::next(self, Rc::make_mut(&mut lazy), Asking::Open, place);
        self.put(path, Value::Iterator(lazy));
        next
    }

    /// The next element of an iterator of which it was decided that it has one.
    fn granted(&mut self, path: &Path, place: Place) -> Outcome {
        let kept = self.state.memory.get_mut(path.object).map(std::mem::take);
        let Some(Value::Iterator(mut lazy)) = kept else { return Ok(Value::Moved) };
        let next = iterator::next(self, Rc::make_mut(&mut lazy), Asking::Granted, place);
        self.put(path, Value::Iterator(lazy));
        Ok(match next? {
            Next::Element(value) | Next::Perhaps(_, value) => value,
            Next::End => Value::Moved,
        })
    }

    /// A turn's body: `continue` ends it.
    fn body(
        &mut self,
        label: Option<&str>,
        place: Place,
        evaluate: &mut dyn FnMut(&mut Self) -> Outcome,
    ) -> Outcome<()> {
        let began = (self.detached.len(), self.graph.mark());
        let scope = self.open_scope();
        let outcome = evaluate(self);
        let outcome = outcome.and_then(|value| self.drop_value(value, place));
        let outcome = self.close_scope(scope, outcome, place).map(|()| Value::unit());
        let outcome = self.arrive(outcome, began, place, |flow| match flow {
            Flow::Continue(target) if is_meant(target, label) => Some(Value::unit()),
            _ => None,
        });
        outcome.map(|_| ())
    }

    /// Runs turn after turn, and joins all ways out of the loop.
    fn run_loop(&mut self, kind: &Loop<'_>, turn: Turn<'_, 'p>) -> Outcome {
        let is_habit = self.is_c() && !kind.communicates;
        let (known, steps) = (self.habit_of(kind, is_habit), self.steps);
        let known = match known {
            Ok(()) => return Ok(Value::unit()),
            Err(known) => known,
        };
        let began = (self.detached.len(), self.graph.mark());
        self.turns.push(Turning { done: 0, is_counted: kind.turns.is_some() });
        let (quiet, around) = (self.quiet, std::mem::take(&mut self.watch));
        let since = self.quiet_since;
        self.quiet |= !kind.communicates;
        if self.quiet {
            self.quiet_since = since.or(Some(self.steps));
        }
        let outcome = self.turns_of(kind, turn).map(|()| Value::unit());
        (self.quiet, self.watch, self.quiet_since) = (quiet, around, since);
        self.turns.pop();
        let outcome = self.arrive(outcome, began, kind.place, |flow| match flow {
            Flow::Break(target, value) if is_meant(target, kind.label) => Some(value.clone()),
            _ => None,
        });
        if is_habit {
            *self.costs.entry(kind.place).or_insert(0) += self.steps - steps;
        }
        if is_habit && outcome.is_ok() {
            self.keep_habit((kind.place, kind.iterator), known, self.steps - steps);
        }
        outcome
    }

    /// Does what a loop did before, where that is known.
    fn habit_of(&mut self, kind: &Loop<'_>, is_habit: bool) -> Result<(), Option<Beginning>> {
        if !is_habit {
            return Err(None);
        }
        let mentioned = (kind.inputs, kind.globals);
        if self.forgets_loop(kind.place, (kind.label, kind.parts), mentioned) {
            return Ok(());
        }
        let made_of = |machine: &Self| machine.inputs(kind);
        self.repeat_habit(kind.place, (kind.inputs, kind.globals, kind.iterator), made_of)
    }

    fn turns_of(&mut self, kind: &Loop<'_>, turn: Turn<'_, 'p>) -> Outcome<()> {
        let place = kind.place;
        let is_short = kind.turns.is_some_and(|turns| turns <= u64::from(COMPUTED_TURNS));
        let is_run = kind.turns.is_none_or(|turns| turns <= u64::from(COMPUTED_TURNS));
        if self.is_c() && !kind.communicates && !is_run {
            return self.summarize(kind, turn);
        }
        let mut last = Turns::default();
        let mut proof = self.proof_of(kind);
        let mut is_guess = false;
        let begun = self.steps;
        for turns in 1.. {
            let (mark, left) = (self.graph.mark(), self.detached.len());
            self.step_on(place)?;
            let is_watched = kind.communicates && (is_guess || turns <= WATCHED);
            self.watch = Watch::over(is_watched.then_some(&self.state.memory));
            let outcome = turn(self);
            is_guess = self.guess_what_changed();
            if let Err(flow) = outcome {
                // The last turn has only found out that there is no other one.
                let is_cut = kind.communicates && turns > LONGEST + 1;
                self.cuts.extend(is_cut.then_some((place, turns - 1)));
                return Err(flow);
            }
            if let Some(turning) = self.turns.last_mut() {
                turning.done = u32::try_from(turns).unwrap_or(u32::MAX);
            }
            let may_have_left = self.detached.len() > left && !is_short;
            let is_enough = turns >= u64::from(COMPUTED_TURNS)
                || self.computes_for_long()
                || turns == TRIED && self.will_compute_for_long(kind, self.steps - begun);
            if may_have_left || !kind.communicates && is_enough {
                return self.summarize(kind, turn);
            }
            let (longest, patience) = self.patience();
            let is_proven =
                proof.is_some() && self.is_proven(&mut proof, turns, self.graph.since(mark));
            let is_long = kind.turns.is_some_and(|turns| turns > longest);
            if is_long || kind.is_endless || turns + 3 > LONGEST {
                last.note(self.graph.since(mark));
            }
            let is_left = is_long && turns > patience && last.are_steady() || is_proven;
            let frees = |event: &Event| matches!(event.action, Action::Release { .. });
            if is_left && self.graph.since(mark).is_some_and(|it| it.iter().any(frees)) {
                may_free_any(self, place)?;
            }
            if is_long && (turns > patience && last.are_steady() || is_proven) {
                return self.cut(kind, turns, turn);
            }
            if is_proven {
                self.leave_turns_out(kind, turns);
            }
            if turns > LONGEST && !last.are_steady() {
                return Err(self.lost(place, "the loop has too many turns that differ"));
            }
            let is_endless = kind.is_endless && (last.are_steady() || last.branches());
            if is_endless && turns > ENDLESS_TURNS || turns > PATIENCE {
                return self.summarize(kind, turn);
            }
            if turns > LONGEST {
                self.graph.back_to(mark);
            }
        }
        Ok(())
    }

    /// Whether the computation that is going on has taken so long that its loops are not run.
    fn computes_for_long(&self) -> bool {
        let taken = self.quiet_since.map(|since| self.steps.saturating_sub(since));
        self.is_c() && taken.is_some_and(|taken| taken > COMPUTED_STEPS)
    }

    /// Whether a loop will not be run to its end, as its first turns took so many steps: what they made
    /// known is forgotten then.
    fn will_compute_for_long(&self, kind: &Loop<'_>, taken: u64) -> bool {
        let Some(turns) = kind.turns.filter(|_| self.is_c() && !kind.may_be_left) else {
            return false;
        };
        let left = (turns.saturating_sub(TRIED)).saturating_mul(taken) / TRIED;
        let before = self.quiet_since.map_or(0, |since| self.steps.saturating_sub(since));
        left + before > COMPUTED_STEPS
    }

    /// The variables that a loop mentions, and those outside of functions that it touches.
    fn used_by_loop(
        &self,
        body: &Expression,
        condition: Option<&Condition>,
        pattern: Option<&Pattern>,
    ) -> Rc<Used> {
        let address = std::ptr::from_ref(body) as usize;
        if let Some(known) = self.computations.used_by_loops.borrow().get(&address) {
            return Rc::clone(known);
        }
        let mut variables = Vec::new();
        mentioned(body, &mut variables);
        if let Some(condition) = condition {
            condition.for_each_child(&mut |child| mentioned(child, &mut variables));
        }
        let globals = self.globals_of_loop(body, condition);
        let counters = pattern.and_then(|pattern| proof::counters(pattern, body));
        let used = Rc::new(Used { variables, globals, counters, may_be_left: leaves(body) });
        self.computations.used_by_loops.borrow_mut().insert(address, Rc::clone(&used));
        used
    }

    /// The variables outside of functions that a loop touches, where it may go by them.
    fn globals_of_loop(&self, body: &Expression, condition: Option<&Condition>) -> Vec<GlobalId> {
        if !self.is_c() {
            return Vec::new();
        }
        let mut globals = self.effects.globals_in(self.program, body);
        if let Some(condition) = condition {
            condition.for_each_child(&mut |child| {
                globals.extend(self.effects.globals_in(self.program, child));
            });
        }
        globals
    }

    /// From how many turns on a loop is long, and how many of them are run before it is cut short.
    fn patience(&self) -> (u64, u64) {
        let longest = self.limits.turns;
        match self.is_c() {
            false => (longest, 0),
            true if longest < LONGEST && self.graph.total() > MUCH => (HASTY, HASTY),
            true => (longest, PATIENT),
        }
    }

    /// Leaves out what is left of a long loop of which it is known how many turns it has, after the
    /// turns that are done.
    fn cut(&mut self, kind: &Loop<'_>, done: u64, turn: Turn<'_, 'p>) -> Outcome<()> {
        // A loop that only computes is nothing that others must do as often.
        let turns = kind.turns.filter(|_| kind.communicates);
        self.cuts.extend(turns.map(|turns| (kind.place, turns.saturating_sub(done))));
        self.generalize(kind.iterator);
        self.widen_over(kind, turn)?;
        Err(Flow::Break(None, Value::unit()))
    }

    /// A loop of an unknown number of turns: while `more`, which stands for another condition in
    /// each turn.
    pub(super) fn repeat(
        &mut self,
        more: Unknown,
        place: Place,
        turn: &mut dyn FnMut(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        if more.uniform {
            if self.decide(more, place)? == Some(true) {
                turn(self)?;
                turn(self)?;
            }
            return Ok(());
        }
        let began = (self.detached.len(), self.graph.mark());
        let mut whole = |machine: &mut Self| {
            let arms: Vec<super::branches::Arm<'_, 'p>> = vec![
                Box::new(|machine: &mut Self| turn(machine).map(|()| Value::unit())),
                Box::new(|_: &mut Self| Err(Flow::Break(None, Value::unit()))),
            ];
            machine.fork(more, arms, place).map(|_| ())
        };
        let kind = Loop {
            label: None,
            communicates: true,
            turns: None,
            is_endless: false,
            iterator: None,
            inputs: &[],
            globals: &[],
            counters: None,
            may_be_left: true,
            parts: &[],
            place,
        };
        let outcome = self.summarize(&kind, &mut whole).map(|()| Value::unit());
        let outcome = self.arrive(outcome, began, place, |flow| match flow {
            Flow::Break(None, value) => Some(value.clone()),
            _ => None,
        });
        outcome.map(|_| ())
    }
}

/// A loop that is run.
struct Loop<'a> {
    label: Option<&'a str>,
    communicates: bool,
    /// How many turns it has, unless it is left, where that is known.
    turns: Option<u64>,
    /// It has no condition: it ends where it is left.
    is_endless: bool,
    /// Where the iterator is kept that it goes over.
    iterator: Option<&'a Path>,
    /// The variables that it mentions.
    inputs: &'a [VariableId],
    /// The variables outside of functions that it touches.
    globals: &'a [GlobalId],
    /// The variables that only count its turns, where that is so.
    counters: Option<&'a [VariableId]>,
    /// It may end before the turns are done that it has.
    may_be_left: bool,
    /// What is in it.
    parts: &'a [&'a Expression],
    place: Place,
}

/// Whether something in an expression leaves what is around it.
fn leaves(expression: &Expression) -> bool {
    let mut found =
        matches!(expression.kind, Kind::Break(..) | Kind::Continue(..) | Kind::Return(_));
    expression.for_each_child(&mut |child| found = found || leaves(child));
    found
}

/// How many turns a loop over it has.
fn known_turns(lazy: &Lazy) -> Option<u64> {
    match lazy {
        Lazy::Range { next, end: Some(end) } => {
            u64::try_from(end.as_integer()? - next.as_integer()?).ok().or(Some(0))
        }
        Lazy::Items(_, from, to) => Some(to.saturating_sub(*from) as u64),
        Lazy::Elements(_, from, to) => Some(to.saturating_sub(*from)),
        _ => None,
    }
}

/// Whether a `break` or `continue` with this label means the loop.
fn is_meant(target: &Option<String>, label: Option<&str>) -> bool {
    target.is_none() || target.as_deref() == label
}
