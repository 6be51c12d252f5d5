//! What was posted and what has come find each other, as far as MPI does not do it: receives from
//! some of the ranks, into a `Vec`, or of elements without bytes, and headers that a probe had to
//! take.

#![allow(unsafe_code)]

use super::bulk::{Bulk, HEADER_BYTES};
use super::calls::{self, Arrival, Matched, Refused, Route};
use super::code::Code;
use super::endpoint::Endpoint;
use super::landing::{Landed, marked, take_header};
use super::receive::{Receive, Receives, Stage, is_roomy};
use crate::error::Result;
use crate::operation::{Operation, Status};
use crate::transport::message::{Envelope, Filter, Origin, Place};
use crate::transport::waiting::{Half, What};

/// A header that was taken from MPI before the program has received its message.
pub(super) struct Announced {
    source: usize,
    envelope: Envelope,
    header: Box<[u8; HEADER_BYTES]>,
}

impl Endpoint {
    /// What was waited for has come.
    pub(super) fn settle_arrival(&mut self, number: usize, received: Result<Arrival, Refused>) {
        let Receive { operation, target, .. } = self.receives.posted[number];
        self.receives.roomy -= usize::from(is_roomy(target));
        // SAFETY: the target is valid until the receive is finished, and MPI alone receives into
        // slices only.
        let landed = unsafe { self.landed(operation, received, target) };
        self.settle(number, landed);
    }

    pub(super) fn settle(&mut self, number: usize, landed: Result<Landed>) {
        self.receives.posted[number].stage = match landed {
            Ok(Landed::Whole(status)) => Stage::Complete(status),
            Ok(Landed::Announced(incoming, status)) => Stage::Moving { incoming, status },
            Err(error) => Stage::Failed(Box::new(error)),
        };
    }

    /// Looks whether receives are complete, and for what MPI does not match.
    pub(super) fn progress_receives(&mut self) -> Result<(), Code> {
        for number in 0..self.receives.posted.capacity() {
            let Some(receive) = self.receives.posted.get_mut(number) else { continue };
            if let Stage::Posted(request) = &mut receive.stage {
                match calls::test(request) {
                    Ok(None) => {}
                    Ok(Some(arrival)) => self.settle_arrival(number, Ok(arrival)),
                    Err(refused) => self.settle_arrival(number, Err(refused)),
                }
            }
            self.settle_moving(number);
        }
        let mut place = 0;
        while place < self.receives.unmatched.len() {
            if self.match_here(place)? {
                self.receives.unmatched.remove(place);
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    fn settle_moving(&mut self, number: usize) {
        let receive = &mut self.receives.posted[number];
        if let Stage::Moving { incoming, status } = receive.stage
            && self.bulk.is_received(incoming)
        {
            self.bulk.finish_receive(incoming);
            if let Place::Vec(vec) = receive.target.place {
                // SAFETY: so many have come to where room was made for them.
                unsafe { vec.set_length(status.count) };
            }
            receive.stage = Stage::Complete(status);
        }
    }

    /// Finds a message for the receive at this place of those that MPI does not match.
    fn match_here(&mut self, place: usize) -> Result<bool, Code> {
        let number = self.receives.unmatched[place];
        let Receive { operation, target, .. } = self.receives.posted[number];
        let filter = self.receives.posted[number].filter.clone();
        let announced = self.announced.iter().position(|announced| announced.fits(&filter));
        let landed = if let Some(place) = announced {
            let Announced { source, header, .. } = self.announced.remove(place);
            // SAFETY: the target is valid until the receive is finished.
            unsafe { self.accept(operation, source, &header, target) }
        } else {
            let Some(matched) = self.match_next(&filter, place)? else { return Ok(false) };
            // SAFETY: as above.
            unsafe { self.land_matched(operation, matched, target) }
        };
        self.settle(number, landed);
        Ok(true)
    }

    /// The next message that `filter` accepts and none of the first `before` unmatched receives
    /// does, taken out of MPI's matching. One that they accept may come after they were looked
    /// after, and is theirs all the same.
    fn match_next(&mut self, filter: &Filter, before: usize) -> Result<Option<Matched>, Code> {
        if before == 0
            && let Some(route) = self.route_from(filter)
        {
            return calls::match_if_there(route);
        }
        let (communicator, tag) = self.communicators.wire(filter.envelope);
        for source in self.receives.sources(&filter.source) {
            if self.receives.is_anothers(before, filter.envelope, source) {
                continue;
            }
            let route = Route { peer: source as i32, tag, communicator };
            if let Some(matched) = calls::match_if_there(route)? {
                self.receives.last = source;
                return Ok(Some(matched));
            }
        }
        Ok(None)
    }

    /// Waits until a message of elements of so many bytes that `filter` accepts is there, and
    /// leaves it.
    pub(crate) fn probe(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
        element: usize,
    ) -> Result<Status> {
        let mut found = None;
        self.wait_until(
            operation,
            &|_| What::Message(Half::from(operation, &filter.source)),
            &mut |endpoint| {
                found = endpoint.find(filter)?;
                Ok(found.is_some())
            },
        )?;
        let Arrival { source, bytes } = found.expect("the wait ends when it is found");
        let count = bytes.checked_div(element).unwrap_or_else(|| marked(bytes));
        Ok(Status { source, count })
    }

    /// Whether a message that `filter` accepts is there.
    pub(crate) fn has_message(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
    ) -> Result<bool> {
        self.progress(operation)?;
        let found = self.find(filter).map_err(|code| self.failed(operation, code))?;
        Ok(found.is_some())
    }

    /// Takes the header, and from whom it is, if that is what was found.
    pub(super) fn take_announced(
        &mut self,
        filter: &Filter,
    ) -> Option<(Box<[u8; HEADER_BYTES]>, usize)> {
        let place = self.announced.iter().position(|announced| announced.fits(filter))?;
        let Announced { source, header, .. } = self.announced.remove(place);
        Some((header, source))
    }

    /// The first message that `filter` accepts and no posted receive does, with its whole length;
    /// it stays. What it is the header of says only the header, which so has to be taken.
    fn find(&mut self, filter: &Filter) -> Result<Option<Arrival>, Code> {
        if let Some(known) = self.announced.iter().find(|announced| announced.fits(filter)) {
            return Ok(Some(known.arrival()));
        }
        let (communicator, tag) = self.communicators.wire(filter.envelope);
        for source in self.receives.sources(&filter.source) {
            if self.receives.is_anothers(usize::MAX, filter.envelope, source) {
                continue;
            }
            let route = Route { peer: source as i32, tag, communicator };
            let Some(arrival) = calls::look(route)? else { continue };
            if arrival.bytes != HEADER_BYTES {
                return Ok(Some(arrival));
            }
            let Some(matched) = calls::match_if_there(route)? else { continue };
            let header = Box::new(take_header(matched)?);
            let announced = Announced { source, envelope: filter.envelope, header };
            let arrival = announced.arrival();
            self.announced.push(announced);
            return Ok(Some(arrival));
        }
        Ok(None)
    }
}

impl Receives {
    /// The sources that `from` accepts, the one that had its turn last at the end.
    fn sources(&self, from: &Origin) -> impl Iterator<Item = usize> + use<> {
        let ranks = from.ranks();
        let turn = if ranks.contains(&self.last) { self.last + 1 } else { ranks.start };
        (turn..ranks.end).chain(ranks.start..turn)
    }

    /// Whether the next message from `source` is for one of the first `before` unmatched receives.
    fn is_anothers(&self, before: usize, envelope: Envelope, source: usize) -> bool {
        self.unmatched.iter().take(before).any(|&number| {
            let Filter { envelope: theirs, source: from } = &self.posted[number].filter;
            *theirs == envelope && from.accepts(source)
        })
    }
}

impl Announced {
    fn fits(&self, filter: &Filter) -> bool {
        filter.envelope == self.envelope && filter.source.accepts(self.source)
    }

    fn arrival(&self) -> Arrival {
        Arrival { source: self.source, bytes: Bulk::announced(&self.header) }
    }
}
