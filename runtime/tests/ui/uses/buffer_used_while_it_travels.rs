//! The buffer is with the request until the wait.

include!("../shared/halo.rs");

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
