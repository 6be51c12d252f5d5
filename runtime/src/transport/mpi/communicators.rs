//! Which communicator of MPI and which tag stand for an envelope.
//!
//! A session has communicators of its own, duplicated when it is joined: one for each that its
//! protocol's messages use, one for the messages of collective operations and one for those of
//! windows. What comes before a session, the comparison of protocols, goes over the one that the
//! endpoint was opened with. Errors on all of them return.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use mpi::ffi;

use super::code::{Code, check};
use crate::transport::message::Envelope;

/// What an envelope's communicator is used for is in its highest two bits (`session::Channel`).
const CHANNEL: u16 = 0xc000;
const MESSAGES: u16 = 0;
const COLLECTIVE: u16 = 0x4000;
const WINDOW: u16 = 0x8000;

/// The communicators of one session.
struct Session {
    number: u32,
    messages: Vec<ffi::MPI_Comm>,
    collective: ffi::MPI_Comm,
    window: ffi::MPI_Comm,
}

/// All communicators of a rank.
pub(super) struct Communicators {
    base: ffi::MPI_Comm,
    /// Where nobody ever sends: asking for a message there only lets MPI work.
    silent: ffi::MPI_Comm,
    /// All bits that a tag may have.
    tags: u32,
    /// The sessions that are under way.
    sessions: Vec<Session>,
    /// The first communicators of the session that was used last, close at hand: following three
    /// pointers to them would take longer than the rest of a send up to MPI's call.
    at_hand: AtHand,
}

struct AtHand {
    session: u32,
    messages: [ffi::MPI_Comm; AT_HAND],
}

const AT_HAND: usize = 4;

impl AtHand {
    fn of(session: &Session) -> Self {
        let mut at_hand = AtHand { session: session.number, ..AtHand::none() };
        for (place, communicator) in at_hand.messages.iter_mut().zip(&session.messages) {
            *place = *communicator;
        }
        at_hand
    }

    fn none() -> Self {
        // SAFETY: a constant.
        AtHand { session: 0, messages: [unsafe { ffi::RSMPI_COMM_NULL }; AT_HAND] }
    }
}

impl Communicators {
    /// Duplicates the world. Collective.
    pub(super) fn open(world: ffi::MPI_Comm) -> Result<Self, Code> {
        let base = duplicate(world)?;
        // SAFETY: a communicator that was made just now.
        check(unsafe { ffi::MPI_Comm_set_errhandler(base, ffi::RSMPI_ERRORS_RETURN) })?;
        let tags = bits_of(greatest_tag(base)?);
        let silent = duplicate(base)?;
        Ok(Communicators { base, silent, tags, sessions: Vec::new(), at_hand: AtHand::none() })
    }

    /// The communicator that every rank has from the start.
    pub(super) fn base(&self) -> ffi::MPI_Comm {
        self.base
    }

    /// The communicator on which nobody ever sends.
    pub(super) fn silent(&self) -> ffi::MPI_Comm {
        self.silent
    }

    /// Makes the communicators of a session. Collective.
    pub(super) fn open_session(&mut self, number: u32, communicators: u16) -> Result<(), Code> {
        let messages = (0..communicators).map(|_| duplicate(self.base));
        let session = Session {
            number,
            messages: messages.collect::<Result<_, _>>()?,
            collective: duplicate(self.base)?,
            window: duplicate(self.base)?,
        };
        self.at_hand = AtHand::of(&session);
        self.sessions.push(session);
        Ok(())
    }

    /// Frees the communicators of a session that has ended, or was never opened.
    pub(super) fn end_session(&mut self, number: u32) -> Result<(), Code> {
        let Some(place) = self.sessions.iter().position(|session| session.number == number) else {
            return Ok(());
        };
        let Session { messages, collective, window, .. } = self.sessions.remove(place);
        self.at_hand = self.sessions.last().map_or_else(AtHand::none, AtHand::of);
        messages.into_iter().chain([collective, window]).try_for_each(free)
    }

    /// Frees what is left. Collective.
    pub(super) fn close(&mut self) -> Result<(), Code> {
        free(self.silent)?;
        free(self.base)
    }

    /// The communicator and the tag that an envelope has in MPI.
    #[inline(always)]
    pub(super) fn wire(&self, envelope: Envelope) -> (ffi::MPI_Comm, c_int) {
        let Envelope { tag, session, communicator } = envelope;
        if session == self.at_hand.session
            && let Some(&at_hand) = self.at_hand.messages.get(usize::from(communicator))
        {
            return (at_hand, tag);
        }
        self.wire_of_any(envelope)
    }

    fn wire_of_any(&self, envelope: Envelope) -> (ffi::MPI_Comm, c_int) {
        let Envelope { tag, session, communicator } = envelope;
        let channel = communicator & CHANNEL;
        if channel == CHANNEL {
            return (self.base, self.folded(session));
        }
        let session = self.session(session);
        match channel {
            MESSAGES => (session.messages[usize::from(communicator)], tag),
            COLLECTIVE => (session.collective, self.folded(tag.cast_unsigned())),
            WINDOW => (session.window, self.folded(tag.cast_unsigned())),
            _ => unreachable!("two bits have four values"),
        }
    }

    fn session(&self, number: u32) -> &Session {
        // The last one is nearly always the one.
        let mut sessions = self.sessions.iter().rev();
        sessions.find(|session| session.number == number).expect("a session sends while it is open")
    }

    /// A number that only has to differ from that of its neighbours, as a tag.
    fn folded(&self, number: u32) -> c_int {
        (number & self.tags).cast_signed()
    }
}

fn duplicate(communicator: ffi::MPI_Comm) -> Result<ffi::MPI_Comm, Code> {
    // SAFETY: only written to.
    let mut new = unsafe { ffi::RSMPI_COMM_NULL };
    // SAFETY: an open communicator, and a local for the new one.
    check(unsafe { ffi::MPI_Comm_dup(communicator, &raw mut new) })?;
    Ok(new)
}

fn free(mut communicator: ffi::MPI_Comm) -> Result<(), Code> {
    // SAFETY: an open communicator that nobody uses after this.
    check(unsafe { ffi::MPI_Comm_free(&raw mut communicator) })
}

/// MPI 3.1, 8.1.2: at least 32767.
fn greatest_tag(communicator: ffi::MPI_Comm) -> Result<c_int, Code> {
    let mut value: *mut c_void = std::ptr::null_mut();
    let mut found = 0;
    let key = ffi::MPI_TAG_UB as c_int;
    // SAFETY: an open communicator, and locals for the answer.
    check(unsafe {
        ffi::MPI_Comm_get_attr(communicator, key, (&raw mut value).cast(), &raw mut found)
    })?;
    if found == 0 || value.is_null() {
        return Ok(i16::MAX.into());
    }
    // SAFETY: for this key MPI gives the address of an `int`.
    Ok(unsafe { *value.cast::<c_int>() })
}

/// As many low bits as numbers up to `greatest` can have in every combination.
fn bits_of(greatest: c_int) -> u32 {
    let numbers = u64::from(greatest.max(0).cast_unsigned()) + 1;
    ((1_u64 << numbers.ilog2()) - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::bits_of;

    #[test]
    fn folded_tags_are_never_greater_than_the_greatest() {
        assert_eq!(bits_of(i32::MAX), 0x7fff_ffff);
        assert_eq!(bits_of(268_435_455), 0x0fff_ffff);
        assert_eq!(bits_of(32767), 0x7fff);
        assert_eq!(bits_of(32768), 0x7fff);
        assert_eq!(bits_of(100_000), 0xffff);
    }
}
