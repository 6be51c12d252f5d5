//! Nobody sends what is waited for.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn left() {
        recv(1, Block);
    }

    #[rank(1)]
    fn right() {
    }
}

fn main() {}
