//! A wait in front of what could be done meanwhile.

use rustc_hash::FxHashMap;

use super::advice::{self, Seen, by_place, is_to_somebody, needless_wait, waited_for};
use super::draft::player;
use super::{Advised, Check, Rule};
use crate::engine::{At, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Behaviour, Position, RequestId, World};

pub(super) const RULE: Rule = Rule {
    name: "early-wait",
    group: Group::Performance,
    level: Level::Allow,
    doc: include_str!("doc.md"),
    check: Check::Advice(check),
};

/// Sends of at most so many bytes are done at once: the smallest limit that is met in practice.
const BUFFERED: u64 = 4_040;

fn check(world: &World) -> Vec<Advised> {
    if !world.shows_work {
        return Vec::new();
    }
    let mut seen = Vec::new();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        for (wait, starts) in waits(behaviour) {
            let at = (rank, wait);
            let starts: Vec<At> = starts.iter().map(|start| (rank, *start)).collect();
            seen.push((at, judged(world, at, &starts)));
        }
    }
    by_place(world, seen, |at| say(world, at))
}

/// The waits, each with the starts of what it waits for, if nothing was computed since, and nothing
/// else is among it.
fn waits(behaviour: &Behaviour) -> Vec<(Position, Vec<Position>)> {
    let mut started: FxHashMap<RequestId, Position> = FxHashMap::default();
    let mut waits = Vec::new();
    for (position, event) in behaviour.events.iter().enumerate() {
        match &event.action {
            Action::Compute { .. } => started.clear(),
            Action::Wait { requests, .. } => {
                let all = waited_for(&event.action).is_some();
                let starts = requests.iter().filter_map(|it| started.remove(it));
                let starts: Vec<Position> = starts.collect();
                let known = all && starts.len() == requests.len();
                waits.push((position, if known { starts } else { Vec::new() }));
            }
            action => {
                let request = advice::started(action).map(|(_, request)| request);
                started.extend(request.map(|request| (request, position)));
            }
        }
    }
    waits
}

fn judged(world: &World, wait: At, starts: &[At]) -> Seen {
    if starts.is_empty() || needless_wait(&world.behaviours[wait.0 as usize], wait.1).is_none() {
        return Seen::Needed;
    }
    if starts.iter().any(|start| takes_time(world, *start)) { Seen::Better } else { Seen::Nothing }
}

/// Whether a wait for what is started there may have to wait at all.
fn takes_time(world: &World, start: At) -> bool {
    let action = &describe::event(world, start).action;
    let is_small = || describe::bytes_sent(world, start).flatten().is_some_and(|it| it <= BUFFERED);
    let sends = matches!(action, Action::StartSend { .. });
    action.envelopes().any(is_to_somebody) && !(sends && is_small())
}

fn say(world: &World, wait: At) -> Finding {
    let behaviour = &world.behaviours[wait.0 as usize];
    let starts = waits(behaviour).into_iter().find(|(position, _)| *position == wait.1);
    let starts = starts.map_or_else(Vec::new, |(_, starts)| starts);
    let started = starts.iter().map(|start| (wait.0, *start));
    let waited: Vec<At> = started.filter(|start| takes_time(world, *start)).collect();
    let of = match waited.first() {
        Some(first) => format!(" for `{}`", describe::operation(world, *first)),
        None => String::new(),
    };
    let more = match waited.len() {
        0 | 1 => String::new(),
        more => format!(" and {} more", more - 1),
    };
    let message = format!(
        "{} waits{of}{more} in front of a computation that does not touch {}",
        player(world, wait.0),
        if waited.len() == 1 { "its buffer" } else { "their buffers" }
    );
    let finding = RULE.finding(world, wait, message, "nothing of this is needed yet");
    let finding = match needless_wait(behaviour, wait.1) {
        Some(work) => finding.other_end(world, (wait.0, work), "this could be done meanwhile"),
        None => finding,
    };
    finding
        .note("between its start and its wait a message travels while the rank computes; here it computes only after")
        .help("move the wait behind the computation, to where the buffers are used next")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, started, wait};
    use crate::engine::samples::{receive, send};
    use crate::model::{Action, World};

    fn count(first: Vec<Action>, second: Vec<Action>) -> usize {
        let world = World { shows_work: true, ..c(vec![first, second]) };
        found(&world, "early-wait").len()
    }

    fn compute(apart: &[u32]) -> Action {
        Action::Compute { apart: apart.into() }
    }

    #[test]
    fn a_wait_in_front_of_other_work_is_early() {
        let first = vec![started(receive(1, 0), 0), wait(&[0]), compute(&[0])];
        let world = World { shows_work: true, ..c(vec![first, vec![send(0, 0)]]) };
        let found = found(&world, "early-wait");
        assert_eq!(
            found[0].message,
            "rank 0 waits for `MPI_Irecv of 1 MPI_CHAR from rank 1 (tag 0)` in front of a computation that does not touch its buffer (with 2 ranks)"
        );
        assert_eq!(found[0].secondary.len(), 1);
    }

    #[test]
    fn what_needs_the_buffer_comes_behind_the_wait() {
        let first = |apart: &[u32]| vec![started(receive(1, 0), 0), wait(&[0]), compute(apart)];
        assert_eq!(count(first(&[]), vec![send(0, 0)]), 0);
        assert_eq!(count(first(&[1]), vec![send(0, 0)]), 0);
    }

    #[test]
    fn what_was_computed_meanwhile_is_enough() {
        let first = vec![started(receive(1, 0), 0), compute(&[]), wait(&[0]), compute(&[0])];
        assert_eq!(count(first, vec![send(0, 0)]), 0);
    }

    #[test]
    fn an_exchange_is_waited_for_where_it_is_used() {
        let both = |peer, apart: &[u32]| {
            vec![started(receive(peer, 0), 0), started(send(peer, 0), 1), wait(&[0, 1]), compute(apart)]
        };
        assert_eq!(count(both(1, &[0, 1]), both(0, &[])), 1);
        assert_eq!(count(both(1, &[0]), both(0, &[])), 0);
        let [mut one, other] = [both(1, &[0, 1]), both(0, &[])];
        one[2] = wait(&[0]);
        one.insert(3, wait(&[1]));
        assert_eq!(count(one, other), 1, "the send is small");
    }

    #[test]
    fn a_small_send_is_done_at_once() {
        let first = vec![started(send(1, 0), 0), wait(&[0]), compute(&[0])];
        assert_eq!(count(first, vec![receive(0, 0)]), 0);
    }
}
