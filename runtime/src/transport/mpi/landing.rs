//! Where what MPI has received is put, and what it turns out to be: the message, or its header.

#![allow(unsafe_code)]

use super::bulk::{self, Bulk, HEADER_BYTES, IncomingId};
use super::calls::{self, Arrival, Matched, Refused};
use super::code::Code;
use super::endpoint::Endpoint;
use super::start::library;
use crate::error::{Error, Result, Step};
use crate::operation::{Operation, Status};
use crate::transport::message::{Place, Target};

/// What a message has turned out to be.
pub(super) enum Landed {
    Whole(Status),
    Announced(IncomingId, Status),
}

impl Endpoint {
    /// What MPI has put at the start of a slice.
    ///
    /// # Safety
    ///
    /// As for `receive`; what has come is at the start of `target`, a slice.
    #[inline]
    pub(super) unsafe fn landed(
        &mut self,
        operation: &'static Operation,
        received: Result<Arrival, Refused>,
        target: Target,
    ) -> Result<Landed> {
        let Arrival { source, bytes } = match received {
            Ok(arrival) => arrival,
            Err(refused) => return Err(self.refused(operation, &refused, target)),
        };
        if bytes != HEADER_BYTES {
            return Ok(Landed::Whole(Status { source, count: target.count(bytes) }));
        }
        let Place::Slice { pointer, .. } = target.place else {
            unreachable!("MPI alone receives into slices only");
        };
        // SAFETY: so many bytes have come there.
        let header = unsafe { *pointer.cast::<[u8; HEADER_BYTES]>() };
        // SAFETY: the caller says so.
        unsafe { self.accept(operation, source, &header, target) }
    }

    /// What a receive that MPI has refused is to the program.
    #[cold]
    pub(super) fn refused(
        &self,
        operation: &'static Operation,
        Refused { code, arrival }: &Refused,
        target: Target,
    ) -> Error {
        let Place::Slice { room, .. } = target.place else { return self.failed(operation, *code) };
        if !code.is_truncation() {
            return self.failed(operation, *code);
        }
        // Open MPI says how long the message was, and MPICH leaves any number there; a header says
        // nothing of it.
        let told = arrival.bytes > room * target.element.size
            && arrival.bytes != HEADER_BYTES
            && library().starts_with("Open MPI");
        let sent = told.then(|| arrival.bytes / target.element.size);
        self.truncated(operation, arrival.source, sent, room)
    }

    #[cold]
    pub(super) fn truncated(
        &self,
        operation: &'static Operation,
        source_rank: usize,
        sent: Option<usize>,
        room: usize,
    ) -> Error {
        Error::Truncated { sent, room, rank: self.rank, source_rank, at: Step(Some(operation)) }
    }

    /// Begins to receive what a header announces.
    ///
    /// # Safety
    ///
    /// As for `post`.
    pub(super) unsafe fn accept(
        &mut self,
        operation: &'static Operation,
        source: usize,
        header: &[u8; HEADER_BYTES],
        target: Target,
    ) -> Result<Landed> {
        let length = Bulk::announced(header);
        let count = length / target.element.size;
        let place = match target.place {
            Place::Slice { room, .. } if count > room => {
                return Err(self.truncated(operation, source, Some(count), room));
            }
            Place::Slice { pointer, .. } => pointer,
            Place::Vec(vec) => {
                // SAFETY: the caller says so.
                let room = unsafe { vec.make_room(count) };
                if room.fresh {
                    bulk::prepare(room.pointer, length);
                }
                room.pointer
            }
        };
        // SAFETY: the place has the room, and the caller keeps it.
        let incoming = unsafe { self.bulk.accept(source, header, place) };
        Ok(Landed::Announced(incoming, Status { source, count }))
    }

    /// Receives a message that was taken out of MPI's matching.
    ///
    /// # Safety
    ///
    /// As for `post`.
    pub(super) unsafe fn land_matched(
        &mut self,
        operation: &'static Operation,
        matched: Matched,
        target: Target,
    ) -> Result<Landed> {
        let Arrival { source, bytes } = matched.arrival;
        if target.element.size == 0 {
            return self.count_marks(operation, matched, target);
        }
        if bytes == HEADER_BYTES {
            let header = take_header(matched).map_err(|code| self.failed(operation, code))?;
            // SAFETY: the caller says so.
            return unsafe { self.accept(operation, source, &header, target) };
        }
        let count = bytes / target.element.size;
        let place = match target.place {
            Place::Slice { room, .. } if count > room => {
                return Err(self.truncated(operation, source, Some(count), room));
            }
            Place::Slice { pointer, .. } => pointer,
            // SAFETY: the caller says so.
            Place::Vec(vec) => unsafe { vec.make_room(count) }.pointer,
        };
        // SAFETY: there is room for so many bytes.
        let received = unsafe { calls::receive_matched(matched, place) };
        received.map_err(|code| self.failed(operation, code))?;
        if let Place::Vec(vec) = target.place {
            // SAFETY: so many have come.
            unsafe { vec.set_length(count) };
        }
        Ok(Landed::Whole(Status { source, count }))
    }

    /// Elements without bytes: see [`marks`].
    fn count_marks(
        &mut self,
        operation: &'static Operation,
        matched: Matched,
        target: Target,
    ) -> Result<Landed> {
        let Arrival { source, bytes } = matched.arrival;
        let count = marked(bytes);
        let mut marks = vec![0_u8; bytes];
        // SAFETY: there is room for so many bytes.
        let received = unsafe { calls::receive_matched(matched, marks.as_mut_ptr()) };
        received.map_err(|code| self.failed(operation, code))?;
        match target.place {
            Place::Slice { room, .. } if count > room => {
                return Err(self.truncated(operation, source, Some(count), room));
            }
            Place::Slice { .. } => {}
            // SAFETY: elements without bytes need no room and no initialisation.
            Place::Vec(vec) => unsafe {
                vec.make_room(count);
                vec.set_length(count);
            },
        }
        Ok(Landed::Whole(Status { source, count }))
    }
}

/// How many bytes stand for elements without bytes, so that they can be counted: one for each, and
/// one more where that would be a header or longer. They are never announced.
pub(super) fn marks(count: usize) -> usize {
    if count < HEADER_BYTES { count } else { count + 1 }
}

/// For how many elements without bytes these stand.
pub(super) fn marked(bytes: usize) -> usize {
    if bytes < HEADER_BYTES { bytes } else { bytes - 1 }
}

pub(super) fn take_header(matched: Matched) -> Result<[u8; HEADER_BYTES], Code> {
    let mut header = [0; HEADER_BYTES];
    // SAFETY: the caller has seen that the message has so many bytes.
    unsafe { calls::receive_matched(matched, header.as_mut_ptr()) }?;
    Ok(header)
}
