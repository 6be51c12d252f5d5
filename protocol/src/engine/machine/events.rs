//! What an event is, apart from any run: the operation it starts, the steps it leads to.

use crate::model::{Action, Data, Dialect, Envelope, Event, Peer, World};

/// The size of what travels, where it is known.
pub(in crate::engine) fn bytes(world: &World, data: &Data) -> Option<u64> {
    let element = world.datatypes.get(usize::from(data.datatype?))?.bytes?;
    data.count?.checked_mul(element)
}

/// How many communicators have collectives.
pub(super) fn communicator_count(world: &World) -> usize {
    let named =
        world.behaviours.iter().flat_map(|behaviour| &behaviour.events).filter_map(|event| {
            let collective = event.action.collective()?;
            Some(usize::from(collective.communicator) + 1)
        });
    named.max().unwrap_or(0)
}

/// The receiving or sending envelope of the operation that an event starts.
pub(crate) fn envelope(event: &Event, sending: bool) -> Option<&Envelope> {
    match &event.action {
        Action::Send { envelope, .. }
        | Action::StartSend { envelope, .. }
        | Action::PlanSend { envelope, .. }
            if sending =>
        {
            Some(envelope)
        }
        Action::Receive { envelope, .. }
        | Action::StartReceive { envelope, .. }
        | Action::PlanReceive { envelope, .. }
        | Action::Probe { envelope, .. }
        | Action::Offer { envelope, .. }
            if !sending =>
        {
            Some(envelope)
        }
        Action::SendReceive { send, receive } => Some(if sending { send } else { receive }),
        _ => None,
    }
}

/// From whom a receive, a probe or an offer takes.
pub(in crate::engine) fn receiving_peer(action: &Action) -> Option<Peer> {
    match action {
        Action::Receive { envelope, .. }
        | Action::StartReceive { envelope, .. }
        | Action::PlanReceive { envelope, .. }
        | Action::Probe { envelope, .. }
        | Action::Offer { envelope, .. } => Some(envelope.peer),
        Action::SendReceive { receive, .. } => Some(receive.peer),
        _ => None,
    }
}

/// Whether a program attaches its own buffers. In the protocol language the runtime does.
pub(super) fn attaches(world: &World) -> bool {
    let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    world.dialect != Dialect::Protocol
        || events.any(|event| matches!(event.action, Action::AttachBuffer { .. }))
}
