//! Whether all ranks stand still, from what was read of them twice and more.

/// What all ranks see of a rank at a glance. Both numbers only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Head {
    /// How often the rank's state has changed, and in the last two bits which it is.
    pub(super) state: u64,
    /// How often the rank has looked in vain while it waited.
    pub(super) looks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Runs = 0,
    Waits = 1,
    Ended = 2,
}

impl Head {
    pub(super) fn enter(&mut self, state: State) {
        self.state = (((self.state >> 2) + 1) << 2) | state as u64;
    }

    fn is(self, state: State) -> bool {
        self.state & 3 == state as u64
    }
}

/// The rank that is to say that nothing moves: the lowest that waits.
pub(super) fn speaker(heads: &[Head]) -> Option<usize> {
    heads.iter().position(|head| head.is(State::Waits))
}

/// The readings that have shown the same, one after the other.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    same: u32,
    /// The second of them.
    heads: Vec<Head>,
}

impl Quiet {
    /// Another reading; whether nothing has moved, and nothing can.
    ///
    /// Ranks are not all read at one time, but what two readings have in common was so all the while
    /// from the end of the first to the beginning of the second. So when the second begins, all have
    /// sent what they will ever send. A rank that has counted two looks since then has looked at
    /// least once since then: the first may have been counted late.
    pub(super) fn see(&mut self, heads: &[Head]) -> bool {
        if heads.iter().any(|head| head.is(State::Runs)) {
            self.same = 0;
            return false;
        }
        let states = |heads: &[Head]| heads.iter().map(|head| head.state).collect::<Vec<_>>();
        if self.same == 0 || states(&self.heads) != states(heads) {
            self.same = 0;
        }
        self.same += 1;
        if self.same <= 2 {
            self.heads = heads.to_vec();
            return false;
        }
        let looked =
            |(then, now): (&Head, &Head)| now.is(State::Ended) || now.looks >= then.looks + 2;
        self.heads.iter().zip(heads).all(looked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(state: State, looks: u64) -> Head {
        let mut head = Head { state: 0, looks };
        head.enter(state);
        head
    }

    #[test]
    fn all_wait_and_have_looked_again() {
        let mut quiet = Quiet::default();
        let mut see = |one, two| quiet.see(&[head(State::Waits, one), head(State::Waits, two)]);
        assert!(!see(1, 5));
        assert!(!see(2, 7));
        assert!(!see(3, 9));
        assert!(see(4, 9));
    }

    #[test]
    fn a_rank_that_has_ended_need_not_look() {
        let mut quiet = Quiet::default();
        let heads = |looks| [head(State::Ended, 0), head(State::Waits, looks)];
        assert!(!quiet.see(&heads(1)));
        assert!(!quiet.see(&heads(2)));
        assert!(quiet.see(&heads(4)));
        assert_eq!(speaker(&heads(1)), Some(1));
    }

    #[test]
    fn another_wait_is_not_the_same() {
        let mut quiet = Quiet::default();
        let mut other = head(State::Waits, 1);
        for looks in [3, 6, 9, 12] {
            assert!(!quiet.see(&[other]));
            other.enter(State::Runs);
            other.enter(State::Waits);
            other.looks = looks;
        }
    }

    #[test]
    fn a_rank_that_runs_is_never_still() {
        let heads = [head(State::Waits, 1), Head::default()];
        let mut quiet = Quiet::default();
        for _ in 0..9 {
            assert!(!quiet.see(&heads));
        }
    }
}

#[cfg(test)]
mod model;
