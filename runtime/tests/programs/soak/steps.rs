//! The steps: one method a kind, which does this rank's part of it.

use p2p::session::{Fresh, Max, Mode, One, Operation, Request, RequestId, Session, Source, Sum};
use p2p::{Error, Result};

use super::dice::{Dice, data, numbers};

/// An operation of this program; the line says which one it is in a report.
pub(crate) const fn operation(verb: &'static str, tag: i32, line: u32) -> Operation {
    let file = "soak/steps.rs";
    Operation { text: verb, verb, message: "Data", tag, communicator: 0, file, line, column: 1 }
}

static SEND: [Operation; 2] = [operation("send", 0, line!()), operation("send", 1, line!())];
static RECV: [Operation; 2] = [operation("recv", 0, line!()), operation("recv", 1, line!())];
static ASK: Operation = operation("send to whom it takes", 2, line!());
static TAKE: Operation = operation("recv from any", 2, line!());
static ANSWER: Operation = operation("send an answer", 3, line!());
static ANSWERED: Operation = operation("recv an answer", 3, line!());
static READY: Operation = operation("rsend", 4, line!());
static POST: Operation = operation("irecv", 4, line!());
static SIGNAL: Operation = operation("send", 5, line!());
static SIGNALLED: Operation = operation("recv", 5, line!());
static EXCHANGE: Operation = operation("sendrecv", 6, line!());
static DECIDE: Operation = operation("choose", 7, line!());
static LEARN: Operation = operation("offer", 7, line!());
static AGAIN: Operation = operation("start", 8, line!());
static PUT: Operation = operation("put", 9, line!());
static FENCE: Operation = operation("fence", 9, line!());
static WAIT: Operation = operation("wait", 0, line!());
static TOGETHER: Operation = operation("a collective", 0, line!());

/// Started operations are waited for after so many steps.
const STEPS_OPEN: u64 = 8;

/// How much was sent and received.
#[derive(Clone, Copy, Default)]
pub(crate) struct Total {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Of the bytes, in any order.
    sum: u64,
}

impl Total {
    fn add(&mut self, data: &[u8]) {
        self.messages += 1;
        self.bytes += data.len() as u64;
        let words = data
            .chunks(8)
            .map(|word| word.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte)));
        self.sum = words.fold(self.sum, u64::wrapping_add);
    }
}

/// One rank's side of all steps.
pub(crate) struct Soak<'s, 'env> {
    session: &'s mut Session<'env>,
    seed: u64,
    rank: usize,
    size: usize,
    sent: Total,
    received: Total,
    sends: Vec<(Request<Vec<u8>>, u64)>,
    receives: Vec<(Request<Vec<u8>>, Expected)>,
}

/// What a receive must bring.
struct Expected {
    source: usize,
    key: u64,
    length: usize,
}

/// Fails with what is wrong, instead of panicking: the others then say whom they miss.
fn check(right: bool, what: impl FnOnce() -> String) -> Result<()> {
    if right { Ok(()) } else { Err(Error::other(what())) }
}

impl<'s, 'env> Soak<'s, 'env> {
    pub(crate) fn new(session: &'s mut Session<'env>, seed: u64) -> Result<Self> {
        let (rank, size) = (session.rank(), session.size());
        check(size > 1, || "soak needs two ranks at least".to_owned())?;
        session.open_window::<u64>(&PUT);
        let (sent, received) = (Total::default(), Total::default());
        Ok(Soak { session, seed, rank, size, sent, received, sends: vec![], receives: vec![] })
    }

    /// This rank's part of a step.
    pub(crate) fn step(&mut self, step: u64) -> Result<()> {
        let mut dice = Dice::new(self.seed, step);
        let key = dice.next();
        match dice.below(100) {
            0..58 => self.message(&mut dice, key)?,
            58..62 => self.ready(&mut dice, key)?,
            62..70 => self.any_source(&mut dice, key)?,
            70..76 => self.exchange(&mut dice, key)?,
            76..80 => self.again(&mut dice, key)?,
            80..82 => self.decision(&mut dice)?,
            82..84 => self.window(&mut dice, key)?,
            84..92 => self.rooted(&mut dice, key)?,
            _ => self.together(&mut dice, key)?,
        }
        if step % STEPS_OPEN == STEPS_OPEN - 1 {
            self.finish(&mut dice)?;
        }
        Ok(())
    }

    /// Completes what is open, and compares what all ranks have sent and received.
    pub(crate) fn end(mut self) -> Result<Total> {
        self.finish(&mut Dice::new(self.seed, u64::MAX))?;
        let Total { messages, bytes, sum } = self.sent;
        let mut sent = [messages, bytes, sum];
        let Total { messages, bytes, sum } = self.received;
        let mut received = [messages, bytes, sum];
        self.session.all_reduce(&TOGETHER, &mut sent, Sum)?;
        self.session.all_reduce(&TOGETHER, &mut received, Sum)?;
        check(sent == received, || format!("sent {sent:?}, received {received:?}"))?;
        let [messages, bytes, sum] = received;
        Ok(Total { messages, bytes, sum })
    }

    fn sends(&mut self, key: u64, length: usize) -> Vec<u8> {
        let data = data(key, length);
        self.sent.add(&data);
        data
    }

    fn came(&mut self, found: &[u8], from: usize, expected: &Expected) -> Result<()> {
        self.received.add(found);
        let right = from == expected.source && *found == *data(expected.key, expected.length);
        check(right, || {
            let Expected { source, length, .. } = expected;
            format!(
                "rank {} has received {} bytes from rank {from} that are not the {length} bytes \
                 from rank {source} that it was to receive",
                self.rank,
                found.len()
            )
        })
    }

    /// One message between two ranks, in any mode; each end blocks or only starts.
    fn message(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (source, destination) = dice.two_ranks(self.size);
        let (tag, mode, length) = (dice.below(2), dice.mode(), dice.length());
        let (started, way) = (dice.one_in(3), dice.below(3));
        let (how, spare) = (dice.below(7), dice.below(3));
        if self.rank == source {
            let (peer, data) = (destination as i64, self.sends(key, length));
            if started {
                let request = self.session.isend(&SEND[tag], mode, peer, data)?;
                self.sends.push((request, key));
                return Ok(());
            }
            return match way {
                0 => self.session.send(&SEND[tag], mode, peer, data),
                1 => self.session.send(&SEND[tag], mode, peer, &data),
                _ => self.session.send_with(&SEND[tag], mode, peer, length, |first, piece| {
                    piece.copy_from_slice(&data[first..][..piece.len()]);
                }),
            };
        }
        if self.rank != destination {
            return Ok(());
        }
        let expected = Expected { source, key, length };
        let from = Source::Rank(source as i64);
        if how < 2 {
            let room = vec![0; length + spare];
            let request = self.session.irecv(&RECV[tag], from, room)?;
            self.receives.push((request, expected));
            return Ok(());
        }
        if how == 2 {
            let status = self.session.probe::<u8>(&RECV[tag], from.clone())?;
            check((status.source, status.count) == (source, length), || {
                format!("a probe sees {status:?}, where {length} bytes come from rank {source}")
            })?;
        }
        if how < 5 {
            let (data, status) = self.session.recv::<u8, _>(&RECV[tag], from, Fresh::new())?;
            return self.came(&data, status.source, &expected);
        }
        if how == 6 {
            let mut data = Vec::new();
            let take = |_, piece: &[u8]| data.extend_from_slice(piece);
            let status = self.session.recv_with(&RECV[tag], from, take)?;
            return self.came(&data, status.source, &expected);
        }
        let mut room = vec![0; length + spare];
        let (_, status) = self.session.recv(&RECV[tag], from, &mut room[..])?;
        self.came(&room[..status.count], status.source, &expected)
    }

    /// A ready send: the receive is posted before.
    fn ready(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (source, destination) = dice.two_ranks(self.size);
        let length = dice.length();
        if self.rank == source {
            let from = Source::Rank(destination as i64);
            self.session.recv::<u8, _>(&SIGNALLED, from, One::new())?;
            let data = self.sends(key, length);
            self.session.send(&READY, Mode::Ready, destination as i64, &data)?;
        } else if self.rank == destination {
            let from = Source::Rank(source as i64);
            let request = self.session.irecv(&POST, from, vec![0; length])?;
            self.session.send(&SIGNAL, Mode::Standard, source as i64, &[1u8])?;
            let (data, status) = self.session.wait(&WAIT, request)?;
            self.came(&data, status.source, &Expected { source, key, length })?;
        }
        Ok(())
    }

    /// One rank takes from whoever comes first. It answers once all have come: nobody who waits for
    /// that comes with its next message before.
    fn any_source(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (root, posted, length) = (dice.below(self.size), dice.one_in(2), dice.length());
        let key_of = |rank: usize| key ^ (rank as u64 + 1).wrapping_mul(0xa076_1d64_78bd_642f);
        if self.rank != root {
            let data = self.sends(key_of(self.rank), length);
            self.session.send(&ASK, dice.mode(), root as i64, &data)?;
            let from = Source::Rank(root as i64);
            let (answer, status) = self.session.recv::<u8, _>(&ANSWERED, from, Fresh::new())?;
            let expected = Expected { source: root, key: key_of(self.rank) ^ 1, length: 61 };
            return self.came(&answer, status.source, &expected);
        }
        let size = self.size;
        let anybody = || Source::Any(0..size as i64);
        let mut open = Vec::new();
        for _ in 1..if posted { size } else { 1 } {
            open.push(self.session.irecv(&TAKE, anybody(), vec![0; length])?);
        }
        let mut seen = vec![false; size];
        for _ in 1..size {
            let (data, status) = if posted {
                let ids: Vec<RequestId> = open.iter().map(Request::id).collect();
                let index = self.session.wait_any(&WAIT, &ids)?.unwrap_or(0);
                self.session.wait(&WAIT, open.swap_remove(index))?
            } else {
                self.session.recv(&TAKE, anybody(), Fresh::new())?
            };
            let source = status.source;
            check(!seen[source], || format!("two messages came from rank {source}"))?;
            seen[source] = true;
            let expected = Expected { source, key: key_of(source), length };
            self.came(&data[..status.count], source, &expected)?;
        }
        for peer in (0..size).filter(|&peer| peer != root) {
            let answer = self.sends(key_of(peer) ^ 1, 61);
            self.session.send(&ANSWER, Mode::Standard, peer as i64, &answer)?;
        }
        Ok(())
    }

    /// Every rank to the one so far after it, at once.
    fn exchange(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (distance, length) = (1 + dice.below(self.size - 1), dice.length());
        let to = (self.rank + distance) % self.size;
        let from = (self.rank + self.size - distance) % self.size;
        let mine = self.sends(key ^ self.rank as u64, length);
        let (send, receive) = ((&EXCHANGE, to as i64), (&EXCHANGE, Source::Rank(from as i64)));
        let (data, status) = self.session.sendrecv(send, &mine, receive, Fresh::new())?;
        let expected = Expected { source: from, key: key ^ from as u64, length };
        self.came(&data, status.source, &expected)
    }

    /// Planned once, started some times.
    fn again(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (source, destination) = dice.two_ranks(self.size);
        let (times, length) = (1 + dice.below(4) as u64, dice.length());
        if self.rank == source {
            let plan = self.session.plan_send(&AGAIN, destination as i64)?;
            for time in 0..times {
                let data = self.sends(key ^ time, length);
                let request = self.session.start_send(&AGAIN, &plan, data)?;
                self.session.wait(&WAIT, request)?;
            }
        } else if self.rank == destination {
            let plan = self.session.plan_recv(&AGAIN, Source::Rank(source as i64))?;
            let mut room = vec![0; length];
            for time in 0..times {
                let request = self.session.start_recv(&AGAIN, &plan, room)?;
                let (data, status) = self.session.wait(&WAIT, request)?;
                self.came(&data, status.source, &Expected { source, key: key ^ time, length })?;
                room = data;
            }
        }
        Ok(())
    }

    fn decision(&mut self, dice: &mut Dice) -> Result<()> {
        let (root, label) = (dice.below(self.size), dice.next() as u32);
        if self.rank == root {
            return self.session.choose(&DECIDE, 0..self.size as i64, label);
        }
        let learnt = self.session.offer(&LEARN, root as i64)?;
        check(learnt == label, || format!("rank {root} has decided {label}, not {learnt}"))
    }

    /// Everybody puts something into another one's window.
    fn window(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        const ROOM: usize = 256;
        let (distance, length) = (dice.below(self.size), 1 + dice.below(ROOM));
        let to = (self.rank + distance) % self.size;
        let from = (self.rank + self.size - distance) % self.size;
        let mine = numbers(key, self.rank, length);
        self.session.put(&PUT, to as i64, self.rank * ROOM, &mine)?;
        self.session.fence(&FENCE)?;
        let window = self.session.window::<u64>(&PUT);
        let theirs = &window[from * ROOM..][..length];
        check(theirs == numbers(key, from, length), || {
            format!("rank {} does not find in its window what rank {from} has put there", self.rank)
        })
    }

    /// Collective operations that have a root.
    fn rooted(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (root, kind, length) = (dice.below(self.size), dice.below(4), 1 + dice.length() / 64);
        let (rank, size) = (self.rank, self.size);
        let mine = numbers(key, rank, length);
        let all = || (0..size).flat_map(|rank| numbers(key, rank, length)).collect::<Vec<u64>>();
        let right = match kind {
            0 => {
                let mut data = if rank == root { mine } else { vec![] };
                self.session.bcast(&TOGETHER, root as i64, &mut data)?;
                data == numbers(key, root, length)
            }
            1 => {
                let parts = if rank == root { all() } else { vec![] };
                let part: Vec<u64> =
                    self.session.scatter(&TOGETHER, root as i64, &parts, Fresh::new())?;
                part == mine
            }
            2 => {
                let parts = self.session.gather(&TOGETHER, root as i64, &mine)?;
                rank != root || parts == all()
            }
            _ => {
                let mut data = mine.clone();
                self.session.reduce(&TOGETHER, root as i64, &mut data, Sum)?;
                rank != root || data == combined(key, size, length, u64::wrapping_add)
            }
        };
        check(right, || {
            format!("rank {rank}: wrong after rooted collective {kind}, {length} words")
        })
    }

    /// Those that have none.
    fn together(&mut self, dice: &mut Dice, key: u64) -> Result<()> {
        let (kind, length) = (dice.below(4), 1 + dice.length() / 256);
        let (rank, size) = (self.rank, self.size);
        let mine = numbers(key, rank, length);
        let right = match kind {
            0 => self.session.barrier(&TOGETHER).map(|()| true)?,
            1 => {
                let all: Vec<u64> = (0..size).flat_map(|it| numbers(key, it, length)).collect();
                self.session.all_gather(&TOGETHER, &mine)? == all
            }
            2 => {
                let mut data = mine;
                self.session.all_reduce(&TOGETHER, &mut data, Max)?;
                data == combined(key, size, length, u64::max)
            }
            _ => {
                let for_peer = |from: usize, to: usize| numbers(key ^ to as u64, from, length);
                let parts: Vec<u64> = (0..size).flat_map(|to| for_peer(rank, to)).collect();
                let all: Vec<u64> = (0..size).flat_map(|from| for_peer(from, rank)).collect();
                self.session.all_to_all(&TOGETHER, &parts)? == all
            }
        };
        check(right, || format!("rank {rank}: wrong after collective {kind}, {length} words"))
    }

    /// Completes what is open, in one of the ways there are.
    fn finish(&mut self, dice: &mut Dice) -> Result<()> {
        let sends = self.sends.iter().map(|(request, _)| request.id());
        let receives = self.receives.iter().map(|(request, _)| request.id());
        let mut ids: Vec<RequestId> = sends.chain(receives).collect();
        match dice.below(4) {
            0 => {}
            1 => {
                while let Some(index) = self.session.wait_any(&WAIT, &ids)? {
                    ids.swap_remove(index);
                }
            }
            2 => {
                for &id in ids.iter().rev() {
                    while !self.session.test(&WAIT, id)? {
                        std::thread::yield_now();
                    }
                }
            }
            _ => self.session.wait_all(&WAIT, &ids)?,
        }
        for (request, key) in std::mem::take(&mut self.sends) {
            let (buffer, _) = self.session.wait(&WAIT, request)?;
            check(buffer == data(key, buffer.len()), || "a sent buffer has changed".to_owned())?;
        }
        for (request, expected) in std::mem::take(&mut self.receives) {
            let (data, status) = self.session.wait(&WAIT, request)?;
            self.came(&data[..status.count], status.source, &expected)?;
        }
        Ok(())
    }
}

/// What all ranks bring, combined place by place.
fn combined(key: u64, size: usize, length: usize, combine: fn(u64, u64) -> u64) -> Vec<u64> {
    let mut all = (0..size).map(|rank| numbers(key, rank, length));
    let mut whole = all.next().unwrap_or_default();
    for part in all {
        whole.iter_mut().zip(part).for_each(|(one, other)| *one = combine(*one, other));
    }
    whole
}
