//! Messages that both ends copy at once, straight from the sender's memory into the receiver's.
//!
//! The sender's [`Slot`] in shared memory says which chunks are taken: the receiver takes them
//! from the front and the sender from the back, until they meet. The receiver can begin when it
//! has the header, and goes on alone as long as the sender is elsewhere; the sender can begin when
//! the receiver has said where the message goes. Both see in the slot when all is moved.
//!
//! A slot's life: the sender clears it and sends the header, in MPI's message, which orders
//! all that the sender wrote before it; the two move the message; the sender is done when all is
//! moved, the receiver as well, and lets go of the slot then; the sender uses it again when the
//! receiver has let go.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::super::code::Code;
use super::failure;
use super::memory;
use super::piece::Piece;

/// What both ends know of a message.
#[repr(C, align(128))]
pub(super) struct Slot {
    /// Chunks taken: from the front in the lower half, from the back in the upper half. It only
    /// shares the chunks out, and orders nothing.
    taken: Line<AtomicU64>,
    /// Where the receiver wants the message; 0: nowhere yet.
    place: Line<AtomicU64>,
    /// Chunks moved. Each is added after it is moved, with release, so that who sees them all,
    /// with acquire, sees the message; and nobody reads or writes either memory after that.
    moved: Line<AtomicU32>,
    /// Whether the receiver looks at this no more.
    free: AtomicBool,
}

/// On a cache line of its own, and its neighbour: each is written while others are read.
#[repr(C, align(128))]
struct Line<T>(T);

impl Slot {
    fn clear(&self) {
        self.taken.0.store(0, Ordering::Relaxed);
        self.place.0.store(0, Ordering::Relaxed);
        self.moved.0.store(0, Ordering::Relaxed);
        self.free.store(false, Ordering::Relaxed);
    }

    /// Takes the next of `chunks` from the front, `most` of them if there are as many.
    fn take_first(&self, chunks: u32, most: u32) -> Option<Range<u32>> {
        let ((first, _), taken) = self.take(chunks, |left| (left.min(most), 0))?;
        Some(first..first + taken)
    }

    /// Takes the next of `chunks` from the back.
    fn take_last(&self, chunks: u32) -> Option<Range<u32>> {
        let ((_, last), _) = self.take(chunks, |_| (0, 1))?;
        Some(chunks - 1 - last..chunks - last)
    }

    /// Takes as many from the front and the back as `wanted` says of what is left, if anything is.
    /// Gives back what was taken before, and how many were taken from the front.
    fn take(&self, chunks: u32, wanted: impl Fn(u32) -> (u32, u32)) -> Option<((u32, u32), u32)> {
        let order = Ordering::Relaxed;
        let halves = |taken: u64| (taken as u32, (taken >> 32) as u32);
        let more = |taken: u64| {
            let (first, last) = halves(taken);
            let left = chunks - first - last;
            let (front, back) = wanted(left);
            (left > 0).then(|| taken + u64::from(front) + (u64::from(back) << 32))
        };
        let taken = self.taken.0.fetch_update(order, order, more).ok()?;
        let (first, last) = halves(taken);
        Some(((first, last), wanted(chunks - first - last).0))
    }

    fn is_moved(&self, chunks: u32) -> bool {
        self.moved.0.load(Ordering::Acquire) == chunks
    }

    /// Whether the sender may use it again.
    pub(super) fn is_free(&self) -> bool {
        self.free.load(Ordering::Acquire)
    }

    /// By the receiver, last of all.
    pub(super) fn let_go(&self) {
        self.free.store(true, Ordering::Release);
    }
}

/// The length of a message's chunks: one for each end at least, enough of them that neither waits
/// for long when they meet, and not so small that the calls count.
pub(super) fn chunk(bytes: usize, element: usize) -> usize {
    let chunk = (bytes / 8).clamp(64 << 10, 1 << 20).min(bytes.div_ceil(2));
    chunk.next_multiple_of(element.max(1)).max(1)
}

/// How many chunks a receiver takes at once whose sender is likely to be busy.
const SEVERAL: u32 = 4;

/// Where one end's part of a message is.
#[derive(Clone, Copy)]
struct Ends {
    own: *mut u8,
    bytes: usize,
    chunk: usize,
    process: libc::pid_t,
    peer: usize,
}

impl Ends {
    fn chunks(&self) -> u32 {
        self.bytes.div_ceil(self.chunk) as u32
    }

    fn piece(&self, taken: &Range<u32>) -> Piece {
        let offset = taken.start as usize * self.chunk;
        Piece { offset, bytes: (taken.len() * self.chunk).min(self.bytes - offset) }
    }
}

/// The sender's end.
pub(super) struct Sending {
    ends: Ends,
    pub(super) slot: u32,
}

impl Sending {
    /// # Safety
    ///
    /// The elements stay readable and unchanged until the message is sent.
    pub(super) unsafe fn new(
        (index, slot): (u32, &Slot),
        (peer, process): (usize, libc::pid_t),
        elements: *const u8,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        slot.clear();
        let ends = Ends { own: elements.cast_mut(), bytes, chunk, process, peer };
        Sending { ends, slot: index }
    }

    /// Moves a chunk, if the receiver has said where to and one is left; whether it has.
    pub(super) fn advance(&mut self, slot: &Slot) -> Result<bool, Code> {
        let ends = self.ends;
        // Acquire: pairs with the receiver's release in `Receiving::new`: what it did with its
        // memory before it offered it comes first.
        let place = slot.place.0.load(Ordering::Acquire);
        if place == 0 {
            return Ok(false);
        }
        let Some(taken) = slot.take_last(ends.chunks()) else { return Ok(false) };
        let Piece { offset, bytes } = ends.piece(&taken);
        // SAFETY: the caller of `new` keeps the elements, and the receiver its place until all is
        // moved; this chunk of both is in the use of whoever has taken it.
        unsafe { memory::write(ends.process, place + offset as u64, ends.own.add(offset), bytes) }
            .map_err(|error| {
                failure(&format!("writing to the memory of rank {}", ends.peer), &error)
            })?;
        slot.moved.0.fetch_add(1, Ordering::AcqRel);
        Ok(true)
    }

    pub(super) fn is_done(&self, slot: &Slot) -> bool {
        slot.is_moved(self.ends.chunks())
    }
}

/// The receiver's end.
pub(super) struct Receiving {
    ends: Ends,
    /// Where the elements are at the sender's.
    address: u64,
    pub(super) slot: u32,
    /// Nobody but this end moves the message, and it is used piece by piece.
    in_pieces: bool,
}

impl Receiving {
    /// Begins to receive; without a place, [`Receiving::read_next`] is all that moves anything.
    ///
    /// # Safety
    ///
    /// At the place there is room for the message, and nobody else uses it until the message is
    /// received.
    pub(super) unsafe fn new(
        (index, slot): (u32, &Slot),
        (source, process): (usize, libc::pid_t),
        address: u64,
        place: Option<*mut u8>,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        if let Some(place) = place {
            // Release: what was done at the place before comes before the sender writes there.
            slot.place.0.store(place.expose_provenance() as u64, Ordering::Release);
        }
        let own = place.unwrap_or(std::ptr::null_mut());
        let ends = Ends { own, bytes, chunk, process, peer: source };
        Receiving { ends, address, slot: index, in_pieces: place.is_none() }
    }

    /// Moves a chunk, if one is left, or several if it is `alone`; whether it has.
    pub(super) fn advance(&mut self, slot: &Slot, alone: bool) -> Result<bool, Code> {
        if self.in_pieces {
            return Ok(false);
        }
        let most = if alone { SEVERAL } else { 1 };
        let Some(taken) = slot.take_first(self.ends.chunks(), most) else { return Ok(false) };
        let piece = self.ends.piece(&taken);
        // SAFETY: there is room for the message, and this chunk is in the use of whoever has
        // taken it.
        unsafe { self.read(piece, self.ends.own.add(piece.offset)) }?;
        slot.moved.0.fetch_add(taken.len() as u32, Ordering::AcqRel);
        Ok(true)
    }

    /// Moves the next chunk to `into`.
    ///
    /// # Safety
    ///
    /// There is room for a chunk, which nobody else uses.
    pub(super) unsafe fn read_next(
        &mut self,
        slot: &Slot,
        into: *mut u8,
    ) -> Result<Option<Piece>, Code> {
        let Some(taken) = slot.take_first(self.ends.chunks(), 1) else { return Ok(None) };
        let piece = self.ends.piece(&taken);
        // SAFETY: the caller says so.
        unsafe { self.read(piece, into) }?;
        slot.moved.0.fetch_add(1, Ordering::AcqRel);
        Ok(Some(piece))
    }

    unsafe fn read(&self, Piece { offset, bytes }: Piece, into: *mut u8) -> Result<(), Code> {
        let Ends { process, peer, .. } = self.ends;
        // SAFETY: as the caller says; the sender keeps its elements until all is moved.
        unsafe { memory::read(process, self.address + offset as u64, into, bytes) }
            .map_err(|error| failure(&format!("reading the memory of rank {peer}"), &error))
    }

    pub(super) fn is_done(&self, slot: &Slot) -> bool {
        slot.is_moved(self.ends.chunks())
    }

    pub(super) fn finish(self, slot: &Slot) {
        slot.let_go();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use proptest::prelude::*;

    use super::*;

    fn slot() -> Slot {
        Slot {
            taken: Line(AtomicU64::new(7)),
            place: Line(AtomicU64::new(7)),
            moved: Line(AtomicU32::new(7)),
            free: AtomicBool::new(true),
        }
    }

    proptest! {
        #[test]
        fn every_chunk_is_taken_once(chunks in 1u32..200, order in any::<[u64; 4]>()) {
            let slot = slot();
            slot.clear();
            let (mut first, mut last) = (Vec::new(), Vec::new());
            for turn in 0.. {
                let taken = if order[turn / 64 % 4] >> (turn % 64) & 1 == 0 {
                    slot.take_first(chunks, 1 + turn as u32 % 3).map(|taken| first.extend(taken))
                } else {
                    slot.take_last(chunks).map(|taken| last.extend(taken))
                };
                if taken.is_none() {
                    break;
                }
            }
            first.extend(last.into_iter().rev());
            prop_assert_eq!(first, (0..chunks).collect::<Vec<_>>());
            prop_assert_eq!(slot.take_first(chunks, 4).or(slot.take_last(chunks)), None);
        }
    }

    #[test]
    fn both_ends_together_take_every_chunk_once() {
        const CHUNKS: u32 = 10_000;
        let slot = slot();
        slot.clear();
        let taken: Vec<AtomicUsize> = (0..CHUNKS).map(|_| AtomicUsize::new(0)).collect();
        let take = |next: &dyn Fn() -> Option<Range<u32>>| {
            while let Some(chunks) = next() {
                for index in chunks {
                    taken[index as usize].fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| take(&|| slot.take_first(CHUNKS, 3)));
            scope.spawn(|| take(&|| slot.take_last(CHUNKS)));
        });
        assert!(taken.iter().all(|times| times.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn two_ends_of_one_process_move_a_message() {
        let own = std::process::id() as libc::pid_t;
        for bytes in [1, 65_536, 1_000_003, 5 << 20] {
            let sent: Vec<u8> = (0..bytes).map(|index| (index % 251) as u8).collect();
            let mut received = vec![0u8; bytes];
            let (slot, chunk) = (slot(), chunk(bytes, 24));
            let (elements, place) = (sent.as_ptr(), received.as_mut_ptr());
            // SAFETY: both vectors outlive both ends, and nobody else uses them meanwhile.
            let (mut sending, mut receiving) = unsafe {
                let sending = Sending::new((0, &slot), (0, own), elements, bytes, chunk);
                let address = elements.expose_provenance() as u64;
                let at = (0, &slot);
                (sending, Receiving::new(at, (0, own), address, Some(place), bytes, chunk))
            };
            assert!(!sending.is_done(&slot) && !slot.is_free());
            while !receiving.is_done(&slot) {
                sending.advance(&slot).unwrap();
                receiving.advance(&slot, bytes % 2 == 0).unwrap();
            }
            assert!(sending.is_done(&slot) && !slot.is_free());
            receiving.finish(&slot);
            assert!(slot.is_free());
            assert!(sent == received);
        }
    }
}
