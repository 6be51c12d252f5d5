//! The parameters are not given.

include!("../shared/farm.rs");

fn follow(world: &p2p::World) -> p2p::Result<()> {
    let _role = farm::join(world)?;
    Ok(())
}

fn main() {}
