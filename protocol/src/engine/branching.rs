//! Worlds whose ranks go ways that data decide (docs/semantics.md, "Branches by data").
//!
//! Each reading of the standard send is looked at only if everything that can happen under it was
//! followed, and of what is found only that counts which no run excuses.

use super::Options;
use super::case::{Case, Circle, Reading};
use super::evidence::At;
use super::example::Goal;
use super::excuses::Excuses;
use super::exploration::Plan;
use super::explored::Hang;
use super::investigation::Run;
use super::machine::{Schedule, Semantics};
use super::pairing::Cause;
use crate::model::{Action, World};

/// The most states with a choice that are followed here: most of such worlds have few, and of the
/// others nothing is said.
const STATES: usize = 2_000;

/// The most hangs that are traced back.
const HANGS: usize = 8;

/// Whether some rank goes ways that data decide.
pub(super) fn is_open(world: &World) -> bool {
    let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    events.any(|event| matches!(event.action, Action::Branch { .. }))
}

/// Runs such a world and puts in order what no run excuses.
pub(super) fn investigate<'w>(world: &'w World, options: &Options) -> Case<'w> {
    let mut case = Case::new(world);
    let options = Options { states: (options.states / 10).clamp(1, STATES), ..*options };
    let mut runs = Vec::new();
    for (semantics, reading) in
        [(options.unbuffered(), Reading::Unbuffered), (Semantics::Buffered, Reading::Any)]
    {
        let plan = Plan { semantics, schedule: Schedule::Eager, skipped: None, told: true };
        let run = Run::of(world, plan, &options);
        case.states += run.explored.states();
        case.take_executed(&run);
        if !run.explored.complete {
            case.complete = false;
            break;
        }
        case.is_excused |= run.explored.can_finish_clean;
        runs.push((run, reading));
    }
    let excuses: Vec<Excuses<'_, 'w>> =
        runs.iter().map(|(run, _)| Excuses::of(world, &run.explored)).collect();
    for ((run, reading), own) in runs.iter().zip(&excuses).rev() {
        let found = look_at(world, run, *reading, own);
        case.keep(found, own, &excuses);
    }
    case
}

/// What one exploration shows, excused or not.
fn look_at<'w>(
    world: &'w World,
    run: &Run<'w>,
    reading: Reading,
    excuses: &Excuses<'_, 'w>,
) -> Case<'w> {
    let mut found = Case::new(world);
    // Where ranks are stuck that go on in another run, ways have met that do not belong together.
    let excused = |hang: &Hang<'w>| {
        let open = open_steps(hang);
        let excused = open.iter().filter(|&&at| excuses.completes(at)).count();
        (excused < open.len()).then_some(excused)
    };
    let mut blamed: Vec<(usize, &Hang<'w>)> =
        run.explored.hangs.iter().filter_map(|hang| Some((excused(hang)?, hang))).collect();
    blamed.sort_by_key(|(excused, _)| *excused);
    for (_, hang) in blamed.into_iter().take(HANGS) {
        found.trace_back(run, &run.with_state(hang), reading);
    }
    for unclean in &run.explored.uncleans {
        if unclean.left.iter().any(|one| one.sending && !excuses.completes(one.at)) {
            found.take_left(run, unclean);
        }
    }
    for &(observation, path) in &run.explored.observations {
        if !excuses.avoids(observation) {
            found.note(observation, || run.tell(path, Some(Goal::Observation(observation))));
        }
    }
    found
}

/// The steps that ranks are stuck in.
fn open_steps(hang: &Hang<'_>) -> Vec<At> {
    let open = hang.stuck.blocked.iter().flat_map(|blocked| {
        let steps = blocked.open.iter().chain([&blocked.position]);
        steps.map(|&position| (blocked.rank, position))
    });
    open.collect()
}

impl<'w> Case<'w> {
    /// Takes over what no run excuses: a circle only depends on runs under its own reading.
    fn keep(&mut self, found: Case<'w>, own: &Excuses<'_, 'w>, all: &[Excuses<'_, 'w>]) {
        let excused = |at: At| all.iter().any(|excuses| excuses.completes(at));
        for mut unpaired in found.unpaired {
            if excused(unpaired.operation.at) || self.is_unpaired(&unpaired.operation) {
                continue;
            }
            if let Cause::Tag(other) | Cause::Communicator(other) = unpaired.cause
                && excused(other)
            {
                unpaired.cause = Cause::Nobody { near: None };
            }
            self.unpaired.push(unpaired);
        }
        for missing in found.missing {
            let known = self.missing.iter().any(|known| known.arrivals[0] == missing.arrivals[0]);
            if !known && !missing.arrivals.iter().any(|&at| excused(at)) {
                self.missing.push(missing);
            }
        }
        let closed = |circle: &Circle| {
            !circle.members.iter().any(|member| own.completes((member.rank, member.position)))
        };
        for circle in found.circles.into_iter().filter(closed) {
            if !self.knows_circle(&circle.members) {
                self.circles.push(circle);
            }
        }
        for seen in found.seen {
            if !all.iter().any(|excuses| excuses.avoids(seen.observation)) {
                self.note(seen.observation, || seen.trace.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Judge;
    use crate::engine::samples::{receive, send, world};
    use crate::model::Place;

    fn rules(ranks: Vec<Vec<Action>>) -> Vec<&'static str> {
        let mut judge = Judge::new(Options::default());
        judge.judge(&world(ranks));
        judge.finish().findings.iter().map(|one| one.rule).collect()
    }

    fn branch(targets: impl Into<Box<[usize]>>) -> Action {
        Action::Branch { targets: targets.into() }
    }

    fn jump(target: usize) -> Action {
        Action::Jump { target }
    }

    #[test]
    fn ways_that_may_belong_together_are_not_blamed() {
        // Both send and receive, or neither does.
        let ranks = vec![vec![branch([1, 2]), send(1, 0)], vec![branch([1, 2]), receive(0, 0)]];
        assert_eq!(rules(ranks), [""; 0]);
    }

    #[test]
    fn a_step_that_nobody_can_complete_is_blamed() {
        let ranks = vec![vec![branch([1, 2]), receive(1, 7)], vec![branch([1, 1])]];
        assert_eq!(rules(ranks), ["unmatched-receive"]);
    }

    #[test]
    fn loops_that_turn_equally_often_are_right() {
        let sends = vec![branch([1, 3]), send(1, 0), jump(0), receive(1, 1)];
        let receives = vec![branch([1, 3]), receive(0, 0), jump(0), send(0, 1)];
        assert_eq!(rules(vec![sends, receives]), [""; 0]);
    }

    #[test]
    fn a_fault_behind_a_loop_is_found() {
        let sends = vec![branch([1, 3]), send(1, 0), jump(0), receive(1, 8)];
        let receives = vec![branch([1, 3]), receive(0, 0), jump(0), send(0, 9)];
        assert_eq!(rules(vec![sends, receives]), ["tag-mismatch"]);
    }

    #[test]
    fn a_turn_too_many_of_a_loop_that_is_written_out_is_excused() {
        // The receives stand at one place; which turn is the last one, messages tell.
        let serves = vec![
            receive(1, 0),
            branch([2, 6]),
            receive(1, 0),
            branch([4, 6]),
            receive(1, 0),
            jump(3),
        ];
        let mut world = world(vec![serves, vec![send(0, 0), send(0, 0)]]);
        for event in &mut world.behaviours[0].events {
            event.place = Place(1);
        }
        let mut judge = Judge::new(Options::default());
        judge.judge(&world);
        assert_eq!(judge.finish().findings.len(), 0);
    }

    #[test]
    fn what_a_message_may_have_told_decides_whether_there_is_another_one() {
        // The first message says whether a second one follows; to rank 2 none does.
        let tells = vec![send(1, 0), send(1, 5), send(2, 0)];
        let told = || vec![receive(0, 0), branch([2, 3]), receive(0, 5)];
        assert_eq!(rules(vec![tells, told(), told()]), [""; 0]);
        // Nobody has told this one.
        let alone = || vec![branch([1, 2]), receive(0, 5), receive(0, 0)];
        assert_eq!(rules(vec![vec![send(1, 0)], alone()]), ["unmatched-receive"]);
    }

    #[test]
    fn too_many_ways_are_passed_over() {
        // Each of many ranks may send or not: nobody follows all of that.
        let worker = || vec![branch([1, 2]), send(0, 0), branch([3, 4]), send(0, 0)];
        let mut ranks: Vec<Vec<Action>> = (0..24).map(|_| worker()).collect();
        ranks[0] = vec![receive(1, 7)];
        assert_eq!(rules(ranks), [""; 0]);
    }
}
