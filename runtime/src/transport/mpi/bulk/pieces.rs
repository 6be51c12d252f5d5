//! Messages that are made or used piece by piece, while other pieces travel.
//!
//! The pieces are the chunks of a ring or of a pipeline, where they lie, so no end has a copy of
//! the whole message. Either end may take the message as a whole instead: the header is the same.

#![allow(unsafe_code)]

use super::super::code::Code;
use std::time::Instant;

use super::header::{HEADER_BYTES, Header, Way};
use super::piece::Piece;
use super::{Bulk, IncomingId, OutgoingId, Receiving, SHARED, Sending, pipeline, window};
use crate::plain::Element;

/// From this length on, a message is worth its header: pieces have something to overlap.
const SHORTEST: usize = 64 << 10;

impl Bulk {
    /// Whether a message that is made piece by piece is announced by a header; shorter ones are
    /// made in one piece and sent as any other.
    pub(in crate::transport::mpi) fn announces_pieces(&self, peer: usize, bytes: usize) -> bool {
        bytes >= SHORTEST && peer != self.rank
    }

    /// Begins to send a message whose pieces are still to be made, by [`Bulk::room`] and
    /// [`Bulk::fill`] until [`Bulk::is_sent`].
    pub(in crate::transport::mpi) fn offer_pieces(
        &mut self,
        peer: usize,
        bytes: usize,
        element: &'static Element,
    ) -> (OutgoingId, [u8; HEADER_BYTES]) {
        let tag = self.tags.next();
        // SAFETY: no elements, no promise.
        let (way, chunk, sending) = unsafe {
            match (self.free_ring(peer, element.size), window::chunk(element.size)) {
                (Some(ring), Some(chunk)) => {
                    self.clear_for(ring, element);
                    (Way::Window(ring), chunk, self.send_through(ring, None, bytes, chunk))
                }
                _ => {
                    let (route, chunk) =
                        (self.route(peer, tag), pipeline::chunk(bytes, element.size));
                    let sending = pipeline::Sending::new(route, None, bytes, chunk);
                    (Way::Pipeline, chunk, Sending::Pipeline(sending))
                }
            }
        };
        let header = Header { way, tag, bytes, chunk }.write();
        (OutgoingId(self.sending.insert((peer, sending))), header)
    }

    /// The next piece and where it is to be made, if there is room for it now. What is there are
    /// elements, of whatever value.
    pub(in crate::transport::mpi) fn room(
        &mut self,
        id: OutgoingId,
    ) -> Result<Option<(Piece, *mut u8)>, Code> {
        let segment = || self.node.segment(self.rank).expect(SHARED);
        match self.sending.get_mut(id.0) {
            (_, Sending::Window(ours)) => Ok(ours.room(&segment().rings[ours.ring as usize])),
            (_, Sending::Pipeline(ours)) => ours.room(),
            _ => Ok(None),
        }
    }

    /// Sends the piece that there was room for.
    pub(in crate::transport::mpi) fn fill(&mut self, id: OutgoingId) -> Result<(), Code> {
        let segment = || self.node.segment(self.rank).expect(SHARED);
        match self.sending.get_mut(id.0) {
            (_, Sending::Window(ours)) => ours.fill(&segment().rings[ours.ring as usize]),
            (_, Sending::Pipeline(ours)) => ours.start()?,
            _ => {}
        }
        self.last_moved = Some(Instant::now());
        Ok(())
    }

    /// Begins to receive a message whose pieces are used where they arrive, by [`Bulk::arrived`]
    /// and [`Bulk::empty`] until [`Bulk::is_received`].
    pub(in crate::transport::mpi) fn accept_pieces(
        &mut self,
        source: usize,
        header: &[u8; HEADER_BYTES],
    ) -> IncomingId {
        // SAFETY: no place, no promise.
        unsafe { self.receive(source, header, None) }
    }

    /// The next piece and where it is, if it is there now. It stays there until it is given up by
    /// [`Bulk::empty`], which comes before the next call.
    pub(in crate::transport::mpi) fn arrived(
        &mut self,
        id: IncomingId,
    ) -> Result<Option<(Piece, *const u8)>, Code> {
        let (source, receiving) = self.receiving.get_mut(id.0);
        let segment = || self.node.segment(*source).expect(SHARED);
        match receiving {
            Receiving::Window(ours) => Ok(ours.next(&segment().rings[ours.ring as usize])),
            Receiving::Pipeline(ours) => Ok(ours.next()),
            Receiving::Direct(ours, Some(memory)) => {
                let place = memory.place();
                // SAFETY: it has room for a chunk, and the piece before was given up.
                let piece = unsafe { ours.read_next(&segment().slots[ours.slot as usize], place) }?;
                Ok(piece.map(|piece| (piece, place.cast_const())))
            }
            Receiving::Direct(_, None) | Receiving::Put(_) => Ok(None),
        }
    }

    /// Gives up the piece that has arrived.
    pub(in crate::transport::mpi) fn empty(&mut self, id: IncomingId) {
        self.last_moved = Some(Instant::now());
        let (source, receiving) = self.receiving.get_mut(id.0);
        match receiving {
            Receiving::Window(ours) => {
                let segment = self.node.segment(*source).expect(SHARED);
                ours.empty(&segment.rings[ours.ring as usize]);
            }
            Receiving::Pipeline(ours) => ours.empty(),
            Receiving::Direct(..) | Receiving::Put(_) => {}
        }
    }

    /// Sees to it that what lies in a ring are elements of this type.
    fn clear_for(&mut self, ring: u32, element: &'static Element) {
        let holds = &mut self.contents[ring as usize];
        if !holds.is_some_and(|held| held.is(element)) {
            *holds = Some(element);
            self.segment(self.rank).rings[ring as usize].zero();
        }
    }
}
