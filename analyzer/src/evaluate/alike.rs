//! Ranks that do alike. While a rank is run, its numbers that come from its rank know what they are on
//! other ranks as well. Where the run goes by such a number, those ranks drop out on which it is
//! another one. Those that are left at its end do the same, but for whom they name: they need not be
//! run.
//!
//! This is kept for the thread, since numbers are looked at where there is no machine; one run after
//! the other is made on it. What numbers and identities are elsewhere has a name that no other run
//! gives: what is kept from an earlier run is the same everywhere.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// A whole number, of which it is known what it is on other ranks.
#[derive(Clone, Copy)]
pub(super) struct Number {
    low: u64,
    high: i64,
    /// 0 where it is the same on all of them.
    elsewhere: u32,
}

/// What the identity of a value is on other ranks; 0 where it is the same.
#[derive(Clone, Copy, Default)]
pub(super) struct Elsewhere(u32);

impl Elsewhere {
    /// The run goes by an identity.
    pub(super) fn go_by(self, identity: u64) {
        if self.0 > 0 {
            RUN.with_borrow_mut(|run| {
                run.keep(|run, index| run.identity_at(identity, self, index) == identity);
            });
        }
    }
}

/// A rank's run, and what is known of other ranks' runs.
#[derive(Default)]
struct Run {
    /// The ranks that may do the same, by size and rank, and whether they have so far.
    others: Vec<((u32, u32), bool)>,
    /// How many of them have.
    left: usize,
    /// What numbers are on the others. The first one has the name `first`.
    numbers: Vec<Rc<[i128]>>,
    names: FxHashMap<Rc<[i128]>, u32>,
    first: u32,
    /// The same of identities.
    identities: Vec<Box<[u64]>>,
    first_identity: u32,
    /// The identities that values have on this rank.
    given: FxHashMap<u64, Elsewhere>,
    /// The world's ranks that were named.
    peers: FxHashMap<i32, Number>,
}

/// A rank that has done the same.
pub(super) struct Follower {
    /// The size of its world.
    pub(super) size: u32,
    /// The rank.
    pub(super) rank: u32,
    /// Whom it names where the other one names somebody.
    pub(super) peers: FxHashMap<i32, i32>,
    index: usize,
}

impl Follower {
    /// What a number of the run that has ended is on this rank, until another one begins.
    pub(super) fn number(&self, number: Number) -> i128 {
        RUN.with_borrow(|run| run.at(number, self.index))
    }
}

thread_local! {
    static RUN: RefCell<Run> = RefCell::default();
}

/// The run of a rank in a world of a size begins; others may do the same. Gives back its rank and the
/// world's size.
pub(super) fn begin((size, rank): (u32, u32), others: Vec<(u32, u32)>) -> (Number, Number) {
    RUN.with_borrow_mut(|run| {
        // Where names run out, nobody is asked about any more.
        let next = |first: u32, used: usize| {
            u32::try_from(used).ok().and_then(|used| first.max(1).checked_add(used))
        };
        let first = next(run.first, run.numbers.len());
        let first_identity = next(run.first_identity, run.identities.len());
        let has_names = first.is_some() && first_identity.is_some();
        let others: Vec<_> =
            others.into_iter().filter(|_| has_names).map(|other| (other, true)).collect();
        *run = Run {
            left: others.len(),
            others,
            first: first.unwrap_or(u32::MAX),
            first_identity: first_identity.unwrap_or(u32::MAX),
            ..Run::default()
        };
        let of = |part: fn((u32, u32)) -> u32, run: &mut Run| {
            let others = run.others.iter().map(|(other, _)| Some(i128::from(part(*other))));
            let others = others.collect();
            let here = i128::from(part((size, rank)));
            run.number(Some(here), others).unwrap_or_else(|| here.into())
        };
        (of(|(_, rank)| rank, run), of(|(size, _)| size, run))
    })
}

/// The run is over: who has done the same.
pub(super) fn end() -> Vec<Follower> {
    RUN.with_borrow_mut(|run| {
        run.keep_those_that_tell_apart();
        let all = std::mem::take(&mut run.others);
        run.left = 0;
        let left = all.iter().enumerate().filter(|(_, (_, is_alike))| *is_alike);
        let followers = left.map(|(index, ((size, rank), _))| {
            let there = |number: &Number| i32::try_from(run.at(*number, index)).unwrap_or(i32::MAX);
            let peers = run.peers.iter().map(|(here, number)| (*here, there(number))).collect();
            Follower { size: *size, rank: *rank, peers, index }
        });
        followers.collect()
    })
}

/// The run goes by what is this rank's own, or may be another thing when another rank is run.
pub(super) fn alone() {
    RUN.with_borrow_mut(|run| run.keep(|_, _| false));
}

/// This rank is named as the other end of a message: a number of the world.
pub(super) fn name_peer(number: Number) -> Option<i32> {
    let here = i32::try_from(number.here()).ok();
    if let Some(peer) = here {
        RUN.with_borrow_mut(|run| {
            if run.left > 0 {
                let known = *run.peers.entry(peer).or_insert(number);
                if known.elsewhere != number.elsewhere {
                    run.keep(|run, index| run.at(known, index) == run.at(number, index));
                }
            }
        });
    } else {
        number.get();
    }
    here
}

impl Run {
    /// Only those stay that do.
    fn keep(&mut self, stays: impl Fn(&Run, usize) -> bool) {
        for index in 0..self.others.len() {
            if self.others[index].1 && !stays(self, index) {
                self.others[index].1 = false;
                self.left -= 1;
            }
        }
    }

    /// What a number is on another rank.
    fn at(&self, number: Number, index: usize) -> i128 {
        let elsewhere = number.elsewhere.checked_sub(self.first).filter(|_| number.elsewhere > 0);
        let known = elsewhere.and_then(|name| self.numbers.get(name as usize));
        known.map_or(number.here(), |known| known[index])
    }

    /// A number, where there is one here; those drop out where there is none, or only there is one.
    fn number(&mut self, here: Option<i128>, elsewhere: Vec<Option<i128>>) -> Option<Number> {
        self.keep(|_, index| elsewhere[index].is_some() == here.is_some());
        let here = here?;
        let others = || elsewhere.iter().map(|there| there.unwrap_or(here));
        if others().all(|there| there == here) {
            return Some(Number::from(here));
        }
        let others: Rc<[i128]> = others().collect();
        let next = self.first + self.numbers.len() as u32;
        let elsewhere = *self.names.entry(others.clone()).or_insert(next);
        if elsewhere == next {
            self.numbers.push(others);
        }
        Some(Number { elsewhere, ..Number::from(here) })
    }

    /// What an identity is on another rank.
    fn identity_at(&self, identity: u64, elsewhere: Elsewhere, index: usize) -> u64 {
        let name = elsewhere.0.checked_sub(self.first_identity).filter(|_| elsewhere.0 > 0);
        match name.and_then(|name| self.identities.get(name as usize)) {
            // The lowest bit says "not".
            Some(known) => known[index] | (identity & 1),
            None => identity,
        }
    }

    /// A value is given an identity.
    fn give(&mut self, identity: u64, elsewhere: Elsewhere) {
        let Some(known) = self.given.insert(identity, elsewhere) else { return };
        if known.0 != elsewhere.0 {
            self.keep(|run, index| {
                let is = |elsewhere| run.identity_at(identity, elsewhere, index);
                is(known) == is(elsewhere)
            });
        }
    }

    /// Only those ranks stay on which values are the same ones exactly where they are here: no two
    /// identities that were given are one there.
    fn keep_those_that_tell_apart(&mut self) {
        let differing: Vec<(u64, Elsewhere)> = self
            .given
            .iter()
            .map(|(&here, &there)| (here, there))
            .filter(|it| it.1.0 > 0)
            .collect();
        self.keep(|run, index| {
            let mut seen = FxHashSet::with_capacity_and_hasher(differing.len(), FxBuildHasher);
            differing.iter().all(|&(identity, elsewhere)| {
                let there = run.identity_at(identity, elsewhere, index);
                let is_given = run.given.get(&there).is_some_and(|given| given.0 == 0);
                seen.insert(there) && !is_given
            })
        });
    }
}

impl Number {
    /// What it is on the rank that is run, for what others that do the same do with theirs.
    pub(super) fn here(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }

    /// The same by its halves, lower first.
    pub(super) fn halves(self) -> [u64; 2] {
        [self.low, self.high.cast_unsigned()]
    }

    /// What it is on the rank that is run, which goes on by it.
    pub(super) fn get(self) -> i128 {
        let here = self.here();
        if self.elsewhere > 0 {
            RUN.with_borrow_mut(|run| run.keep(|run, index| run.at(self, index) == here));
        }
        here
    }

    /// Whether it is such a number, which the run goes on by.
    pub(super) fn is(self, such: impl Fn(i128) -> bool) -> bool {
        self.holds(Number::from(0), |number, _| such(number))
    }

    /// A number that is so much more.
    pub(super) fn plus(self, more: i128) -> Number {
        self.map(|number| Some(number.saturating_add(more))).unwrap_or(self)
    }

    /// What is made of it, if that is anything.
    pub(super) fn map(self, make: impl Fn(i128) -> Option<i128>) -> Option<Number> {
        self.with(Number::from(0), |number, _| make(number))
    }

    /// What is made of two, if that is anything.
    pub(super) fn with(
        self,
        other: Number,
        make: impl Fn(i128, i128) -> Option<i128>,
    ) -> Option<Number> {
        let here = make(self.here(), other.here());
        if self.elsewhere == 0 && other.elsewhere == 0 {
            return here.map(Number::from);
        }
        RUN.with_borrow_mut(|run| {
            if run.left == 0 {
                return here.map(Number::from);
            }
            let at = |index: usize, run: &Run| make(run.at(self, index), run.at(other, index));
            let elsewhere = (0..run.others.len()).map(|index| match run.others[index].1 {
                true => at(index, run),
                false => here,
            });
            let elsewhere = elsewhere.collect();
            run.number(here, elsewhere)
        })
    }

    /// Whether something holds of two, which the run goes on by.
    pub(super) fn holds(self, other: Number, holds: impl Fn(i128, i128) -> bool) -> bool {
        let here = holds(self.here(), other.here());
        if self.elsewhere > 0 || other.elsewhere > 0 {
            RUN.with_borrow_mut(|run| {
                run.keep(|run, index| holds(run.at(self, index), run.at(other, index)) == here);
            });
        }
        here
    }
}

impl From<i128> for Number {
    fn from(number: i128) -> Self {
        Number { low: number as u64, high: (number >> 64) as i64, elsewhere: 0 }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.holds(*other, |one, other| one == other)
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.holds(*other, |one, other| one < other)
    }

    fn le(&self, other: &Self) -> bool {
        self.holds(*other, |one, other| one <= other)
    }

    fn gt(&self, other: &Self) -> bool {
        self.holds(*other, |one, other| one > other)
    }

    fn ge(&self, other: &Self) -> bool {
        self.holds(*other, |one, other| one >= other)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        for order in [Ordering::Less, Ordering::Equal] {
            if self.holds(*other, |one, other| one.cmp(&other) == order) {
                return order;
            }
        }
        Ordering::Greater
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(formatter)
    }
}

/// What an identity in the making is on the other ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct Hashes(Option<Box<[u64]>>);

impl Hashes {
    /// Takes something in: `mix` makes a hash and a part of it one hash. `hash` is what there is so
    /// far on the rank that is run.
    fn take(&mut self, hash: u64, mix: impl Fn(u64, usize, &Run) -> u64) {
        RUN.with_borrow(|run| {
            if run.left > 0 {
                let hashes = self.0.get_or_insert_with(|| vec![hash; run.others.len()].into());
                for (index, there) in hashes.iter_mut().enumerate() {
                    *there = mix(*there, index, run);
                }
            }
        });
    }

    /// Takes in what is the same everywhere.
    #[inline]
    pub(super) fn take_same(&mut self, mix: impl Fn(u64) -> u64) {
        if let Some(hashes) = &mut self.0 {
            hashes.iter_mut().for_each(|hash| *hash = mix(*hash));
        }
    }

    /// Takes in a number, by its halves.
    pub(super) fn take_number(&mut self, hash: u64, number: Number, mix: fn(u64, u64) -> u64) {
        let both = |hash, number: i128| Number::from(number).halves().into_iter().fold(hash, mix);
        match number.elsewhere {
            0 => self.take_same(|hash| both(hash, number.here())),
            _ => self.take(hash, |hash, index, run| both(hash, run.at(number, index))),
        }
    }

    /// Takes in an identity.
    #[inline]
    pub(super) fn take_identity(
        &mut self,
        hash: u64,
        (identity, elsewhere): (u64, Elsewhere),
        mix: fn(u64, u64) -> u64,
    ) {
        match elsewhere.0 {
            0 => self.take_same(|hash| mix(hash, identity)),
            _ => self.take(hash, |hash, index, run| {
                mix(hash, run.identity_at(identity, elsewhere, index))
            }),
        }
    }

    /// A value that is known has this identity; whoever compares those does so by the values.
    #[inline]
    pub(super) fn of_known(self) -> Elsewhere {
        let Some(mut hashes) = self.0 else { return Elsewhere(0) };
        hashes.iter_mut().for_each(|hash| *hash &= !1);
        RUN.with_borrow_mut(|run| {
            let name = run.first_identity + run.identities.len() as u32;
            run.identities.push(hashes);
            Elsewhere(name)
        })
    }

    /// A value that is not known has this identity, which tells it from others. What is the same on
    /// all ranks must be called the same there.
    pub(super) fn of_unknown(self, identity: u64, is_uniform: bool) -> Elsewhere {
        let elsewhere = self.of_known();
        RUN.with_borrow_mut(|run| {
            if run.left == 0 {
                return Elsewhere(0);
            }
            if is_uniform && elsewhere.0 > 0 {
                run.keep(|run, index| run.identity_at(identity, elsewhere, index) == identity);
            }
            run.give(identity, elsewhere);
            elsewhere
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: [u32; 0] = [];

    /// Begins a run of rank 1 of 4; what is done in it, and the ranks that are left.
    fn left(run: impl FnOnce(Number)) -> Vec<u32> {
        run(begin((4, 1), vec![(4, 0), (4, 2), (4, 3)]).0);
        end().iter().map(|follower| follower.rank).collect()
    }

    #[test]
    fn who_goes_by_a_number_is_followed_where_it_is_the_same() {
        assert_eq!(left(|_| {}), [0, 2, 3]);
        assert_eq!(left(|rank| assert_eq!(rank.get(), 1)), NOBODY);
        assert_eq!(left(|rank| assert!(rank > 0.into())), [2, 3]);
        let odd = |rank: Number| rank.map(|rank| Some(rank % 2)).unwrap().get();
        assert_eq!(left(|rank| assert_eq!(odd(rank), 1)), [3]);
        let two = |rank: Number| rank.map(|rank| (rank != 2).then_some(7)).unwrap().get();
        assert_eq!(left(|rank| assert_eq!(two(rank), 7)), [0, 3]);
        assert_eq!(left(|_| alone()), NOBODY);
    }

    #[test]
    fn followers_name_whom_they_would_name() {
        let rank = begin((4, 1), vec![(4, 0), (4, 2), (4, 3)]).0;
        let next = rank.with(4.into(), |rank, size| Some((rank + 1) % size)).unwrap();
        assert_eq!(name_peer(next), Some(2));
        assert_eq!(name_peer(0.into()), Some(0));
        let named = |it: &Follower| (it.rank, it.peers[&2], it.peers[&0]);
        assert_eq!(end().iter().map(named).collect::<Vec<_>>(), [(0, 1, 0), (2, 3, 0), (3, 0, 0)]);
        // Here it is the same one, elsewhere it is not.
        assert_eq!(left(|rank| _ = (name_peer(rank), name_peer(1.into()))), NOBODY);
    }

    #[test]
    fn a_number_of_an_earlier_run_is_the_same_everywhere() {
        let mut earlier = Number::from(0);
        left(|rank| earlier = rank);
        assert_eq!(left(|_| assert_eq!(earlier.get(), 1)), [0, 2, 3]);
    }

    /// Gives a value an identity made of a number.
    fn give(number: Number) {
        let mut hashes = Hashes::default();
        let mix = |hash: u64, number: u64| hash ^ number.wrapping_add(1) << 8;
        hashes.take_number(0, number, mix);
        let hash = number.halves().into_iter().fold(0, mix);
        hashes.of_unknown(hash & !1, false);
    }

    #[test]
    fn values_are_the_same_ones_elsewhere_as_here() {
        assert_eq!(left(give), [0, 2, 3]);
        // The same value here, but not on the other ranks.
        assert_eq!(left(|rank| _ = (give(rank), give(1.into()))), NOBODY);
        // Another value here, but the same one on rank 3.
        assert_eq!(left(|rank| _ = (give(3.into()), give(rank))), [0, 2]);
        assert_eq!(left(|rank| _ = (give(rank), give(3.into()))), [0, 2]);
    }

    #[test]
    fn what_is_the_same_on_all_ranks_is_called_the_same() {
        let uniform = |rank| {
            let mut hashes = Hashes::default();
            hashes.take_number(0, rank, |hash, number| hash ^ number << 8);
            hashes.of_unknown(1 << 8, true);
        };
        assert_eq!(left(uniform), NOBODY);
    }
}
