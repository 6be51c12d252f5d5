//! What all ranks of a world have in common.

#![allow(unsafe_code)]

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::hang;
use super::park::Sleeper;
use super::queue::Queue;
use crate::error::{Error, Report, Step};

/// How much a standard send may buffer before it waits for its receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest message that is buffered, in bytes.
    pub(crate) bytes: usize,
    /// How many messages from one rank to another are buffered.
    pub(crate) messages: u32,
}

/// Why no rank of a world goes on.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A rank left with an error or a panic.
    Gone { rank: usize, at: Step },
    /// All that are left wait.
    Hang(Report),
}

/// Why a rank is not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Its closure has returned a value.
    Ended,
    /// It returned an error or panicked, and this was its last step.
    Failed(Step),
}

/// See the module.
pub(crate) struct Shared {
    pub(crate) size: usize,
    pub(crate) limits: Limits,
    /// Whether there are more ranks than cores.
    pub(super) crowded: bool,
    /// The ranks that are not stuck; see `park`.
    pub(crate) active: AtomicU32,
    /// The ranks that only test in vain, of those that are active.
    pub(crate) testing: AtomicU32,
    pub(crate) sleepers: Box<[Sleeper]>,
    ended: Box<[AtomicBool]>,
    failed: AtomicBool,
    failure: OnceLock<Failure>,
    /// From `source` to `destination` at `destination * size + source`; made at the first message.
    queues: Box<[AtomicPtr<Queue>]>,
}

impl Shared {
    pub(crate) fn new(size: usize, limits: Limits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Shared {
            size,
            limits,
            crowded: size > cores,
            active: AtomicU32::new(u32::try_from(size).expect("fewer than 2^32 ranks")),
            testing: AtomicU32::new(0),
            sleepers: (0..size).map(|_| Sleeper::new()).collect(),
            ended: (0..size).map(|_| AtomicBool::new(false)).collect(),
            failed: AtomicBool::new(false),
            failure: OnceLock::new(),
            queues: (0..size * size).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
        }
    }

    /// The messages from `source` to `destination`, if there was ever one.
    #[inline]
    pub(crate) fn queue(&self, source: usize, destination: usize) -> Option<&Queue> {
        let queue = self.queues[destination * self.size + source].load(Ordering::SeqCst);
        // SAFETY: a queue that was once stored stays until `self` is dropped.
        unsafe { queue.as_ref() }
    }

    /// The same, made if it is not there. Only `source` calls it, so nobody else makes it.
    #[inline]
    pub(crate) fn queue_for_sending(&self, source: usize, destination: usize) -> &Queue {
        match self.queue(source, destination) {
            Some(queue) => queue,
            None => self.new_queue(source, destination),
        }
    }

    #[cold]
    fn new_queue(&self, source: usize, destination: usize) -> &Queue {
        let queue = Box::into_raw(Box::new(Queue::new()));
        // Sequentially consistent, because the receiver's last look before it sleeps begins here.
        self.queues[destination * self.size + source].store(queue, Ordering::SeqCst);
        // SAFETY: it was made from a box just now, and lives until `self` is dropped.
        unsafe { &*queue }
    }

    /// Whether the world has failed; may lag behind.
    #[inline]
    pub(crate) fn may_have_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Why the world has failed, if it has.
    pub(crate) fn failure(&self) -> Option<Error> {
        if !self.failed.load(Ordering::SeqCst) {
            return None;
        }
        self.failure.get().map(|failure| match failure {
            Failure::Gone { rank, at } => Error::PeerGone { rank: *rank, at: *at },
            Failure::Hang(report) => Error::Deadlock(report.clone()),
        })
    }

    /// Ends the world: every rank that waits, or will wait, gets an error. Only the first counts.
    pub(crate) fn fail(&self, failure: Failure) {
        if self.failure.set(failure).is_ok() {
            self.failed.store(true, Ordering::SeqCst);
            for sleeper in &self.sleepers {
                sleeper.wake_for_failure(&self.active);
            }
        }
    }

    /// Whether a rank has ended without an error.
    pub(crate) fn has_ended(&self, rank: usize) -> bool {
        self.ended[rank].load(Ordering::Acquire)
    }

    /// A rank is done, one way or the other.
    pub(crate) fn leave(&self, rank: usize, leave: Leave) {
        match leave {
            Leave::Ended => self.ended[rank].store(true, Ordering::Release),
            Leave::Failed(at) => self.fail(Failure::Gone { rank, at }),
        }
        if self.active.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.stuck();
        }
    }

    /// Nobody can move: if somebody waits, says so to all. Called where `active` became 0.
    pub(crate) fn stuck(&self) {
        if let Some(report) = hang::report(self) {
            self.fail(Failure::Hang(report));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for queue in &self.queues {
            let queue = queue.load(Ordering::Acquire);
            if !queue.is_null() {
                // SAFETY: made from a box, stored once, and nobody else is left.
                drop(unsafe { Box::from_raw(queue) });
            }
        }
    }
}
