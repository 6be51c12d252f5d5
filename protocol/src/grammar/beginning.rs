//! What can be said of a world of which only the beginning was run.
//!
//! Every state of such a beginning is one of the whole world, so what goes wrong in it goes wrong
//! there. What only seems wrong, since the rest of some ranks is not there, has to be left out:
//! whoever waits for a rank that was cut may be served by what comes later.

use crate::finding::{Finding, Wait};
use crate::model::Rank;

/// What a rule's findings in a beginning rest on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// A single step, or several that can come in any order.
    Steps,
    /// Steps in the order in which they match, which is the whole world's as long as nothing was
    /// left out to see what lies behind a fault.
    Order,
    /// All that some ranks do.
    Ranks,
    /// Ranks that wait for each other.
    Circle,
    /// Ranks that wait for what another never does.
    Absence,
    /// All worlds together.
    Worlds,
}

fn ground(rule: &str) -> Ground {
    match rule {
        "peer-out-of-range" | "message-race" => Ground::Steps,
        "type-mismatch"
        | "truncation"
        | "collective-order"
        | "collective-root"
        | "ready-send-unposted" => Ground::Order,
        "missing-wait" => Ground::Ranks,
        "deadlock" | "deadlock-unbuffered" | "deadlock-by-race" | "send-to-self" => Ground::Circle,
        "protocol-unused-role" => Ground::Worlds,
        _ => Ground::Absence,
    }
}

/// Those of a world's findings that hold although the ranks in `cut` do more than it says.
pub(super) fn certain(findings: Vec<Finding>, cut: &[Rank]) -> Vec<Finding> {
    let absence = findings.iter().any(|finding| ground(finding.rule) == Ground::Absence);
    let holds = |finding: &Finding| match ground(finding.rule) {
        Ground::Steps => true,
        Ground::Order => !absence,
        Ground::Ranks => finding.ranks.iter().all(|rank| !cut.contains(rank)),
        Ground::Circle => {
            let stuck = stuck(&finding.waits, cut);
            !absence && finding.ranks.iter().all(|rank| stuck.contains(rank))
        }
        Ground::Absence => {
            let stuck = stuck(&finding.waits, cut);
            let here = |wait: &&Wait| wait.place == finding.primary.place;
            let mut waits = finding.waits.iter().filter(here);
            waits.any(|wait| finding.ranks.contains(&wait.rank) && stuck.contains(&wait.rank))
        }
        Ground::Worlds => false,
    };
    findings.into_iter().filter(holds).collect()
}

/// The waiting ranks that nobody can free: all for whom one of them waits are stuck too, or have
/// ended and were not cut.
fn stuck(waits: &[Wait], cut: &[Rank]) -> Vec<Rank> {
    let mut stuck: Vec<Rank> = waits.iter().map(|wait| wait.rank).collect();
    loop {
        let waits_on = |rank: &Rank| {
            let is_waiting = waits.iter().any(|wait| wait.rank == *rank);
            stuck.contains(rank) || !is_waiting && !cut.contains(rank)
        };
        let left: Vec<Rank> = waits
            .iter()
            .filter(|wait| stuck.contains(&wait.rank) && wait.waits_for.iter().all(waits_on))
            .map(|wait| wait.rank)
            .collect();
        if left.len() == stuck.len() {
            return stuck;
        }
        stuck = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;

    fn wait(rank: Rank, waits_for: &[Rank]) -> Wait {
        let (operation, waits_for) = (String::new(), waits_for.to_vec());
        Wait { rank, operation, place: Place(0), waits_for }
    }

    #[test]
    fn who_waits_for_a_rank_that_was_cut_is_not_stuck() {
        let waits = [wait(0, &[1]), wait(1, &[0]), wait(2, &[3]), wait(4, &[2]), wait(5, &[6])];
        assert_eq!(stuck(&waits, &[3]), [0, 1, 5]);
        assert_eq!(stuck(&waits, &[0, 3, 6]), [0, 1]);
    }
}
