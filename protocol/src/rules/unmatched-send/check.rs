//! A message that nobody receives.

use super::draft::{by_place, player};
use super::persistent::{Unstarted, unstarted, waits_for_a_start};
use super::send_to_self::is_lone_send_to_self;
use super::{Check, Rule};
use crate::engine::{Case, Cause, Unpaired, could_serve, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::Peer;

pub(super) const RULE: Rule = Rule {
    name: "unmatched-send",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let unstarted: Vec<Unstarted> = unstarted(case.world).collect();
    let alone = case.unpaired.iter().filter(|unpaired| {
        unpaired.operation.sending
            && matches!(unpaired.cause, Cause::Nobody { .. } | Cause::Ended)
            && !waits_for_a_start(case.world, &unstarted, &unpaired.operation)
            && !is_lone_send_to_self(case, unpaired)
    });
    let places = by_place(case, alone, |unpaired| unpaired.operation.at);
    places.iter().map(|(_, unpaired)| report(case, unpaired)).collect()
}

fn report(case: &Case<'_>, unpaired: &[&Unpaired]) -> Finding {
    let (world, first) = (case.world, unpaired[0]);
    let at = first.operation.at;
    let what = describe::sent(world, at);
    let to = match first.operation.peer {
        Peer::Rank(rank) => player(world, rank.unsigned_abs()),
        other => describe::peer(world, other),
    };
    let more = match first.operation.peer {
        Peer::Rank(rank) if could_serve(world, &first.operation, rank.unsigned_abs()) => Some(rank),
        _ => None,
    };
    let (takes, label) = match more {
        Some(rank) => {
            (format!(" more often than rank {rank} receives it"), "no receive is left for this")
        }
        None => (", which never receives it".to_owned(), "nobody receives this"),
    };
    let message = format!("{} sends {what} to {to}{takes}", player(world, at.0));
    let finding = RULE
        .finding(world, at, message, label)
        .ranks(unpaired.iter().map(|unpaired| unpaired.operation.at.0).collect())
        .between(at.0, first.operation.peer)
        .waits(world, &first.waits)
        .waited_for(world, &first.waits, at)
        .trace(&first.trace)
        .note("a send without a receive waits for ever as soon as the message is not buffered, and is lost where it is");
    let data = describe::message(world, at, true);
    let finding = match first.cause {
        Cause::Nobody { near: Some(near) } => {
            let label =
                format!("rank {} waits here, in `{}`", near.0, describe::operation(world, near));
            finding
                .other_end(world, near, label)
                .help("the two agree in all but the rank: correct it in one of them")
        }
        _ => match first.operation.peer {
            Peer::Rank(rank) => {
                finding.absent(world, rank.unsigned_abs(), "is this, and does not receive it")
            }
            _ => finding,
        },
    };
    finding.help(if first.operation.decision {
        format!(
            "write `match offer({}) {{ .. }}` where {to} should learn it, or do not tell it",
            at.0
        )
    } else if let Some(rank) = more {
        format!("let rank {} send it exactly as often as rank {rank} receives it", at.0)
    } else {
        let from = at.0;
        let receive = world.dialect.words(
            format!("recv({from}, {data})"),
            format!("process_at_rank({from}).receive_into(..)"),
            format!("MPI_Recv(.., {from}, ..)"),
        );
        format!("write `{receive}` where {to} should take it, or leave out the send")
    })
}
