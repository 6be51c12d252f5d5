//! Waiting for operations that were started, and testing them.

use super::endpoint::Endpoint;
use crate::error::Result;
use crate::operation::Operation;
use crate::transport::started::{Enough, Pending};
use crate::transport::waiting::{Half, What};

impl Endpoint {
    /// Waits until enough of what was started, each by its own operation, is complete.
    pub(crate) fn wait_for<'a>(
        &mut self,
        operation: &'static Operation,
        started: impl Iterator<Item = (&'static Operation, &'a Pending)> + Clone,
        enough: Enough,
    ) -> Result<()> {
        let all = started.clone().count();
        self.wait_until(
            operation,
            |endpoint| {
                let started = started.clone();
                let missing = started.filter(|(_, pending)| !endpoint.is_complete(pending));
                What::Requests(missing.map(|(by, pending)| endpoint.half(by, pending)).collect())
            },
            |endpoint| {
                endpoint.progress();
                let started = started.clone();
                let complete = started.filter(|(_, pending)| endpoint.is_complete(pending)).count();
                enough.is_reached(complete, all)
            },
        )
    }

    /// Waits until a send and a receive are both complete.
    pub(crate) fn wait_for_both(
        &mut self,
        (send, sending): (&'static Operation, &Pending),
        (receive, receiving): (&'static Operation, &Pending),
    ) -> Result<()> {
        self.wait_until(
            send,
            |endpoint| What::SendReceive {
                send: endpoint.half(send, sending),
                receive: endpoint.half(receive, receiving),
            },
            |endpoint| {
                endpoint.progress();
                endpoint.is_complete(sending) && endpoint.is_complete(receiving)
            },
        )
    }

    /// Whether it is complete now. A test that fails very often while no rank can move waits
    /// instead.
    pub(crate) fn test(
        &mut self,
        operation: &'static Operation,
        (by, pending): (&'static Operation, &Pending),
    ) -> Result<bool> {
        self.enter_test(operation)?;
        self.progress();
        if self.is_complete(pending) {
            self.enter(operation);
            return Ok(true);
        }
        let waits = self.failed_test();
        if waits {
            self.enter(operation);
            self.wait_for(operation, std::iter::once((by, pending)), Enough::All)?;
        }
        Ok(waits)
    }

    /// Whether it is complete.
    pub(crate) fn is_complete(&self, pending: &Pending) -> bool {
        match pending {
            Pending::Send(sent) => sent.is_done(),
            Pending::Receive(posted) => self.is_received(posted.id()),
        }
    }

    fn half(&self, operation: &'static Operation, pending: &Pending) -> Half {
        match pending {
            Pending::Send(sent) => Half::to(operation, sent.peer, sent.standard),
            Pending::Receive(posted) => Half::from(operation, self.receives_from(posted.id())),
        }
    }
}
