//! Messages that have come and receives that are posted find each other here.
//!
//! Messages of one source stay in their order: in the queue until a receive wants something from
//! there, then, as far as no receive has taken them, in `unexpected`. Receives stay in the order of
//! posting. So each message goes to the first receive that accepts it, and each receive gets the
//! first message that it accepts (MPI 4.0, 3.5).

#![allow(unsafe_code)]

use super::endpoint::Endpoint;
use super::message::Message;
use crate::error::Result;
use crate::operation::{Operation, Status};
use crate::transport::message::{Filter, Origin, Target};
use crate::transport::started::{Posted, ReceiveId};

/// A receive that is posted and not finished.
pub(super) struct Receive {
    pub(super) filter: Filter,
    pub(super) target: Target,
    pub(super) operation: &'static Operation,
    pub(super) outcome: Option<Result<Status>>,
}

/// All receives of one rank that are posted and not finished.
#[derive(Default)]
pub(super) struct Receives {
    slots: Vec<Option<Receive>>,
    free: Vec<usize>,
    /// Those that are not matched, in the order of posting.
    pub(super) order: Vec<usize>,
    /// The source of which a receive from any has taken last; the next begins behind it, so that
    /// no source has to wait for ever while others send.
    last: usize,
}

impl Receives {
    pub(super) fn add(&mut self, posted: Receive) -> ReceiveId {
        let matched = posted.outcome.is_some();
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[index] = Some(posted);
        if !matched {
            self.order.push(index);
        }
        ReceiveId(index)
    }

    fn posted(&self, index: usize) -> &Receive {
        self.slots[index].as_ref().expect("a receive is there until it is finished")
    }

    /// Whether no receive wants a message from anybody but `source`.
    pub(super) fn all_from(&self, source: usize) -> bool {
        self.order
            .iter()
            .all(|&index| self.posted(index).filter.source.ranks() == (source..source + 1))
    }

    /// The first receive that wants a message from `source`, as a position in `order`; with
    /// `envelope` the first that accepts such a one.
    fn first(&self, source: usize, message: Option<&Message>) -> Option<usize> {
        self.order.iter().position(|&index| {
            let filter = &self.posted(index).filter;
            filter.source.accepts(source)
                && message.is_none_or(|message| filter.envelope == message.envelope)
        })
    }

    /// The sources that `from` accepts, the one that had its turn last at the end.
    fn sources(&self, from: &Origin) -> impl Iterator<Item = usize> + use<> {
        let ranks = from.ranks();
        let turn = if ranks.contains(&self.last) { self.last + 1 } else { ranks.start };
        (turn..ranks.end).chain(ranks.start..turn)
    }
}

impl Endpoint {
    /// Whether a posted receive has been matched.
    pub(super) fn is_received(&self, id: ReceiveId) -> bool {
        self.receives.posted(id.0).outcome.is_some()
    }

    /// Takes the outcome of a receive that is matched; `None` if it is not, which cancels it.
    pub(crate) fn finish_receive(
        &mut self,
        _: &'static Operation,
        posted: Posted,
        _: Target,
    ) -> Option<Result<Status>> {
        let id = posted.id();
        let receive = self.receives.slots[id.0].take()?;
        self.receives.free.push(id.0);
        if receive.outcome.is_none() {
            self.receives.order.retain(|&index| index != id.0);
        }
        receive.outcome
    }

    /// From whom a posted receive takes.
    pub(super) fn receives_from(&self, id: ReceiveId) -> &Origin {
        &self.receives.posted(id.0).filter.source
    }

    /// Matches what has come with the receives that are posted.
    pub(super) fn progress(&mut self) {
        match self.receives.order[..] {
            [] => {}
            [only] => {
                let from = &self.receives.posted(only).filter.source;
                self.receives.sources(from).for_each(|source| self.match_from(source));
            }
            _ => (0..self.shared.size).for_each(|source| self.match_from(source)),
        }
    }

    /// Looks at what has come from `source` while a receive wants something from there: each
    /// message goes to the first that accepts it, or is kept for later.
    fn match_from(&mut self, source: usize) {
        while self.receives.first(source, None).is_some()
            && let Some(message) = self.next_from(source)
        {
            match self.receives.first(source, Some(&message)) {
                Some(position) => self.fill(position, source, message),
                None => self.unexpected[source].push_back(message),
            }
        }
    }

    fn fill(&mut self, position: usize, source: usize, message: Message) {
        let index = self.receives.order[position];
        let posted = self.receives.posted(index);
        let (operation, target) = (posted.operation, posted.target);
        if let Some(outcome) = self.deliver(operation, source, message, &target) {
            self.receives.last = source;
            self.receives.order.remove(position);
            if let Some(posted) = &mut self.receives.slots[index] {
                posted.outcome = Some(outcome);
            }
        }
    }

    /// Gives a new receive the first message that it accepts of those that were kept.
    pub(super) fn take_unexpected(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
        target: &Target,
    ) -> Option<Result<Status>> {
        for source in self.receives.sources(&filter.source) {
            while let Some(message) = self.remove_unexpected(source, filter) {
                let outcome = self.deliver(operation, source, message, target);
                if outcome.is_some() {
                    self.receives.last = source;
                    return outcome;
                }
            }
        }
        None
    }

    fn remove_unexpected(&mut self, source: usize, filter: &Filter) -> Option<Message> {
        let messages = &mut self.unexpected[source];
        let accepted = |message: &Message| message.envelope == filter.envelope;
        let position = messages.iter().position(accepted)?;
        messages.remove(position)
    }

    /// Whether a message that `filter` accepts is there.
    pub(crate) fn has_message(&mut self, _: &'static Operation, filter: &Filter) -> Result<bool> {
        Ok(self.look(filter).is_some())
    }

    /// The first message that `filter` accepts and no posted receive does; it stays.
    pub(super) fn look(&mut self, filter: &Filter) -> Option<Status> {
        for source in self.receives.sources(&filter.source) {
            while let Some(message) = self.next_from(source) {
                match self.receives.first(source, Some(&message)) {
                    Some(position) => self.fill(position, source, message),
                    None => self.unexpected[source].push_back(message),
                }
            }
            let messages = self.unexpected[source].iter();
            let mut found = messages.filter(|message| message.envelope == filter.envelope);
            if let Some(message) = found.next() {
                return Some(Status { source, count: message.count });
            }
        }
        None
    }

    /// The next message from `source` that somebody may still receive.
    fn next_from(&self, source: usize) -> Option<Message> {
        let queue = self.shared.queue(source, self.rank)?;
        loop {
            // SAFETY: the endpoint of the receiving rank is the only one that peeks and pops, and
            // it is on one thread; a pop follows a peek that has shown a message.
            let message = unsafe { queue.peek().map(|_| queue.pop()) }?;
            if !self.is_over(message.envelope.session) {
                return Some(message);
            }
            self.drop_message(source, message);
        }
    }

    /// A message that nobody will receive.
    fn drop_message(&self, source: usize, message: Message) {
        if message.receipt.is_none()
            && let Some(queue) = self.shared.queue(source, self.rank)
        {
            queue.count_taken();
        }
    }

    /// Begins a session: a run of a protocol, whose messages meet no other's.
    pub(crate) fn begin_session(&mut self) -> u32 {
        self.begun += 1;
        self.sessions.push(self.begun);
        self.begun
    }

    /// Ends a session: messages that nobody received are dropped.
    pub(crate) fn end_session(&mut self, session: u32) {
        self.sessions.retain(|&other| other != session);
        for source in 0..self.shared.size {
            for message in std::mem::take(&mut self.unexpected[source]) {
                if message.envelope.session == session {
                    self.drop_message(source, message);
                } else {
                    self.unexpected[source].push_back(message);
                }
            }
        }
    }

    /// Whether messages of a session can no longer be received here.
    fn is_over(&self, session: u32) -> bool {
        session <= self.begun && !self.sessions.contains(&session)
    }
}
