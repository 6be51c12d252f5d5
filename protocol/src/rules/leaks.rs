//! What the rules about objects that are never freed share.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Rule;
use super::draft::{by_place, player};
use super::flow::Flow;
use crate::engine::{At, Case, describe};
use crate::finding::Finding;
use crate::model::{Action, HandleId, HandleKind, Place, Position};

/// A finding for each place at which objects of a kind are made that are never freed.
pub(super) fn report(rule: &Rule, case: &Case<'_>, kind: HandleKind, free: &str) -> Vec<Finding> {
    let places = by_place(case, never_freed(case, kind), |at| *at);
    let leak = |made: &[At]| {
        let (world, at) = (case.world, made[0]);
        let count = made.iter().filter(|(rank, _)| *rank == at.0).count();
        let objects = if count == 1 {
            format!("a {}", kind.name()).replace("a operation", "an operation")
        } else {
            format!("{count} {}s", kind.name())
        };
        let message = format!(
            "{} makes {objects} with `{}` and never frees {}",
            player(world, at.0),
            describe::operation(world, at),
            if count == 1 { "it" } else { "them" }
        );
        rule.finding(world, at, message, "made here, never freed")
            .ranks(made.iter().map(|(rank, _)| *rank).collect())
            .help(format!("call `{free}` once it is no longer used, and before `MPI_Finalize`"))
    };
    places.iter().map(|(_, made)| leak(made)).collect()
}

/// The steps that make what is still there when the rank ends.
fn never_freed(case: &Case<'_>, kind: HandleKind) -> Vec<At> {
    let mut made = Vec::new();
    for (rank, behaviour) in (0..).zip(&case.world.behaviours) {
        let handle = |action: &Action| match action {
            Action::Create { kind: it, handle, .. } if *it == kind => Some(*handle),
            _ => None,
        };
        let freed = behaviour.events.iter().filter_map(|event| match event.action {
            Action::Release { handle } => Some(handle),
            _ => None,
        });
        let freed: FxHashSet<_> = freed.collect();
        let flow = Flow::of(behaviour);
        let mut kept: Vec<_> = flow.steps(|action| handle(action).is_some()).collect();
        let mut walks = 0;
        kept.retain(|&position| {
            let made = handle(&behaviour.events[position].action);
            made.is_some_and(|it| {
                !freed.contains(&it) || !may_be_freed(flow, (position, it), &mut walks)
            })
        });
        // Of those that are made at one place, one is followed to the end.
        let mut known: FxHashMap<Place, bool> = FxHashMap::default();
        kept.retain(|&position| {
            let ends = || flow.behind([position], |_| false).ends();
            *known.entry(behaviour.events[position].place).or_insert_with(ends)
        });
        made.extend(kept.into_iter().map(|position| (rank, position)));
    }
    made
}

/// Of so many objects of a rank all ways are followed.
const FOLLOWED: usize = 1_000;

/// Whether what a step makes may be freed behind it. Its number is that of another object from where
/// that is made.
fn may_be_freed(flow: Flow<'_>, (made, handle): (Position, HandleId), walks: &mut usize) -> bool {
    let frees =
        |action: &Action| matches!(action, Action::Release { handle: freed } if *freed == handle);
    let makes =
        |action: &Action| matches!(action, Action::Create { handle: made, .. } if *made == handle);
    let mut straight = flow.straight_behind(made).take_while(|action| !makes(action));
    if straight.any(frees) {
        return true;
    }
    *walks += 1;
    *walks > FOLLOWED || flow.behind([made], |action| frees(action) || makes(action)).does(frees)
}
