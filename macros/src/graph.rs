//! A role as a graph of states: one for each place at which its next step is known.
//!
//! `loop`, `break`, `continue` and `requests()` are no steps; they only say where others lead to.

use std::collections::HashMap;

use p2p_protocol::grammar::syntax::{Block, Role, Statement, StatementKind};
use p2p_protocol::model::Place;
use syn::Lifetime;

use crate::flow::{self, Flow, target_of};
use crate::mentions::mentions;
use crate::names::{self, Used};
use crate::scope::{Scope, SlotKind};
use crate::verbs;

/// Where a step leads, and how much of what is in scope survives on the way.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    to: To,
    /// The depth of the scope at the target.
    pub(crate) depth: usize,
}

#[derive(Clone, Copy)]
enum To {
    State(usize),
    Done,
    /// The start of a `loop`, which is known only when its body is.
    Label(usize),
}

/// One state of a role.
pub(crate) struct State<'p> {
    /// What its type is called.
    pub(crate) name: String,
    /// What it carries.
    pub(crate) scope: Scope<'p>,
    /// The statement that is next.
    pub(crate) statement: &'p Statement,
    /// What is in scope once the statement's own operation is done.
    pub(crate) behind: Scope<'p>,
    /// Where it leads.
    pub(crate) step: Step,
}

/// Where a state's statement leads.
pub(crate) enum Step {
    /// To one place.
    Plain(Target),
    /// Into the body of a `for`, or behind it.
    For {
        /// The body's first state.
        item: Target,
        /// What follows the loop.
        end: Target,
        /// Whether the body always comes back to the head, so that a closure can stand for it.
        closed: bool,
    },
    /// To one of several arms, in the order of the statement's blocks.
    Arms {
        /// Their first states.
        arms: Vec<Target>,
        /// Where all arms meet again, if none of them jumps away, so that closures can stand for
        /// them.
        meet: Option<Target>,
    },
}

/// All states of a role.
pub(crate) struct Graph<'p> {
    /// Where the role starts.
    pub(crate) start: Target,
    /// A state for each statement in the order of the text; none where nothing leads.
    states: Vec<Option<State<'p>>>,
    labels: Vec<Option<Target>>,
}

impl<'p> Graph<'p> {
    /// The graph of a role.
    pub(crate) fn of(role: &'p Role) -> Graph<'p> {
        let mut places = Places {
            prefix: names::camel(&names::plain(&role.name)),
            used: Used::default(),
            states: HashMap::new(),
        };
        places.reserve(&role.body);
        let mut builder = Builder {
            flow: Flow::new(role),
            states: places.states.iter().map(|_| None).collect(),
            places: places.states,
            labels: Vec::new(),
            loops: Vec::new(),
            outermost_jump: usize::MAX,
        };
        let done = Target { to: To::Done, depth: 0 };
        let start = builder.block(&role.body.statements, Scope::default(), done);
        Graph { start, states: builder.states, labels: builder.labels }
    }

    /// All states, in the order of the text.
    pub(crate) fn states(&self) -> impl Iterator<Item = &State<'p>> {
        self.states.iter().flatten()
    }

    /// The state that a target means; none at the end of the protocol.
    pub(crate) fn state(&self, target: Target) -> Option<&State<'p>> {
        let mut to = target.to;
        // A loop without any step leads to itself for ever; it is taken for the end.
        for _ in 0..=self.labels.len() {
            match to {
                To::State(index) => return self.states[index].as_ref(),
                To::Done => return None,
                To::Label(index) => to = self.labels[index]?.to,
            }
        }
        None
    }
}

/// The states' positions and names, which follow the order of the text. A state is made only when
/// what it leads to is, which is another order.
struct Places {
    prefix: String,
    used: Used,
    states: HashMap<Place, (usize, String)>,
}

impl Places {
    fn reserve(&mut self, block: &Block) {
        for Statement { kind, place, .. } in &block.statements {
            if !is_silent(kind) {
                let name = format!("{}{}", self.prefix, verbs::state(kind));
                let name = self.used.unique(&name, "");
                self.states.insert(*place, (self.states.len(), name));
            }
            kind.blocks().into_iter().for_each(|block| self.reserve(block));
        }
    }
}

struct Builder<'p> {
    flow: Flow<'p>,
    places: HashMap<Place, (usize, String)>,
    states: Vec<Option<State<'p>>>,
    labels: Vec<Option<Target>>,
    loops: Vec<Frame<'p>>,
    /// The jump that leads furthest out, since this was last looked at: twice the loop's position,
    /// and one more where it goes on with the loop instead of leaving it.
    outermost_jump: usize,
}

struct Frame<'p> {
    label: Option<&'p Lifetime>,
    head: Target,
    after: Target,
}

impl<'p> Builder<'p> {
    /// The states of some statements and what follows them; gives back where they start.
    fn block(&mut self, statements: &'p [Statement], scope: Scope<'p>, next: Target) -> Target {
        let start = scope.depth();
        self.statements(statements, scope, start, next)
    }

    /// Some last statements of a block whose own declarations start at depth `start`.
    fn statements(
        &mut self,
        statements: &'p [Statement],
        scope: Scope<'p>,
        start: usize,
        next: Target,
    ) -> Target {
        let Some((statement, rest)) = statements.split_first() else { return next };
        match &statement.kind {
            StatementKind::Break(label) => return self.jump(label.as_ref(), true),
            StatementKind::Continue(label) => return self.jump(label.as_ref(), false),
            _ => {}
        }
        let place = self.places.get(&statement.place).cloned();
        let behind = self.flow.after(statement, scope.clone());
        let behind = behind.map(|behind| unmentioned_dropped(behind, start, rest));
        let after = |builder: &mut Self| match &behind {
            Some(behind) => builder.statements(rest, behind.clone(), start, next),
            None => next,
        };
        let Some((index, name)) = place else {
            return match &statement.kind {
                StatementKind::Loop(label, body) => {
                    let after = after(self);
                    self.endless(label.as_ref(), body, scope, after)
                }
                // A set is made on the way, so it is not there yet where the way begins.
                _ => {
                    let target = after(self);
                    Target { depth: target.depth.min(scope.depth()), ..target }
                }
            };
        };
        let here = Target { to: To::State(index), depth: scope.depth() };
        let after = after(self);
        let (behind, step) = match &statement.kind {
            StatementKind::For { label, variable, range, body } => {
                let head = scope.clone().with(variable, SlotKind::Rest(range));
                let inside = head.clone().with(variable, SlotKind::Number);
                let back = Target { depth: head.depth(), ..here };
                let step = self.repeated(label.as_ref(), body, inside, back, after);
                return self.place(index, name, head.clone(), statement, head, step, here);
            }
            kind => match self.arms(kind, &scope, after) {
                Some(step) => (scope.clone(), step),
                None => (behind.unwrap_or_else(|| scope.clone()), Step::Plain(after)),
            },
        };
        self.place(index, name, scope, statement, behind, step, here)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one state")]
    fn place(
        &mut self,
        index: usize,
        name: String,
        scope: Scope<'p>,
        statement: &'p Statement,
        behind: Scope<'p>,
        step: Step,
        here: Target,
    ) -> Target {
        self.states[index] = Some(State { name, scope, statement, behind, step });
        here
    }

    fn jump(&mut self, label: Option<&Lifetime>, leaves: bool) -> Target {
        let index = target_of(self.loops.iter().map(|frame| frame.label), label);
        let Some(index) = index else { return Target { to: To::Done, depth: 0 } };
        self.outermost_jump = self.outermost_jump.min(2 * index + usize::from(!leaves));
        if leaves { self.loops[index].after } else { self.loops[index].head }
    }

    /// Runs `build` and says whether what it built has a jump that leads further out than `limit`.
    fn watched<T>(&mut self, limit: usize, build: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let before = std::mem::replace(&mut self.outermost_jump, usize::MAX);
        let built = build(self);
        let jumps_away = self.outermost_jump < limit;
        self.outermost_jump = self.outermost_jump.min(before);
        (built, jumps_away)
    }

    fn endless(
        &mut self,
        label: Option<&'p Lifetime>,
        body: &'p Block,
        scope: Scope<'p>,
        after: Target,
    ) -> Target {
        let label_index = self.labels.len();
        self.labels.push(None);
        let head = Target { to: To::Label(label_index), depth: scope.depth() };
        self.loops.push(Frame { label, head, after });
        let start = self.block(&body.statements, scope, head);
        self.loops.pop();
        self.labels[label_index] = Some(start);
        start
    }

    fn repeated(
        &mut self,
        label: Option<&'p Lifetime>,
        body: &'p Block,
        inside: Scope<'p>,
        head: Target,
        after: Target,
    ) -> Step {
        let own_continue = 2 * self.loops.len() + 1;
        let (item, leaves) = self.watched(own_continue, |builder| {
            builder.loops.push(Frame { label, head, after });
            let item = builder.block(&body.statements, inside, head);
            builder.loops.pop();
            item
        });
        Step::For { item, end: after, closed: !leaves }
    }

    /// The arms of a branching statement.
    fn arms(&mut self, kind: &'p StatementKind, scope: &Scope<'p>, after: Target) -> Option<Step> {
        let blocks = flow::arms(kind, scope)?;
        let (arms, jumps_away) = self.watched(2 * self.loops.len(), |builder| {
            let blocks = blocks.into_iter();
            blocks.map(|(body, scope)| builder.block(&body.statements, scope, after)).collect()
        });
        Some(Step::Arms { arms, meet: (!jumps_away).then_some(after) })
    }
}

/// Statements that are no step of their own.
fn is_silent(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Loop(..)
            | StatementKind::RequestSet(_)
            | StatementKind::Break(_)
            | StatementKind::Continue(_)
    )
}

/// Of what a block has declared itself, nothing that is not mentioned any more is carried on.
fn unmentioned_dropped<'p>(scope: Scope<'p>, start: usize, rest: &[Statement]) -> Scope<'p> {
    let declared: Vec<_> = scope.since(start).iter().map(|slot| slot.name).collect();
    declared.into_iter().fold(scope, |scope, name| {
        if mentions(rest, name.id) { scope } else { scope.dropped(name) }
    })
}
