//! A request that is overwritten while its operation is active.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "request-overwritten",
    group: Group::Request,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The step that overwrites a request, the start of what was active under it, and who has seen it.
type Overwritten<'c> = (At, At, &'c Seen);

fn check(case: &Case<'_>) -> Vec<Finding> {
    let lost = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::Overwritten { start, by } => Some((by, start, seen)),
        _ => None,
    });
    let places = by_place(case, lost, |(by, ..)| *by);
    places.iter().map(|(_, lost)| report(case, lost)).collect()
}

fn report(case: &Case<'_>, lost: &[Overwritten<'_>]) -> Finding {
    let (world, (by, start, seen)) = (case.world, lost[0]);
    let message = format!(
        "{} overwrites the request of `{}`, which nobody has waited for",
        player(world, by.0),
        describe::operation(world, start)
    );
    RULE.finding(world, by, message, "its request is overwritten here")
        .ranks(lost.iter().map(|((rank, _), ..)| *rank).collect())
        .other_end(world, start, "started here")
        .trace(&seen.trace)
        .note("nobody can wait for the first operation any more: its buffer must never be touched again, and the data may never arrive")
        .help("wait for the request first, or keep one for each operation (`MPI_Request requests[2]`) and call `MPI_Waitall`")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, started, wait};
    use crate::engine::samples::{receive, send};
    use crate::model::Action;

    fn count(first: Vec<Action>) -> [usize; 2] {
        let other = vec![receive(0, 0), receive(0, 1)];
        let second = [Action::Overwrite { request: 0 }, started(send(1, 1), 1), wait(&[1])];
        let world = c(vec![first.into_iter().chain(second).collect(), other]);
        ["request-overwritten", "missing-wait"].map(|rule| found(&world, rule).len())
    }

    #[test]
    fn a_request_that_is_waited_for_may_be_used_again() {
        assert_eq!(count(vec![started(send(1, 0), 0)]), [1, 0]);
        assert_eq!(count(vec![started(send(1, 0), 0), wait(&[0])]), [0, 0]);
    }
}
