//! The report on a world in which nobody can move, in the checker's words.

use std::sync::Arc;

use p2p_protocol::finding::{Wait, ranks, wait_lines};
use p2p_protocol::model::{Place, Rank};

use super::park::{Waiting, What};
use super::shared::Shared;
use crate::error::{Hang, Report};

/// Who waits for whom; `None` if nobody waits.
pub(crate) fn report(shared: &Shared) -> Option<Report> {
    let waiting: Vec<(usize, Waiting)> = (0..shared.size)
        .filter_map(|rank| Some((rank, shared.sleepers[rank].waiting()?)))
        .collect();
    if waiting.is_empty() {
        return None;
    }
    let waits: Vec<Wait> = waiting
        .iter()
        .enumerate()
        .map(|(index, (rank, waiting))| wait(*rank, waiting, index))
        .collect();
    let lines = wait_lines(&waits, |Place(index)| {
        let operation = waiting[index as usize].1.operation;
        format!("{}:{}", operation.file, operation.line)
    });
    let all: Vec<Rank> = waits.iter().map(|wait| wait.rank).collect();
    let ended: Vec<Rank> = (0..shared.size as Rank)
        .filter(|&rank| shared.has_ended(rank as usize))
        .filter(|rank| waits.iter().any(|wait| wait.waits_for.contains(rank)))
        .collect();
    let (rule, message, help) = if !ended.is_empty() {
        let end = if ended.len() == 1 { "has ended" } else { "have ended" };
        (
            "rank-left-waiting",
            format!("{} for ever, because {} {end}", wait_verb(&all), ranks(&ended)),
            "let the ranks that ended take part in these steps, or leave the steps out",
        )
    } else if waiting.iter().any(|(_, waiting)| waiting.what.would_go_on_if_buffered()) {
        (
            "deadlock-unbuffered",
            format!("{} for each other; a standard send may wait for its receive", wait_verb(&all)),
            "let one side receive before it sends, or use sendrecv, or start the send with isend",
        )
    } else {
        (
            "deadlock",
            format!("{} and none can move", wait_verb(&all)),
            "let one side do its other step first, or use non-blocking operations",
        )
    };
    Some(Report(Arc::new(Hang { rule, message, waits, lines, help })))
}

fn wait_verb(all: &[Rank]) -> String {
    format!("{} {}", ranks(all), if all.len() == 1 { "waits" } else { "wait" })
}

fn wait(rank: usize, waiting: &Waiting, index: usize) -> Wait {
    let operation = waiting.operation;
    let (text, peers): (String, Vec<usize>) = match &waiting.what {
        What::Send { peer, .. } => {
            (format!("{} {} to rank {peer}", operation.verb, operation.message), vec![*peer])
        }
        What::Receive(peer) => {
            (format!("{} {} from rank {peer}", operation.verb, operation.message), vec![*peer])
        }
        What::ReceiveAny(range) => (
            format!("{} {} from any rank", operation.verb, operation.message),
            range.clone().collect(),
        ),
        What::Requests { peers, .. } | What::Collective(peers) => {
            (operation.text.to_owned(), peers.clone())
        }
    };
    let waits_for = peers.into_iter().map(|peer| peer as Rank).collect();
    Wait { rank: rank as Rank, operation: text, place: Place(index as u32), waits_for }
}
