//! How long a rank looks before it sleeps.
//!
//! Between two cores a message takes less time than a few looks at the queue, and sleeping would
//! cost twenty times as much. On one core looking only keeps the sender from running; to yield the
//! core to it is the fastest there, but if another program gets it instead it may keep it for
//! milliseconds, while a rank that sleeps is back as soon as it is woken. Which of these it is depends
//! on the scheduler and changes while a program runs, so a rank goes by what has helped last:
//!
//! - it looks; for long, or if only yielding has helped, for a moment. Now and then it looks for
//!   very long: a peer that was asleep itself needs some time for its answer, and two ranks that
//!   both sleep too early would otherwise never find out;
//! - then it yields a few times, unless that has lately cost a whole slice;
//! - then it sleeps.
//!
//! If there are more ranks than cores, looking in vain keeps another rank from its core: each time
//! that it was in vain it is tried for half as long, until it helps again.

use std::hint::spin_loop;
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// Looks, after a pause of the processor each, of some tens of nanoseconds.
const FEW_LOOKS: u32 = 4;
const LOOKS: u32 = 64;
const MANY_LOOKS: u32 = 400;
/// Every so many waits it looks for very long; among more ranks than cores more and more seldom
/// where that is in vain, down to the least.
const LONG_WAIT: u32 = 16;
const SELDOM_LONG_WAIT: u32 = 1024;
/// The most yields in one wait.
const YIELDS: u32 = 4;
/// A yield that takes longer has given the core to another program.
const SLICE: Duration = Duration::from_micros(50);
/// After such a yield, so many waits go without; twice as many after the next, up to the most.
const WITHOUT_YIELD: u32 = 64;
const MOST_WITHOUT_YIELD: u32 = 4096;

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// Whether there are more ranks than cores.
    crowded: bool,
    looks: u32,
    /// The waits from one in which it looks for very long to the next.
    long_wait: u32,
    /// The waits in which looking began, not counting those that it ended at once.
    waits: u32,
    /// The waits that go without yielding.
    without_yield: u32,
    /// How many they were last.
    last_without_yield: u32,
}

impl Patience {
    /// Of a rank among more, or not more, ranks than cores.
    pub(super) fn new(crowded: bool) -> Self {
        Patience {
            crowded,
            looks: LOOKS,
            long_wait: LONG_WAIT,
            waits: 0,
            without_yield: 0,
            last_without_yield: 0,
        }
    }

    /// Looks until `found` finds something or patience ends.
    #[inline]
    pub(super) fn look<R>(&mut self, mut found: impl FnMut() -> Option<R>) -> Option<R> {
        // What is there already says nothing about waiting.
        if let Some(result) = found() {
            return Some(result);
        }
        self.waits = self.waits.wrapping_add(1);
        let long = self.waits.is_multiple_of(self.long_wait);
        let looks = if long { MANY_LOOKS } else { self.looks };
        for _ in 0..looks {
            spin_loop();
            if let Some(result) = found() {
                (self.looks, self.long_wait) = (LOOKS, LONG_WAIT);
                return Some(result);
            }
        }
        if self.crowded && long {
            self.long_wait = (2 * self.long_wait).min(SELDOM_LONG_WAIT);
        } else if self.crowded {
            self.looks = (self.looks / 2).max(FEW_LOOKS);
        }
        self.yield_for(found)
    }

    #[inline(never)]
    fn yield_for<R>(&mut self, mut found: impl FnMut() -> Option<R>) -> Option<R> {
        if self.without_yield > 0 {
            self.without_yield -= 1;
            return None;
        }
        for _ in 0..YIELDS {
            let before = Instant::now();
            yield_now();
            let long = before.elapsed() > SLICE;
            if long {
                let next = (2 * self.last_without_yield).clamp(WITHOUT_YIELD, MOST_WITHOUT_YIELD);
                (self.without_yield, self.last_without_yield) = (next, next);
            }
            if let Some(result) = found() {
                if !long {
                    self.looks = FEW_LOOKS;
                    self.last_without_yield = 0;
                }
                return Some(result);
            }
            if long {
                break;
            }
        }
        None
    }
}
