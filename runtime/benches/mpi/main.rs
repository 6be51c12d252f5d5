//! What a message costs over MPI: raw rsmpi and this library, in turns in one process, so that
//! whatever else the machine does meets them alike. `contender.c` does the same in C.
//!
//! `cargo xtask bench mpi` builds both, runs them in turns with each MPI and makes tables of what
//! they print. The arguments are the plan: SUBJECT:BYTES:TRIPS:ROUNDS. Rank 0 prints a line for each
//! round of each contender: subject, bytes, contender, round, nanoseconds for each trip.

#![allow(clippy::print_stdout, reason = "what it has measured is read by another program")]

mod beyond;
mod contender;
mod rsmpi;
mod sessions;
mod subjects;

use std::time::Instant;

use p2p::{Error, Policy, Result, Strategy, World};

use contender::Buffers;
use rsmpi::Rsmpi;
use subjects::Place;

/// One line of the plan.
struct Entry {
    subject: String,
    bytes: usize,
    trips: usize,
    rounds: usize,
}

impl Entry {
    fn read(text: &str) -> Option<Entry> {
        let mut parts = text.split(':');
        let subject = parts.next()?.to_owned();
        let mut number = || parts.next()?.parse().ok();
        Some(Entry { subject, bytes: number()?, trips: number()?, rounds: number()? })
    }
}

fn main() -> Result<()> {
    let arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let plan: Option<Vec<Entry>> = arguments.map(|argument| Entry::read(&argument)).collect();
    let plan = plan.ok_or_else(|| Error::other("an argument is not SUBJECT:BYTES:TRIPS:ROUNDS"))?;
    if plan.is_empty() {
        println!("nothing to measure; `cargo xtask bench mpi` gives it a plan");
        return Ok(());
    }
    p2p::launch(|world| {
        let most = plan.iter().map(|entry| entry.bytes).max().unwrap_or(0);
        let mut buffers = Buffers::new(most / 8);
        plan.iter().try_for_each(|entry| measure(&world, entry, &mut buffers))
    })
}

/// All rounds of one entry; in each, every contender has its turn.
fn measure(world: &World, entry: &Entry, buffers: &mut Buffers) -> Result<()> {
    let (contenders, subject) = contenders(&entry.subject);
    let place = Place { rank: world.rank(), size: world.size() };
    let words = entry.bytes / 8;
    let mut rsmpi = Rsmpi::new(world.rank(), words);
    sessions::with(world, |sessions| {
        let mut turn = |contender: &Named, trips, buffers: &mut Buffers| match contender.kind {
            Kind::Rsmpi => subjects::run(&mut rsmpi, subject, place, (words, trips), buffers),
            Kind::Sessions(policy) => {
                sessions.set_policy(policy());
                subjects::run(sessions, subject, place, (words, trips), buffers)
            }
            Kind::Memcpy => {
                if place.rank == 0 {
                    (0..trips).for_each(|_| buffers.copy(words));
                }
                Ok(trips as f64)
            }
        };
        for contender in &contenders {
            // To warm up, and to see that everything arrives.
            buffers.clear(words);
            turn(contender, entry.trips / 10 + 1, buffers)?;
            buffers.check(words, contender.name)?;
        }
        for round in 0..entry.rounds {
            for number in 0..contenders.len() {
                // Nobody always goes first.
                let contender = &contenders[(round + number) % contenders.len()];
                rsmpi::barrier();
                let start = Instant::now();
                let messages = turn(contender, entry.trips, buffers)?;
                let time = start.elapsed().as_nanos() as f64 / messages;
                if place.rank == 0 {
                    let (Entry { subject, bytes, .. }, name) = (entry, contender.name);
                    println!("{subject}\t{bytes}\t{name}\t{round}\t{time:.1}");
                }
            }
        }
        Ok(())
    })
}

/// One who takes turns.
struct Named {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Rsmpi,
    /// This library with a policy.
    Sessions(fn() -> Policy),
    /// What memory allows: a copy within rank 0.
    Memcpy,
}

/// Who takes turns in a subject, and what they do: `strategies` is `one-way` with each strategy.
fn contenders(subject: &str) -> (Vec<Named>, &str) {
    let named = |name, kind| Named { name, kind };
    let p2p = Kind::Sessions(Policy::default);
    match subject {
        "strategies" => {
            let contenders = vec![
                named("policy", p2p),
                named("eager", Kind::Sessions(|| Policy::fixed(Strategy::Eager))),
                named("blocking", Kind::Sessions(|| Policy::fixed(Strategy::Blocking))),
                named("pipeline", Kind::Sessions(|| Policy::fixed(Strategy::Pipeline))),
                named("window", Kind::Sessions(|| Policy::fixed(Strategy::Window))),
                named("direct", Kind::Sessions(|| Policy::fixed(Strategy::Direct))),
                named("put", Kind::Sessions(|| Policy::fixed(Strategy::Put))),
            ];
            (contenders, "one-way")
        }
        "one-way" => {
            let rsmpi = named("rsmpi", Kind::Rsmpi);
            (vec![rsmpi, named("p2p", p2p), named("memcpy", Kind::Memcpy)], subject)
        }
        _ => (vec![named("rsmpi", Kind::Rsmpi), named("p2p", p2p)], subject),
    }
}
