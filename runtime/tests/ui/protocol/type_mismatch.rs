//! Two messages share a tag, and carry different things.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    #[message(tag = 1)]
    pub type Block = [f32];
    #[message(tag = 1)]
    pub type Row = [u32];

    #[rank(0)]
    fn left() {
        send(1, Block);
    }

    #[rank(1)]
    fn right() {
        recv(0, Row);
    }
}

fn main() {}
