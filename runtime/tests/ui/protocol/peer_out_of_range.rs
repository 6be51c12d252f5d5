//! The last rank has no neighbour to the right.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(_)]
    fn member() {
        if rank > 0 {
            recv(rank - 1, Block);
        }
        send(rank + 1, Block);
    }
}

fn main() {}
