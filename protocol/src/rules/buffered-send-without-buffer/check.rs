//! A buffered send with nowhere to put the message.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "buffered-send-without-buffer",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let sends = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::NoBuffer { send } => Some((send, seen)),
        _ => None,
    });
    let places = by_place(case, sends, |(send, _)| *send);
    places.iter().map(|(_, sends)| report(case.world, sends)).collect()
}

fn report(world: &World, sends: &[(At, &Seen)]) -> Finding {
    let (send, seen) = sends[0];
    let bytes = describe::bytes_sent(world, send).flatten();
    let too_small =
        bytes.zip(describe::largest_buffer(world, send.0)).filter(|(it, room)| it > room);
    let has = match too_small {
        None => "has given MPI no buffer for it".to_owned(),
        Some((bytes, room)) => {
            format!("has given MPI a buffer of {room} bytes for it, and the message has {bytes}")
        }
    };
    let message = format!(
        "{} calls `{}`, and {has}",
        player(world, send.0),
        describe::operation(world, send)
    );
    RULE.finding(world, send, message, "nowhere to keep the message")
        .ranks(sends.iter().map(|(send, _)| send.0).collect())
        .trace(&seen.trace)
        .note("a buffered send copies its message into memory that the program provides; without room for it MPI ends the job with MPI_ERR_BUFFER (MPI 4.0, 3.6)")
        .help(world.dialect.words(
            "use `isend`, which needs no such buffer",
            "call `universe.set_buffer_size(bytes)` first, with room for the message and what MPI writes beside it (MPI_BSEND_OVERHEAD), or use `immediate_send`, which needs no such buffer",
            "call `MPI_Buffer_attach` first, with room for the message and MPI_BSEND_OVERHEAD bytes, or use `MPI_Isend`, which needs no such buffer",
        ))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi};
    use crate::engine::samples::{envelope, receive};
    use crate::model::{Action, Mode, Peer};

    #[test]
    fn a_buffered_send_wants_a_buffer() {
        let send = Action::Send { mode: Mode::Buffered, envelope: envelope(Peer::Rank(1), 0) };
        let attach = Action::AttachBuffer { bytes: Some(1024) };
        let wrong = rsmpi(vec![vec![send.clone()], vec![receive(0, 0)]]);
        let right = rsmpi(vec![vec![attach, send], vec![receive(0, 0)]]);
        assert_eq!(found(&wrong, "buffered-send-without-buffer").len(), 1);
        assert!(found(&right, "buffered-send-without-buffer").is_empty());
        let attach = Action::AttachBuffer { bytes: Some(0) };
        let send = Action::Send { mode: Mode::Buffered, envelope: envelope(Peer::Rank(1), 0) };
        let small = rsmpi(vec![vec![attach, send], vec![receive(0, 0)]]);
        assert_eq!(
            found(&small, "buffered-send-without-buffer")[0].message,
            "rank 0 calls `buffered_send of 1 u8 to rank 1 (tag 0)`, and has given MPI a buffer of 0 bytes for it, and the message has 1 (with 2 ranks)"
        );
    }
}
