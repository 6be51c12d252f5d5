//! There is less room than the message needs.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    #[message(tag = 1, count = 8)]
    pub type Long = [f32];
    #[message(tag = 1, count = 4)]
    pub type Short = [f32];

    #[rank(0)]
    fn left() {
        send(1, Long);
    }

    #[rank(1)]
    fn right() {
        recv(0, Short);
    }
}

fn main() {}
