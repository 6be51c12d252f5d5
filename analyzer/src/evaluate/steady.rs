//! Long loops that do the same in every turn: a few turns stand for all.
//!
//! Every rank must leave out the same numbers of turns, which is seen to in [`super::world`].

use p2p_protocol::model::{Action, Event, WindowStep};
use rustc_hash::FxHashMap;

use super::alike;

/// Turns that are run one by one, at most.
pub(super) const LONGEST: u64 = 2_000;

/// Turns that are run one by one in C before a loop is cut short that has more. Its loops over time
/// are many and long; what they do every hundredth turn is still seen.
pub(super) const PATIENT: u64 = 128;

/// The same for a rank that has done [`MUCH`] already.
pub(super) const HASTY: u64 = 16;

/// Events that are much for one rank.
pub(super) const MUCH: usize = 4_096;

/// What the last turns of a loop have done.
#[derive(Debug, Default)]
pub(super) struct Turns {
    last: Option<Vec<Event>>,
    alike: u32,
}

impl Turns {
    /// Takes note of a turn's events; `None` if they do not stand in one row.
    pub(super) fn note(&mut self, events: Option<&[Event]>) {
        let events = events.map(comparable);
        if events.is_none() || self.last.is_none() {
            self.alike = 0;
        } else if events == self.last {
            self.alike += 1;
        } else {
            // Where other ranks name others, turns may differ otherwise.
            alike::alone();
            self.alike = 0;
        }
        self.last = events;
    }

    /// Whether the last turn's events do not stand in one row.
    pub(super) fn branches(&self) -> bool {
        self.last.is_none()
    }

    /// Whether the last three turns have done the same.
    pub(super) fn are_steady(&self) -> bool {
        self.alike >= 2
    }
}

/// Events with what may differ in each turn without meaning anything taken out: which request, slot or
/// handle is used, and which piece of memory.
pub(super) fn comparable(events: &[Event]) -> Vec<Event> {
    let mut slots = FxHashMap::default();
    let mut handles = FxHashMap::default();
    let mut events = events.to_vec();
    for event in &mut events {
        for envelope in event.action.envelopes_mut() {
            envelope.data.buffer = None;
        }
        match &mut event.action {
            Action::Receive { binds, .. }
            | Action::StartReceive { binds, .. }
            | Action::Probe { binds, .. } => {
                if let Some(slot) = binds {
                    let number = slots.len() as u16;
                    *slot = *slots.entry(*slot).or_insert(number);
                }
            }
            Action::Collective(collective) | Action::StartCollective { collective, .. } => {
                let parts = collective.data.iter_mut().chain(&mut collective.room);
                parts.for_each(|data| data.buffer = None);
            }
            Action::Create { handle, .. } | Action::Release { handle } => {
                let number = handles.len() as u32;
                *handle = *handles.entry(*handle).or_insert(number);
            }
            Action::OneSided(it) => plain_access(&mut it.step),
            _ => {}
        }
        super::graph::for_each_use(&mut event.action, &mut |slot| {
            if let Some(number) = slots.get(slot) {
                *slot = *number;
            }
        });
    }
    events
}

/// The same of an access of a window.
fn plain_access(step: &mut WindowStep) {
    match step {
        WindowStep::Access(access) => {
            (access.origin, access.result, access.range) = (None, None, None);
            access.request = access.request.map(|_| 0);
        }
        WindowStep::Local { range, .. } => *range = None,
        _ => {}
    }
}
