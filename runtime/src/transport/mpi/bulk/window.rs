//! Messages through a ring of chunks in the sender's shared memory.
//!
//! The sender fills chunks and counts them, the receiver empties them and counts as well. Each
//! counts for itself only, and neither waits for the other in here. The sender is done when it has
//! filled the last chunk; the ring is free when the receiver has emptied it.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::piece::Piece;

/// The most that a chunk holds.
pub(super) const ROOM: usize = 512 << 10;
/// How many chunks there are in a ring.
const CHUNKS: usize = 4;

/// The length of chunks of whole elements; `None` if an element is too long.
pub(super) fn chunk(element: usize) -> Option<usize> {
    let element = element.max(1);
    (element <= ROOM).then_some(ROOM / element * element)
}

/// Shared by one sender and one receiver.
///
/// What is in `data` belongs to the sender from when it sees, with acquire, that the receiver has
/// emptied a chunk, until it counts it as filled, with release; and to the receiver from when it
/// sees that, with acquire, until it counts it as emptied, with release.
#[repr(C, align(4096))]
pub(super) struct Ring {
    filled: Count,
    emptied: Count,
    data: Data,
}

/// On a cache line of its own, and its neighbour.
#[repr(C, align(128))]
struct Count(AtomicUsize);

#[repr(C, align(4096))]
struct Data(UnsafeCell<[u8; ROOM * CHUNKS]>);

// SAFETY: the rules above.
unsafe impl Sync for Data {}

impl Ring {
    fn place(&self, index: usize) -> *mut u8 {
        let data: *mut u8 = self.data.0.get().cast();
        data.wrapping_add(index % CHUNKS * ROOM)
    }

    /// By the sender, while no receiver has a header that names the ring.
    pub(super) fn clear(&self) {
        self.filled.0.store(0, Ordering::Relaxed);
        self.emptied.0.store(0, Ordering::Relaxed);
    }

    /// Makes all bytes of it zero; by the sender, as [`Ring::clear`].
    pub(super) fn zero(&self) {
        // SAFETY: it is all the sender's: nothing is filled.
        unsafe { self.data.0.get().cast::<u8>().write_bytes(0, ROOM * CHUNKS) }
    }

    /// Whether the receiver has emptied a message of so many chunks, and is gone.
    pub(super) fn is_free(&self, chunks: usize) -> bool {
        self.emptied.0.load(Ordering::Acquire) == chunks
    }
}

/// The sender's end.
pub(super) struct Sending {
    /// `None`: the message is made piece by piece.
    elements: Option<*const u8>,
    bytes: usize,
    chunk: usize,
    filled: usize,
    pub(super) ring: u32,
}

impl Sending {
    /// # Safety
    ///
    /// The elements stay readable and unchanged until the message is sent.
    pub(super) unsafe fn new(
        (index, ring): (u32, &Ring),
        elements: Option<*const u8>,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        ring.clear();
        Sending { elements, bytes, chunk, filled: 0, ring: index }
    }

    pub(super) fn chunks(&self) -> usize {
        self.bytes.div_ceil(self.chunk)
    }

    /// Fills a chunk, if there is room for one; whether there was.
    pub(super) fn advance(&mut self, ring: &Ring) -> bool {
        let Some(elements) = self.elements else { return false };
        let Some((piece, place)) = self.room(ring) else { return false };
        // SAFETY: the caller of `new` keeps the elements; the chunk is the sender's.
        unsafe { place.copy_from_nonoverlapping(elements.add(piece.offset), piece.bytes) };
        self.fill(ring);
        true
    }

    /// The next chunk and where it goes, if there is room for it now.
    pub(super) fn room(&self, ring: &Ring) -> Option<(Piece, *mut u8)> {
        let emptied = ring.emptied.0.load(Ordering::Acquire);
        let has_room = !self.is_done() && self.filled - emptied < CHUNKS;
        has_room.then(|| (Piece::of(self.filled, self.chunk, self.bytes), ring.place(self.filled)))
    }

    /// Gives the chunk that there was room for to the receiver.
    pub(super) fn fill(&mut self, ring: &Ring) {
        self.filled += 1;
        ring.filled.0.store(self.filled, Ordering::Release);
    }

    pub(super) fn is_done(&self) -> bool {
        self.filled == self.chunks()
    }
}

/// The receiver's end.
pub(super) struct Receiving {
    /// `None`: the message is used piece by piece.
    place: Option<*mut u8>,
    bytes: usize,
    chunk: usize,
    emptied: usize,
    pub(super) ring: u32,
}

impl Receiving {
    /// # Safety
    ///
    /// At the place there is room for the message, and nobody else uses it until the message is
    /// received.
    pub(super) unsafe fn new(
        ring: u32,
        place: Option<*mut u8>,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        Receiving { place, bytes, chunk, emptied: 0, ring }
    }

    /// Empties a chunk, if one is full; whether one was.
    pub(super) fn advance(&mut self, ring: &Ring) -> bool {
        let Some(place) = self.place else { return false };
        let Some((piece, chunk)) = self.next(ring) else { return false };
        // SAFETY: there is room for the message; the chunk is the receiver's.
        unsafe { place.add(piece.offset).copy_from_nonoverlapping(chunk, piece.bytes) };
        self.empty(ring);
        true
    }

    /// The next chunk and where it is, if it is full.
    pub(super) fn next(&self, ring: &Ring) -> Option<(Piece, *const u8)> {
        let filled = ring.filled.0.load(Ordering::Acquire);
        (self.emptied < filled && !self.is_done()).then(|| {
            let place = ring.place(self.emptied).cast_const();
            (Piece::of(self.emptied, self.chunk, self.bytes), place)
        })
    }

    /// Gives the chunk back to the sender.
    pub(super) fn empty(&mut self, ring: &Ring) {
        self.emptied += 1;
        ring.emptied.0.store(self.emptied, Ordering::Release);
    }

    pub(super) fn is_done(&self) -> bool {
        self.emptied * self.chunk >= self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> Box<Ring> {
        // SAFETY: the layout is a ring's, and all bytes zero are a ring.
        unsafe { Box::from_raw(std::alloc::alloc_zeroed(std::alloc::Layout::new::<Ring>()).cast()) }
    }

    #[test]
    fn chunks_are_whole_elements() {
        assert_eq!(chunk(1), Some(ROOM));
        assert_eq!(chunk(24).map(|chunk| (chunk % 24, ROOM - chunk < 24)), Some((0, true)));
        assert_eq!((chunk(ROOM), chunk(ROOM + 1)), (Some(ROOM), None));
    }

    #[test]
    fn two_threads_move_messages_through_one_ring() {
        let ring = ring();
        for bytes in [1, ROOM, ROOM + 1, ROOM * CHUNKS, 5_000_001] {
            let sent: Vec<u8> = (0..bytes).map(|index| (index % 253) as u8).collect();
            let mut received = vec![0u8; bytes];
            let chunk = chunk(3).unwrap();
            ring.clear();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // SAFETY: the vector outlives the thread, which alone uses it.
                    let mut sending =
                        unsafe { Sending::new((0, &ring), Some(sent.as_ptr()), bytes, chunk) };
                    while !sending.is_done() {
                        sending.advance(&ring);
                    }
                });
                scope.spawn(|| {
                    let place = received.as_mut_ptr();
                    // SAFETY: as above.
                    let mut receiving = unsafe { Receiving::new(0, Some(place), bytes, chunk) };
                    while !receiving.is_done() {
                        receiving.advance(&ring);
                    }
                });
            });
            assert!(ring.is_free(bytes.div_ceil(chunk)));
            assert!(sent == received);
        }
    }
}
