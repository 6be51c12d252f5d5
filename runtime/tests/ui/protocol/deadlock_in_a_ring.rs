//! Everybody waits for the left neighbour.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 3..)]
pub mod wrong {
    pub type Token = u32;

    #[rank(_)]
    fn member() {
        recv((rank + size - 1) % size, Token);
        send((rank + 1) % size, Token);
    }
}

fn main() {}
