//! The report on a world in which nobody can move, in the checker's words, from what is known of
//! each rank. How that became known is the transport's own.
//!
//! What is seen here is one state, not all that the program could do, so the rule that is named
//! is the one that the checker gives for such a state; who waits for whom is exact.

use std::sync::Arc;

use p2p_protocol::finding::{Wait, circle, ranks, sizes, wait_lines};
use p2p_protocol::model::{Place, Rank};

use super::message::Origin;
use super::waiting::{Collective, Direction, Entered, Half, Waiting, What};
use crate::error::{Hang, Report};
use crate::operation::Operation;

/// What is known of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) doing: Doing,
    /// The collective operations that it has come to.
    pub(crate) entered: Entered,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Runs,
    Waits(Stuck),
    /// It has ended without an error.
    Ended,
}

/// In what a rank waits, as far as the report speaks of it: text, so that it can travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) verb: String,
    /// "send Block to rank 1".
    pub(crate) text: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    /// The other ends of its messages, ascending. For whom it waits in a collective operation is
    /// known only together with what the others have come to.
    pub(crate) peers: Vec<usize>,
    /// Whether it only sends.
    pub(crate) sends: bool,
    /// Whether it would go on if messages were buffered.
    pub(crate) needs_only_buffering: bool,
    pub(crate) call: Option<Collective>,
}

impl Stuck {
    pub(crate) fn new(waiting: &Waiting) -> Self {
        let Waiting { operation, what } = waiting;
        let (text, mut peers, call) = match what {
            What::Message(half) => (message(half), half.peers().collect(), None),
            What::SendReceive { send, receive } => {
                (both(send, receive), send.peers().chain(receive.peers()).collect(), None)
            }
            What::Requests(halves) => {
                let peers: Vec<usize> = halves.iter().flat_map(Half::peers).collect();
                (requests(operation, halves), peers, None)
            }
            What::Collective(call) => (collective(operation, *call), Vec::new(), Some(*call)),
        };
        peers.sort_unstable();
        peers.dedup();
        Stuck {
            verb: operation.verb.to_owned(),
            text,
            file: operation.file.to_owned(),
            line: operation.line,
            peers,
            sends: what.sends(),
            needs_only_buffering: what.needs_only_buffering(),
            call,
        }
    }
}

/// A rank that waits.
#[derive(Clone, Copy)]
struct Waiter<'a> {
    rank: usize,
    stuck: &'a Stuck,
}

/// What a state is called and how to mend it.
struct Verdict {
    rule: &'static str,
    message: String,
    help: &'static str,
}

const ORDER: &str = "let one side receive while the other sends: even ranks send first, odd ranks \
                     receive first; or do both at once: `sendrecv`, or post `irecv` before the send";

/// Who waits for whom, of all ranks of a world; `None` if nobody waits.
pub(crate) fn report(world: &[Known]) -> Option<Report> {
    let waiters: Vec<Waiter<'_>> = world
        .iter()
        .enumerate()
        .filter_map(|(rank, known)| match &known.doing {
            Doing::Waits(stuck) => Some(Waiter { rank, stuck }),
            Doing::Runs | Doing::Ended => None,
        })
        .collect();
    if waiters.is_empty() {
        return None;
    }
    let waits: Vec<Wait> =
        waiters.iter().enumerate().map(|(index, waiter)| wait(world, waiter, index)).collect();
    let lines = wait_lines(&waits, |Place(index)| {
        let Stuck { file, line, .. } = waiters[index as usize].stuck;
        format!("{file}:{line}")
    });
    let Verdict { rule, message, help } = mismatch(&waiters)
        .or_else(|| in_a_circle(&waiters, &waits))
        .or_else(|| left_waiting(world, &waiters, &waits))
        .unwrap_or_else(|| Verdict {
            rule: "deadlock",
            message: "no rank can move".to_owned(),
            help: ORDER,
        });
    let message = format!("{message} (with {})", sizes(&[world.len() as u32]));
    Some(Report(Arc::new(Hang { rule, message, waits, lines, help })))
}

/// `index` stands for the place.
fn wait(world: &[Known], waiter: &Waiter<'_>, index: usize) -> Wait {
    let Stuck { text, peers, call, .. } = waiter.stuck;
    let waits_for = match call {
        Some(call) => (0..world.len()).filter(|&rank| !world[rank].entered.has(*call)).collect(),
        None => peers.clone(),
    };
    Wait {
        rank: waiter.rank as Rank,
        operation: text.clone(),
        place: Place(index as u32),
        waits_for: waits_for.into_iter().map(|peer| peer as Rank).collect(),
    }
}

/// Ranks that wait for each other.
fn in_a_circle(waiters: &[Waiter<'_>], waits: &[Wait]) -> Option<Verdict> {
    let circle = circle(waits);
    let buffering_helps = circle.iter().any(|&index| waiters[index].stuck.needs_only_buffering);
    match (&circle[..], buffering_helps) {
        ([], _) => None,
        (&[one], _) if waiters[one].stuck.sends => Some(Verdict {
            rule: "send-to-self",
            message: format!(
                "rank {} sends to itself and waits for its own receive, which comes later",
                waiters[one].rank
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
fn mismatch(waiters: &[Waiter<'_>]) -> Option<Verdict> {
    let calls: Vec<(Waiter<'_>, Collective)> =
        waiters.iter().filter_map(|waiter| Some((*waiter, waiter.stuck.call?))).collect();
    let meets = |one: &Collective, two: &Collective| {
        (one.session, one.communicator, one.number) == (two.session, two.communicator, two.number)
    };
    for (index, (one, call)) in calls.iter().enumerate() {
        for (other, other_call) in &calls[index + 1..] {
            if !meets(call, other_call) {
                continue;
            }
            if one.stuck.verb != other.stuck.verb {
                return Some(Verdict {
                    rule: "collective-order",
                    message: format!(
                        "rank {} calls `{}` where rank {} calls `{}`",
                        one.rank, one.stuck.text, other.rank, other.stuck.text
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
                        "in `{}`, rank {} takes rank {root} for the root, and rank {} takes rank \
                         {other_root}",
                        one.stuck.verb, one.rank, other.rank
                    ),
                    help: "give every rank the same root",
                });
            }
        }
    }
    None
}

/// Ranks that wait for one that has ended.
fn left_waiting(world: &[Known], waiters: &[Waiter<'_>], waits: &[Wait]) -> Option<Verdict> {
    let has_ended = |rank: &Rank| world[*rank as usize].doing == Doing::Ended;
    let (waiter, wait) =
        waiters.iter().zip(waits).find(|(_, wait)| wait.waits_for.iter().any(has_ended))?;
    let mut ended = wait.waits_for.clone();
    ended.retain(has_ended);
    let (ended, plural) = (ranks(&ended), ended.len() > 1);
    let (rank, operation) = (wait.rank, &wait.operation);
    Some(match waiter.stuck {
        Stuck { call: Some(_), .. } => Verdict {
            rule: "collective-missing-rank",
            message: format!(
                "rank {rank} calls `{operation}`, and {ended} never {}",
                if plural { "do" } else { "does" }
            ),
            help: "let every role call it, or none; a collective under an `if` on `rank` is nearly always wrong",
        },
        Stuck { sends: true, .. } => Verdict {
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

/// "sendrecv Halo to rank 1, Halo from rank 2".
fn both(send: &Half, receive: &Half) -> String {
    format!(
        "sendrecv {} to {}, {} from {}",
        send.operation.message,
        peer(&send.direction),
        receive.operation.message,
        peer(&receive.direction)
    )
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
