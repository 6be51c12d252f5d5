//! What one rank has done to MPI so far, as far as later calls depend on it.

use std::hash::Hash;
use std::rc::Rc;

use p2p_protocol::model::{Buffer, Peer, RequestId, SourceId, WindowId};
use rustc_hash::FxHashMap;

use super::polling::Surroundings;
use crate::evaluate::alike::{self, Number};
use crate::evaluate::handle::{Communicator, Handle};
use crate::evaluate::value::{Constant, Content, Unknown, Value};
use crate::program::Scalar;

/// What one rank has done to MPI so far.
#[derive(Clone, Debug, Default)]
pub(in crate::evaluate) struct State {
    /// Whether MPI was initialized.
    pub(super) is_initialized: bool,
    /// Whether it was on every way that led here.
    pub(super) is_surely_initialized: bool,
    /// Whether the run began at the program's start and has called nothing unknown since, so that MPI had
    /// not begun before.
    pub(in crate::evaluate) in_main: bool,
    /// How its messages can be counted.
    pub(super) counting: super::carried::Counting,
    /// How many functions of MPI were called.
    pub(in crate::evaluate) called: u64,
    /// Whether MPI was finalized.
    pub(super) is_finalized: bool,
    /// Calls return though MPI has found an error.
    pub(super) returns_errors: bool,
    /// The objects that the program has made.
    pub(super) handles: super::ffi::Handles,
    /// The windows that have memory of this rank: which bytes of its memory that is.
    pub(super) windows: Rc<Vec<(WindowId, Buffer)>>,
    /// One-sided accesses whose memory here is not free yet.
    pub(super) accesses: Rc<Vec<super::ffi::Access>>,
    /// Of requests that a wait for any of them was given, by the first of them: how many are complete.
    pub(super) told: Rc<FxHashMap<RequestId, u32>>,
    /// The buffer that is attached for buffered sends: its length, where that is known.
    pub(super) attached: Option<Value>,
    /// The unknown ranks that are the sources of messages, by their identity.
    sources: Rc<FxHashMap<u64, (SourceId, Rc<Communicator>)>>,
    /// The unknown tags of messages, by their identity.
    tags: Rc<FxHashMap<u64, SourceId>>,
    /// The identities of both, by the slots that keep them.
    source_names: Rc<FxHashMap<SourceId, u64>>,
    tag_names: Rc<FxHashMap<SourceId, u64>>,
    /// The unknown numbers that messages have brought, by their identity: the message's slot.
    brought: Rc<FxHashMap<u64, SourceId>>,
    /// The slots that probes have bound, with where they looked: the message is still there.
    probed: Rc<FxHashMap<SourceId, Peer>>,
    /// Messages that a matched probe has found and that were not received yet.
    pub(super) outstanding_messages: u32,
    /// Numbers that this rank has sent to all others: what each of them is called there, by identity.
    shared: Rc<FxHashMap<u64, Unknown>>,
    /// What communicators were called by `set_name`.
    names: Rc<FxHashMap<u16, Rc<str>>>,
    /// What surrounds the calls of the program that ask; looked up when it is first needed.
    pub(super) surroundings: Option<Rc<Surroundings>>,
}

impl State {
    /// Something is called that nobody knows: it may begin MPI.
    pub(in crate::evaluate) fn note_unknown_call(&mut self) {
        self.in_main &= self.is_initialized;
    }

    /// Whether some of this rank's memory lies in a window.
    pub(in crate::evaluate) fn has_windows(&self) -> bool {
        !self.windows.is_empty()
    }

    /// Whether some number that this rank has sent to all others is called by a name of its own.
    pub(in crate::evaluate) fn shares_numbers(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Where two ways of evaluation meet: what both have done.
    pub(in crate::evaluate) fn join(&mut self, other: &State) {
        self.is_initialized |= other.is_initialized;
        self.is_surely_initialized &= other.is_surely_initialized;
        self.counting.join(other.counting);
        self.called = self.called.max(other.called);
        self.is_finalized &= other.is_finalized;
        self.returns_errors |= other.returns_errors;
        self.handles.join(&other.handles);
        if self.windows != other.windows {
            let missing = other.windows.iter().filter(|it| !self.windows.contains(it));
            let missing: Vec<_> = missing.copied().collect();
            Rc::make_mut(&mut self.windows).extend(missing);
        }
        if self.told != other.told {
            // Where they differ, so do the requests.
            extend(&mut self.told, &other.told);
        }
        self.outstanding_messages = self.outstanding_messages.max(other.outstanding_messages);
        extend(&mut self.sources, &other.sources);
        extend(&mut self.tags, &other.tags);
        extend(&mut self.source_names, &other.source_names);
        extend(&mut self.tag_names, &other.tag_names);
        extend(&mut self.brought, &other.brought);
        extend(&mut self.probed, &other.probed);
        extend(&mut self.names, &other.names);
        if !Rc::ptr_eq(&self.shared, &other.shared) {
            Rc::make_mut(&mut self.shared)
                .retain(|identity, shared| other.shared.get(identity) == Some(shared));
        }
        if self.attached.is_none() {
            self.attached.clone_from(&other.attached);
        }
    }

    /// The slot that keeps the tag, if an unknown number is the tag of a message.
    pub(in crate::evaluate) fn tag_slot(&self, identity: u64) -> Option<SourceId> {
        self.tags.get(&identity).copied()
    }

    /// The number that stands for the source kept in a slot, if there is one already.
    pub(super) fn source_of(&self, slot: SourceId) -> Option<u64> {
        self.source_names.get(&slot).copied()
    }

    /// The number that stands for the tag kept in a slot, if there is one already.
    pub(super) fn tag_of(&self, slot: SourceId) -> Option<u64> {
        self.tag_names.get(&slot).copied()
    }

    /// The slot whose rank a number is, if it counts the ranks of this communicator.
    pub(super) fn source_on(
        &self,
        rank: &Content,
        communicator: &Communicator,
    ) -> Option<SourceId> {
        let Content::Unknown(unknown) = rank else { return None };
        let (slot, on) = self.sources.get(&unknown.identity)?;
        let same = match (&on.known, &communicator.known) {
            (Some(one), Some(two)) => one.members == two.members,
            _ => false,
        };
        same.then_some(*slot)
    }

    /// What all ranks call an unknown value, where this rank has sent it to all of them.
    pub(in crate::evaluate) fn as_shared(&self, unknown: Unknown) -> Unknown {
        self.shared.get(&unknown.identity).copied().unwrap_or(unknown)
    }

    /// From now on all ranks have this rank's value, and call it like this.
    pub(super) fn share(&mut self, value: &Value, shared: &Value) {
        if let (Some(mine), Some(shared)) = (unknown(value), unknown(shared))
            && !mine.uniform
        {
            Rc::make_mut(&mut self.shared).insert(mine.identity, shared);
        }
    }

    /// From now on this unknown number is the source of a message.
    pub(super) fn remember_source(
        &mut self,
        unknown: Unknown,
        slot: SourceId,
        communicator: Rc<Communicator>,
    ) {
        Rc::make_mut(&mut self.sources).insert(unknown.identity, (slot, communicator));
        Rc::make_mut(&mut self.source_names).insert(slot, unknown.identity);
    }

    /// From now on this unknown number is the tag of a message.
    pub(super) fn remember_tag(&mut self, unknown: Unknown, slot: SourceId) {
        Rc::make_mut(&mut self.tags).insert(unknown.identity, slot);
        Rc::make_mut(&mut self.tag_names).insert(slot, unknown.identity);
    }

    /// From now on this unknown number is what a message has brought.
    pub(super) fn remember_brought(&mut self, unknown: Unknown, slot: SourceId) {
        Rc::make_mut(&mut self.brought).insert(unknown.identity, slot);
    }

    /// The slot of the message that has brought a number.
    pub(super) fn brought_by(&self, number: Unknown) -> Option<SourceId> {
        self.brought.get(&number.identity).copied()
    }

    /// A slot keeps what a probe finds there, or, without a peer, what a receive has taken.
    pub(super) fn bind(&mut self, slot: SourceId, probed: Option<Peer>) {
        match probed {
            Some(peer) => Rc::make_mut(&mut self.probed).insert(slot, peer),
            None => Rc::make_mut(&mut self.probed).remove(&slot),
        };
    }

    /// Whether a tag is that of a message which a probe has found at this end: it is the first one
    /// that comes from there, whatever its tag is. It is taken with that.
    pub(super) fn take_probed(&mut self, tag: &Content, from: Peer) -> bool {
        let Content::Unknown(unknown) = tag else { return false };
        let Some(slot) = self.tag_slot(unknown.identity) else { return false };
        // Which of its peers are the same ones is this rank's own.
        alike::alone();
        let is_there = match self.probed.get(&slot) {
            Some(&Peer::Rank(rank)) => from == Peer::Rank(rank),
            Some(_) => from == Peer::Source(slot),
            None => false,
        };
        if is_there {
            Rc::make_mut(&mut self.probed).remove(&slot);
        }
        is_there
    }

    /// What a communicator was named by `set_name`.
    pub(super) fn name(&self, communicator: u16) -> Option<Rc<str>> {
        self.names.get(&communicator).cloned()
    }

    /// Names a communicator.
    pub(super) fn set_name(&mut self, communicator: u16, name: Rc<str>) {
        Rc::make_mut(&mut self.names).insert(communicator, name);
    }
}

/// Takes in what another way knows, which counts where both know something.
fn extend<Key: Copy + Eq + Hash, Known: Clone>(
    mine: &mut Rc<FxHashMap<Key, Known>>,
    others: &Rc<FxHashMap<Key, Known>>,
) {
    if !Rc::ptr_eq(mine, others) {
        Rc::make_mut(mine).extend(others.iter().map(|(key, known)| (*key, known.clone())));
    }
}

/// The unknown that a value is.
fn unknown(value: &Value) -> Option<Unknown> {
    match value {
        Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) => Some(*unknown),
        _ => None,
    }
}

/// The number in a value.
pub(super) fn content(value: &Value) -> Option<Content> {
    match value {
        Value::Scalar(_, content) => Some(*content),
        Value::Unknown(unknown, _) => Some(Content::Unknown(*unknown)),
        _ => None,
    }
}

/// A value that may be a number which is known or not.
pub(super) fn scalar(content: Content, scalar: Scalar) -> Value {
    Value::Scalar(scalar, content)
}

/// The whole number, if it is one that is known, without going by it.
pub(super) fn number(content: &Content) -> Option<Number> {
    match content {
        Content::Known(Constant::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// The whole number, if it is one that is known.
pub(super) fn integer(content: &Content) -> Option<i128> {
    match content {
        Content::Known(Constant::Integer(number)) => Some(number.get()),
        _ => None,
    }
}

/// A rank as rsmpi has it.
pub(super) fn rank(number: impl Into<Number>) -> Value {
    Value::integer(number, Scalar::I32)
}

/// A handle as a value.
pub(super) fn communicator(communicator: Rc<Communicator>) -> Value {
    Value::Handle(Handle::Communicator(communicator))
}
