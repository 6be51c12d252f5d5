//! Sends and receives that are over when they return.

#![allow(unsafe_code)]

use super::{
    Channel, Error, Mode, Operation, Outgoing, Plain, Receive, Result, Session, Source, Status,
};
use crate::transport::{Envelope, Filter, Lending, Pending, Target};

impl<T> Outgoing<'_, T> {
    /// How many elements there are.
    #[inline]
    pub(super) fn length(&self) -> usize {
        match self {
            Outgoing::Borrowed(data) => data.len(),
            Outgoing::Owned(data) => data.len(),
        }
    }

    /// The same as the transport takes it; what was borrowed must outlive the send.
    #[inline]
    pub(super) fn into_lending(self) -> Lending<T> {
        match self {
            Outgoing::Borrowed(data) => Lending::Borrowed(data.as_ptr(), data.len()),
            Outgoing::Owned(data) => Lending::Owned(data),
        }
    }
}

impl Session<'_> {
    /// Sends `data` to `peer`, and returns when `mode` lets it.
    #[inline(always)]
    pub fn send<'a, T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: i64,
        data: impl Into<Outgoing<'a, T>>,
    ) -> Result<()> {
        let peer = self.peer(operation, peer)?;
        let envelope = self.envelope(operation, Channel::Messages, operation.tag);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let data = data.into();
        // SAFETY: what `data` borrows outlives this call.
        unsafe { endpoint.send(operation, mode, peer, envelope, data.into_lending()) }
    }

    #[inline]
    pub(super) fn send_enveloped<T: Plain>(
        &self,
        operation: &'static Operation,
        mode: Mode,
        peer: usize,
        envelope: Envelope,
        data: Outgoing<'_, T>,
    ) -> Result<()> {
        let mut endpoint = self.endpoint.borrow_mut();
        // SAFETY: what `data` borrows outlives this call.
        unsafe { endpoint.send(operation, mode, peer, envelope, data.into_lending()) }
    }

    /// Receives one message into `buffer`, and says who sent it and how long it was. A `Vec` gets
    /// its length; the rest of a longer slice stays as it was.
    #[inline(always)]
    pub fn recv<T: Plain, R: Receive<T>>(
        &mut self,
        operation: &'static Operation,
        source: Source,
        buffer: R,
    ) -> Result<(R::Output, Status)> {
        let filter = self.filter(operation, &source)?;
        self.endpoint.borrow_mut().enter(operation);
        self.recv_filtered(operation, filter, buffer)
    }

    #[inline(always)]
    pub(super) fn recv_filtered<T: Plain, R: Receive<T>>(
        &self,
        operation: &'static Operation,
        filter: Filter,
        mut buffer: R,
    ) -> Result<(R::Output, Status)> {
        let landing = buffer.landing();
        let status = self.endpoint.borrow_mut().receive_landing(operation, filter, landing)?;
        self.finish_buffer(operation, buffer, status)
    }

    #[inline(always)]
    pub(super) fn finish_buffer<T: Plain, R: Receive<T>>(
        &self,
        operation: &'static Operation,
        buffer: R,
        status: Status,
    ) -> Result<(R::Output, Status)> {
        let output = buffer
            .finish(status.count)
            .map_err(|needed| self.wrong_length(operation, status.count, needed.to_string()))?;
        Ok((output, status))
    }

    /// Sends and receives at once, and returns when both are done. The two operations are the two
    /// halves of one: `text` and place are the same, message and tag each their own.
    pub fn sendrecv<'a, S: Plain, T: Plain, R: Receive<T>>(
        &mut self,
        (send, destination): (&'static Operation, i64),
        data: impl Into<Outgoing<'a, S>>,
        (receive, source): (&'static Operation, Source),
        mut buffer: R,
    ) -> Result<(R::Output, Status)> {
        let destination = self.peer(send, destination)?;
        let filter = self.filter(receive, &source)?;
        let envelope = self.envelope(send, Channel::Messages, send.tag);
        let target = Target::landing(buffer.landing());
        let data = data.into().into_lending();
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(send);
        // SAFETY: what `data` borrows outlives this call, which leaves the send complete or
        // cancelled.
        let sent = unsafe {
            let mode = Mode::Standard;
            endpoint.start_send(send, mode, destination, envelope, data)
        };
        let sending = Pending::Send(sent?);
        // SAFETY: the target is part of `buffer`, which this call alone has, and which finishes or
        // cancels the receive.
        let posted = unsafe { endpoint.post(receive, filter, target) };
        let outcome = posted.and_then(|posted| {
            let receiving = Pending::Receive(posted);
            let waited = endpoint.wait_for_both((send, &sending), (receive, &receiving));
            let Pending::Receive(posted) = receiving else { unreachable!("made just now") };
            let outcome = endpoint.finish_receive(receive, posted, target);
            waited.and_then(|()| outcome.expect("the wait ends when it is received"))
        });
        if let Pending::Send(sent) = sending {
            endpoint.cancel_send(sent);
        }
        drop(endpoint);
        self.finish_buffer(receive, buffer, outcome?)
    }

    /// Waits until a message of elements of type `T` that a receive from `source` would take is
    /// there, and leaves it.
    pub fn probe<T: Plain>(
        &mut self,
        operation: &'static Operation,
        source: Source,
    ) -> Result<Status> {
        let filter = self.filter(operation, &source)?;
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        endpoint.probe(operation, &filter, size_of::<T>())
    }

    /// Fails if another rank has left or nothing can move any more.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.endpoint.borrow().check_failure()
    }
}
