//! Where a world stands between two steps, and what a step does to it.
//!
//! Nothing here looks ahead or saves work. A state holds what `docs/semantics.md` says that a state
//! holds, in a form in which two states that behave alike are equal.

use std::collections::BTreeMap;

use p2p_protocol::model::{
    CollectiveKind, CommunicatorId, Data, Envelope, Mode, Peer, Position, Rank, RequestId,
    SourceId, Tag, World,
};

/// Who waits for a message or a receive to be matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// The rank's current event.
    Event,
    /// One of the rank's requests.
    Request(RequestId),
    /// The rank's attached buffer.
    Buffer,
    /// Nobody: it is complete, or its request was started again.
    Nobody,
}

/// Between whom messages are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Channel {
    pub(crate) source: Rank,
    pub(crate) destination: Rank,
    pub(crate) communicator: CommunicatorId,
}

/// Sent, and not yet matched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    pub(crate) tag: i32,
    pub(crate) data: Data,
    pub(crate) owner: Owner,
}

/// What a receive or a probe accepts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Filter {
    sources: Vec<Rank>,
    tag: Tag,
    communicator: CommunicatorId,
}

impl Filter {
    fn accepts(&self, channel: Channel, message: &Message) -> bool {
        self.sources.contains(&channel.source)
            && self.communicator == channel.communicator
            && match self.tag {
                Tag::Exact(tag) => tag == message.tag,
                Tag::Any => true,
            }
    }
}

/// Posted, and not yet matched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Posted {
    pub(crate) filter: Filter,
    pub(crate) room: Data,
    pub(crate) owner: Owner,
}

/// What a persistent request does when it is started, its peer already looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Plan {
    Send { mode: Mode, envelope: Envelope },
    Receive { envelope: Envelope },
}

/// A request slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    pub(crate) plan: Option<Plan>,
    pub(crate) active: Option<Active>,
}

/// A request whose operation was started and has not been waited for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Active {
    pub(crate) complete: bool,
    /// The slot that learns the source at the wait.
    pub(crate) binds: Option<SourceId>,
    /// Whose message it was, with its tag.
    pub(crate) source: Option<Met>,
    /// The collective operation that it is part of and has not left.
    pub(crate) gathering: Option<Membership>,
}

/// The source of a message and its tag.
pub(crate) type Met = (Rank, i32);

/// A communicator, and which of its collective operations.
pub(crate) type Membership = (CommunicatorId, usize);

/// How far a rank is with its current event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Progress {
    /// Not begun.
    Before,
    /// Begun, and waiting for what is still `true`.
    Matching { send: bool, receive: bool },
    /// Come to a collective operation and not left it.
    Collective(Membership),
    /// Gone before its last event.
    Left,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RankState {
    pub(crate) position: Position,
    pub(crate) progress: Progress,
    pub(crate) requests: Vec<Request>,
    pub(crate) sources: Vec<Option<Met>>,
}

impl RankState {
    /// The collective operations that its requests are in.
    fn gatherings(&self) -> Vec<Option<Membership>> {
        let gathering = |request: &Request| request.active.as_ref()?.gathering;
        self.requests.iter().map(gathering).collect()
    }
}

/// A collective operation as far as it tells apart one from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) kind: CollectiveKind,
    pub(crate) root: Option<i32>,
    pub(crate) blocking: bool,
}

/// The calls of one collective operation, by rank.
pub(crate) type Gathering = Vec<Option<Call>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) ranks: Vec<RankState>,
    /// In the order of their start.
    pub(crate) messages: BTreeMap<Channel, Vec<Message>>,
    /// By rank, in the order of their posting.
    pub(crate) receives: Vec<Vec<Posted>>,
    /// By communicator, the collective operations that some rank has not come to or not left.
    pub(crate) gatherings: Vec<Vec<Gathering>>,
}

/// The ranks of a communicator.
pub(crate) fn members(world: &World, communicator: CommunicatorId) -> Vec<Rank> {
    match &world.communicators[usize::from(communicator)].members {
        Some(members) => members.to_vec(),
        None => (0..world.size()).collect(),
    }
}

/// A message and a receive that may find each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) channel: Channel,
    /// Which of the channel's messages.
    pub(crate) message: usize,
    /// Which of the destination's receives.
    pub(crate) receive: usize,
}

impl State {
    pub(crate) fn rank(&mut self, rank: Rank) -> &mut RankState {
        &mut self.ranks[rank as usize]
    }

    /// The rank at the other end of a send; `None` where nothing is to move.
    pub(crate) fn destination(&self, rank: Rank, peer: Peer) -> Option<Rank> {
        match peer {
            Peer::Rank(peer) => {
                u32::try_from(peer).ok().filter(|&peer| (peer as usize) < self.ranks.len())
            }
            Peer::Source(slot) => {
                self.ranks[rank as usize].sources[usize::from(slot)].map(|(source, _)| source)
            }
            Peer::Outside(_) | Peer::Null => None,
            Peer::Any { .. } => panic!("a wildcard is only for receives and probes"),
        }
    }

    /// What a receive accepts; `None` where nothing is to move.
    pub(crate) fn filter(&self, world: &World, rank: Rank, envelope: &Envelope) -> Option<Filter> {
        let sources = match envelope.peer {
            Peer::Any { first, end } => {
                let mut members = members(world, envelope.communicator);
                members.retain(|member| (first..end).contains(member));
                members
            }
            peer => vec![self.destination(rank, peer)?],
        };
        Some(Filter { sources, tag: envelope.tag, communicator: envelope.communicator })
    }

    /// Puts a message on its way.
    pub(crate) fn start(
        &mut self,
        source: Rank,
        destination: Rank,
        envelope: &Envelope,
        owner: Owner,
    ) {
        let Tag::Exact(tag) = envelope.tag else { panic!("a send has a tag") };
        let channel = Channel { source, destination, communicator: envelope.communicator };
        let message = Message { tag, data: envelope.data, owner };
        self.messages.entry(channel).or_default().push(message);
    }

    /// Does a posted receive accept a message that `source` starts now?
    pub(crate) fn is_posted(&self, source: Rank, destination: Rank, envelope: &Envelope) -> bool {
        let Tag::Exact(tag) = envelope.tag else { panic!("a send has a tag") };
        let channel = Channel { source, destination, communicator: envelope.communicator };
        let message = Message { tag, data: envelope.data, owner: Owner::Nobody };
        self.receives[destination as usize]
            .iter()
            .any(|receive| receive.filter.accepts(channel, &message))
    }

    /// The channels that lead to a rank, with their unmatched messages.
    fn channels_to(&self, rank: Rank) -> impl Iterator<Item = (Channel, &Vec<Message>)> {
        let to_rank = move |channel: &Channel| channel.destination == rank;
        self.messages
            .iter()
            .map(|(channel, messages)| (*channel, messages))
            .filter(move |(channel, _)| to_rank(channel))
    }

    /// Every match that may come next: the message is the first of its channel that the receive
    /// accepts, and the receive is the first of its rank that accepts the message.
    pub(crate) fn matches(&self) -> Vec<Match> {
        let mut matches = Vec::new();
        for (rank, receives) in (0..).zip(&self.receives) {
            for (receive, posted) in receives.iter().enumerate() {
                for (channel, messages) in self.channels_to(rank) {
                    let first =
                        messages.iter().position(|message| posted.filter.accepts(channel, message));
                    let Some(message) = first else { continue };
                    let earlier = &receives[..receive];
                    if !earlier
                        .iter()
                        .any(|earlier| earlier.filter.accepts(channel, &messages[message]))
                    {
                        matches.push(Match { channel, message, receive });
                    }
                }
            }
        }
        matches
    }

    /// Whose message a receive could take if it were posted now, behind all others.
    pub(crate) fn probed(&self, rank: Rank, filter: &Filter) -> Vec<Met> {
        let mut met = Vec::new();
        for (channel, messages) in self.channels_to(rank) {
            let first = messages.iter().find(|message| filter.accepts(channel, message));
            let Some(message) = first else { continue };
            let receives = &self.receives[rank as usize];
            if !receives.iter().any(|receive| receive.filter.accepts(channel, message)) {
                met.push((channel.source, message.tag));
            }
        }
        met
    }

    /// Takes a matched pair out of the state.
    pub(crate) fn take(&mut self, found: Match) -> (Message, Posted) {
        let messages = self.messages.get_mut(&found.channel).expect("the channel has messages");
        let message = messages.remove(found.message);
        if messages.is_empty() {
            self.messages.remove(&found.channel);
        }
        let receive = self.receives[found.channel.destination as usize].remove(found.receive);
        (message, receive)
    }

    /// Lets go of what an active request had started: it goes on, but nobody waits for it.
    pub(crate) fn disown(&mut self, rank: Rank, request: RequestId) {
        let owner = Owner::Request(request);
        let sent = self.messages.iter_mut().filter(|(channel, _)| channel.source == rank);
        for message in sent.flat_map(|(_, messages)| messages) {
            if message.owner == owner {
                message.owner = Owner::Nobody;
            }
        }
        for receive in &mut self.receives[rank as usize] {
            if receive.owner == owner {
                receive.owner = Owner::Nobody;
            }
        }
    }

    /// How many of the communicator's open collective operations a rank has come to.
    fn calls(&self, rank: Rank, communicator: CommunicatorId) -> usize {
        let gatherings = &self.gatherings[usize::from(communicator)];
        gatherings.iter().filter(|gathering| gathering[rank as usize].is_some()).count()
    }

    /// Brings a rank to its next collective operation on a communicator.
    pub(crate) fn come(
        &mut self,
        rank: Rank,
        communicator: CommunicatorId,
        call: Call,
    ) -> Membership {
        let index = self.calls(rank, communicator);
        let size = self.ranks.len();
        let gatherings = &mut self.gatherings[usize::from(communicator)];
        if index == gatherings.len() {
            gatherings.push(vec![None; size]);
        }
        gatherings[index][rank as usize] = Some(call);
        (communicator, index)
    }

    /// Forgets the collective operations that all have come to and left.
    pub(crate) fn close_gatherings(&mut self, world: &World, communicator: CommunicatorId) {
        while let Some(first) = self.gatherings[usize::from(communicator)].first() {
            let all_came =
                members(world, communicator).iter().all(|&rank| first[rank as usize].is_some());
            if !all_came || self.memberships().any(|inside| *inside == (communicator, 0)) {
                return;
            }
            self.gatherings[usize::from(communicator)].remove(0);
            for (of, index) in self.memberships() {
                *index -= usize::from(*of == communicator);
            }
        }
    }

    /// What ranks and requests are in and have not left.
    fn memberships(&mut self) -> impl Iterator<Item = &mut Membership> {
        self.ranks.iter_mut().flat_map(|rank| {
            let step = match &mut rank.progress {
                Progress::Collective(membership) => Some(membership),
                _ => None,
            };
            let active = rank.requests.iter_mut().filter_map(|request| request.active.as_mut());
            step.into_iter().chain(active.filter_map(|active| active.gathering.as_mut()))
        })
    }

    /// How many messages, receives and collective operations wait for others.
    pub(crate) fn unmatched(&self) -> usize {
        let messages: usize = self.messages.values().map(Vec::len).sum();
        let receives: usize = self.receives.iter().map(Vec::len).sum();
        let gatherings: usize = self.gatherings.iter().map(Vec::len).sum();
        messages + receives + gatherings
    }

    /// Has anything between ranks changed? Positions, source slots, and requests that were
    /// complete all the time are a rank's own.
    pub(crate) fn moved_from(&self, before: &State) -> bool {
        self.messages != before.messages
            || self.receives != before.receives
            || self.gatherings != before.gatherings
            || self.ranks.iter().zip(&before.ranks).any(|(rank, before)| {
                rank.progress != before.progress || rank.gatherings() != before.gatherings()
            })
    }
}
