//! Operations that are started now and complete later.

#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::table::Started;
use super::{
    Channel, Error, Mode, Operation, Plain, RecvBuffer, Result, SendBuffer, Session, Source, Status,
};
use crate::buffer::RawBuffer;
use crate::transport::{Alone, Enough, Lending, Lone, Pending, Target};

/// The name of an operation that was started; its buffer, a `B`, is with the session until the
/// request is waited for.
#[must_use = "a request that nobody waits for is cancelled when the run ends"]
pub struct Request<B> {
    pub(super) id: RequestId,
    pub(super) buffer: PhantomData<(B, *const ())>,
}

/// A request's name without its buffer's type, for waiting on several of different types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId {
    /// Which no other request of the process has.
    pub(super) number: u64,
    pub(super) place: usize,
}

impl<B> Request<B> {
    /// The name alone.
    #[inline]
    pub fn id(&self) -> RequestId {
        self.id
    }
}

impl<B> fmt::Debug for Request<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

/// A persistent send: its peer is settled, it has no buffer yet.
#[derive(Clone, Copy, Debug)]
pub struct SendPlan {
    peer: i64,
    plan: usize,
}

/// A persistent receive: its source is settled, it has no buffer yet.
#[derive(Clone, Debug)]
pub struct ReceivePlan {
    source: Source,
    plan: usize,
}

/// What is amiss where a request is none of the session's.
const OWN: &str = "a request belongs to the session that started it";

impl<'env> Session<'env> {
    /// Starts a send of `buffer` to `peer`.
    #[inline]
    pub fn isend<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: i64,
        buffer: B,
    ) -> Result<Request<B>> {
        let peer = self.peer(operation, peer)?;
        let envelope = self.envelope(operation, Channel::Messages, operation.tag);
        let raw = buffer.into_raw();
        let data = (raw.pointer.cast_const().cast::<T>(), raw.length);
        let place = self.requests.place();
        let at = (&mut self.requests.alone, place);
        let mut endpoint = self.endpoint.borrow_mut();
        // SAFETY: the session keeps the buffer, and lets go of it only where the send is done or
        // cancelled.
        let alone = unsafe { endpoint.send_alone(operation, mode, (peer, envelope), data, at) };
        drop(endpoint);
        match alone {
            Ok(true) => {
                let lone = Lone::Send { peer, standard: mode != Mode::Synchronous };
                Ok(self.keep_alone::<T, B>(place, operation, lone, raw))
            }
            alone => {
                self.requests.release(place);
                // SAFETY: taken apart above, and nothing was started.
                let buffer = unsafe { B::from_raw(raw) };
                self.isend_looked_after(operation, mode, peer, buffer, alone)
            }
        }
    }

    /// Starts a send that is not made alone, unless an error says that it was tried.
    #[inline(never)]
    fn isend_looked_after<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: usize,
        buffer: B,
        tried: Result<bool, Box<Error>>,
    ) -> Result<Request<B>> {
        tried.map_err(|error| *error)?;
        let envelope = self.envelope(operation, Channel::Messages, operation.tag);
        let raw = buffer.into_raw();
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let data = Lending::Borrowed(raw.pointer.cast_const().cast::<T>(), raw.length);
        // SAFETY: as in `isend`.
        let sent = unsafe { endpoint.start_send(operation, mode, peer, envelope, data) };
        drop(endpoint);
        self.keep_pending::<T, B>(operation, sent.map(Pending::Send), raw)
    }

    /// Starts a receive from `source` into `buffer`.
    #[inline]
    pub fn irecv<T: Plain, B: RecvBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        source: Source,
        buffer: B,
    ) -> Result<Request<B>> {
        let filter = self.filter(operation, &source)?;
        let raw = buffer.into_raw();
        let target = Target::slice::<T>(raw.pointer, raw.length);
        let place = self.requests.place();
        let at = (&mut self.requests.alone, place);
        let mut endpoint = self.endpoint.borrow_mut();
        // SAFETY: the session keeps the buffer, and lets go of it only where the receive is
        // finished or cancelled.
        let alone = unsafe { endpoint.post_alone(operation, &filter, target, at) };
        drop(endpoint);
        match alone {
            Ok(true) => Ok(self.keep_alone::<T, B>(place, operation, Lone::Receive, raw)),
            alone => {
                self.requests.release(place);
                // SAFETY: taken apart above, and nothing was posted.
                let buffer = unsafe { B::from_raw(raw) };
                self.irecv_looked_after(operation, source, buffer, alone)
            }
        }
    }

    /// Posts a receive that is not made alone, unless an error says that it was tried.
    #[inline(never)]
    fn irecv_looked_after<T: Plain, B: RecvBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        source: Source,
        buffer: B,
        tried: Result<bool, Box<Error>>,
    ) -> Result<Request<B>> {
        tried.map_err(|error| *error)?;
        let filter = self.filter(operation, &source)?;
        let raw = buffer.into_raw();
        let target = Target::slice::<T>(raw.pointer, raw.length);
        let mut endpoint = self.endpoint.borrow_mut();
        let posted = endpoint.check_failure().and_then(|()| {
            endpoint.enter(operation);
            // SAFETY: as in `irecv`.
            unsafe { endpoint.post(operation, filter, target) }
        });
        drop(endpoint);
        self.keep_pending::<T, B>(operation, posted.map(Pending::Receive), raw)
    }

    #[inline(always)]
    fn keep_alone<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        place: usize,
        operation: &'static Operation,
        lone: Lone,
        raw: RawBuffer,
    ) -> Request<B> {
        // SAFETY: the function was made for the buffer's type.
        unsafe { self.requests.keep_alone(place, operation, lone, (raw, discard::<T, B>)) }
    }

    /// Keeps what was started, or hands on why it was not.
    fn keep_pending<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        started: Result<Pending>,
        raw: RawBuffer,
    ) -> Result<Request<B>> {
        match started {
            // SAFETY: the function was made for the buffer's type.
            Ok(pending) => Ok(unsafe {
                self.requests.keep_pending(operation, pending, (raw, discard::<T, B>))
            }),
            Err(error) => {
                // SAFETY: taken apart by the caller, and nothing was started.
                drop(unsafe { B::from_raw(raw) });
                Err(error)
            }
        }
    }

    /// Waits until a request is complete, and hands its buffer back. For a receive, the status says
    /// whose message it was; for a send it repeats peer and length.
    #[inline]
    pub fn wait<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        request: Request<B>,
    ) -> Result<(B, Status)> {
        let slot = self.requests.slot(request.id).expect(OWN);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let is_complete = match &slot.started {
            Started::Alone(_) => self.requests.alone.is_complete(request.id.place),
            Started::Pending => {
                let pending = self.requests.pending(request.id);
                pending.is_none_or(|(_, pending)| endpoint.is_complete(pending))
            }
        };
        drop(endpoint);
        if !is_complete {
            self.wait_for(operation, std::iter::once(request.id), Enough::All)?;
        }
        self.finish(request)
    }

    /// Waits until all of these are complete, and hands each buffer back, with what `wait` says of
    /// it, in their order.
    #[inline]
    pub fn wait_each<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        requests: &mut Vec<Request<B>>,
        mut take: impl FnMut((B, Status)),
    ) -> Result<()> {
        let ids = requests.iter().map(Request::id);
        let Some(places) = self.wait_side_by_side(operation, ids.clone())? else {
            self.wait_one_by_one(operation, ids, Enough::All)?;
            return requests.drain(..).try_for_each(|request| self.finish(request).map(&mut take));
        };
        // If `take` unwinds, the rest is dropped with the session.
        requests.clear();
        self.requests.take_side_by_side(places, |alone, place, lone, raw| {
            let status = status_alone::<T>(alone, place, lone, raw);
            // SAFETY: the names, which are used up, were made together with these places for the
            // type `B`; the operations are complete, so the transport has let go of the buffers.
            take((unsafe { B::from_raw(raw) }, status));
        });
        Ok(())
    }

    /// Takes a request that is complete.
    #[inline(always)]
    fn finish<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        request: Request<B>,
    ) -> Result<(B, Status)> {
        let (slot, place) = (self.requests.slot(request.id).expect(OWN), request.id.place);
        let raw = slot.buffer;
        let Started::Alone(lone) = slot.started else { return self.finish_looked_after(request) };
        assert!(self.requests.alone.is_complete(place), "what is taken was waited for");
        let status = status_alone::<T>(&self.requests.alone, place, lone, raw);
        self.requests.release(place);
        // SAFETY: the name, which is used up here, was made together with this slot for the type
        // `B`; the operation is complete, so the transport has let go of the buffer.
        Ok((unsafe { B::from_raw(raw) }, status))
    }

    #[inline(never)]
    fn finish_looked_after<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        request: Request<B>,
    ) -> Result<(B, Status)> {
        let (slot, pending) = self.requests.take_pending(request.id).expect(OWN);
        let mut endpoint = self.endpoint.borrow_mut();
        let status = match pending {
            Pending::Send(sent) => {
                let status = Status { source: sent.peer, count: slot.buffer.length };
                endpoint.forget_send(sent);
                Ok(status)
            }
            Pending::Receive(posted) => {
                let target = Target::slice::<T>(slot.buffer.pointer, slot.buffer.length);
                let outcome = endpoint.finish_receive(slot.operation, posted, target);
                outcome.expect("the wait ends when it is received")
            }
        };
        // SAFETY: as in `finish`.
        let buffer = unsafe { B::from_raw(slot.buffer) };
        status.map(|status| (buffer, status))
    }

    /// Waits until all of these are complete; each is then to be taken with [`Session::wait`],
    /// which returns at once.
    #[inline]
    pub fn wait_all(
        &mut self,
        operation: &'static Operation,
        requests: &[RequestId],
    ) -> Result<()> {
        self.wait_for(operation, requests.iter().copied(), Enough::All)
    }

    /// Waits until one of these is complete, and says which by its position; it is then to be
    /// taken with [`Session::wait`], which returns at once. `None` if there are none.
    pub fn wait_any(
        &mut self,
        operation: &'static Operation,
        requests: &[RequestId],
    ) -> Result<Option<usize>> {
        if requests.is_empty() {
            return Ok(None);
        }
        self.wait_for(operation, requests.iter().copied(), Enough::One)?;
        let endpoint = self.endpoint.borrow();
        let is_complete = |&id: &RequestId| match self.requests.pending(id) {
            Some((_, pending)) => endpoint.is_complete(pending),
            None => true,
        };
        Ok(requests.iter().position(is_complete))
    }

    /// Whether a request is complete; if so it is then to be taken with [`Session::wait`], which
    /// returns at once. A test that fails very often while no rank can move waits instead.
    pub fn test(&mut self, operation: &'static Operation, request: RequestId) -> Result<bool> {
        self.requests.take_out(std::iter::once(request));
        let Some(started) = self.requests.pending(request) else { return Ok(true) };
        self.endpoint.borrow_mut().test(operation, started)
    }

    #[inline]
    fn wait_for(
        &mut self,
        operation: &'static Operation,
        requests: impl ExactSizeIterator<Item = RequestId> + Clone,
        enough: Enough,
    ) -> Result<()> {
        if enough == Enough::All && self.wait_side_by_side(operation, requests.clone())?.is_some() {
            self.requests.settled();
            return Ok(());
        }
        self.wait_one_by_one(operation, requests, enough)
    }

    /// Waits until all of these are complete, if they lie side by side; the places where they do.
    #[inline(always)]
    fn wait_side_by_side(
        &mut self,
        operation: &'static Operation,
        requests: impl ExactSizeIterator<Item = RequestId> + Clone,
    ) -> Result<Option<Range<usize>>> {
        let Some(places) = self.requests.side_by_side(requests) else { return Ok(None) };
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        match endpoint.wait_alone(operation, &mut self.requests.alone, places.clone()) {
            Ok(true) => Ok(Some(places)),
            outcome => {
                self.requests.settled();
                outcome.map(|_| None)
            }
        }
    }

    #[inline(never)]
    fn wait_one_by_one(
        &mut self,
        operation: &'static Operation,
        requests: impl ExactSizeIterator<Item = RequestId> + Clone,
        enough: Enough,
    ) -> Result<()> {
        self.requests.take_out(requests.clone());
        let started = requests.filter_map(|id| self.requests.pending(id));
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        endpoint.wait_for(operation, started, enough)
    }

    /// A persistent send to `peer`, not started.
    pub fn plan_send(&mut self, operation: &'static Operation, peer: i64) -> Result<SendPlan> {
        self.peer(operation, peer)?;
        Ok(SendPlan { peer, plan: self.requests.plan(operation) })
    }

    /// A persistent receive from `source`, not started.
    pub fn plan_recv(
        &mut self,
        operation: &'static Operation,
        source: Source,
    ) -> Result<ReceivePlan> {
        self.filter(operation, &source)?;
        Ok(ReceivePlan { source, plan: self.requests.plan(operation) })
    }

    /// Starts a planned send with this buffer. It is fastest with the same buffer each time.
    pub fn start_send<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        plan: &SendPlan,
        buffer: B,
    ) -> Result<Request<B>> {
        let peer = self.peer(operation, plan.peer)?;
        let Some(mut planned) = self.requests.take_idle(plan.plan) else {
            return self.isend(operation, Mode::Standard, plan.peer, buffer);
        };
        let envelope = self.envelope(operation, Channel::Messages, operation.tag);
        let raw = buffer.into_raw();
        let data = (raw.pointer.cast_const().cast::<T>(), raw.length);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        // SAFETY: the session keeps the buffer, and lets go of it only where the send is done or
        // cancelled. What the plan has started before was waited for.
        let sent =
            unsafe { endpoint.start_planned_send(&mut planned, operation, (peer, envelope), data) };
        drop(endpoint);
        let kept = self.keep_pending::<T, B>(operation, sent.map(Pending::Send), raw);
        self.requests.put_back(plan.plan, planned, &kept);
        kept
    }

    /// Starts a planned receive into this buffer. It is fastest with the same buffer each time.
    pub fn start_recv<T: Plain, B: RecvBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        plan: &ReceivePlan,
        buffer: B,
    ) -> Result<Request<B>> {
        let filter = self.filter(operation, &plan.source)?;
        let Some(mut planned) = self.requests.take_idle(plan.plan) else {
            return self.irecv(operation, plan.source.clone(), buffer);
        };
        self.check()?;
        let raw = buffer.into_raw();
        let target = Target::slice::<T>(raw.pointer, raw.length);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        // SAFETY: the session keeps the buffer, and lets go of it only where the receive is
        // finished or cancelled. What the plan has started before was waited for.
        let posted = unsafe { endpoint.post_planned(&mut planned, operation, filter, target) };
        drop(endpoint);
        let kept = self.keep_pending::<T, B>(operation, posted.map(Pending::Receive), raw);
        self.requests.put_back(plan.plan, planned, &kept);
        kept
    }

    /// Cancels what is left and drops its buffers. See the module's head.
    pub(super) fn cancel_requests(&mut self) {
        self.cancel_started();
        self.requests.forget_plans();
    }

    fn cancel_started(&mut self) {
        let mut endpoint = self.endpoint.borrow_mut();
        for (slot, pending) in self.requests.take_all() {
            match pending {
                Pending::Send(sent) => endpoint.cancel_send(sent),
                Pending::Receive(posted) => {
                    // Of which type it was is of no interest any more.
                    let target = Target::slice::<u8>(slot.buffer.pointer, slot.buffer.length);
                    drop(endpoint.finish_receive(slot.operation, posted, target));
                }
            }
            // SAFETY: `discard` was made for the buffer's type, and the transport has just let go
            // of it.
            unsafe { (slot.discard)(slot.buffer) };
        }
    }
}

/// What is said of an operation that was started alone and is complete.
#[inline(always)]
fn status_alone<T: Plain>(alone: &Alone, place: usize, lone: Lone, raw: RawBuffer) -> Status {
    match lone {
        Lone::Send { peer, .. } => Status { source: peer, count: raw.length },
        Lone::Receive => {
            let (source, bytes) = alone.arrival(place);
            Status { source, count: bytes / size_of::<T>().max(1) }
        }
    }
}

/// # Safety
///
/// As for `B::from_raw`.
unsafe fn discard<'env, T: Plain, B: SendBuffer<'env, T>>(raw: RawBuffer) {
    // SAFETY: the caller says so.
    drop(unsafe { B::from_raw(raw) });
}
