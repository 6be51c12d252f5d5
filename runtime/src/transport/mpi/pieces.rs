//! Messages that are made or used piece by piece while other pieces travel.
//!
//! Only what is announced by a header has pieces; other messages are made and used as a whole.

#![allow(unsafe_code)]

use p2p_protocol::model::Mode;

use super::bulk::{IncomingId, OutgoingId};
use super::code::Code;
use super::endpoint::Endpoint;
use crate::buffer::Landing;
use crate::error::Result;
use crate::operation::{Operation, Status};
use crate::plain::{Element, Plain};
use crate::transport::message::{Envelope, Filter, Origin, Target};
use crate::transport::pieces::{Fill, Take};
use crate::transport::waiting::{Half, What};

impl Endpoint {
    /// Whether a message of `count` elements is sent in pieces.
    pub(crate) fn sends_pieces<T: Plain>(&self, mode: Mode, peer: usize, count: usize) -> bool {
        mode != Mode::Buffered && self.bulk.announces_pieces(peer, count * size_of::<T>())
    }

    /// Sends a message that [`Endpoint::sends_pieces`]; `fill` makes each piece, of which it is
    /// told where it begins.
    pub(crate) fn send_pieces<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        (peer, envelope): (usize, Envelope),
        count: usize,
        fill: &mut Fill<'_, T>,
    ) -> Result<()> {
        let length = count * size_of::<T>();
        let (moving, header) = self.bulk.offer_pieces(peer, length, Element::of::<T>());
        let started = self.send_header(operation, mode, (peer, envelope), (moving, header));
        let number = started.map_err(|code| self.failed(operation, code))?;
        let standard = mode != Mode::Synchronous;
        let what = |_: &Endpoint| What::Message(Half::to(operation, peer, standard));
        let mut filled = Ok(());
        self.wait_until(operation, &what, &mut |endpoint| {
            filled = endpoint.fill_next(moving, fill)?;
            Ok(filled.is_err() || endpoint.is_sent(number))
        })?;
        // What is under way stays so: a run that ends in an error ends the job.
        filled?;
        self.forget_number(number);
        Ok(())
    }

    fn fill_next<T: Plain>(
        &mut self,
        moving: OutgoingId,
        fill: &mut Fill<'_, T>,
    ) -> Result<Result<()>, Code> {
        let Some((piece, place)) = self.bulk.room(moving)? else { return Ok(Ok(())) };
        let count = piece.bytes / size_of::<T>();
        // SAFETY: there are elements of this type at the place, which is this rank's until the
        // piece is sent; it begins at a page.
        let elements = unsafe { std::slice::from_raw_parts_mut(place.cast(), count) };
        let filled = fill(piece.offset / size_of::<T>(), elements);
        if filled.is_ok() {
            self.bulk.fill(moving)?;
        }
        Ok(filled)
    }

    /// Receives a message of elements that have bytes; `take` gets each piece as it arrives.
    pub(crate) fn receive_pieces<T: Plain>(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
        take: &mut Take<'_, T>,
    ) -> Result<Status> {
        let found = self.probe(operation, filter, size_of::<T>())?;
        let Some((header, source)) = self.take_announced(filter) else {
            let source = Origin::Rank(found.source);
            let filter = Filter { source, envelope: filter.envelope };
            let mut data: Vec<T> = Vec::new();
            let target = Target::landing(Landing::Vec(&mut data));
            // SAFETY: the target is borrowed for this call.
            let status = unsafe { self.receive(operation, filter, target) }?;
            if !data.is_empty() {
                take(0, &data)?;
            }
            return Ok(status);
        };
        let incoming = self.bulk.accept_pieces(source, &header);
        let mut taken = 0;
        let what = |_: &Endpoint| What::Message(Half::from(operation, &filter.source));
        let mut failed = None;
        self.wait_until(operation, &what, &mut |endpoint| {
            match endpoint.take_next(incoming, take)? {
                Ok(count) => taken += count,
                Err(error) => failed = Some(error),
            }
            Ok(failed.is_some() || taken == found.count)
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.bulk.finish_receive(incoming);
        Ok(found)
    }

    /// How many elements have arrived and were taken.
    fn take_next<T: Plain>(
        &mut self,
        incoming: IncomingId,
        take: &mut Take<'_, T>,
    ) -> Result<Result<usize>, Code> {
        let Some((piece, place)) = self.bulk.arrived(incoming)? else { return Ok(Ok(0)) };
        let count = piece.bytes / size_of::<T>();
        // SAFETY: the sender's elements are there until the piece is given up; pieces are whole
        // elements of the type that the ranks have agreed on, and begin at a page.
        let elements = unsafe { std::slice::from_raw_parts(place.cast(), count) };
        let taken = take(piece.offset / size_of::<T>(), elements);
        self.bulk.empty(incoming);
        Ok(taken.map(|()| count))
    }
}
