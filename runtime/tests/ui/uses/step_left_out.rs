//! The first step is forgotten.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (_, s) = s.recv_count()?;
        Ok(s)
    })
}

fn main() {}
