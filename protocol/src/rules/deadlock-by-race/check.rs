//! A hang that depends on who comes first.

use super::{Check, Rule};
use crate::engine::{Case, Circle, Reading};
use crate::finding::{Finding, Group, Level, ranks};
use crate::model::{Action, Peer, Rank};

pub(super) const RULE: Rule = Rule {
    name: "deadlock-by-race",
    group: Group::Deadlock,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let circles =
        case.circles.iter().filter(|circle| circle.by_race && circle.reading == Reading::Any);
    circles.map(|circle| report(case, circle)).collect()
}

fn report(case: &Case<'_>, circle: &Circle) -> Finding {
    let members: Vec<Rank> = circle.members.iter().map(|member| member.rank).collect();
    let wait = if members.len() == 1 { "waits" } else { "wait" };
    let message = format!(
        "some orders of arrival end well, and in this one {} {wait} for ever",
        ranks(&members)
    );
    let finding = RULE.circle(case, circle, message);
    let finding = case.races.keys().fold(finding, |finding, &wildcard| {
        finding.other_end(case.world, wildcard, "takes whichever message comes first")
    });
    if has_wildcard(case) {
        return finding
            .note("a wildcard takes whichever message comes first, so this comes and goes from run to run")
            .help(case.world.dialect.words(
                "name the source that is meant, or give the two kinds of message different tags",
                "name the source that is meant (`process_at_rank(status.source_rank())` after the first message), or give the two kinds of message different tags and receive with them",
                "name the source that is meant (`status.MPI_SOURCE` after the first message), or give the two kinds of message different tags",
            ));
    }
    finding
        .note("which request is complete when a rank looks depends on the run, so this comes and goes")
        .help(case.world.dialect.words(
            "let every way on from `test` and `wait_any` do what the other ranks count on",
            "let every way on from `test` and `wait_any` do what the other ranks count on",
            "let every way on from `MPI_Test` and `MPI_Waitany` do what the other ranks count on",
        ))
}

fn has_wildcard(case: &Case<'_>) -> bool {
    let mut events = case.world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    events.any(|event| match &event.action {
        Action::Receive { envelope, .. }
        | Action::StartReceive { envelope, .. }
        | Action::Probe { envelope, .. } => matches!(envelope.peer, Peer::Any { .. }),
        Action::SendReceive { receive, .. } => matches!(receive.peer, Peer::Any { .. }),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{rsmpi, started, wait};
    use crate::engine::samples::{receive, receive_any, send};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, Place};

    #[test]
    fn what_follows_from_a_race_is_no_fault_of_its_own() {
        // Rank 1 sends to itself, and its wildcard may take what rank 0 sends for later.
        let of_many = |mut action: Action| {
            if let Action::Send { envelope, .. } | Action::Receive { envelope, .. } = &mut action {
                envelope.data.count = Some(8);
            }
            action
        };
        let first = vec![send(1, 0), of_many(send(1, 0))];
        let own = vec![started(send(1, 0), 0), receive_any(0, 2), wait(&[0])];
        let second = own.into_iter().chain([receive(0, 0), of_many(receive(0, 0))]).collect();
        let mut judge = Judge::new(Options::default());
        judge.judge(&rsmpi(vec![first, second]));
        let mut findings = judge.finish().findings;
        findings.retain(|finding| finding.rule != "message-race");
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["deadlock-by-race"]);
        let wildcard = findings[0].secondary.iter().find(|label| label.place == Place(4));
        assert_eq!(
            wildcard.map(|label| label.text.as_str()),
            Some("takes whichever message comes first")
        );
    }
}
