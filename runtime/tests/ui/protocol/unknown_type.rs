//! The type of a message is not there.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [Celsius];

    #[rank(0)]
    fn left() {
        send(1, Block);
    }

    #[rank(1)]
    fn right() {
        recv(0, Block);
    }
}

fn main() {}
