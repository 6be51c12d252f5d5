//! Whether a node has more ranks than cores that they may use.
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
    let mut cores = own_cores();
    // SAFETY: `world` is a communicator; the places are locals; the node's communicator was made
    // just now and is freed once.
    unsafe {
        let mut node = ffi::RSMPI_COMM_NULL;
        let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
        check(ffi::MPI_Comm_split_type(world, kind, 0, info, &raw mut node))?;
        check(ffi::MPI_Comm_size(node, &raw mut ranks))?;
        let (words, number) = (cores.len() as c_int, ffi::RSMPI_UINT64_T);
        let (own, all) = (cores.clone(), cores.as_mut_ptr().cast());
        check(ffi::MPI_Allreduce(own.as_ptr().cast(), all, words, number, ffi::RSMPI_BOR, node))?;
        check(ffi::MPI_Comm_free(&raw mut node))?;
    }
    // The cores that any of them may use: launchers give each rank a part of them.
    let cores: u32 = cores.iter().map(|word| word.count_ones()).sum();
    Ok(ranks.cast_unsigned() > cores)
}

/// Room for 8192 cores, which is the most that Linux is built for.
const WORDS: usize = 128;

/// A bit for each core that this process may use; for as many as the system has where that cannot
/// be found out.
fn own_cores() -> Vec<u64> {
    let mut cores = vec![0_u64; WORDS];
    let bytes = size_of_val(cores.as_slice());
    // SAFETY: the system writes at most so many bytes there; 0 is this thread.
    let known = unsafe { libc::sched_getaffinity(0, bytes, cores.as_mut_ptr().cast()) } == 0;
    if !known || cores.iter().all(|&word| word == 0) {
        // SAFETY: it may be called at any time.
        let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        let online = usize::try_from(online).unwrap_or(1).min(WORDS * 64);
        (0..online).for_each(|core| cores[core / 64] |= 1 << (core % 64));
    }
    cores
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_may_use_some_core() {
        assert!(super::own_cores().iter().any(|&word| word != 0));
    }
}
