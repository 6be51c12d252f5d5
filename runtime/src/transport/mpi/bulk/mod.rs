//! Large messages: a header in the message's place, and then both ends move the message itself.
//!
//! The sender's policy decides how. What it decides for is replaced by what the two ranks can use
//! now: a message through shared memory needs a free ring, a direct one a free slot and the right
//! to reach the other's memory; chunks as messages of MPI's always work. The receiver obeys the
//! header.
//!
//! Nothing in here waits. [`Bulk::progress`] moves what can be moved, a chunk of each message at
//! most, and whoever waits calls it again and again.

#![allow(unsafe_code)]

mod direct;
mod header;
mod memory;
mod node;
mod piece;
mod pieces;
mod pipeline;
mod put;
mod table;
mod tags;
mod window;

use std::ffi::c_int;
use std::io;
use std::time::Instant;

use mpi::ffi;

use self::header::{Header, Way};
use self::node::{Node, RINGS, SLOTS};
use self::pipeline::Route;
use self::table::Table;
use self::tags::Tags;
use super::code::{Code, check};
use crate::plain::Element;
use crate::policy::{Policy, Strategy};

pub(super) use self::header::HEADER_BYTES;
pub(crate) use self::memory::prepare;

/// The most bytes that a call of MPI's takes: lengths are `int`s.
const MOST: usize = c_int::MAX as usize;

/// Why a rank has a segment.
const SHARED: &str = "a message through shared memory is between ranks that have it";

/// What is needed to move large messages, and those that are on their way.
pub(super) struct Bulk {
    communicator: ffi::MPI_Comm,
    node: Node,
    /// `None` if no rank's policy has a use for it.
    window: Option<put::Window>,
    policy: Policy,
    rank: usize,
    /// Messages up to this length travel plainly to all ranks.
    longest_plain: usize,
    tags: Tags,
    /// Chunks of the last message through each of this rank's rings.
    rings: [usize; RINGS],
    /// The type of what lies in each of them, if that is known.
    contents: [Option<&'static Element>; RINGS],
    /// Where the search for a free slot begins.
    next_slot: usize,
    last_moved: Option<Instant>,
    sending: Table<(usize, Sending)>,
    receiving: Table<(usize, Receiving)>,
}

/// A message that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutgoingId(usize);

/// A message that is being received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IncomingId(usize);

enum Sending {
    Pipeline(pipeline::Sending),
    Window(window::Sending),
    Direct(direct::Sending),
    Put(put::Sending),
}

enum Receiving {
    Pipeline(pipeline::Receiving),
    Window(window::Receiving),
    Direct(direct::Receiving, Option<pipeline::Chunks>),
    Put(put::Receiving),
}

impl Bulk {
    /// Collective over all ranks of `world`, of which it makes a duplicate for itself.
    pub(super) fn open(world: ffi::MPI_Comm, policy: Policy) -> Result<Bulk, Code> {
        let mut rank = 0;
        // SAFETY: `world` is a communicator, and MPI writes to locals of the types that it wants.
        let communicator = unsafe {
            let mut communicator = ffi::RSMPI_COMM_NULL;
            check(ffi::MPI_Comm_dup(world, &raw mut communicator))?;
            check(ffi::MPI_Comm_set_errhandler(communicator, ffi::RSMPI_ERRORS_RETURN))?;
            check(ffi::MPI_Comm_rank(communicator, &raw mut rank))?;
            communicator
        };
        let node = Node::open(communicator)?;
        let puts = any(communicator, policy.uses(Strategy::Put))?;
        let window = if puts { Some(put::Window::open(communicator)?) } else { None };
        let mut bulk = Bulk {
            communicator,
            node,
            window,
            policy: Policy::fixed(Strategy::Blocking),
            rank: rank as usize,
            longest_plain: usize::MAX,
            tags: Tags::new(communicator)?,
            rings: [0; RINGS],
            contents: [None; RINGS],
            next_slot: 0,
            last_moved: None,
            sending: Table::default(),
            receiving: Table::default(),
        };
        bulk.set_policy(policy);
        if let Some(own) = bulk.node.segment(bulk.rank) {
            own.slots.iter().for_each(direct::Slot::let_go);
            own.rings.iter().for_each(window::Ring::clear);
        }
        Ok(bulk)
    }

    /// Another policy from here on, for who measures several.
    pub(super) fn set_policy(&mut self, policy: Policy) {
        let longest_plain = policy.longest_plain(true).min(policy.longest_plain(false));
        self.longest_plain = longest_plain.clamp(HEADER_BYTES - 1, MOST);
        self.policy = policy;
    }

    /// Whether a message is announced by a header. Shorter ones than the header are not, so that
    /// it fits where the message would.
    ///
    /// What a rank sends itself stays with MPI: a rank that waits in such a send could move nothing.
    #[inline(always)]
    pub(super) fn announces(&self, peer: usize, bytes: usize) -> bool {
        match bytes <= self.longest_plain {
            true => bytes == HEADER_BYTES,
            false => self.announces_long(peer, bytes),
        }
    }

    fn announces_long(&self, peer: usize, bytes: usize) -> bool {
        match self.policy.strategy(self.node.has(peer), bytes) {
            _ if bytes == HEADER_BYTES || bytes > MOST => true,
            _ if peer == self.rank => false,
            Strategy::Eager | Strategy::Blocking => false,
            // Where it is chosen for short messages, MPI's own call is the next best.
            Strategy::Window => bytes > window::ROOM || self.free_ring(peer, 1).is_some(),
            Strategy::Pipeline | Strategy::Direct | Strategy::Put => true,
        }
    }

    /// Begins to send, and returns what is to be sent in the message's place.
    ///
    /// # Safety
    ///
    /// The elements, of `element` bytes each, stay readable and unchanged until the message is
    /// sent.
    pub(super) unsafe fn offer(
        &mut self,
        peer: usize,
        elements: *const u8,
        bytes: usize,
        element: usize,
    ) -> (OutgoingId, [u8; HEADER_BYTES]) {
        let tag = self.tags.next();
        let route = self.route(peer, tag);
        // SAFETY: the caller's promise is what all of them want.
        let (way, chunk, sending) = unsafe {
            match self.way(peer, bytes, element) {
                Way::Direct { slot, .. } => {
                    let address = elements.expose_provenance() as u64;
                    let chunk = direct::chunk(bytes, element);
                    let sending = self.send_directly(slot, peer, elements, bytes, chunk);
                    (Way::Direct { slot, address }, chunk, sending)
                }
                Way::Window(ring) => {
                    let chunk = window::chunk(element).unwrap_or(bytes);
                    self.contents[ring as usize] = None;
                    let sending = self.send_through(ring, Some(elements), bytes, chunk);
                    (Way::Window(ring), chunk, sending)
                }
                Way::Put => {
                    let chunk = pipeline::chunk(bytes, element);
                    let sending = put::Sending::new(route, elements, bytes, chunk);
                    (Way::Put, chunk, Sending::Put(sending))
                }
                Way::Pipeline => {
                    let chunk = pipeline::chunk(bytes, element);
                    let sending = pipeline::Sending::new(route, Some(elements), bytes, chunk);
                    (Way::Pipeline, chunk, Sending::Pipeline(sending))
                }
            }
        };
        let header = Header { way, tag, bytes, chunk }.write();
        (OutgoingId(self.sending.insert((peer, sending))), header)
    }

    /// Whether the elements are not needed any more.
    pub(super) fn is_sent(&self, id: OutgoingId) -> bool {
        match self.sending.get(id.0) {
            (_, Sending::Pipeline(sending)) => sending.is_done(),
            (_, Sending::Window(sending)) => sending.is_done(),
            (_, Sending::Direct(sending)) => sending.is_done(self.own_slot(sending.slot)),
            (_, Sending::Put(sending)) => sending.is_done(),
        }
    }

    /// Forgets a message that is sent.
    pub(super) fn finish_send(&mut self, id: OutgoingId) {
        self.sending.remove(id.0);
    }

    /// The length of the message that a header announces.
    pub(super) fn announced(header: &[u8; HEADER_BYTES]) -> usize {
        Header::read(header).bytes
    }

    /// Begins to receive the message that `header` announces.
    ///
    /// # Safety
    ///
    /// At the place there is room for it, and nobody else uses that until it is received.
    pub(super) unsafe fn accept(
        &mut self,
        source: usize,
        header: &[u8; HEADER_BYTES],
        place: *mut u8,
    ) -> IncomingId {
        // SAFETY: as the caller says.
        unsafe { self.receive(source, header, Some(place)) }
    }

    /// # Safety
    ///
    /// As for [`Bulk::accept`], if there is a place.
    unsafe fn receive(
        &mut self,
        source: usize,
        header: &[u8; HEADER_BYTES],
        place: Option<*mut u8>,
    ) -> IncomingId {
        let Header { way, tag, bytes, chunk } = Header::read(header);
        let route = self.route(source, tag);
        // SAFETY: the caller's promise is what all of them want.
        let receiving = unsafe {
            match way {
                Way::Pipeline => {
                    Receiving::Pipeline(pipeline::Receiving::new(route, place, bytes, chunk))
                }
                Way::Window(ring) => {
                    Receiving::Window(window::Receiving::new(ring, place, bytes, chunk))
                }
                Way::Direct { slot, address } => {
                    let shared = &self.segment(source).slots[slot as usize];
                    let other = (source, self.process(source));
                    let ours =
                        direct::Receiving::new((slot, shared), other, address, place, bytes, chunk);
                    let memory = place.is_none().then(|| pipeline::Chunks::new(chunk.min(bytes)));
                    Receiving::Direct(ours, memory)
                }
                Way::Put => Receiving::Put(put::Receiving::new(route, place, bytes, chunk)),
            }
        };
        IncomingId(self.receiving.insert((source, receiving)))
    }

    /// Whether all of a message is at its place.
    pub(super) fn is_received(&self, id: IncomingId) -> bool {
        match self.receiving.get(id.0) {
            (_, Receiving::Pipeline(receiving)) => receiving.is_done(),
            (_, Receiving::Window(receiving)) => receiving.is_done(),
            (source, Receiving::Direct(receiving, _)) => {
                receiving.is_done(&self.segment(*source).slots[receiving.slot as usize])
            }
            (_, Receiving::Put(receiving)) => receiving.is_done(),
        }
    }

    /// Forgets a message that is received.
    pub(super) fn finish_receive(&mut self, id: IncomingId) {
        if let (source, Receiving::Direct(receiving, _)) = self.receiving.remove(id.0) {
            let slot = receiving.slot as usize;
            receiving.finish(&self.segment(source).slots[slot]);
        }
    }

    /// Moves what can be moved now.
    #[inline]
    pub(super) fn progress(&mut self) -> Result<(), Code> {
        if self.is_idle() { Ok(()) } else { self.advance() }
    }

    /// Whether no message is on its way.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.sending.live == 0 && self.receiving.live == 0
    }

    /// When this end has last moved something, for who takes a rank that moves nothing to wait.
    pub(super) fn last_moved(&self) -> Option<Instant> {
        self.last_moved
    }

    fn advance(&mut self) -> Result<(), Code> {
        let mut moved = false;
        for (source, receiving) in self.receiving.iter_mut() {
            let segment = || self.node.segment(*source).expect(SHARED);
            // Messages to and from the same rank cross: its end is busy with the other one.
            let crosses = || self.sending.iter().any(|(peer, _)| peer == source);
            moved |= match receiving {
                Receiving::Pipeline(receiving) => receiving.advance()?,
                Receiving::Window(ours) => ours.advance(&segment().rings[ours.ring as usize]),
                Receiving::Direct(ours, _) => {
                    ours.advance(&segment().slots[ours.slot as usize], crosses())?
                }
                Receiving::Put(ours) => {
                    let window = self.window.as_ref().expect("a put needs it");
                    let found = ours.advance(window)?;
                    if let put::Found::Refused = found {
                        *receiving = Receiving::Pipeline(ours.as_pipeline());
                    }
                    !matches!(found, put::Found::Nothing)
                }
            };
        }
        let segment = || self.node.segment(self.rank).expect(SHARED);
        for (_, sending) in self.sending.iter_mut() {
            moved |= match sending {
                Sending::Pipeline(sending) => sending.advance()?,
                Sending::Window(ours) => ours.advance(&segment().rings[ours.ring as usize]),
                // Where both ends have something to receive, each does best to do just that.
                Sending::Direct(_) if moved => false,
                Sending::Direct(ours) => ours.advance(&segment().slots[ours.slot as usize])?,
                Sending::Put(ours) => {
                    let window = self.window.as_ref().expect("a put needs it");
                    let found = ours.advance(window)?;
                    if let put::Found::Refused = found {
                        *sending = Sending::Pipeline(ours.as_pipeline());
                    }
                    !matches!(found, put::Found::Nothing)
                }
            };
        }
        if moved {
            self.last_moved = Some(Instant::now());
        }
        Ok(())
    }

    /// Collective over all ranks, when nothing is on its way any more.
    pub(super) fn close(&mut self) -> Result<(), Code> {
        if let Some(window) = self.window.take() {
            window.close()?;
        }
        self.node.close()?;
        // SAFETY: nothing is pending on it.
        check(unsafe { ffi::MPI_Comm_free(&raw mut self.communicator) })
    }

    /// The way that a message takes: the policy's, if there is what it needs.
    fn way(&mut self, peer: usize, bytes: usize, element: usize) -> Way {
        let mut strategy = self.policy.strategy(self.node.has(peer), bytes);
        if bytes == HEADER_BYTES {
            strategy = Strategy::Pipeline;
        }
        if strategy == Strategy::Direct {
            if let Some(slot) = self.free_slot(peer) {
                return Way::Direct { slot, address: 0 };
            }
            strategy = Strategy::Window;
        }
        match strategy {
            Strategy::Window => self.free_ring(peer, element).map_or(Way::Pipeline, Way::Window),
            Strategy::Put if self.window.is_some() => Way::Put,
            _ => Way::Pipeline,
        }
    }

    fn free_slot(&mut self, peer: usize) -> Option<u32> {
        self.node.process(peer)?;
        let slots = &self.segment(self.rank).slots;
        let mut indices = (0..SLOTS).map(|step| (self.next_slot + step) % SLOTS);
        let index = indices.find(|&index| slots[index].is_free())?;
        self.next_slot = index + 1;
        Some(index as u32)
    }

    fn free_ring(&self, peer: usize, element: usize) -> Option<u32> {
        window::chunk(element)?;
        let rings = self.node.has(peer).then(|| &self.segment(self.rank).rings)?;
        let index = (0..RINGS).find(|&index| rings[index].is_free(self.rings[index]))?;
        Some(index as u32)
    }

    /// # Safety
    ///
    /// As for [`Bulk::offer`].
    unsafe fn send_directly(
        &self,
        slot: u32,
        peer: usize,
        elements: *const u8,
        bytes: usize,
        chunk: usize,
    ) -> Sending {
        let shared = (slot, self.own_slot(slot));
        // SAFETY: the caller says so.
        Sending::Direct(unsafe {
            direct::Sending::new(shared, (peer, self.process(peer)), elements, bytes, chunk)
        })
    }

    /// # Safety
    ///
    /// As for [`Bulk::offer`], if there are elements.
    unsafe fn send_through(
        &mut self,
        ring: u32,
        elements: Option<*const u8>,
        bytes: usize,
        chunk: usize,
    ) -> Sending {
        let shared = &self.segment(self.rank).rings[ring as usize];
        // SAFETY: the caller says so.
        let sending = unsafe { window::Sending::new((ring, shared), elements, bytes, chunk) };
        self.rings[ring as usize] = sending.chunks();
        Sending::Window(sending)
    }

    fn route(&self, peer: usize, tag: c_int) -> Route {
        Route { communicator: self.communicator, peer: peer as c_int, tag }
    }

    fn segment(&self, rank: usize) -> &node::Segment {
        self.node.segment(rank).expect(SHARED)
    }

    fn own_slot(&self, index: u32) -> &direct::Slot {
        &self.segment(self.rank).slots[index as usize]
    }

    fn process(&self, rank: usize) -> libc::pid_t {
        self.node.process(rank).expect("ranks that send directly can reach each other")
    }
}

/// Whether it holds on any rank. Collective.
fn any(communicator: ffi::MPI_Comm, holds: bool) -> Result<bool, Code> {
    let (own, mut all) = (c_int::from(holds), 0);
    // SAFETY: one number to read and one to write.
    check(unsafe {
        let (own, all) = ((&raw const own).cast(), (&raw mut all).cast());
        ffi::MPI_Allreduce(own, all, 1, ffi::RSMPI_INT32_T, ffi::RSMPI_MAX, communicator)
    })?;
    Ok(all != 0)
}

/// A code of its own for what the system has refused.
fn failure(doing: &str, error: &io::Error) -> Code {
    let text = format!("{doing} failed: {error}\0");
    let (mut class, mut code) = (0, 0);
    // SAFETY: the text ends in zero, and is shorter than the longest that is allowed; MPI writes
    // to locals.
    let made = unsafe {
        check(ffi::MPI_Add_error_class(&raw mut class))
            .and_then(|()| check(ffi::MPI_Add_error_code(class, &raw mut code)))
            .and_then(|()| check(ffi::MPI_Add_error_string(code, text.as_ptr().cast())))
    };
    match made.and_then(|()| check(code)) {
        Err(code) => code,
        Ok(()) => unreachable!("a new code is none that says success"),
    }
}
