//! The two sides name different roots.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Size = u32;

    #[rank(0)]
    fn left() {
        bcast(0, Size);
    }

    #[rank(1)]
    fn right() {
        bcast(1, Size);
    }
}

fn main() {}
