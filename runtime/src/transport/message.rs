//! What every transport takes: by what a message finds its receive, where its elements are, and
//! where they go.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;

use crate::buffer::Landing;
use crate::plain::{Element, Plain};

/// By what a message finds its receive, besides who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The tag.
    pub(crate) tag: i32,
    /// Which run of which protocol: the ranks count them alike.
    pub(crate) session: u32,
    /// The communicator, and what the session uses it for.
    pub(crate) communicator: u16,
}

/// From whom a receive takes; ranks of the world.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    Rank(usize),
    Any(Range<usize>),
}

impl Origin {
    pub(crate) fn accepts(&self, source: usize) -> bool {
        match self {
            Origin::Rank(rank) => *rank == source,
            Origin::Any(ranks) => ranks.contains(&source),
        }
    }

    /// The ranks that could end the wait.
    pub(crate) fn ranks(&self) -> Range<usize> {
        match self {
            Origin::Rank(rank) => *rank..rank + 1,
            Origin::Any(ranks) => ranks.clone(),
        }
    }
}

/// Which messages a receive takes.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) source: Origin,
    pub(crate) envelope: Envelope,
}

/// What is sent.
pub(crate) enum Lending<T> {
    /// So many elements that stay with the sender.
    Borrowed(*const T, usize),
    /// Elements that go to the receiver.
    Owned(Vec<T>),
}

/// A `Vec<T>` of a [`Plain`] type, taken apart, with its layout instead of its type.
pub(crate) struct RawVec {
    pub(crate) pointer: *mut u8,
    pub(crate) length: usize,
    pub(crate) capacity: usize,
    pub(crate) element: &'static Element,
}

impl RawVec {
    pub(crate) fn new<T: Plain>(data: Vec<T>) -> Self {
        let mut data = ManuallyDrop::new(data);
        RawVec {
            pointer: data.as_mut_ptr().cast(),
            length: data.len(),
            capacity: data.capacity(),
            element: Element::of::<T>(),
        }
    }

    /// The `Vec` that it was made from; `None` if it is not of this type.
    pub(crate) fn into_vec<T: Plain>(self) -> Option<Vec<T>> {
        if !self.element.is(Element::of::<T>()) {
            return None;
        }
        let raw = ManuallyDrop::new(self);
        // SAFETY: the same type was taken apart in `new`, and neither copy of it was dropped.
        Some(unsafe { Vec::from_raw_parts(raw.pointer.cast(), raw.length, raw.capacity) })
    }
}

impl Drop for RawVec {
    fn drop(&mut self) {
        let bytes = self.capacity * self.element.size;
        if bytes > 0 {
            // A layout that a `Vec` was allocated with is a valid one.
            let layout = std::alloc::Layout::from_size_align(bytes, self.element.align)
                .expect("a Vec has a layout");
            // SAFETY: a `Vec` of this capacity allocated it with this layout; its elements are
            // `Copy` and need no drop.
            unsafe { std::alloc::dealloc(self.pointer, layout) }
        }
    }
}

/// Where a message's elements go, without their type.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(super) element: &'static Element,
    pub(super) place: Place,
}

#[derive(Clone, Copy)]
pub(super) enum Place {
    /// So many elements from here on.
    Slice { pointer: *mut u8, room: usize },
    /// A `Vec`, which gets the message's length.
    Vec(VecPlace),
}

impl Target {
    /// The target that `landing` is.
    #[inline]
    pub(crate) fn landing<T: Plain>(landing: Landing<'_, T>) -> Self {
        match landing {
            Landing::Slice(slice) => Target::slice::<T>(slice.as_mut_ptr().cast(), slice.len()),
            Landing::Vec(vec) => Target {
                element: Element::of::<T>(),
                place: Place::Vec(VecPlace { vec: (&raw mut *vec).cast(), of: &VecOf::<T>::OF }),
            },
        }
    }

    /// How many elements so many bytes are. Mostly as many as there is room for, and a division
    /// takes as long as some calls.
    #[cfg(feature = "mpi")]
    #[inline]
    pub(super) fn count(&self, bytes: usize) -> usize {
        match self.place {
            Place::Slice { room, .. } if room * self.element.size == bytes => room,
            _ => bytes / self.element.size,
        }
    }

    /// The `room` elements at `pointer`.
    #[inline]
    pub(crate) fn slice<T: Plain>(pointer: *mut u8, room: usize) -> Self {
        Target { element: Element::of::<T>(), place: Place::Slice { pointer, room } }
    }
}

/// A `Vec` whose type is known to its functions alone.
#[derive(Clone, Copy)]
pub(super) struct VecPlace {
    vec: *mut (),
    of: &'static VecFunctions,
}

struct VecFunctions {
    adopt: unsafe fn(*mut (), RawVec),
    make_room: unsafe fn(*mut (), usize) -> Room,
    set_length: unsafe fn(*mut (), usize),
}

/// Room in a `Vec`, not initialised.
pub(super) struct Room {
    pub(super) pointer: *mut u8,
    /// Whether it was allocated just now.
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "threads copy in any case"))]
    pub(super) fresh: bool,
}

impl VecPlace {
    /// Replaces the `Vec` by one of the same type.
    ///
    /// # Safety
    ///
    /// The `Vec` is there, and nobody else uses it now.
    pub(super) unsafe fn adopt(self, owned: RawVec) {
        // SAFETY: the function was made for the type of the `Vec`; the rest the caller says.
        unsafe { (self.of.adopt)(self.vec, owned) }
    }

    /// Empties it and makes room for `count` elements.
    ///
    /// # Safety
    ///
    /// As for `adopt`.
    pub(super) unsafe fn make_room(self, count: usize) -> Room {
        // SAFETY: as above.
        unsafe { (self.of.make_room)(self.vec, count) }
    }

    /// Says that the first `count` elements are there.
    ///
    /// # Safety
    ///
    /// As for `adopt`, and they were written to where `make_room` has made room for them.
    pub(super) unsafe fn set_length(self, count: usize) {
        // SAFETY: as above.
        unsafe { (self.of.set_length)(self.vec, count) }
    }
}

struct VecOf<T>(PhantomData<T>);

impl<T: Plain> VecOf<T> {
    const OF: VecFunctions = VecFunctions {
        adopt: |vec, owned| {
            // SAFETY: made for a `Vec<T>`; the rest the callers say.
            let vec: &mut Vec<T> = unsafe { &mut *vec.cast() };
            if let Some(adopted) = owned.into_vec() {
                *vec = adopted;
            }
        },
        make_room: |vec, count| {
            // SAFETY: as above.
            let vec: &mut Vec<T> = unsafe { &mut *vec.cast() };
            vec.clear();
            let fresh = vec.capacity() < count;
            vec.reserve_exact(count);
            Room { pointer: vec.as_mut_ptr().cast(), fresh }
        },
        set_length: |vec, count| {
            // SAFETY: as above.
            let vec: &mut Vec<T> = unsafe { &mut *vec.cast() };
            // SAFETY: the caller has written so many.
            unsafe { vec.set_len(count) }
        },
    };
}
