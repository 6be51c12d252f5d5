//! What the system offers beside MPI: the memory of another process, and pages in large pieces.

#![allow(unsafe_code)]

use std::io;

/// Lets the other processes of this user reach this one's memory where the system would allow it
/// to its parents only. Whether that was needed, and has helped, shows when it is tried.
pub(super) fn allow_others() {
    // SAFETY: only sets a property of this process, and has no effect where it is unknown.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

/// Reads from the memory of another process.
///
/// # Safety
///
/// There is room for `bytes` at `into`, and nobody else uses it.
pub(super) unsafe fn read(
    process: libc::pid_t,
    from: u64,
    into: *mut u8,
    bytes: usize,
) -> io::Result<()> {
    // SAFETY: the caller says so; what is at `from` is the system's to check.
    unsafe {
        each_part(into, from, bytes, |own, other| {
            libc::process_vm_readv(process, own, 1, other, 1, 0)
        })
    }
}

/// Writes to the memory of another process.
///
/// # Safety
///
/// The `bytes` at `from` are readable and stay unchanged, and those at `into` are in the use of
/// nobody but the caller.
pub(super) unsafe fn write(
    process: libc::pid_t,
    into: u64,
    from: *const u8,
    bytes: usize,
) -> io::Result<()> {
    let own = from.cast_mut();
    // SAFETY: the caller says so.
    unsafe {
        each_part(own, into, bytes, |own, other| {
            libc::process_vm_writev(process, own, 1, other, 1, 0)
        })
    }
}

/// Calls `copy` with what is left, until it has copied everything.
unsafe fn each_part(
    own: *mut u8,
    other: u64,
    bytes: usize,
    copy: impl Fn(*const libc::iovec, *const libc::iovec) -> isize,
) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        let left = bytes - done;
        // SAFETY: less than `bytes` on from the start.
        let own = libc::iovec { iov_base: unsafe { own.add(done) }.cast(), iov_len: left };
        let address = std::ptr::without_provenance_mut(other as usize + done);
        let other = libc::iovec { iov_base: address, iov_len: left };
        match copy(&raw const own, &raw const other) {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            copied if copied > 0 => done += copied as usize,
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Whether so much more memory can be shared. What is promised there and cannot be given ends the
/// process that first touches it.
pub(super) fn has_room(bytes: usize) -> bool {
    // SAFETY: all bytes zero are one; the system writes to it.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a text that ends, and a local.
    let known = unsafe { libc::statvfs(c"/dev/shm".as_ptr(), &raw mut found) } == 0;
    !known || found.f_bavail.saturating_mul(found.f_frsize) >= bytes as u64
}

/// From this length on, large pages pay.
const LARGE: usize = 4 << 20;

/// Asks for large pages where something long is to be put into memory that was allocated just now:
/// first touching such memory takes several times as long as copying to it otherwise does.
pub(crate) fn prepare(place: *mut u8, bytes: usize) {
    if bytes < LARGE {
        return;
    }
    let page = 4096;
    let start = place.addr().next_multiple_of(page) - place.addr();
    let length = (bytes - start) / page * page;
    // SAFETY: whole pages within what the caller has allocated, as it says; advice changes nothing
    // but how they are backed. If it is refused, they are backed as ever.
    unsafe { libc::madvise(place.wrapping_add(start).cast(), length, libc::MADV_HUGEPAGE) };
}
