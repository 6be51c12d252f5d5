//! Nor has code that follows what cannot be read at all.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong;

fn main() -> p2p::Result<()> {
    p2p::launch(|world| match wrong::join(&world)? {
        wrong::Role::Left(left) => left.run(|s| s.send_block(&[1.0])),
        wrong::Role::Right(right) => right.run(|s| {
            let s: wrong::RightRecvBlock<'_, '_> = s;
            let (block, s) = s.recv_block_vec()?;
            println!("{block:?}");
            Ok(s)
        }),
    })
}
