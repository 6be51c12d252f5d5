//! Not all of Rust is the language.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn left() {
        while true {
            send(1, Block);
        }
    }

    #[rank(1)]
    fn right() {
        recv(0, Block);
    }
}

fn main() {}
