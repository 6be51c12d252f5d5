//! All that is different in the two arms of a branch: memory, frames, what is pending, and what was
//! found out about conditions. A copy is cheap.

use std::collections::BTreeMap;
use std::rc::Rc;

use p2p_protocol::model::SourceId;
use rustc_hash::FxHashMap;

use super::memory::Memory;
use super::uses::Uses;
use super::value::{FrameId, ObjectId};
use crate::program::{FunctionId, GlobalId, Place, Type, VariableId};

/// What one rank is in the midst of.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// The values.
    pub(super) memory: Memory,
    /// The calls that are going on, and those whose variables a closure still uses.
    pub(super) frames: Vec<Rc<Frame>>,
    /// The call whose variables are meant.
    pub(super) frame: FrameId,
    /// How many calls are in each other.
    pub(super) depth: u32,
    /// Variables and values in passing whose life ends with the scopes around, outermost first.
    pub(super) declared: Vec<ObjectId>,
    /// Objects below this number may be referred to from anywhere.
    pub(super) kept: usize,
    /// Constants and static variables that were asked for.
    pub(super) globals: Rc<FxHashMap<GlobalId, ObjectId>>,
    /// Values of constant expressions that something refers to, by the expressions' addresses.
    pub(super) constants: Rc<FxHashMap<usize, ObjectId>>,
    /// The operations that are going on, with the memory that they use.
    pub(super) uses: Rc<Uses>,
    /// What was computed since the last event, where that is written down.
    pub(super) work: Rc<super::work::Work>,
    /// The next slot for a source.
    pub(super) next_slot: SourceId,
    /// What conditions were found to be.
    pub(super) facts: super::facts::Facts,
    /// What was done to MPI.
    pub(super) mpi: super::library::mpi::State,
    /// The threads that have begun and communicate, by number; none of them has done anything yet.
    pub(super) threads: Rc<Vec<(u64, super::value::Value)>>,
    /// How often each thing that is counted has happened; `None` where nobody knows.
    pub(super) counters: Rc<BTreeMap<Counted, Option<u64>>>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counted {
    /// Collectives on a communicator.
    Collectives(u16),
    /// How often the members of a communicator that a group makes have come together for that.
    Meetings(u16),
    /// Threads.
    Threads,
    /// What is told to the others of a communicator.
    Exchanges(u16),
    /// Options of the command line that were asked for.
    Options,
    /// Questions of a call whether something is so by then, which are answered by no.
    Questions(Place),
    /// Messages on a communicator to a rank with a tag.
    Sent(u16, u32, i32),
    /// Receives on a communicator from a rank with a tag.
    Received(u16, u32, i32),
}

/// A call: its variables and what its generic parameters stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// The function that is called, where it is one.
    pub(super) function: Option<FunctionId>,
    /// Where each variable is; made when it is first mentioned.
    pub(super) variables: Vec<Option<ObjectId>>,
    /// Where the value of an expression is kept while something refers to it, by the expression's
    /// address.
    pub(super) temporaries: FxHashMap<usize, ObjectId>,
    /// What its generic parameters stand for.
    pub(super) bindings: Rc<FxHashMap<String, Type>>,
}

impl State {
    /// The object of a variable of the current call.
    pub(super) fn variable(&mut self, variable: VariableId) -> ObjectId {
        let index = variable.0 as usize;
        let frame = self.frame.0 as usize;
        if let Some(Some(object)) = self.frames[frame].variables.get(index) {
            return *object;
        }
        let object = self.memory.add(super::value::Value::Moved);
        self.set_variable(variable, object);
        object
    }

    /// Says where a variable of the current call is.
    pub(super) fn set_variable(&mut self, variable: VariableId, object: ObjectId) {
        let index = variable.0 as usize;
        let frame = Rc::make_mut(&mut self.frames[self.frame.0 as usize]);
        if frame.variables.len() <= index {
            frame.variables.resize(index + 1, None);
        }
        frame.variables[index] = Some(object);
    }

    /// The object that keeps an expression's value while something refers to it.
    pub(super) fn temporary(&mut self, address: usize) -> ObjectId {
        let frame = self.frame.0 as usize;
        if let Some(object) = self.frames[frame].temporaries.get(&address) {
            return *object;
        }
        let object = self.memory.add(super::value::Value::Moved);
        Rc::make_mut(&mut self.frames[frame]).temporaries.insert(address, object);
        object
    }
}
