//! A wait right behind the start of what it waits for.

use rustc_hash::FxHashSet;

use super::advice::{self, Seen, by_place, is_to_somebody, needless_wait, next, waited_for};
use super::draft::player;
use super::{Advised, Check, Rule};
use crate::engine::{At, describe, words};
use crate::finding::{Finding, Group, Level};
use crate::model::{Action, Behaviour, Position, RequestId, World};

pub(super) const RULE: Rule = Rule {
    name: "no-overlap",
    group: Group::Performance,
    level: Level::Allow,
    doc: include_str!("doc.md"),
    check: Check::Advice(check),
};

fn check(world: &World) -> Vec<Advised> {
    if !world.shows_work {
        return Vec::new();
    }
    let mut seen = Vec::new();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        let starts = starts(behaviour).into_iter();
        seen.extend(starts.map(|(position, seen)| ((rank, position), seen)));
    }
    by_place(world, seen, |at| say(world, at))
}

/// The starts of messages, and whether each is waited for right behind it, while nothing else goes on.
fn starts(behaviour: &Behaviour) -> Vec<(Position, Seen)> {
    let mut active: FxHashSet<RequestId> = FxHashSet::default();
    let mut starts = Vec::new();
    for (position, event) in behaviour.events.iter().enumerate() {
        match &event.action {
            Action::Wait { requests, .. } => requests.iter().for_each(|it| _ = active.remove(it)),
            Action::Test { request, .. } | Action::Free { request } => _ = active.remove(request),
            Action::Start { requests } => active.extend(requests),
            Action::StartCollective { request, .. } => _ = active.insert(*request),
            action => {
                let Some((envelope, request)) = advice::started(action) else { continue };
                let seen = match wait_right_behind(behaviour, position, request) {
                    _ if !is_to_somebody(envelope) => Seen::Nothing,
                    Some(wait) if active.is_empty() => match needless_wait(behaviour, wait) {
                        // That the wait is in the wrong place says more.
                        Some(_) => Seen::Nothing,
                        None => Seen::Better,
                    },
                    _ => Seen::Needed,
                };
                active.insert(request);
                starts.push((position, seen));
            }
        }
    }
    starts
}

/// The wait that is the next thing that a rank does behind the start of a request.
fn wait_right_behind(
    behaviour: &Behaviour,
    start: Position,
    request: RequestId,
) -> Option<Position> {
    let wait = next(behaviour, start)?;
    (waited_for(&behaviour.events[wait].action)? == [request]).then_some(wait)
}

fn say(world: &World, at: At) -> Finding {
    let behaviour = &world.behaviours[at.0 as usize];
    let message = format!(
        "{} starts `{}` and waits for it at once: nothing is done meanwhile",
        player(world, at.0),
        describe::operation(world, at)
    );
    let blocking = match &behaviour.events[at.1].action {
        Action::StartSend { mode, .. } => words::send(world.dialect, *mode, false),
        _ => words::receive(world.dialect, false),
    };
    let finding = RULE.finding(world, at, message, "started here, and waited for at once");
    let finding = match next(behaviour, at.1) {
        Some(wait) => finding.other_end(world, (at.0, wait), "the wait"),
        None => finding,
    };
    finding
        .note("an operation that is waited for at once takes as long as one that blocks")
        .help(format!("call `{blocking}`, which says the same in one call, or do what does not touch the buffer before the wait"))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{c, found, started, wait};
    use crate::engine::samples::{receive, send};
    use crate::model::{Action, World};

    fn count(first: Vec<Action>, second: Vec<Action>) -> usize {
        let world = World { shows_work: true, ..c(vec![first, second]) };
        found(&world, "no-overlap").len()
    }

    fn compute() -> Action {
        Action::Compute { apart: [].into() }
    }

    #[test]
    fn what_is_waited_for_at_once_could_block() {
        let world = c(vec![vec![started(send(1, 0), 0), wait(&[0])], vec![receive(0, 0)]]);
        assert!(found(&world, "no-overlap").is_empty(), "nobody knows what is done between");
        let found = found(&World { shows_work: true, ..world }, "no-overlap");
        assert_eq!(
            found[0].message,
            "rank 0 starts `MPI_Isend of 1 MPI_CHAR to rank 1 (tag 0)` and waits for it at once: nothing is done meanwhile (with 2 ranks)"
        );
        assert!(found[0].help[0].starts_with("call `MPI_Send`,"), "{found:?}");
        assert_eq!(found[0].secondary.len(), 1);
    }

    #[test]
    fn work_in_between_is_what_it_is_for() {
        let other = || vec![receive(0, 0)];
        assert_eq!(count(vec![started(send(1, 0), 0), compute(), wait(&[0])], other()), 0);
        let access = Action::Access { requests: [0].into(), writes: false };
        assert_eq!(count(vec![started(send(1, 0), 0), access, wait(&[0])], other()), 0);
    }

    #[test]
    fn two_that_go_on_at_once_are_an_exchange() {
        let both = |peer| vec![started(receive(peer, 0), 0), started(send(peer, 0), 1), wait(&[0, 1])];
        assert_eq!(count(both(1), both(0)), 0);
        let one_by_one =
            |peer| vec![started(receive(peer, 0), 0), started(send(peer, 0), 1), wait(&[1]), wait(&[0])];
        assert_eq!(count(one_by_one(1), one_by_one(0)), 0);
    }

    #[test]
    fn a_wait_in_the_wrong_place_is_for_another_rule() {
        let apart = Action::Compute { apart: [0].into() };
        assert_eq!(count(vec![started(send(1, 0), 0), wait(&[0]), apart], vec![receive(0, 0)]), 0);
    }

    #[test]
    fn one_rank_that_needs_it_speaks_for_all() {
        // Both stand in one function that rank 1 calls with more to do.
        let first = vec![started(send(1, 0), 0), wait(&[0])];
        let second = vec![started(receive(0, 0), 0), started(send(0, 1), 1), wait(&[0, 1])];
        let mut world = World { shows_work: true, ..c(vec![first, second]) };
        assert_eq!(found(&world, "no-overlap").len(), 1);
        let place = world.behaviours[0].events[0].place;
        world.behaviours[1].events[1].place = place;
        assert_eq!(found(&world, "no-overlap").len(), 0);
    }
}
