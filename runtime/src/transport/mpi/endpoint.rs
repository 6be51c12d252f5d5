//! One rank's end: what it has under way, and what it says of itself.

use super::bulk::Bulk;
use super::code::Code;
use super::communicators::Communicators;
use super::matching::Announced;
use super::receive::Receives;
use super::send::Sends;
use super::several::Several;
use super::wait::Testing;
use super::watch::Watch;
use crate::error::{Error, Result, Step};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::transport::waiting::Collective;

/// See the module. One for each process, on the thread that has started MPI.
pub(crate) struct Endpoint {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) communicators: Communicators,
    pub(super) bulk: Bulk,
    pub(super) watch: Option<Watch>,
    /// Whether this rank's node has more ranks than cores.
    pub(super) crowded: bool,
    /// Whether waits look again and again in any case, because they are watched, so that other ranks
    /// can run in between, or because a request has failed while others went on: Open MPI leaves those
    /// tied to the wait that is over, and another one for them may never end.
    pub(super) looks: bool,
    pub(super) sends: Sends,
    pub(super) receives: Receives,
    /// Headers that a probe had to take, in the order in which they came.
    pub(super) announced: Vec<Announced>,
    /// Whether this rank has ever sent itself a message.
    pub(super) talks_to_itself: bool,
    pub(super) several: Several,
    step: Option<&'static Operation>,
    /// The collective operation that the rank is in, whose messages it waits for.
    pub(super) collective: Option<Collective>,
    /// What the watch is to know of tests in vain, if there is a watch.
    pub(super) testing: Option<Testing>,
    /// How many tests in a row were in vain.
    pub(super) failed_tests: u32,
    begun: u32,
}

impl Endpoint {
    pub(super) fn new(
        (rank, size): (usize, usize),
        communicators: Communicators,
        bulk: Bulk,
        watch: Option<Watch>,
        crowded: bool,
    ) -> Self {
        Endpoint {
            looks: crowded || watch.is_some(),
            crowded,
            rank,
            size,
            communicators,
            bulk,
            watch,
            sends: Sends::default(),
            receives: Receives::default(),
            announced: Vec::new(),
            talks_to_itself: false,
            several: Several::default(),
            step: None,
            collective: None,
            testing: None,
            failed_tests: 0,
            begun: 0,
        }
    }

    /// From now on this rank's messages travel by `policy`.
    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.bulk.set_policy(policy);
    }

    /// This rank: `0..size`.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The last operation.
    pub(crate) fn step(&self) -> Step {
        Step(self.step)
    }

    /// Every operation begins here.
    #[inline]
    pub(crate) fn enter(&mut self, operation: &'static Operation) {
        self.step = Some(operation);
        // Not written where it need not be: writes wait behind those to what the ranks share.
        if self.collective.is_some() {
            self.collective = None;
        }
        if self.failed_tests > 0 {
            self.stops_testing();
        }
    }

    /// Every collective operation begins here.
    pub(crate) fn enter_collective(&mut self, operation: &'static Operation, call: Collective) {
        self.enter(operation);
        self.collective = Some(call);
        if let Some(watch) = &mut self.watch {
            watch.enter(call);
        }
    }

    /// Every test begins here: testing goes on.
    pub(super) fn enter_test(&mut self, operation: &'static Operation) {
        self.step = Some(operation);
    }

    /// Begins a session.
    pub(crate) fn begin_session(&mut self) -> u32 {
        self.begun += 1;
        self.begun
    }

    /// Makes the communicators of a session. Collective.
    pub(crate) fn open_session(
        &mut self,
        session: u32,
        join: &'static Operation,
        communicators: u16,
    ) -> Result<()> {
        let opened = self.communicators.open_session(session, communicators);
        opened.map_err(|code| self.failed(join, code))
    }

    /// Ends a session.
    pub(crate) fn end_session(&mut self, session: u32) {
        if let Err(code) = self.communicators.end_session(session) {
            self.abort(&format!("rank {} cannot free a communicator: {code}", self.rank));
        }
    }

    /// This rank has left the program's closure; its last operation.
    pub(crate) fn end(&mut self) -> Step {
        self.step()
    }

    /// What a call that MPI has refused is to the program.
    #[cold]
    pub(super) fn failed(&self, operation: &'static Operation, code: Code) -> Error {
        Error::Mpi { rank: self.rank, reason: code.to_string(), at: Step(Some(operation)) }
    }
}
