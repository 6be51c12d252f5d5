//! What is wrong at one size, where several worlds stand for what nobody knows before the job runs.

use rustc_hash::FxHashSet;

use crate::finding::{Certainty, Finding};
use crate::model::Place;

/// More assumptions than these are not told of one finding.
const TOLD: usize = 3;

/// One of several worlds of a size, and what was found in it.
#[derive(Clone)]
pub(super) struct Looked<'a> {
    /// What it assumes: where, and what, as "if ..." would go on.
    pub(super) assumptions: &'a [(Place, String)],
    pub(super) findings: Vec<Finding>,
    /// Where it executes anything.
    pub(super) executed: FxHashSet<Place>,
    /// Whether everything that can happen in it was followed.
    pub(super) complete: bool,
    /// Whether data decide ways in it, and some run of them is right from start to end.
    pub(super) is_excused: bool,
}

impl<'a> Looked<'a> {
    /// A world of which no part was looked at yet.
    pub(super) fn nothing(assumptions: &'a [(Place, String)]) -> Self {
        Looked {
            assumptions,
            findings: Vec::new(),
            executed: FxHashSet::default(),
            complete: true,
            is_excused: false,
        }
    }

    fn shows(&self, finding: &Finding) -> bool {
        self.findings.iter().any(|one| same(one, finding))
    }

    /// Whether a finding would show here if it were there: its places are executed, as far as is
    /// known.
    fn concerns(&self, finding: &Finding) -> bool {
        let mut places = finding.waits.iter().map(|wait| wait.place).chain([finding.primary.place]);
        !self.complete || places.all(|place| self.executed.contains(&place))
    }

    fn agrees(&self, finding: &Finding) -> bool {
        self.shows(finding) || !self.concerns(finding)
    }
}

fn same(one: &Finding, other: &Finding) -> bool {
    (one.rule, one.primary.place) == (other.rule, other.primary.place)
}

/// The findings that every world agrees with in which their places are executed, and those that all
/// worlds agree with that share one assumption, under that assumption. A world other than the first
/// that names no assumption only speaks for others or against them.
pub(super) fn agreed(worlds: &[Looked<'_>]) -> Vec<Finding> {
    let mut agreed: Vec<Finding> = Vec::new();
    for (number, world) in worlds.iter().enumerate() {
        if number > 0 && world.assumptions.is_empty() {
            continue;
        }
        for finding in &world.findings {
            if agreed.iter().any(|known| same(known, finding)) {
                continue;
            }
            if worlds.iter().all(|other| other.agrees(finding)) {
                agreed.push(match needed(world, finding, worlds) {
                    None => finding.clone(),
                    Some(assuming) => {
                        Finding { certainty: Certainty::Possible { assuming }, ..finding.clone() }
                    }
                });
            } else if let Some((_, assuming)) =
                world.assumptions.iter().find(|one| decides(one, finding, worlds))
            {
                let certainty = Certainty::Possible { assuming: assuming.clone() };
                agreed.push(Finding { certainty, ..finding.clone() });
            }
        }
    }
    agreed
}

/// What a world assumes without which a finding's places are not come to, in words: what other worlds
/// answer otherwise that do not show it.
fn needed(world: &Looked<'_>, finding: &Finding, worlds: &[Looked<'_>]) -> Option<String> {
    let others: Vec<&Looked<'_>> = worlds.iter().filter(|it| !it.shows(finding)).collect();
    let is_needed = |(place, assumed): &&(Place, String)| {
        others.iter().any(|other| {
            let mut answers = other.assumptions.iter().filter(|(asked, _)| asked == place);
            answers.any(|(_, answer)| answer != assumed)
        })
    };
    let needed: Vec<&str> =
        world.assumptions.iter().filter(is_needed).map(|(_, words)| words.as_str()).collect();
    // The last ones are the closest.
    let closest = &needed[needed.len().saturating_sub(TOLD)..];
    (!closest.is_empty()).then(|| closest.join(" and "))
}

/// Whether all worlds that share an assumption agree with a finding. Where a right run is possible
/// under it, data may decide so that the assumption comes with that run.
fn decides(assumption: &(Place, String), finding: &Finding, worlds: &[Looked<'_>]) -> bool {
    let sharing = worlds.iter().filter(|world| world.assumptions.contains(assumption));
    sharing
        .into_iter()
        .all(|world| world.agrees(finding) && !(world.is_excused && world.shows(finding)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::samples::{receive, send, world};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, Place, World};

    /// Worlds in which ranks 0 and 1 do these, each with its assumption.
    fn judged(worlds: Vec<(Vec<Vec<Action>>, &str)>) -> Vec<(&'static str, Certainty)> {
        let assumption = |text: &str| match text {
            "" => Vec::new(),
            text => vec![(Place(100), text.to_owned())],
        };
        let worlds: Vec<(World, Vec<(Place, String)>)> =
            worlds.into_iter().map(|(ranks, text)| (world(ranks), assumption(text))).collect();
        let mut judge = Judge::new(Options::default());
        assert!(judge.judge_size(&worlds));
        let verdict = judge.finish();
        assert_eq!(verdict.checked.len(), 1);
        verdict.findings.into_iter().map(|one| (one.rule, one.certainty)).collect()
    }

    fn right() -> Vec<Vec<Action>> {
        vec![vec![receive(1, 0)], vec![send(0, 0)]]
    }

    fn wrong() -> Vec<Vec<Action>> {
        vec![vec![receive(1, 0)], vec![]]
    }

    #[test]
    fn what_every_world_shows_is_certain() {
        let verdict = judged(vec![(wrong(), ""), (wrong(), "the flag is given")]);
        assert_eq!(verdict, [("unmatched-receive", Certainty::Certain)]);
    }

    #[test]
    fn what_one_assumption_brings_about_is_possible() {
        let verdict = judged(vec![(right(), ""), (wrong(), "the flag is given")]);
        let assuming = "the flag is given".to_owned();
        assert_eq!(verdict, [("unmatched-receive", Certainty::Possible { assuming })]);
    }

    #[test]
    fn what_no_assumption_explains_is_dropped() {
        assert_eq!(judged(vec![(wrong(), ""), (right(), "the flag is given")]), []);
        let halves = vec![(right(), ""), (wrong(), "it is late"), (right(), "it is late")];
        assert_eq!(judged(halves), []);
    }

    #[test]
    fn a_world_without_an_assumption_finds_nothing_of_its_own() {
        assert_eq!(judged(vec![(vec![vec![], vec![]], ""), (wrong(), "")]), []);
    }

    #[test]
    fn an_assumption_may_come_with_the_ways_that_are_right() {
        let branch = Action::Branch { targets: [1, 2].into() };
        let ways = || vec![vec![branch.clone(), receive(1, 0)], vec![]];
        assert_eq!(judged(vec![(right(), ""), (ways(), "the flag is given")]), []);
    }

    #[test]
    fn a_world_that_does_not_come_there_says_nothing() {
        let verdict = judged(vec![(wrong(), ""), (vec![vec![], vec![]], "the flag is given")]);
        assert_eq!(verdict, [("unmatched-receive", Certainty::Certain)]);
    }

    #[test]
    fn what_is_only_come_to_under_an_assumption_says_so() {
        let nothing = || vec![vec![], vec![]];
        let verdict = judged(vec![(wrong(), "it is late"), (nothing(), "it is not late")]);
        let possible = Certainty::Possible { assuming: "it is late".to_owned() };
        assert_eq!(verdict, [("unmatched-receive", possible)]);
        // A world that assumes nothing does not count.
        let verdict = judged(vec![(wrong(), "it is late"), (nothing(), "")]);
        assert_eq!(verdict, [("unmatched-receive", Certainty::Certain)]);
    }
}
