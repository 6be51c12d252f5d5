//! Rank 1 plays two roles.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod wrong {
    #[rank(0..2)]
    fn few() {
        barrier();
    }

    #[rank(1..)]
    fn many() {
        barrier();
    }
}

fn main() {}
