//! One rank's end of all queues, and how it waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::matching::Receives;
use super::message::Message;
use super::park::Interest;
use super::patience::Patience;
use super::send::{Loans, Unacknowledged};
use super::shared::{Failure, Shared};
use crate::error::{Error, Result, Step};
use crate::operation::Operation;
use crate::transport::waiting::{Collective, Waiting, What};

/// How often a test may fail before the rank counts as one that only tests.
const TESTS_BEFORE_YIELD: u32 = 64;
/// How often a test may fail while nobody else can move before it waits like a `wait`.
const TESTS_IN_VAIN: u32 = 1 << 16;

/// See the module. One for each rank, on the rank's own thread; it is not `Send`.
pub(crate) struct Endpoint {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rank: usize,
    pub(super) unacknowledged: Vec<Unacknowledged>,
    /// Messages that were looked at and not received yet, by source, in order.
    pub(super) unexpected: Vec<VecDeque<Message>>,
    pub(super) receives: Receives,
    pub(super) loans: Loans,
    /// The sessions that are under way on this rank.
    pub(super) sessions: Vec<u32>,
    /// How many sessions were begun.
    pub(super) begun: u32,
    pub(super) patience: Patience,
    step: Option<&'static Operation>,
    /// The collective operation that the rank is in, whose messages it waits for.
    collective: Option<Collective>,
    failed_tests: u32,
    tests_in_vain: u32,
    thread: std::marker::PhantomData<*const ()>,
}

impl Endpoint {
    /// The end of `rank`, on the calling thread.
    pub(crate) fn new(shared: Arc<Shared>, rank: usize) -> Self {
        shared.sleepers[rank].bind();
        let (size, crowded) = (shared.size, shared.crowded);
        Endpoint {
            shared,
            rank,
            unacknowledged: vec![Unacknowledged::default(); size],
            unexpected: (0..size).map(|_| VecDeque::new()).collect(),
            receives: Receives::default(),
            loans: Loans::default(),
            sessions: Vec::new(),
            begun: 0,
            patience: Patience::new(crowded),
            step: None,
            collective: None,
            failed_tests: 0,
            tests_in_vain: 0,
            thread: std::marker::PhantomData,
        }
    }

    /// This rank: `0..size`.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.shared.size
    }

    /// Every operation begins here.
    #[inline]
    pub(crate) fn enter(&mut self, operation: &'static Operation) {
        self.step = Some(operation);
        self.collective = None;
        if self.failed_tests != 0 {
            self.stop_testing();
        }
    }

    /// Every collective operation begins here.
    pub(crate) fn enter_collective(&mut self, operation: &'static Operation, call: Collective) {
        self.enter(operation);
        self.shared.sleepers[self.rank].entered().note(call);
        self.collective = Some(call);
    }

    #[cold]
    fn stop_testing(&mut self) {
        if self.failed_tests > TESTS_BEFORE_YIELD {
            self.shared.testing.fetch_sub(1, Ordering::AcqRel);
        }
        self.failed_tests = 0;
        self.tests_in_vain = 0;
    }

    /// This rank is done; where it was.
    pub(crate) fn end(&mut self) -> Step {
        self.stop_testing();
        self.step()
    }

    /// The last operation.
    pub(crate) fn step(&self) -> Step {
        Step(self.step)
    }

    /// Waits until `ready`, which looks whether something has come and says so. `what` says what
    /// it waits in, in case that never comes.
    pub(super) fn wait_until(
        &mut self,
        operation: &'static Operation,
        what: impl Fn(&Endpoint) -> What,
        mut ready: impl FnMut(&mut Endpoint) -> bool,
    ) -> Result<()> {
        // `ready` needs all of `self`, so patience steps aside for as long as it lasts.
        let mut patience = self.patience;
        let found = patience.look(|| ready(self).then_some(()));
        self.patience = patience;
        if found.is_some() {
            return Ok(());
        }
        self.sleep_until(operation, what, ready)
    }

    #[inline(never)]
    fn sleep_until(
        &mut self,
        operation: &'static Operation,
        what: impl Fn(&Endpoint) -> What,
        mut ready: impl FnMut(&mut Endpoint) -> bool,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let sleeper = &shared.sleepers[self.rank];
        loop {
            let what = what(self);
            let interest = self.interest(&what);
            let what = self.collective.map_or(what, What::Collective);
            sleeper.lie_down(interest, Waiting { operation, what });
            if ready(self) {
                sleeper.stay_awake(&shared.active);
                return Ok(());
            }
            if let Some(error) = shared.failure() {
                sleeper.stay_awake(&shared.active);
                return Err(error);
            }
            sleeper.sleep(&shared.active, || shared.stuck());
        }
    }

    /// For whom this rank sleeps: the peer alone, if nobody else could have anything for it. A
    /// message for a posted receive has to be matched even if the rank waits for another.
    fn interest(&self, what: &What) -> Interest {
        match what {
            What::Message(half) if half.peers().len() == 1 => {
                let peer = half.peers().start;
                let alone = self.receives.all_from(peer);
                if alone { Interest::Rank(peer) } else { Interest::Any }
            }
            _ => Interest::Any,
        }
    }

    /// A test has failed. At first that is all; then others go first; and after many times while
    /// nobody else can move either, the caller is told to wait instead, because only a rank that
    /// waits can be known to be stuck. The number is bounded, so a loop that only tests cannot run
    /// for ever, and large, so a loop that gives up some day is not stopped before.
    pub(super) fn failed_test(&mut self) -> bool {
        self.failed_tests = self.failed_tests.saturating_add(1);
        if self.failed_tests < TESTS_BEFORE_YIELD {
            return false;
        }
        if self.failed_tests == TESTS_BEFORE_YIELD {
            self.shared.testing.fetch_add(1, Ordering::AcqRel);
            self.failed_tests += 1;
        }
        std::thread::yield_now();
        let active = self.shared.active.load(Ordering::Acquire);
        if active > self.shared.testing.load(Ordering::Acquire) {
            self.tests_in_vain = 0;
        } else {
            self.tests_in_vain += 1;
        }
        self.tests_in_vain >= TESTS_IN_VAIN
    }

    /// The test of an operation has begun, which is a step like others, but does not end testing.
    pub(super) fn enter_test(&mut self, operation: &'static Operation) -> Result<()> {
        self.step = Some(operation);
        self.check_failure()
    }

    /// This rank leaves a session before its end: every rank that waits, or will wait, gets an
    /// error.
    pub(crate) fn give_up(&mut self) {
        self.shared.fail(Failure::Gone { rank: self.rank, at: self.step() });
    }

    /// Fails if the world has.
    #[inline]
    pub(crate) fn check_failure(&self) -> Result<(), Error> {
        match self.shared.may_have_failed() {
            true => self.shared.failure().map_or(Ok(()), Err),
            false => Ok(()),
        }
    }
}
