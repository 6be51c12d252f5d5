//! Receives: one call of MPI each where it can match them itself, and otherwise matched here.
//!
//! MPI matches receives from one rank, or from any, into a buffer whose length is known. What it
//! cannot match is looked for again and again while this rank waits: receives from some of the
//! ranks, receives into a `Vec`, whose length the message decides, and elements without bytes. As
//! long as such a one is open, later ones that could take the same message queue up behind it, so
//! that the first that was posted is the first to be served (MPI 3.1, 3.5).
//!
//! A message of exactly [`HEADER_BYTES`] is a header, and the receive goes on in [`super::bulk`].

#![allow(unsafe_code)]

use std::ops::Range;

use mpi::ffi;
use slab::Slab;

use super::bulk::{self, Bulk, HEADER_BYTES, IncomingId};
use super::calls::{self, Arrival, Matched, Refused, Route};
use super::code::Code;
use super::endpoint::Endpoint;
use super::quick::QuickReceive;
use crate::error::{Error, Result, Step};
use crate::operation::{Operation, Status};
use crate::plain::Plain;
use crate::transport::message::{Envelope, Filter, Origin, Place, Target};
use crate::transport::started::{AsItIs, Keep, Pending, Posted, ReceiveId};
use crate::transport::waiting::{Half, What};

/// Receives that are under way, or whose outcome nobody has taken.
#[derive(Default)]
pub(super) struct Receives {
    pub(super) posted: Slab<Receive>,
    /// Those that MPI cannot match, in the order of posting.
    pub(super) unmatched: Vec<usize>,
    /// How many that are with MPI have room for a message that would be announced.
    pub(super) roomy: usize,
    /// The source of which a receive from some has taken last; the next begins behind it.
    last: usize,
}

/// A receive that is under way.
pub(super) struct Receive {
    operation: &'static Operation,
    pub(super) filter: Filter,
    target: Target,
    pub(super) stage: Stage,
}

/// How far a receive is.
pub(super) enum Stage {
    /// Nothing has come.
    Unmatched,
    /// It is with MPI.
    Posted(ffi::MPI_Request),
    /// A header has come; the elements are on their way.
    Moving {
        incoming: IncomingId,
        status: Status,
    },
    /// It is complete.
    Complete(Status),
    Failed(Box<Error>),
}

/// A header that was taken from MPI before the program has received its message.
pub(super) struct Announced {
    source: usize,
    envelope: Envelope,
    header: Box<[u8; HEADER_BYTES]>,
}

/// What a message has turned out to be.
enum Landed {
    Whole(Status),
    Announced(IncomingId, Status),
}

impl Endpoint {
    /// Receives one message from a rank into a slice: the shortest way there is.
    #[inline(always)]
    pub(crate) fn receive_slice<T: Plain>(
        &mut self,
        operation: &'static Operation,
        source: usize,
        envelope: Envelope,
        slice: &mut [T],
    ) -> Result<Status> {
        let target = Target::slice::<T>(slice.as_mut_ptr().cast(), slice.len());
        let filter = || Filter { source: Origin::Rank(source), envelope };
        if size_of::<T>() == 0 || !self.is_plain() || !self.announced.is_empty() {
            // SAFETY: the slice is borrowed for the call, and the receive is finished in it.
            let posted = unsafe { self.post(operation, filter(), target, AsItIs) }?;
            return self.receive_posted(operation, Origin::Rank(source), posted, target);
        }
        let (communicator, tag) = self.communicators.wire(envelope);
        let route = Route { peer: source as i32, tag, communicator };
        let place = slice.as_mut_ptr().cast();
        // SAFETY: the slice is borrowed for the call.
        match unsafe { calls::receive(place, size_of_val(slice), route) } {
            Ok(Arrival { bytes, .. }) if bytes != HEADER_BYTES => {
                Ok(Status { source, count: bytes / size_of::<T>() })
            }
            received => self.go_on(operation, filter(), target, received),
        }
    }

    /// What has come is a header, or an error.
    #[cold]
    fn go_on(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
        received: Result<Arrival, Refused>,
    ) -> Result<Status> {
        // SAFETY: the caller has borrowed the target for longer than this call, and what has come
        // lies at its start.
        match unsafe { self.landed(operation, received, target) }? {
            Landed::Whole(status) => Ok(status),
            Landed::Announced(incoming, status) => {
                self.finish_now(operation, filter, target, Stage::Moving { incoming, status })
            }
        }
    }

    /// Receives one message.
    ///
    /// # Safety
    ///
    /// What `target` points to stays in place, and nobody else looks at it, during the call.
    #[inline]
    pub(crate) unsafe fn receive(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Status> {
        if self.is_plain()
            && target.element.size != 0
            && self.announced.is_empty()
            && let Some(route) = self.route_from(&filter)
        {
            // SAFETY: the caller says so.
            match unsafe { self.receive_at_once(operation, route, target) }? {
                Landed::Whole(status) => return Ok(status),
                Landed::Announced(incoming, status) => {
                    let stage = Stage::Moving { incoming, status };
                    return self.finish_now(operation, filter, target, stage);
                }
            }
        }
        let origin = filter.source.clone();
        // SAFETY: the caller keeps the target for the call, and the receive is finished in it.
        let posted = unsafe { self.post(operation, filter, target, AsItIs) }?;
        self.receive_posted(operation, origin, posted, target)
    }

    fn finish_now(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
        stage: Stage,
    ) -> Result<Status> {
        let origin = filter.source.clone();
        let receive = Receive { operation, filter, target, stage };
        let id = ReceiveId(self.receives.posted.insert(receive));
        self.receive_posted(operation, origin, Posted::Numbered(id), target)
    }

    fn receive_posted(
        &mut self,
        operation: &'static Operation,
        origin: Origin,
        posted: Posted,
        target: Target,
    ) -> Result<Status> {
        let pending = Pending::Receive(posted);
        let started = std::iter::once((operation, &pending));
        self.complete(operation, started, &|_| What::Message(Half::from(operation, &origin)))?;
        let Pending::Receive(posted) = pending else { unreachable!("made just now") };
        self.finish_receive(operation, posted, target).expect("the wait ends when it is received")
    }

    /// Where the message comes from, if MPI can match it alone.
    #[inline(always)]
    pub(super) fn route_from(&self, filter: &Filter) -> Option<Route> {
        let peer = match &filter.source {
            Origin::Rank(rank) => *rank as i32,
            Origin::Any(ranks) if self.are_all(ranks) => calls::any_source(),
            Origin::Any(_) => return None,
        };
        let (communicator, tag) = self.communicators.wire(filter.envelope);
        Some(Route { peer, tag, communicator })
    }

    /// Whether these are all ranks that could send something here.
    fn are_all(&self, ranks: &Range<usize>) -> bool {
        (0..self.size)
            .all(|rank| ranks.contains(&rank) || (rank == self.rank && !self.talks_to_itself))
    }

    /// # Safety
    ///
    /// As for `receive`.
    #[inline]
    unsafe fn receive_at_once(
        &mut self,
        operation: &'static Operation,
        route: Route,
        target: Target,
    ) -> Result<Landed> {
        match target.place {
            Place::Slice { pointer, room } => {
                let length = room * target.element.size;
                // SAFETY: the caller says so.
                let received = unsafe { calls::receive(pointer, length, route) };
                // SAFETY: what has come lies at the target's start.
                unsafe { self.landed(operation, received, target) }
            }
            Place::Vec(_) => {
                let matched = calls::match_next(route);
                let matched = matched.map_err(|code| self.failed(operation, code))?;
                // SAFETY: the caller says so.
                unsafe { self.land_matched(operation, matched, target) }
            }
        }
    }

    /// What MPI has put at the start of a slice.
    ///
    /// # Safety
    ///
    /// As for `receive`; what has come is at the start of `target`, a slice.
    #[inline]
    unsafe fn landed(
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
        // Some MPIs say how long the message was, and others not; a header says nothing of it.
        let told = arrival.bytes > room * target.element.size && arrival.bytes != HEADER_BYTES;
        let sent = told.then(|| arrival.bytes / target.element.size);
        self.truncated(operation, arrival.source, sent, room)
    }

    #[cold]
    fn truncated(
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
    unsafe fn accept(
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
    unsafe fn land_matched(
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

    /// Elements without bytes: one byte stands for each.
    fn count_marks(
        &mut self,
        operation: &'static Operation,
        matched: Matched,
        target: Target,
    ) -> Result<Landed> {
        let Arrival { source, bytes: count } = matched.arrival;
        let mut marks = vec![0_u8; count];
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

    /// Posts a receive.
    ///
    /// # Safety
    ///
    /// What `target` points to stays in place, and nobody else looks at it, until the receive is
    /// finished.
    #[inline(always)]
    pub(crate) unsafe fn post<K: Keep<Posted>>(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
        keeper: K,
    ) -> Result<K::Kept> {
        if let Some((route, place, length)) = self.quick_route(&filter, target) {
            // SAFETY: the caller says so.
            let posted = unsafe { calls::start_receive(place, length, route) };
            let request = posted.map_err(|code| self.failed(operation, code))?;
            return Ok(keeper.keep(Posted::Quick(QuickReceive::new(request))));
        }
        // SAFETY: the caller says so.
        let posted = unsafe { self.post_to_look_after(operation, filter, target) }?;
        Ok(keeper.keep(posted))
    }

    /// # Safety
    ///
    /// As for `post`.
    #[inline(never)]
    unsafe fn post_to_look_after(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Posted> {
        let stage = match (self.route_from(&filter), target.place) {
            (Some(route), Place::Slice { pointer, room })
                if target.element.size != 0
                    && self.announced.is_empty()
                    && !self.must_queue(&filter) =>
            {
                let length = room * target.element.size;
                self.receives.roomy += usize::from(length >= HEADER_BYTES);
                // SAFETY: the caller says so.
                let posted = unsafe { calls::start_receive(pointer, length, route) };
                Stage::Posted(posted.map_err(|code| self.failed(operation, code))?)
            }
            _ => Stage::Unmatched,
        };
        let unmatched = matches!(stage, Stage::Unmatched);
        let number = self.receives.posted.insert(Receive { operation, filter, target, stage });
        if unmatched {
            self.receives.unmatched.push(number);
        }
        Ok(Posted::Numbered(ReceiveId(number)))
    }

    /// Whether a receive that is matched here, and was posted before, could take the same message.
    #[inline]
    fn must_queue(&self, filter: &Filter) -> bool {
        let earlier = |&number: &usize| &self.receives.posted[number].filter;
        self.receives.unmatched.iter().map(earlier).any(|other| {
            let (one, two) = (filter.source.ranks(), other.source.ranks());
            other.envelope == filter.envelope && one.start < two.end && two.start < one.end
        })
    }

    /// Whether a receive is complete, as far as was seen when this rank last looked.
    #[inline]
    pub(super) fn is_received(&self, id: ReceiveId) -> bool {
        matches!(self.receives.posted[id.0].stage, Stage::Complete(_) | Stage::Failed(_))
    }

    /// Takes the outcome of a receive that is complete; `None` if it is not, which cancels it.
    #[inline(always)]
    pub(crate) fn finish_receive(
        &mut self,
        operation: &'static Operation,
        posted: Posted,
        target: Target,
    ) -> Option<Result<Status>> {
        match posted {
            Posted::Quick(receive) => self.finish_quick(operation, &receive, target),
            Posted::Numbered(id) => self.finish_numbered(id),
        }
    }

    fn finish_numbered(&mut self, id: ReceiveId) -> Option<Result<Status>> {
        if !self.is_received(id) {
            self.cancel_receive(id);
        }
        match self.receives.posted.remove(id.0).stage {
            Stage::Complete(status) => Some(Ok(status)),
            Stage::Failed(error) => Some(Err(*error)),
            _ => None,
        }
    }

    fn cancel_receive(&mut self, id: ReceiveId) {
        self.receives.unmatched.retain(|&number| number != id.0);
        let receive = &mut self.receives.posted[id.0];
        if let Stage::Posted(request) = &mut receive.stage {
            let (operation, target) = (receive.operation, receive.target);
            let taken = calls::cancel(request);
            self.receives.roomy -= usize::from(is_roomy(target));
            match taken {
                // SAFETY: the target is valid until the receive is finished.
                Ok(Some(arrival)) => unsafe {
                    let landed = self.landed(operation, Ok(arrival), target);
                    self.settle(id.0, landed);
                },
                Ok(None) => self.receives.posted[id.0].stage = Stage::Unmatched,
                Err(code) => self.abort(&self.failed(operation, code).to_string()),
            }
        }
        if matches!(self.receives.posted[id.0].stage, Stage::Moving { .. })
            && !self.arrives_soon(id)
        {
            self.abort_where_it_stands("a message that is being received does not arrive");
        }
    }

    /// What was waited for has come.
    pub(super) fn settle_arrival(&mut self, number: usize, received: Result<Arrival, Refused>) {
        let Receive { operation, target, .. } = self.receives.posted[number];
        self.receives.roomy -= usize::from(is_roomy(target));
        // SAFETY: the target is valid until the receive is finished, and MPI alone receives into
        // slices only.
        let landed = unsafe { self.landed(operation, received, target) };
        self.settle(number, landed);
    }

    fn settle(&mut self, number: usize, landed: Result<Landed>) {
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
        while let Some(&number) = self.receives.unmatched.get(place) {
            if self.match_here(number)? {
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

    /// Finds a message for a receive that MPI does not match.
    fn match_here(&mut self, number: usize) -> Result<bool, Code> {
        let Receive { operation, target, .. } = self.receives.posted[number];
        let filter = self.receives.posted[number].filter.clone();
        let announced = self.announced.iter().position(|announced| announced.fits(&filter));
        let landed = if let Some(place) = announced {
            let Announced { source, header, .. } = self.announced.remove(place);
            // SAFETY: the target is valid until the receive is finished.
            unsafe { self.accept(operation, source, &header, target) }
        } else {
            let Some(matched) = self.match_next(&filter)? else { return Ok(false) };
            // SAFETY: as above.
            unsafe { self.land_matched(operation, matched, target) }
        };
        self.settle(number, landed);
        Ok(true)
    }

    /// The next message that `filter` accepts, taken out of MPI's matching.
    fn match_next(&mut self, filter: &Filter) -> Result<Option<Matched>, Code> {
        if let Some(route) = self.route_from(filter) {
            return calls::match_if_there(route);
        }
        let (communicator, tag) = self.communicators.wire(filter.envelope);
        for source in self.receives.sources(&filter.source) {
            let route = Route { peer: source as i32, tag, communicator };
            if let Some(matched) = calls::match_if_there(route)? {
                self.receives.last = source;
                return Ok(Some(matched));
            }
        }
        Ok(None)
    }

    /// Waits until a message of elements of type `T` that `filter` accepts is there, and leaves it.
    pub(crate) fn probe<T>(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
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
        Ok(Status { source, count: bytes / size_of::<T>().max(1) })
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
        if self.must_queue(filter) {
            return Ok(None);
        }
        if let Some(known) = self.announced.iter().find(|announced| announced.fits(filter)) {
            return Ok(Some(known.arrival()));
        }
        let (communicator, tag) = self.communicators.wire(filter.envelope);
        for source in self.receives.sources(&filter.source) {
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
}

impl Announced {
    fn fits(&self, filter: &Filter) -> bool {
        filter.envelope == self.envelope && filter.source.accepts(self.source)
    }

    fn arrival(&self) -> Arrival {
        Arrival { source: self.source, bytes: Bulk::announced(&self.header) }
    }
}

fn is_roomy(target: Target) -> bool {
    matches!(target.place, Place::Slice { room, .. } if room * target.element.size >= HEADER_BYTES)
}

fn take_header(matched: Matched) -> Result<[u8; HEADER_BYTES], Code> {
    let mut header = [0; HEADER_BYTES];
    // SAFETY: the caller has seen that the message has so many bytes.
    unsafe { calls::receive_matched(matched, header.as_mut_ptr()) }?;
    Ok(header)
}
