//! A name that means nothing.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn left() {
        send(dest, Block);
    }

    #[rank(1)]
    fn right() {
        recv(0, Block);
    }
}

fn main() {}
