//! A turn of a loop leaves out its step.

include!("../shared/farm.rs");

fn follow(farmer: farm::Farmer<'_>) -> p2p::Result<()> {
    farmer.run(|s| {
        s.for_each_job(|job, s| {
            println!("{job}");
            Ok(s)
        })?
        .choose_rest()
    })
}

fn main() {}
