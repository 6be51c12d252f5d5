//! Which message meets which receive (MPI 4.0, 3.5 "Semantics of Point-to-Point Communication").
//!
//! A channel holds what one source has sent to one destination on one communicator and no receive
//! has taken, and the receives for that source that no message has met. Receives that take more
//! than one source stand in a list of their rank. What must match is matched at once; a wildcard
//! is matched by an option, and bars the messages that it accepts from all receives posted later.

use std::rc::Rc;

use super::channel::{Channel, NONE};
use super::{Machine, Met, RequestStatus, Status, Unmatched, envelope};
use crate::engine::evidence::At;
use crate::engine::trace::Deed;
use crate::model::{CommunicatorId, Envelope, LabelId, Peer, Position, Rank, RequestId, Tag};

/// An operation that has been started and not matched: an index into [`Machine::pending`].
pub(in crate::engine) type PendingId = u32;

/// What an operation completes when it is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completes {
    /// The step that its rank is in.
    Step,
    /// A request, if it is still of this generation.
    Request(RequestId, u32),
    /// A message in the buffer that its rank has attached.
    Buffered,
    /// Nothing: it was complete when it started, or its request is lost.
    Nothing,
}

/// An operation that has been started and not matched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// Whose it is.
    pub(super) rank: Rank,
    /// The step that holds its envelope.
    pub(super) position: u32,
    pub(super) sending: bool,
    pub(super) live: bool,
    /// Whether its request was freed, so that nobody counts on it.
    pub(super) freed: bool,
    /// The other end; `Peer::Any` for a wildcard.
    pub(super) peer: Peer,
    pub(super) tag: Tag,
    pub(super) communicator: CommunicatorId,
    pub(super) completes: Completes,
    /// Orders the operations of one rank.
    pub(super) sequence: u64,
    pub(super) next: PendingId,
}

/// Source, destination, communicator.
type ChannelKey = (Rank, Rank, CommunicatorId);

fn agree(receive: Tag, message: Tag) -> bool {
    receive == Tag::Any || receive == message
}

impl Machine<'_> {
    /// Starts a message to `destination`; matched at once if a receive for it is there.
    pub(super) fn start_message(
        &mut self,
        rank: Rank,
        position: Position,
        envelope: &Envelope,
        destination: Rank,
        completes: Completes,
    ) {
        self.trace((rank, position), Deed::Sends { to: destination });
        let peer = Peer::Rank(i32::try_from(destination).unwrap_or(i32::MAX));
        let id = self.insert(rank, position, true, peer, envelope, completes);
        let key = (rank, envelope.communicator);
        let channels = &mut Rc::make_mut(&mut self.ranks[destination as usize]).channels;
        let channel = channels.entry(key).or_insert(Channel::EMPTY);
        channel.messages.push(&mut self.pending, id);
        match self.first_acceptor(destination, id) {
            Some(receive)
                if self.is_specific(receive) && self.first_accepted(receive) == Some(id) =>
            {
                self.match_pair(id, receive);
            }
            _ if self.is_opaque(destination) => self.give_to_opaque(id),
            _ if self.state(destination).status == Status::Probing => self.queue(destination),
            _ => {}
        }
    }

    /// Posts a receive; matched at once if it is for one source and its message is there.
    pub(super) fn post_receive(
        &mut self,
        rank: Rank,
        position: Position,
        envelope: &Envelope,
        peer: Peer,
        completes: Completes,
    ) {
        if self.is_opaque(rank) {
            return;
        }
        if self.sources(peer, envelope.communicator).any(|source| self.is_opaque(source)) {
            self.become_opaque(rank);
            return;
        }
        let id = self.insert(rank, position, false, peer, envelope, completes);
        match self.source_of(id) {
            None => self.state_mut(rank).wildcards.push(id),
            Some(source) => {
                let key = (source, envelope.communicator);
                let channels = &mut Rc::make_mut(&mut self.ranks[rank as usize]).channels;
                let channel = channels.entry(key).or_insert(Channel::EMPTY);
                channel.receives.push(&mut self.pending, id);
                self.state_mut(rank).posted += 1;
                self.match_if_forced(id);
                if self.is_opaque(source) {
                    self.take_from_opaque(id, source);
                }
            }
        }
    }

    fn insert(
        &mut self,
        rank: Rank,
        position: Position,
        sending: bool,
        peer: Peer,
        envelope: &Envelope,
        completes: Completes,
    ) -> PendingId {
        self.sequence += 1;
        self.moved += 1;
        let pending = Pending {
            rank,
            position: u32::try_from(position).expect("a behaviour has fewer than 2^32 events"),
            sending,
            live: true,
            freed: false,
            peer,
            tag: envelope.tag,
            communicator: envelope.communicator,
            completes,
            sequence: self.sequence,
            next: NONE,
        };
        if let Some(id) = self.free.pop() {
            self.pending[id as usize] = pending;
            return id;
        }
        self.pending.push(pending);
        PendingId::try_from(self.pending.len() - 1).expect("fewer than 2^32 operations at once")
    }

    fn is_specific(&self, receive: PendingId) -> bool {
        self.source_of(receive).is_some()
    }

    fn source_of(&self, receive: PendingId) -> Option<Rank> {
        match self.pending[receive as usize].peer {
            Peer::Rank(source) => Rank::try_from(source).ok(),
            _ => None,
        }
    }

    fn channel_of_message(&self, message: PendingId) -> ChannelKey {
        let pending = &self.pending[message as usize];
        match pending.peer {
            Peer::Rank(destination) => {
                (pending.rank, destination.unsigned_abs(), pending.communicator)
            }
            _ => unreachable!("a message has one destination"),
        }
    }

    /// The first posted, unmatched receive at `destination` that accepts the message.
    fn first_acceptor(&self, destination: Rank, message: PendingId) -> Option<PendingId> {
        let key = self.channel_of_message(message);
        let tag = self.pending[message as usize].tag;
        let specific = self.channel(key).and_then(|channel| {
            let mut receives = channel.receives.iter(&self.pending);
            receives.find(|&id| agree(self.pending[id as usize].tag, tag))
        });
        let wildcards = &self.state(destination).wildcards;
        let wildcard =
            wildcards.iter().copied().find(|&id| self.wildcard_accepts(id, key.0, key.2, tag));
        match (specific, wildcard) {
            (Some(one), Some(other)) => {
                let sequence = |id: PendingId| self.pending[id as usize].sequence;
                Some(if sequence(one) < sequence(other) { one } else { other })
            }
            (one, other) => one.or(other),
        }
    }

    fn wildcard_accepts(
        &self,
        receive: PendingId,
        source: Rank,
        communicator: CommunicatorId,
        tag: Tag,
    ) -> bool {
        let receive = &self.pending[receive as usize];
        receive.communicator == communicator
            && accepts(receive.peer, source)
            && self.world.belongs(communicator, source)
            && agree(receive.tag, tag)
    }

    /// The first unmatched message that a receive for one source accepts.
    pub(super) fn first_accepted(&self, receive: PendingId) -> Option<PendingId> {
        let pending = &self.pending[receive as usize];
        let source = self.source_of(receive)?;
        self.first_message(source, pending.rank, pending.communicator, pending.tag)
    }

    fn first_message(
        &self,
        source: Rank,
        destination: Rank,
        communicator: CommunicatorId,
        tag: Tag,
    ) -> Option<PendingId> {
        let channel = self.channel((source, destination, communicator))?;
        channel.messages.iter(&self.pending).find(|&id| agree(tag, self.pending[id as usize].tag))
    }

    /// The steps that sent the unmatched messages of a channel that a tag accepts, oldest first.
    pub(super) fn messages(
        &self,
        source: Rank,
        destination: Rank,
        communicator: CommunicatorId,
        tag: Tag,
    ) -> Vec<At> {
        let Some(channel) = self.channel((source, destination, communicator)) else {
            return Vec::new();
        };
        let pending = channel.messages.iter(&self.pending).map(|id| &self.pending[id as usize]);
        let accepted = pending.filter(|pending| agree(tag, pending.tag));
        accepted.map(|pending| (pending.rank, pending.position as Position)).collect()
    }

    /// Matches a receive for one source if there is no other way for it and its message.
    fn match_if_forced(&mut self, receive: PendingId) {
        let rank = self.pending[receive as usize].rank;
        if let Some(message) = self.first_accepted(receive)
            && self.first_acceptor(rank, message) == Some(receive)
        {
            self.match_pair(message, receive);
        }
    }

    /// The messages that a posted wildcard may take now, with their sources.
    pub(super) fn candidates(&self, wildcard: PendingId) -> Vec<PendingId> {
        let pending = &self.pending[wildcard as usize];
        let message = |source| {
            let message =
                self.first_message(source, pending.rank, pending.communicator, pending.tag)?;
            (self.first_acceptor(pending.rank, message) == Some(wildcard)).then_some(message)
        };
        self.sources(pending.peer, pending.communicator).filter_map(message).collect()
    }

    /// The ranks that a wildcard accepts.
    pub(in crate::engine) fn sources(
        &self,
        peer: Peer,
        communicator: CommunicatorId,
    ) -> impl Iterator<Item = Rank> + use<'_> {
        let range = match peer {
            Peer::Any { first, end } => first..end.min(self.world.size()),
            _ => 0..0,
        };
        range.filter(move |&rank| self.world.belongs(communicator, rank))
    }

    /// The message of one source that a new receive with this envelope could take, as its status
    /// would say.
    pub(super) fn available(&self, rank: Rank, source: Rank, envelope: &Envelope) -> Option<Met> {
        let message = self.first_message(source, rank, envelope.communicator, envelope.tag)?;
        let free = self.first_acceptor(rank, message).is_none();
        free.then(|| Met::of(source, self.pending[message as usize].tag))
    }

    /// Whether a ready send would find its receive posted (MPI 4.0, 3.4).
    pub(super) fn is_posted(&self, rank: Rank, destination: Rank, envelope: &Envelope) -> bool {
        if self.is_opaque(destination) {
            return true;
        }
        let key = (rank, destination, envelope.communicator);
        let specific = self.channel(key).is_some_and(|channel| {
            let mut receives = channel.receives.iter(&self.pending);
            receives.any(|id| agree(self.pending[id as usize].tag, envelope.tag))
        });
        let mut wildcards = self.state(destination).wildcards.iter();
        specific || wildcards.any(|&id| self.wildcard_accepts(id, rank, key.2, envelope.tag))
    }

    /// A wildcard takes a message.
    pub(super) fn match_wildcard(&mut self, message: PendingId, wildcard: PendingId) {
        let rank = self.pending[wildcard as usize].rank;
        self.match_pair(message, wildcard);
        if self.state(rank).posted > 0 {
            self.rematch(rank);
        }
        if self.state(rank).status == Status::Probing {
            self.queue(rank);
        }
    }

    /// After a wildcard has gone, the messages that it barred may meet later receives.
    fn rematch(&mut self, rank: Rank) {
        let channels = self.state(rank).channels.values();
        let mut receives: Vec<PendingId> =
            channels.flat_map(|channel| channel.receives.iter(&self.pending)).collect();
        receives.sort_unstable_by_key(|&id| self.pending[id as usize].sequence);
        for receive in receives {
            self.match_if_forced(receive);
        }
    }

    fn match_pair(&mut self, message: PendingId, receive: PendingId) {
        let (sent, posted) = (self.pending[message as usize], self.pending[receive as usize]);
        self.withdraw(message);
        self.withdraw(receive);
        let label = self.record_match(&sent, &posted);
        if let Some(matched) = &mut self.matched {
            let at = |pending: &Pending| (pending.rank, pending.position as Position);
            matched.extend([at(&sent), at(&posted)]);
        }
        self.trace((posted.rank, posted.position as Position), Deed::Receives { from: sent.rank });
        self.complete(sent.rank, sent.completes, None, None);
        let met = Met::of(sent.rank, sent.tag);
        self.complete(posted.rank, posted.completes, Some(met), label);
    }

    /// Takes an operation out that will not be matched any more.
    pub(super) fn withdraw(&mut self, id: PendingId) -> Pending {
        let pending = self.pending[id as usize];
        if pending.sending {
            self.unlink(id, self.channel_of_message(id), true);
        } else if let Some(source) = self.source_of(id) {
            self.unlink(id, (source, pending.rank, pending.communicator), false);
            self.state_mut(pending.rank).posted -= 1;
        } else {
            self.state_mut(pending.rank).wildcards.retain(|&wildcard| wildcard != id);
        }
        self.discard(id);
        self.moved += 1;
        pending
    }

    fn channel(&self, (source, destination, communicator): ChannelKey) -> Option<&Channel> {
        self.state(destination).channels.get(&(source, communicator))
    }

    fn unlink(&mut self, id: PendingId, key: ChannelKey, message: bool) {
        let (source, destination, communicator) = key;
        let channels = &mut Rc::make_mut(&mut self.ranks[destination as usize]).channels;
        let key = (source, communicator);
        let channel = channels.get_mut(&key).expect("an unmatched operation is in its channel");
        let list = if message { &mut channel.messages } else { &mut channel.receives };
        list.remove(&mut self.pending, id);
        if channel.is_empty() {
            channels.remove(&key);
        }
    }

    fn discard(&mut self, id: PendingId) {
        self.pending[id as usize].live = false;
        self.free.push(id);
    }

    /// Writes down how the two ends of a message fit, and finds what it announces.
    fn record_match(&mut self, sent: &Pending, posted: &Pending) -> Option<u16> {
        let event = |pending: &Pending| {
            &self.world.behaviours[pending.rank as usize].events[pending.position as usize]
        };
        let message = envelope(event(sent), true).expect("a message was started by a send");
        let receive = envelope(event(posted), false).expect("a receive has an envelope");
        let ends =
            ((sent.rank, sent.position as Position), (posted.rank, posted.position as Position));
        self.evidence.matched(self.world, ends, &message.data, &receive.data);
        message.data.label
    }

    /// What waits for an operation does so no longer.
    pub(super) fn complete(
        &mut self,
        rank: Rank,
        completes: Completes,
        met: Option<Met>,
        label: Option<LabelId>,
    ) {
        match completes {
            Completes::Nothing => return,
            Completes::Step => {
                if let Some(met) = met {
                    self.state_mut(rank).met = Some((met, label));
                }
            }
            Completes::Buffered => {
                self.state_mut(rank).buffered -= 1;
                if !self.is_detaching(rank) {
                    return;
                }
            }
            Completes::Request(id, generation) => {
                let request = &mut self.state_mut(rank).requests[id as usize];
                if request.generation != generation {
                    return;
                }
                request.status = RequestStatus::Complete(met);
                if !std::mem::take(&mut request.awaited) {
                    return;
                }
            }
        }
        let Status::Waiting(more) = self.state(rank).status else { return };
        self.state_mut(rank).status = Status::Waiting(more - 1);
        if more == 1 {
            self.release(rank);
        }
    }

    /// Steps do not wait for their operations any more, except for decisions.
    pub(super) fn complete_nothing(&mut self) {
        for id in 0..self.pending.len() {
            let pending = &self.pending[id];
            if pending.completes == Completes::Step && !self.awaits_decision(pending.rank) {
                self.pending[id].completes = Completes::Nothing;
            }
        }
    }

    /// Whether what a step sends has the tag and the communicator that a receive asks for.
    pub(in crate::engine) fn sends_for(&self, (rank, position): At, receive: &Unmatched) -> bool {
        let event = &self.world.behaviours[rank as usize].events[position];
        envelope(event, true).is_some_and(|sent| {
            agree(receive.tag, sent.tag) && receive.communicator == sent.communicator
        })
    }

    /// The operation whose match completes this.
    pub(super) fn pending_of(&self, rank: Rank, completes: Completes) -> Option<PendingId> {
        let found = self.pending.iter().position(|pending| {
            pending.live && pending.rank == rank && pending.completes == completes
        });
        found.and_then(|index| PendingId::try_from(index).ok())
    }
}

/// Whether a receive's source takes messages of this rank.
pub(crate) fn accepts(peer: Peer, source: Rank) -> bool {
    match peer {
        Peer::Any { first, end } => (first..end).contains(&source),
        Peer::Rank(rank) => Rank::try_from(rank) == Ok(source),
        Peer::Source(_) | Peer::Outside(_) | Peer::Null => false,
    }
}
