//! Operations that are started now and complete later.

#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;

use super::{
    Channel, Mode, Operation, Plain, RecvBuffer, Result, SendBuffer, Session, Source, Status,
};
use crate::buffer::RawBuffer;
use crate::transport::{Enough, Keep, Lending, Pending, Planned, Posted, Sent, Target};

/// The name of an operation that was started; its buffer, a `B`, is with the session until the
/// request is waited for.
#[must_use = "a request that nobody waits for is cancelled when the run ends"]
pub struct Request<B> {
    id: RequestId,
    buffer: PhantomData<(B, *const ())>,
}

/// A request's name without its buffer's type, for waiting on several of different types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId {
    session: u64,
    number: u64,
    slot: usize,
}

impl<B> Request<B> {
    /// The name alone.
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

/// What a session keeps of a plan. Which one a plan of the program means is a matter of speed only:
/// one that was made for something else is not used.
struct Plan {
    operation: &'static Operation,
    planned: Planned,
    /// What was started last.
    started: Option<RequestId>,
}

/// A request that is under way or not yet waited for.
pub(super) struct Slot {
    number: u64,
    operation: &'static Operation,
    pending: Pending,
    buffer: RawBuffer,
    /// Drops the buffer that nobody asked back.
    discard: unsafe fn(RawBuffer),
}

/// The requests of a session that are under way or not yet waited for.
#[derive(Default)]
pub(super) struct Requests {
    /// What no other session of the process is called.
    key: u64,
    slots: Vec<Option<Slot>>,
    /// The places in `slots` that hold none.
    free: Vec<usize>,
    started: u64,
    plans: Vec<Plan>,
}

impl Requests {
    pub(super) fn new(key: u64) -> Self {
        Requests { key, ..Self::default() }
    }

    #[inline(always)]
    fn slot(&self, id: RequestId) -> Option<&Slot> {
        let slot = self.slots.get(id.slot)?.as_ref()?;
        (id.session == self.key && slot.number == id.number).then_some(slot)
    }

    /// The plan of an operation: there is one, however often it is planned.
    fn plan(&mut self, operation: &'static Operation) -> usize {
        let is_its = |plan: &Plan| std::ptr::eq(plan.operation, operation);
        self.plans.iter().position(is_its).unwrap_or_else(|| {
            self.plans.push(Plan { operation, planned: Planned::default(), started: None });
            self.plans.len() - 1
        })
    }

    /// Takes what is kept of a plan, to start it; `None` if what it has started is not waited for.
    fn take_idle(&mut self, plan: usize) -> Option<Planned> {
        let started = self.plans.get(plan)?.started;
        let is_idle = started.is_none_or(|id| self.slot(id).is_none());
        is_idle.then(|| std::mem::take(&mut self.plans[plan].planned))
    }

    fn put_back<B>(&mut self, plan: usize, planned: Planned, kept: &Result<Request<B>>) {
        self.plans[plan].planned = planned;
        self.plans[plan].started = kept.as_ref().ok().map(|request| request.id);
    }

    #[inline(always)]
    fn take(&mut self, id: RequestId) -> Option<Slot> {
        self.free.push(id.slot);
        self.slots[id.slot].take()
    }
}

/// Puts what was started into the table, together with its buffer.
struct Keeper<'r, B> {
    requests: &'r mut Requests,
    operation: &'static Operation,
    raw: RawBuffer,
    discard: unsafe fn(RawBuffer),
    buffer: PhantomData<B>,
}

impl<'r, B> Keeper<'r, B> {
    #[inline(always)]
    fn new<'env, T: Plain>(
        requests: &'r mut Requests,
        operation: &'static Operation,
        raw: RawBuffer,
    ) -> Self
    where
        B: SendBuffer<'env, T>,
    {
        Keeper { requests, operation, raw, discard: discard::<T, B>, buffer: PhantomData }
    }

    #[inline(always)]
    fn keep_pending(self, pending: Pending) -> Request<B> {
        let Keeper { requests, operation, raw: buffer, discard, .. } = self;
        requests.started += 1;
        let number = requests.started;
        let slot = requests.free.pop().unwrap_or_else(|| {
            requests.slots.push(None);
            requests.slots.len() - 1
        });
        let place = &mut requests.slots[slot];
        debug_assert!(place.is_none(), "a free place");
        // SAFETY: the place is valid and holds none, which needs no drop. An assignment would drop
        // what it replaces, and therefore make the slot elsewhere first and copy it.
        unsafe {
            std::ptr::write(place, Some(Slot { number, operation, pending, buffer, discard }))
        };
        let id = RequestId { session: requests.key, number, slot };
        Request { id, buffer: PhantomData }
    }
}

impl<B> Keep<Sent> for Keeper<'_, B> {
    type Kept = Request<B>;
    #[inline(always)]
    fn keep(self, sent: Sent) -> Request<B> {
        self.keep_pending(Pending::Send(sent))
    }
}

impl<B> Keep<Posted> for Keeper<'_, B> {
    type Kept = Request<B>;
    #[inline(always)]
    fn keep(self, posted: Posted) -> Request<B> {
        self.keep_pending(Pending::Receive(posted))
    }
}

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
        let data = Lending::Borrowed(raw.pointer.cast_const().cast::<T>(), raw.length);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let keeper = Keeper::<B>::new::<T>(&mut self.requests, operation, raw);
        // SAFETY: the session keeps the buffer, and lets go of it only where the send is done or
        // cancelled.
        let kept = unsafe { endpoint.start_send(operation, mode, peer, envelope, data, keeper) };
        kept.inspect_err(|_| {
            // SAFETY: taken apart above, and nothing was started.
            drop(unsafe { B::from_raw(raw) });
        })
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
        self.check()?;
        let raw = buffer.into_raw();
        let target = Target::slice::<T>(raw.pointer, raw.length);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let keeper = Keeper::<B>::new::<T>(&mut self.requests, operation, raw);
        // SAFETY: the session keeps the buffer, and lets go of it only where the receive is
        // finished or cancelled.
        let kept = unsafe { endpoint.post(operation, filter, target, keeper) };
        kept.inspect_err(|_| {
            // SAFETY: taken apart above, and nothing was posted.
            drop(unsafe { B::from_raw(raw) });
        })
    }

    /// Waits until a request is complete, and hands its buffer back. For a receive, the status says
    /// whose message it was; for a send it repeats peer and length.
    #[inline]
    pub fn wait<T: Plain, B: SendBuffer<'env, T>>(
        &mut self,
        operation: &'static Operation,
        request: Request<B>,
    ) -> Result<(B, Status)> {
        let id = request.id;
        let slot =
            self.requests.slot(id).expect("a request belongs to the session that started it");
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        if !endpoint.is_complete(&slot.pending) {
            let started = std::iter::once((slot.operation, &slot.pending));
            endpoint.wait_for(operation, started, Enough::All)?;
        }
        drop(endpoint);
        let slot = self.requests.take(id).expect("it was looked at just now");
        let status = match slot.pending {
            Pending::Send(sent) => {
                let status = Status { source: sent.peer, count: slot.buffer.length };
                self.endpoint.borrow_mut().forget_send(sent);
                Ok(status)
            }
            Pending::Receive(posted) => {
                let target = Target::slice::<T>(slot.buffer.pointer, slot.buffer.length);
                let mut endpoint = self.endpoint.borrow_mut();
                let outcome = endpoint.finish_receive(slot.operation, posted, target);
                outcome.expect("the wait ends when it is received")
            }
        };
        // SAFETY: the name, which is used up here, was made together with this slot for the type
        // `B`; the operation is complete, so the transport has let go of the buffer.
        let buffer = unsafe { B::from_raw(slot.buffer) };
        status.map(|status| (buffer, status))
    }

    /// Waits until all of these are complete; each is then to be taken with [`Session::wait`],
    /// which returns at once.
    pub fn wait_all(
        &mut self,
        operation: &'static Operation,
        requests: &[RequestId],
    ) -> Result<()> {
        self.wait_for(operation, requests, Enough::All)
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
        self.wait_for(operation, requests, Enough::One)?;
        let endpoint = self.endpoint.borrow();
        Ok(requests.iter().position(|&id| {
            self.requests.slot(id).is_none_or(|slot| endpoint.is_complete(&slot.pending))
        }))
    }

    /// Whether a request is complete; if so it is then to be taken with [`Session::wait`], which
    /// returns at once. A test that fails very often while no rank can move waits instead.
    pub fn test(&mut self, operation: &'static Operation, request: RequestId) -> Result<bool> {
        let Some(slot) = self.requests.slot(request) else { return Ok(true) };
        self.endpoint.borrow_mut().test(operation, (slot.operation, &slot.pending))
    }

    fn wait_for(
        &mut self,
        operation: &'static Operation,
        requests: &[RequestId],
        enough: Enough,
    ) -> Result<()> {
        let slots = requests.iter().filter_map(|&id| self.requests.slot(id));
        let started = slots.map(|slot| (slot.operation, &slot.pending));
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
        let keeper = Keeper::<B>::new::<T>(&mut self.requests, operation, raw);
        // SAFETY: the session keeps the buffer, and lets go of it only where the send is done or
        // cancelled. What the plan has started before was waited for.
        let kept = unsafe {
            endpoint.start_planned_send(&mut planned, operation, (peer, envelope), data, keeper)
        };
        self.requests.put_back(plan.plan, planned, &kept);
        kept.inspect_err(|_| {
            // SAFETY: taken apart above, and nothing was started.
            drop(unsafe { B::from_raw(raw) });
        })
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
        let keeper = Keeper::<B>::new::<T>(&mut self.requests, operation, raw);
        // SAFETY: the session keeps the buffer, and lets go of it only where the receive is
        // finished or cancelled. What the plan has started before was waited for.
        let kept =
            unsafe { endpoint.post_planned(&mut planned, operation, filter, target, keeper) };
        self.requests.put_back(plan.plan, planned, &kept);
        kept.inspect_err(|_| {
            // SAFETY: taken apart above, and nothing was posted.
            drop(unsafe { B::from_raw(raw) });
        })
    }

    /// Cancels what is left and drops its buffers. See the module's head.
    pub(super) fn cancel_requests(&mut self) {
        self.cancel_started();
        self.requests.plans.clear();
    }

    fn cancel_started(&mut self) {
        let mut endpoint = self.endpoint.borrow_mut();
        for slot in self.requests.slots.drain(..).flatten() {
            match slot.pending {
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

/// # Safety
///
/// As for `B::from_raw`.
unsafe fn discard<'env, T: Plain, B: SendBuffer<'env, T>>(raw: RawBuffer) {
    // SAFETY: the caller says so.
    drop(unsafe { B::from_raw(raw) });
}
