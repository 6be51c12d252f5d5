//! A request is never waited for.

include!("../shared/halo.rs");

fn follow(member: halo::Member<'_>) -> p2p::Result<()> {
    member.run(|s| s.irecv_edge(vec![0.0; 4])?.send_edge(&[1.0; 4]))
}

fn main() {}
