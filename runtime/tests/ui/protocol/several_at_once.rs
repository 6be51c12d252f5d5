//! Everything that is wrong is said at once.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn left() {
        send(1, Blok);
        sned(1, Block);
        send(two, Block);
    }

    #[rank(1)]
    fn right() {
        recv(0, Block, 3);
    }
}

fn main() {}
