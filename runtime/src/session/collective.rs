//! Operations of all ranks together, made of messages.
//!
//! The messages of a collective operation have a channel of their own, and their tag is made from
//! what the operation is, its root, and how many came before it on its communicator; so the k-th
//! operation of each rank meets the k-th of the others, and where ranks call different ones no
//! message is matched: they wait, and the verdict names them.

#![allow(unsafe_code)]

use p2p_protocol::model::CollectiveKind;

use super::{Channel, Landing, Mode, Operation, Plain, Receive, Reduce, Result, Session, Status};
use crate::transport::{Collective, Envelope, Filter, Lending, Origin, Sent};

/// Up to so many ranks each sends its part to each; among more, the parts are collected first, so
/// that a rank sends few messages.
const MOST_TO_EACH: usize = 16;

/// One call of a collective operation.
#[derive(Clone, Copy)]
struct Call {
    operation: &'static Operation,
    envelope: Envelope,
}

impl Session<'_> {
    fn call(
        &mut self,
        operation: &'static Operation,
        kind: CollectiveKind,
        root: Option<usize>,
    ) -> Call {
        let communicator = usize::from(operation.communicator);
        if self.collectives.len() <= communicator {
            self.collectives.resize(communicator + 1, 0);
        }
        let number = self.collectives[communicator];
        self.collectives[communicator] = number.wrapping_add(1);
        self.endpoint.borrow_mut().enter_collective(
            operation,
            Collective { session: self.number, communicator: operation.communicator, number, root },
        );
        let root = root.map_or(0, |root| root as u32 & 0xfff);
        let tag = (number << 16 | root << 4 | kind as u32).cast_signed();
        Call { operation, envelope: self.envelope(operation, Channel::Collective, tag) }
    }

    fn pass<T: Plain>(&self, call: Call, mode: Mode, peer: usize, data: &[T]) -> Result<()> {
        let mut endpoint = self.endpoint.borrow_mut();
        let data = Lending::Borrowed(data.as_ptr(), data.len());
        // SAFETY: `data` outlives this call.
        unsafe { endpoint.send(call.operation, mode, peer, call.envelope, data) }
    }

    fn take<T: Plain>(&self, call: Call, source: usize, landing: Landing<'_, T>) -> Result<Status> {
        let filter = Filter { source: Origin::Rank(source), envelope: call.envelope };
        self.endpoint.borrow_mut().receive_landing(call.operation, filter, landing)
    }

    /// Receives a part that must fill `part`.
    fn take_part<T: Plain>(&self, call: Call, source: usize, part: &mut [T]) -> Result<()> {
        let needed = part.len();
        let status = self.take(call, source, Landing::Slice(part))?;
        if status.count == needed {
            return Ok(());
        }
        let expected = format!("{needed} from rank {source}, as this rank has,");
        Err(self.wrong_length(call.operation, status.count, expected))
    }

    /// Returns when every rank has called it.
    pub fn barrier(&mut self, operation: &'static Operation) -> Result<()> {
        let call = self.call(operation, CollectiveKind::Barrier, None);
        self.meet(call)
    }

    pub(super) fn fence_meeting(&mut self, operation: &'static Operation) -> Result<()> {
        let call = self.call(operation, CollectiveKind::Fence, None);
        self.meet(call)
    }

    /// In each round every rank hears from one twice as far away; after the last it has heard,
    /// directly or not, from all.
    fn meet(&self, call: Call) -> Result<()> {
        let mut distance = 1;
        while distance < self.size {
            let ahead = (self.rank + distance) % self.size;
            let behind = (self.rank + self.size - distance) % self.size;
            self.pass::<u8>(call, Mode::Buffered, ahead, &[])?;
            self.take::<u8>(call, behind, Landing::Slice(&mut []))?;
            distance *= 2;
        }
        Ok(())
    }

    /// Gives every rank what `root` has in `buffer`. Elsewhere it is received as by
    /// [`Session::recv`].
    pub fn bcast<T: Plain, R: Receive<T>>(
        &mut self,
        operation: &'static Operation,
        root: i64,
        mut buffer: R,
    ) -> Result<R::Output> {
        let root = self.peer(operation, root)?;
        let call = self.call(operation, CollectiveKind::Bcast, Some(root));
        let count = self.spread(call, root, &mut buffer)?;
        buffer
            .finish(count)
            .map_err(|needed| self.wrong_length(operation, count, needed.to_string()))
    }

    /// Down a binomial tree with `root` at its top; returns how many elements there are.
    fn spread<T: Plain, R: Receive<T>>(
        &self,
        call: Call,
        root: usize,
        buffer: &mut R,
    ) -> Result<usize> {
        let place = (self.rank + self.size - root) % self.size;
        let at = |place: usize| (place + root) % self.size;
        let mut below = 1;
        while below < self.size && place & below == 0 {
            below *= 2;
        }
        let mut count = None;
        if place != 0 {
            count = Some(self.take(call, at(place - below), buffer.landing())?.count);
        }
        let data: &[T] = match buffer.landing() {
            Landing::Slice(slice) => slice,
            Landing::Vec(vec) => vec,
        };
        let data = &data[..count.unwrap_or(data.len())];
        while below > 1 {
            below /= 2;
            if place + below < self.size {
                self.pass(call, Mode::Standard, at(place + below), data)?;
            }
        }
        Ok(data.len())
    }

    /// Cuts `parts` of `root` into one part for each rank, and gives each its own; elsewhere
    /// `parts` is not looked at.
    pub fn scatter<T: Plain, R: Receive<T>>(
        &mut self,
        operation: &'static Operation,
        root: i64,
        parts: &[T],
        mut buffer: R,
    ) -> Result<R::Output> {
        let root = self.peer(operation, root)?;
        let call = self.call(operation, CollectiveKind::Scatter, Some(root));
        let count = if self.rank == root {
            let length = self.part_length(operation, parts.len())?;
            for peer in (0..self.size).filter(|&peer| peer != root) {
                self.pass(call, Mode::Standard, peer, &parts[peer * length..][..length])?;
            }
            // To itself, by the same way as to the others, so that lengths are judged alike.
            self.pass(call, Mode::Buffered, root, &parts[root * length..][..length])?;
            self.take(call, root, buffer.landing())?.count
        } else {
            self.take(call, root, buffer.landing())?.count
        };
        buffer
            .finish(count)
            .map_err(|needed| self.wrong_length(operation, count, needed.to_string()))
    }

    fn part_length(&self, operation: &'static Operation, length: usize) -> Result<usize> {
        if length.is_multiple_of(self.size) {
            return Ok(length / self.size);
        }
        let expected = format!("a multiple of {}, one part for each rank,", self.size);
        Err(self.wrong_length(operation, length, expected))
    }

    /// Gives `root` the parts of all ranks, in the order of ranks; the others get an empty `Vec`.
    /// All parts have one length.
    pub fn gather<T: Plain>(
        &mut self,
        operation: &'static Operation,
        root: i64,
        part: &[T],
    ) -> Result<Vec<T>> {
        let root = self.peer(operation, root)?;
        let call = self.call(operation, CollectiveKind::Gather, Some(root));
        self.collect(call, root, part)
    }

    fn collect<T: Plain>(&self, call: Call, root: usize, part: &[T]) -> Result<Vec<T>> {
        if self.rank != root {
            self.pass(call, Mode::Standard, root, part)?;
            return Ok(Vec::new());
        }
        let mut all = vec![T::zero(); part.len() * self.size];
        for source in 0..self.size {
            let place = &mut all[source * part.len()..][..part.len()];
            if source == root {
                place.copy_from_slice(part);
            } else {
                self.take_part(call, source, place)?;
            }
        }
        Ok(all)
    }

    /// Gives every rank the parts of all ranks, in the order of ranks. All parts have one length.
    pub fn all_gather<T: Plain>(
        &mut self,
        operation: &'static Operation,
        part: &[T],
    ) -> Result<Vec<T>> {
        let call = self.call(operation, CollectiveKind::AllGather, None);
        if self.size <= MOST_TO_EACH {
            return self.to_each(call, part.len(), |_| part);
        }
        let mut all = self.collect(call, 0, part)?;
        self.spread(call, 0, &mut &mut all)?;
        Ok(all)
    }

    /// Combines the elements of all ranks, place by place and in the order of ranks, and puts the
    /// result into `data` of `root`; elsewhere `data` stays as it was.
    pub fn reduce<T: Plain>(
        &mut self,
        operation: &'static Operation,
        root: i64,
        data: &mut [T],
        reduce: impl Reduce<T>,
    ) -> Result<()> {
        let root = self.peer(operation, root)?;
        let call = self.call(operation, CollectiveKind::Reduce, Some(root));
        let combined = self.combine(call, data, reduce)?;
        match (self.rank == 0, self.rank == root) {
            (true, true) => data.copy_from_slice(&combined),
            (true, false) => self.pass(call, Mode::Standard, root, &combined)?,
            (false, true) => self.take_part(call, 0, data)?,
            (false, false) => {}
        }
        Ok(())
    }

    /// Combines as [`Session::reduce`] does, and gives every rank the result.
    pub fn all_reduce<T: Plain>(
        &mut self,
        operation: &'static Operation,
        data: &mut [T],
        reduce: impl Reduce<T>,
    ) -> Result<()> {
        let call = self.call(operation, CollectiveKind::AllReduce, None);
        if self.size.is_power_of_two() {
            return self.combine_everywhere(call, data, reduce);
        }
        let combined = self.combine(call, data, reduce)?;
        if self.rank == 0 {
            data.copy_from_slice(&combined);
        }
        self.spread(call, 0, &mut &mut *data)?;
        Ok(())
    }

    /// Up a binomial tree with rank 0 at its top, which has the result; a rank combines with
    /// higher ranks only, and with nearer ones first, so the order is that of ranks.
    fn combine<T: Plain>(&self, call: Call, data: &[T], reduce: impl Reduce<T>) -> Result<Vec<T>> {
        let mut combined = data.to_vec();
        let mut other = data.to_vec();
        let mut distance = 1;
        while distance < self.size {
            if self.rank & distance != 0 {
                self.pass(call, Mode::Standard, self.rank - distance, &combined)?;
                break;
            }
            if self.rank + distance < self.size {
                self.take_part(call, self.rank + distance, &mut other)?;
                for (lower, &higher) in combined.iter_mut().zip(&other) {
                    *lower = reduce.combine(*lower, higher);
                }
            }
            distance *= 2;
        }
        Ok(combined)
    }

    /// In each round every rank exchanges what it has with one twice as far away, and both combine
    /// it in the order of ranks: the same values in the same order as [`Session::combine`], on every
    /// rank. The size is a power of two.
    fn combine_everywhere<T: Plain>(
        &self,
        call: Call,
        data: &mut [T],
        reduce: impl Reduce<T>,
    ) -> Result<()> {
        let mut other = data.to_vec();
        let mut distance = 1;
        while distance < self.size {
            let peer = self.rank ^ distance;
            self.trade(call, peer, data, &mut other)?;
            for (own, &theirs) in data.iter_mut().zip(&other) {
                *own = match self.rank < peer {
                    true => reduce.combine(*own, theirs),
                    false => reduce.combine(theirs, *own),
                };
            }
            distance *= 2;
        }
        Ok(())
    }

    /// Sends `own` to a rank that sends as much to this one.
    fn trade<T: Plain>(&self, call: Call, peer: usize, own: &[T], other: &mut [T]) -> Result<()> {
        let mut endpoint = self.endpoint.borrow_mut();
        let data = Lending::Borrowed(own.as_ptr(), own.len());
        // SAFETY: `own` is borrowed for this call, which leaves the send complete or cancelled, and
        // nothing between here and there unwinds.
        let sent = unsafe {
            let mode = Mode::Standard;
            endpoint.start_send(call.operation, mode, peer, call.envelope, data)
        }?;
        drop(endpoint);
        let taken = self.take_part(call, peer, other);
        let mut endpoint = self.endpoint.borrow_mut();
        match taken {
            Ok(()) => endpoint.finish_send(call.operation, sent),
            Err(error) => {
                endpoint.cancel_send(sent);
                Err(error)
            }
        }
    }

    /// Cuts `parts` into one part for each rank; every rank gets the parts that are for it, in the
    /// order of ranks. All parts have one length.
    pub fn all_to_all<T: Plain>(
        &mut self,
        operation: &'static Operation,
        parts: &[T],
    ) -> Result<Vec<T>> {
        let call = self.call(operation, CollectiveKind::AllToAll, None);
        let length = self.part_length(operation, parts.len())?;
        self.to_each(call, length, |peer| &parts[peer * length..][..length])
    }

    /// Gives each rank a part of this length, and gets as much from each.
    fn to_each<'p, T: Plain>(
        &self,
        call: Call,
        length: usize,
        part: impl Fn(usize) -> &'p [T],
    ) -> Result<Vec<T>> {
        let mut sent: Vec<Sent> = Vec::with_capacity(self.size);
        let result = self.exchange(call, length, part, &mut sent);
        // Whatever went wrong, nobody may read from the parts after this.
        sent.into_iter().for_each(|sent| self.endpoint.borrow_mut().cancel_send(sent));
        result
    }

    fn exchange<'p, T: Plain>(
        &self,
        call: Call,
        length: usize,
        part: impl Fn(usize) -> &'p [T],
        sent: &mut Vec<Sent>,
    ) -> Result<Vec<T>> {
        // Not all to the same rank at once.
        let others = || (1..self.size).map(|distance| (self.rank + distance) % self.size);
        for peer in others() {
            let part = Lending::Borrowed(part(peer).as_ptr(), length);
            let mut endpoint = self.endpoint.borrow_mut();
            // SAFETY: the caller borrows the parts until it has cancelled what is in `sent`, and
            // nothing between here and there unwinds.
            let one = unsafe {
                let mode = Mode::Standard;
                endpoint.start_send(call.operation, mode, peer, call.envelope, part)
            };
            sent.push(one?);
        }
        let mut all = vec![T::zero(); length * self.size];
        self.endpoint.borrow().prepare(&mut all);
        all[self.rank * length..][..length].copy_from_slice(part(self.rank));
        for source in others() {
            self.take_part(call, source, &mut all[source * length..][..length])?;
        }
        for one in sent.drain(..) {
            self.endpoint.borrow_mut().finish_send(call.operation, one)?;
        }
        Ok(all)
    }
}
