//! A state is used up by its step.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let first = s.send_block(&[1.0])?;
        let second = s.send_block(&[2.0])?;
        drop(first);
        let (_, done) = second.recv_count()?;
        Ok(done)
    })
}

fn main() {}
