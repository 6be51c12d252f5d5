//! What could be done better in all worlds of a program.
//!
//! A fault is one wherever it shows. Advice is none: what is better on one rank, with one number of
//! ranks, may be needed as it is on another.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, Level};
use crate::model::{Action, Place, World};
use crate::rules;

/// What is said so far.
#[derive(Debug, Default)]
pub(super) struct Advice {
    /// By rule and place.
    places: BTreeMap<(&'static str, Place), Said>,
    /// How many worlds were looked at in which it is not known what some rank does.
    unclear: usize,
}

/// What is said of one place.
#[derive(Debug)]
struct Said {
    /// `None`: something speaks against it.
    finding: Option<Finding>,
    is_everywhere: bool,
    /// In how many of the worlds it was found in which it is not known what some rank does.
    confirmed: usize,
}

impl Advice {
    /// Takes down what could be done better in a world, and what speaks against it.
    pub(super) fn take(&mut self, world: &World) {
        let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
        let is_unclear = events.any(|event| event.action == Action::Opaque);
        self.unclear += usize::from(is_unclear);
        for rule in rules::all() {
            let rules::Check::Advice(check) = rule.check else { continue };
            for rules::Advised { place, finding, is_everywhere } in check(world) {
                let said = self.places.entry((rule.name, place)).or_insert_with(|| Said {
                    finding: finding.clone(),
                    is_everywhere,
                    confirmed: 0,
                });
                said.confirmed += usize::from(is_unclear);
                match (said.finding.as_mut(), finding) {
                    (Some(known), Some(finding)) => {
                        let sizes = known.sizes.iter().chain(&finding.sizes).copied();
                        known.sizes = sizes.collect::<BTreeSet<u32>>().into_iter().collect();
                    }
                    _ => said.finding = None,
                }
            }
        }
    }

    /// What nothing speaks against: neither another world, nor a fault in the same place, which has to be
    /// mended first.
    pub(super) fn finish(self, faults: &[Finding]) -> Vec<Finding> {
        let faults = faults.iter().filter(|finding| finding.level != Level::Allow);
        let faulty: BTreeSet<Place> = faults.flat_map(places).collect();
        let unclear = self.unclear;
        let said = self.places.into_values();
        let said = said.filter(|said| !said.is_everywhere || said.confirmed == unclear);
        said.filter_map(|said| said.finding)
            .filter(|finding| !places(finding).any(|place| faulty.contains(&place)))
            .collect()
    }
}

/// All places that a finding names.
fn places(finding: &Finding) -> impl Iterator<Item = Place> {
    let labels = finding.secondary.iter().chain(&finding.requests).map(|label| label.place);
    let waits = finding.waits.iter().map(|wait| wait.place);
    labels.chain(waits).chain([finding.primary.place])
}

#[cfg(test)]
mod tests {
    use crate::engine::samples::{receive, send, world};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, Place, World};

    /// A world in which rank 0 sends to all others in turn, at one place, and they do this.
    fn fan_out(size: u32, other: &[Action]) -> World {
        let sends = (1..size).map(|peer| send(i32::try_from(peer).unwrap_or(0), 0));
        let mut ranks = vec![sends.collect::<Vec<_>>()];
        ranks.resize(size as usize, other.to_vec());
        let mut world = world(ranks);
        world.behaviours[0].events.iter_mut().for_each(|event| event.place = Place(100));
        world
    }

    fn said_by(rule: &str, worlds: &[World]) -> Vec<Vec<u32>> {
        let mut judge = Judge::new(Options::default());
        worlds.iter().for_each(|world| _ = judge.judge(world));
        let mut findings = judge.finish().findings;
        findings.retain(|finding| finding.rule == rule);
        findings.into_iter().map(|finding| finding.sizes).collect()
    }

    fn said(worlds: &[World]) -> Vec<Vec<u32>> {
        said_by("serial-fan-out", worlds)
    }

    #[test]
    fn what_holds_with_each_number_of_ranks_is_said_once() {
        let right = |size| fan_out(size, &[receive(0, 0)]);
        assert_eq!(said(&[right(2), right(3), right(4)]), [[3, 4]]);
    }

    #[test]
    fn one_world_speaks_against_it_for_all() {
        let right = |size| fan_out(size, &[receive(0, 0)]);
        let mut uneven = right(4);
        uneven.behaviours[0].events.swap_remove(1);
        uneven.behaviours[2].events.clear();
        assert!(said(&[right(3), uneven]).is_empty());
    }

    #[test]
    fn what_is_not_known_may_speak_against_it() {
        let right = |size| fan_out(size, &[receive(0, 0)]);
        let lost = world(vec![vec![Action::Opaque]; 4]);
        assert!(said(&[right(3), lost]).is_empty());
        let behind = |size| fan_out(size, &[receive(0, 0), Action::Opaque]);
        assert_eq!(said(&[right(3), behind(4)]), [[3, 4]]);
    }

    #[test]
    fn faults_come_first() {
        let large = |mut action: Action| {
            action.envelopes_mut().for_each(|envelope| envelope.data.count = Some(2 << 20));
            action
        };
        let sends = || vec![large(send(1, 0))];
        let right = world(vec![sends(), vec![large(receive(0, 0))]]);
        assert_eq!(said_by("large-blocking-send", &[right]), [[2]]);
        let wrong = world(vec![sends(), vec![]]);
        assert!(said_by("large-blocking-send", &[wrong]).is_empty());
    }
}
