//! Judges a program: every world of it, one after the other.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::advice::Advice;
use super::case::Case;
use super::components;
use super::investigation::investigate;
use super::machine::Semantics;
use super::size::{self, Looked};
use crate::finding::{Certainty, Finding};
use crate::model::{Dialect, Place, Role, World};
use crate::rules;

/// How to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Standard sends of at most this many bytes are taken to be buffered; 0: none are.
    pub eager_limit: u64,
    /// How many states with a choice are followed in one world before it is given up.
    pub states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { eager_limit: 0, states: 20_000 }
    }
}

impl Options {
    pub(super) fn unbuffered(&self) -> Semantics {
        Semantics::Rendezvous { eager_limit: self.eager_limit }
    }
}

/// What became of one world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many ranks it has.
    pub size: u32,
    /// Its parameters.
    pub parameters: Vec<(String, i64)>,
    /// Whether everything that can happen in it was followed.
    pub complete: bool,
}

/// The judgement of a program.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What is wrong, each thing once, with all the sizes at which it happens; by place.
    pub findings: Vec<Finding>,
    /// The worlds looked at, in the order given.
    pub checked: Vec<Checked>,
}

/// Which roles a program has, and which of them some rank plays.
#[derive(Clone, Debug, Default)]
pub struct Casting {
    /// The roles.
    pub roles: Vec<Role>,
    /// Whether some rank of some world plays the role.
    pub played: Vec<bool>,
    /// The sizes looked at, ascending.
    pub sizes: Vec<u32>,
}

/// After a world with too much to follow, the part that is followed of what could be.
const HURRY: usize = 16;

/// Judges worlds one by one and puts together what is wrong with them.
#[derive(Debug)]
pub struct Judge {
    options: Options,
    verdict: Verdict,
    casting: Casting,
    states: usize,
    /// In some world not everything was followed.
    gives_up: bool,
    dialect: Dialect,
    known: FxHashMap<(&'static str, Place), usize>,
    advice: Advice,
}

impl Judge {
    /// A judge who has seen nothing yet.
    pub fn new(options: Options) -> Self {
        Judge {
            options,
            verdict: Verdict::default(),
            casting: Casting::default(),
            states: 0,
            gives_up: false,
            dialect: Dialect::default(),
            known: FxHashMap::default(),
            advice: Advice::default(),
        }
    }

    /// Judges one world. Worlds should come in ascending size: what is shown of a finding is how
    /// it happens in the first world that has it. Gives back whether everything that can happen in
    /// this one was followed.
    pub fn judge(&mut self, world: &World) -> bool {
        let looked = self.look_at(world, &[], false);
        for finding in looked.findings {
            self.add(finding);
        }
        self.verdict.checked.push(Checked {
            size: world.size(),
            parameters: world.parameters.clone(),
            complete: looked.complete,
        });
        looked.complete
    }

    /// How much is followed: where not everything was, larger worlds have only more to follow.
    fn patience(&self) -> Options {
        let states = self.options.states;
        let states = if self.gives_up { (states / HURRY).max(1) } else { states };
        Options { states, ..self.options }
    }

    /// Looks at each part of a world by itself.
    fn look_at<'a>(
        &mut self,
        world: &World,
        assumptions: &'a [(Place, String)],
        told: bool,
    ) -> Looked<'a> {
        self.cast(world);
        self.advice.take(world);
        let mut looked = Looked::nothing(assumptions);
        let parts = components::of(world);
        for part in parts.as_deref().unwrap_or(std::slice::from_ref(world)) {
            let case = investigate(part, &self.patience(), told);
            self.states += case.states;
            self.gives_up |= !case.complete;
            looked.findings.extend(findings(&case));
            looked.complete &= case.complete;
            looked.is_excused |= case.is_excused;
            looked.executed.extend(case.executed);
        }
        looked
    }

    /// Judges the worlds of one size that differ in what nobody knows before the job runs, each with
    /// what it assumes: a place, and what is taken to be so there, as "if ..." would go on. The
    /// first world is the most ordinary one. A world may list all that it assumes, or only what it
    /// assumes otherwise than the first.
    ///
    /// A finding counts if it happens in every world in which its place is executed, or else if it
    /// happens so in all worlds that share one assumption; then it is possible, under that
    /// assumption. Gives back whether everything that can happen was followed.
    pub fn judge_size(&mut self, worlds: &[(World, Vec<(Place, String)>)]) -> bool {
        let [(first, _), _, ..] = worlds else {
            return worlds.iter().all(|(world, _)| self.judge(world));
        };
        let mut looked: Vec<Looked<'_>> = Vec::with_capacity(worlds.len());
        for (number, (world, assumptions)) in worlds.iter().enumerate() {
            // What is assumed need not change what ranks do.
            let same = worlds[..number].iter().position(|(other, _)| other == world);
            if let Some(same) = same {
                looked.push(Looked { assumptions, ..looked[same].clone() });
                continue;
            }
            let seen = self.look_at(world, assumptions, true);
            looked.push(seen);
        }
        let complete = looked.iter().all(|looked| looked.complete);
        for finding in size::agreed(&looked) {
            self.add(finding);
        }
        self.verdict.checked.push(Checked {
            size: first.size(),
            parameters: first.parameters.clone(),
            complete,
        });
        complete
    }

    /// Compares code that says it plays a role with the role.
    pub fn compare(&mut self, conformance: &rules::Conformance<'_>) {
        for rule in rules::all() {
            if let rules::Check::Conformance(check) = rule.check {
                for finding in check(conformance) {
                    self.add(finding);
                }
            }
        }
    }

    /// Sets how many states with a choice are followed in each world that comes.
    pub fn limit_states(&mut self, states: usize) {
        self.options.states = states;
    }

    /// How many states were followed in all worlds so far.
    pub fn states(&self) -> usize {
        self.states
    }

    /// What is wrong in all.
    pub fn finish(mut self) -> Verdict {
        let casting = std::mem::take(&mut self.casting);
        for rule in rules::all() {
            if let rules::Check::Casting(check) = rule.check {
                for finding in check(&casting) {
                    self.add(finding);
                }
            }
        }
        let advice = std::mem::take(&mut self.advice);
        for finding in advice.finish(&self.verdict.findings) {
            self.add(finding);
        }
        rules::sizes::say_what_is_meant(&mut self.verdict, self.dialect);
        let findings = std::mem::take(&mut self.verdict.findings);
        self.verdict.findings = rules::consequences::bring_together(findings);
        self.verdict.findings.sort_by(|one, other| {
            (one.primary.place, one.rule).cmp(&(other.primary.place, other.rule))
        });
        self.verdict
    }

    fn cast(&mut self, world: &World) {
        self.dialect = world.dialect;
        let Casting { roles, played, sizes } = &mut self.casting;
        if roles.is_empty() {
            *roles = world.roles.to_vec();
            *played = vec![false; roles.len()];
        }
        for behaviour in &world.behaviours {
            if let Some(role) = behaviour.role
                && let Some(played) = played.get_mut(usize::from(role))
            {
                *played = true;
            }
        }
        if !sizes.contains(&world.size()) {
            sizes.push(world.size());
            sizes.sort_unstable();
        }
    }

    fn add(&mut self, finding: Finding) {
        let key = (finding.rule, finding.primary.place);
        match self.known.get(&key) {
            None => {
                self.known.insert(key, self.verdict.findings.len());
                self.verdict.findings.push(finding);
            }
            Some(&known) => {
                let known = &mut self.verdict.findings[known];
                let sizes: BTreeSet<u32> =
                    known.sizes.iter().chain(&finding.sizes).copied().collect();
                // What happens in any case says more than what happens under an assumption.
                if known.certainty != Certainty::Certain && finding.certainty == Certainty::Certain
                {
                    *known = finding;
                }
                known.sizes = sizes.into_iter().collect();
            }
        }
    }
}

/// What the rules say of a world.
fn findings(case: &Case<'_>) -> Vec<Finding> {
    let checks = rules::all().iter().filter_map(|rule| match rule.check {
        rules::Check::World(check) => Some(check),
        _ => None,
    });
    checks.flat_map(|check| check(case)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::samples::{receive, receive_any, send, world};
    use crate::model::Action;

    fn rules(ranks: Vec<Vec<Action>>) -> Vec<&'static str> {
        let mut judge = Judge::new(Options::default());
        judge.judge(&world(ranks));
        let mut rules: Vec<_> = judge.finish().findings.iter().map(|one| one.rule).collect();
        rules.retain(|rule| *rule != "message-race");
        rules
    }

    #[test]
    fn one_fault_is_one_finding() {
        // Rank 1 never receives; that rank 2 then waits for rank 0 is no fault of its own.
        let ranks = vec![vec![send(1, 0), send(2, 0)], vec![], vec![receive(0, 0)]];
        assert_eq!(rules(ranks), ["unmatched-send"]);
    }

    #[test]
    fn a_circle_behind_a_fault_is_found_as_well() {
        let ranks =
            vec![vec![receive(1, 7), send(1, 0), receive(1, 0)], vec![send(0, 0), receive(0, 0)]];
        assert_eq!(rules(ranks), ["unmatched-receive", "deadlock-unbuffered"]);
    }

    #[test]
    fn tags_that_cross_are_one_mismatch_and_not_a_deadlock() {
        let ranks = vec![vec![send(1, 5)], vec![receive(0, 6)]];
        assert_eq!(rules(ranks), ["tag-mismatch"]);
    }

    #[test]
    fn messages_taken_in_another_order_deadlock_only_unbuffered() {
        let ranks = vec![vec![send(1, 5), send(1, 6)], vec![receive(0, 6), receive(0, 5)]];
        assert_eq!(rules(ranks), ["deadlock-unbuffered"]);
    }

    #[test]
    fn a_wildcard_that_steals_is_a_race() {
        let ranks =
            vec![vec![receive_any(1, 3), receive(2, 0)], vec![send(0, 0)], vec![send(0, 0)]];
        assert_eq!(rules(ranks), ["deadlock-by-race"]);
    }

    #[test]
    fn a_wildcard_with_enough_messages_for_all_is_right() {
        let any = || receive_any(1, 3);
        let ranks = vec![vec![any(), any()], vec![send(0, 0)], vec![send(0, 0)]];
        assert!(rules(ranks).is_empty());
    }

    #[test]
    fn what_happens_at_many_sizes_is_said_once() {
        let mut judge = Judge::new(Options::default());
        for size in 2..5 {
            let mut ranks = vec![vec![]; size];
            ranks[0] = vec![send(1, 0)];
            judge.judge(&world(ranks));
        }
        let verdict = judge.finish();
        assert_eq!(verdict.findings.len(), 1);
        assert_eq!(verdict.findings[0].sizes, [2, 3, 4]);
        assert!(verdict.findings[0].message.contains("with 2 ranks"));
    }
}
