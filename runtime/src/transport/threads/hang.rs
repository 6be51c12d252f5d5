//! The report on a world in which nobody can move, in the checker's words.
//!
//! What is seen here is one state, not all that the program could do, so the rule that is named
//! is the one that the checker gives for such a state; who waits for whom is exact.

use std::sync::Arc;

use p2p_protocol::finding::{Wait, circle, ranks, wait_lines};
use p2p_protocol::model::{Place, Rank};

use super::receive::Origin;
use super::shared::Shared;
use super::waiting::{Collective, Direction, Half, Waiting, What};
use crate::error::{Hang, Report};
use crate::operation::Operation;

/// A rank that waits.
struct Stuck {
    rank: usize,
    waiting: Waiting,
}

/// What a state is called and how to mend it.
struct Verdict {
    rule: &'static str,
    message: String,
    help: &'static str,
}

const ORDER: &str = "let one side receive while the other sends: even ranks send first, odd ranks \
                     receive first; or do both at once: `sendrecv`, or post `irecv` before the send";

/// Who waits for whom; `None` if nobody waits.
pub(super) fn report(shared: &Shared) -> Option<Report> {
    let stuck: Vec<Stuck> = (0..shared.size)
        .filter_map(|rank| Some(Stuck { rank, waiting: shared.sleepers[rank].waiting()? }))
        .collect();
    if stuck.is_empty() {
        return None;
    }
    let waits: Vec<Wait> =
        stuck.iter().enumerate().map(|(index, stuck)| wait(shared, stuck, index)).collect();
    let lines = wait_lines(&waits, |Place(index)| {
        let operation = stuck[index as usize].waiting.operation;
        format!("{}:{}", operation.file, operation.line)
    });
    let Verdict { rule, message, help } = mismatch(&stuck)
        .or_else(|| in_a_circle(&stuck, &waits))
        .or_else(|| left_waiting(shared, &stuck, &waits))
        .unwrap_or_else(|| Verdict {
            rule: "deadlock",
            message: "no rank can move".to_owned(),
            help: ORDER,
        });
    let message =
        format!("{message} (with {})", p2p_protocol::finding::sizes(&[shared.size as u32]));
    Some(Report(Arc::new(Hang { rule, message, waits, lines, help })))
}

/// Ranks that wait for each other.
fn in_a_circle(stuck: &[Stuck], waits: &[Wait]) -> Option<Verdict> {
    let circle = circle(waits);
    let members = || circle.iter().map(|&index| &stuck[index].waiting.what);
    let buffering_helps = members().any(What::needs_only_buffering);
    match (&circle[..], buffering_helps) {
        ([], _) => None,
        (&[one], _) if stuck[one].waiting.what.sends() => Some(Verdict {
            rule: "send-to-self",
            message: format!(
                "rank {} sends to itself and waits for its own receive, which comes later",
                stuck[one].rank
            ),
            help: "leave out the rank itself (`if peer != rank`), or use `sendrecv`, or post `irecv` first",
        }),
        ([_], _) => Some(Verdict {
            rule: "deadlock",
            message: "a rank waits for itself".to_owned(),
            help: ORDER,
        }),
        (more, true) => Some(Verdict {
            rule: "deadlock-unbuffered",
            message: format!(
                "{} ranks wait for each other unless their messages are buffered",
                more.len()
            ),
            help: ORDER,
        }),
        (more, false) => Some(Verdict {
            rule: "deadlock",
            message: format!("{} ranks wait for each other, and none can move", more.len()),
            help: ORDER,
        }),
    }
}

/// Ranks that have come to the same collective operation and call it differently.
fn mismatch(stuck: &[Stuck]) -> Option<Verdict> {
    let calls: Vec<(usize, &Operation, Collective)> = stuck
        .iter()
        .filter_map(|stuck| match stuck.waiting.what {
            What::Collective(call) => Some((stuck.rank, stuck.waiting.operation, call)),
            _ => None,
        })
        .collect();
    let meets = |one: &Collective, two: &Collective| {
        (one.session, one.communicator, one.number) == (two.session, two.communicator, two.number)
    };
    for (index, (rank, operation, call)) in calls.iter().enumerate() {
        for (other_rank, other, other_call) in &calls[index + 1..] {
            if !meets(call, other_call) {
                continue;
            }
            if operation.verb != other.verb {
                return Some(Verdict {
                    rule: "collective-order",
                    message: format!(
                        "rank {rank} calls `{}` where rank {other_rank} calls `{}`",
                        collective(operation, *call),
                        collective(other, *other_call)
                    ),
                    help: "call the same collectives in the same order in every role",
                });
            }
            if let (Some(root), Some(other_root)) = (call.root, other_call.root)
                && root != other_root
            {
                return Some(Verdict {
                    rule: "collective-root",
                    message: format!(
                        "in `{}`, rank {rank} takes rank {root} for the root, and rank \
                         {other_rank} takes rank {other_root}",
                        operation.verb
                    ),
                    help: "give every rank the same root",
                });
            }
        }
    }
    None
}

/// Ranks that wait for one that has ended.
fn left_waiting(shared: &Shared, stuck: &[Stuck], waits: &[Wait]) -> Option<Verdict> {
    let (stuck, wait) = stuck
        .iter()
        .zip(waits)
        .find(|(_, wait)| wait.waits_for.iter().any(|&rank| shared.has_ended(rank as usize)))?;
    let mut ended = wait.waits_for.clone();
    ended.retain(|&rank| shared.has_ended(rank as usize));
    let (ended, plural) = (ranks(&ended), ended.len() > 1);
    let (rank, operation) = (wait.rank, &wait.operation);
    Some(match stuck.waiting.what {
        What::Collective(_) => Verdict {
            rule: "collective-missing-rank",
            message: format!(
                "rank {rank} calls `{operation}`, and {ended} never {}",
                if plural { "do" } else { "does" }
            ),
            help: "let every role call it, or none; a collective under an `if` on `rank` is nearly always wrong",
        },
        ref what if what.sends() => Verdict {
            rule: "unmatched-send",
            message: format!(
                "rank {rank} waits in `{operation}`, but {ended} {} without receiving it",
                if plural { "have ended" } else { "has ended" }
            ),
            help: "receive the message there, or leave out the send",
        },
        _ => Verdict {
            rule: "rank-left-waiting",
            message: format!(
                "rank {rank} waits in `{operation}`, but {ended} {} without it",
                if plural { "have ended" } else { "has ended" }
            ),
            help: "let the rank that decides to end tell everybody who counts on it: `choose(..)` there, `offer(..)` here",
        },
    })
}

fn wait(shared: &Shared, stuck: &Stuck, index: usize) -> Wait {
    let Waiting { operation, what } = &stuck.waiting;
    let (operation, mut peers): (String, Vec<usize>) = match what {
        What::Message(half) => (message(half), half.peers().collect()),
        What::SendReceive { send, receive } => {
            let text = format!(
                "sendrecv {} to {}, {} from {}",
                send.operation.message,
                peer(&send.direction),
                receive.operation.message,
                peer(&receive.direction)
            );
            (text, send.peers().chain(receive.peers()).collect())
        }
        What::Requests(halves) => {
            let peers = halves.iter().flat_map(Half::peers).collect();
            (requests(operation, halves), peers)
        }
        What::Collective(call) => {
            let missing = |&rank: &usize| !shared.sleepers[rank].entered().has(*call);
            (collective(operation, *call), (0..shared.size).filter(missing).collect())
        }
    };
    peers.sort_unstable();
    peers.dedup();
    Wait {
        rank: stuck.rank as Rank,
        operation,
        place: Place(index as u32),
        waits_for: peers.into_iter().map(|peer| peer as Rank).collect(),
    }
}

/// "send Block to rank 1", "recv Block from any of ranks 1 to 3", "offer of a decision by rank 0".
fn message(half: &Half) -> String {
    let Operation { verb, message, .. } = half.operation;
    let peer = peer(&half.direction);
    match half.direction {
        Direction::To(..) => format!("{verb} {message} to {peer}"),
        Direction::From(_) if *verb == "offer" => format!("offer of a decision by {peer}"),
        Direction::From(_) => format!("{verb} {message} from {peer}"),
    }
}

fn peer(direction: &Direction) -> String {
    match direction {
        Direction::To(peer, _) | Direction::From(Origin::Rank(peer)) => format!("rank {peer}"),
        Direction::From(Origin::Any(sources)) => {
            let sources: Vec<Rank> = sources.clone().map(|source| source as Rank).collect();
            format!("any of {}", ranks(&sources))
        }
    }
}

/// "wait (irecv Halo from rank 1)", "wait_all (isend A to rank 1, irecv B from rank 2, 3 more)".
fn requests(operation: &Operation, halves: &[Half]) -> String {
    const SHOWN: usize = 3;
    let mut open: Vec<String> = halves.iter().take(SHOWN).map(message).collect();
    if halves.len() > SHOWN {
        open.push(format!("{} more", halves.len() - SHOWN));
    }
    format!("{} ({})", operation.verb, open.join(", "))
}

/// "barrier", "bcast from root 0", "join(scatter)".
fn collective(operation: &Operation, call: Collective) -> String {
    match call.root {
        Some(root) => format!("{} from root {root}", operation.verb),
        None if operation.verb == "join" => operation.text.to_owned(),
        None => operation.verb.to_owned(),
    }
}
