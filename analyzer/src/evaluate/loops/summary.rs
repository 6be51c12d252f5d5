//! Loops that are not run to their end: what a turn changes becomes unknown, and one turn stands for
//! all. When a loop is run and when not is decided in [`super`].

use std::rc::Rc;

use super::super::branches::Arm;
use super::super::graph::Next;
use super::super::identity::Identity;
use super::super::iterator;
use super::super::machine::{Flow, Machine, Outcome};
use super::super::value::{Path, Unknown, Value};
use super::super::widen::Widening;
use super::{Loop, Turn};
use crate::program::Place;

impl<'p> Machine<'p> {
    /// One turn for all that follow: what a turn changes is unknown at the loop's head, and the turn
    /// leads back to it. The ways out are detached, or the flow that comes back.
    pub(super) fn summarize(&mut self, kind: &Loop<'_>, turn: Turn<'_, 'p>) -> Outcome<()> {
        let Some(path) = kind.iterator else { return self.summarize_turn(kind, turn) };
        self.generalize(Some(path));
        if self.is_c() && !kind.communicates && kind.turns.is_some_and(|turns| turns > 0) {
            return self.summarize_known(kind, turn);
        }
        let more = self.fresh_unknown();
        let mut perhaps = |machine: &mut Self| {
            let arms: Vec<Arm<'_, 'p>> = vec![
                Box::new(|machine: &mut Self| turn(machine).map(|()| Value::unit())),
                Box::new(|_: &mut Self| Err(Flow::Break(None, Value::unit()))),
            ];
            machine.fork(more, arms, kind.place).map(|_| ())
        };
        self.summarize_turn(kind, &mut perhaps)
    }

    /// One turn for all of a loop that only computes and has some: what others see of it, they see of
    /// any turn.
    fn summarize_known(&mut self, kind: &Loop<'_>, turn: Turn<'_, 'p>) -> Outcome<()> {
        if !matches!(self.widen_over(kind, turn)?, Turned::Silently) {
            turn(self)?;
        }
        Err(Flow::Break(None, Value::unit()))
    }

    fn summarize_turn(&mut self, kind: &Loop<'_>, turn: Turn<'_, 'p>) -> Outcome<()> {
        match self.widen_over(kind, turn)? {
            // No turn comes to its end: there is no next one.
            Turned::Never => return turn(self),
            // All ways go on at the head, where the iterator may be at its end.
            Turned::Silently if self.is_c() && kind.iterator.is_some() && !kind.communicates => {
                return Err(Flow::Break(None, Value::unit()));
            }
            _ => {}
        }
        let (start, mark, detached) = (self.graph.cursor, self.graph.mark(), self.detached.len());
        let head = self.graph.new_block();
        self.graph.lead(start, Next::Jump(head));
        self.graph.cursor = head;
        let outcome = turn(self);
        let is_silent = self.graph.silent_since(mark);
        if outcome.is_ok() {
            if self.limits.shows_work && !is_silent {
                self.tell_work(None);
            }
            self.graph.lead(self.graph.cursor, Next::Jump(head));
        }
        if is_silent {
            self.graph.back_to(mark);
            self.detached[detached..].iter_mut().for_each(|way| way.cursor = start);
        }
        match outcome {
            // The ways out are detached: one of them is followed from here.
            Ok(()) => self.pick_up(detached, is_silent, kind.place),
            Err(flow) => Err(flow),
        }
    }

    /// From here on an element of the iterator that is kept there stands for any.
    pub(super) fn generalize(&mut self, iterator: Option<&Path>) {
        let Some(path) = iterator else { return };
        let kept = self.state.memory.get_mut(path.object).map(std::mem::take);
        if let Some(Value::Iterator(mut lazy)) = kept {
            iterator::generalize(self, Rc::make_mut(&mut lazy));
            self.put(path, Value::Iterator(lazy));
        }
    }

    /// Goes on with a way that was detached since.
    fn pick_up(&mut self, detached: usize, is_silent: bool, place: Place) -> Outcome<()> {
        if self.detached.len() <= detached {
            // An endless loop: a rank that serves others, or one of which too little is known.
            let why = "it is not known how the loop ends";
            return Err(if is_silent { self.lost(place, why) } else { Flow::Gone });
        }
        let way = self.detached.remove(detached);
        self.state = way.state;
        self.graph.cursor = way.cursor;
        Err(way.flow)
    }

    /// Makes unknown what a turn changes, until another turn changes nothing else.
    pub(super) fn widen_over(&mut self, kind: &Loop<'_>, turn: Turn<'_, 'p>) -> Outcome<Turned> {
        let mut widening = Widening::new((!kind.communicates).then(|| self.inputs(kind)));
        let mut is_silent = false;
        for _ in 0..8 {
            let before = self.state.clone();
            let (mark, detached, made) = (self.graph.mark(), self.detached.len(), self.made);
            let outcome = turn(self);
            let after = std::mem::replace(&mut self.state, before);
            // The way out at the head may be there.
            let ways = usize::from(kind.iterator.is_some() && kind.turns.is_none());
            let leaves = self.detached.len() > detached + ways;
            is_silent = self.graph.silent_since(mark) && !leaves;
            self.graph.back_to(mark);
            self.detached.truncate(detached);
            if outcome.is_err() {
                return Ok(Turned::Never);
            }
            // What comes from nowhere is not made of the inputs alone.
            widening.is_pure &= self.made == made;
            let changed = self.widen(&after, &mut widening);
            if std::mem::take(&mut self.joined_badly) {
                let why =
                    "operations are started in turns of which nobody knows how many there are";
                return Err(self.lost(kind.place, why));
            }
            if !changed {
                break;
            }
        }
        Ok(if is_silent { Turned::Silently } else { Turned::On })
    }

    /// What a loop that only computes makes its values of.
    pub(super) fn inputs(&self, kind: &Loop<'_>) -> Unknown {
        let mut identity = Identity::of("loop");
        identity.number(u64::from(kind.place.0));
        if let Some(path) = kind.iterator {
            identity.unknown(self.identity(&self.peek_at(path)));
        }
        let frame = &self.state.frames[self.state.frame.0 as usize];
        for variable in kind.inputs {
            if let Some(Some(object)) = frame.variables.get(variable.0 as usize) {
                identity.unknown(self.identity(&Value::Reference(Path::whole(*object))));
            }
        }
        for global in kind.globals {
            if let Some(object) = self.state.globals.get(global) {
                identity.unknown(self.identity(&Value::Reference(Path::whole(*object))));
            }
        }
        identity.finish()
    }
}

/// What comes of a turn that stands for all.
pub(super) enum Turned {
    /// It does not come to its end.
    Never,
    /// It leads on to the next one, and nobody else sees it.
    Silently,
    /// It leads on to the next one.
    On,
}
