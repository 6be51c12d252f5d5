//! Messages that the sender puts into the receiver's memory.
//!
//! The receiver attaches its place to a window and answers with the address; the sender puts the
//! message there and says when it is there. A receiver that cannot attach its place answers 0, and
//! the message goes as a pipeline.

#![allow(unsafe_code)]

use std::ffi::c_int;

use mpi::ffi;

use super::super::code::{Code, check};
use super::pipeline::{self, Route};

/// The most that one call puts: lengths in MPI are `int`s.
const MOST: usize = 256 << 20;

/// A window on whatever the ranks attach to it.
pub(super) struct Window(ffi::MPI_Win);

impl Window {
    /// Collective.
    pub(super) fn open(communicator: ffi::MPI_Comm) -> Result<Window, Code> {
        // SAFETY: MPI writes to a local.
        unsafe {
            let mut window = ffi::RSMPI_WIN_NULL;
            let info = ffi::RSMPI_INFO_NULL;
            check(ffi::MPI_Win_create_dynamic(info, communicator, &raw mut window))?;
            check(ffi::MPI_Win_set_errhandler(window, ffi::RSMPI_ERRORS_RETURN))?;
            check(ffi::MPI_Win_lock_all(0, window))?;
            Ok(Window(window))
        }
    }

    /// Collective.
    pub(super) fn close(mut self) -> Result<(), Code> {
        // SAFETY: nothing is attached, and no message is on its way.
        unsafe {
            check(ffi::MPI_Win_unlock_all(self.0))?;
            check(ffi::MPI_Win_free(&raw mut self.0))
        }
    }
}

/// One message of MPI's that is under way.
struct Pending(ffi::MPI_Request);

impl Pending {
    /// What `start` starts.
    fn start(start: impl FnOnce(*mut ffi::MPI_Request) -> c_int) -> Result<Pending, Code> {
        // SAFETY: a constant of MPI's.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        check(start(&raw mut request))?;
        Ok(Pending(request))
    }

    fn is_complete(&mut self) -> Result<bool, Code> {
        let mut complete = 0;
        // SAFETY: the request is active, or null, which is complete.
        check(unsafe {
            ffi::MPI_Test(&raw mut self.0, &raw mut complete, ffi::RSMPI_STATUS_IGNORE)
        })?;
        Ok(complete != 0)
    }
}

/// How far the sender is.
enum Stage {
    New,
    /// For the address, which comes to the box.
    Waits(Pending),
    Puts(Pending, usize),
    /// Says that it is all there.
    Tells(Pending),
    Done,
}

/// The sender's end.
pub(super) struct Sending {
    route: Route,
    elements: *const u8,
    bytes: usize,
    /// If it comes to a pipeline.
    chunk: usize,
    address: Box<u64>,
    stage: Stage,
}

/// What a look at a message has found.
pub(super) enum Found {
    Nothing,
    /// It went on.
    Moved,
    /// The receiver cannot attach its place.
    Refused,
}

impl Sending {
    /// # Safety
    ///
    /// The elements stay readable and unchanged until the message is sent.
    pub(super) unsafe fn new(
        route: Route,
        elements: *const u8,
        bytes: usize,
        chunk: usize,
    ) -> Self {
        Sending { route, elements, bytes, chunk, address: Box::default(), stage: Stage::New }
    }

    /// What is left to do after the receiver has refused.
    pub(super) fn as_pipeline(&self) -> pipeline::Sending {
        let Sending { route, elements, bytes, chunk, .. } = *self;
        // SAFETY: the caller of `new` keeps the elements.
        unsafe { pipeline::Sending::new(route, Some(elements), bytes, chunk) }
    }

    pub(super) fn advance(&mut self, window: &Window) -> Result<Found, Code> {
        let Route { communicator, peer, tag } = self.route;
        match &mut self.stage {
            Stage::New => {
                let address = (&raw mut *self.address).cast();
                // SAFETY: there is room for one number, which stays in its box.
                self.stage = Stage::Waits(Pending::start(|request| unsafe {
                    let number = ffi::RSMPI_UINT64_T;
                    ffi::MPI_Irecv(address, 1, number, peer, answer_tag(tag), communicator, request)
                })?);
            }
            Stage::Waits(pending) => {
                if !pending.is_complete()? {
                    return Ok(Found::Nothing);
                }
                if *self.address == 0 {
                    return Ok(Found::Refused);
                }
                self.stage = self.put(window, 0)?;
            }
            Stage::Puts(pending, end) => {
                if !pending.is_complete()? {
                    return Ok(Found::Nothing);
                }
                let end = *end;
                self.stage =
                    if end < self.bytes { self.put(window, end)? } else { self.tell(window)? };
            }
            Stage::Tells(pending) => {
                if !pending.is_complete()? {
                    return Ok(Found::Nothing);
                }
                self.stage = Stage::Done;
            }
            Stage::Done => return Ok(Found::Nothing),
        }
        Ok(Found::Moved)
    }

    fn put(&self, window: &Window, start: usize) -> Result<Stage, Code> {
        let bytes = MOST.min(self.bytes - start);
        let address = *self.address as ffi::MPI_Aint + start as ffi::MPI_Aint;
        // SAFETY: the caller of `new` keeps the elements; the receiver has attached as many bytes
        // at the address.
        let pending = Pending::start(|request| unsafe {
            let (from, count) = (self.elements.add(start).cast(), bytes as c_int);
            let byte = ffi::RSMPI_UINT8_T;
            let peer = self.route.peer;
            ffi::MPI_Rput(from, count, byte, peer, address, count, byte, window.0, request)
        })?;
        Ok(Stage::Puts(pending, start + bytes))
    }

    fn tell(&self, window: &Window) -> Result<Stage, Code> {
        let Route { communicator, peer, tag } = self.route;
        // SAFETY: a message of no bytes.
        let pending = unsafe {
            check(ffi::MPI_Win_flush(peer, window.0))?;
            Pending::start(|request| {
                let (nothing, byte) = (std::ptr::null(), ffi::RSMPI_UINT8_T);
                ffi::MPI_Isend(nothing, 0, byte, peer, tag, communicator, request)
            })?
        };
        Ok(Stage::Tells(pending))
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}

/// The tag of the receiver's answer: a message's own tag is even, and its receiver may itself send
/// one of the same tag.
fn answer_tag(tag: c_int) -> c_int {
    tag | 1
}

/// How far the receiver is.
enum Landing {
    New,
    /// For its answer to leave, and for the message.
    Waits(Pending, Pending),
    /// For its answer to leave, which is 0.
    Refuses(Pending),
    Done,
}

/// The receiver's end.
pub(super) struct Receiving {
    route: Route,
    /// `None`: it takes the message piece by piece, as this strategy cannot.
    place: Option<*mut u8>,
    bytes: usize,
    /// If it comes to a pipeline.
    chunk: usize,
    address: Box<u64>,
    stage: Landing,
}

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
        Receiving { route, place, bytes, chunk, address: Box::default(), stage: Landing::New }
    }

    /// What is left to do after this end has refused.
    pub(super) fn as_pipeline(&self) -> pipeline::Receiving {
        let Receiving { route, place, bytes, chunk, .. } = *self;
        // SAFETY: the caller of `new` gives the place.
        unsafe { pipeline::Receiving::new(route, place, bytes, chunk) }
    }

    pub(super) fn advance(&mut self, window: &Window) -> Result<Found, Code> {
        match &mut self.stage {
            Landing::New => {
                *self.address = self.place.map_or(0, |place| attach(window, place, self.bytes));
                let answer = self.answer()?;
                self.stage = match *self.address {
                    0 => Landing::Refuses(answer),
                    _ => Landing::Waits(answer, self.arrival()?),
                };
            }
            Landing::Waits(answer, arrival) => {
                if !(answer.is_complete()? && arrival.is_complete()?) {
                    return Ok(Found::Nothing);
                }
                let place = self.place.unwrap_or(std::ptr::null_mut()).cast();
                // SAFETY: it was attached, and the sender has put all that it puts there.
                check(unsafe { ffi::MPI_Win_detach(window.0, place) })?;
                self.stage = Landing::Done;
            }
            Landing::Refuses(answer) => {
                let is_told = answer.is_complete()?;
                return Ok(if is_told { Found::Refused } else { Found::Nothing });
            }
            Landing::Done => return Ok(Found::Nothing),
        }
        Ok(Found::Moved)
    }

    fn answer(&self) -> Result<Pending, Code> {
        let Route { communicator, peer, tag } = self.route;
        let address = (&raw const *self.address).cast();
        // SAFETY: one number, which stays in its box.
        Pending::start(|request| unsafe {
            let number = ffi::RSMPI_UINT64_T;
            ffi::MPI_Isend(address, 1, number, peer, answer_tag(tag), communicator, request)
        })
    }

    fn arrival(&self) -> Result<Pending, Code> {
        let Route { communicator, peer, tag } = self.route;
        // SAFETY: a message of no bytes.
        Pending::start(|request| unsafe {
            let (nothing, byte) = (std::ptr::null_mut(), ffi::RSMPI_UINT8_T);
            ffi::MPI_Irecv(nothing, 0, byte, peer, tag, communicator, request)
        })
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, Landing::Done)
    }
}

/// Lets others put into the place, and says what they call it; 0 if the window does not take it.
fn attach(window: &Window, place: *mut u8, bytes: usize) -> u64 {
    let mut address = 0;
    // SAFETY: the caller of `Receiving::new` gives the place for as long as the message takes.
    let attached = unsafe {
        check(ffi::MPI_Win_attach(window.0, place.cast(), bytes as ffi::MPI_Aint))
            .and_then(|()| check(ffi::MPI_Get_address(place.cast(), &raw mut address)))
    };
    if attached.is_ok() { address as u64 } else { 0 }
}
