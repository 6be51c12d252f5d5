//! What MPI's calls return.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::fmt;

use mpi::ffi;

/// What a call has returned other than success: an error code of the MPI that is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(c_int);

/// What every call returns, as a result.
#[inline]
pub(super) fn check(returned: c_int) -> Result<(), Code> {
    if returned == ffi::MPI_SUCCESS as c_int { Ok(()) } else { Err(Code(returned)) }
}

impl Code {
    /// Whether a message was longer than its buffer.
    pub(super) fn is_truncation(self) -> bool {
        self.class() == ffi::MPI_ERR_TRUNCATE as c_int
    }

    /// Whether one of several operations has failed, and its status says how.
    pub(super) fn is_in_status(self) -> bool {
        self.class() == ffi::MPI_ERR_IN_STATUS as c_int
    }

    /// Whether an operation is still under way, because another one has failed.
    pub(super) fn is_pending(self) -> bool {
        self.class() == ffi::MPI_ERR_PENDING as c_int
    }

    fn class(self) -> c_int {
        let mut class = ffi::MPI_ERR_UNKNOWN as c_int;
        // SAFETY: the place is a local; codes that MPI does not know it answers with an error.
        unsafe { ffi::MPI_Error_class(self.0, &raw mut class) };
        class
    }
}

impl fmt::Display for Code {
    /// MPI's own words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0 as c_char; ffi::MPI_MAX_ERROR_STRING as usize + 1];
        let mut length = 0;
        // SAFETY: the text has the room that the standard asks for (MPI 3.1, 8.4), and one byte
        // more, which stays zero.
        let known = unsafe { ffi::MPI_Error_string(self.0, text.as_mut_ptr(), &raw mut length) };
        if known != ffi::MPI_SUCCESS as c_int {
            return write!(f, "error {}", self.0);
        }
        // SAFETY: MPI has written a text that ends in zero, or nothing.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        f.write_str(&text.to_string_lossy())
    }
}
