//! MPI's own calls as this transport makes them: bytes to a rank, bytes from a rank, requests.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

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
pub(super) fn counted(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

#[inline]
pub(super) fn arrival(status: &ffi::MPI_Status) -> Arrival {
    // What MPI leaves in a status that has no message may be negative.
    let known = |number: c_int| usize::try_from(number).unwrap_or(0);
    let bytes = match COUNT_AT.load(Ordering::Relaxed) {
        UNKNOWN => counted_by_mpi(status),
        place => count_at(status, place),
    };
    debug_assert_eq!(bytes, counted_by_mpi(status), "MPI counts the same");
    Arrival { source: known(status.MPI_SOURCE), bytes: known(bytes) }
}

/// Where in a status MPI has the bytes of a message, if that is known. `MPI_Get_count` takes longer
/// than all that this library does for a short message; the standard does not say what it reads.
static COUNT_AT: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// No place in a status.
const UNKNOWN: usize = usize::MAX;

/// Finds out where in a status MPI has the bytes, by statuses that it has written itself. Called once
/// MPI runs; where it is not found, MPI is asked each time.
pub(super) fn find_count() {
    const COUNTS: [c_int; 5] = [0x0123_4567, 0, 1, 64, c_int::MAX];
    let written = |count: c_int| {
        // SAFETY: all bytes zero are a status.
        let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
        // SAFETY: a status, and MPI's type of a byte.
        let set = unsafe { ffi::MPI_Status_set_elements(&raw mut status, bytes(), count) };
        check(set).is_ok().then_some(status)
    };
    let Some(statuses) = COUNTS.map(written).into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let has_counts = |&place: &usize| {
        statuses.iter().zip(COUNTS).all(|(status, count)| {
            count_at(status, place) == count && counted_by_mpi(status) == count
        })
    };
    let places = (0..size_of::<ffi::MPI_Status>()).step_by(size_of::<c_int>());
    if let [place] = places.filter(has_counts).collect::<Vec<_>>()[..] {
        COUNT_AT.store(place, Ordering::Relaxed);
    }
}

/// The number at this place, which a status has.
#[inline]
fn count_at(status: &ffi::MPI_Status, place: usize) -> c_int {
    debug_assert!(place + size_of::<c_int>() <= size_of::<ffi::MPI_Status>());
    // SAFETY: the place is inside of the status, and every pattern of bits is a number.
    unsafe { (&raw const *status).byte_add(place).cast::<c_int>().read_unaligned() }
}

#[cold]
fn counted_by_mpi(status: &ffi::MPI_Status) -> c_int {
    let mut count = 0;
    // SAFETY: a status that MPI has filled, and a local. It cannot fail for bytes.
    unsafe { ffi::MPI_Get_count(status, bytes(), &raw mut count) };
    count
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
    route: Route,
) -> Result<ffi::MPI_Request, Code> {
    let mut request = no_request();
    // SAFETY: the caller says so.
    unsafe { start_send_at(&mut request, mode, elements, length, route) }?;
    Ok(request)
}

/// The same, with the request where it is to stay.
///
/// # Safety
///
/// As for `start_send`.
#[inline(always)]
pub(super) unsafe fn start_send_at(
    request: &mut ffi::MPI_Request,
    mode: Mode,
    elements: *const u8,
    length: usize,
    Route { peer, tag, communicator }: Route,
) -> Result<(), Code> {
    let call = match mode {
        Mode::Standard | Mode::Buffered => ffi::MPI_Isend,
        Mode::Synchronous => ffi::MPI_Issend,
        Mode::Ready => ffi::MPI_Irsend,
    };
    // Longer ones are announced, so they never come here.
    let (elements, length) = (elements.cast(), length as c_int);
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe { call(elements, length, bytes(), peer, tag, communicator, request) })
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
    route: Route,
) -> Result<ffi::MPI_Request, Code> {
    let mut request = no_request();
    // SAFETY: the caller says so.
    unsafe { start_receive_at(&mut request, place, counted(room), route) }?;
    Ok(request)
}

/// The same, with the request where it is to stay.
///
/// # Safety
///
/// As for `start_receive`.
#[inline(always)]
pub(super) unsafe fn start_receive_at(
    request: &mut ffi::MPI_Request,
    place: *mut u8,
    room: c_int,
    Route { peer, tag, communicator }: Route,
) -> Result<(), Code> {
    let place = place.cast();
    // SAFETY: the caller says so; the communicator is open.
    check(unsafe { ffi::MPI_Irecv(place, room, bytes(), peer, tag, communicator, request) })
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
