//! Whole numbers that messages between two ranks carry, where their sender knows them: which rank to
//! send to, with which tag, how much.
//!
//! Only who needs it asks: where a rank goes by a number that may have come with a message, all ranks
//! are run again, and tell what they send; the n-th message to a rank with a tag is the n-th that it
//! receives from there with that tag. Nothing is told any more of a rank that goes ways which data
//! decide, or whose messages cannot be counted, and nothing is taken where a wildcard may have taken
//! the message.

use std::collections::BTreeMap;

use p2p_protocol::model::{Envelope, Peer, Tag};

use super::exchange::placed;
use super::memory::{Memory, scalars};
use super::state;
use crate::evaluate::alike;
use crate::evaluate::machine::Machine;
use crate::evaluate::state::Counted;
use crate::evaluate::value::{Content, Path, Value};

/// The most numbers of a message.
const MOST_NUMBERS: usize = 64;

/// A message: from whom, to whom, on which communicator, with which tag, and the how-many-th it is.
type Message = (u32, u32, u16, i32, u64);

/// What messages carry, over all ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::evaluate) struct Carried {
    /// Some rank goes by what a message may have brought.
    is_asked_for: bool,
    /// Ranks tell what they send in this round.
    is_told: bool,
    /// What was told in the round before.
    known: BTreeMap<Message, Vec<i128>>,
    /// What is told in this round.
    telling: BTreeMap<Message, Vec<i128>>,
}

impl Carried {
    /// Whether some rank has asked for it.
    pub(in crate::evaluate) fn is_asked_for(&self) -> bool {
        self.is_asked_for
    }

    /// Ends a round. Whether the ranks may do something else now that they know what was told.
    pub(in crate::evaluate) fn end_round(&mut self) -> bool {
        if !self.is_asked_for {
            return false;
        }
        let is_news = !self.is_told || self.telling != self.known;
        self.is_told = true;
        self.known = std::mem::take(&mut self.telling);
        is_news
    }
}

/// What a rank has done so far, as far as messages are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counting {
    /// It has received from a rank that it names.
    has_received: bool,
    /// To whom it has sent, or with which tag, is not always known.
    sends_uncounted: bool,
    /// It may have received anyone's message, or one with any tag.
    receives_uncounted: bool,
}

impl Counting {
    /// Where two ways meet.
    pub(super) fn join(&mut self, other: Counting) {
        self.has_received |= other.has_received;
        self.sends_uncounted |= other.sends_uncounted;
        self.receives_uncounted |= other.receives_uncounted;
    }
}

/// The rank goes by a number that it does not know: a message may have brought it.
pub(in crate::evaluate) fn ask(machine: &mut Machine<'_>, content: &Content) {
    if let Content::Unknown(unknown) = content
        && !unknown.uniform
        && machine.is_c()
        && machine.state.mpi.counting.has_received
    {
        machine.shared.carried.is_asked_for = true;
    }
}

/// A message is sent; `None` for its memory: of what it carries nothing is known.
pub(super) fn sends(machine: &mut Machine<'_>, envelope: &Envelope, memory: Option<&Memory>) {
    if !machine.is_c() || !machine.shared.carried.is_told {
        return;
    }
    alike::alone();
    let Some((to, tag)) = end_of(envelope) else {
        machine.state.mpi.counting.sends_uncounted |= !goes_nowhere(envelope.peer);
        return;
    };
    let (here, communicator) = (machine.rank(), envelope.communicator);
    let number = machine.count(Counted::Sent(communicator, to, tag));
    let is_counted = !machine.state.mpi.counting.sends_uncounted && machine.graph.is_straight();
    let (Some(number), true) = (number, is_counted) else { return };
    let path = memory.filter(|memory| !memory.is_view).and_then(|memory| memory.path.as_ref());
    if let Some(numbers) = path.and_then(|path| numbers(&machine.peek(path))) {
        let message = (here, to, communicator, tag, number);
        machine.shared.carried.telling.insert(message, numbers);
    }
}

/// A receive is posted: what its message carries, if that is known.
pub(super) fn receives(machine: &mut Machine<'_>, envelope: &Envelope) -> Option<Vec<i128>> {
    if !machine.is_c() || goes_nowhere(envelope.peer) {
        return None;
    }
    let Some((from, tag)) = end_of(envelope) else {
        machine.state.mpi.counting.receives_uncounted = true;
        return None;
    };
    machine.state.mpi.counting.has_received = true;
    if !machine.shared.carried.is_told {
        return None;
    }
    alike::alone();
    let communicator = envelope.communicator;
    let number = machine.count(Counted::Received(communicator, from, tag))?;
    if machine.state.mpi.counting.receives_uncounted {
        return None;
    }
    let message = (from, machine.rank(), communicator, tag, number);
    machine.shared.carried.known.get(&message).cloned()
}

/// A receive, or a send, is prepared that is started who knows when, or may be undone.
pub(super) fn loses_count(machine: &mut Machine<'_>) {
    machine.state.mpi.counting.sends_uncounted = true;
    machine.state.mpi.counting.receives_uncounted = true;
}

/// Puts what a message carries where it arrives.
pub(super) fn arrive(machine: &mut Machine<'_>, memory: &Memory, numbers: Option<Vec<i128>>) {
    let (Some(numbers), Some(path)) = (numbers, memory.path.clone()) else { return };
    let old = machine.peek(&path);
    if let Some(value) = placed(machine, &old, &numbers) {
        machine.put(&path, value);
    }
}

/// The same where it only arrives with the wait.
pub(super) fn arriving(
    machine: &mut Machine<'_>,
    (path, value): &(Path, Value),
    numbers: &[i128],
) -> Option<(Path, Value)> {
    let value = placed(machine, value, numbers)?;
    Some((path.clone(), value))
}

/// The rank at the other end and the tag, where both are known.
fn end_of(envelope: &Envelope) -> Option<(u32, i32)> {
    match (envelope.peer, envelope.tag) {
        (Peer::Rank(rank), Tag::Exact(_)) => {
            Some((u32::try_from(rank).ok()?, envelope.tag.number()?))
        }
        _ => None,
    }
}

fn goes_nowhere(peer: Peer) -> bool {
    matches!(peer, Peer::Null | Peer::Outside(_))
}

/// The whole numbers in a buffer, if it has no others.
fn numbers(content: &Value) -> Option<Vec<i128>> {
    let scalars = scalars(content).filter(|scalars| scalars.len() <= MOST_NUMBERS)?;
    let number = |content: &Content| state::integer(content);
    scalars
        .iter()
        .map(|(scalar, content)| number(content).filter(|_| scalar.is_integer()))
        .collect()
}
