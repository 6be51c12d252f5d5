//! Ways that part and come together.
//!
//! Where nobody knows which way a rank takes, each is followed from a copy of the state, into basic
//! blocks of its own. Those that reach the end of the expression are joined there. Those that leave
//! it, by `break`, `continue`, `return` or a panic, are *detached*: each scope that they leave drops
//! its variables on them as well, and the loop or the function where they arrive takes them in.

use super::graph::{BlockId, Mark, Next};
use super::machine::{Detached, Flow, Machine, Outcome};
use super::state::State;
use super::value::{Unknown, Value};
use crate::program::Place;

/// A way to the end of what is evaluated, with its value.
pub(super) struct Way {
    state: State,
    cursor: BlockId,
    value: Value,
    condition: Unknown,
}

/// What is done on one of several ways.
pub(super) type Arm<'a, 'p> = Box<dyn FnOnce(&mut Machine<'p>) -> Outcome + 'a>;

impl<'p> Machine<'p> {
    /// Follows all arms, each from here, and joins them.
    pub(super) fn fork(
        &mut self,
        condition: Unknown,
        arms: Vec<Arm<'_, 'p>>,
        place: Place,
    ) -> Outcome {
        self.fork_as(condition, arms, place, |heads| Next::Branch(place, heads))
    }

    /// The same, with the branch that it becomes.
    pub(super) fn fork_as(
        &mut self,
        condition: Unknown,
        arms: Vec<Arm<'_, 'p>>,
        place: Place,
        branch: impl FnOnce(Vec<BlockId>) -> Next,
    ) -> Outcome {
        let before = self.state.clone();
        let mark = self.graph.mark();
        let start = self.graph.cursor;
        let detached = self.detached.len();
        let mut heads = Vec::new();
        let mut ways = Vec::new();
        let mut left = Vec::new();
        for arm in arms {
            let head = self.graph.new_block();
            heads.push(head);
            self.graph.cursor = head;
            let outcome = arm(self);
            let state = std::mem::replace(&mut self.state, before.clone());
            let cursor = self.graph.cursor;
            match outcome {
                Ok(value) => ways.push(Way { state, cursor, value, condition }),
                Err(Flow::Gone) => {}
                Err(flow) => left.push(Detached { state, cursor, flow, condition }),
            }
        }
        let all_go_on = left.is_empty() && ways.len() == heads.len();
        if all_go_on && self.graph.silent_since(mark) && self.detached.len() == detached {
            self.graph.back_to(mark);
            ways.iter_mut().for_each(|way| way.cursor = start);
        } else {
            self.graph.lead(start, branch(heads));
        }
        let joined = self.join(ways, place);
        self.go_on(joined, left, before)
    }

    /// Goes on with what has come together, or, if nothing has, with one that has left.
    fn go_on(
        &mut self,
        joined: Option<Outcome>,
        mut left: Vec<Detached>,
        before: State,
    ) -> Outcome {
        if let Some(outcome) = joined {
            self.detached.append(&mut left);
            return outcome;
        }
        let Some(Detached { state, cursor, flow, .. }) = left.pop() else {
            // Nobody comes here; the state is only there to be whole.
            self.state = before;
            return Err(Flow::Gone);
        };
        self.detached.append(&mut left);
        self.state = state;
        self.graph.cursor = cursor;
        Err(flow)
    }

    /// Brings ways together here. `None` if there are none.
    pub(super) fn join(&mut self, ways: Vec<Way>, place: Place) -> Option<Outcome> {
        let mut ways = ways.into_iter();
        let first = ways.next()?;
        self.state = first.state;
        let mut value = first.value;
        let mut cursors = vec![first.cursor];
        for way in ways {
            value = self.merged(&value, &way.value, way.condition);
            self.join_state(&way.state, way.condition);
            cursors.push(way.cursor);
        }
        cursors.sort_unstable();
        cursors.dedup();
        if let [only] = cursors[..] {
            self.graph.cursor = only;
        } else {
            let joint = self.graph.new_block();
            cursors.into_iter().for_each(|cursor| self.graph.lead(cursor, Next::Jump(joint)));
            self.graph.cursor = joint;
        }
        if std::mem::take(&mut self.joined_badly) {
            let why = "operations are started or completed on one of several ways only";
            return Some(Err(self.lost(place, why)));
        }
        Some(Ok(value))
    }

    /// The way that is being followed, to be joined with others.
    pub(super) fn way(&mut self, value: Value, condition: Unknown) -> Way {
        let state = std::mem::take(&mut self.state);
        Way { state, cursor: self.graph.cursor, value, condition }
    }

    /// Does something on each way that was detached since, as if it were the one that is followed.
    pub(super) fn on_detached(
        &mut self,
        since: usize,
        mut action: impl FnMut(&mut Self) -> Outcome<()>,
    ) {
        if self.detached.len() <= since {
            return;
        }
        let mine = std::mem::take(&mut self.state);
        let cursor = self.graph.cursor;
        for detached in self.detached.split_off(since) {
            let Detached { state, cursor, flow, condition } = detached;
            self.state = state;
            self.graph.cursor = cursor;
            let flow = match action(self) {
                Ok(()) => flow,
                Err(other) => other,
            };
            if !matches!(flow, Flow::Gone) {
                let state = std::mem::take(&mut self.state);
                let cursor = self.graph.cursor;
                self.detached.push(Detached { state, cursor, flow, condition });
            }
        }
        self.state = mine;
        self.graph.cursor = cursor;
    }

    /// Takes in the ways that were detached since and arrive here, with their values.
    pub(super) fn arrivals(
        &mut self,
        since: usize,
        mut arrives: impl FnMut(&Flow) -> Option<Value>,
    ) -> Vec<Way> {
        let mut ways = Vec::new();
        for detached in self.detached.split_off(since) {
            match arrives(&detached.flow) {
                Some(value) => {
                    let Detached { state, cursor, condition, .. } = detached;
                    ways.push(Way { state, cursor, value, condition });
                }
                None => self.detached.push(detached),
            }
        }
        ways
    }

    /// Ends an expression that ways may arrive at: joins the one that is followed, if it arrives,
    /// with those that were detached since it began.
    pub(super) fn arrive(
        &mut self,
        outcome: Outcome,
        (since, mark): (usize, Mark),
        place: Place,
        mut arrives: impl FnMut(&Flow) -> Option<Value>,
    ) -> Outcome {
        if self.detached.len() <= since {
            return match outcome {
                Err(flow) => arrives(&flow).ok_or(flow),
                ok => ok,
            };
        }
        let condition = self.detached[self.detached.len() - 1].condition;
        let others = self.arrivals(since, &mut arrives);
        let mut ways = Vec::new();
        let mut left = Vec::new();
        let before = self.state.clone();
        match outcome {
            Ok(value) => ways.push(self.way(value, condition)),
            Err(Flow::Gone) => {}
            Err(flow) => match arrives(&flow) {
                Some(value) => ways.push(self.way(value, condition)),
                None => {
                    let state = std::mem::take(&mut self.state);
                    let cursor = self.graph.cursor;
                    left.push(Detached { state, cursor, flow, condition });
                }
            },
        }
        ways.extend(others);
        let all_arrive = left.is_empty() && self.detached.len() == since && !ways.is_empty();
        if all_arrive && self.graph.silent_since(mark) {
            // Nobody else sees which way was taken.
            self.graph.back_to(mark);
            let start = self.graph.cursor;
            ways.iter_mut().for_each(|way| way.cursor = start);
        }
        let joined = self.join(ways, place);
        self.go_on(joined, left, before)
    }
}
