//! A decision that is not heeded.

include!("../shared/farm.rs");

fn follow(worker: farm::Worker<'_>) -> p2p::Result<()> {
    worker.run(|s| match s.offer()? {
        farm::WorkerOffered::Rest(done) => Ok(done),
    })
}

fn main() {}
