//! Messages that are made or used piece by piece, while other pieces travel.

use super::{Channel, Mode, Operation, Plain, Result, Session, Source, Status};

/// What a closure gives back that makes or uses a piece: nothing, or a `Result` if it may fail. A
/// failure ends the step, and with it the run.
pub trait Fallible {
    /// The same as a `Result`.
    fn into_result(self) -> Result<()>;
}

impl Fallible for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}

impl Fallible for Result<()> {
    fn into_result(self) -> Result<()> {
        self
    }
}

impl Session<'_> {
    /// Sends `length` elements to `peer` that `fill` makes: piece by piece in their order, each
    /// with the index of its first element. How long pieces are is the transport's to choose; what
    /// is in them before is of no meaning.
    pub fn send_with<T: Plain, F: Fallible>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        peer: i64,
        length: usize,
        mut fill: impl FnMut(usize, &mut [T]) -> F,
    ) -> Result<()> {
        let peer = self.peer(operation, peer)?;
        let envelope = self.envelope(operation, Channel::Messages, operation.tag);
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let mut fill = |first: usize, piece: &mut [T]| fill(first, piece).into_result();
        endpoint.send_pieces(operation, mode, (peer, envelope), length, &mut fill)
    }

    /// Receives one message, whose pieces `take` gets in their order as they arrive, each with the
    /// index of its first element; says who sent it and how long it was.
    pub fn recv_with<T: Plain, F: Fallible>(
        &mut self,
        operation: &'static Operation,
        source: Source,
        mut take: impl FnMut(usize, &[T]) -> F,
    ) -> Result<Status> {
        let filter = self.filter(operation, &source)?;
        let mut endpoint = self.endpoint.borrow_mut();
        endpoint.enter(operation);
        let mut take = |first: usize, piece: &[T]| take(first, piece).into_result();
        endpoint.receive_pieces(operation, filter, &mut take)
    }
}
