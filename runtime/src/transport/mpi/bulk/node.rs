//! The ranks of this rank's node, and the memory that they share.
//!
//! Each rank has a [`Segment`] with the slots and rings of the messages that it sends. Who may
//! touch which part, and when, is said where it is used: [`super::direct`] and [`super::window`].

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ptr::NonNull;

use mpi::ffi;

use super::super::code::{Code, check};
use super::direct::Slot;
use super::memory;
use super::window::Ring;

/// How many messages of one rank can travel directly at a time.
pub(super) const SLOTS: usize = 64;
/// How many messages of one rank can travel through shared memory at a time.
pub(super) const RINGS: usize = 2;

/// The part of the shared memory that one rank's messages use.
#[repr(C, align(4096))]
pub(super) struct Segment {
    pub(super) slots: [Slot; SLOTS],
    pub(super) rings: [Ring; RINGS],
}

/// The ranks of this rank's node.
pub(super) struct Node {
    /// `None` if the system has no memory to share.
    window: Option<ffi::MPI_Win>,
    /// By ranks of the world; `None` for those that this one shares no memory with.
    neighbours: Vec<Option<Neighbour>>,
}

#[derive(Clone, Copy)]
struct Neighbour {
    /// Lives as long as the window.
    segment: NonNull<Segment>,
    /// Its process, if all ranks of the node can reach the memory of all.
    process: Option<libc::pid_t>,
}

/// What a rank tells the others of its node.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Introduction {
    rank: u64,
    process: u64,
    /// Where its [`Proof`] is.
    address: u64,
    proof: u64,
    /// How far into its part of the window its segment begins.
    skipped: u64,
}

/// How many numbers an introduction is.
const NUMBERS: c_int = 5;

/// A word to read and a word to write, for those who try whether they can.
type Proof = [u64; 2];

impl Node {
    /// Collective: finds the ranks of `world` that share this rank's node, and the memory.
    pub(super) fn open(world: ffi::MPI_Comm) -> Result<Node, Code> {
        let (mut rank, mut size) = (0, 0);
        let mut node = Communicator(ffi_null());
        // SAFETY: `world` is a communicator, and MPI writes to locals of the types that it wants.
        unsafe {
            check(ffi::MPI_Comm_size(world, &raw mut size))?;
            check(ffi::MPI_Comm_rank(world, &raw mut rank))?;
            let shared = ffi::RSMPI_COMM_TYPE_SHARED;
            let info = ffi::RSMPI_INFO_NULL;
            check(ffi::MPI_Comm_split_type(world, shared, rank, info, &raw mut node.0))?;
            check(ffi::MPI_Comm_set_errhandler(node.0, ffi::RSMPI_ERRORS_RETURN))?;
        }
        if let Some(nodes) = pretended() {
            node = node.part(rank % nodes, rank)?;
        }
        let mut neighbours = vec![None; size as usize];
        let bytes = size_of::<Segment>() + align_of::<Segment>();
        let is_full = super::any(node.0, !memory::has_room(node.size()?.saturating_mul(bytes)))?;
        let allocated = if is_full { None } else { allocate(node.0).ok() };
        let failed = super::any(node.0, allocated.is_none())?;
        // A window that only some ranks have made cannot be freed, which takes all of them.
        let Some((window, skipped)) = allocated.filter(|_| !failed) else {
            return Ok(Node { window: None, neighbours });
        };
        let introductions = introduce(node.0, rank as u64, skipped)?;
        let reachable = reach(node.0, &introductions)?;
        for (index, introduction) in (0..).zip(&introductions.all) {
            let segment = segment(window, index, introduction.skipped as usize)?;
            let process = reachable.then_some(introduction.process as libc::pid_t);
            neighbours[introduction.rank as usize] = Some(Neighbour { segment, process });
        }
        Ok(Node { window: Some(window), neighbours })
    }

    /// The segment of a rank of this node.
    pub(super) fn segment(&self, rank: usize) -> Option<&Segment> {
        // SAFETY: the memory lives as long as the window. It is atomics and cells of bytes, which
        // those who use them share by the rules of `direct` and `window`; what the system gives
        // (zeros) or somebody else has left there are values of them.
        self.neighbours[rank].map(|neighbour| unsafe { neighbour.segment.as_ref() })
    }

    /// Whether a rank is on this rank's node, and shares memory with it.
    pub(super) fn has(&self, rank: usize) -> bool {
        self.neighbours[rank].is_some()
    }

    /// The process of a rank of this node, if each can reach the other's memory.
    pub(super) fn process(&self, rank: usize) -> Option<libc::pid_t> {
        self.neighbours[rank]?.process
    }

    /// Collective on the node.
    pub(super) fn close(&mut self) -> Result<(), Code> {
        self.neighbours.fill(None);
        let Some(mut window) = self.window.take() else { return Ok(()) };
        // SAFETY: references into the window borrow from `self`, so there are none any more.
        unsafe {
            check(ffi::MPI_Win_unlock_all(window))?;
            check(ffi::MPI_Win_free(&raw mut window))
        }
    }
}

/// A communicator that is freed at the end.
struct Communicator(ffi::MPI_Comm);

impl Communicator {
    /// Collective on it: the ranks of it that name the same part.
    fn part(&self, part: c_int, order: c_int) -> Result<Communicator, Code> {
        let mut new = Communicator(ffi_null());
        // SAFETY: a communicator, and a local for the new one.
        unsafe {
            check(ffi::MPI_Comm_split(self.0, part, order, &raw mut new.0))?;
            check(ffi::MPI_Comm_set_errhandler(new.0, ffi::RSMPI_ERRORS_RETURN))?;
        }
        Ok(new)
    }

    fn size(&self) -> Result<usize, Code> {
        let mut size = 0;
        // SAFETY: a communicator, and a local.
        check(unsafe { ffi::MPI_Comm_size(self.0, &raw mut size) })?;
        Ok(usize::try_from(size).unwrap_or(1))
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        // SAFETY: `Node::open` made it, and nothing is pending on it. Whether it can be freed
        // makes no difference to what was opened.
        unsafe {
            if self.0 != ffi_null() {
                ffi::MPI_Comm_free(&raw mut self.0);
            }
        }
    }
}

/// On how many nodes the ranks are to take themselves to be, one after the other in turns: so tests
/// go the ways of several nodes on one.
fn pretended() -> Option<c_int> {
    std::env::var("P2P_NODES").ok()?.parse().ok().filter(|&nodes| nodes > 0)
}

fn ffi_null() -> ffi::MPI_Comm {
    // SAFETY: a constant of MPI's.
    unsafe { ffi::RSMPI_COMM_NULL }
}

struct Introductions {
    all: Vec<Introduction>,
    /// This rank's; the others may read and write it.
    _proof: Box<Proof>,
}

/// Collective on `node`: what each rank says of itself.
fn introduce(node: ffi::MPI_Comm, rank: u64, skipped: u64) -> Result<Introductions, Code> {
    let process = u64::from(std::process::id());
    let mut proof: Box<Proof> = Box::default();
    let address = (&raw mut *proof).expose_provenance() as u64;
    // Unlikely to be at the same place of another process.
    proof[0] = address.rotate_left(32) ^ process.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let own = Introduction { rank, process, address, proof: proof[0], skipped };
    let mut size = 0;
    // SAFETY: an introduction is five numbers, and there is room for one of each rank.
    unsafe {
        check(ffi::MPI_Comm_size(node, &raw mut size))?;
        let mut all = vec![Introduction::default(); size as usize];
        let number = ffi::RSMPI_UINT64_T;
        check(ffi::MPI_Allgather(
            (&raw const own).cast(),
            NUMBERS,
            number,
            all.as_mut_ptr().cast(),
            NUMBERS,
            number,
            node,
        ))?;
        Ok(Introductions { all, _proof: proof })
    }
}

/// Collective on `node`: whether all ranks can read and write the memory of all.
fn reach(node: ffi::MPI_Comm, introductions: &Introductions) -> Result<bool, Code> {
    memory::allow_others();
    let mut reachable = c_int::from(true);
    // SAFETY: the proofs are there until all ranks have tried: they come to `MPI_Allreduce` then.
    // The words that all write at once are read by nobody.
    unsafe {
        check(ffi::MPI_Barrier(node))?;
        for introduction in &introductions.all {
            reachable &= c_int::from(can_reach(introduction));
        }
        let mut all = 0;
        check(ffi::MPI_Allreduce(
            (&raw const reachable).cast(),
            (&raw mut all).cast(),
            1,
            ffi::RSMPI_INT32_T,
            ffi::RSMPI_MIN,
            node,
        ))?;
        Ok(all != 0)
    }
}

/// # Safety
///
/// The rank that introduced itself keeps its proof.
unsafe fn can_reach(&Introduction { process, address, proof, .. }: &Introduction) -> bool {
    let process = process as libc::pid_t;
    let mut found = 0u64;
    let word = size_of::<u64>();
    // SAFETY: the words are locals of that length; if there is a proof at the address, its second
    // word may be written. Another process's memory is written only if it has the proof there.
    unsafe {
        memory::read(process, address, (&raw mut found).cast(), word).is_ok()
            && found == proof
            && memory::write(process, address + 8, (&raw const found).cast(), word).is_ok()
    }
}

/// Collective on `node`: memory that its ranks share, and how far into its own part a rank's
/// segment begins: MPI need not begin the parts on pages.
fn allocate(node: ffi::MPI_Comm) -> Result<(ffi::MPI_Win, u64), Code> {
    let mut own: *mut u8 = std::ptr::null_mut();
    let bytes = size_of::<Segment>() + align_of::<Segment>();
    // SAFETY: MPI writes to locals of the types that it wants.
    unsafe {
        let mut window = ffi::RSMPI_WIN_NULL;
        check(ffi::MPI_Win_allocate_shared(
            bytes as ffi::MPI_Aint,
            1,
            ffi::RSMPI_INFO_NULL,
            node,
            (&raw mut own).cast(),
            &raw mut window,
        ))?;
        check(ffi::MPI_Win_set_errhandler(window, ffi::RSMPI_ERRORS_RETURN))?;
        // Loads and stores to a window are allowed within an epoch.
        check(ffi::MPI_Win_lock_all(ffi::MPI_MODE_NOCHECK as c_int, window))?;
        Ok((window, own.align_offset(align_of::<Segment>()) as u64))
    }
}

/// Where the segment of the node's `index`-th rank is in this process.
fn segment(window: ffi::MPI_Win, index: c_int, skipped: usize) -> Result<NonNull<Segment>, Code> {
    let (mut bytes, mut unit) = (0, 0);
    let mut part: *mut u8 = std::ptr::null_mut();
    let place = (&raw mut part).cast();
    // SAFETY: MPI writes to locals of the types that it wants.
    check(unsafe {
        ffi::MPI_Win_shared_query(window, index, &raw mut bytes, &raw mut unit, place)
    })?;
    let segment: *mut Segment = part.wrapping_add(skipped).cast();
    assert!(segment.is_aligned(), "pages are mapped to pages");
    Ok(NonNull::new(segment).expect("MPI gives memory of this size an address"))
}
