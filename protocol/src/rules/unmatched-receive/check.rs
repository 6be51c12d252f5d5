//! A receive that no message comes for.

use super::draft::{by_place, player};
use super::persistent::{Unstarted, unstarted, waits_for_a_start};
use super::{Check, Rule};
use crate::engine::{Case, Cause, Unpaired, could_serve, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Peer};

pub(super) const RULE: Rule = Rule {
    name: "unmatched-receive",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let unstarted: Vec<Unstarted> = unstarted(case.world).collect();
    let alone = case.unpaired.iter().filter(|unpaired| {
        !unpaired.operation.sending
            && matches!(unpaired.cause, Cause::Nobody { .. })
            && !waits_for_a_start(case.world, &unstarted, &unpaired.operation)
            // A decision that never comes is `rank-left-waiting`.
            && !matches!(describe::event(case.world, unpaired.operation.at).action, Action::Offer { .. })
    });
    let places = by_place(case, alone, |unpaired| unpaired.operation.at);
    places.iter().map(|(_, unpaired)| report(case, unpaired)).collect()
}

fn report(case: &Case<'_>, unpaired: &[&Unpaired]) -> Finding {
    let (world, first) = (case.world, unpaired[0]);
    let at = first.operation.at;
    let what = describe::received(world, at);
    let from = match first.operation.peer {
        Peer::Rank(rank) => player(world, rank.unsigned_abs()),
        other => describe::peer(world, other),
    };
    let more = match first.operation.peer {
        Peer::Rank(rank) if could_serve(world, &first.operation, rank.unsigned_abs()) => Some(rank),
        _ => None,
    };
    let (comes, label) = match (first.operation.peer, more) {
        (Peer::Any { .. }, _) => {
            (", and no more such messages come".to_owned(), "no message is left for this")
        }
        (_, Some(rank)) => {
            (format!(" more often than rank {rank} sends it"), "no message is left for this")
        }
        (_, None) => (", which never sends it".to_owned(), "nothing is sent to this"),
    };
    let message = format!("{} waits for {what} from {from}{comes}", player(world, at.0));
    let finding = RULE
        .finding(world, at, message, label)
        .ranks(unpaired.iter().map(|unpaired| unpaired.operation.at.0).collect())
        .between(at.0, first.operation.peer)
        .waits(world, &first.waits)
        .waited_for(world, &first.waits, at)
        .trace(&first.trace)
        .note("a receive without a send waits for ever");
    let data = describe::message(world, at, false);
    match first.cause {
        Cause::Nobody { near: Some(near) } => {
            let label =
                format!("rank {} sends here, in `{}`", near.0, describe::operation(world, near));
            finding
                .other_end(world, near, label)
                .help("the two agree in all but the rank: correct it in one of them")
        }
        _ => {
            let finding = match first.operation.peer {
                Peer::Rank(rank) => {
                    finding.absent(world, rank.unsigned_abs(), "is this, and does not send it")
                }
                _ => finding,
            };
            let to = at.0;
            if let Some(rank) = more {
                return finding.help(format!(
                    "let rank {to} receive it exactly as often as rank {rank} sends it"
                ));
            }
            let send = world.dialect.words(
                format!("send({to}, {data})"),
                format!("process_at_rank({to}).send(..)"),
                format!("MPI_Send(.., {to}, ..)"),
            );
            finding.help(format!(
                "write `{send}` where {from} should send it, or leave out the receive"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{all, c, started, wait};
    use crate::engine::samples::receive;
    use crate::model::Action;

    fn rules(rank: impl Fn(i32) -> Vec<Action>) -> Vec<&'static str> {
        let ranks = vec![rank(1), rank(0)];
        all(&c(ranks)).iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn what_is_waited_for_in_vain_is_missed_though_its_request_is_freed_behind() {
        let free = || Action::Free { request: 0 };
        let begun = |peer| started(receive(peer, 0), 0);
        let waited = rules(|peer| vec![begun(peer), wait(&[0]), free()]);
        assert!(!waited.is_empty() && waited.iter().all(|rule| *rule == "unmatched-receive"));
        // Nobody counts on it.
        assert!(rules(|peer| vec![begun(peer), free()]).is_empty());
    }
}
