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
        let mut class = 0;
        // SAFETY: the place is a local; codes that no MPI knows are answered by an error.
        let known = unsafe { ffi::MPI_Error_class(self.0, &raw mut class) };
        known == ffi::MPI_SUCCESS as c_int && class == ffi::MPI_ERR_TRUNCATE as c_int
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
