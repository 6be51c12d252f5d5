//! A borrow that ends before the run does.

include!("../shared/halo.rs");

fn follow(member: halo::Member<'_>) -> p2p::Result<()> {
    member.run(|s| {
        let mut edge = vec![0.0; 4];
        s.irecv_edge(&mut edge[..])?.send_edge(&[1.0; 4])?.wait().map(|(_, s)| s)
    })
}

fn main() {}
