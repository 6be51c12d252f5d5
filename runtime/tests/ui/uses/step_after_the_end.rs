//! One step too many.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (_, s) = s.send_block(&[1.0])?.recv_count()?;
        s.send_block(&[2.0])
    })
}

fn main() {}
