//! The loop is left out.

include!("../shared/farm.rs");

fn follow(farmer: farm::Farmer<'_>) -> p2p::Result<()> {
    farmer.run(|s| s.choose_rest())
}

fn main() {}
