//! It works as long as the messages are small.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    #[message(count = 1024 * 1024)]
    pub type Block = [f32];

    #[rank(_)]
    fn partner() {
        send(1 - rank, Block);
        recv(1 - rank, Block);
    }
}

fn main() {}
