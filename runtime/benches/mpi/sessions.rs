//! This library, by the calls that typed steps are made of. What the steps themselves add is counted
//! in instructions (`cargo xtask bench instructions`).

use p2p::session::{self, Fresh, Mode, Operation, Protocol, Request, Session, Source};
use p2p::{Policy, Result, Sum, World};

use super::contender::{Contender, Together, WINDOW};

static PROTOCOL: Protocol =
    Protocol { name: "benchmark", fingerprint: 1, communicators: 1, join: operation("join", 0) };
static SEND: Operation = operation("send", 0);
static RECV: Operation = operation("recv", 0);
static SEND_LEFT: Operation = operation("isend", 3);
static SEND_RIGHT: Operation = operation("isend", 2);
static FROM_LEFT: Operation = operation("irecv", 2);
static FROM_RIGHT: Operation = operation("irecv", 3);
static WAIT: Operation = operation("wait_all", 0);
static PLANNED: [Operation; 2] = [operation("send_init", 4), operation("recv_init", 4)];
static PUT: Operation = operation("put", 5);
static FENCE: Operation = operation("fence", 0);
static TOGETHER: Operation = operation("a collective", 0);

const fn operation(verb: &'static str, tag: i32) -> Operation {
    let (message, file) = ("Words", file!());
    Operation { text: verb, verb, message, tag, communicator: 0, file, line: 1, column: 1 }
}

pub(crate) struct Sessions<'s, 'env> {
    session: &'s mut Session<'env>,
    /// A word for each message of a window; with the session while it travels.
    window: Vec<&'env mut [u64]>,
    /// What a halo sends and receives, on each side.
    rims: [Vec<u64>; 4],
    /// What a planned send and receive have each time.
    planned: [Vec<u64>; 2],
}

/// Joins and runs a protocol.
pub(crate) fn with(
    world: &World,
    run: impl FnOnce(&mut Sessions<'_, '_>) -> Result<()>,
) -> Result<()> {
    let mut words = vec![world.rank() as u64; WINDOW];
    session::run(session::join(world, &PROTOCOL, &[])?, |session| {
        session.open_window::<u64>(&PUT);
        let window = words.chunks_mut(1).collect();
        run(&mut Sessions {
            session,
            window,
            rims: Default::default(),
            planned: Default::default(),
        })
    })
}

impl<'env> Sessions<'_, 'env> {
    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.session.set_policy(policy);
    }

    /// Waits for all, as a step `wait_all` of requests that were pushed does.
    fn finish_window(&mut self, mut open: Vec<Request<&'env mut [u64]>>) -> Result<()> {
        let window = &mut self.window;
        self.session.wait_each(&WAIT, &mut open, |(word, _)| window.push(word))
    }
}

impl Contender for Sessions<'_, '_> {
    fn send(&mut self, peer: usize, data: &[u64]) -> Result<()> {
        self.session.send(&SEND, Mode::Standard, peer as i64, data)
    }

    fn receive(&mut self, peer: usize, data: &mut [u64]) -> Result<()> {
        self.session.recv(&RECV, Source::Rank(peer as i64), data).map(drop)
    }

    fn receive_fresh(&mut self, peer: usize) -> Result<Vec<u64>> {
        let source = Source::Rank(peer as i64);
        Ok(self.session.recv(&RECV, source, Fresh::new())?.0)
    }

    fn exchange(&mut self, peer: usize, data: &[u64], room: &mut [u64]) -> Result<()> {
        let (to, from) = (peer as i64, Source::Rank(peer as i64));
        self.session.sendrecv((&SEND, to), data, (&RECV, from), room).map(drop)
    }

    fn send_window(&mut self, peer: usize) -> Result<()> {
        let mut open = Vec::with_capacity(WINDOW);
        for word in self.window.drain(..) {
            open.push(self.session.isend(&SEND, Mode::Standard, peer as i64, word)?);
        }
        self.finish_window(open)
    }

    fn receive_window(&mut self, peer: usize) -> Result<()> {
        let mut open = Vec::with_capacity(WINDOW);
        for word in self.window.drain(..) {
            open.push(self.session.irecv(&RECV, Source::Rank(peer as i64), word)?);
        }
        self.finish_window(open)
    }

    fn halo(&mut self, [left, right]: [usize; 2], words: usize, work: impl FnOnce()) -> Result<()> {
        self.rims.iter_mut().for_each(|rim| rim.resize(words, 1));
        let [above, below, up, down] = std::mem::take(&mut self.rims);
        let (session, [left, right]) = (&mut *self.session, [left, right].map(|it| it as i64));
        let above = session.irecv(&FROM_LEFT, Source::Rank(left), above)?;
        let below = session.irecv(&FROM_RIGHT, Source::Rank(right), below)?;
        let up = session.isend(&SEND_LEFT, Mode::Standard, left, up)?;
        let down = session.isend(&SEND_RIGHT, Mode::Standard, right, down)?;
        work();
        session.wait_all(&WAIT, &[above.id(), below.id(), up.id(), down.id()])?;
        let mut take = |request| session.wait(&WAIT, request).map(|(rim, _)| rim);
        self.rims = [take(above)?, take(below)?, take(up)?, take(down)?];
        Ok(())
    }

    fn planned(&mut self, peer: usize, words: usize) -> Result<()> {
        self.planned.iter_mut().for_each(|buffer| buffer.resize(words, 1));
        let [out, into] = std::mem::take(&mut self.planned);
        let (session, [send, receive]) = (&mut *self.session, &PLANNED);
        let to = session.plan_send(send, peer as i64)?;
        let from = session.plan_recv(receive, Source::Rank(peer as i64))?;
        let came = session.start_recv(receive, &from, into)?;
        let went = session.start_send(send, &to, out)?;
        session.wait_all(&WAIT, &[came.id(), went.id()])?;
        let into = session.wait(&WAIT, came)?.0;
        self.planned = [session.wait(&WAIT, went)?.0, into];
        Ok(())
    }

    fn put(&mut self, peer: usize, data: &[u64]) -> Result<()> {
        self.session.put(&PUT, peer as i64, 0, data)?;
        self.session.fence(&FENCE)
    }

    fn together(&mut self, what: Together, out: &[u64], into: &mut [u64]) -> Result<()> {
        let (session, operation) = (&mut *self.session, &TOGETHER);
        match what {
            Together::Barrier => session.barrier(operation),
            Together::Bcast => session.bcast(operation, 0, into),
            Together::AllReduce => session.all_reduce(operation, into, Sum),
            Together::AllGather => session.all_gather(operation, out).map(drop),
            Together::AllToAll => session.all_to_all(operation, out).map(drop),
        }
    }
}
