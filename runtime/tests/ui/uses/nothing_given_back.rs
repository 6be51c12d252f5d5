//! The closure gives back nothing.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (_, _done) = s.send_block(&[1.0])?.recv_count()?;
        Ok(())
    })
}

fn main() {}
