//! Random programs that are right by the way they are made.
//!
//! A program is one list of messages. Every rank walks through it and does its own end of each, so
//! blocking ends meet in the order of the list and nobody waits for what comes later. Some ends are
//! started instead, and waited for some messages later.

use p2p::session::{Fresh, Mode, Request, RequestId, Source};

use super::*;

/// A small generator of numbers: splitmix64.
#[derive(Clone)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Message {
    source: usize,
    destination: usize,
    other_tag: bool,
    length: usize,
    mode: Mode,
    moved: bool,
    started: bool,
    posted: bool,
    seed: u64,
}

impl Message {
    fn random(numbers: &mut Numbers, size: usize) -> Self {
        let source = numbers.below(size);
        let destination = (source + 1 + numbers.below(size - 1)) % size;
        let modes = [Mode::Standard, Mode::Standard, Mode::Synchronous, Mode::Buffered];
        let lengths = [0, 1, 3, 4, 5, 17, 511, 513, 3000];
        Message {
            source,
            destination,
            other_tag: numbers.below(3) == 0,
            length: lengths[numbers.below(lengths.len())],
            mode: modes[numbers.below(modes.len())],
            moved: numbers.below(3) == 0,
            started: numbers.below(3) == 0,
            posted: numbers.below(3) == 0,
            seed: numbers.next(),
        }
    }

    fn data(&self) -> Vec<u64> {
        let mut numbers = Numbers(self.seed);
        (0..self.length).map(|_| numbers.next()).collect()
    }
}

fn program(seed: u64, size: usize) -> Vec<Message> {
    let mut numbers = Numbers(seed);
    (0..60).map(|_| Message::random(&mut numbers, size)).collect()
}

/// What is open on a rank: its sends, and its receives with what they must bring.
#[derive(Default)]
struct Open {
    sends: Vec<(Request<Vec<u64>>, Vec<u64>)>,
    receives: Vec<(Request<Vec<u64>>, Message)>,
}

impl Open {
    fn finish(&mut self, session: &mut Session<'_>) -> Result<()> {
        let ids = self.sends.iter().map(|(request, _)| request.id());
        let ids: Vec<RequestId> =
            ids.chain(self.receives.iter().map(|(request, _)| request.id())).collect();
        session.wait_all(&WAIT, &ids)?;
        for (request, data) in self.sends.drain(..) {
            assert_eq!(session.wait(&WAIT, request)?.0, data);
        }
        for (request, message) in self.receives.drain(..) {
            let (data, status) = session.wait(&WAIT, request)?;
            assert_eq!((status.source, status.count), (message.source, message.length));
            assert_eq!(data[..message.length], message.data());
        }
        Ok(())
    }
}

fn follow(session: &mut Session<'_>, program: &[Message]) -> Result<()> {
    let rank = session.rank();
    let mut open = Open::default();
    for (index, message) in program.iter().enumerate() {
        let (send, recv) =
            if message.other_tag { (&SEND_OTHER, &RECV_OTHER) } else { (&SEND, &RECV) };
        if rank == message.source {
            let (peer, data) = (message.destination as i64, message.data());
            match (message.started, message.moved) {
                (true, _) => {
                    let request = session.isend(send, message.mode, peer, data.clone())?;
                    open.sends.push((request, data));
                }
                (false, true) => session.send(send, message.mode, peer, data)?,
                (false, false) => session.send(send, message.mode, peer, &data)?,
            }
        } else if rank == message.destination {
            let source = Source::Rank(message.source as i64);
            if message.posted {
                let room = vec![0; message.length + index % 3];
                open.receives.push((session.irecv(recv, source, room)?, *message));
            } else {
                let (data, status) = session.recv::<u64, _>(recv, source, Fresh::new())?;
                assert_eq!(status.source, message.source);
                assert_eq!(data, message.data());
            }
        }
        // All ranks do this at the same place, so nobody waits for a later message.
        if index % 7 == 6 {
            open.finish(session)?;
        }
    }
    open.finish(session)?;
    session.barrier(&BARRIER)
}

#[test]
fn random_programs_come_to_their_end() {
    let rounds = if std::env::var_os("P2P_LONG").is_some() { 6000 } else { 60 };
    for seed in 0..rounds {
        let size = 2 + (seed % 7) as usize;
        let program = program(seed, size);
        for buffering in ALL_BUFFERINGS {
            let outcome = run_buffering(size, buffering, |session| follow(session, &program));
            if let Err(error) = outcome {
                panic!("seed {seed}, {size} ranks, {buffering:?}: {error}");
            }
        }
    }
}
