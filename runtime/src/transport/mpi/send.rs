//! Sends: one call of MPI each, or a header and then what the bulk transfer does.
//!
//! | mode | up to the policy's limit | beyond it |
//! | --- | --- | --- |
//! | standard | `MPI_Send` | header, then bulk |
//! | synchronous | `MPI_Ssend` | header, synchronous as well, then bulk |
//! | ready | `MPI_Rsend` | header, then bulk |
//! | buffered | copied, `MPI_Isend` | copied; header, then bulk |
//!
//! What is buffered is a copy that this rank keeps until it is sent, so there is no buffer that
//! could be too small.

#![allow(unsafe_code)]

use mpi::ffi;
use p2p_protocol::model::Mode;
use slab::Slab;

use super::bulk::{HEADER_BYTES, OutgoingId};
use super::calls::{self, Route};
use super::code::Code;
use super::copies::{Copied, Spare};
use super::endpoint::Endpoint;
use super::landing;
use super::quick::QuickSend;
use crate::error::Result;
use crate::operation::Operation;
use crate::plain::Plain;
use crate::transport::message::{Envelope, Lending, RawVec};
use crate::transport::started::{Pending, Receipt, Sent};
use crate::transport::waiting::{Half, What};

/// Sends that are under way.
#[derive(Default)]
pub(super) struct Sends {
    pub(super) started: Slab<Send>,
    /// Those that nobody waits for: copies that are kept until they are sent.
    copies: Vec<usize>,
    spare: Spare,
}

/// A send that is under way. Small, because there may be very many.
pub(super) struct Send {
    /// What MPI has of it: the message, or its header.
    pub(super) request: ffi::MPI_Request,
    operation: &'static Operation,
    peer: usize,
    kept: Option<Box<Kept>>,
}

/// What has to stay in place until a send is complete.
struct Kept {
    header: [u8; HEADER_BYTES],
    /// What follows the header.
    moving: Option<OutgoingId>,
    elements: Elements,
}

/// What is sent.
enum Elements {
    /// It is the program's.
    Borrowed,
    /// It was the program's.
    #[expect(dead_code, reason = "kept, not read")]
    Owned(RawVec),
    Copied(Copied),
}

/// How many copies may be under way before each new one looks whether older ones are sent.
const COPIES: usize = 16;

impl Endpoint {
    /// Sends, and returns when `mode` lets it.
    ///
    /// # Safety
    ///
    /// Borrowed elements can be read during the call.
    #[inline(always)]
    pub(crate) unsafe fn send<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Lending<T>,
    ) -> Result<()> {
        if size_of::<T>() != 0 && mode != Mode::Buffered && self.is_plain() {
            let (elements, count) = match &data {
                Lending::Borrowed(elements, count) => (*elements, *count),
                Lending::Owned(data) => (data.as_ptr(), data.len()),
            };
            let length = count * size_of::<T>();
            if !self.bulk.announces(peer, length) {
                let route = self.route(peer, envelope);
                // SAFETY: the caller says so; what is owned lives until the end of the call.
                let sent = unsafe { calls::send(mode, elements.cast(), length, route) };
                return sent.map_err(|code| self.failed(operation, code));
            }
        }
        // SAFETY: the caller says so; `finish_send` leaves it complete, or the job ends.
        let sent = unsafe { self.start_send(operation, mode, peer, envelope, data) }?;
        self.finish_send(operation, sent)
    }

    /// Where a message to `peer` goes.
    #[inline(always)]
    pub(super) fn route(&mut self, peer: usize, envelope: Envelope) -> Route {
        if peer == self.rank {
            self.talks_to_itself = true;
        }
        let (communicator, tag) = self.communicators.wire(envelope);
        // The ranks of MPI are numbers of this type.
        Route { peer: peer as i32, tag, communicator }
    }

    /// Starts a send.
    ///
    /// # Safety
    ///
    /// Borrowed elements stay in place and unchanged until the send is complete or cancelled.
    #[inline(always)]
    pub(crate) unsafe fn start_send<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Lending<T>,
    ) -> Result<Sent> {
        if let Lending::Borrowed(elements, count) = data
            && size_of::<T>() != 0
            && mode != Mode::Buffered
            && !self.looks
            && !self.bulk.announces(peer, count * size_of::<T>())
        {
            let route = self.route(peer, envelope);
            let length = count * size_of::<T>();
            // SAFETY: the caller says so.
            let started = unsafe { calls::start_send(mode, elements.cast(), length, route) };
            let request = started.map_err(|code| self.failed(operation, code))?;
            let receipt = Receipt::Quick(QuickSend::new(request));
            return Ok(Sent { peer, standard: mode != Mode::Synchronous, receipt });
        }
        // SAFETY: the caller says so.
        unsafe { self.start_to_look_after(operation, mode, peer, envelope, data) }
    }

    /// Starts a send that needs more than MPI's own progress, or whose elements have to be kept.
    ///
    /// # Safety
    ///
    /// As for `start_send`.
    #[inline(never)]
    unsafe fn start_to_look_after<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Lending<T>,
    ) -> Result<Sent> {
        let element = size_of::<T>();
        let (elements, count, owned) = match data {
            Lending::Borrowed(elements, count) if mode == Mode::Buffered && element != 0 => {
                // SAFETY: the caller says that they can be read.
                let (elements, copied) =
                    unsafe { self.sends.spare.copy(elements.cast(), count * element) };
                (elements, count, Elements::Copied(copied))
            }
            Lending::Borrowed(elements, count) => (elements.cast(), count, Elements::Borrowed),
            Lending::Owned(data) => {
                (data.as_ptr().cast(), data.len(), Elements::Owned(RawVec::new(data)))
            }
        };
        let (elements, length, owned) = match element {
            0 => {
                let marks = vec![0_u8; landing::marks(count)];
                (marks.as_ptr(), marks.len(), Elements::Owned(RawVec::new(marks)))
            }
            _ => (elements, count * element, owned),
        };
        let route = self.route(peer, envelope);
        // SAFETY: the caller says so for what is borrowed; the rest is kept with the send.
        let started = unsafe {
            self.begin(operation, mode, (peer, route), (elements, length, element), owned)
        };
        let number = started.map_err(|code| self.failed(operation, code))?;
        let standard = matches!(mode, Mode::Standard | Mode::Ready);
        if mode != Mode::Buffered {
            return Ok(Sent { peer, standard, receipt: Receipt::Request(number) });
        }
        self.sends.copies.push(number);
        if self.sends.copies.len() > COPIES {
            self.progress(operation)?;
        }
        Ok(Sent { peer, standard, receipt: Receipt::Complete })
    }

    /// # Safety
    ///
    /// `length` bytes can be read from `elements`, and do not change, until the send is complete.
    /// An element has `element` bytes; 0: what is sent are marks.
    unsafe fn begin(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        (peer, route): (usize, Route),
        (elements, length, element): (*const u8, usize, usize),
        owned: Elements,
    ) -> Result<usize, Code> {
        let mut kept = match owned {
            Elements::Borrowed => None,
            elements => Some(Box::new(Kept { header: [0; HEADER_BYTES], moving: None, elements })),
        };
        let request = if element != 0 && self.bulk.announces(peer, length) {
            // SAFETY: the caller says so.
            let (moving, header) = unsafe { self.bulk.offer(peer, elements, length, element) };
            let kept = kept.get_or_insert_with(|| {
                Box::new(Kept { header, moving: None, elements: Elements::Borrowed })
            });
            (kept.header, kept.moving) = (header, Some(moving));
            // The header waits where the message would: what follows it may be copied away at once.
            // SAFETY: the header is kept with the send.
            unsafe { calls::start_send(mode, kept.header.as_ptr(), HEADER_BYTES, route) }
        } else {
            // SAFETY: the caller says so.
            unsafe { calls::start_send(mode, elements, length, route) }
        };
        Ok(self.sends.started.insert(Send { request: request?, operation, peer, kept }))
    }

    /// Starts to send a header; what follows it is under way from then on.
    pub(super) fn send_header(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        (peer, envelope): (usize, Envelope),
        (moving, header): (OutgoingId, [u8; HEADER_BYTES]),
    ) -> Result<usize, Code> {
        let route = self.route(peer, envelope);
        let kept = Box::new(Kept { header, moving: Some(moving), elements: Elements::Borrowed });
        // SAFETY: the header is kept with the send.
        let request =
            unsafe { calls::start_send(mode, kept.header.as_ptr(), HEADER_BYTES, route) }?;
        Ok(self.sends.started.insert(Send { request, operation, peer, kept: Some(kept) }))
    }

    /// Waits until a send is complete, and forgets it.
    #[inline]
    pub(crate) fn finish_send(&mut self, operation: &'static Operation, sent: Sent) -> Result<()> {
        match &sent.receipt {
            Receipt::Quick(send) if send.request().is_none() => Ok(()),
            _ => self.wait_and_forget(operation, sent),
        }
    }

    fn wait_and_forget(&mut self, operation: &'static Operation, sent: Sent) -> Result<()> {
        let (peer, standard) = (sent.peer, sent.standard);
        let pending = Pending::Send(sent);
        if !self.is_complete(&pending) {
            self.complete(operation, std::iter::once((operation, &pending)), &|_| {
                What::Message(Half::to(operation, peer, standard))
            })?;
        }
        if let Pending::Send(sent) = pending {
            self.forget_send(sent);
        }
        Ok(())
    }

    /// From here on the elements are not read any more. MPI cannot take a send back, so it has to
    /// complete, or the job ends.
    pub(crate) fn cancel_send(&mut self, sent: Sent) {
        if !self.is_sent_off(&sent) && !self.completes_soon(&sent) {
            self.abort_where_it_stands("a message that was sent is never received");
        }
        self.forget_send(sent);
    }

    /// Forgets a send that is complete.
    #[inline(always)]
    pub(crate) fn forget_send(&mut self, sent: Sent) {
        if let Receipt::Request(number) = sent.receipt {
            self.forget_number(number);
        }
    }

    pub(super) fn forget_number(&mut self, number: usize) {
        let Some(kept) = self.sends.started.remove(number).kept else { return };
        if let Some(moving) = kept.moving {
            self.bulk.finish_send(moving);
        }
        if let Elements::Copied(copied) = kept.elements {
            self.sends.spare.give_back(copied);
        }
    }

    /// Looks whether sends are complete.
    pub(super) fn progress_sends(&mut self) -> Result<(), Code> {
        for (_, send) in &mut self.sends.started {
            send.look()?;
        }
        let mut copies = std::mem::take(&mut self.sends.copies);
        copies.retain(|&copy| {
            let sent = self.is_sent(copy);
            if sent {
                self.forget_number(copy);
            }
            !sent
        });
        self.sends.copies = copies;
        Ok(())
    }

    /// Whether a send is complete, as far as was seen when this rank last looked.
    #[inline]
    pub(super) fn is_sent(&self, number: usize) -> bool {
        let send = &self.sends.started[number];
        send.request == calls::no_request() && send.moving().is_none_or(|id| self.bulk.is_sent(id))
    }

    /// The copies that are still to be sent.
    pub(super) fn copies(&self) -> Vec<Half> {
        let copies = self.sends.copies.iter().map(|&copy| &self.sends.started[copy]);
        copies.map(|send| Half::to(send.operation, send.peer, false)).collect()
    }
}

impl Send {
    #[inline]
    fn moving(&self) -> Option<OutgoingId> {
        self.kept.as_ref().and_then(|kept| kept.moving)
    }

    fn look(&mut self) -> Result<(), Code> {
        if self.request != calls::no_request() {
            // MPI makes it none when it is complete.
            calls::test(&mut self.request).map_err(|refused| refused.code)?;
        }
        Ok(())
    }
}
