//! Sleeping and waking, and knowing when nobody can move any more.
//!
//! A rank that waits publishes *asleep* in its `state`, looks once more, takes itself off the
//! count of `active` ranks, and parks. Whoever does something that it may wait for puts it back on
//! the count and then clears `state`; only the one that cleared it has woken it.
//!
//! **No wake is lost.** What a rank waits for is a message in one of its queues or a loan given
//! back. The waker stores that (sequentially consistent), then loads `state`. The sleeper stores
//! `state`, then loads what it waits for. All four are sequentially consistent, so at least one of
//! the two sees the other's store: the waker wakes, or the sleeper does not sleep. A compare-exchange
//! that fails has read the store of another waker, which precedes the sleeper's next *asleep*; its
//! look after that sees what was stored. `state` also says whom alone the sleeper waits for;
//! another rank lets it sleep. It is one word, so what is read belongs together.
//!
//! **`active` is 0 only if nobody can move.** Call a rank *stuck* if it has ended, or is asleep and
//! everything it waits for is absent. The count is the number of ranks, less one for each end and
//! each sleep, plus one for each wake. A wake is counted before `state` is cleared, so before the
//! sleeper can go on and sleep again: a rank's own part of the sum is never below 0, and it is at
//! least 1 while it runs, since it takes itself off only after its last look. A waker whose
//! compare-exchange fails takes its 1 back while it runs itself. So a rank that runs keeps the sum
//! above 0, and so does one that was woken and does not know it yet. What is too much in the sum is
//! the doing of a rank that runs, which sets it right before it sleeps or ends. Thus if any rank is
//! not stuck the sum is above 0, and if all are, the last one to sleep or end has made it 0 and knows.
//! From then on nothing changes, so it may look at all the others at leisure.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use crate::transport::waiting::{Entered, Waiting};

const AWAKE: u32 = 0;
const ASLEEP_FOR_ANY: u32 = 1;
const ASLEEP_FOR: u32 = 2;

/// For whom a rank sleeps.
#[derive(Clone, Copy)]
pub(crate) enum Interest {
    Any,
    Rank(usize),
}

/// One rank's part of the whole, written by others.
#[repr(align(128))]
pub(crate) struct Sleeper {
    state: AtomicU32,
    thread: OnceLock<Thread>,
    waiting: Mutex<Option<Waiting>>,
    entered: Mutex<Entered>,
}

impl Sleeper {
    pub(crate) fn new() -> Self {
        Sleeper {
            state: AtomicU32::new(AWAKE),
            thread: OnceLock::new(),
            waiting: Mutex::new(None),
            entered: Mutex::new(Entered::default()),
        }
    }

    /// Says which thread this rank is; before it first sleeps, and by that thread.
    pub(crate) fn bind(&self) {
        // A second world on the same thread would find its own name here already.
        let _ = self.thread.set(std::thread::current());
    }

    /// What this rank waits in, if it sleeps.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        if self.state.load(Ordering::SeqCst) == AWAKE {
            return None;
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The collective operations that this rank has come to.
    pub(crate) fn entered(&self) -> MutexGuard<'_, Entered> {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes that this rank sleeps. A last look must follow, then `sleep` or `stay_awake`.
    pub(crate) fn lie_down(&self, interest: Interest, waiting: Waiting) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(waiting);
        let state = match interest {
            Interest::Any => ASLEEP_FOR_ANY,
            // A world with so many ranks that this overflows does not fit in memory.
            Interest::Rank(rank) => ASLEEP_FOR + rank as u32,
        };
        self.state.store(state, Ordering::SeqCst);
    }

    /// After a last look that has found something.
    pub(crate) fn stay_awake(&self, active: &AtomicU32) {
        if self.state.swap(AWAKE, Ordering::SeqCst) == AWAKE {
            // Somebody woke this rank, and counted it once more while it was still counted.
            active.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// After a last look in vain: sleeps until somebody wakes this rank. `stuck` is called first if
    /// that leaves nobody who could.
    pub(crate) fn sleep(&self, active: &AtomicU32, stuck: impl FnOnce()) {
        if active.fetch_sub(1, Ordering::AcqRel) == 1 {
            stuck();
        }
        while self.state.load(Ordering::SeqCst) != AWAKE {
            std::thread::park();
        }
    }

    /// Wakes this rank if it sleeps for `waker`; what it waits for was stored before.
    #[inline]
    pub(crate) fn wake(&self, waker: usize, active: &AtomicU32) {
        let state = self.state.load(Ordering::SeqCst);
        if state == ASLEEP_FOR_ANY || state == ASLEEP_FOR + waker as u32 {
            self.rouse(state, active);
        }
    }

    /// Wakes this rank if it sleeps, whomever it waits for.
    pub(crate) fn wake_for_failure(&self, active: &AtomicU32) {
        let state = self.state.load(Ordering::SeqCst);
        if state != AWAKE {
            self.rouse(state, active);
        }
    }

    #[cold]
    fn rouse(&self, state: u32, active: &AtomicU32) {
        active.fetch_add(1, Ordering::AcqRel);
        let woken = self.state.compare_exchange(state, AWAKE, Ordering::SeqCst, Ordering::SeqCst);
        if woken.is_err() {
            active.fetch_sub(1, Ordering::AcqRel);
        } else if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
