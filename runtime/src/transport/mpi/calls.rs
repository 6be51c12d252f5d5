//! MPI's own calls as this transport makes them: bytes to a rank, bytes from a rank, requests.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::MaybeUninit;

use mpi::ffi;
use p2p_protocol::model::Mode;

use super::code::{Code, check};

/// The bytes of a message on their way: where, how many, with whom, and as what.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Route {
    /// The other end; MPI's wildcard for a receive from anybody.
    pub(super) peer: c_int,
    pub(super) tag: c_int,
    pub(super) communicator: ffi::MPI_Comm,
}

/// What has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) source: usize,
    pub(super) bytes: usize,
}

/// A call that did not succeed, and what it says of the message all the same.
#[derive(Clone, Copy)]
pub(super) struct Refused {
    pub(super) code: Code,
    pub(super) arrival: Arrival,
}

/// Any rank of a communicator.
#[inline]
pub(super) fn any_source() -> c_int {
    // SAFETY: a constant.
    unsafe { ffi::RSMPI_ANY_SOURCE }
}

/// No request.
#[inline]
pub(super) fn no_request() -> ffi::MPI_Request {
    // SAFETY: a constant.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

#[inline]
fn bytes() -> ffi::MPI_Datatype {
    // SAFETY: a constant.
    unsafe { ffi::RSMPI_UINT8_T }
}

/// So many bytes as MPI counts them. Longer messages are announced, so they never come here, and
/// of a longer buffer the rest is not needed.
#[inline]
fn counted(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

#[inline]
fn arrival(status: &ffi::MPI_Status) -> Arrival {
    let mut count = 0;
    // SAFETY: a status that MPI has filled, and a local. It cannot fail for bytes.
    unsafe { ffi::MPI_Get_count(status, bytes(), &raw mut count) };
    // What MPI leaves in a status that has no message may be negative.
    let known = |number: c_int| usize::try_from(number).unwrap_or(0);
    Arrival { source: known(status.MPI_SOURCE), bytes: known(count) }
}

/// Sends, and returns when `mode` lets it. There is no buffered one: the endpoint keeps copies
/// itself, which MPI's buffer could be too small for.
///
/// # Safety
///
/// `length` bytes can be read from `elements` during the call.
#[inline]
pub(super) unsafe fn send(
    mode: Mode,
    elements: *const u8,
    length: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<(), Code> {
    let call = match mode {
        Mode::Standard | Mode::Buffered => ffi::MPI_Send,
        Mode::Synchronous => ffi::MPI_Ssend,
        Mode::Ready => ffi::MPI_Rsend,
    };
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe { call(elements.cast(), counted(length), bytes(), peer, tag, communicator) })
}

/// Starts a send.
///
/// # Safety
///
/// `length` bytes can be read from `elements`, and do not change, until the request is complete.
#[inline]
pub(super) unsafe fn start_send(
    mode: Mode,
    elements: *const u8,
    length: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<ffi::MPI_Request, Code> {
    let call = match mode {
        Mode::Standard | Mode::Buffered => ffi::MPI_Isend,
        Mode::Synchronous => ffi::MPI_Issend,
        Mode::Ready => ffi::MPI_Irsend,
    };
    let mut request = no_request();
    let (elements, length) = (elements.cast(), counted(length));
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe { call(elements, length, bytes(), peer, tag, communicator, &raw mut request) })?;
    Ok(request)
}

/// Receives one message.
///
/// # Safety
///
/// `room` bytes can be written from `place` on during the call, and nobody else uses them.
#[inline]
pub(super) unsafe fn receive(
    place: *mut u8,
    room: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<Arrival, Refused> {
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let status = status.as_mut_ptr();
    let room = counted(room);
    // SAFETY: the caller says so; the communicator is open.
    let returned =
        unsafe { ffi::MPI_Recv(place.cast(), room, bytes(), peer, tag, communicator, status) };
    // SAFETY: all bytes zero are a status, which MPI may have filled.
    let arrival = arrival(unsafe { &*status });
    check(returned).map(|()| arrival).map_err(|code| Refused { code, arrival })
}

/// Posts a receive.
///
/// # Safety
///
/// As for `receive`, until the request is complete.
#[inline]
pub(super) unsafe fn start_receive(
    place: *mut u8,
    room: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<ffi::MPI_Request, Code> {
    let mut request = no_request();
    let (place, room, request_place) = (place.cast(), counted(room), &raw mut request);
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe { ffi::MPI_Irecv(place, room, bytes(), peer, tag, communicator, request_place) })?;
    Ok(request)
}

/// Plans a send of standard mode; the bytes are not touched before it is started.
///
/// # Safety
///
/// As for `start_send`, from each start until that is complete.
pub(super) unsafe fn plan_send(
    elements: *const u8,
    length: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<ffi::MPI_Request, Code> {
    let mut request = no_request();
    let (elements, length, place) = (elements.cast(), counted(length), &raw mut request);
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe {
        ffi::MPI_Send_init(elements, length, bytes(), peer, tag, communicator, place)
    })?;
    Ok(request)
}

/// Plans a receive; the bytes are not touched before it is started.
///
/// # Safety
///
/// As for `receive`, from each start until that is complete.
pub(super) unsafe fn plan_receive(
    place: *mut u8,
    room: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<ffi::MPI_Request, Code> {
    let mut request = no_request();
    let (place, room, request_place) = (place.cast(), counted(room), &raw mut request);
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe {
        ffi::MPI_Recv_init(place, room, bytes(), peer, tag, communicator, request_place)
    })?;
    Ok(request)
}

/// Starts what was planned.
///
/// # Safety
///
/// It was planned, is not under way, and the caller fulfils what the plan asks for each start.
#[inline]
pub(super) unsafe fn start(request: &mut ffi::MPI_Request) -> Result<(), Code> {
    // SAFETY: the caller says so.
    check(unsafe { ffi::MPI_Start(request) })
}

/// Forgets what was planned and is not under way. Whether MPI has freed it makes no difference.
pub(super) fn free(request: &mut ffi::MPI_Request) {
    // SAFETY: a request that was planned and not freed.
    unsafe { ffi::MPI_Request_free(request) };
}

/// A message that no other receive can take any more.
pub(super) struct Matched {
    message: ffi::MPI_Message,
    pub(super) arrival: Arrival,
}

/// Takes the next message out of the matching, and waits for it.
#[inline]
pub(super) fn match_next(route: Route) -> Result<Matched, Code> {
    let Route { peer, tag, communicator } = route;
    // SAFETY: a constant.
    let mut message = unsafe { ffi::RSMPI_MESSAGE_NULL };
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let (message_place, status_place) = (&raw mut message, status.as_mut_ptr());
    // SAFETY: the communicator is open, the rest are locals.
    check(unsafe { ffi::MPI_Mprobe(peer, tag, communicator, message_place, status_place) })?;
    // SAFETY: MPI has filled it.
    Ok(Matched { message, arrival: arrival(unsafe { status.assume_init_ref() }) })
}

/// Takes the next message out of the matching, if it is there.
pub(super) fn match_if_there(route: Route) -> Result<Option<Matched>, Code> {
    let Route { peer, tag, communicator } = route;
    // SAFETY: a constant.
    let mut message = unsafe { ffi::RSMPI_MESSAGE_NULL };
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let mut found = 0;
    let (message_place, status_place) = (&raw mut message, status.as_mut_ptr());
    // SAFETY: the communicator is open, the rest are locals.
    check(unsafe {
        let found = &raw mut found;
        ffi::MPI_Improbe(peer, tag, communicator, found, message_place, status_place)
    })?;
    if found == 0 {
        return Ok(None);
    }
    // SAFETY: MPI has filled it.
    Ok(Some(Matched { message, arrival: arrival(unsafe { status.assume_init_ref() }) }))
}

/// Receives a message that was matched; all of its bytes.
///
/// # Safety
///
/// There is room for them from `place` on during the call, and nobody else uses it.
#[inline]
pub(super) unsafe fn receive_matched(mut matched: Matched, place: *mut u8) -> Result<(), Code> {
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let length = counted(matched.arrival.bytes);
    let message = &raw mut matched.message;
    // SAFETY: the caller says so; the message was matched and not received yet.
    check(unsafe { ffi::MPI_Mrecv(place.cast(), length, bytes(), message, status.as_mut_ptr()) })
}

/// What the next message is, if it is there; it stays.
pub(super) fn look(route: Route) -> Result<Option<Arrival>, Code> {
    let Route { peer, tag, communicator } = route;
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let mut found = 0;
    let (found_place, status_place) = (&raw mut found, status.as_mut_ptr());
    // SAFETY: the communicator is open, the rest are locals.
    check(unsafe { ffi::MPI_Iprobe(peer, tag, communicator, found_place, status_place) })?;
    // SAFETY: all bytes zero are a status, and MPI fills it where a message is found.
    Ok((found != 0).then(|| arrival(unsafe { status.assume_init_ref() })))
}

/// Lets MPI work, so that what this rank and others have begun is done. A rank may wait for something
/// that is none of MPI's. To be asked on a communicator of all ranks on which nobody ever sends:
/// where a message is found, and where only this rank could have sent one, MPI may do nothing else.
pub(super) fn let_mpi_work(silent: ffi::MPI_Comm) -> Result<(), Code> {
    let mut found = 0;
    // SAFETY: the communicator is open, and the place is a local.
    unsafe {
        let (anybody, any_tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
        let (found, ignore) = (&raw mut found, ffi::RSMPI_STATUS_IGNORE);
        check(ffi::MPI_Iprobe(anybody, any_tag, silent, found, ignore))
    }
}

/// Whether a request is complete; if so, what has come, which means nothing for a send.
#[inline]
pub(super) fn test(request: &mut ffi::MPI_Request) -> Result<Option<Arrival>, Refused> {
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let mut complete = 0;
    let status_place = status.as_mut_ptr();
    // SAFETY: a request that was started and is not complete yet, and locals.
    let returned = unsafe { ffi::MPI_Test(request, &raw mut complete, status_place) };
    // SAFETY: all bytes zero are a status, which MPI may have filled.
    let arrival = arrival(unsafe { status.assume_init_ref() });
    check(returned).map_err(|code| Refused { code, arrival })?;
    Ok((complete != 0).then_some(arrival))
}

/// Room for what `wait_all` is told, kept from call to call.
#[derive(Default)]
pub(super) struct Several {
    pub(super) requests: Vec<ffi::MPI_Request>,
    statuses: Vec<ffi::MPI_Status>,
    /// Whether the statuses have errors; MPI sets them only then (MPI 3.1, 3.7.5).
    some_failed: bool,
}

impl Several {
    /// Waits for all of the requests; what has come of each is then in [`Several::outcome`].
    pub(super) fn wait_all(&mut self) -> Result<(), Code> {
        let count = self.requests.len();
        if self.statuses.len() < count {
            // SAFETY: all bytes zero are a status.
            self.statuses.resize_with(count, || unsafe { std::mem::zeroed() });
        }
        let (requests, statuses) = (self.requests.as_mut_ptr(), self.statuses.as_mut_ptr());
        // SAFETY: there are as many statuses as requests, which are not complete yet.
        let returned = unsafe { ffi::MPI_Waitall(counted(count), requests, statuses) };
        self.some_failed = false;
        let Err(code) = check(returned) else { return Ok(()) };
        self.some_failed = code.is_in_status();
        if self.some_failed { Ok(()) } else { Err(code) }
    }

    /// Whether the request at this place is still under way, because another one has failed.
    #[inline]
    pub(super) fn is_pending(&self, place: usize) -> bool {
        self.some_failed
            && check(self.statuses[place].MPI_ERROR).is_err_and(|code| code.is_pending())
    }

    /// What has come of the request at this place.
    #[inline]
    pub(super) fn outcome(&self, place: usize) -> Result<Arrival, Refused> {
        let status = &self.statuses[place];
        let arrival = arrival(status);
        match self.some_failed {
            true => {
                check(status.MPI_ERROR).map(|()| arrival).map_err(|code| Refused { code, arrival })
            }
            false => Ok(arrival),
        }
    }
}

/// Takes a receive back; `None` if that was possible, else the message that it has taken.
pub(super) fn cancel(request: &mut ffi::MPI_Request) -> Result<Option<Arrival>, Code> {
    let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
    let mut cancelled = 0;
    // SAFETY: a request that was started and is not complete yet, and locals.
    unsafe {
        check(ffi::MPI_Cancel(request))?;
        // A message that is too long is an error here, and nobody asks for it any more.
        let _ = ffi::MPI_Wait(request, status.as_mut_ptr());
        check(ffi::MPI_Test_cancelled(status.as_ptr(), &raw mut cancelled))?;
        Ok((cancelled == 0).then(|| arrival(status.assume_init_ref())))
    }
}
