//! Whether a node has more ranks than cores.
//!
//! Not every MPI lets others run while it waits, and then each message between ranks that share a
//! core takes as long as the system lets one of them run.

#![allow(unsafe_code)]

use std::ffi::c_int;

use mpi::ffi;

use super::code::{Code, check};

/// Whether this rank's node has more ranks of `world` than cores. Collective.
pub(super) fn is_crowded(world: ffi::MPI_Comm) -> Result<bool, Code> {
    let mut ranks: c_int = 0;
    // SAFETY: `world` is a communicator; the places are locals; the node's communicator was made
    // just now and is freed once.
    unsafe {
        let mut node = ffi::RSMPI_COMM_NULL;
        let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
        check(ffi::MPI_Comm_split_type(world, kind, 0, info, &raw mut node))?;
        check(ffi::MPI_Comm_size(node, &raw mut ranks))?;
        check(ffi::MPI_Comm_free(&raw mut node))?;
    }
    // Not the cores that this process may use: launchers give each rank a part of them.
    // SAFETY: it may be called at any time.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    Ok(i64::from(ranks) > cores)
}
