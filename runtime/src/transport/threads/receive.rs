//! Receives: posted, matched and filled by the receiving rank itself.
//!
//! A posted receive holds a bare pointer to its buffer. Only this rank's thread follows it, only
//! inside calls into its endpoint, and not after the receive is finished or cancelled; so whoever
//! posts it has to keep the buffer in place and to itself until then, and nothing else.

#![allow(unsafe_code)]

use super::endpoint::Endpoint;
use super::matching::Receive;
use super::message::{Body, Message};
use crate::error::{Error, Result};
use crate::operation::{Operation, Status};
use crate::transport::message::{Envelope, Filter, Origin, Place, Target};
use crate::transport::started::Posted;
use crate::transport::waiting::{Half, What};

impl Endpoint {
    /// Posts a receive.
    ///
    /// # Safety
    ///
    /// What `target` points to stays in place, and nobody else looks at it, until the receive is
    /// finished or cancelled.
    pub(crate) unsafe fn post(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Posted> {
        let outcome = self.take_unexpected(operation, &filter, &target);
        let id = self.receives.add(Receive { filter, target, operation, outcome });
        if !self.is_received(id) {
            self.progress();
        }
        Ok(Posted::Numbered(id))
    }

    /// Receives one message.
    ///
    /// # Safety
    ///
    /// What `target` points to stays in place, and nobody else looks at it, during the call.
    #[inline]
    pub(crate) unsafe fn receive(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Status> {
        if let Origin::Rank(source) = filter.source
            && self.receives.order.is_empty()
            && self.unexpected[source].is_empty()
        {
            // SAFETY: the target is as the caller says.
            let outcome = unsafe { self.receive_next(operation, source, filter.envelope, &target) };
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
        // SAFETY: the caller keeps the target for the call, and the receive is finished in it.
        unsafe { self.receive_posted(operation, filter, target) }
    }

    /// Receives the next message from `source`, if it comes soon and is the right one. No receive
    /// is posted and nothing is kept from `source`, so it can be taken from the queue.
    ///
    /// # Safety
    ///
    /// As for [`Endpoint::receive`].
    #[inline]
    unsafe fn receive_next(
        &mut self,
        operation: &'static Operation,
        source: usize,
        envelope: Envelope,
        target: &Target,
    ) -> Option<Result<Status>> {
        let (shared, rank) = (&self.shared, self.rank);
        // SAFETY: the endpoint of the receiving rank is the only one that peeks and pops, and it is
        // on one thread.
        let next = self.patience.look(|| unsafe {
            let queue = shared.queue(source, rank)?;
            Some((queue, queue.peek()?))
        });
        let (queue, _) = next.filter(|(_, next)| *next == envelope)?;
        // SAFETY: as above, after a peek that has shown a message; the target is as the caller
        // says.
        let message = unsafe {
            if let Place::Slice { pointer, room } = target.place
                && let Some(count) = queue.pop_inline(target.element, pointer, room)
            {
                return Some(Ok(Status { source, count }));
            }
            queue.pop()
        };
        self.deliver(operation, source, message, target)
    }

    /// # Safety
    ///
    /// As for [`Endpoint::receive`].
    #[inline(never)]
    unsafe fn receive_posted(
        &mut self,
        operation: &'static Operation,
        filter: Filter,
        target: Target,
    ) -> Result<Status> {
        // SAFETY: the caller keeps the target for the call, and the receive is finished in it.
        let posted = unsafe { self.post(operation, filter, target) }?;
        let id = posted.id();
        let waited = self.wait_until(
            operation,
            |endpoint| What::Message(Half::from(operation, endpoint.receives_from(id))),
            |endpoint| {
                endpoint.progress();
                endpoint.is_received(id)
            },
        );
        let outcome = self.finish_receive(operation, posted, target);
        waited.and_then(|()| outcome.expect("the wait ends when it is received"))
    }

    /// Waits until a message that `filter` accepts is there, and leaves it.
    pub(crate) fn probe(
        &mut self,
        operation: &'static Operation,
        filter: &Filter,
    ) -> Result<Status> {
        let mut found = None;
        self.wait_until(
            operation,
            |_| What::Message(Half::from(operation, &filter.source)),
            |endpoint| {
                endpoint.progress();
                found = endpoint.look(filter);
                found.is_some()
            },
        )?;
        Ok(found.expect("the wait ends when it is found"))
    }

    /// Moves a message's elements to where they belong and tells the sender; `None` if the sender
    /// has taken it back.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        operation: &'static Operation,
        source: usize,
        message: Message,
        target: &Target,
    ) -> Option<Result<Status>> {
        let Message { element, count, body, receipt, .. } = message;
        if receipt.as_ref().is_some_and(|loan| !loan.take()) {
            return None;
        }
        let landed = if element.is(target.element) {
            // SAFETY: the types are equal; the target is valid by the contract of `post` and
            // `receive`; a lent buffer may be read, since its loan was just taken.
            unsafe { land(body, count, target) }.map_err(|room| Error::Truncated {
                sent: Some(count),
                room,
                rank: self.rank,
                source_rank: source,
                at: crate::error::Step(Some(operation)),
            })
        } else {
            Err(Error::WrongType {
                sent: element.name(),
                expected: target.element.name(),
                rank: self.rank,
                source_rank: source,
                at: crate::error::Step(Some(operation)),
            })
        };
        match receipt {
            Some(loan) => {
                loan.give_back();
                self.shared.sleepers[source].wake(self.rank, &self.shared.active);
            }
            None => {
                if let Some(queue) = self.shared.queue(source, self.rank) {
                    queue.count_taken();
                }
            }
        }
        Some(landed.map(|()| Status { source, count }))
    }
}

/// Copies or moves the elements; the room there was if it is too small.
///
/// # Safety
///
/// `target` is valid and of the message's type, and `body` may be read.
#[inline]
unsafe fn land(body: Body, count: usize, target: &Target) -> Result<(), usize> {
    let source: *const u8 = match &body {
        Body::Inline(words) => words.as_ptr().cast(),
        Body::Owned(owned) => owned.pointer,
        Body::Lent(pointer) => *pointer,
    };
    match target.place {
        Place::Slice { room, .. } if count > room => Err(room),
        Place::Slice { pointer, .. } => {
            let bytes = count * target.element.size;
            // SAFETY: both are valid for so many bytes, and the target is nobody else's; a rank
            // cannot lend what it also lets a receive write to.
            unsafe { std::ptr::copy_nonoverlapping(source, pointer, bytes) };
            Ok(())
        }
        Place::Vec(vec) => {
            match body {
                // SAFETY: the message's type is that of the target.
                Body::Owned(owned) => unsafe { vec.adopt(owned) },
                // SAFETY: as above; there is room for `count` elements, of which `source` has as
                // many; the copy is bytewise, so it need not be aligned.
                Body::Inline(_) | Body::Lent(_) => unsafe {
                    let room = vec.make_room(count);
                    let bytes = count * target.element.size;
                    std::ptr::copy_nonoverlapping(source, room.pointer, bytes);
                    vec.set_length(count);
                },
            }
            Ok(())
        }
    }
}
