//! Measures every way for messages to travel between ranks 0 and 1, for every length, and writes
//! the policy that takes the fastest. `cargo xtask tune` runs it; by hand, between two nodes:
//! `mpirun -n 2 --map-by node tune FILE`.
//!
//! The kind of pair that is not measured stays as the file has it.

#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::path::Path;
use std::time::Instant;

use p2p::session::{self, Mode, Operation, Protocol, Session, Source};
use p2p::{Error, Launch, Policy, Result, Strategy, World};

static PROTOCOL: Protocol =
    Protocol { name: "tune", fingerprint: 1, communicators: 1, join: operation("join") };
static SEND: Operation = operation("send");
static RECV: Operation = operation("recv");

const fn operation(verb: &'static str) -> Operation {
    let (message, file) = ("Words", file!());
    Operation { text: verb, verb, message, tag: 0, communicator: 0, file, line: 1, column: 1 }
}

/// What takes turns. Where MPI's own call is the fastest, it depends on the length what it is
/// called.
const WAYS: [Strategy; 5] =
    [Strategy::Blocking, Strategy::Window, Strategy::Direct, Strategy::Pipeline, Strategy::Put];
/// Up to this length MPI's own call is taken to be eager.
const EAGER: usize = 4 << 10;
const LONGEST: usize = 256 << 20;
const ROUNDS: usize = 9;
/// A way that takes so much longer is not tried again.
const HOPELESS: f64 = 1.5;
/// A way has to be so much faster than the one for shorter messages to take its place.
const FASTER: f64 = 0.97;

fn main() -> Result<()> {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        println!("nothing to write; `cargo xtask tune` names a file");
        return Ok(());
    };
    // What is opened at the start depends on the policy: everything.
    Launch::new().policy(Policy::fixed(Strategy::Put)).start(|world| {
        if world.size() != 2 {
            let reason = format!("{} ranks cannot tune: start 2", world.size());
            return Err(Error::other(reason));
        }
        session::run(session::join(&world, &PROTOCOL, &[])?, |session| {
            tune(&world, session, path.as_ref())
        })
    })
}

fn tune(world: &World, session: &mut Session<'_>, path: &Path) -> Result<()> {
    let mut pair = Pair::new(world, session);
    let same_node = pair.is_same_node()?;
    let mut limits = vec![(0, Strategy::Blocking)];
    for bytes in lengths() {
        let times = pair.measure(bytes)?;
        let before = limits[limits.len() - 1].1;
        let way = fastest(&times, before);
        if way != before {
            limits.push((bytes, way));
        }
        limits.last_mut().expect("the first one stays").0 = bytes;
        if pair.rank == 0 {
            print_line(bytes, &times, way);
        }
    }
    if pair.rank == 0 {
        let policy = policy(path, same_node, limits);
        let text = format!("# Which way messages travel, as it was measured.\n{policy}");
        std::fs::write(path, text).map_err(|error| {
            Error::other(format!("the policy cannot be written to {}: {error}", path.display()))
        })?;
        println!("\n{policy}");
    }
    Ok(())
}

/// 8 B, 12 B, 16 B, 24 B, ..
fn lengths() -> impl Iterator<Item = usize> {
    (3..)
        .flat_map(|power| [1 << power, 3 << (power - 1)])
        .filter(|bytes| bytes % 8 == 0)
        .take_while(|&bytes| bytes <= LONGEST)
}

/// The policy that is in the file or else the default, with these limits.
fn policy(path: &Path, same_node: bool, mut limits: Vec<(usize, Strategy)>) -> Policy {
    let before = Policy::from_file(path).unwrap_or_default();
    let (_, beyond) = limits.pop().unwrap_or((0, Strategy::Blocking));
    if let Some(&(limit, Strategy::Blocking)) = limits.first() {
        let eager = (limit.min(EAGER), Strategy::Eager);
        if limit > EAGER {
            limits.insert(0, eager);
        } else {
            limits[0] = eager;
        }
    }
    match same_node {
        true => before.same_node(&limits, beyond),
        false => before.other_node(&limits, beyond),
    }
}

/// The fastest way, or the one before, if that is about as fast.
fn fastest(times: &[f64], before: Strategy) -> Strategy {
    let (mut best, mut least) = (before, f64::INFINITY);
    for (way, &time) in WAYS.into_iter().zip(times) {
        let time = if way == before { time * FASTER } else { time };
        if time < least {
            (best, least) = (way, time);
        }
    }
    best
}

fn print_line(bytes: usize, times: &[f64], way: Strategy) {
    let each = WAYS.iter().zip(times).filter(|(_, time)| time.is_finite());
    let each: Vec<String> = each.map(|(way, time)| format!("{way} {:.2} us", time * 1e6)).collect();
    println!("{bytes:>10} B: {way:<9} ({})", each.join(", "));
}

/// Two ranks and what they send.
struct Pair<'s, 'env> {
    session: &'s mut Session<'env>,
    rank: usize,
    sent: Vec<u64>,
    received: Vec<u64>,
}

impl<'s, 'env> Pair<'s, 'env> {
    fn new(world: &World, session: &'s mut Session<'env>) -> Self {
        let words = LONGEST / 8;
        Pair { session, rank: world.rank(), sent: vec![1; words], received: vec![2; words] }
    }

    /// The median time of one message for each way, in seconds, the same on both ranks; infinite
    /// for what is not worth a try.
    fn measure(&mut self, bytes: usize) -> Result<[f64; WAYS.len()]> {
        let mut times = [const { Vec::new() }; WAYS.len()];
        let mut medians = [0.0; WAYS.len()];
        for round in 0..ROUNDS {
            let best = medians.iter().copied().fold(f64::INFINITY, f64::min);
            for (place, way) in WAYS.into_iter().enumerate() {
                if round > 1 && medians[place] > best * HOPELESS {
                    medians[place] = f64::INFINITY;
                    continue;
                }
                self.session.set_policy(Policy::fixed(way));
                let time = self.time(bytes)?;
                times[place].push(time);
            }
            for (median, times) in medians.iter_mut().zip(&mut times) {
                times.sort_by(f64::total_cmp);
                if median.is_finite() {
                    *median = times[times.len() / 2];
                }
            }
        }
        Ok(medians)
    }

    /// The time of one message and an empty one back, as rank 0 sees it.
    fn time(&mut self, bytes: usize) -> Result<f64> {
        let turns = (1 << 16) / (bytes + 512) + 1;
        self.turn(bytes)?;
        let start = Instant::now();
        for _ in 0..turns {
            self.turn(bytes)?;
        }
        let mut time = [(start.elapsed().as_secs_f64() / turns as f64).to_bits()];
        if self.rank == 0 {
            self.send(&time)?;
        } else {
            self.session.recv(&RECV, Source::Rank(0), &mut time[..])?;
        }
        Ok(f64::from_bits(time[0]))
    }

    fn turn(&mut self, bytes: usize) -> Result<()> {
        let (words, peer) = (bytes / 8, 1 - self.rank as i64);
        if self.rank == 0 {
            self.session.send(&SEND, Mode::Standard, peer, &self.sent[..words])?;
            self.session.recv(&RECV, Source::Rank(peer), &mut self.received[..0])?;
        } else {
            self.session.recv(&RECV, Source::Rank(peer), &mut self.received[..words])?;
            self.session.send(&SEND, Mode::Standard, peer, &self.sent[..0])?;
        }
        Ok(())
    }

    fn send(&mut self, words: &[u64]) -> Result<()> {
        self.session.send(&SEND, Mode::Standard, 1 - self.rank as i64, words)
    }

    /// Whether both ranks are on a computer of the same name.
    fn is_same_node(&mut self) -> Result<bool> {
        let name = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
        let mut own = [0_u64; 8];
        for (place, byte) in name.iter().take(64).enumerate() {
            own[place / 8] |= u64::from(*byte) << (place % 8 * 8);
        }
        let (peer, mut other) = (1 - self.rank as i64, [0; 8]);
        self.session.sendrecv(
            (&SEND, peer),
            &own[..],
            (&RECV, Source::Rank(peer)),
            &mut other[..],
        )?;
        Ok(own == other)
    }
}
