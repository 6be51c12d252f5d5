//! Small worlds for the tests of the engine's parts.

use std::sync::Arc;

use crate::model::{
    Action, Behaviour, Communicator, Data, Datatype, Envelope, Event, Mode, Peer, Place, Tag, World,
};

pub(crate) fn world(ranks: Vec<Vec<Action>>) -> World {
    let mut line = 0;
    let mut behaviour = |actions: Vec<Action>| {
        let events = actions.into_iter().map(|action| {
            line += 1;
            Event { action, place: Place(line) }
        });
        Behaviour {
            events: events.collect(),
            requests: 4,
            sources: 2,
            role: None,
            chains: Vec::new(),
        }
    };
    World {
        behaviours: ranks.into_iter().map(&mut behaviour).collect(),
        communicators: Arc::new([Communicator::of_all("world")]),
        datatypes: Arc::new([Datatype { signature: "u8".to_owned(), bytes: Some(1) }]),
        messages: Arc::new(["Block".to_owned()]),
        ..World::default()
    }
}

pub(crate) fn envelope(peer: Peer, tag: i32) -> Envelope {
    let data =
        Data { datatype: Some(0), count: Some(1), message: Some(0), label: None, buffer: None };
    Envelope { peer, tag: Tag::Exact(tag), communicator: 0, data }
}

pub(crate) fn send(peer: i32, tag: i32) -> Action {
    Action::Send { mode: Mode::Standard, envelope: envelope(Peer::Rank(peer), tag) }
}

pub(crate) fn receive(peer: i32, tag: i32) -> Action {
    Action::Receive { envelope: envelope(Peer::Rank(peer), tag), binds: None }
}

pub(crate) fn receive_any(first: u32, end: u32) -> Action {
    Action::Receive { envelope: envelope(Peer::Any { first, end }, 0), binds: None }
}
