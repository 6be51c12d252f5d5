//! Where a rank computes between its steps, and which of it could be done while messages travel. It is
//! only written down where somebody asks for it ([`super::Limits::shows_work`]): what could be done
//! better is for the rules to say.

mod survey;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use p2p_protocol::model::{Action, Peer, RequestId};

use super::calls::mentioned;
use super::machine::Machine;
use super::value::{FrameId, Items, ObjectId, Sequence, Value};
use super::writes::MOST_OBJECTS;
use crate::program::{Expression, GlobalId, Kind, Place, VariableId};

pub(super) use survey::Known;

/// What was computed since the last event, and what it could be compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Where something was computed; `None` if nothing was.
    done: Option<Place>,
    /// The requests that were completed right before and whose memory it leaves alone, if it is long.
    apart: BTreeSet<RequestId>,
    /// The objects that operations use which are going on; of some it is not known.
    buffers: BTreeMap<RequestId, BTreeSet<ObjectId>>,
    /// The requests that the last events have completed, with what nothing has touched since.
    completed: BTreeMap<RequestId, BTreeSet<ObjectId>>,
    /// The call in which they were.
    frame: FrameId,
}

impl Work {
    /// Where two ways come together, something was computed that was on either of them.
    pub(super) fn join(&mut self, other: &Work) {
        self.done = self.done.or(other.done);
        self.apart.retain(|request| other.apart.contains(request));
        self.buffers.retain(|request, objects| {
            let others = other.buffers.get(request);
            objects.extend(others.into_iter().flatten());
            others.is_some()
        });
        self.completed.retain(|request, objects| {
            let others = other.completed.get(request);
            objects.extend(others.into_iter().flatten());
            others.is_some() && self.frame == other.frame
        });
    }
}

impl Machine<'_> {
    fn work(&mut self) -> &mut Work {
        Rc::make_mut(&mut self.state.work)
    }

    /// Writes down what was computed in front of an event, or in front of the rank's end.
    pub(super) fn tell_work(&mut self, next: Option<&Action>) {
        let work = self.work();
        let waits = matches!(next, Some(Action::Wait { .. }));
        if !waits || work.done.is_some() {
            work.completed.clear();
        }
        match next {
            Some(
                Action::StartSend { envelope, request, .. }
                | Action::StartReceive { envelope, request, .. },
            ) => {
                work.buffers.remove(request);
                // Nothing is done with the memory of a message to nobody.
                if envelope.peer == Peer::Null {
                    work.buffers.insert(*request, BTreeSet::new());
                }
            }
            Some(Action::StartCollective { request, .. }) => _ = work.buffers.remove(request),
            _ => {}
        }
        if let Some(place) = work.done.take() {
            let apart = std::mem::take(&mut work.apart).into_iter().collect();
            self.graph.push(Action::Compute { apart }, place);
        }
    }

    /// A list of so many requests is waited for. Where it is one, there may be more of them on another
    /// rank or with other data.
    pub(super) fn note_list(&mut self, active: usize, place: Place) {
        if active == 1 {
            self.note_loose_wait(place);
        }
    }

    /// The wait that follows stands for more than is seen here, such as a loop that asks and works in
    /// turn: nothing is said of what happens before it.
    pub(super) fn note_loose_wait(&mut self, place: Place) {
        if self.limits.shows_work {
            self.work().done.get_or_insert(place);
        }
    }

    /// An operation uses a part of an object.
    pub(super) fn note_buffer(&mut self, request: RequestId, object: ObjectId) {
        if self.limits.shows_work {
            self.work().buffers.entry(request).or_default().insert(object);
        }
    }

    /// A request is complete.
    pub(super) fn note_completed(&mut self, request: RequestId) {
        if !self.limits.shows_work {
            return;
        }
        let frame = self.state.frame;
        let work = self.work();
        if work.frame != frame {
            work.completed.clear();
            work.frame = frame;
        }
        let objects = work.buffers.remove(&request);
        work.completed.extend(objects.map(|objects| (request, objects)));
    }

    /// Takes down what a statement computes that comes next.
    pub(super) fn note_statement(&mut self, statement: &Expression) {
        if !self.limits.shows_work || self.quiet {
            return;
        }
        if self.state.work.frame != self.state.frame && !self.state.work.completed.is_empty() {
            self.work().completed.clear();
        }
        let effect = self.effects.get(statement);
        if effect.communicates {
            // Whether it comes to what is in it may be decided by what has arrived.
            if !matches!(statement.kind, Kind::Block(_)) && !is_wait(statement) {
                self.work().completed.clear();
            }
            return;
        }
        let surveyed = self.effects.surveys.of(self.program, statement);
        if surveyed.is_light() && self.state.work.completed.is_empty() {
            return;
        }
        let is_clear = surveyed.is_understood && !effect.leaves && !self.state.mpi.has_windows();
        let touched = match self.state.work.completed.is_empty() {
            false if is_clear => self.touched_by(statement),
            _ => None,
        };
        let is_long = surveyed.has_loops && self.is_long(statement);
        let work = self.work();
        match touched {
            Some(touched) => work.completed.retain(|_, objects| objects.is_disjoint(&touched)),
            None => work.completed.clear(),
        }
        if !surveyed.is_light() {
            let is_new = is_long && work.apart.is_empty() && !work.completed.is_empty();
            if is_new || work.done.is_none() {
                work.done = Some(statement.place);
            }
            if is_long {
                work.apart.extend(work.completed.keys().copied());
            }
        }
    }

    /// A statement is over: what it has completed also hangs on the handles that stand in it.
    pub(super) fn note_statement_done(&mut self, statement: &Expression) {
        if !self.limits.shows_work || self.quiet || self.state.work.completed.is_empty() {
            return;
        }
        if !self.effects.get(statement).communicates {
            return;
        }
        let mut named = Vec::new();
        names_in(statement, false, &mut named);
        let objects = named.into_iter().filter_map(|(name, is_referenced)| {
            let object = self.object_of(name)?;
            let is_number = matches!(self.state.memory.get(object), Some(Value::Scalar(..)));
            (is_referenced || !is_number).then_some(object)
        });
        let objects: BTreeSet<ObjectId> = objects.collect();
        for kept in self.work().completed.values_mut() {
            kept.extend(&objects);
        }
    }

    fn object_of(&self, name: Name) -> Option<ObjectId> {
        match name {
            Name::Variable(variable) => {
                let frame = &self.state.frames[self.state.frame.0 as usize];
                frame.variables.get(variable.0 as usize).copied().flatten()
            }
            Name::Global(global) => self.state.globals.get(&global).copied(),
        }
    }

    /// The objects that a statement may touch; `None` where nobody knows.
    fn touched_by(&self, statement: &Expression) -> Option<BTreeSet<ObjectId>> {
        let mut variables = Vec::new();
        mentioned(statement, &mut variables);
        let globals = self.effects.globals_in(self.program, statement);
        let names = variables.into_iter().map(Name::Variable);
        let names = names.chain(globals.into_iter().map(Name::Global));
        let mut touched = BTreeSet::new();
        for object in names.filter_map(|name| self.object_of(name)) {
            self.reach(object, &mut touched);
        }
        let is_told = |object: &ObjectId| {
            self.state.memory.get(*object).is_none_or(|value| self.shows_all(value))
        };
        (touched.len() < MOST_OBJECTS && touched.iter().all(is_told)).then_some(touched)
    }

    /// Whether all is known that a value leads to.
    fn shows_all(&self, value: &Value) -> bool {
        match value {
            Value::Unknown(_, ty) => {
                matches!(super::bytes::leaf(ty), crate::program::Type::Scalar(_))
                    || !self.pointees_of(value).is_empty()
            }
            Value::Tuple(parts)
            | Value::Variant(_, parts)
            | Value::Defined { fields: parts, .. } => parts.iter().all(|it| self.shows_all(it)),
            Value::Sequence(Sequence { items: Items::Alike(item, _), .. }) => self.shows_all(item),
            Value::Sequence(Sequence { items: Items::Each(items), .. }) => {
                matches!(items.first(), Some(Value::Scalar(..)))
                    || items.iter().all(|item| self.shows_all(item))
            }
            Value::Closure(..) | Value::Iterator(_) | Value::Handle(_) | Value::Map(_) => false,
            _ => true,
        }
    }
}

/// What stands for an object in a program.
#[derive(Clone, Copy)]
enum Name {
    Variable(VariableId),
    Global(GlobalId),
}

/// Whether a statement only waits for a request.
fn is_wait(statement: &Expression) -> bool {
    match &statement.kind {
        Kind::Call(callee, _) => match &callee.kind {
            Kind::External(path, _) => path.last().is_some_and(|it| it.starts_with("MPI_Wait")),
            _ => false,
        },
        Kind::Method { name, .. } => name.starts_with("wait"),
        _ => false,
    }
}

/// What is named in an expression, and whether it stands behind a `&`.
fn names_in(expression: &Expression, is_referenced: bool, found: &mut Vec<(Name, bool)>) {
    match &expression.kind {
        Kind::Variable(variable) => found.push((Name::Variable(*variable), is_referenced)),
        Kind::Global(global) => found.push((Name::Global(*global), is_referenced)),
        _ => {}
    }
    let is_referenced = matches!(expression.kind, Kind::Reference { .. });
    expression.for_each_child(&mut |child| names_in(child, is_referenced, found));
}
