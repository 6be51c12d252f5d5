//! The requests of a session that are under way or not yet waited for: each at a place, with its
//! buffer.
//!
//! A window of small messages is as fast as what is written and read for each; writes count most,
//! since they wait behind those to what the ranks share. So places are given out one after the other,
//! what MPI makes alone lies side by side there ([`Alone`]) and is waited for as it lies, nothing is
//! moved from place to place, and what a place has from its last request already is not written
//! again. What is waited for in any other way is taken out first, and then looked after one by one.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::requests::{Request, RequestId};
use super::{Operation, Result};
use crate::buffer::RawBuffer;
use crate::transport::{Alone, Lone, Pending, Planned};

/// A request, or a place for one.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// 0 where there is none.
    number: u64,
    pub(super) operation: &'static Operation,
    pub(super) started: Started,
    pub(super) buffer: RawBuffer,
    /// Drops the buffer that nobody asked back.
    pub(super) discard: unsafe fn(RawBuffer),
}

/// How it is known whether it is complete.
#[derive(Clone, Copy)]
pub(super) enum Started {
    /// By what lies at the same place of [`Requests::alone`].
    Alone(Lone),
    /// By what the endpoint says of what lies at the same place of [`Requests::pending`].
    Pending,
}

impl Slot {
    const FREE: Slot = Slot {
        number: 0,
        operation: &Operation::new("", "", "", 0, 0, "", 0, 0),
        started: Started::Pending,
        buffer: RawBuffer::NOTHING,
        discard: |_| (),
    };
}

/// What a session keeps of a plan. Which one a plan of the program means is a matter of speed only:
/// one that was made for something else is not used.
struct Plan {
    operation: &'static Operation,
    planned: Planned,
    /// What was started last.
    started: Option<RequestId>,
}

/// See the module.
pub(super) struct Requests {
    slots: Vec<Slot>,
    pub(super) alone: Alone,
    pending: Vec<Option<Pending>>,
    /// The place behind the last one that was given out.
    end: usize,
    /// Those before it that are free again.
    free: Vec<usize>,
    /// Together with `end` the number of the request whose place was given out last, which no other
    /// request of the process has: with each place that is given out one of the two grows by one.
    first: u64,
    /// Numbers from here on are others'.
    limit: u64,
    /// Whether there may be a place, since all were free, at which nothing is under way alone: it is
    /// complete, was taken out, or was never alone.
    some_settled: bool,
    plans: Vec<Plan>,
}

/// How many numbers a session takes at once.
const NUMBERS: u64 = 1 << 32;

impl Requests {
    pub(super) fn new() -> Self {
        Requests {
            slots: Vec::new(),
            alone: Alone::default(),
            pending: Vec::new(),
            end: 0,
            free: Vec::new(),
            first: 0,
            limit: 0,
            some_settled: false,
            plans: Vec::new(),
        }
    }

    /// A request that was not taken yet.
    #[inline(always)]
    pub(super) fn slot(&self, id: RequestId) -> Option<&Slot> {
        let slot = self.slots.get(id.place)?;
        (slot.number == id.number).then_some(slot)
    }

    /// What is known of a request that was not started alone, or was taken out.
    pub(super) fn pending(&self, id: RequestId) -> Option<(&'static Operation, &Pending)> {
        let slot = self.slot(id)?;
        Some((slot.operation, self.pending[id.place].as_ref()?))
    }

    /// Gives out a place, to be kept or released.
    #[inline(always)]
    pub(super) fn place(&mut self) -> usize {
        if let Some(place) = self.free.pop() {
            self.number_from(self.first + 1);
            return place;
        }
        let place = self.end;
        if place == self.slots.len() {
            self.grow();
        }
        self.end = place + 1;
        place
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.slots.len()).max(16);
        self.slots.resize(places, Slot::FREE);
        self.pending.resize_with(places, || None);
        self.alone.grow(places);
        self.number_from(self.first);
    }

    /// There are numbers for all places from here on.
    #[inline(always)]
    fn number_from(&mut self, first: u64) {
        self.first = first;
        if first + self.slots.len() as u64 >= self.limit {
            self.take_numbers();
        }
    }

    /// Keeps what was started alone at this place, the last one that was given out.
    ///
    /// # Safety
    ///
    /// `discard` may be called with the buffer once the operation is complete.
    #[inline(always)]
    pub(super) unsafe fn keep_alone<B>(
        &mut self,
        place: usize,
        operation: &'static Operation,
        lone: Lone,
        (buffer, discard): (RawBuffer, unsafe fn(RawBuffer)),
    ) -> Request<B> {
        let number = self.first + self.end as u64;
        let slot = &mut self.slots[place];
        slot.number = number;
        slot.started = Started::Alone(lone);
        slot.buffer.change(buffer);
        if !std::ptr::eq(slot.operation, operation) {
            slot.operation = operation;
        }
        if slot.discard as usize != discard as usize {
            slot.discard = discard;
        }
        Request { id: RequestId { number, place }, buffer: PhantomData }
    }

    /// Keeps what was started, at a place of its own.
    ///
    /// # Safety
    ///
    /// As for `keep_alone`.
    pub(super) unsafe fn keep_pending<B>(
        &mut self,
        operation: &'static Operation,
        pending: Pending,
        buffer: (RawBuffer, unsafe fn(RawBuffer)),
    ) -> Request<B> {
        let place = self.place();
        // SAFETY: the caller says so.
        let request = unsafe { self.keep_alone(place, operation, Lone::Receive, buffer) };
        self.slots[place].started = Started::Pending;
        self.pending[place] = Some(pending);
        self.settled();
        request
    }

    #[cold]
    fn take_numbers(&mut self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        assert!((self.slots.len() as u64) < NUMBERS, "no memory has so many requests");
        self.first = NEXT.fetch_add(NUMBERS, Ordering::Relaxed);
        self.limit = self.first + NUMBERS;
    }

    /// Takes a request that was not started alone, or was taken out.
    pub(super) fn take_pending(&mut self, id: RequestId) -> Option<(Slot, Pending)> {
        let slot = *self.slot(id)?;
        let pending = self.pending[id.place].take()?;
        self.release(id.place);
        Some((slot, pending))
    }

    /// From here on there is nothing at this place.
    #[inline(always)]
    pub(super) fn release(&mut self, place: usize) {
        self.slots[place].number = 0;
        self.free.push(place);
        self.start_anew_if_all_are_free();
    }

    /// The places of these requests, if all were started alone, none is complete, and they lie side
    /// by side in this order.
    #[inline(always)]
    pub(super) fn side_by_side(
        &self,
        ids: impl ExactSizeIterator<Item = RequestId> + Clone,
    ) -> Option<Range<usize>> {
        let first = ids.clone().next()?.place;
        let places = first..first + ids.len();
        let slots = self.slots.get(places.clone())?;
        let are_these = slots.iter().zip(ids).all(|(slot, id)| slot.number == id.number);
        // What is complete, or was taken out, is not there.
        let are_waiting = !self.some_settled || self.alone.are_waiting(places.clone());
        (are_these && are_waiting).then_some(places)
    }

    /// Something is not, or not any more, under way alone, and stays at its place until it is taken.
    #[inline(always)]
    pub(super) fn settled(&mut self) {
        self.some_settled = true;
    }

    /// Takes what lies at these places, one after the other.
    #[inline(always)]
    pub(super) fn take_side_by_side(
        &mut self,
        places: Range<usize>,
        mut take: impl FnMut(&Alone, usize, Lone, RawBuffer),
    ) {
        for (slot, place) in self.slots[places.clone()].iter_mut().zip(places.clone()) {
            slot.number = 0;
            if let Started::Alone(lone) = slot.started {
                take(&self.alone, place, lone, slot.buffer);
            }
        }
        // So that they are given out in this order again.
        self.free.extend(places.rev());
        self.start_anew_if_all_are_free();
    }

    /// Then places are given out in their order again.
    #[inline(always)]
    fn start_anew_if_all_are_free(&mut self) {
        if self.free.len() == self.end {
            self.free.clear();
            self.number_from(self.first + self.end as u64);
            self.end = 0;
            self.some_settled = false;
        }
    }

    /// Takes out those that were started alone.
    pub(super) fn take_out(&mut self, ids: impl Iterator<Item = RequestId>) {
        self.settled();
        for RequestId { number, place } in ids {
            if let Some(slot) = self.slots.get_mut(place)
                && slot.number == number
                && let Started::Alone(lone) = slot.started
            {
                slot.started = Started::Pending;
                self.pending[place] = Some(self.alone.take(lone, place));
            }
        }
    }

    /// Takes all that are left.
    pub(super) fn take_all(&mut self) -> Vec<(Slot, Pending)> {
        let places = 0..self.end;
        let left = places.map(|place| RequestId { number: self.slots[place].number, place });
        let left: Vec<RequestId> = left.filter(|id| id.number != 0).collect();
        self.take_out(left.iter().copied());
        left.into_iter().filter_map(|id| self.take_pending(id)).collect()
    }

    /// The plan of an operation: there is one, however often it is planned.
    pub(super) fn plan(&mut self, operation: &'static Operation) -> usize {
        let is_its = |plan: &Plan| std::ptr::eq(plan.operation, operation);
        self.plans.iter().position(is_its).unwrap_or_else(|| {
            self.plans.push(Plan { operation, planned: Planned::default(), started: None });
            self.plans.len() - 1
        })
    }

    /// Takes what is kept of a plan, to start it; `None` if what it has started is not waited for.
    pub(super) fn take_idle(&mut self, plan: usize) -> Option<Planned> {
        let started = self.plans.get(plan)?.started;
        let is_idle = started.is_none_or(|id| self.slot(id).is_none());
        is_idle.then(|| std::mem::take(&mut self.plans[plan].planned))
    }

    pub(super) fn put_back<B>(&mut self, plan: usize, planned: Planned, kept: &Result<Request<B>>) {
        self.plans[plan].planned = planned;
        self.plans[plan].started = kept.as_ref().ok().map(|request| request.id);
    }

    /// Forgets what is kept of plans, nothing of which is under way.
    pub(super) fn forget_plans(&mut self) {
        self.plans.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static OPERATION: Operation = Operation::new("isend", "isend", "", 0, 0, file!(), 1, 1);

    fn keep(requests: &mut Requests) -> RequestId {
        let (place, lone) = (requests.place(), Lone::Receive);
        let buffer: (RawBuffer, unsafe fn(RawBuffer)) = (RawBuffer::NOTHING, |_| ());
        // SAFETY: the function does nothing.
        unsafe { requests.keep_alone::<()>(place, &OPERATION, lone, buffer) }.id
    }

    #[test]
    fn places_are_given_out_one_after_the_other_and_again() {
        let mut requests = Requests::new();
        let first: Vec<_> = (0..20).map(|_| keep(&mut requests)).collect();
        assert!(first.iter().map(|id| id.place).eq(0..20));
        first.iter().for_each(|&id| requests.release(id.place));
        assert!(first.iter().all(|&id| requests.slot(id).is_none()));
        let kept = keep(&mut requests);
        for _ in 0..3 {
            let window: Vec<_> = (0..3).map(|_| keep(&mut requests)).collect();
            assert!(window.iter().map(|id| id.place).eq(1..4));
            let mut taken = Vec::new();
            requests.take_side_by_side(1..4, |_, place, _, _| taken.push(place));
            assert_eq!(taken, [1, 2, 3]);
            assert!(window.iter().all(|&id| requests.slot(id).is_none()));
        }
        assert!(requests.slot(kept).is_some());
    }

    #[test]
    fn no_two_requests_have_one_number() {
        let (mut one, mut two) = (Requests::new(), Requests::new());
        let numbers = [keep(&mut one), keep(&mut two), keep(&mut one)].map(|id| id.number);
        assert!(numbers[0] != numbers[1] && numbers[0] != numbers[2] && numbers[1] != numbers[2]);
        assert!(one.slot(keep(&mut two)).is_none());
    }
}
