//! Sends: how a message travels, and how long its sender waits.
//!
//! | mode | up to 32 bytes | longer, borrowed | given away |
//! | --- | --- | --- | --- |
//! | standard, ready; within the limits | in the queue | copied twice | moved |
//! | standard, ready; beyond them | in the queue, waits | lent, copied once, waits | moved, waits |
//! | buffered | in the queue | copied twice | moved |
//! | synchronous | in the queue, waits | lent, copied once, waits | moved, waits |

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::Arc;

use p2p_protocol::model::Mode;

use super::endpoint::Endpoint;
use super::loan::Loan;
use super::message::{Body, INLINE_BYTES, Inline, Message};
use crate::error::Result;
use crate::operation::Operation;
use crate::plain::{Element, Plain};
use crate::transport::message::{Envelope, Lending, RawVec};
use crate::transport::started::{Receipt, Sent};
use crate::transport::waiting::{Half, What};

/// The messages without receipt to one rank.
#[derive(Clone, Copy, Default)]
pub(super) struct Unacknowledged {
    sent: u32,
    /// How many of them were received when this rank last looked.
    taken: u32,
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
        _: &'static Operation,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Lending<T>,
    ) -> Result<Sent> {
        self.check_failure()?;
        let (count, borrowed) = match &data {
            Lending::Borrowed(_, count) => (*count, true),
            Lending::Owned(data) => (data.len(), false),
        };
        let bytes = count * size_of::<T>();
        let standard = matches!(mode, Mode::Standard | Mode::Ready);
        let too_long = borrowed && bytes > self.shared.limits.bytes;
        let waits = match mode {
            Mode::Buffered => false,
            Mode::Synchronous => true,
            Mode::Standard | Mode::Ready => too_long || self.has_sent_enough(peer),
        };
        if !waits {
            let sent = &mut self.unacknowledged[peer].sent;
            *sent = sent.wrapping_add(1);
        }
        let element = Element::of::<T>();
        let queue = self.shared.queue_for_sending(self.rank, peer);
        let loan = match (data, u8::try_from(count)) {
            (Lending::Borrowed(elements, _), Ok(count)) if !waits && bytes <= INLINE_BYTES => {
                // SAFETY: the endpoint of the sending rank is the only one that pushes, and it is
                // on one thread; the caller says that the elements may be read.
                unsafe { queue.push_inline(envelope, element, elements.cast(), count) };
                None
            }
            (data, _) => {
                // SAFETY: the caller says that borrowed elements may be read.
                let body = unsafe { body(data, waits) };
                let receipt = waits.then(|| self.loans.new_loan());
                let message = Message { envelope, element, count, body, receipt: receipt.clone() };
                // SAFETY: as above.
                unsafe { queue.push(message) };
                receipt
            }
        };
        let receipt = loan.map_or(Receipt::Complete, Receipt::Lent);
        self.shared.sleepers[peer].wake(self.rank, &self.shared.active);
        Ok(Sent { peer, standard, receipt })
    }

    /// Whether as many messages to `peer` as may be buffered are not received yet. How many were
    /// received is looked at only when it matters: the receiver writes it all the time.
    #[inline]
    fn has_sent_enough(&mut self, peer: usize) -> bool {
        let limit = self.shared.limits.messages;
        let Unacknowledged { sent, taken } = &mut self.unacknowledged[peer];
        if sent.wrapping_sub(*taken) < limit {
            return false;
        }
        *taken = self.shared.queue_for_sending(self.rank, peer).taken();
        sent.wrapping_sub(*taken) >= limit
    }

    /// Sends, and returns when `mode` lets it.
    ///
    /// # Safety
    ///
    /// Borrowed elements can be read during the call.
    #[inline]
    pub(crate) unsafe fn send<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Lending<T>,
    ) -> Result<()> {
        // SAFETY: the caller says so; `finish_send` leaves it complete or cancelled.
        let sent = unsafe { self.start_send(operation, mode, peer, envelope, data) }?;
        self.finish_send(operation, sent)
    }

    /// Waits until a send is complete, and cancels it if it will never be.
    #[inline]
    pub(crate) fn finish_send(&mut self, operation: &'static Operation, sent: Sent) -> Result<()> {
        let Sent { peer, standard, receipt: Receipt::Lent(loan) } = sent else { return Ok(()) };
        let waited = self.wait_until(
            operation,
            |_| What::Message(Half::to(operation, peer, standard)),
            |endpoint| {
                endpoint.progress();
                loan.is_done()
            },
        );
        loan.cancel();
        self.loans.last = Some(loan);
        waited
    }

    /// Forgets a send that is complete.
    pub(crate) fn forget_send(&mut self, sent: Sent) {
        if let Receipt::Lent(loan) = sent.receipt {
            self.loans.last = Some(loan);
        }
    }

    /// Takes the message back if it is not matched; from here on the buffer is not read any more.
    pub(crate) fn cancel_send(&mut self, sent: Sent) {
        if let Receipt::Lent(loan) = sent.receipt {
            loan.cancel();
        }
    }
}

impl Sent {
    /// Whether it is complete: the buffer is not read any more.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        match &self.receipt {
            Receipt::Lent(loan) => loan.is_done(),
            _ => true,
        }
    }
}

/// Where the elements of a message are while it is on its way.
///
/// # Safety
///
/// Borrowed elements can be read now, and if the sender `waits` also until it stops.
unsafe fn body<T: Plain>(data: Lending<T>, waits: bool) -> Body {
    match data {
        Lending::Owned(data) => Body::Owned(RawVec::new(data)),
        Lending::Borrowed(elements, count) => {
            let bytes = count * size_of::<T>();
            if bytes <= INLINE_BYTES && count <= usize::from(u8::MAX) {
                let mut words: Inline = [const { MaybeUninit::uninit() }; _];
                // SAFETY: the caller says so, and the words have the room.
                unsafe {
                    let words: *mut u8 = words.as_mut_ptr().cast();
                    std::ptr::copy_nonoverlapping(elements.cast(), words, bytes);
                }
                return Body::Inline(words);
            }
            if waits {
                return Body::Lent(elements.cast());
            }
            // SAFETY: the caller says so.
            let elements = unsafe { std::slice::from_raw_parts(elements, count) };
            Body::Owned(RawVec::new(elements.to_vec()))
        }
    }
}

/// Receipts for this rank's sends; the last one is used again if its receiver has let go of it.
#[derive(Default)]
pub(super) struct Loans {
    last: Option<Arc<Loan>>,
}

impl Loans {
    fn new_loan(&mut self) -> Arc<Loan> {
        if let Some(mut loan) = self.last.take()
            && let Some(unshared) = Arc::get_mut(&mut loan)
        {
            unshared.renew();
            return loan;
        }
        Arc::new(Loan::new())
    }
}
