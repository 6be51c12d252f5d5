//! Programs that hang by their own data, and what is said of them.
//!
//! Threads always know. Under MPI it is known where the ranks are watched.
//!
// run: P2P_WATCH=1 -n 4 ring, fails: 4 ranks wait for each other unless their messages are buffered
// run: P2P_WATCH=1 -n 4 ring, fails: rank 3 waits in `send Block to rank 0` for rank 0
// run: P2P_WATCH=1 -n 4 leaves, fails: rank 0 calls `join(meeting)`, and rank 2 never does
// run: P2P_WATCH=1 -n 4 computes, ends

use std::time::Duration;

use p2p::{Error, World, p2p_protocol};

/// Right if messages are buffered, which long ones are not.
#[p2p_protocol(ranks = 2.., allow(deadlock_unbuffered))]
pub mod ring {
    /// Numbers.
    pub type Block = [u64];

    #[rank(_)]
    fn member() {
        send((rank + 1) % size, Block);
        recv((rank + size - 1) % size, Block);
    }
}

/// All add up.
#[p2p_protocol(ranks = 2..)]
pub mod meeting {
    /// What the ranks add up.
    pub type Sum = u64;

    #[rank(_)]
    fn member() {
        all_reduce(Sum);
    }
}

fn main() -> p2p::Result<()> {
    let what = std::env::args().nth(1).unwrap_or_default();
    p2p::launch(|world| match &*what {
        "ring" => around(&world, 1 << 20),
        "leaves" => meet(&world, if world.rank() == 2 { 2 } else { 3 }),
        "computes" => compute(&world),
        other => Err(Error::other(format!("`{other}` is nothing that hangs"))),
    })
}

/// Sends so much to the right before it receives from the left.
fn around(world: &World, length: usize) -> p2p::Result<()> {
    let ring::Role::Member(member) = ring::join(world)?;
    let own = vec![world.rank() as u64; length];
    let mut block = vec![0; length];
    member.run(|s| s.send_block(&own)?.recv_block(&mut block))?;
    let left = (world.rank() + world.size() - 1) % world.size();
    assert!(block.iter().all(|&value| value == left as u64));
    Ok(())
}

/// Meets the others so many times.
fn meet(world: &World, times: usize) -> p2p::Result<()> {
    for _ in 0..times {
        let meeting::Role::Member(member) = meeting::join(world)?;
        let size = world.size() as u64;
        member.run(|s| {
            let (sum, s) = s.all_reduce_sum(1, p2p::Sum)?;
            assert_eq!(sum, size);
            Ok(s)
        })?;
    }
    Ok(())
}

/// Rank 1 lets the others wait for longer than anybody watches, which is no mistake.
fn compute(world: &World) -> p2p::Result<()> {
    around(world, 8)?;
    if world.rank() == 1 {
        std::thread::sleep(Duration::from_secs(4));
    }
    around(world, 8)?;
    meet(world, 3)
}
