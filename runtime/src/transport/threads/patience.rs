//! How long a rank looks before it sleeps.
//!
//! Between two cores a message takes less than a look or two at the queue, and sleeping would cost
//! twenty times as much; on one core, looking only keeps the sender from running. Which of the two
//! it is depends on the scheduler and changes while a program runs, so a rank goes by what helped
//! last: what has found something gets twice the time at the next wait, what was in vain gets half
//! of it, and from time to time everything is tried in full.

use std::hint::spin_loop;
use std::thread::yield_now;

/// The most looks with a pause of the processor in between: some microseconds.
const MOST_PAUSES: u32 = 128;
/// The fewest.
const LEAST_PAUSES: u32 = 2;
/// The most looks after letting another thread run.
const MOST_YIELDS: u32 = 4;
/// Every so many waits, both are tried in full.
const RETRY: u32 = 32;

/// See the module.
pub(super) struct Patience {
    pauses: u32,
    yields: u32,
    waits: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { pauses: MOST_PAUSES, yields: MOST_YIELDS, waits: 0 }
    }
}

impl Patience {
    /// Looks until `found` finds something or patience ends.
    #[inline]
    pub(super) fn look<R>(&mut self, mut found: impl FnMut() -> Option<R>) -> Option<R> {
        if let Some(result) = found() {
            return Some(result);
        }
        self.waits = self.waits.wrapping_add(1);
        let (pauses, yields) = if self.waits.is_multiple_of(RETRY) {
            (MOST_PAUSES, MOST_YIELDS)
        } else {
            (self.pauses, self.yields)
        };
        for pause in 0..pauses {
            spin_loop();
            if let Some(result) = found() {
                self.pauses = (2 * self.pauses.max(pause)).clamp(8, MOST_PAUSES);
                return Some(result);
            }
        }
        self.pauses = (self.pauses / 2).max(LEAST_PAUSES);
        for _ in 0..yields {
            yield_now();
            if let Some(result) = found() {
                self.yields = MOST_YIELDS;
                return Some(result);
            }
        }
        self.yields /= 2;
        None
    }
}
