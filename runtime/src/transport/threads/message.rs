//! A message on its way: by what it is matched, and where its elements are.

#![allow(unsafe_code)]

use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;

use super::loan::Loan;
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

/// A message that has been sent.
pub(crate) struct Message {
    pub(crate) envelope: Envelope,
    pub(crate) element: &'static Element,
    pub(crate) count: usize,
    pub(crate) body: Body,
    /// Where the sender waits to hear that the message is matched; absent for one that it does not
    /// wait for.
    pub(crate) receipt: Option<Arc<Loan>>,
}

/// How many bytes a message has room for in itself.
pub(crate) const INLINE_BYTES: usize = 32;

/// The elements of a small message.
pub(crate) type Inline = [MaybeUninit<*mut u8>; INLINE_BYTES / size_of::<*mut u8>()];

/// Where a message's elements are.
pub(crate) enum Body {
    /// Here.
    Inline(Inline),
    /// In memory that goes to the receiver.
    Owned(RawVec),
    /// In the sender's buffer, readable for whoever has taken the loan in the receipt.
    Lent(*const u8),
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
