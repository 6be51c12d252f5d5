//! Both send first, and neither comes to its receive.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(_)]
    fn partner() {
        ssend(1 - rank, Block);
        recv(1 - rank, Block);
    }
}

fn main() {}
