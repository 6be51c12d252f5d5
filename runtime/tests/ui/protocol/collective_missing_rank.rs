//! One rank stays away.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod wrong {
    pub type Size = u32;

    #[rank(_)]
    fn member() {
        if rank > 0 {
            barrier();
        }
    }
}

fn main() {}
