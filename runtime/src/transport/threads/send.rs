//! Sends: how a message travels, and how long its sender waits.
//!
//! | mode | up to 32 bytes | longer, borrowed | given away |
//! | --- | --- | --- | --- |
//! | standard, ready; within the limits | in the queue | copied twice | moved |
//! | standard, ready; beyond them | in the queue, waits | lent, copied once, waits | moved, waits |
//! | buffered | in the queue | copied twice | moved |
//! | synchronous | in the queue, waits | lent, copied once, waits | moved, waits |

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;

use p2p_protocol::model::Mode;

use super::endpoint::Endpoint;
use super::loan::Loan;
use super::message::{Body, Envelope, INLINE_BYTES, Inline, Message, RawVec};
use super::park::{Waiting, What};
use crate::error::Result;
use crate::operation::Operation;
use crate::plain::{Element, Plain};

/// What is sent.
pub(crate) enum Lending<T> {
    /// So many elements that stay with the sender.
    Borrowed(*const T, usize),
    /// Elements that go to the receiver.
    Owned(Vec<T>),
}

/// A send that was started.
pub(crate) struct Sent {
    pub(crate) peer: usize,
    pub(crate) standard: bool,
    receipt: Option<Arc<Loan>>,
}

impl Sent {
    /// Whether it is complete: the buffer is not read any more.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.receipt.as_ref().is_none_or(|loan| loan.is_done())
    }

    /// Takes the message back if it is not matched; from here on the buffer is not read any more.
    pub(crate) fn cancel(&self) {
        if let Some(loan) = &self.receipt {
            loan.cancel();
        }
    }
}

impl Endpoint {
    /// Starts a send to a rank of the world.
    ///
    /// # Safety
    ///
    /// Borrowed elements stay in place and unchanged until the send is done or cancelled.
    #[inline]
    pub(crate) unsafe fn start_send<T: Plain>(
        &mut self,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Lending<T>,
    ) -> Result<Sent> {
        self.check_failure()?;
        let queue = self.shared.queue_for_sending(self.rank, peer);
        let limits = self.shared.limits;
        let (count, borrowed) = match &data {
            Lending::Borrowed(_, count) => (*count, true),
            Lending::Owned(data) => (data.len(), false),
        };
        let bytes = count * size_of::<T>();
        let standard = matches!(mode, Mode::Standard | Mode::Ready);
        let waits = match mode {
            Mode::Buffered => false,
            Mode::Synchronous => true,
            Mode::Standard | Mode::Ready => {
                self.unacknowledged[peer].wrapping_sub(queue.taken()) >= limits.messages
                    || (borrowed && bytes > limits.bytes)
            }
        };
        let body = match data {
            Lending::Owned(data) => Body::Owned(RawVec::new(data)),
            Lending::Borrowed(pointer, _) if bytes <= INLINE_BYTES && count <= 255 => {
                // SAFETY: the caller says that so many elements may be read.
                Body::Inline(unsafe { inline(pointer.cast(), bytes) })
            }
            Lending::Borrowed(pointer, _) if waits => Body::Lent(pointer.cast()),
            Lending::Borrowed(pointer, _) => {
                // SAFETY: the caller says that so many elements may be read.
                let data = unsafe { std::slice::from_raw_parts(pointer, count) };
                Body::Owned(RawVec::new(data.to_vec()))
            }
        };
        let receipt = waits.then(|| self.new_loan());
        if !waits {
            self.unacknowledged[peer] = self.unacknowledged[peer].wrapping_add(1);
        }
        let element = Element::of::<T>();
        let message = Message { envelope, element, count, body, receipt: receipt.clone() };
        // SAFETY: the endpoint of the sending rank is the only one that pushes, and it is on one
        // thread.
        unsafe { self.shared.queue_for_sending(self.rank, peer).push(message) };
        self.shared.sleepers[peer].wake(self.rank, &self.shared.active);
        Ok(Sent { peer, standard, receipt })
    }

    /// A loan of nobody's: the last one, if its receiver has let go of it, or a new one.
    fn new_loan(&mut self) -> Arc<Loan> {
        if let Some(mut loan) = self.loan.take()
            && let Some(unshared) = Arc::get_mut(&mut loan)
        {
            unshared.renew();
            return loan;
        }
        Arc::new(Loan::new())
    }

    /// Waits until a send is done, and cancels it if it will never be.
    #[inline]
    pub(crate) fn finish_send(&mut self, operation: &'static Operation, sent: Sent) -> Result<()> {
        if sent.receipt.is_none() {
            return Ok(());
        }
        let Sent { peer, standard, .. } = sent;
        let waited = self.wait_until(
            |endpoint| {
                let peers: Range<usize> = peer..peer + 1;
                let what = What::Send { peer, standard };
                (endpoint.interest(peers), Waiting { operation, what })
            },
            |endpoint| {
                endpoint.progress();
                sent.is_done()
            },
        );
        sent.cancel();
        self.loan = sent.receipt;
        waited
    }
}

/// # Safety
///
/// `bytes` bytes can be read at `pointer`, and they are at most [`INLINE_BYTES`].
#[inline]
unsafe fn inline(pointer: *const u8, bytes: usize) -> Inline {
    let mut words: Inline = [const { std::mem::MaybeUninit::uninit() }; _];
    // SAFETY: the caller says so, and the words have room for `INLINE_BYTES`.
    unsafe { std::ptr::copy_nonoverlapping(pointer, words.as_mut_ptr().cast::<u8>(), bytes) };
    words
}
