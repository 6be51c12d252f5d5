//! A window on rank 0 that all ranks write to and read from: for each rank a head and a record.
//!
//! A head is written and read atomically, word by word: its words only grow, and what is written
//! is the maximum of what is there and what comes. A record is written while its head says that
//! the rank runs, and is read after its head was read twice and said otherwise.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;

use mpi::ffi;

use super::quiet::Head;
use super::record::RECORD_BYTES;
use crate::transport::mpi::code::{Code, check};

/// Where the window is.
const KEEPER: c_int = 0;
/// The words of a head.
const WORDS: usize = size_of::<Head>() / size_of::<u64>();

/// See the module.
pub(super) struct Window {
    window: ffi::MPI_Win,
    rank: usize,
    size: usize,
}

/// What rank 0 has, on all ranks of `world`, which do so together.
pub(super) fn from_keeper(world: ffi::MPI_Comm, mut own: u64) -> Result<u64, Code> {
    let place = (&raw mut own).cast::<c_void>();
    // SAFETY: the place is a local of this type; the caller has a communicator, while MPI runs.
    check(unsafe { ffi::MPI_Bcast(place, 1, ffi::RSMPI_UINT64_T, KEEPER, world) })?;
    Ok(own)
}

impl Window {
    /// Opens it on all ranks of `world`, which do so together.
    pub(super) fn open(world: ffi::MPI_Comm) -> Result<Window, Code> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the places are locals, and the caller has a communicator, while MPI runs.
        unsafe {
            check(ffi::MPI_Comm_rank(world, &raw mut rank))?;
            check(ffi::MPI_Comm_size(world, &raw mut size))?;
        }
        let all = size as usize * (size_of::<Head>() + RECORD_BYTES);
        let bytes = if rank == KEEPER { all } else { 0 };
        let mut base: *mut u8 = ptr::null_mut();
        // SAFETY: a constant of the MPI that is linked.
        let mut window = unsafe { ffi::RSMPI_WIN_NULL };
        // SAFETY: `base` is where MPI puts a pointer to as many bytes as were asked for, aligned
        // for any type. All ranks call it together. Nobody uses the memory before the barrier.
        unsafe {
            check(ffi::MPI_Win_allocate(
                bytes as ffi::MPI_Aint,
                1,
                ffi::RSMPI_INFO_NULL,
                world,
                (&raw mut base).cast(),
                &raw mut window,
            ))?;
            check(ffi::MPI_Win_set_errhandler(window, ffi::RSMPI_ERRORS_RETURN))?;
            check(ffi::MPI_Win_lock_all(0, window))?;
            if bytes > 0 {
                ptr::write_bytes(base, 0, bytes);
            }
            check(ffi::MPI_Win_sync(window))?;
            check(ffi::MPI_Barrier(world))?;
            check(ffi::MPI_Win_sync(window))?;
        }
        Ok(Window { window, rank: rank as usize, size: size as usize })
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Writes this rank's head.
    pub(super) fn write_head(&self, head: Head) -> Result<(), Code> {
        let offset = self.rank * size_of::<Head>();
        // SAFETY: the head is two words and lives until the flush; the place is this rank's own.
        unsafe {
            check(ffi::MPI_Accumulate(
                (&raw const head).cast::<c_void>(),
                WORDS as c_int,
                ffi::RSMPI_UINT64_T,
                KEEPER,
                offset as ffi::MPI_Aint,
                WORDS as c_int,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_MAX,
                self.window,
            ))?;
        }
        self.flush()
    }

    /// Every rank's head.
    pub(super) fn heads(&self) -> Result<Vec<Head>, Code> {
        // The maximum with nothing leaves all as it is.
        let nothing = vec![Head::default(); self.size];
        let mut heads = nothing.clone();
        let words = (self.size * WORDS) as c_int;
        // SAFETY: both are so many words and live until the flush; the window begins with as many.
        unsafe {
            check(ffi::MPI_Get_accumulate(
                nothing.as_ptr().cast(),
                words,
                ffi::RSMPI_UINT64_T,
                heads.as_mut_ptr().cast(),
                words,
                ffi::RSMPI_UINT64_T,
                KEEPER,
                0,
                words,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_MAX,
                self.window,
            ))?;
        }
        self.flush()?;
        Ok(heads)
    }

    /// Writes this rank's record; its head has to say later that it is there.
    pub(super) fn write_record(&self, record: &[u8; RECORD_BYTES]) -> Result<(), Code> {
        // SAFETY: the record lives until the flush; the place is this rank's own.
        unsafe {
            check(ffi::MPI_Put(
                record.as_ptr().cast(),
                RECORD_BYTES as c_int,
                ffi::RSMPI_UINT8_T,
                KEEPER,
                self.place_of_record(self.rank),
                RECORD_BYTES as c_int,
                ffi::RSMPI_UINT8_T,
                self.window,
            ))?;
        }
        self.flush()
    }

    /// The record of a rank.
    pub(super) fn record(&self, rank: usize) -> Result<[u8; RECORD_BYTES], Code> {
        assert!(rank < self.size, "the window has a record for each rank");
        let mut record = [0; RECORD_BYTES];
        // SAFETY: the record has the room and lives until the flush; the place is in the window.
        unsafe {
            check(ffi::MPI_Get(
                record.as_mut_ptr().cast(),
                RECORD_BYTES as c_int,
                ffi::RSMPI_UINT8_T,
                KEEPER,
                self.place_of_record(rank),
                RECORD_BYTES as c_int,
                ffi::RSMPI_UINT8_T,
                self.window,
            ))?;
        }
        self.flush()?;
        Ok(record)
    }

    fn place_of_record(&self, rank: usize) -> ffi::MPI_Aint {
        (self.size * size_of::<Head>() + rank * RECORD_BYTES) as ffi::MPI_Aint
    }

    /// What was begun is done, here and on rank 0.
    fn flush(&self) -> Result<(), Code> {
        // SAFETY: the window is open, and locked by this rank.
        unsafe { check(ffi::MPI_Win_flush(KEEPER, self.window)) }
    }

    /// Closes it, on all ranks together.
    pub(super) fn close(mut self) -> Result<(), Code> {
        // SAFETY: the window is open, and locked by this rank; nothing uses it afterwards.
        unsafe {
            check(ffi::MPI_Win_unlock_all(self.window))?;
            check(ffi::MPI_Win_free(&raw mut self.window))
        }
    }
}
