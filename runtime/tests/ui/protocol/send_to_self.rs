//! Rank 0 sends to itself, and waits for its own receive.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn root() {
        for dest in 0..size {
            ssend(dest, Block);
        }
        recv(0, Block);
    }

    #[rank(1..)]
    fn other() {
        recv(0, Block);
    }
}

fn main() {}
