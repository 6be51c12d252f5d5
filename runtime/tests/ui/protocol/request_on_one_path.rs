//! A request that is complete on one path only.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod wrong {
    pub type Block = [f32];

    #[rank(0)]
    fn left(late: usize) {
        let block = isend(1, Block);
        if late == 0 {
            wait(block);
        }
        barrier();
        if late != 0 {
            wait(block);
        }
    }

    #[rank(1..)]
    fn right() {
        if rank == 1 {
            recv(0, Block);
        }
        barrier();
    }
}

fn main() {}
