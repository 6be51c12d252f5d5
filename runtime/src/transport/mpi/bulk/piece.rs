//! Parts of a message that are moved one at a time.

/// Which bytes of a message a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport::mpi) struct Piece {
    pub(in crate::transport::mpi) offset: usize,
    pub(in crate::transport::mpi) bytes: usize,
}

impl Piece {
    /// The `index`-th chunk of a message.
    pub(super) fn of(index: usize, chunk: usize, message: usize) -> Piece {
        let offset = index * chunk;
        Piece { offset, bytes: chunk.min(message - offset) }
    }
}
