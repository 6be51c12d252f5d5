// Both ranks swap an edge.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod halo {
    pub type Edge = [f32];

    #[rank(_)]
    fn member() {
        let edge = irecv(1 - rank, Edge);
        send(1 - rank, Edge);
        wait(edge);
    }
}
