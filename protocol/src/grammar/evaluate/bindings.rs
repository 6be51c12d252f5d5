//! What the names of one rank stand for, by their id.

use super::expression::{Fault, Numbers};
use super::{Complaint, Setting};
use crate::grammar::syntax::{Name, Role};
use crate::model::{Place, Rank, RequestId, SourceId};

/// A set of requests: the slots that a wait for it waits for.
#[derive(Clone, Default)]
pub(super) struct Set {
    pub(super) slots: Vec<RequestId>,
    /// Slots that were waited for, for the next that is pushed.
    pub(super) spare: Vec<RequestId>,
}

/// What one rank's names stand for.
pub(in crate::grammar) struct Bindings {
    pub(super) rank: i64,
    pub(super) size: i64,
    pub(super) grid: (i64, i64),
    /// The numbers.
    pub(super) values: Vec<i64>,
    requests: Vec<Option<RequestId>>,
    sources: Vec<Option<SourceId>>,
    sets: Vec<Option<Set>>,
    next_request: RequestId,
    next_source: SourceId,
}

/// Sets the value of an id.
pub(super) fn set<T: Clone + Default>(values: &mut Vec<T>, id: u32, value: T) {
    let index = id as usize;
    if index >= values.len() {
        values.resize(index + 1, T::default());
    }
    values[index] = value;
}

impl Bindings {
    pub(super) fn new(setting: &Setting<'_>, values: Vec<i64>) -> Bindings {
        let (rows, columns) = setting.grid.unwrap_or((0, 0));
        Bindings {
            rank: 0,
            size: i64::from(setting.size),
            grid: (i64::from(rows), i64::from(columns)),
            values,
            requests: Vec::new(),
            sources: Vec::new(),
            sets: Vec::new(),
            next_request: 0,
            next_source: 0,
        }
    }

    /// Becomes this rank's, for this role.
    pub(super) fn enter(&mut self, rank: Rank, role: &Role) {
        self.rank = i64::from(rank);
        let names = role.names as usize;
        self.values.resize(names, 0);
        self.requests.resize(names, None);
        self.sources.resize(names, None);
        self.sets.resize(names, None);
    }

    pub(super) fn numbers(&self) -> Numbers<'_> {
        Numbers { rank: self.rank, size: self.size, grid: self.grid, values: &self.values }
    }

    /// The fault, with who meets it where.
    pub(super) fn complaint(&self, fault: Fault, rank: Rank, place: Place) -> Complaint {
        let mut error = fault.error();
        error.message += &format!(", for rank {rank} of {}", self.size);
        Complaint { place, error }
    }

    /// The slot of a request that has a name.
    pub(super) fn request(&mut self, name: &Name) -> RequestId {
        let index = name.id as usize;
        if let Some(slot) = self.requests[index] {
            return slot;
        }
        let slot = self.new_request();
        self.requests[index] = Some(slot);
        slot
    }

    fn new_request(&mut self) -> RequestId {
        self.next_request += 1;
        self.next_request - 1
    }

    /// A slot for what is pushed into a set.
    pub(super) fn pushed(&mut self, name: &Name) -> RequestId {
        let spare = self.set(name).spare.pop();
        let slot = spare.unwrap_or_else(|| self.new_request());
        self.set(name).slots.push(slot);
        slot
    }

    /// The set, empty if it is new.
    pub(super) fn set(&mut self, name: &Name) -> &mut Set {
        self.sets[name.id as usize].get_or_insert_default()
    }

    /// The set, if the name is one's.
    pub(super) fn known_set(&self, id: u32) -> Option<&Set> {
        self.sets.get(id as usize)?.as_ref()
    }

    /// The slot that keeps a source.
    pub(super) fn bind_source(&mut self, name: &Name) -> SourceId {
        let index = name.id as usize;
        if let Some(slot) = self.sources[index] {
            return slot;
        }
        let slot = self.next_source;
        self.next_source = self.next_source.saturating_add(1);
        self.sources[index] = Some(slot);
        slot
    }

    /// The slot of a source that has been met.
    pub(super) fn source(&self, id: u32) -> Option<SourceId> {
        self.sources.get(id as usize).copied().flatten()
    }

    /// How many request and source slots there are.
    pub(super) fn slots(&self) -> (u32, SourceId) {
        (self.next_request, self.next_source)
    }
}
