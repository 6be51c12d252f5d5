//! Runs a world on threads.

use p2p::session::{self, Fresh, Mode, Operation, Protocol, Request, Result, Session, Source, Sum};
use p2p::{Buffering, Launch};
use p2p_protocol::model::{
    Action, Collective, CollectiveKind, Completion, Envelope, Event, Peer, Tag, World,
};

static PROTOCOL: Protocol = Protocol { name: "world", fingerprint: 0, join: operation("join", 0) };

const fn operation(verb: &'static str, tag: i32) -> Operation {
    Operation {
        text: verb,
        verb,
        message: "M",
        tag,
        communicator: 0,
        file: "world",
        line: 1,
        column: 1,
    }
}

/// The operation of a verb for each tag.
macro_rules! operations {
    ($($name:ident $verb:literal),*) => {
        $(static $name: [Operation; 2] = [operation($verb, 0), operation($verb, 1)];)*
    };
}

operations! {
    SEND "send", RECV "recv", ISEND "isend", IRECV "irecv", PROBE "probe", WAIT "wait_all",
    TEST "test", SENDRECV "sendrecv", BARRIER "barrier", BCAST "bcast", SCATTER "scatter",
    GATHER "gather", ALL_GATHER "all_gather", REDUCE "reduce", ALL_REDUCE "all_reduce",
    ALL_TO_ALL "all_to_all"
}

/// Runs it once; what each rank does is what its behaviour says.
pub(crate) fn run(world: &World, buffering: Buffering) -> Result<()> {
    let launch = Launch::new().ranks(world.behaviours.len()).buffering(buffering);
    let ranks = launch.run(|ranks| {
        let behaviour = &world.behaviours[ranks.rank()];
        session::run(session::join(&ranks, &PROTOCOL, &[])?, |session| {
            let mut rank = Rank { session, requests: Vec::new() };
            rank.requests.resize_with(behaviour.requests as usize, || None);
            behaviour.events.iter().try_for_each(|event| rank.step(event))
        })
    });
    ranks.map(drop)
}

type Started = Option<Request<Vec<u64>>>;

struct Rank<'s, 'env> {
    session: &'s mut Session<'env>,
    requests: Vec<Started>,
}

fn of(operations: &'static [Operation; 2], envelope: &Envelope) -> &'static Operation {
    match envelope.tag {
        Tag::Exact(tag) => &operations[tag as usize],
        Tag::Any => panic!("no such tag in these worlds"),
    }
}

fn peer(envelope: &Envelope) -> i64 {
    match envelope.peer {
        Peer::Rank(rank) => i64::from(rank),
        other => panic!("no such peer in these worlds: {other:?}"),
    }
}

fn source(envelope: &Envelope) -> Source {
    match envelope.peer {
        Peer::Any { first, end } => Source::Any(i64::from(first)..i64::from(end)),
        _ => Source::Rank(peer(envelope)),
    }
}

/// What a message holds: its tag, so often.
fn data(envelope: &Envelope) -> Vec<u64> {
    vec![tag(envelope); envelope.data.count.expect("counts are known here") as usize]
}

fn tag(envelope: &Envelope) -> u64 {
    u64::from(envelope.tag == Tag::Exact(1))
}

impl Rank<'_, '_> {
    fn step(&mut self, event: &Event) -> Result<()> {
        match &event.action {
            Action::Send { mode, envelope } => {
                let operation = of(&SEND, envelope);
                self.session.send(operation, *mode, peer(envelope), &data(envelope))
            }
            Action::Receive { envelope, .. } => self.receive(envelope),
            Action::SendReceive { send, receive } => {
                let (into, _) = self.session.sendrecv::<u64, u64, _>(
                    (of(&SENDRECV, send), peer(send)),
                    data(send),
                    (of(&SENDRECV, receive), source(receive)),
                    Fresh::new(),
                )?;
                check(receive, &into);
                Ok(())
            }
            Action::StartSend { mode, envelope, request } => {
                self.start_send(*mode, envelope, *request as usize)
            }
            Action::StartReceive { envelope, request, .. } => {
                let room = vec![0; envelope.data.count.expect("counts are known here") as usize];
                let started = self.session.irecv(of(&IRECV, envelope), source(envelope), room)?;
                self.requests[*request as usize] = Some(started);
                Ok(())
            }
            Action::Wait { requests, completion: Completion::All } => self.wait_all(requests),
            Action::Test { request, .. } => {
                let Some(started) = &self.requests[*request as usize] else { return Ok(()) };
                while !self.session.test(&TEST[0], started.id())? {}
                self.wait_all(&[*request])
            }
            Action::Probe { envelope, .. } => {
                self.session.probe(of(&PROBE, envelope), source(envelope)).map(drop)
            }
            Action::Collective(call) => self.collective(call),
            other => panic!("no such action in these worlds: {other:?}"),
        }
    }

    fn receive(&mut self, envelope: &Envelope) -> Result<()> {
        let operation = of(&RECV, envelope);
        let (into, _) = self.session.recv(operation, source(envelope), Fresh::new())?;
        check(envelope, &into);
        Ok(())
    }

    fn start_send(&mut self, mode: Mode, envelope: &Envelope, request: usize) -> Result<()> {
        let operation = of(&ISEND, envelope);
        let started = self.session.isend(operation, mode, peer(envelope), data(envelope))?;
        self.requests[request] = Some(started);
        Ok(())
    }

    fn wait_all(&mut self, requests: &[u32]) -> Result<()> {
        let started: Vec<Request<Vec<u64>>> =
            requests.iter().filter_map(|&request| self.requests[request as usize].take()).collect();
        let names: Vec<_> = started.iter().map(Request::id).collect();
        self.session.wait_all(&WAIT[0], &names)?;
        started.into_iter().try_for_each(|request| self.session.wait(&WAIT[0], request).map(drop))
    }

    fn collective(&mut self, call: &Collective) -> Result<()> {
        let session = &mut *self.session;
        let root = call.root.map_or(0, i64::from);
        let (part, parts) = (vec![1u64; 700], vec![1u64; 700 * session.size()]);
        let mut data = part.clone();
        match call.kind {
            CollectiveKind::Barrier => session.barrier(&BARRIER[0]),
            CollectiveKind::Bcast => session.bcast(&BCAST[0], root, &mut data),
            CollectiveKind::Scatter => {
                session.scatter(&SCATTER[0], root, &parts, Fresh::new()).map(drop)
            }
            CollectiveKind::Gather => session.gather(&GATHER[0], root, &part).map(drop),
            CollectiveKind::AllGather => session.all_gather(&ALL_GATHER[0], &part).map(drop),
            CollectiveKind::Reduce => session.reduce(&REDUCE[0], root, &mut data, Sum),
            CollectiveKind::AllReduce => session.all_reduce(&ALL_REDUCE[0], &mut data, Sum),
            CollectiveKind::AllToAll => session.all_to_all(&ALL_TO_ALL[0], &parts).map(drop),
            CollectiveKind::Fence => session.fence(&BARRIER[1]),
        }
    }
}

fn check(envelope: &Envelope, data: &[u64]) {
    assert!(data.iter().all(|&value| value == tag(envelope)), "{data:?}");
}
