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

/// The first of the readings that have shown the same.
#[derive(Debug, Default)]
pub(super) struct Quiet(Vec<Head>);

impl Quiet {
    /// Another reading; whether nothing has moved since the first one.
    ///
    /// Two more looks, not one: the first may have been taken before the first reading, and only
    /// its count after.
    pub(super) fn see(&mut self, heads: &[Head]) -> bool {
        if heads.iter().any(|head| head.is(State::Runs)) {
            self.0.clear();
            return false;
        }
        let same = self.0.len() == heads.len()
            && self.0.iter().zip(heads).all(|(then, now)| then.state == now.state);
        if !same {
            self.0 = heads.to_vec();
            return false;
        }
        let looked =
            |(then, now): (&Head, &Head)| now.is(State::Ended) || now.looks >= then.looks + 2;
        self.0.iter().zip(heads).all(looked)
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
        assert!(!quiet.see(&[head(State::Waits, 1), head(State::Waits, 5)]));
        assert!(!quiet.see(&[head(State::Waits, 2), head(State::Waits, 7)]));
        assert!(!quiet.see(&[head(State::Waits, 3), head(State::Runs, 7)]));
        assert!(!quiet.see(&[head(State::Waits, 4), head(State::Waits, 7)]));
        assert!(!quiet.see(&[head(State::Waits, 9), head(State::Waits, 8)]));
        assert!(quiet.see(&[head(State::Waits, 9), head(State::Waits, 9)]));
    }

    #[test]
    fn a_rank_that_has_ended_need_not_look() {
        let mut quiet = Quiet::default();
        let heads = [head(State::Ended, 0), head(State::Waits, 1)];
        assert!(!quiet.see(&heads));
        assert!(quiet.see(&[heads[0], head(State::Waits, 3)]));
        assert_eq!(speaker(&heads), Some(1));
    }

    #[test]
    fn another_wait_is_not_the_same() {
        let mut quiet = Quiet::default();
        let mut other = head(State::Waits, 1);
        assert!(!quiet.see(&[other]));
        other.enter(State::Runs);
        other.enter(State::Waits);
        other.looks = 9;
        assert!(!quiet.see(&[other]));
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
