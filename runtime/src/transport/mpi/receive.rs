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

use super::bulk::{HEADER_BYTES, IncomingId};
use super::calls::{self, Arrival, Refused, Route};
use super::code::Code;
use super::endpoint::Endpoint;
use super::landing::Landed;
use super::quick::QuickReceive;
use crate::error::{Error, Result};
use crate::operation::{Operation, Status};
use crate::plain::Plain;
use crate::transport::message::{Envelope, Filter, Origin, Place, Target};
use crate::transport::started::{Pending, Posted, ReceiveId};
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
    pub(super) last: usize,
}

/// A receive that is under way.
pub(super) struct Receive {
    pub(super) operation: &'static Operation,
    pub(super) filter: Filter,
    pub(super) target: Target,
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
            let posted = unsafe { self.post(operation, filter(), target) }?;
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
        let posted = unsafe { self.post(operation, filter, target) }?;
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

    /// The same for a receive that stays open while the program goes on: this rank may then send
    /// itself what only others may answer.
    #[inline(always)]
    pub(super) fn lasting_route_from(&self, filter: &Filter) -> Option<Route> {
        match &filter.source {
            Origin::Any(ranks) if !ranks.contains(&self.rank) => None,
            _ => self.route_from(filter),
        }
    }

    /// Whether these are all ranks that have sent something here, or can before this rank goes on.
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

    /// Posts a receive.
    ///
    /// # Safety
    ///
    /// What `target` points to stays in place, and nobody else looks at it, until the receive is
    /// finished.
    #[inline(always)]
    pub(crate) unsafe fn post(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Posted> {
        if let Some((route, place, length)) = self.quick_route(&filter, target) {
            // SAFETY: the caller says so.
            let posted = unsafe { calls::start_receive(place, length, route) };
            let request = posted.map_err(|code| self.failed(operation, code))?;
            return Ok(Posted::Quick(QuickReceive::new(request)));
        }
        self.post_to_look_after(operation, filter, target, |place, length, route| {
            // SAFETY: the caller says so.
            unsafe { calls::start_receive(place, length, route) }
        })
    }

    /// `start` gives a receive to MPI, if MPI can match it: so many bytes to a place.
    #[inline(never)]
    pub(super) fn post_to_look_after(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
        start: impl FnOnce(*mut u8, usize, Route) -> Result<ffi::MPI_Request, Code>,
    ) -> Result<Posted> {
        let stage = match (self.lasting_route_from(&filter), target.place) {
            (Some(route), Place::Slice { pointer, room })
                if target.element.size != 0
                    && self.announced.is_empty()
                    && !self.must_queue(&filter) =>
            {
                let length = room * target.element.size;
                self.receives.roomy += usize::from(length >= HEADER_BYTES);
                let posted = start(pointer, length, route);
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
    pub(super) fn must_queue(&self, filter: &Filter) -> bool {
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
}

pub(super) fn is_roomy(target: Target) -> bool {
    matches!(target.place, Place::Slice { room, .. } if room * target.element.size >= HEADER_BYTES)
}
