//! A decision that the protocol does not have here.

include!("../shared/farm.rs");

fn follow(farmer: farm::Farmer<'_>) -> p2p::Result<()> {
    farmer.run(|s| {
        s.for_each_job(|job, s| s.choose_work()?.send_job(job as u64))?.choose_work()
    })
}

fn main() {}
