//! Messages that are made or used piece by piece.
//!
//! Threads have nothing to overlap: a message that is given away is not copied. So it is one piece.

#![allow(unsafe_code)]

use p2p_protocol::model::Mode;

use super::{Endpoint, Envelope, Filter, Lending};
use crate::buffer::Landing;
use crate::error::Result;
use crate::operation::{Operation, Status};
use crate::plain::Plain;

/// Makes a piece, of which it is told at which element it begins.
pub(super) type Fill<'a, T> = dyn FnMut(usize, &mut [T]) -> Result<()> + 'a;
/// Uses a piece, likewise.
pub(super) type Take<'a, T> = dyn FnMut(usize, &[T]) -> Result<()> + 'a;

impl Endpoint {
    /// Sends `count` elements, which `fill` makes, piece by piece in their order; it is told at
    /// which element a piece begins.
    pub(crate) fn send_pieces<T: Plain>(
        &mut self,
        operation: &'static Operation,
        mode: Mode,
        (peer, envelope): (usize, Envelope),
        count: usize,
        fill: &mut Fill<'_, T>,
    ) -> Result<()> {
        #[cfg(feature = "mpi")]
        if let Endpoint::Mpi(endpoint) = self
            && endpoint.sends_pieces::<T>(mode, peer, count)
        {
            return endpoint.send_pieces(operation, mode, (peer, envelope), count, fill);
        }
        let mut data = vec![T::zero(); count];
        if count > 0 {
            fill(0, &mut data)?;
        }
        // SAFETY: nothing is borrowed.
        unsafe { self.send(operation, mode, peer, envelope, Lending::Owned(data)) }
    }

    /// Receives a message whose pieces `take` gets in their order, each with the element at which
    /// it begins.
    pub(crate) fn receive_pieces<T: Plain>(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        take: &mut Take<'_, T>,
    ) -> Result<Status> {
        #[cfg(feature = "mpi")]
        if let Endpoint::Mpi(endpoint) = self
            && size_of::<T>() > 0
        {
            return endpoint.receive_pieces(operation, &filter, take);
        }
        let mut data: Vec<T> = Vec::new();
        let status = self.receive_landing(operation, filter, Landing::Vec(&mut data))?;
        if !data.is_empty() {
            take(0, &data)?;
        }
        Ok(status)
    }
}
