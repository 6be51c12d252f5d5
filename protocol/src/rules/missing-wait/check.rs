//! A request that nobody completes.

use super::draft::{by_place, player};
use super::flow::Flow;
use super::persistent::early_waits;
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, RequestId, World};

pub(super) const RULE: Rule = Rule {
    name: "missing-wait",
    group: Group::Request,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// Why it matters.
const TRAVELS: &str = "until a wait says so, the message may still travel: its buffer must not be touched, and the data may never arrive";

/// Why it matters on rsmpi.
const DROPPED: &str = "a request that is dropped before it is complete panics, the panic ends in MPI_Finalize, and the job hangs there; one that is forgotten may never be sent or received";

fn check(case: &Case<'_>) -> Vec<Finding> {
    let early: Vec<At> = early_waits(case.world).iter().map(|early| early.start).collect();
    let lost = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::LostRequest { start } => Some((start, seen)),
        _ => None,
    });
    // What is waited for too early is told there, and what belongs to a window with the window.
    let lost = lost.filter(|(start, _)| !early.contains(start) && has_request(case.world, *start));
    let places = by_place(case, lost, |(start, _)| *start);
    places.iter().map(|(_, lost)| report(case, lost)).collect()
}

/// Whether what a step starts has a request of the program's own.
fn has_request(world: &World, start: At) -> bool {
    match &describe::event(world, start).action {
        Action::OneSided(it) => it.access().is_some_and(|access| access.requested),
        _ => true,
    }
}

/// Where a persistent request is started again though nothing has completed it.
fn started_again(world: &World, start: At) -> Option<At> {
    let Action::Start { requests: started } = &describe::event(world, start).action else {
        return None;
    };
    let is_among = |requests: &[RequestId]| requests.iter().any(|it| started.contains(it));
    let flow = Flow::of(&world.behaviours[start.0 as usize]);
    let starts = move |action: &Action| matches!(action, Action::Start { requests } if is_among(requests));
    let open = flow.behind([start.1], |action| match action {
        Action::Wait { requests, .. } => is_among(requests),
        Action::Test { request, .. } => started.contains(request),
        _ => starts(action),
    });
    let mut again = flow.steps(starts).filter(|position| open.has(*position));
    again.next().map(|position| (start.0, position))
}

fn report(case: &Case<'_>, lost: &[(At, &Seen)]) -> Finding {
    let (world, (start, seen)) = (case.world, lost[0]);
    let mut ranks: Vec<u32> = lost.iter().map(|((rank, _), _)| *rank).collect();
    let count = ranks.iter().filter(|rank| **rank == start.0).count();
    ranks.dedup();
    // Which requests a wait for any leaves over differs from run to run.
    let some_runs = if seen.trace.is_empty() { "" } else { ", in the run shown," };
    let count = if seen.trace.is_empty() { count } else { 1 };
    let requests = if count == 1 { "a request".to_owned() } else { format!("{count} requests") };
    let (who, operation) = (player(world, start.0), describe::operation(world, start));
    if let Some(again) = started_again(world, start) {
        let message =
            format!("{who} starts a request with `{operation}`, and again before it waits for it");
        return RULE
            .finding(world, start, message, "started here, and still active at the next start")
            .other_end(world, again, "started again here")
            .ranks(ranks)
            .trace(&seen.trace)
            .note("a request that is active must not be started (MPI 4.0, 3.9)")
            .help("call `MPI_Wait` on it before it is started again");
    }
    let message = format!(
        "{who} starts {requests} with `{operation}` and{some_runs} never waits for {}",
        if count == 1 { "it" } else { "them" }
    );
    RULE.finding(world, start, message, "started here, never completed")
        .ranks(ranks)
        .trace(&seen.trace)
        .note(world.dialect.words(TRAVELS, DROPPED, TRAVELS))
        .help(world.dialect.words(
            "wait for every request before the role ends: `wait(..)`, or `wait_all(..)` for what is left over",
            "call `wait()` on it before its scope ends, or make a `WaitGuard` of it",
            "call `MPI_Wait` on it, or `MPI_Waitall` on all that are left over",
        ))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, planned, start, wait};

    #[test]
    fn a_start_of_an_active_request_is_told_as_one() {
        let message = |rest| found(&c(planned(rest)), "missing-wait")[0].message.clone();
        let twice = message(vec![start(0), start(0), wait(&[0])]);
        assert!(twice.contains("again before it waits for it"), "{twice}");
        let once = message(vec![start(0)]);
        assert!(once.contains("never waits for it"), "{once}");
    }
}
