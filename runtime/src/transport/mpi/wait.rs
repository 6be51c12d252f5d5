//! Waiting: inside of MPI where MPI alone can complete what is waited for, and otherwise by
//! looking again and again.

use std::thread::yield_now;
use std::time::{Duration, Instant};

use super::calls;
use super::code::Code;
use super::endpoint::Endpoint;
use super::receive::Stage;
use super::several::Several;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::transport::message::Origin;
use crate::transport::started::{Enough, Pending, Posted, Receipt, ReceiveId, Sent};
use crate::transport::waiting::{Half, Waiting, What};

/// How often a wait looks before it lets others have the core each time; and where there are more
/// ranks than cores.
const LOOKS_BEFORE_YIELD: u32 = 1000;
const LOOKS_IN_A_CROWD: u32 = 10;
/// The same for tests of the program's own.
const TESTS_BEFORE_YIELD: u32 = 64;
/// Tests are as good as a wait if there is no longer pause between any two of them, and at most one
/// in so many parts of the time passes between them. A program that computes and tests now and then,
/// perhaps only to let messages go on, does not wait.
const PAUSE: Duration = Duration::from_millis(200);
const PART: u32 = 4;
/// How long an operation may still take that the program has given up.
const SOON: Duration = Duration::from_secs(1);

/// Tests in vain, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Testing {
    since: Instant,
    last: Instant,
    /// How much time has passed between them.
    between: Duration,
}

impl Testing {
    fn is_all_there_is(&self) -> bool {
        self.between * PART < self.last.duration_since(self.since)
    }
}

/// What was started, each by its own operation.
type Started<'a> = (&'static Operation, &'a Pending);

impl Endpoint {
    /// Whether nothing is under way that needs more than MPI's own progress: then a wait may as
    /// well be one call of MPI.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !self.looks
            && self.receives.roomy == 0
            && self.receives.unmatched.is_empty()
            && self.bulk.is_idle()
    }

    /// Moves everything that can be moved now.
    pub(super) fn progress(&mut self, operation: &'static Operation) -> Result<()> {
        let mut move_all = || {
            self.bulk.progress()?;
            self.progress_sends()?;
            self.progress_receives()
        };
        move_all().map_err(|code| self.failed(operation, code))
    }

    /// Waits until `ready`, looking again and again. `what` says what it waits in, in case that
    /// never comes.
    pub(super) fn wait_until(
        &mut self,
        operation: &'static Operation,
        what: &dyn Fn(&Endpoint) -> What,
        ready: &mut dyn FnMut(&mut Endpoint) -> Result<bool, Code>,
    ) -> Result<()> {
        let patience = if self.crowded { LOOKS_IN_A_CROWD } else { LOOKS_BEFORE_YIELD };
        let mut looks = 0_u32;
        let mut since = None;
        loop {
            self.progress(operation)?;
            if ready(self).map_err(|code| self.failed(operation, code))? {
                return self.goes_on(operation);
            }
            looks = looks.saturating_add(1);
            if looks > patience {
                yield_now();
                calls::let_mpi_work(self.communicators.silent())
                    .map_err(|code| self.failed(operation, code))?;
                self.say_that_it_waits(operation, *since.get_or_insert_with(Instant::now), what)?;
            }
        }
    }

    /// Tells the watch, if there is one. If it finds that nothing moves anywhere, the job ends.
    fn say_that_it_waits(
        &mut self,
        operation: &'static Operation,
        since: Instant,
        what: &dyn Fn(&Endpoint) -> What,
    ) -> Result<()> {
        let Some(mut watch) = self.watch.take() else { return Ok(()) };
        let since = self.bulk.last_moved().map_or(since, |moved| moved.max(since));
        let seen = watch.waiting(since, || {
            let what = self.collective.map_or_else(|| what(self), What::Collective);
            Waiting { operation, what }
        });
        self.watch = Some(watch);
        match seen {
            Ok(None) => Ok(()),
            Ok(Some(report)) => self.abort(&Error::Deadlock(report).to_string()),
            Err(code) => Err(self.failed(operation, code)),
        }
    }

    fn goes_on(&mut self, operation: &'static Operation) -> Result<()> {
        let told = self.watch.as_mut().map_or(Ok(()), |watch| watch.goes_on());
        told.map_err(|code| self.failed(operation, code))
    }

    /// Waits until all of what was started is complete.
    #[inline]
    pub(super) fn complete<'a>(
        &mut self,
        operation: &'static Operation,
        started: impl Iterator<Item = Started<'a>> + Clone,
        what: &dyn Fn(&Endpoint) -> What,
    ) -> Result<()> {
        if self.is_plain() && self.wait_in_mpi(operation, started.clone())? {
            return Ok(());
        }
        let all_complete =
            |endpoint: &Endpoint| started.clone().all(|(_, pending)| endpoint.is_complete(pending));
        if all_complete(self) {
            return Ok(());
        }
        self.wait_until(operation, what, &mut |endpoint| Ok(all_complete(endpoint)))
    }

    /// Waits for all requests in one call; whether that was all. It is not where a header has come.
    #[inline]
    fn wait_in_mpi<'a>(
        &mut self,
        operation: &'static Operation,
        started: impl Iterator<Item = Started<'a>> + Clone,
    ) -> Result<bool> {
        let mut several = std::mem::take(&mut self.several);
        several.requests.clear();
        several.requests.extend(started.clone().filter_map(|(_, pending)| self.request(pending)));
        let waited = match several.requests.len() {
            0 => Ok(()),
            count => several.wait_for(0..count),
        };
        self.looks |= several.some_failed();
        let mut all = waited.is_ok();
        if all {
            let mut place = 0;
            for (_, pending) in started {
                all &= match self.request(pending) {
                    Some(_) => {
                        place += 1;
                        self.settle_request(pending, &several, place - 1)
                    }
                    None => self.is_complete(pending),
                };
            }
        }
        self.several = several;
        waited.map(|()| all).map_err(|code| self.failed(operation, code))
    }

    /// What MPI has of an operation that is not complete.
    #[inline(always)]
    fn request(&self, pending: &Pending) -> Option<mpi::ffi::MPI_Request> {
        match pending {
            Pending::Send(Sent { receipt: Receipt::Quick(send), .. }) => send.request(),
            Pending::Send(Sent { receipt: Receipt::Request(number), .. }) => {
                let request = self.sends.started[*number].request;
                (request != calls::no_request()).then_some(request)
            }
            Pending::Send(_) => None,
            Pending::Receive(Posted::Quick(receive)) => receive.request(),
            Pending::Receive(Posted::Numbered(id)) => match self.receives.posted[id.0].stage {
                Stage::Posted(request) => Some(request),
                _ => None,
            },
        }
    }

    /// Writes down what has come of a request; whether that was all of the operation.
    #[inline(always)]
    fn settle_request(&mut self, pending: &Pending, several: &Several, place: usize) -> bool {
        if several.is_pending(place) {
            return false;
        }
        match pending {
            // MPI has nothing to refuse once a send was accepted.
            Pending::Send(sent) => match &sent.receipt {
                Receipt::Quick(send) => send.settle(),
                Receipt::Request(number) => {
                    self.sends.started[*number].request = calls::no_request();
                    return self.is_sent(*number);
                }
                Receipt::Complete | Receipt::Lent(_) => {}
            },
            Pending::Receive(Posted::Quick(receive)) => receive.settle(several, place),
            Pending::Receive(Posted::Numbered(id)) => {
                self.settle_arrival(id.0, several.outcome(place));
                return self.is_received(*id);
            }
        }
        true
    }

    /// Waits until enough of what was started, each by its own operation, is complete.
    pub(crate) fn wait_for<'a>(
        &mut self,
        operation: &'static Operation,
        started: impl Iterator<Item = Started<'a>> + Clone,
        enough: Enough,
    ) -> Result<()> {
        let what = |endpoint: &Endpoint| {
            let missing = started.clone().filter(|(_, pending)| !endpoint.is_complete(pending));
            What::Requests(missing.map(|(by, pending)| endpoint.half(by, pending)).collect())
        };
        if enough == Enough::All {
            return self.complete(operation, started.clone(), &what);
        }
        let all = started.clone().count();
        self.wait_until(operation, &what, &mut |endpoint| {
            let started = started.clone();
            let complete = started.filter(|(_, pending)| endpoint.is_complete(pending)).count();
            Ok(enough.is_reached(complete, all))
        })
    }

    /// Waits until a send and a receive are both complete.
    pub(crate) fn wait_for_both(
        &mut self,
        (send, sending): Started<'_>,
        (receive, receiving): Started<'_>,
    ) -> Result<()> {
        let started = [(send, sending), (receive, receiving)];
        self.complete(send, started.into_iter(), &|endpoint| What::SendReceive {
            send: endpoint.half(send, sending),
            receive: endpoint.half(receive, receiving),
        })
    }

    /// Whether it is complete, as far as was seen when this rank last looked.
    #[inline(always)]
    pub(crate) fn is_complete(&self, pending: &Pending) -> bool {
        match pending {
            Pending::Send(sent) => self.is_sent_off(sent),
            Pending::Receive(Posted::Quick(receive)) => receive.is_complete(),
            Pending::Receive(Posted::Numbered(id)) => self.is_received(*id),
        }
    }

    #[inline(always)]
    pub(super) fn is_sent_off(&self, sent: &Sent) -> bool {
        match &sent.receipt {
            Receipt::Quick(send) => send.is_complete(),
            Receipt::Request(number) => self.is_sent(*number),
            Receipt::Complete | Receipt::Lent(_) => true,
        }
    }

    fn half(&self, operation: &'static Operation, pending: &Pending) -> Half {
        match pending {
            Pending::Send(sent) => Half::to(operation, sent.peer, sent.standard),
            Pending::Receive(Posted::Numbered(id)) => {
                Half::from(operation, &self.receives.posted[id.0].filter.source)
            }
            // There are none where anybody asks.
            Pending::Receive(Posted::Quick(_)) => Half::from(operation, &Origin::Any(0..self.size)),
        }
    }

    /// Whether it is complete now.
    pub(crate) fn test(
        &mut self,
        operation: &'static Operation,
        (by, pending): Started<'_>,
    ) -> Result<bool> {
        let begun = self.watch.as_ref().map(|_| Instant::now());
        self.enter_test(operation);
        self.progress(operation)?;
        if self.is_complete(pending) {
            self.enter(operation);
            self.goes_on(operation)?;
            return Ok(true);
        }
        self.failed_tests = self.failed_tests.saturating_add(1);
        let tests_on = self.failed_tests > TESTS_BEFORE_YIELD;
        if tests_on || begun.is_some() {
            calls::let_mpi_work(self.communicators.silent())
                .map_err(|code| self.failed(operation, code))?;
        }
        if tests_on {
            yield_now();
        }
        if let Some(begun) = begun {
            self.say_that_it_tests(operation, begun, &|endpoint| {
                What::Requests(vec![endpoint.half(by, pending)])
            })?;
        }
        Ok(false)
    }

    /// Tells the watch of a test in vain, if the program does hardly anything else.
    fn say_that_it_tests(
        &mut self,
        operation: &'static Operation,
        begun: Instant,
        what: &dyn Fn(&Endpoint) -> What,
    ) -> Result<()> {
        let last = Instant::now();
        let testing = match self.testing {
            Some(testing) if begun.duration_since(testing.last) < PAUSE => {
                let between = testing.between + begun.duration_since(testing.last);
                Testing { between, last, ..testing }
            }
            _ => Testing { since: last, last, between: Duration::ZERO },
        };
        match testing.is_all_there_is() {
            true => self.say_that_it_waits(operation, testing.since, what)?,
            false => self.goes_on(operation)?,
        }
        self.testing = Some(Testing { last: Instant::now(), ..testing });
        Ok(())
    }

    /// The program does something else than test.
    #[cold]
    pub(super) fn stops_testing(&mut self) {
        self.failed_tests = 0;
        self.testing = None;
        if let Some(watch) = &mut self.watch {
            // If MPI refuses this, it refuses what comes next, and that is said.
            let _ = watch.goes_on();
        }
    }

    /// Waits until all copies of this rank are sent.
    pub(super) fn send_copies(&mut self, operation: &'static Operation) -> Result<()> {
        self.wait_until(operation, &|endpoint| What::Requests(endpoint.copies()), &mut |endpoint| {
            Ok(endpoint.copies().is_empty())
        })
    }

    /// Whether a send that nobody waits for is complete soon.
    pub(super) fn completes_soon(&mut self, sent: &Sent) -> bool {
        self.happens_soon(|endpoint| endpoint.is_sent_off(sent))
    }

    /// Whether a message that is on its way, and that nobody waits for, arrives soon.
    pub(super) fn arrives_soon(&mut self, id: ReceiveId) -> bool {
        self.happens_soon(|endpoint| endpoint.is_received(id))
    }

    fn happens_soon(&mut self, happened: impl Fn(&Endpoint) -> bool) -> bool {
        let start = Instant::now();
        while !happened(self) && start.elapsed() < SOON {
            let Some(operation) = self.step().operation() else { return false };
            if self.progress(operation).is_err() {
                return false;
            }
            yield_now();
        }
        happened(self)
    }
}
