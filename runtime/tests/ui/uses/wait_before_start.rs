//! A request is waited for that was not started.

include!("../shared/halo.rs");

fn follow(member: halo::Member<'_>) -> p2p::Result<()> {
    member.run(|s| {
        let (edge, s) = s.wait_edge()?;
        s.irecv_edge(edge)?.send_edge(&[1.0; 4])
    })
}

fn main() {}
