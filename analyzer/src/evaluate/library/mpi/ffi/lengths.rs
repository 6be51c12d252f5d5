//! Messages that tell how long others are, where both come from whoever is first.

use p2p_protocol::model::{Action, Peer};

use super::super::state;
use super::buffer::Region;
use super::invocation::Invocation;
use crate::evaluate::handle::Status;
use crate::evaluate::machine::{Machine, Outcome};
use crate::evaluate::value::Content;

/// A message whose length another one has told, both from whoever was first: they are meant to be of one
/// rank.
pub(super) fn measured(
    machine: &mut Machine<'_>,
    asked: &Invocation<'_, '_>,
    from: Peer,
    status: &Status,
) -> Outcome<()> {
    if !machine.is_c() || !matches!(from, Peer::Any { .. }) {
        return Ok(());
    }
    let count = asked.argument(1).and_then(state::content);
    let Some((Content::Unknown(count), taken)) = count.zip(status.slot) else { return Ok(()) };
    match machine.state.mpi.brought_by(count) {
        Some(told) => machine.emit(Action::Measured { told, taken }, asked.place()),
        None => Ok(()),
    }
}

/// Keeps which message has brought a number, where that may be anyone's.
pub(super) fn note_brought(
    machine: &mut Machine<'_>,
    region: &Region,
    from: Peer,
    status: &Status,
) {
    if !machine.is_c() || !matches!(from, Peer::Any { .. }) {
        return;
    }
    let Some(slot) = status.slot else { return };
    let Some(path) = region.memory.path.clone() else { return };
    if let Some(Content::Unknown(number)) = state::content(&machine.peek(&path)) {
        machine.state.mpi.remember_brought(number, slot);
    }
}
