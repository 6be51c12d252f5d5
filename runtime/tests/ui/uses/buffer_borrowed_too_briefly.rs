//! A borrow that ends before the run does.

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

fn follow(member: halo::Member<'_>) -> p2p::Result<()> {
    member.run(|s| {
        let mut edge = vec![0.0; 4];
        s.irecv_edge(&mut edge[..])?.send_edge(&[1.0; 4])?.wait().map(|(_, s)| s)
    })
}

fn main() {}
