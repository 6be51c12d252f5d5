//! What kinds of worlds were drawn: a comparison of worlds that all hang would prove little.

use std::fmt::{Display, Formatter, Result};

use crate::agreement::Answer;
use crate::exploration::Truth;

/// How many worlds there were of each kind; a world may be of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    worlds: usize,
    kinds: [usize; KINDS.len()],
}

type Kind = (&'static str, u32, fn(&[Answer; 3]) -> bool);

/// A name, the least share that is healthy in tenths of a percent, and who belongs to it.
const KINDS: [Kind; 14] = [
    ("finish in every run", 100, |answers| {
        in_all(answers, |truth| truth.can_finish && !truth.can_hang && !truth.mismatch)
    }),
    ("hang in every run", 100, |answers| {
        in_all(answers, |truth| truth.can_hang && !truth.can_finish)
    }),
    ("hang unbuffered only", 15, |answers| {
        let unbuffered = truth(answers[0]).is_some_and(|truth| truth.can_hang);
        unbuffered && truth(answers[2]).is_some_and(|truth| !truth.can_hang)
    }),
    ("hang buffered only", 0, |answers| {
        let buffered = truth(answers[2]).is_some_and(|truth| truth.can_hang);
        buffered && truth(answers[0]).is_some_and(|truth| !truth.can_hang)
    }),
    ("hang or finish by race", 20, |answers| {
        in_one(answers, |truth| truth.can_hang && truth.can_finish)
    }),
    ("neither finish nor hang", 2, |answers| {
        in_one(answers, |truth| !truth.can_hang && !truth.can_finish && !truth.mismatch)
    }),
    ("leave a message over", 20, |answers| in_one(answers, |truth| truth.can_finish_unclean)),
    ("ready, not posted", 30, |answers| in_one(answers, |truth| truth.unposted_ready)),
    ("miss a wait", 30, |answers| in_one(answers, |truth| truth.missing_wait)),
    ("mismatch", 5, |answers| in_one(answers, |truth| truth.mismatch)),
    ("type mismatch", 10, |answers| in_one(answers, |truth| truth.type_mismatch)),
    ("truncation", 2, |answers| in_one(answers, |truth| truth.truncation)),
    ("too many states", 0, |answers| answers.contains(&Answer::Vast)),
    ("the engine gave up", 0, |answers| answers.contains(&Answer::GivenUp)),
];

/// The most worlds that may be skipped, in tenths of a percent.
const SKIPPED: u32 = 50;

fn truth(answer: Answer) -> Option<Truth> {
    match answer {
        Answer::Alike(truth) | Answer::Different { truth, .. } => Some(truth),
        Answer::Vast | Answer::GivenUp => None,
    }
}

fn in_all(answers: &[Answer; 3], is: impl Fn(Truth) -> bool) -> bool {
    answers.iter().all(|&answer| truth(answer).is_some_and(&is))
}

fn in_one(answers: &[Answer; 3], is: impl Fn(Truth) -> bool) -> bool {
    answers.iter().any(|&answer| truth(answer).is_some_and(&is))
}

impl Census {
    pub(crate) fn count(&mut self, answers: &[Answer; 3]) {
        self.worlds += 1;
        for (count, (.., belongs)) in self.kinds.iter_mut().zip(KINDS) {
            *count += usize::from(belongs(answers));
        }
    }

    pub(crate) fn add(&mut self, other: &Census) {
        self.worlds += other.worlds;
        for (count, more) in self.kinds.iter_mut().zip(other.kinds) {
            *count += more;
        }
    }

    /// Every kind is there, and few worlds were skipped.
    pub(crate) fn assert_healthy(&self) {
        let least = |share: u32| self.worlds * share as usize / 1000;
        for (count, (name, share, _)) in self.kinds.into_iter().zip(KINDS) {
            assert!(count >= least(share), "only {count} of {} worlds: {name}", self.worlds);
        }
        let skipped: usize = self.kinds[KINDS.len() - 2..].iter().sum();
        assert!(skipped <= least(SKIPPED), "{skipped} of {} worlds were skipped", self.worlds);
    }
}

impl Display for Census {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{} worlds", self.worlds)?;
        for (count, (name, ..)) in self.kinds.into_iter().zip(KINDS) {
            writeln!(f, "{count:8} {:5.1} %  {name}", 100.0 * count as f64 / self.worlds as f64)?;
        }
        Ok(())
    }
}
