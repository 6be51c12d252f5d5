//! Messages as chunks on bulk's communicator, a few of them under way at a time.
//!
//! All chunks of a message have its tag, and MPI keeps them in order.

#![allow(unsafe_code)]

use std::alloc::Layout;
use std::ffi::c_int;
use std::ptr::NonNull;

use mpi::ffi;

use super::super::code::{Code, check};
use super::piece::Piece;

/// About how long a chunk is.
const CHUNK: usize = 1 << 20;
/// How many are under way at a time.
const FLIGHT: usize = 4;

/// The length of a message's chunks: whole elements.
pub(super) fn chunk(bytes: usize, element: usize) -> usize {
    CHUNK.next_multiple_of(element.max(1)).min(bytes)
}

/// To or from whom a message's chunks are, and under which tag.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) communicator: ffi::MPI_Comm,
    pub(super) peer: c_int,
    pub(super) tag: c_int,
}

/// The chunks under way.
struct Flight {
    route: Route,
    memory: Memory,
    bytes: usize,
    chunk: usize,
    /// That of the chunk with a certain index is at the index modulo [`FLIGHT`].
    requests: [ffi::MPI_Request; FLIGHT],
    started: usize,
    /// In MPI's hands no more.
    arrived: usize,
    /// Their memory may be used for others.
    done: usize,
}

/// Where the chunks are.
enum Memory {
    /// At their places in the message.
    Message(*mut u8),
    /// One after the other, for pieces.
    Chunks(Chunks),
}

impl Flight {
    fn new(route: Route, message: Option<*mut u8>, bytes: usize, chunk: usize) -> Flight {
        let memory = match message {
            Some(message) => Memory::Message(message),
            None => Memory::Chunks(Chunks::new(chunk * FLIGHT.min(bytes.div_ceil(chunk)))),
        };
        // SAFETY: a constant of MPI's.
        let requests = [unsafe { ffi::RSMPI_REQUEST_NULL }; FLIGHT];
        Flight { route, memory, bytes, chunk, requests, started: 0, arrived: 0, done: 0 }
    }

    fn chunks(&self) -> usize {
        self.bytes.div_ceil(self.chunk)
    }

    fn is_done(&self) -> bool {
        self.done == self.chunks()
    }

    fn has_room(&self) -> bool {
        self.started < self.chunks() && self.started - self.done < FLIGHT
    }

    fn piece(&self, index: usize) -> (Piece, *mut u8) {
        let piece = Piece::of(index, self.chunk, self.bytes);
        let place = match &self.memory {
            Memory::Message(message) => message.wrapping_add(piece.offset),
            Memory::Chunks(chunks) => chunks.place().wrapping_add(index % FLIGHT * self.chunk),
        };
        (piece, place)
    }

    /// Whether chunks are used piece by piece, by whoever calls.
    fn in_pieces(&self) -> bool {
        matches!(self.memory, Memory::Chunks(_))
    }

    /// Notes which chunks have arrived; whether any has.
    fn test(&mut self) -> Result<bool, Code> {
        let before = self.arrived;
        while self.arrived < self.started {
            let request = &raw mut self.requests[self.arrived % FLIGHT];
            let mut arrived = 0;
            // SAFETY: the request is active: it was started and has not arrived.
            check(unsafe { ffi::MPI_Test(request, &raw mut arrived, ffi::RSMPI_STATUS_IGNORE) })?;
            if arrived == 0 {
                break;
            }
            self.arrived += 1;
        }
        Ok(self.arrived > before)
    }

    /// What to start for the next chunk.
    fn next(&mut self) -> (*mut u8, c_int, *mut ffi::MPI_Request) {
        let (piece, place) = self.piece(self.started);
        let request = &raw mut self.requests[self.started % FLIGHT];
        self.started += 1;
        // Chunks are about `CHUNK` long; an element of more than 2 GiB has no length in MPI.
        (place, piece.bytes.try_into().unwrap_or(c_int::MAX), request)
    }
}

/// The sender's end.
pub(super) struct Sending(Flight);

impl Sending {
    /// # Safety
    ///
    /// The elements stay readable and unchanged until the message is sent.
    pub(super) unsafe fn new(
        route: Route,
        elements: Option<*const u8>,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        Sending(Flight::new(route, elements.map(<*const u8>::cast_mut), bytes, chunk))
    }

    /// Starts what can be started; whether any chunk has left.
    pub(super) fn advance(&mut self) -> Result<bool, Code> {
        let moved = self.test()?;
        while !self.0.in_pieces() && self.0.has_room() {
            self.start()?;
        }
        Ok(moved)
    }

    fn test(&mut self) -> Result<bool, Code> {
        let moved = self.0.test()?;
        self.0.done = self.0.arrived;
        Ok(moved)
    }

    /// The next chunk and where it goes, if there is room for it now.
    pub(super) fn room(&mut self) -> Result<Option<(Piece, *mut u8)>, Code> {
        self.test()?;
        Ok(self.0.has_room().then(|| self.0.piece(self.0.started)))
    }

    /// Sends the next chunk.
    pub(super) fn start(&mut self) -> Result<(), Code> {
        let Route { communicator, peer, tag } = self.0.route;
        let (place, bytes, request) = self.0.next();
        // SAFETY: the chunk is readable until the request is complete: the caller of `new` keeps
        // the elements, and chunks of this end's own are used again only after that.
        check(unsafe {
            let byte = ffi::RSMPI_UINT8_T;
            ffi::MPI_Isend(place.cast(), bytes, byte, peer, tag, communicator, request)
        })
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_done()
    }
}

/// The receiver's end.
pub(super) struct Receiving(Flight);

impl Receiving {
    /// # Safety
    ///
    /// At the place there is room for the message, and nobody else uses it until the message is
    /// received.
    pub(super) unsafe fn new(
        route: Route,
        place: Option<*mut u8>,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        Receiving(Flight::new(route, place, bytes, chunk))
    }

    /// Starts what can be started; whether any chunk has arrived.
    pub(super) fn advance(&mut self) -> Result<bool, Code> {
        let Flight { route: Route { communicator, peer, tag }, .. } = self.0;
        let moved = self.0.test()?;
        if !self.0.in_pieces() {
            self.0.done = self.0.arrived;
        }
        while self.0.has_room() {
            let (place, bytes, request) = self.0.next();
            // SAFETY: there is room for the chunk, which nobody else uses: in the message, as the
            // caller of `new` says, or in a chunk of this end's own that is done.
            check(unsafe {
                let byte = ffi::RSMPI_UINT8_T;
                ffi::MPI_Irecv(place.cast(), bytes, byte, peer, tag, communicator, request)
            })?;
        }
        Ok(moved)
    }

    /// The next chunk and where it is, if it has arrived.
    pub(super) fn next(&self) -> Option<(Piece, *const u8)> {
        let flight = &self.0;
        (flight.done < flight.arrived).then(|| {
            let (piece, place) = flight.piece(flight.done);
            (piece, place.cast_const())
        })
    }

    /// Gives the chunk up.
    pub(super) fn empty(&mut self) {
        self.0.done += 1;
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_done()
    }
}

/// Memory for chunks, aligned as elements of any type are.
pub(super) struct Chunks(NonNull<u8>, Layout);

impl Chunks {
    /// Of all bytes zero.
    pub(super) fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.max(1), 4096).expect("the message is as long");
        // SAFETY: the layout has a length.
        let memory = unsafe { std::alloc::alloc_zeroed(layout) };
        match NonNull::new(memory) {
            Some(memory) => Chunks(memory, layout),
            None => std::alloc::handle_alloc_error(layout),
        }
    }

    pub(super) fn place(&self) -> *mut u8 {
        self.0.as_ptr()
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.0.as_ptr(), self.1) }
    }
}
