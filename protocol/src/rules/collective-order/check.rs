//! Ranks that meet in different collectives.

use super::draft::player;
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Collective, World};

pub(super) const RULE: Rule = Rule {
    name: "collective-order",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The two ends of a mismatch, the lower rank first, with the collectives that they call.
pub(super) fn mismatch<'w>(world: &'w World, seen: &Seen) -> Option<[(At, &'w Collective); 2]> {
    let Observation::CollectiveMismatch { first, other } = seen.observation else { return None };
    let called = |at: At| Some((at, describe::event(world, at).action.collective()?));
    let (one, two) = if first.0 < other.0 { (first, other) } else { (other, first) };
    Some([called(one)?, called(two)?])
}

fn check(case: &Case<'_>) -> Vec<Finding> {
    case.seen.iter().filter_map(|seen| report(case, seen)).take(1).collect()
}

fn report(case: &Case<'_>, seen: &Seen) -> Option<Finding> {
    let world = case.world;
    let [(at, one), (other, two)] = mismatch(world, seen)?;
    let is_started =
        |at| matches!(describe::event(world, at).action, Action::StartCollective { .. });
    let started = [at, other].map(is_started);
    let differ_in_waiting =
        one.kind == two.kind && one.root == two.root && started[0] != started[1];
    if one.kind == two.kind && !differ_in_waiting {
        return None;
    }
    let waits = started.map(|started| match (differ_in_waiting, started) {
        (true, true) => "the non-blocking ",
        (true, false) => "the blocking ",
        (false, _) => "",
    });
    let message = format!(
        "{} calls {}`{}` where {} calls {}`{}`",
        player(world, at.0),
        waits[0],
        describe::operation(world, at),
        player(world, other.0),
        waits[1],
        describe::operation(world, other)
    );
    let finding = RULE
        .finding(world, at, message, format!("rank {} is here", at.0))
        .other_end(world, other, format!("rank {} is here", other.0))
        .ranks(vec![at.0, other.0])
        .trace(&seen.trace)
        .note(if differ_in_waiting {
            "a blocking collective never meets a non-blocking one (MPI 4.0, 6.12)"
        } else {
            "all ranks of a communicator call its collectives in the same order (MPI 4.0, 6.14)"
        })
        .help(world.dialect.words(
            "call the same collectives in the same order in every role",
            if one.root.or(two.root).is_some() {
                "call the same collectives in the same order on every rank; the root calls the form that ends in `_root`"
            } else {
                "call the same collectives in the same order on every rank"
            },
            "call the same collectives in the same order on every rank",
        ));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{all, c, found, wait};
    use crate::model::{Action, Collective, CollectiveKind};

    #[test]
    fn a_blocking_collective_never_meets_a_non_blocking_one() {
        let collective = Collective::of(CollectiveKind::Barrier, 0);
        let started = || vec![Action::StartCollective { collective, request: 0 }, wait(&[0])];
        let blocking = || vec![Action::Collective(collective)];
        let messages = |ranks| -> Vec<String> {
            let found = found(&c(ranks), "collective-order");
            found.into_iter().map(|finding| finding.message).collect()
        };
        assert_eq!(
            messages(vec![started(), blocking()]),
            [
                "rank 0 calls the non-blocking `MPI_Ibarrier` where rank 1 calls the blocking `MPI_Barrier` (with 2 ranks)"
            ]
        );
        assert_eq!(messages(vec![started(), started()]), [""; 0]);
        let collective = Collective { root: Some(0), ..Collective::of(CollectiveKind::Bcast, 0) };
        let started = vec![Action::StartCollective { collective, request: 0 }, wait(&[0])];
        let found = all(&c(vec![started, vec![Action::Collective(collective)]]));
        let rules: Vec<_> = found.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["collective-order"], "the root is the same");
    }
}
