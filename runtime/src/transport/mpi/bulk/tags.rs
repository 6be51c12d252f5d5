//! The tags of messages on bulk's communicator.

#![allow(unsafe_code)]

use std::ffi::c_int;

use mpi::ffi;

use super::super::code::{Code, check};

/// Even ones, one after the other: odd ones are for answers.
pub(super) struct Tags {
    next: c_int,
    last: c_int,
}

impl Tags {
    pub(super) fn new(communicator: ffi::MPI_Comm) -> Result<Tags, Code> {
        let mut bound: *mut c_int = std::ptr::null_mut();
        let mut found = 0;
        // SAFETY: MPI writes to locals, and the attribute is a number that stays where it is.
        let bound = unsafe {
            let (key, place) = (ffi::MPI_TAG_UB as c_int, (&raw mut bound).cast::<()>().cast());
            check(ffi::MPI_Comm_get_attr(communicator, key, place, &raw mut found))?;
            // What the standard promises at least.
            if found != 0 { *bound } else { 32767 }
        };
        Ok(Tags { next: 0, last: (bound - 1) & !1 })
    }

    pub(super) fn next(&mut self) -> c_int {
        let tag = self.next;
        self.next = if tag >= self.last { 0 } else { tag + 2 };
        tag
    }
}
