//! Small messages whose requests nobody but their waiter has to know of.
//!
//! A send that MPI makes alone, and a receive that is too short for a header, need no progress but
//! MPI's own. Their request lies with whoever waits for it, and nothing is written down twice: a
//! window of such messages costs what the requests cost. What a session starts is *alone*: its
//! requests lie side by side ([`super::several`]), for as long as they are waited for as they lie.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_int;
use std::ops::Range;

use mpi::ffi;
use p2p_protocol::model::Mode;

use super::bulk::HEADER_BYTES;
use super::calls::{self, Arrival, Refused, Route};
use super::code::Code;
use super::endpoint::Endpoint;
use super::several::Several;
use crate::error::{Error, Result};
use crate::operation::{Operation, Status};
use crate::plain::Plain;
use crate::transport::message::{Envelope, Filter, Place, Target};

/// A send that MPI makes alone.
pub(crate) struct QuickSend(Cell<ffi::MPI_Request>);

impl QuickSend {
    #[inline]
    pub(super) fn new(request: ffi::MPI_Request) -> Self {
        QuickSend(Cell::new(request))
    }

    /// What MPI has of it until it is complete.
    #[inline]
    pub(super) fn request(&self) -> Option<ffi::MPI_Request> {
        let request = self.0.get();
        (request != calls::no_request()).then_some(request)
    }

    #[inline]
    pub(super) fn settle(&self) {
        self.0.set(calls::no_request());
    }

    /// Whether it is complete. MPI has nothing to refuse once a send was accepted.
    #[inline(always)]
    pub(super) fn is_complete(&self) -> bool {
        self.request().is_none() || self.test()
    }

    #[inline(never)]
    fn test(&self) -> bool {
        let Some(mut request) = self.request() else { return true };
        if !matches!(calls::test(&mut request), Ok(None)) {
            self.settle();
        }
        self.request().is_none()
    }
}

/// A receive that is too short for a header.
pub(crate) struct QuickReceive(Cell<State>);

#[derive(Clone, Copy)]
enum State {
    Waiting(ffi::MPI_Request),
    Complete(Arrival),
    Refused(Refused),
}

impl QuickReceive {
    #[inline(always)]
    pub(super) fn new(request: ffi::MPI_Request) -> Self {
        QuickReceive(Cell::new(State::Waiting(request)))
    }

    /// What MPI has of it until it is complete.
    #[inline]
    pub(super) fn request(&self) -> Option<ffi::MPI_Request> {
        match self.0.get() {
            State::Waiting(request) => Some(request),
            _ => None,
        }
    }

    /// It is complete: the one at this place of those that were waited for.
    #[inline]
    pub(super) fn settle(&self, several: &Several, place: usize) {
        self.set(several.outcome(place));
    }

    #[inline]
    pub(super) fn set(&self, outcome: Result<Arrival, Refused>) {
        self.0.set(match outcome {
            Ok(arrival) => State::Complete(arrival),
            Err(refused) => State::Refused(refused),
        });
    }

    /// Whether it is complete.
    #[inline(always)]
    pub(super) fn is_complete(&self) -> bool {
        self.request().is_none() || self.test()
    }

    #[inline(never)]
    fn test(&self) -> bool {
        let Some(mut request) = self.request() else { return true };
        match calls::test(&mut request) {
            Ok(None) => return false,
            Ok(Some(arrival)) => self.set(Ok(arrival)),
            Err(refused) => self.set(Err(refused)),
        }
        true
    }
}

impl Endpoint {
    /// Starts a send, if it is one that MPI makes alone; its request is then at `place`.
    ///
    /// # Safety
    ///
    /// As for `start_send`.
    #[inline(always)]
    pub(crate) unsafe fn send_alone<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        (peer, envelope): (usize, Envelope),
        (elements, count): (*const T, usize),
        (several, place): (&mut Several, usize),
    ) -> Result<bool, Box<Error>> {
        self.enter(operation);
        let length = count * size_of::<T>();
        let is_kept = size_of::<T>() == 0 || mode == Mode::Buffered;
        if is_kept || self.looks || self.bulk.announces(peer, length) {
            return Ok(false);
        }
        let (route, request) = (self.route(peer, envelope), &mut several.requests[place]);
        // SAFETY: the caller says so.
        let sent = unsafe { calls::start_send_at(request, mode, elements.cast(), length, route) };
        sent.map(|()| true).map_err(|code| self.boxed(operation, code))
    }

    /// Posts a receive, if it is one that MPI makes alone; its request is then at `place`.
    ///
    /// # Safety
    ///
    /// As for `post`.
    #[inline(always)]
    pub(crate) unsafe fn post_alone(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
        target: Target,
        (several, place): (&mut Several, usize),
    ) -> Result<bool, Box<Error>> {
        self.enter(operation);
        let Some((route, elements, length)) = self.quick_route(filter, target) else {
            return Ok(false);
        };
        let request = &mut several.requests[place];
        // SAFETY: the caller says so.
        let posted = unsafe { calls::start_receive_at(request, elements, length as c_int, route) };
        posted.map(|()| true).map_err(|code| self.boxed(operation, code))
    }

    #[cold]
    fn boxed(&self, operation: &'static Operation, code: Code) -> Box<Error> {
        Box::new(self.failed(operation, code))
    }

    /// Waits for all requests at these places, none of which is complete, in one call. `false`: they
    /// are to be taken out and waited for, because others need more than MPI's own progress, or
    /// because one has failed.
    #[inline]
    pub(crate) fn wait_alone(
        &mut self,
        operation: &'static Operation,
        several: &mut Several,
        places: Range<usize>,
    ) -> Result<bool> {
        if !self.is_plain() {
            return Ok(false);
        }
        let waited = several.wait_alone(places).map_err(|code| self.failed(operation, code))?;
        self.looks |= !waited;
        Ok(waited)
    }

    /// Whence and whereto a receive goes that is too short for a header, if it is one that MPI can
    /// match alone and no other has to come first.
    #[inline(always)]
    pub(super) fn quick_route(
        &self,
        filter: &Filter,
        target: Target,
    ) -> Option<(Route, *mut u8, usize)> {
        let Place::Slice { pointer, room } = target.place else { return None };
        let length = room * target.element.size;
        let alone = self.receives.unmatched.is_empty() && self.announced.is_empty();
        if self.looks || length == 0 || length >= HEADER_BYTES || !alone {
            return None;
        }
        Some((self.lasting_route_from(filter)?, pointer, length))
    }

    /// The outcome of a receive that is complete; `None` if it is not, which cancels it.
    #[inline(always)]
    pub(super) fn finish_quick(
        &mut self,
        operation: &'static Operation,
        receive: &QuickReceive,
        target: Target,
    ) -> Option<Result<Status>> {
        match receive.0.get() {
            State::Complete(Arrival { source, bytes }) => {
                Some(Ok(Status { source, count: target.count(bytes) }))
            }
            State::Refused(refused) => Some(Err(self.refused(operation, &refused, target))),
            State::Waiting(mut request) => {
                // A message that came all the same is lost, which is what was asked for.
                if let Err(code) = calls::cancel(&mut request) {
                    self.abort(&self.failed(operation, code).to_string());
                }
                None
            }
        }
    }
}
