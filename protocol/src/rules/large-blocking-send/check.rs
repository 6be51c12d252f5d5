//! A large message that its sender stands still for.

use std::collections::BTreeMap;

use super::advice::is_to_somebody;
use super::draft::player;
use super::{Advised, Check, Rule};
use crate::engine::{At, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Dialect, Place, World};

pub(super) const RULE: Rule = Rule {
    name: "large-blocking-send",
    group: Group::Performance,
    level: Level::Allow,
    doc: include_str!("doc.md"),
    check: Check::Advice(check),
};

/// From so many bytes on it is worth while to go on meanwhile.
const LARGE: u64 = 1 << 20;

/// From so many bytes on the memory that messages pass through counts.
const HUGE: u64 = 100 << 20;

fn check(world: &World) -> Vec<Advised> {
    let mut largest: BTreeMap<Place, (u64, At)> = BTreeMap::new();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        for (position, event) in behaviour.events.iter().enumerate() {
            let Action::Send { envelope, .. } = &event.action else { continue };
            let at = (rank, position);
            let Some(Some(bytes)) = describe::bytes_sent(world, at) else { continue };
            if bytes > LARGE && is_to_somebody(envelope) {
                let known = largest.entry(event.place).or_insert((bytes, at));
                if bytes > known.0 {
                    *known = (bytes, at);
                }
            }
        }
    }
    let advised = |(place, (bytes, at))| Advised {
        place,
        finding: Some(say(world, at, bytes)),
        is_everywhere: false,
    };
    largest.into_iter().map(advised).collect()
}

fn say(world: &World, at: At, bytes: u64) -> Finding {
    let size = in_words(bytes);
    let message = format!(
        "{} stands still in `{}` until {size} are on their way",
        player(world, at.0),
        describe::operation(world, at)
    );
    let finding = RULE
        .finding(world, at, message, format!("{size} in one blocking call"))
        .note("a message of this length does not fit into any buffer of MPI: the call returns when the receiver has taken it")
        .help(pieces(world.dialect));
    if bytes > HUGE { finding.help(whole(world.dialect)) } else { finding }
}

/// What helps with a large message.
fn pieces(dialect: Dialect) -> &'static str {
    dialect.words(
        "start it with `isend`, in pieces of which a few are under way, and prepare the next one meanwhile",
        "start it with `immediate_send`, in pieces of which a few are under way, and prepare the next one meanwhile",
        "start it with `MPI_Isend`, in pieces of which a few are under way, and prepare the next one meanwhile",
    )
}

/// What helps with a huge one.
fn whole(dialect: Dialect) -> &'static str {
    dialect.words(
        "over 100 MiB, let the receiver fetch it, with `put` and `get` between two fences, or send it from the GPU that it lies on",
        "over 100 MiB, let the receiver fetch it from a window (`MPI_Get` of `mpi::ffi`), or hand a GPU-aware MPI the device's memory",
        "over 100 MiB, let the receiver fetch it from a window (`MPI_Get`), or hand a GPU-aware MPI the device's memory",
    )
}

/// "8 MiB", "1.5 MiB", "3 GiB".
fn in_words(bytes: u64) -> String {
    let (unit, name) = if bytes >= 1 << 30 { (1 << 30, "GiB") } else { (1 << 20, "MiB") };
    let tenths = bytes * 10 / unit;
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        rest => format!("{}.{rest} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found};
    use crate::engine::samples::{receive, send};
    use crate::model::{Action, Peer};

    fn help(count: u64, peer: Peer) -> Vec<String> {
        let [mut large, mut room] = [send(1, 0), receive(0, 0)];
        for envelope in large.envelopes_mut().chain(room.envelopes_mut()) {
            envelope.data.count = Some(count);
        }
        large.envelopes_mut().for_each(|envelope| envelope.peer = peer);
        let found = found(&c(vec![vec![large.clone(), large], vec![room.clone(), room]]), "large-blocking-send");
        found.into_iter().flat_map(|finding| [vec![finding.message], finding.help].concat()).collect()
    }

    #[test]
    fn a_message_is_large_over_a_mebibyte() {
        assert!(help(1 << 20, Peer::Rank(1)).is_empty());
        let large = help((1 << 20) * 3 / 2, Peer::Rank(1));
        assert_eq!(large.len(), 4, "each place once: {large:?}");
        assert_eq!(
            large[0],
            "rank 0 stands still in `MPI_Send of 1572864 MPI_CHAR to rank 1 (tag 0)` until 1.5 MiB are on their way (with 2 ranks)"
        );
        assert!(help(1 << 21, Peer::Null).is_empty(), "nothing travels");
    }

    #[test]
    fn of_a_huge_one_more_is_said() {
        assert!(help(101 << 20, Peer::Rank(1)).iter().any(|help| help.contains("window")));
        assert!(!help(100 << 20, Peer::Rank(1)).iter().any(|help| help.contains("window")));
    }

    #[test]
    fn what_has_no_known_length_is_not_large() {
        let mut unknown = send(1, 0);
        unknown.envelopes_mut().for_each(|envelope| envelope.data.count = None);
        assert!(found(&c(vec![vec![unknown], vec![Action::Opaque]]), "large-blocking-send").is_empty());
    }
}
