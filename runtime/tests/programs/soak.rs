//! Many random steps on every rank: nothing is lost, swapped or changed.
//!
//! `soak [STEPS [SEED]]`. All ranks throw the same dice, so each knows what every step of the others
//! is, and each does its own end: blocking ends meet in the order of the steps, and what is only
//! started is waited for some steps later, by all ranks at the same step. What a message holds
//! follows from the number of its step, so its receiver knows every byte of it; at the end the ranks
//! also compare how much was sent and received in all.
//!
//! The steps call the session as generated code does, because a protocol's own steps are fixed when
//! it is compiled.
//
// run: -n 4 6000, ends
// run: -n 3 2000 7, ends
// run: -n 2 2000 8, ends
// run: P2P_WATCH=0.001 -n 4 600 4, ends
// run: P2P_NODES=2 -n 4 3000 5, ends
// run: P2P_NODES=4 -n 4 2000 6, ends
// run: long: -n 4 1000000, ends
// run: long: -n 4 200000 9, ends

#![allow(clippy::print_stdout, reason = "it says how much it has tried")]

#[path = "soak/dice.rs"]
mod dice;
#[path = "soak/steps.rs"]
mod steps;

use std::time::Instant;

use p2p::session::{self, Protocol};

use steps::Soak;

static PROTOCOL: Protocol = Protocol {
    name: "soak",
    fingerprint: 1,
    communicators: 1,
    join: steps::operation("join", 0, line!()),
};

fn main() -> p2p::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut next = |default| arguments.next().unwrap_or(Ok(default)).map_err(p2p::Error::other);
    let (steps, seed) = (next(20_000)?, next(1)?);
    p2p::launch(|world| {
        let start = Instant::now();
        let parameters = [("steps", steps as i64), ("seed", seed as i64)];
        let joined = session::join(&world, &PROTOCOL, &parameters)?;
        let total = session::run(joined, |session| {
            let mut soak = Soak::new(session, seed)?;
            for step in 0..steps {
                soak.step(step).inspect_err(|error| {
                    eprintln!("step {step} of seed {seed}, rank {}: {error}", world.rank());
                })?;
            }
            soak.end()
        })?;
        if world.rank() == 0 {
            println!(
                "{steps} steps of seed {seed} on {} ranks: {} messages and {} MiB, all as they were \
                 sent, {:.1} s",
                world.size(),
                total.messages,
                total.bytes >> 20,
                start.elapsed().as_secs_f64()
            );
        }
        Ok(())
    })
}
