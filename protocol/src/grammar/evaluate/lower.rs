//! Operations -> events: one rank's role, statement by statement.

use super::bindings::Bindings;
use super::control::{Flow, Frame};
use super::expression::Fault;
use super::{Complaint, Tables};
use crate::grammar::LanguageError;
use crate::grammar::syntax::{
    Block, Expression, ExpressionKind, From, MessageName, Name, Payload, Protocol, RequestTarget,
    Role, Statement, StatementKind,
};
use crate::model::{
    Action, Behaviour, Collective, CollectiveKind, CommunicatorId, Completion, Data, Envelope,
    Event, Mode, Peer, Place, Position, RequestId, Tag,
};

/// Why a statement was not lowered.
pub(super) enum Stop {
    /// A value is missing; what follows is lowered all the same.
    Fault(Fault),
    /// A value is not what it has to be.
    Wrong(LanguageError),
    /// The work allowed is used up.
    TooLarge,
}

impl std::convert::From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

/// The frame of the role itself, which a loop that is cut ends.
pub(super) const ROLE: usize = 0;

/// One rank's role on its way to a behaviour.
pub(super) struct Lowering<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) tables: &'p Tables,
    pub(super) bindings: Bindings,
    pub(super) events: Vec<Event>,
    pub(super) complaints: Vec<Complaint>,
    /// The role, and the loops around, outermost first.
    pub(super) frames: Vec<Frame>,
    /// How many ways are around that are only one of several.
    pub(super) ways: usize,
    /// How many endless loops are around.
    pub(super) endless: usize,
    /// The waits for sets inside the outermost endless loop: what is pushed after such a wait is
    /// waited for by it in the next round.
    pub(super) set_waits: Vec<(Position, u32)>,
    /// How much work may still be done.
    pub(super) work: u64,
    /// Of each loop at most so many rounds; the role ends there.
    pub(super) rounds: Option<u64>,
    /// Whether the role ended there.
    pub(super) cut: bool,
    /// Of the loops in which the work ran out, the one with the most rounds.
    pub(super) longest: Option<(u64, Place)>,
}

impl<'p> Lowering<'p> {
    pub(super) fn new(
        protocol: &'p Protocol,
        tables: &'p Tables,
        bindings: Bindings,
        work: u64,
    ) -> Lowering<'p> {
        Lowering {
            protocol,
            tables,
            bindings,
            events: Vec::new(),
            complaints: Vec::new(),
            frames: Vec::new(),
            ways: 0,
            endless: 0,
            set_waits: Vec::new(),
            work,
            rounds: None,
            cut: false,
            longest: None,
        }
    }

    /// The whole role. Fails only if it is too large.
    pub(super) fn role(&mut self, role: &Role) -> Result<Behaviour, Stop> {
        self.frames.push(Frame::default());
        let flow = self.block(&role.body)?;
        self.end_loop(ROLE, flow, role.place);
        let (requests, sources) = self.bindings.slots();
        Ok(Behaviour {
            events: std::mem::take(&mut self.events),
            requests,
            sources,
            role: None,
            chains: Vec::new(),
        })
    }

    /// The statements of a block, up to the first that does not go on to the next.
    pub(super) fn block(&mut self, block: &Block) -> Result<Flow, Stop> {
        for statement in &block.statements {
            self.spend(1)?;
            match self.statement(statement) {
                Ok(Flow::Next) => {}
                Ok(elsewhere) => return Ok(elsewhere),
                Err(Stop::TooLarge) => return Err(Stop::TooLarge),
                Err(Stop::Fault(fault)) => {
                    let rank = u32::try_from(self.bindings.rank).unwrap_or_default();
                    let complaint = self.bindings.complaint(fault, rank, statement.place);
                    super::keep_first(&mut self.complaints, complaint);
                }
                Err(Stop::Wrong(error)) => {
                    let complaint = Complaint { place: statement.place, error };
                    super::keep_first(&mut self.complaints, complaint);
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Takes work off what is allowed.
    pub(super) fn spend(&mut self, work: u64) -> Result<(), Stop> {
        self.work = self.work.checked_sub(work).ok_or(Stop::TooLarge)?;
        Ok(())
    }

    /// Adds an event.
    pub(super) fn emit(&mut self, place: Place, action: Action) -> Position {
        self.events.push(Event { action, place });
        self.events.len() - 1
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, Stop> {
        let place = statement.place;
        let action = match &statement.kind {
            StatementKind::Send(mode, peer, message) => {
                Action::Send { mode: *mode, envelope: self.envelope(peer, message)? }
            }
            StatementKind::Receive(from, message, source) => {
                let envelope = self.envelope_from(from, message)?;
                Action::Receive { envelope, binds: self.binds(source) }
            }
            StatementKind::SendReceive { destination, sent, source, received } => {
                let send = Box::new(self.envelope(destination, sent)?);
                let receive = Box::new(self.envelope_from(source, received)?);
                Action::SendReceive { send, receive }
            }
            StatementKind::StartSend(mode, peer, message, target) => {
                let envelope = self.envelope(peer, message)?;
                Action::StartSend { mode: *mode, envelope, request: self.target(target) }
            }
            StatementKind::StartReceive(from, message, target) => {
                let envelope = self.envelope_from(from, message)?;
                Action::StartReceive { envelope, request: self.target(target), binds: None }
            }
            StatementKind::PlanSend(peer, message, name) => {
                let envelope = self.envelope(peer, message)?;
                let request = self.bindings.request(name);
                Action::PlanSend { mode: Mode::Standard, envelope, request }
            }
            StatementKind::PlanReceive(from, message, name) => {
                let envelope = self.envelope_from(from, message)?;
                Action::PlanReceive { envelope, request: self.bindings.request(name) }
            }
            StatementKind::Start(name) => {
                Action::Start { requests: Box::new([self.bindings.request(name)]) }
            }
            StatementKind::RequestSet(name) => {
                self.new_set(name);
                return Ok(Flow::Next);
            }
            StatementKind::Wait(name) => wait(&[self.bindings.request(name)]),
            StatementKind::WaitAll(names) => return self.wait_all(names, place),
            StatementKind::WaitAnyOf(name) => {
                return self.wait_set(name, Completion::Any(None), place);
            }
            StatementKind::Probe(from, message, source) => {
                let envelope = self.envelope_from(from, message)?;
                Action::Probe { envelope, binds: self.binds(source) }
            }
            StatementKind::Collective(kind, root, message) => {
                self.collective(*kind, root.as_ref(), message.as_ref())?
            }
            StatementKind::Put(peer, message) => {
                Action::Put { envelope: self.envelope(peer, message)? }
            }
            StatementKind::Get(peer, message) => {
                Action::Get { envelope: self.envelope(peer, message)? }
            }
            _ => return self.control(statement),
        };
        self.emit(place, action);
        Ok(Flow::Next)
    }

    fn binds(&mut self, source: &Option<Name>) -> Option<crate::model::SourceId> {
        source.as_ref().map(|name| self.bindings.bind_source(name))
    }

    fn target(&mut self, target: &RequestTarget) -> RequestId {
        match target {
            RequestTarget::Named(name) => self.bindings.request(name),
            RequestTarget::Set(name) => self.bindings.pushed(name),
        }
    }

    /// `let set = requests();`: what an earlier round left in it is in it no more.
    fn new_set(&mut self, name: &Name) {
        if self.endless > 0 {
            return;
        }
        let alone = self.is_only_way();
        let set = self.bindings.set(name);
        let left = std::mem::take(&mut set.slots);
        if alone {
            set.spare.extend(left);
        }
    }

    /// Whether every run of this rank passes here, and has come the same way. Elsewhere a request
    /// that was waited for here may be active still.
    fn is_only_way(&self) -> bool {
        self.endless == 0 && self.ways == 0 && !self.frames.iter().any(Frame::has_jumps)
    }

    fn wait_all(&mut self, names: &[Name], place: Place) -> Result<Flow, Stop> {
        if let [name] = names
            && self.bindings.known_set(name.id).is_some()
        {
            return self.wait_set(name, Completion::All, place);
        }
        let requests: Vec<RequestId> =
            names.iter().map(|name| self.bindings.request(name)).collect();
        let action = wait(&requests);
        self.emit(place, action);
        Ok(Flow::Next)
    }

    fn wait_set(
        &mut self,
        name: &Name,
        completion: Completion,
        place: Place,
    ) -> Result<Flow, Stop> {
        let endless = self.endless > 0;
        let over = completion == Completion::All && self.is_only_way();
        let set = self.bindings.set(name);
        let requests: Box<[RequestId]> = set.slots.as_slice().into();
        if over {
            let waited = std::mem::take(&mut set.slots);
            set.spare.extend(waited.into_iter().rev());
        }
        if requests.is_empty() && !endless {
            return Ok(Flow::Next);
        }
        self.spend(requests.len() as u64)?;
        let position = self.emit(place, Action::Wait { requests, completion });
        if endless {
            self.set_waits.push((position, name.id));
        }
        Ok(Flow::Next)
    }

    fn collective(
        &mut self,
        kind: CollectiveKind,
        root: Option<&Expression>,
        message: Option<&MessageName>,
    ) -> Result<Action, Stop> {
        let root = match root {
            Some(root) => Some(self.rank(root)?),
            None => None,
        };
        let data = match message {
            Some(message) => Some(self.data(message)?),
            None => None,
        };
        let communicator = message.map_or(0, |message| self.communicator(message));
        let (room, operation) = (None, None);
        Ok(Action::Collective(Collective {
            root,
            data,
            room,
            operation,
            ..Collective::of(kind, communicator)
        }))
    }

    fn communicator(&self, message: &MessageName) -> CommunicatorId {
        self.protocol.messages.get(message.index).map_or(0, |message| message.communicator)
    }

    fn envelope(&mut self, peer: &Expression, message: &MessageName) -> Result<Envelope, Stop> {
        let peer = self.peer(peer)?;
        self.envelope_with(peer, message)
    }

    fn envelope_from(&mut self, from: &From, message: &MessageName) -> Result<Envelope, Stop> {
        let peer = match from {
            From::Peer(peer) => self.peer(peer)?,
            From::Any { start, end } => {
                let numbers = self.bindings.numbers();
                let within = |value: i64| {
                    u32::try_from(value.clamp(0, self.bindings.size)).unwrap_or_default()
                };
                let (start, end) = (numbers.integer(start)?, numbers.integer(end)?);
                Peer::Any { first: within(start), end: within(end) }
            }
        };
        self.envelope_with(peer, message)
    }

    fn envelope_with(&self, peer: Peer, message: &MessageName) -> Result<Envelope, Stop> {
        let tag = self.protocol.messages.get(message.index).map_or(0, |message| message.tag);
        Ok(Envelope {
            peer,
            tag: Tag::Exact(tag),
            communicator: self.communicator(message),
            data: self.data(message)?,
        })
    }

    /// What a message carries for this rank.
    fn data(&self, name: &MessageName) -> Result<Data, Stop> {
        let Some(message) = self.protocol.messages.get(name.index) else {
            return Ok(self.tables.data(name.index, None));
        };
        let count = match message.payload {
            Payload::Scalar(_) | Payload::Struct(_) => {
                return Ok(self.tables.data(name.index, Some(1)));
            }
            Payload::Slice(_) => &message.count,
            Payload::Array(..) => &message.length,
        };
        let Some(count) = count else { return Ok(self.tables.data(name.index, None)) };
        let elements = self.bindings.numbers().integer(count)?;
        match u64::try_from(elements) {
            Ok(elements) => Ok(self.tables.data(name.index, Some(elements))),
            Err(_) => {
                let text = format!(
                    "`{}` has {elements} elements, for rank {} of {}",
                    message.name, self.bindings.rank, self.bindings.size
                );
                let error = LanguageError::new(count.region(), text)
                    .help("a count is 0 or more; bound it with `.max(0)`");
                Err(Stop::Wrong(error))
            }
        }
    }

    /// The rank that an expression means, or whoever a source was.
    pub(super) fn peer(&self, expression: &Expression) -> Result<Peer, Stop> {
        if let ExpressionKind::Variable(name) = &expression.kind
            && let Some(source) = self.bindings.source(name.id)
        {
            return Ok(Peer::Source(source));
        }
        self.rank(expression).map(Peer::Rank)
    }

    fn rank(&self, expression: &Expression) -> Result<i32, Stop> {
        let value = self.bindings.numbers().integer(expression)?;
        i32::try_from(value).map_err(|_| {
            let (rank, size) = (self.bindings.rank, self.bindings.size);
            let text = format!("{value} can be no rank's number, for rank {rank} of {size}");
            Stop::Wrong(LanguageError::new(expression.region(), text))
        })
    }
}

/// A wait for all of these.
pub(super) fn wait(requests: &[RequestId]) -> Action {
    Action::Wait { requests: requests.into(), completion: Completion::All }
}
