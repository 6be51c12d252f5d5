//! The ranks of this rank's node, and the memory that they share.
//!
//! Each rank has a [`Segment`]: who it is, and the slots and rings of the messages that it sends.
//! Who may touch which part, and when, is said where it is used: [`super::direct`] and
//! [`super::window`].

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi::ffi;

use super::super::code::{Code, check};
use super::memory;
use super::window::Ring;

/// How many messages of one rank can travel directly at a time.
pub(super) const SLOTS: usize = 64;
/// How many messages of one rank can travel through shared memory at a time.
pub(super) const RINGS: usize = 2;

/// The part of the shared memory that one rank's messages use.
#[repr(C, align(4096))]
pub(super) struct Segment {
    process: AtomicU64,
    /// A number that is unlikely to be at this place in another process.
    proof: AtomicU64,
    pub(super) slots: [super::direct::Slot; SLOTS],
    pub(super) rings: [Ring; RINGS],
}

/// The ranks of this rank's node.
pub(super) struct Node {
    window: ffi::MPI_Win,
    /// The segments of the world's ranks that are on this node; they live as long as the window.
    segments: Vec<Option<NonNull<Segment>>>,
    /// The processes of these ranks, if all of them can reach the memory of all others.
    processes: Option<Vec<libc::pid_t>>,
}

impl Node {
    /// Collective: finds the ranks that share this rank's node, and makes the shared memory.
    pub(super) fn open(world: ffi::MPI_Comm) -> Result<Node, Code> {
        // SAFETY: `world` is a communicator; every place that MPI writes to is a local of the type
        // that the call wants. So in all of this file.
        unsafe {
            let mut size = 0;
            check(ffi::MPI_Comm_size(world, &raw mut size))?;
            let mut rank = 0;
            check(ffi::MPI_Comm_rank(world, &raw mut rank))?;
            let mut node = ffi::RSMPI_COMM_NULL;
            let shared = ffi::RSMPI_COMM_TYPE_SHARED;
            let info = ffi::RSMPI_INFO_NULL;
            check(ffi::MPI_Comm_split_type(world, shared, rank, info, &raw mut node))?;
            check(ffi::MPI_Comm_set_errhandler(node, ffi::RSMPI_ERRORS_RETURN))?;
            let opened = Node::share(world, node, size as usize);
            check(ffi::MPI_Comm_free(&raw mut node))?;
            opened
        }
    }

    unsafe fn share(world: ffi::MPI_Comm, node: ffi::MPI_Comm, size: usize) -> Result<Node, Code> {
        let mut own: *mut Segment = std::ptr::null_mut();
        // SAFETY: communicators are the caller's; a window's memory lives as long as the window,
        // and starts on a page, as segments do and as their lengths keep it.
        unsafe {
            let mut window = ffi::RSMPI_WIN_NULL;
            check(ffi::MPI_Win_allocate_shared(
                size_of::<Segment>() as ffi::MPI_Aint,
                1,
                ffi::RSMPI_INFO_NULL,
                node,
                (&raw mut own).cast(),
                &raw mut window,
            ))?;
            check(ffi::MPI_Win_set_errhandler(window, ffi::RSMPI_ERRORS_RETURN))?;
            // Loads and stores in a window are allowed in an epoch only.
            check(ffi::MPI_Win_lock_all(ffi::MPI_MODE_NOCHECK as c_int, window))?;
            let segments = segments(world, node, window, size)?;
            let mut node_ = Node { window, segments, processes: None };
            node_.find_processes(node, own)?;
            Ok(node_)
        }
    }

    /// The segment of a rank of this node.
    pub(super) fn segment(&self, rank: usize) -> Option<&Segment> {
        // SAFETY: the memory lives as long as `self` is open; it is atomics and cells of bytes
        // that whoever uses them shares by the rules of `direct` and `window`.
        self.segments[rank].map(|segment| unsafe { segment.as_ref() })
    }

    /// Whether a rank is on this rank's node.
    pub(super) fn has(&self, rank: usize) -> bool {
        self.segments[rank].is_some()
    }

    /// The process of a rank of this node, if each can reach the other's memory.
    pub(super) fn process(&self, rank: usize) -> Option<libc::pid_t> {
        self.has(rank).then(|| Some(self.processes.as_ref()?[rank]))?
    }

    /// Collective on the node.
    pub(super) fn close(&mut self) -> Result<(), Code> {
        self.segments.iter_mut().for_each(|segment| *segment = None);
        // SAFETY: nobody has a reference into the window any more: they borrow from `self`.
        unsafe {
            check(ffi::MPI_Win_unlock_all(self.window))?;
            check(ffi::MPI_Win_free(&raw mut self.window))
        }
    }

    /// Collective: tells the others of the node which process this is, and tries whether each can
    /// read and write the memory of all.
    unsafe fn find_processes(&mut self, node: ffi::MPI_Comm, own: *mut Segment) -> Result<(), Code> {
        let mut given = [0u64; 2];
        // SAFETY: `own` is this rank's segment, which is all zero or what was left there, either
        // of which is a value of its type; the communicator is the caller's.
        unsafe {
            let proof = own.addr() as u64 ^ u64::from(std::process::id()).rotate_left(40) | 1;
            (*own).process.store(u64::from(std::process::id()), Ordering::Release);
            (*own).proof.store(proof, Ordering::Release);
            memory::allow_others();
            // Where it is in this process; elsewhere in the others.
            given = [(&raw const (*own).proof).addr() as u64, proof];
            let _ = given;
            check(ffi::MPI_Barrier(node))?;
        }
        Ok(())
    }
}

/// The segments of the ranks of `node`, by their ranks in `world`.
unsafe fn segments(
    world: ffi::MPI_Comm,
    node: ffi::MPI_Comm,
    window: ffi::MPI_Win,
    size: usize,
) -> Result<Vec<Option<NonNull<Segment>>>, Code> {
    let _ = (world, node, window, size);
    let _ = offset_of!(Segment, rings);
    todo!()
}
