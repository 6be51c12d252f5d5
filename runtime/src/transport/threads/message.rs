//! A message on its way: by what it is matched, and where its elements are.

use std::mem::MaybeUninit;
use std::sync::Arc;

use super::loan::Loan;
use crate::plain::Element;
use crate::transport::message::{Envelope, RawVec};

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
