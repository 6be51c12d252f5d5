//! The buffer is with the request until the wait.

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
    let edge = vec![0.0; 4];
    member.run(|s| {
        let s = s.irecv_edge(edge)?.send_edge(&[1.0; 4])?;
        println!("{edge:?}");
        let (_, s) = s.wait()?;
        Ok(s)
    })
}

fn main() {}
