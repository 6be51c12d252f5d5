//! What travels in a large message's place: how its elements come, and where they are.

/// How long a header is. No payload of that length travels without one, so that a message of this
/// length is always a header; odd, so that hardly a payload is.
pub(in crate::transport::mpi) const HEADER_BYTES: usize = 61;

/// How the elements come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As messages on bulk's communicator.
    Pipeline,
    /// Through the ring of this index in the sender's shared memory.
    Window(u32),
    /// From the sender's memory at this address, under the slot of this index.
    Direct { slot: u32, address: u64 },
    /// Put into the receiver's memory.
    Put,
}

/// A large message's announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) way: Way,
    /// The tag of what belongs to the transfer on bulk's communicator.
    pub(super) tag: i32,
    /// The length of the message.
    pub(super) bytes: usize,
    /// The length of its chunks, but for the last one.
    pub(super) chunk: usize,
}

impl Header {
    pub(super) fn write(&self) -> [u8; HEADER_BYTES] {
        let (way, index, address) = match self.way {
            Way::Pipeline => (0, 0, 0),
            Way::Window(ring) => (1, ring, 0),
            Way::Direct { slot, address } => (2, slot, address),
            Way::Put => (3, 0, 0),
        };
        let mut header = [0; HEADER_BYTES];
        header[0..8].copy_from_slice(&(self.bytes as u64).to_ne_bytes());
        header[8..16].copy_from_slice(&(self.chunk as u64).to_ne_bytes());
        header[16..24].copy_from_slice(&address.to_ne_bytes());
        header[24..28].copy_from_slice(&index.to_ne_bytes());
        header[28..32].copy_from_slice(&self.tag.to_ne_bytes());
        header[32] = way;
        header
    }

    /// What a header says that [`Header::write`] has made.
    pub(super) fn read(header: &[u8; HEADER_BYTES]) -> Header {
        let long = |at| u64::from_ne_bytes(std::array::from_fn(|byte| header[at + byte]));
        let short = |at| u32::from_ne_bytes(std::array::from_fn(|byte| header[at + byte]));
        let way = match header[32] {
            1 => Way::Window(short(24)),
            2 => Way::Direct { slot: short(24), address: long(16) },
            3 => Way::Put,
            _ => Way::Pipeline,
        };
        Header { way, tag: short(28) as i32, bytes: long(0) as usize, chunk: long(8) as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_is_written() {
        let ways = [
            Way::Pipeline,
            Way::Window(7),
            Way::Direct { slot: 9, address: 0x7fff_0123_4567_89ab },
            Way::Put,
        ];
        for (tag, way) in (0..).zip(ways) {
            let header = Header { way, tag, bytes: (5 << 30) + 3, chunk: 1 << 20 };
            assert_eq!(Header::read(&header.write()), header);
        }
    }
}
