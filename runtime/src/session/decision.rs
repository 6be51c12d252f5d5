//! Decisions: one rank chooses how to go on, the others learn it.
//!
//! A decision travels as a buffered message of one `u32`, its label, on a communicator of its own
//! that the generated code's operation names; so choosing never waits.

use super::{Mode, One, Operation, Result, Session, Source};

impl Session<'_> {
    /// Tells each of `peers` but this rank that the decision is `label`.
    pub fn choose(
        &mut self,
        operation: &'static Operation,
        peers: impl IntoIterator<Item = i64>,
        label: u32,
    ) -> Result<()> {
        let own = self.rank as i64;
        self.endpoint.borrow_mut().enter(operation);
        for peer in peers.into_iter().filter(|&peer| peer != own) {
            self.send(operation, Mode::Buffered, peer, &[label])?;
        }
        Ok(())
    }

    /// Learns the label that `peer` has chosen.
    pub fn offer(&mut self, operation: &'static Operation, peer: i64) -> Result<u32> {
        let (label, _) = self.recv(operation, Source::Rank(peer), One::new())?;
        Ok(label)
    }
}
