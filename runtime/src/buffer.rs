//! What messages are made from, and what they are received into.
//!
//! Blocking steps borrow or take what they need for as long as they run: [`Outgoing`] and
//! [`Receive`]. Non-blocking steps take a buffer by value and hand the very same one back at the
//! wait: [`SendBuffer`] and [`RecvBuffer`]. In between the session owns it, as a bare pointer, so
//! that nothing depends on what becomes of the state that the step returned.

#![allow(unsafe_code)]

use std::mem::ManuallyDrop;

use crate::plain::Plain;

/// What a blocking send sends: something borrowed, which is copied at most once on its way, or a
/// `Vec` or boxed slice given away, which is never copied.
#[derive(Debug)]
pub enum Outgoing<'a, T> {
    /// Stays with the sender.
    Borrowed(&'a [T]),
    /// Goes to the receiver.
    Owned(Vec<T>),
}

impl<'a, T> From<&'a [T]> for Outgoing<'a, T> {
    fn from(data: &'a [T]) -> Self {
        Outgoing::Borrowed(data)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> From<&'a mut [T]> for Outgoing<'a, T> {
    fn from(data: &'a mut [T]) -> Self {
        Outgoing::Borrowed(data)
    }
}

impl<'a, T> From<&'a Vec<T>> for Outgoing<'a, T> {
    fn from(data: &'a Vec<T>) -> Self {
        Outgoing::Borrowed(data)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> From<&'a mut Vec<T>> for Outgoing<'a, T> {
    fn from(data: &'a mut Vec<T>) -> Self {
        Outgoing::Borrowed(data)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> From<&'a Box<[T]>> for Outgoing<'a, T> {
    fn from(data: &'a Box<[T]>) -> Self {
        Outgoing::Borrowed(data)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Outgoing<'a, T> {
    fn from(data: &'a [T; N]) -> Self {
        Outgoing::Borrowed(data)
    }
}

impl<T> From<Vec<T>> for Outgoing<'_, T> {
    fn from(data: Vec<T>) -> Self {
        Outgoing::Owned(data)
    }
}

impl<T> From<Box<[T]>> for Outgoing<'_, T> {
    fn from(data: Box<[T]>) -> Self {
        Outgoing::Owned(data.into_vec())
    }
}

/// Where a message's elements go.
#[derive(Debug)]
pub enum Landing<'a, T> {
    /// Into these, from the first on; a longer message is an error.
    Slice(&'a mut [T]),
    /// Into this, which gets the message's length; a `Vec` that was given away replaces it.
    Vec(&'a mut Vec<T>),
}

/// What a blocking receive receives into.
pub trait Receive<T: Plain>: Sized {
    /// What the step returns.
    type Output;
    /// Where the elements go.
    fn landing(&mut self) -> Landing<'_, T>;
    /// What the step returns after `count` elements have come, or the count that it needs.
    fn finish(self, count: usize) -> Result<Self::Output, usize>;
}

impl<T: Plain> Receive<T> for &mut [T] {
    type Output = ();
    fn landing(&mut self) -> Landing<'_, T> {
        Landing::Slice(self)
    }
    fn finish(self, _: usize) -> Result<(), usize> {
        Ok(())
    }
}

impl<T: Plain, const N: usize> Receive<T> for &mut [T; N] {
    type Output = ();
    fn landing(&mut self) -> Landing<'_, T> {
        Landing::Slice(&mut self[..])
    }
    fn finish(self, _: usize) -> Result<(), usize> {
        Ok(())
    }
}

impl<T: Plain> Receive<T> for &mut Box<[T]> {
    type Output = ();
    fn landing(&mut self) -> Landing<'_, T> {
        Landing::Slice(self)
    }
    fn finish(self, _: usize) -> Result<(), usize> {
        Ok(())
    }
}

impl<T: Plain> Receive<T> for &mut Vec<T> {
    type Output = ();
    fn landing(&mut self) -> Landing<'_, T> {
        Landing::Vec(self)
    }
    fn finish(self, _: usize) -> Result<(), usize> {
        Ok(())
    }
}

/// Receives into a `Vec` of its own; one that the sender gave away arrives as it is.
#[derive(Debug)]
pub struct Fresh<T>(Vec<T>);

impl<T> Fresh<T> {
    /// A new one.
    pub fn new() -> Self {
        Fresh(Vec::new())
    }
}

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Plain> Receive<T> for Fresh<T> {
    type Output = Vec<T>;
    fn landing(&mut self) -> Landing<'_, T> {
        Landing::Vec(&mut self.0)
    }
    fn finish(self, _: usize) -> Result<Vec<T>, usize> {
        Ok(self.0)
    }
}

/// Receives exactly one element, by value.
#[derive(Debug)]
pub struct One<T>([T; 1]);

impl<T: Plain> One<T> {
    /// A new one.
    pub fn new() -> Self {
        One([T::zero()])
    }
}

impl<T: Plain> Default for One<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Plain> Receive<T> for One<T> {
    type Output = T;
    #[inline]
    fn landing(&mut self) -> Landing<'_, T> {
        Landing::Slice(&mut self.0)
    }
    #[inline]
    fn finish(self, count: usize) -> Result<T, usize> {
        if count == 1 { Ok(self.0[0]) } else { Err(1) }
    }
}

/// A buffer taken apart: where its elements are and what is needed to put it together again.
#[derive(Clone, Copy, Debug)]
pub struct RawBuffer {
    pub(crate) pointer: *mut u8,
    pub(crate) length: usize,
    capacity: usize,
}

impl RawBuffer {
    /// No buffer.
    pub(crate) const NOTHING: RawBuffer =
        RawBuffer { pointer: std::ptr::null_mut(), length: 0, capacity: 0 };

    /// Becomes another one; only what differs is written.
    #[inline(always)]
    pub(crate) fn change(&mut self, other: RawBuffer) {
        self.pointer = other.pointer;
        if self.length != other.length {
            self.length = other.length;
        }
        if self.capacity != other.capacity {
            self.capacity = other.capacity;
        }
    }
}

/// What a non-blocking send takes, and its wait hands back: `Vec<T>`, `Box<[T]>`, a
/// [`Single<T>`], `&'env [T]`, `&'env mut [T]` and references to arrays. A borrow shorter than
/// `'env`, which outlives the run, could end while the message still travels.
///
/// # Safety
///
/// `into_raw` gives a pointer to `length` elements that stay in place and readable, and untouched
/// by others, until `from_raw` is called with the same value or `'env` ends.
pub unsafe trait SendBuffer<'env, T: Plain>: Sized + 'env {
    /// Takes the buffer apart.
    fn into_raw(self) -> RawBuffer;
    /// Puts it together.
    ///
    /// # Safety
    ///
    /// `raw` came from `into_raw` of the same type, is used once, and nobody uses the elements
    /// through it any more.
    unsafe fn from_raw(raw: RawBuffer) -> Self;
}

/// What a non-blocking receive takes, and its wait hands back, with the message at its start and
/// the rest untouched: `Vec<T>` (with room for its length), `Box<[T]>`, [`Single<T>`],
/// `&'env mut [T]`.
///
/// # Safety
///
/// As [`SendBuffer`], and the elements are writable and nobody else looks at them.
pub unsafe trait RecvBuffer<'env, T: Plain>: SendBuffer<'env, T> {}

// SAFETY: the elements of a `Vec` stay where they are while it is taken apart, and nobody else
// can reach them.
unsafe impl<'env, T: Plain> SendBuffer<'env, T> for Vec<T> {
    fn into_raw(self) -> RawBuffer {
        let mut data = ManuallyDrop::new(self);
        let pointer = data.as_mut_ptr().cast();
        RawBuffer { pointer, length: data.len(), capacity: data.capacity() }
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        // SAFETY: `into_raw` took these three from a `Vec<T>` that it did not drop.
        unsafe { Vec::from_raw_parts(raw.pointer.cast(), raw.length, raw.capacity) }
    }
}
// SAFETY: the `Vec` was given by value, so nobody else sees its elements.
unsafe impl<T: Plain> RecvBuffer<'_, T> for Vec<T> {}

// SAFETY: as for `Vec`.
unsafe impl<'env, T: Plain> SendBuffer<'env, T> for Box<[T]> {
    fn into_raw(self) -> RawBuffer {
        let length = self.len();
        RawBuffer { pointer: Box::into_raw(self).cast(), length, capacity: length }
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        let elements = std::ptr::slice_from_raw_parts_mut(raw.pointer.cast(), raw.length);
        // SAFETY: `into_raw` got this pointer and length from `Box::into_raw`.
        unsafe { Box::from_raw(elements) }
    }
}
// SAFETY: the box was given by value, so nobody else sees its elements.
unsafe impl<T: Plain> RecvBuffer<'_, T> for Box<[T]> {}

/// One element in a place of its own, for non-blocking steps of messages that are a single value.
#[derive(Debug)]
pub struct Single<T>(Box<T>);

impl<T: Plain> Single<T> {
    /// Holds `value`.
    pub fn new(value: T) -> Self {
        Single(Box::new(value))
    }
    /// Holds all bytes zero, to receive into.
    pub fn empty() -> Self {
        Single::new(T::zero())
    }
    /// The value.
    pub fn into_inner(self) -> T {
        *self.0
    }
}

// SAFETY: as for a boxed slice; the length is one.
unsafe impl<'env, T: Plain> SendBuffer<'env, T> for Single<T> {
    fn into_raw(self) -> RawBuffer {
        RawBuffer { pointer: Box::into_raw(self.0).cast(), length: 1, capacity: 1 }
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        // SAFETY: `into_raw` got this pointer from `Box::into_raw` of the same type.
        Single(unsafe { Box::from_raw(raw.pointer.cast()) })
    }
}
// SAFETY: the box was given by value, so nobody else sees the element.
unsafe impl<T: Plain> RecvBuffer<'_, T> for Single<T> {}

// SAFETY: a shared borrow for all of `'env`: nobody writes in that time.
unsafe impl<'env, T: Plain> SendBuffer<'env, T> for &'env [T] {
    fn into_raw(self) -> RawBuffer {
        RawBuffer { pointer: self.as_ptr().cast_mut().cast(), length: self.len(), capacity: 0 }
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        // SAFETY: `into_raw` got these from a slice that is borrowed for `'env`.
        unsafe { std::slice::from_raw_parts(raw.pointer.cast(), raw.length) }
    }
}

// SAFETY: as for the slice.
unsafe impl<'env, T: Plain, const N: usize> SendBuffer<'env, T> for &'env [T; N] {
    fn into_raw(self) -> RawBuffer {
        self.as_slice().into_raw()
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        // SAFETY: `into_raw` got the pointer from an array of this length, borrowed for `'env`.
        unsafe { &*raw.pointer.cast() }
    }
}

// SAFETY: an exclusive borrow for all of `'env`, given away by value: nobody else can reach the
// elements before it is put together again.
unsafe impl<'env, T: Plain> SendBuffer<'env, T> for &'env mut [T] {
    fn into_raw(self) -> RawBuffer {
        RawBuffer { pointer: self.as_mut_ptr().cast(), length: self.len(), capacity: 0 }
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        // SAFETY: `into_raw` got these from a slice that is borrowed for `'env`.
        unsafe { std::slice::from_raw_parts_mut(raw.pointer.cast(), raw.length) }
    }
}
// SAFETY: the borrow is exclusive.
unsafe impl<'env, T: Plain> RecvBuffer<'env, T> for &'env mut [T] {}

// SAFETY: as for the mutable slice.
unsafe impl<'env, T: Plain, const N: usize> SendBuffer<'env, T> for &'env mut [T; N] {
    fn into_raw(self) -> RawBuffer {
        self.as_mut_slice().into_raw()
    }
    unsafe fn from_raw(raw: RawBuffer) -> Self {
        // SAFETY: `into_raw` got the pointer from an array of this length, borrowed for `'env`.
        unsafe { &mut *raw.pointer.cast() }
    }
}
// SAFETY: the borrow is exclusive.
unsafe impl<'env, T: Plain, const N: usize> RecvBuffer<'env, T> for &'env mut [T; N] {}
