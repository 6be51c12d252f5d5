//! The receipt for a message that its sender waits for, and the right to read what it lent.
//!
//! A lent message leaves its elements in the sender's buffer. The receiver may read them only
//! between taking the loan and giving it back, and the sender may touch or free them only before
//! it lends, after they were given back, or after it has cancelled the loan, which fails once it is
//! taken:
//!
//! ```text
//! lent --take (receiver)--> taken --give back (receiver)--> done
//!   \--cancel (sender)--> cancelled
//! ```
//!
//! Both `take` and `cancel` are one compare-exchange from `lent`, so only one of them succeeds. A
//! taken loan is given back after one copy of memory and nothing else, so a sender that comes too
//! late to cancel waits for no longer than that. The state lives in an `Arc` of both ends and
//! outlives the sender's frame.

use std::sync::atomic::{AtomicU8, Ordering};

const LENT: u8 = 0;
const TAKEN: u8 = 1;
const DONE: u8 = 2;
const CANCELLED: u8 = 3;

/// See the module.
pub(crate) struct Loan(AtomicU8);

impl Loan {
    pub(crate) fn new() -> Self {
        Loan(AtomicU8::new(LENT))
    }

    /// Makes a settled loan one that can be lent again; only where no other end holds it.
    pub(crate) fn renew(&mut self) {
        *self.0.get_mut() = LENT;
    }

    /// For the receiver: whether it may read now. If not, the message does not exist any more.
    /// Acquires what the sender wrote before it lent.
    pub(crate) fn take(&self) -> bool {
        self.0.compare_exchange(LENT, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// For the receiver that has taken it: it will not read any more. Sequentially consistent,
    /// because it comes before a look at whether the sender sleeps (see `park`).
    pub(crate) fn give_back(&self) {
        self.0.store(DONE, Ordering::SeqCst);
    }

    /// For the sender: whether the message was matched and is not read any more.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::SeqCst) == DONE
    }

    /// For the sender: nobody reads from here on. Waits for the end of a copy under way.
    pub(crate) fn cancel(&self) {
        match self.0.compare_exchange(LENT, CANCELLED, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) | Err(DONE | CANCELLED) => {}
            Err(_) => {
                while !self.is_done() {
                    std::thread::yield_now();
                }
            }
        }
    }
}
