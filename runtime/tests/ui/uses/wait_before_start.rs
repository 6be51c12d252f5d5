//! A request is waited for that was not started.

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
        let (edge, s) = s.wait_edge()?;
        s.irecv_edge(edge)?.send_edge(&[1.0; 4])
    })
}

fn main() {}
