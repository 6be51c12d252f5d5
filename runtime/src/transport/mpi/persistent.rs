//! Planned operations: MPI's own persistent requests, made when a plan is first started and started
//! again with the same buffer.
//!
//! A plan of the protocol language gets its buffer with each start, a persistent request of MPI's
//! has one from its making. So the request is made again where another buffer has come twice in a
//! row, and until then such a start is an ordinary one. What needs more than MPI's own progress, a
//! message that is announced by a header or a rank that looks again and again, is an ordinary start
//! as well: there MPI's part is the smallest of what it costs.

#![allow(unsafe_code)]

use mpi::ffi;
use p2p_protocol::model::Mode;

use super::calls::{self, Route};
use super::code::Code;
use super::endpoint::Endpoint;
use super::quick::{QuickReceive, QuickSend};
use crate::error::Result;
use crate::operation::Operation;
use crate::plain::Plain;
use crate::transport::message::{Envelope, Filter, Lending, Target};
use crate::transport::started::{Posted, Receipt, Sent};

/// What MPI has of a plan.
#[derive(Default)]
pub(crate) struct Persistent {
    made: Option<Made>,
    /// The bytes of the last start.
    last: Option<Bytes>,
}

struct Made {
    request: ffi::MPI_Request,
    bytes: Bytes,
    route: Route,
    direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Bytes {
    place: *mut u8,
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Send,
    Receive,
}

impl Persistent {
    /// Starts it; what was started before is complete.
    ///
    /// # Safety
    ///
    /// As for `calls::start_send` or `calls::start_receive`.
    #[inline]
    unsafe fn start(
        &mut self,
        direction: Direction,
        bytes: Bytes,
        route: Route,
    ) -> Result<ffi::MPI_Request, Code> {
        let again = self.last.replace(bytes) == Some(bytes);
        let fits = self.made.as_ref().is_some_and(|made| {
            made.bytes == bytes && made.route == route && made.direction == direction
        });
        if !fits {
            // SAFETY: the caller says so.
            return unsafe { self.start_new(direction, bytes, route, again) };
        }
        match &mut self.made {
            // SAFETY: the request is not under way, and the caller says so of its bytes.
            Some(made) => unsafe { calls::start(&mut made.request) }.map(|()| made.request),
            None => unreachable!("it fits"),
        }
    }

    /// # Safety
    ///
    /// As for `start`.
    #[cold]
    unsafe fn start_new(
        &mut self,
        direction: Direction,
        bytes @ Bytes { place, length }: Bytes,
        route: Route,
        again: bool,
    ) -> Result<ffi::MPI_Request, Code> {
        if self.made.is_some() && !again {
            // SAFETY: the caller says so.
            return unsafe {
                match direction {
                    Direction::Send => calls::start_send(Mode::Standard, place, length, route),
                    Direction::Receive => calls::start_receive(place, length, route),
                }
            };
        }
        self.free();
        // SAFETY: the bytes are only touched between a start and its end, for which the caller
        // says so each time.
        unsafe {
            let request = match direction {
                Direction::Send => calls::plan_send(place, length, route),
                Direction::Receive => calls::plan_receive(place, length, route),
            }?;
            let made = self.made.insert(Made { request, bytes, route, direction });
            calls::start(&mut made.request)?;
            Ok(made.request)
        }
    }

    fn free(&mut self) {
        if let Some(mut made) = self.made.take() {
            calls::free(&mut made.request);
        }
    }
}

impl Drop for Persistent {
    fn drop(&mut self) {
        self.free();
    }
}

impl Endpoint {
    /// Starts a planned send, of standard mode.
    ///
    /// # Safety
    ///
    /// As for `start_send`, and what the plan has started before is complete.
    #[inline]
    pub(crate) unsafe fn start_planned_send<T: Plain>(
        &mut self,
        persistent: &mut Persistent,
        operation: &'static Operation,
        (peer, envelope): (usize, Envelope),
        (elements, count): (*const T, usize),
    ) -> Result<Sent> {
        let length = count * size_of::<T>();
        if length == 0 || self.looks || self.bulk.announces(peer, length) {
            let (mode, data) = (Mode::Standard, Lending::Borrowed(elements, count));
            // SAFETY: the caller says so.
            return unsafe { self.start_send(operation, mode, peer, envelope, data) };
        }
        let bytes = Bytes { place: elements.cast_mut().cast(), length };
        let route = self.route(peer, envelope);
        // SAFETY: the caller says so.
        let started = unsafe { persistent.start(Direction::Send, bytes, route) };
        let request = started.map_err(|code| self.failed(operation, code))?;
        let receipt = Receipt::Quick(QuickSend::new(request));
        Ok(Sent { peer, standard: true, receipt })
    }

    /// Starts a planned receive.
    ///
    /// # Safety
    ///
    /// As for `post`, and what the plan has started before is complete.
    #[inline]
    pub(crate) unsafe fn post_planned(
        &mut self,
        persistent: &mut Persistent,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Posted> {
        let mut start = |place, length, route| {
            let bytes = Bytes { place, length };
            // SAFETY: the caller says so.
            unsafe { persistent.start(Direction::Receive, bytes, route) }
        };
        if let Some((route, place, length)) = self.quick_route(&filter, target) {
            let request =
                start(place, length, route).map_err(|code| self.failed(operation, code))?;
            return Ok(Posted::Quick(QuickReceive::new(request)));
        }
        self.post_to_look_after(operation, filter, target, start)
    }
}
