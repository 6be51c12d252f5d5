//! One fault, one finding.
//!
//! Where ranks hang, everything is told that has no partner then: what was meant to meet the wrong
//! step, what follows on it, and who waits behind. What comes of a fault that is told already is
//! no finding of its own; its place is shown with the fault.

use crate::finding::{Finding, Label};

/// Rules about ranks that wait in vain, those first that name the cause best.
const WAITING: [&str; 9] = [
    "send-to-self",
    "rank-left-waiting",
    "communicator-mismatch",
    "tag-mismatch",
    "collective-missing-rank",
    "unmatched-receive",
    "unmatched-send",
    "deadlock",
    "deadlock-unbuffered",
];

/// Rules about collectives that meet and do not agree.
const MET: [&str; 4] =
    ["collective-order", "collective-root", "collective-type", "collective-count"];

/// How many places are shown with a fault that it shows in.
const SHOWN: usize = 3;

/// Leaves out what follows from other findings.
pub(crate) fn bring_together(findings: Vec<Finding>) -> Vec<Finding> {
    let (mut causes, waiting): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| precedence(finding).is_none());
    let mut waiting: Vec<Finding> = waiting;
    waiting.sort_by_key(|finding| (!is_stuck(finding), precedence(finding), finding.primary.place));
    for finding in waiting {
        match causes.iter_mut().find(|cause| follows(&finding, cause)) {
            Some(cause) => cause.show(finding.primary),
            None => causes.push(finding),
        }
    }
    causes
}

fn precedence(finding: &Finding) -> Option<usize> {
    WAITING.iter().position(|rule| *rule == finding.rule)
}

/// Whether a rank waits in the very step that the finding is about.
fn is_stuck(finding: &Finding) -> bool {
    let mut waits = finding.waits.iter();
    waits.any(|wait| wait.place == finding.primary.place && finding.between.contains(&wait.rank))
}

/// Whether what is found comes of what another finding tells already.
fn follows(finding: &Finding, cause: &Finding) -> bool {
    let same_case = finding.certainty == cause.certainty
        && finding.sizes.iter().all(|size| cause.sizes.contains(size));
    same_case
        && (is_same_hang(finding, cause)
            || is_circle_without_buffers(finding, cause)
            || is_circle_through_missed_collective(finding, cause)
            || waits_in_what_met(finding, cause))
}

/// Whether the same ranks hang at once, in steps that were meant for each other.
fn is_same_hang(finding: &Finding, cause: &Finding) -> bool {
    let within = |one: &Finding, other: &Finding| {
        one.between.iter().all(|rank| other.between.contains(rank))
    };
    let names = |one: &Finding, other: &Finding| {
        one.secondary.iter().any(|label| label.place == other.primary.place)
    };
    precedence(cause).is_some()
        && finding.sizes.first() == cause.sizes.first()
        && finding.waits == cause.waits
        && (within(finding, cause)
            || within(cause, finding)
            || names(finding, cause) && names(cause, finding))
}

/// Whether ranks that hang anyway would hang there for want of buffers as well.
fn is_circle_without_buffers(finding: &Finding, cause: &Finding) -> bool {
    (finding.rule, cause.rule) == ("deadlock-unbuffered", "deadlock")
        && finding.primary.place == cause.primary.place
        && finding.ranks == cause.ranks
}

/// Whether ranks wait for each other because some of them call a collective once more than others.
fn is_circle_through_missed_collective(finding: &Finding, cause: &Finding) -> bool {
    matches!(finding.rule, "deadlock" | "deadlock-unbuffered")
        && cause.rule == "collective-missing-rank"
        && finding
            .waits
            .iter()
            .any(|wait| wait.place == cause.primary.place && finding.between.contains(&wait.rank))
}

/// Whether ranks wait in a collective that has met another one.
fn waits_in_what_met(finding: &Finding, cause: &Finding) -> bool {
    let places = |finding: &Finding| {
        let labels = finding.secondary.iter().chain([&finding.primary]);
        labels.map(|label| label.place).collect::<Vec<_>>()
    };
    let met = places(cause);
    MET.contains(&cause.rule) && places(finding).iter().any(|place| met.contains(place))
}

impl Finding {
    /// Shows where else it is seen.
    fn show(&mut self, label: Label) {
        let is_known = label.place == self.primary.place
            || self.secondary.iter().any(|known| known.place == label.place);
        if !is_known && self.secondary.len() < SHOWN {
            self.secondary.push(label);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::samples::{receive, send, world};
    use crate::engine::{Judge, Options};
    use crate::finding::Finding;
    use crate::model::{Action, Collective, CollectiveKind, Place};

    fn found(ranks: Vec<Vec<Action>>) -> Vec<Finding> {
        let mut judge = Judge::new(Options::default());
        judge.judge(&world(ranks));
        judge.finish().findings
    }

    fn rules(ranks: Vec<Vec<Action>>) -> Vec<&'static str> {
        found(ranks).iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn two_tags_that_were_swapped_are_one_fault() {
        let ranks = vec![vec![send(1, 3), receive(1, 3)], vec![receive(0, 4), send(0, 4)]];
        let findings = found(ranks);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].rule, "tag-mismatch");
        assert_eq!(findings[0].secondary.len(), 2);
    }

    #[test]
    fn what_two_ranks_both_send_is_one_fault() {
        assert_eq!(rules(vec![vec![send(1, 0)], vec![send(0, 0)]]), ["unmatched-send"]);
    }

    #[test]
    fn a_phase_that_one_rank_leaves_out_is_one_fault() {
        let phase = vec![send(1, 0), send(1, 1), receive(1, 2)];
        assert_eq!(rules(vec![phase, vec![]]), ["unmatched-send"]);
    }

    #[test]
    fn a_circle_through_a_collective_that_is_called_too_often_is_no_other_fault() {
        let sum = || Action::Collective(Collective::of(CollectiveKind::AllReduce, 0));
        let mut ranks = vec![vec![sum(), sum(), send(1, 0)], vec![sum(), receive(0, 0), sum()]];
        ranks[0].insert(0, sum());
        let mut world = world(ranks);
        let sums = world.behaviours.iter_mut().flat_map(|behaviour| &mut behaviour.events);
        for event in sums.filter(|event| event.action.collective().is_some()) {
            event.place = Place(0);
        }
        let mut judge = Judge::new(Options::default());
        judge.judge(&world);
        let rules: Vec<_> = judge.finish().findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["collective-missing-rank"]);
    }

    #[test]
    fn what_other_ranks_do_wrong_is_another_fault() {
        let ranks = vec![vec![receive(1, 0)], vec![], vec![receive(3, 0)], vec![]];
        assert_eq!(rules(ranks), ["unmatched-receive"; 2]);
    }
}
