//! Values that travel as their bytes.

#![allow(unsafe_code)]

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;

/// A value that may be copied from rank to rank as its bytes: Rust's numbers, `bool`, `char`,
/// arrays of them, and the message structs that a protocol declares.
///
/// # Safety
///
/// All bytes zero must be a valid value of the type, and it must be safe to use a bytewise copy on
/// another thread; so it holds no references and no pointers.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot travel from rank to rank",
    label = "not a plain value",
    note = "messages carry numbers, `bool`, `char`, arrays of them, and structs of them that a \
            protocol declares"
)]
pub unsafe trait Plain: Copy + Send + Sync + 'static {
    /// The value whose bytes are all zero.
    fn zero() -> Self {
        // SAFETY: the trait promises that all bytes zero are a valid value.
        unsafe { std::mem::zeroed() }
    }
}

macro_rules! plain {
    ($($scalar:ty)*) => {
        $(
            // SAFETY: a scalar without pointers, and zero is one of its values.
            unsafe impl Plain for $scalar {}
        )*
    };
}

plain! { () bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }

// SAFETY: an array is its elements, and nothing more.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// What a message's elements are, known without their type.
pub(crate) struct Element {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
    /// Bytes of one.
    pub(crate) size: usize,
    /// Alignment of one.
    pub(crate) align: usize,
}

struct Of<T>(PhantomData<T>);

impl<T: Plain> Of<T> {
    const ELEMENT: Element = Element {
        id: TypeId::of::<T>,
        name: type_name::<T>,
        size: size_of::<T>(),
        align: align_of::<T>(),
    };
}

impl Element {
    /// The element that `T` is.
    #[inline]
    pub(crate) fn of<T: Plain>() -> &'static Element {
        &Of::<T>::ELEMENT
    }

    /// Whether both are the same type. The same address says so without asking; one type may have
    /// several addresses, though.
    #[inline]
    pub(crate) fn is(&self, other: &Element) -> bool {
        std::ptr::eq(self, other) || (self.id)() == (other.id)()
    }

    /// The type's name.
    pub(crate) fn name(&self) -> &'static str {
        (self.name)()
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
