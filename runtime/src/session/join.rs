//! How ranks begin a protocol together and leave it.

use super::{Channel, Error, Fresh, Mode, Operation, Outgoing, Result, Session};
use crate::transport::{Collective, Envelope, Filter, Origin};
use crate::world::World;

/// A protocol as its ranks compare it: a `static` of the generated code.
#[derive(Debug)]
pub struct Protocol {
    /// Its name.
    pub name: &'static str,
    /// Differs between protocols that differ in anything.
    pub fingerprint: u64,
    /// How many communicators its messages use, the one of decisions among them: they have the
    /// numbers from 0 on.
    pub communicators: u16,
    /// Where it is declared, as an operation: "join(scatter)".
    pub join: Operation,
}

/// A protocol that all ranks have joined; [`run`] begins it.
#[must_use = "the other ranks wait for this one to run"]
pub struct Joined<'w> {
    world: &'w World,
    number: u32,
    /// Where it was joined, once this rank has a role with steps.
    has_to_run: Option<&'static Operation>,
    runs: bool,
}

impl Drop for Joined<'_> {
    /// A role that is never run takes no messages. It is spoken of when the rank's closure is over:
    /// until then there may be an error that says why.
    fn drop(&mut self) {
        if !self.runs {
            self.world.endpoint().borrow_mut().end_session(self.number);
            if let Some(join) = self.has_to_run {
                self.world.unrun().set(Some(join));
            }
        }
    }
}

impl Joined<'_> {
    /// This rank has a role with steps, so the others count on it from here on.
    pub fn with_steps(mut self, protocol: &'static Protocol) -> Self {
        self.has_to_run = Some(&protocol.join);
        self
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.world.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.world.size()
    }
}

/// Waits until all ranks have joined, and compares: all of them must name the same protocol and
/// the same values of its parameters. If not, all get the same error.
pub fn join<'w>(
    world: &'w World,
    protocol: &'static Protocol,
    parameters: &[(&'static str, i64)],
) -> Result<Joined<'w>> {
    let endpoint = world.endpoint();
    let number = endpoint.borrow_mut().begin_session();
    let session = Session::new(endpoint.clone(), number);
    let call = Collective { session: number, communicator: JOIN, number: 0, root: None };
    endpoint.borrow_mut().enter_collective(&protocol.join, call);
    let meeting = Meeting { session: &session, operation: &protocol.join };
    let outcome = meeting.compare(&card(protocol, parameters, world.size())).and_then(|()| {
        let communicators = protocol.communicators;
        endpoint.borrow_mut().open_session(number, &protocol.join, communicators)
    });
    if outcome.is_err() {
        endpoint.borrow_mut().end_session(number);
    }
    outcome.map(|()| Joined { world, number, has_to_run: None, runs: false })
}

/// What a rank says of itself.
fn card(protocol: &Protocol, parameters: &[(&str, i64)], size: usize) -> String {
    let Protocol { name, fingerprint, .. } = protocol;
    let mut card = format!("protocol `{name}` (fingerprint {fingerprint:016x})");
    for (parameter, value) in parameters {
        card += &format!(", {parameter} = {value}");
    }
    card + &format!(", {size} ranks")
}

/// That the protocol is not for these parameters, or not with so many ranks.
pub fn unfulfilled(
    protocol: &'static Protocol,
    requirement: &'static str,
    parameters: &[(&'static str, i64)],
    size: usize,
) -> Error {
    let values = parameters.iter().map(|(name, value)| format!("{name} = {value}, "));
    let given = values.collect::<String>() + &format!("{size} ranks");
    Error::Unfulfilled { protocol: protocol.name, requirement, given }
}

/// No program's communicator.
const JOIN: u16 = u16::MAX;

struct Meeting<'a> {
    session: &'a Session<'static>,
    operation: &'static Operation,
}

impl Meeting<'_> {
    /// Rank 0 compares all cards and tells everybody what differs.
    fn compare(&self, card: &str) -> Result<()> {
        let size = self.session.size;
        let difference = if self.session.rank == 0 {
            let mut others = Vec::with_capacity(size);
            for source in 1..size {
                others.push(self.take(source)?);
            }
            let difference = difference(card, &others);
            for peer in 1..size {
                self.pass(peer, &difference)?;
            }
            difference
        } else {
            self.pass(0, card)?;
            self.take(0)?
        };
        if difference.is_empty() { Ok(()) } else { Err(Error::Mismatch { difference }) }
    }

    fn envelope(&self) -> Envelope {
        self.session.envelope(self.operation, Channel::Join, 0)
    }

    fn pass(&self, peer: usize, text: &str) -> Result<()> {
        let data = Outgoing::Borrowed(text.as_bytes());
        self.session.send_enveloped(self.operation, Mode::Buffered, peer, self.envelope(), data)
    }

    fn take(&self, source: usize) -> Result<String> {
        let filter = Filter { source: Origin::Rank(source), envelope: self.envelope() };
        let (text, _) =
            self.session.recv_filtered::<u8, _>(self.operation, filter, Fresh::new())?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// What rank 0 has and the first rank that differs from it; empty if none does.
fn difference(own: &str, others: &[String]) -> String {
    let differing = others.iter().enumerate().find(|(_, other)| *other != own);
    differing.map_or_else(String::new, |(index, other)| {
        format!("rank 0 joins {own}, but rank {} joins {other}", index + 1)
    })
}

/// Runs this rank's side of a protocol: `steps` gets the session and returns what comes out of
/// it. If it returns an error or unwinds, all ranks are told that this one has left.
pub fn run<'env, R>(
    mut joined: Joined<'_>,
    steps: impl FnOnce(&mut Session<'env>) -> Result<R>,
) -> Result<R> {
    joined.runs = true;
    let endpoint = joined.world.endpoint().clone();
    let mut running = Running { session: Session::new(endpoint, joined.number), finished: false };
    let outcome = steps(&mut running.session);
    if let Err(error) = &outcome {
        running.session.endpoint.borrow_mut().give_up(Some(error));
    }
    running.finished = true;
    outcome
}

/// Leaves the session in order, however the steps were left.
struct Running<'env> {
    session: Session<'env>,
    finished: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let endpoint = self.session.endpoint.clone();
        if !self.finished {
            endpoint.borrow_mut().give_up(None);
        }
        self.session.cancel_requests();
        endpoint.borrow_mut().end_session(self.session.number);
    }
}
