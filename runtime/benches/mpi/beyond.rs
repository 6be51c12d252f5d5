//! What rsmpi has no names for, by MPI's own calls: persistent requests and windows.

#![allow(unsafe_code)]

use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;

/// A send and a receive that are planned, and memory that others put into.
pub(crate) struct Beyond {
    requests: [ffi::MPI_Request; 2],
    window: ffi::MPI_Win,
    /// What the requests send and receive, and what others put into; MPI knows where they are.
    _buffers: [Vec<u64>; 3],
}

impl Beyond {
    /// Collective.
    pub(crate) fn new(world: &SimpleCommunicator, peer: usize, words: usize) -> Self {
        let mut buffers = [vec![1_u64; words], vec![1_u64; words], vec![1_u64; words]];
        let (bytes, peer) = (8 * words, peer as i32);
        let (count, window_bytes) = (bytes as i32, bytes as ffi::MPI_Aint);
        let [out, into, window_place] = buffers.each_mut().map(|it| it.as_mut_ptr());
        // SAFETY: the buffers have so many bytes and stay where they are until all is freed.
        unsafe {
            let (mut requests, mut window) = ([ffi::RSMPI_REQUEST_NULL; 2], ffi::RSMPI_WIN_NULL);
            let [to, from] = requests.each_mut().map(|it| it as *mut _);
            let (kind, world) = (ffi::RSMPI_UINT8_T, world.as_raw());
            ffi::MPI_Send_init(out.cast(), count, kind, peer, 7, world, to);
            ffi::MPI_Recv_init(into.cast(), count, kind, peer, 7, world, from);
            let (place, info) = (window_place.cast(), ffi::RSMPI_INFO_NULL);
            ffi::MPI_Win_create(place, window_bytes, 1, info, world, &raw mut window);
            ffi::MPI_Win_fence(0, window);
            Beyond { requests, window, _buffers: buffers }
        }
    }

    pub(crate) fn planned(&mut self) {
        // SAFETY: both are not under way, and are when they are waited for.
        unsafe {
            ffi::MPI_Startall(2, self.requests.as_mut_ptr());
            ffi::MPI_Waitall(2, self.requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE);
        }
    }

    pub(crate) fn put(&mut self, peer: usize, data: &[u64]) {
        let (place, bytes, peer) = (data.as_ptr().cast(), size_of_val(data) as i32, peer as i32);
        // SAFETY: the data stays until the fence, and the window is as long.
        unsafe {
            let kind = ffi::RSMPI_UINT8_T;
            ffi::MPI_Put(place, bytes, kind, peer, 0, bytes, kind, self.window);
            ffi::MPI_Win_fence(0, self.window);
        }
    }
}

impl Drop for Beyond {
    /// Collective.
    fn drop(&mut self) {
        // SAFETY: nothing is under way.
        unsafe {
            self.requests.iter_mut().for_each(|it| _ = ffi::MPI_Request_free(it));
            ffi::MPI_Win_free(&raw mut self.window);
        }
    }
}
