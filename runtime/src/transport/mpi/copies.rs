//! Memory for what is copied before it is sent, and is the program's no more.
//!
//! Touching fresh memory takes longer than copying to it, so that of long copies is kept for the
//! next ones: a few pieces, and so many bytes together at most.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

use super::bulk;

/// Shorter pieces are as fast from the allocator.
const SHORTEST: usize = 32 << 10;
/// How many pieces are kept, and how many bytes.
const PIECES: usize = 8;
const BYTES: usize = 64 << 20;
/// Where pieces begin: at a line of the cache.
const ALIGNMENT: usize = 64;

/// A piece of memory of its own.
pub(super) struct Copied {
    place: *mut u8,
    layout: Layout,
}

impl Copied {
    fn new(bytes: usize) -> Self {
        // No slice is so long that this is not a layout.
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).expect("memory has a layout");
        // SAFETY: it is not of no bytes.
        let place = unsafe { alloc(layout) };
        if place.is_null() {
            handle_alloc_error(layout);
        }
        bulk::prepare(place, bytes);
        Copied { place, layout }
    }

    fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.place, self.layout) }
    }
}

/// Pieces that are kept, the one that was given back last at the end.
#[derive(Default)]
pub(super) struct Spare(Vec<Copied>);

impl Spare {
    /// Copies so many bytes; where they are.
    ///
    /// # Safety
    ///
    /// They can be read during the call.
    pub(super) unsafe fn copy(&mut self, from: *const u8, bytes: usize) -> (*const u8, Copied) {
        // One that is much too long is left to longer ones.
        let fits = |it: &Copied| (bytes..=2 * bytes.max(SHORTEST)).contains(&it.bytes());
        let copied = match self.0.iter().rposition(fits) {
            Some(number) => self.0.remove(number),
            None => Copied::new(bytes),
        };
        // SAFETY: the caller says so, and the piece is as long and its own.
        unsafe { std::ptr::copy_nonoverlapping(from, copied.place, bytes) };
        (copied.place, copied)
    }

    /// Takes a piece back.
    pub(super) fn give_back(&mut self, copied: Copied) {
        if !(SHORTEST..=BYTES).contains(&copied.bytes()) {
            return;
        }
        self.0.push(copied);
        while self.0.len() > PIECES || self.0.iter().map(Copied::bytes).sum::<usize>() > BYTES {
            self.0.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(spare: &mut Spare, data: &[u8]) -> Copied {
        // SAFETY: the data is there.
        let (place, copied) = unsafe { spare.copy(data.as_ptr(), data.len()) };
        // SAFETY: so many bytes were copied there.
        assert_eq!(unsafe { std::slice::from_raw_parts(place, data.len()) }, data);
        copied
    }

    #[test]
    fn long_pieces_are_used_again_and_not_too_many_are_kept() {
        let mut spare = Spare::default();
        let first = copy(&mut spare, &vec![1; 2 * SHORTEST]);
        let place = first.place;
        spare.give_back(first);
        let again = copy(&mut spare, &vec![2; SHORTEST + 1]);
        assert_eq!(again.place, place);
        let short = copy(&mut spare, &[3; 100]);
        spare.give_back(short);
        assert!(spare.0.is_empty());
        for _ in 0..20 {
            let copied = Copied::new(10 << 20);
            spare.give_back(copied);
            spare.give_back(Copied::new(SHORTEST));
        }
        assert!(spare.0.len() <= PIECES);
        assert!(spare.0.iter().map(Copied::bytes).sum::<usize>() <= BYTES);
        spare.give_back(Copied::new(BYTES + 1));
        assert!(spare.0.iter().all(|it| it.bytes() <= BYTES));
        copy(&mut spare, &[]);
    }
}
