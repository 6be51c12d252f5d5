//! Nor has code that follows what is not even the language.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn left() {
        send(1, Block);
    }

    #[rank(1)]
    fn right() {
        receive(0, Block);
    }
}

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
