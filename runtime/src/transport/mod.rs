//! What carries messages between ranks: threads of one process, or processes under MPI.
//!
//! [`Endpoint`] is all that the session sees of it: send, receive, start, and wait until what was
//! started is complete. Matching, buffering and the verdict that nothing can move any more are
//! each transport's own.

#![allow(unsafe_code)]

mod message;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;
mod pieces;
mod report;
mod started;
pub(crate) mod threads;
mod waiting;

pub(crate) use message::{Envelope, Filter, Lending, Origin, Target};
pub(crate) use started::{Alone, Enough, Lone, Pending, Planned, Posted, Sent};
pub(crate) use waiting::Collective;

use std::ops::Range;

use p2p_protocol::model::Mode;

use crate::buffer::Landing;
use crate::error::{Error, Result, Step};
use crate::operation::{Operation, Status};
use crate::plain::Plain;

/// One rank's end of the transport, on the rank's own thread.
#[allow(clippy::large_enum_variant, reason = "there is one for each rank, and one step less to it")]
pub(crate) enum Endpoint {
    /// The ranks are threads.
    Threads(threads::Endpoint),
    /// The ranks are processes.
    #[cfg(feature = "mpi")]
    Mpi(mpi::Endpoint),
}

/// The same call on whichever transport it is.
macro_rules! either {
    ($endpoint:expr, $each:ident => $call:expr) => {
        match $endpoint {
            Endpoint::Threads($each) => $call,
            #[cfg(feature = "mpi")]
            Endpoint::Mpi($each) => $call,
        }
    };
}

impl Endpoint {
    /// This rank: `0..size`.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        either!(self, endpoint => endpoint.rank())
    }

    /// How many ranks there are.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        either!(self, endpoint => endpoint.size())
    }

    /// This rank has left the program's closure; its last operation.
    pub(crate) fn end(&mut self) -> Step {
        either!(self, endpoint => endpoint.end())
    }

    /// Every operation begins here.
    #[inline]
    pub(crate) fn enter(&mut self, operation: &'static Operation) {
        either!(self, endpoint => endpoint.enter(operation));
    }

    /// Every collective operation begins here.
    pub(crate) fn enter_collective(&mut self, operation: &'static Operation, call: Collective) {
        either!(self, endpoint => endpoint.enter_collective(operation, call));
    }

    /// Begins a session: a run of a protocol, whose messages meet no other's. The ranks count them
    /// alike.
    pub(crate) fn begin_session(&mut self) -> u32 {
        either!(self, endpoint => endpoint.begin_session())
    }

    /// Makes so many communicators for a session, once all ranks are known to want the same.
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads need none"))]
    pub(crate) fn open_session(
        &mut self,
        session: u32,
        join: &'static Operation,
        communicators: u16,
    ) -> Result<()> {
        match self {
            Endpoint::Threads(_) => Ok(()),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(endpoint) => endpoint.open_session(session, join, communicators),
        }
    }

    /// From now on this rank's messages travel by `policy`.
    #[cfg(feature = "mpi")]
    pub(crate) fn set_policy(&mut self, policy: crate::policy::Policy) {
        if let Endpoint::Mpi(endpoint) = self {
            endpoint.set_policy(policy);
        }
    }

    /// Ends a session.
    pub(crate) fn end_session(&mut self, session: u32) {
        either!(self, endpoint => endpoint.end_session(session));
    }

    /// This rank leaves a session before its end, so no rank can go on: threads get an error, under
    /// MPI the job ends here, with `error` or, if there is none, what a panic has already said.
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads return it"))]
    pub(crate) fn give_up(&mut self, error: Option<&Error>) {
        match self {
            Endpoint::Threads(endpoint) => endpoint.give_up(),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(endpoint) => endpoint.give_up(error),
        }
    }

    /// Memory that was made just now, and not touched yet, is to be filled: pages of it may be large.
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads leave it"))]
    pub(crate) fn prepare<T: Plain>(&self, room: &mut [T]) {
        match self {
            Endpoint::Threads(_) => {}
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(_) => mpi::prepare(room.as_mut_ptr().cast(), size_of_val(room)),
        }
    }

    /// Fails if the world has.
    #[inline]
    pub(crate) fn check_failure(&self) -> Result<()> {
        match self {
            Endpoint::Threads(endpoint) => endpoint.check_failure(),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(_) => Ok(()),
        }
    }

    /// Sends to a rank of the world, and returns when `mode` lets it.
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
        // SAFETY: the caller says so.
        either!(self, endpoint => unsafe { endpoint.send(operation, mode, peer, envelope, data) })
    }

    /// Starts a send to a rank of the world.
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
        either!(self, endpoint => {
            // SAFETY: the caller says so.
            unsafe { endpoint.start_send(operation, mode, peer, envelope, data) }
        })
    }

    /// Starts a send, if it is one that the transport's library makes alone; what it has of it is
    /// then at `place`. Otherwise nothing is done, and it is `false`.
    ///
    /// # Safety
    ///
    /// As for `start_send`.
    #[inline(always)]
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads do all of it"))]
    pub(crate) unsafe fn send_alone<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        to: (usize, Envelope),
        data: (*const T, usize),
        (alone, place): (&mut Alone, usize),
    ) -> Result<bool, Box<Error>> {
        match self {
            Endpoint::Threads(_) => Ok(false),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(endpoint) => {
                let at = (&mut alone.requests, place);
                // SAFETY: the caller says so.
                unsafe { endpoint.send_alone(operation, mode, to, data, at) }
            }
        }
    }

    /// Posts a receive, if it is one that the transport's library makes alone; as `send_alone`.
    ///
    /// # Safety
    ///
    /// As for `post`.
    #[inline(always)]
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads do all of it"))]
    pub(crate) unsafe fn post_alone(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
        target: Target,
        (alone, place): (&mut Alone, usize),
    ) -> Result<bool, Box<Error>> {
        match self {
            Endpoint::Threads(_) => Ok(false),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(endpoint) => {
                let at = (&mut alone.requests, place);
                // SAFETY: the caller says so.
                unsafe { endpoint.post_alone(operation, filter, target, at) }
            }
        }
    }

    /// Waits for what was started alone at these places, none of which is complete. `false`: it is
    /// to be taken out and waited for as the rest is.
    #[inline]
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads do all of it"))]
    pub(crate) fn wait_alone(
        &mut self,
        operation: &'static Operation,
        alone: &mut Alone,
        places: Range<usize>,
    ) -> Result<bool> {
        match self {
            Endpoint::Threads(_) => Ok(false),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(endpoint) => endpoint.wait_alone(operation, &mut alone.requests, places),
        }
    }

    /// Starts a planned send of so many elements, of standard mode.
    ///
    /// # Safety
    ///
    /// As for `start_send`, and what the plan has started before is complete.
    #[inline]
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads keep nothing"))]
    pub(crate) unsafe fn start_planned_send<T: Plain>(
        &mut self,
        planned: &mut Planned,
        operation: &'static Operation,
        (peer, envelope): (usize, Envelope),
        (elements, count): (*const T, usize),
    ) -> Result<Sent> {
        // SAFETY: the caller says so.
        unsafe {
            match self {
                Endpoint::Threads(endpoint) => {
                    let data = Lending::Borrowed(elements, count);
                    endpoint.start_send(operation, Mode::Standard, peer, envelope, data)
                }
                #[cfg(feature = "mpi")]
                Endpoint::Mpi(endpoint) => {
                    let persistent = &mut planned.persistent;
                    let (to, data) = ((peer, envelope), (elements, count));
                    endpoint.start_planned_send(persistent, operation, to, data)
                }
            }
        }
    }

    /// Waits until a send is complete.
    pub(crate) fn finish_send(&mut self, operation: &'static Operation, sent: Sent) -> Result<()> {
        either!(self, endpoint => endpoint.finish_send(operation, sent))
    }

    /// Forgets a send that is complete.
    #[inline(always)]
    pub(crate) fn forget_send(&mut self, sent: Sent) {
        either!(self, endpoint => endpoint.forget_send(sent));
    }

    /// From here on the send's elements are not read any more.
    pub(crate) fn cancel_send(&mut self, sent: Sent) {
        either!(self, endpoint => endpoint.cancel_send(sent));
    }

    /// Receives one message.
    #[inline(always)]
    pub(crate) fn receive_landing<T: Plain>(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        landing: Landing<'_, T>,
    ) -> Result<Status> {
        #[cfg(feature = "mpi")]
        if let (Endpoint::Mpi(endpoint), Origin::Rank(source)) = (&mut *self, &filter.source)
            && let Landing::Slice(slice) = landing
        {
            return endpoint.receive_slice(operation, *source, filter.envelope, slice);
        }
        let target = Target::landing(landing);
        // SAFETY: the target is borrowed for this call.
        either!(self, endpoint => unsafe { endpoint.receive(operation, filter, target) })
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
        // SAFETY: the caller says so.
        either!(self, endpoint => unsafe { endpoint.post(operation, filter, target) })
    }

    /// Posts a planned receive.
    ///
    /// # Safety
    ///
    /// As for `post`, and what the plan has started before is complete.
    #[inline]
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "threads keep nothing"))]
    pub(crate) unsafe fn post_planned(
        &mut self,
        planned: &mut Planned,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Posted> {
        // SAFETY: the caller says so.
        unsafe {
            match self {
                Endpoint::Threads(endpoint) => endpoint.post(operation, filter, target),
                #[cfg(feature = "mpi")]
                Endpoint::Mpi(endpoint) => {
                    let persistent = &mut planned.persistent;
                    endpoint.post_planned(persistent, operation, filter, target)
                }
            }
        }
    }

    /// Takes the outcome of a receive that is complete; `None` if it is not, which cancels it.
    /// Operation and target are those that it was posted with.
    #[inline(always)]
    pub(crate) fn finish_receive(
        &mut self,
        operation: &'static Operation,
        posted: Posted,
        target: Target,
    ) -> Option<Result<Status>> {
        either!(self, endpoint => endpoint.finish_receive(operation, posted, target))
    }

    /// Waits until a send and a receive that were started are both complete.
    pub(crate) fn wait_for_both(
        &mut self,
        sending: (&'static Operation, &Pending),
        receiving: (&'static Operation, &Pending),
    ) -> Result<()> {
        either!(self, endpoint => endpoint.wait_for_both(sending, receiving))
    }

    /// Waits until enough of what was started, each by its own operation, is complete.
    pub(crate) fn wait_for<'a>(
        &mut self,
        operation: &'static Operation,
        started: impl Iterator<Item = (&'static Operation, &'a Pending)> + Clone,
        enough: Enough,
    ) -> Result<()> {
        either!(self, endpoint => endpoint.wait_for(operation, started, enough))
    }

    /// Whether it is complete, as far as was seen when this rank last waited or tested.
    #[inline(always)]
    pub(crate) fn is_complete(&self, pending: &Pending) -> bool {
        either!(self, endpoint => endpoint.is_complete(pending))
    }

    /// Whether it is complete now. A test that fails very often while no rank can move waits
    /// instead, where that can be known.
    pub(crate) fn test(
        &mut self,
        operation: &'static Operation,
        started: (&'static Operation, &Pending),
    ) -> Result<bool> {
        either!(self, endpoint => endpoint.test(operation, started))
    }

    /// Waits until a message of elements of so many bytes that `filter` accepts is there, and
    /// leaves it.
    #[cfg_attr(not(feature = "mpi"), expect(unused_variables, reason = "only bytes are counted"))]
    pub(crate) fn probe(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
        element: usize,
    ) -> Result<Status> {
        match self {
            // Such a message says itself how many elements it has.
            Endpoint::Threads(endpoint) => endpoint.probe(operation, filter),
            #[cfg(feature = "mpi")]
            Endpoint::Mpi(endpoint) => endpoint.probe(operation, filter, element),
        }
    }

    /// Whether a message that `filter` accepts is there.
    pub(crate) fn has_message(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
    ) -> Result<bool> {
        either!(self, endpoint => endpoint.has_message(operation, filter))
    }
}
